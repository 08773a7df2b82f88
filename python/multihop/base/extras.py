"""What is installed beside the package: each extra adds to a plain install what needs more room."""

from __future__ import annotations

from importlib.util import find_spec

from multihop.base.errors import UserError

#: The extras of pyproject.toml that commands need, and the modules that each brings.
EXTRAS: dict[str, tuple[str, ...]] = {
    "report": ("matplotlib",),
    "parquet": ("pyarrow",),
    "mesh": ("scipy",),
    "optimum": ("scipy", "clarabel", "networkx"),
    "cluster": ("distributed",),
    "vendors": ("netaddr",),
}


def missing(extra: str) -> tuple[str, ...]:
    """Modules of an extra that are not installed."""
    return tuple(module for module in EXTRAS[extra] if find_spec(module) is None)


def has(extra: str) -> bool:
    """Whether all of an extra is installed."""
    return not missing(extra)


def install(extra: str) -> str:
    """The command that installs what is missing of an extra, or all of it.

    Names the libraries, as no package index has multihop itself. Works from a clone and from a wheel.
    """
    return f"pip install {' '.join(missing(extra) or EXTRAS[extra])}"


def require(extra: str, what: str) -> None:
    """Says once and clearly what has to be installed for `what`.

    Raises:
        UserError: if a module of the extra is not installed.
    """
    lacking = missing(extra)
    if lacking:
        verb = "is" if len(lacking) == 1 else "are"
        raise UserError(f"{what} needs {', '.join(lacking)}, which {verb} not installed; {install(extra)}")
