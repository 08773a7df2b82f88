"""Provenance of results: version, engine and commit. Nothing depends on the machine."""

from multihop import _core


def version() -> str:
    """Version of the engine and the package, which are built together."""
    return _core.version()


def engine() -> str:
    """Identity of the engine: its version and a hash of its sources.

    Builds of equal sources have the same identity on any machine. The store keys finished runs by it. A run
    depends on the engine alone: Python passes the scenario, and derives its tables anew on each reading.
    """
    return f"{version()}+{_core.identity()}"


def commit() -> str | None:
    """Commit of the engine's checkout, or `None` if it was built outside of one. For information only."""
    return _core.commit()


def build() -> str:
    """Engine and commit as text."""
    return f"{engine()}, commit {commit() or 'unknown'}"


def record() -> dict[str, str | None]:
    """Returns version, engine and commit for manifests."""
    return {"multihop": version(), "engine": engine(), "commit": commit()}
