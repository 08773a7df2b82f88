"""Handling of SIGINT (Ctrl-C) and SIGTERM throughout a command.

Only this module and its imports are loaded before the first handlers are installed.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys

# Instead of `typing.TYPE_CHECKING`, since `typing` is not imported before the first handlers are installed.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

#: Callbacks before a signal ends the process at once.
_before_end: list[Callable[[], None]] = []

#: Whether the signal was SIGTERM, by which batch systems end a job.
_terminated = False


def leave_at_once() -> None:
    """Makes either signal end the process, with one line on standard error.

    Used during imports: an exception could be raised inside an import, whose code may print or replace it.
    """
    _handle(_leave)


def interrupt() -> None:
    """Makes the first signal raise `KeyboardInterrupt`, and a second one end the process."""
    sys.unraisablehook = _raise_again
    _handle(_raise)


def ignore() -> None:
    """Ignores both signals, so that they do not change the exit code of finished work."""
    _handle(signal.SIG_IGN)


def before_end(clean: Callable[[], None]) -> None:
    """Adds a callback before a signal ends the process at once."""
    _before_end.append(clean)


def end(code: int) -> NoReturn:
    """Ends the process at once, since simulation threads cannot be stopped midway."""
    try:
        for clean in _before_end:
            clean()
    finally:
        os._exit(code)


def exit_code() -> int:
    """Returns the exit code of a process ended by a signal."""
    return EXIT_TERMINATED if _terminated else EXIT_INTERRUPTED


def ended() -> str:
    """Returns the word for the signal in a message."""
    return "terminated" if _terminated else "interrupted"


def _handle(handler: object) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        # Signals ignored by the parent process stay ignored: shells start background jobs so.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)  # type: ignore[arg-type]


def _note(number: int) -> None:
    global _terminated
    _terminated = number == signal.SIGTERM


def _leave(number: int, _: object) -> None:
    _note(number)
    _end("; nothing was written")


def _raise(number: int, _: object) -> None:
    _note(number)
    _handle(_leave_after_all)
    raise KeyboardInterrupt


def _raise_again(swallowed: object) -> None:
    """Repeats an interrupt raised in a callback, such as a weak reference's, where Python drops it."""
    if not issubclass(swallowed.exc_type, KeyboardInterrupt):  # type: ignore[attr-defined]
        sys.__unraisablehook__(swallowed)  # type: ignore[arg-type]
        return
    _handle(_raise)
    # Another thread raises the signal, so that it arrives after this hook.
    number = signal.SIGTERM if _terminated else signal.SIGINT
    _thread.start_new_thread(_thread.interrupt_main, (number,))


def _leave_after_all(*_: object) -> None:
    _end("")


def _end(what: str) -> None:
    try:
        os.write(2, f"multihop: {ended()}{what}\n".encode())
    finally:
        end(exit_code())
