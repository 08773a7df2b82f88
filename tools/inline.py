"""A command of multihop in this process, where starting Python for each of many would take most of the time."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from multihop import cli


def run(words: Sequence[str | Path]) -> int:
    """Runs a command and returns its exit code; leaves the process as it was.

    A command ends with signals ignored, which whatever is started later would ignore, too.
    """
    arguments, hook = sys.argv, sys.unraisablehook
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    sys.argv = ["multihop", *map(str, words)]
    try:
        return cli._run()
    finally:
        sys.argv, sys.unraisablehook = arguments, hook
        for number, handler in handlers.items():
            signal.signal(number, handler)
