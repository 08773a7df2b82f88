"""Runs a command as the first process of namespaces of its own.

Usage: `python -m multihop.emulation.isolate [--uplink] COMMAND...`.

Whatever the command starts ends with it. It is killed when this process is; signals are passed on.
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

#: Set for the command: the number of the process outside that waits for it.
MARK = "MULTIHOP_ISOLATED"

EXIT_REFUSED = 2
_UPLINK = "--uplink"
#: Signals that want an end. The kernel ignores them on behalf of the first process of a namespace that has no
#: handler yet, unless they are held.
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def command(words: list[str], *, with_uplink: bool = False) -> list[str]:
    """What runs these words so; with an exit to the host for `uplink.attach` if it is asked for."""
    return [sys.executable, "-m", "multihop.emulation.isolate", *([_UPLINK] if with_uplink else []), *words]


def is_isolated() -> bool:
    """Is this process such a command?"""
    return MARK in os.environ


def number_outside() -> int:
    """The number of the process outside that waits for this command."""
    return int(os.environ[MARK])


def hold_signals() -> None:
    """From now on signals that want an end wait, in the command that is started as well."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)


def take_signals() -> None:
    """Takes the signals that have waited, and those to come: handlers are there."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)


def why_not(error: OSError) -> str:
    """What forbids namespaces, and which setting allows them."""
    reason = error.strerror or str(error)
    if error.errno == errno.ENOSPC:
        return f"namespaces cannot be made: {reason}; sysctl user.max_user_namespaces is the limit"
    return (
        f"namespaces cannot be made: {reason}; run it as root, or allow user namespaces: sysctl "
        "kernel.unprivileged_userns_clone=1 (Debian), kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), "
        "user.max_user_namespaces above 0; in a container, --security-opt seccomp=unconfined or --privileged"
    )


def main(words: list[str]) -> NoReturn:
    """Isolates itself, starts the command, and leaves as it leaves."""
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
