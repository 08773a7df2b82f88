"""Emulation that serves requests over a socket until the socket is closed.

Usage: `python -m multihop.emulation.service FD`. Both ends belong to this package. Each request is answered
at once with a value or an error. A failed request does not end the emulation.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from multiprocessing.connection import Connection
from types import FrameType
from typing import IO, Any

from multihop._core import InternalError
from multihop.emulation.isolate import take_signals
from multihop.emulation.outcome import Emulated
from multihop.emulation.session import Session


class Service:
    """Handler of a client's requests to a running emulation."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._programs: list[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]] = []

    def start(self, node: str, words: list[str]) -> int:
        """Starts a program, and returns its number."""
        index = self._session.node(node)
        # Output goes to files, since programs would wait for the readers of pipes.
        out, err = (tempfile.TemporaryFile() for _ in range(2))  # noqa: SIM115 - open until it has ended
        program = self._session.start(index, words, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        self._programs.append((program, out, err))
        return len(self._programs) - 1

    def poll(self, number: int) -> tuple[int, bytes, bytes] | None:
        """Returns a program's exit code, or minus its signal, and its output; `None` while it runs."""
        program, out, err = self._programs[number]
        code = program.poll()
        if code is None:
            return None
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()

    def signal(self, number: int, which: int) -> None:
        """Sends a signal to a program."""
        self._programs[number][0].send_signal(which)

    def status(self) -> dict[str, Any]:
        """Returns the progress of the emulation."""
        return self._session.status()

    def is_over(self) -> bool:
        """Whether the scenario has ended."""
        return self._session.is_over

    def finish(self) -> Emulated:
        """Ends the emulation, and returns its result."""
        return self._session.finish()


def main(descriptor: int) -> None:
    """Serves requests until the other end is closed, or an ending signal arrives."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    take_signals()
    with Connection(descriptor) as requests:
        try:
            session = Session(requests.recv())
        except Exception as error:  # noqa: BLE001 - raised at the other end
            requests.send(_answer(error))
            return
        with session:
            requests.send(None)
            service = Service(session)
            while True:
                try:
                    name, arguments = requests.recv()
                except EOFError:
                    return
                try:
                    answer = getattr(service, name)(*arguments)
                except Exception as error:  # noqa: BLE001 - raised at the other end
                    answer = _answer(error)
                requests.send(answer)


def _answer(error: Exception) -> Exception:
    """Returns an error that the other end can raise: those of this package unchanged, others by name."""
    known = isinstance(error, ValueError | OSError | InternalError)
    return error if known else RuntimeError(f"{type(error).__name__}: {error}")


def _leave(number: int, _: FrameType | None) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    main(int(sys.argv[1]))
