"""Optional dependencies: modules of each extra, and how to install them."""

from __future__ import annotations

from importlib.util import find_spec

from multihop.base.errors import UserError

#: Modules of each extra of pyproject.toml that commands need.
EXTRAS: dict[str, tuple[str, ...]] = {
    "report": ("matplotlib",),
    "parquet": ("pyarrow",),
    "mesh": ("scipy",),
    "optimum": ("scipy", "clarabel", "networkx"),
    "cluster": ("distributed",),
    "vendors": ("netaddr",),
    "learning": ("gymnasium", "pettingzoo"),
}


def missing(extra: str) -> tuple[str, ...]:
    """Returns the modules of an extra that are not installed."""
    return tuple(module for module in EXTRAS[extra] if find_spec(module) is None)


def has(extra: str) -> bool:
    """Whether all modules of an extra are installed."""
    return not missing(extra)


def install(extra: str) -> str:
    """Returns the command that installs the missing modules of an extra, or all of them if none is missing.

    The command names libraries, since no package index has multihop. It works from a clone and from a wheel.
    """
    return f"pip install {' '.join(missing(extra) or EXTRAS[extra])}"


def require(extra: str, what: str) -> None:
    """Checks that the modules of an extra are installed, for the feature `what`.

    Raises:
        UserError: if a module of the extra is not installed.
    """
    lacking = missing(extra)
    if lacking:
        verb = "is" if len(lacking) == 1 else "are"
        raise UserError(f"{what} needs {', '.join(lacking)}, which {verb} not installed; {install(extra)}")
