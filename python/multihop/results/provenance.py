"""What a result says about where it came from. Nothing here depends on the machine."""

from multihop import _core


def version() -> str:
    """Version of the engine and the package, which are built together."""
    return _core.version()


def engine() -> str:
    """Which engine this is: the version, and a name for the sources that it was built from.

    Builds of equal sources are the same engine, on whatever machine; any edit of them is another one.
    Finished runs are kept under it. A run is the engine's alone: Python hands it the scenario, and what
    Python makes of its output is made anew whenever results are read.
    """
    return f"{version()}+{_core.identity()}"


def commit() -> str | None:
    """Commit of the engine's checkout, as a remark; `None` if it was built outside of one."""
    return _core.commit()


def build() -> str:
    """Engine and commit, for people."""
    return f"{engine()}, commit {commit() or 'unknown'}"


def record() -> dict[str, str | None]:
    """The build as manifests have it."""
    return {"multihop": version(), "engine": engine(), "commit": commit()}
