"""Runs a command as the first process of its own namespaces.

Usage: `python -m multihop.emulation.isolate [--uplink] COMMAND...`.

All processes that the command starts end with it. The command is killed with this process; signals are
forwarded.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from multihop import _core
from multihop.emulation import uplink

#: Environment variable with the number of the process outside that waits for the command.
MARK = "MULTIHOP_ISOLATED"

EXIT_REFUSED = 2
_UPLINK = "--uplink"
#: Signals that end an emulation. Unless they are blocked, the kernel discards them for the first process of a
#: namespace that has no handler yet.
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def command(words: list[str], *, with_uplink: bool = False) -> list[str]:
    """Returns the command that runs these words in namespaces, and on request with an uplink to attach."""
    return [sys.executable, "-m", "multihop.emulation.isolate", *([_UPLINK] if with_uplink else []), *words]


def is_isolated() -> bool:
    """Whether this process is such a command."""
    return MARK in os.environ


def number_outside() -> int:
    """Returns the number of the process outside that waits for this command."""
    return int(os.environ[MARK])


def hold_signals() -> None:
    """Blocks the ending signals, also in the command to start."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)


def take_signals() -> None:
    """Unblocks the ending signals, once handlers are installed."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)


def why_not(error: OSError) -> str:
    """Returns why namespaces are forbidden, and which setting allows them."""
    reason = error.strerror or str(error)
    if error.errno == errno.ENOSPC:
        return f"namespaces cannot be made: {reason}; sysctl user.max_user_namespaces is the limit"
    return (
        f"namespaces cannot be made: {reason}; run it as root, or allow user namespaces: sysctl "
        "kernel.unprivileged_userns_clone=1 (Debian), kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), "
        "user.max_user_namespaces above 0; in a container, --security-opt seccomp=unconfined or --privileged"
    )


def main(words: list[str]) -> NoReturn:
    """Isolates this process, starts the command, and exits with its exit code."""
    hold_signals()
    if words[0] == _UPLINK:
        words = words[1:]
        os.environ[uplink.MARK] = str(uplink.prepare())
    try:
        _core.isolate()
    except OSError as error:
        os.write(2, f"multihop: {why_not(error)}\n".encode())
        sys.exit(EXIT_REFUSED)
    parent = os.getpid()
    alive, held = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(held)
        _core.die_with_parent()
        # The parent may have been killed before the kernel watched it.
        if select.select([alive], [], [], 0)[0]:
            os._exit(1)
        os.environ[MARK] = str(parent)
        os.execv(words[0], words)

    def pass_on(number: int, _: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(child, number)

    for number in _ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, pass_on)
    take_signals()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main(sys.argv[1:])
