"""What a result says about where it came from. Nothing here depends on the machine."""

from multihop import _core


def version() -> str:
    """Version of the engine and the package, which are built together."""
    return _core.version()


def commit() -> str | None:
    """Commit that the engine was built from; `None` if it was built outside of a git checkout."""
    return _core.commit()
