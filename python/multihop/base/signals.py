"""What SIGINT (Ctrl-C) and SIGTERM do to the command, from its first line to its last.

This and what it imports is all that is loaded before the first handlers are there.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys

# As of `typing`, which is not imported before the first handlers are there.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

#: What is done before a signal ends the process at once.
_before_end: list[Callable[[], None]] = []

#: Whether it was SIGTERM, by which batch systems say that time is up, that wanted an end.
_terminated = False


def leave_at_once() -> None:
    """From now on either signal ends the process, with one line.

    An exception could come in the middle of an import, where the importing code may print it, or take it for
    another.
    """
    _handle(_leave)


def interrupt() -> None:
    """From now on the first signal raises `KeyboardInterrupt`; a second one meanwhile ends the process."""
    sys.unraisablehook = _raise_again
    _handle(_raise)


def ignore() -> None:
    """From now on neither signal changes the exit code of what is done already."""
    _handle(signal.SIG_IGN)


def before_end(clean: Callable[[], None]) -> None:
    """Adds what is done before a signal ends the process at once."""
    _before_end.append(clean)


def end(code: int) -> NoReturn:
    """Ends the process at once: runs in other threads cannot be stopped halfway."""
    try:
        for clean in _before_end:
            clean()
    finally:
        os._exit(code)


def exit_code() -> int:
    """The exit code of a process that a signal ended."""
    return EXIT_TERMINATED if _terminated else EXIT_INTERRUPTED


def ended() -> str:
    """What the signal did, for a message."""
    return "terminated" if _terminated else "interrupted"


def _handle(handler: object) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        # Ignored by the parent process, as shells have Ctrl-C ignored by what runs in the background.
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
    """Repeats an interrupt that came in a callback, as of a weak reference, where Python drops exceptions."""
    if not issubclass(swallowed.exc_type, KeyboardInterrupt):  # type: ignore[attr-defined]
        sys.__unraisablehook__(swallowed)  # type: ignore[arg-type]
        return
    _handle(_raise)
    # From another thread, so that it comes after this hook.
    number = signal.SIGTERM if _terminated else signal.SIGINT
    _thread.start_new_thread(_thread.interrupt_main, (number,))


def _leave_after_all(*_: object) -> None:
    _end("")


def _end(what: str) -> None:
    try:
        os.write(2, f"multihop: {ended()}{what}\n".encode())
    finally:
        end(exit_code())
