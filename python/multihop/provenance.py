"""What a result says about where it came from. Nothing here depends on the machine."""

import shlex
import sys
from pathlib import Path

from multihop import _core


def version() -> str:
    """Version of the engine and the package, which are built together."""
    return _core.version()


def commit() -> str | None:
    """Commit that the engine was built from; `None` if it was built outside a git checkout."""
    return _core.commit()


def command_line() -> str:
    """The command that is running, as it can be typed again; empty when used as a library."""
    program = Path(sys.argv[0]).name if sys.argv else ""
    if program not in {"multihop", "multihop.exe"}:
        return ""
    return shlex.join(["multihop", *sys.argv[1:]])
