"""Runs a command as the first process of namespaces of its own.

Usage: `python -m multihop.emulation.isolate [--uplink] COMMAND...`.

Whatever the command starts ends with it. It is killed when this process is; signals are passed on.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from multihop import _core
from multihop.emulation import uplink

#: Set for the command.
MARK = "MULTIHOP_ISOLATED"

EXIT_REFUSED = 2
_UPLINK = "--uplink"


def command(words: list[str], *, with_uplink: bool = False) -> list[str]:
    """What runs these words so; with an exit to the host for `uplink.attach` if it is asked for."""
    return [sys.executable, "-m", "multihop.emulation.isolate", *([_UPLINK] if with_uplink else []), *words]


def is_isolated() -> bool:
    """Is this process such a command?"""
    return MARK in os.environ


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
    if words[0] == _UPLINK:
        words = words[1:]
        os.environ[uplink.MARK] = str(uplink.prepare())
    try:
        _core.isolate()
    except OSError as error:
        os.write(2, f"multihop: {why_not(error)}\n".encode())
        sys.exit(EXIT_REFUSED)
    child = os.fork()
    if child == 0:
        _core.die_with_parent()
        os.environ[MARK] = "1"
        os.execv(words[0], words)

    def pass_on(number: int, _: FrameType | None) -> None:
        os.kill(child, number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, pass_on)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main(sys.argv[1:])
