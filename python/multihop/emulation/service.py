"""An emulation that serves requests over a socket until that is closed.

Usage: `python -m multihop.emulation.service FD`. Both ends are this package. Each request is answered at
once: the value, or an error. A request that fails does not end the emulation.
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
    """What a client may ask."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._programs: list[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]] = []

    def start(self, node: str, words: list[str]) -> int:
        """Starts a program; its number."""
        index = self._session.node(node)
        # Files, as programs would wait for the readers of pipes.
        out, err = (tempfile.TemporaryFile() for _ in range(2))  # noqa: SIM115 - open until it has ended
        program = self._session.start(index, words, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        self._programs.append((program, out, err))
        return len(self._programs) - 1

    def poll(self, number: int) -> tuple[int, bytes, bytes] | None:
        """A program's exit code, or minus the signal that ended it, and its output; none while it runs."""
        program, out, err = self._programs[number]
        code = program.poll()
        if code is None:
            return None
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()

    def signal(self, number: int, which: int) -> None:
        """Sends a program a signal."""
        self._programs[number][0].send_signal(which)

    def status(self) -> dict[str, Any]:
        """How far it has come."""
        return self._session.status()

    def is_over(self) -> bool:
        """Has the scenario come to its end?"""
        return self._session.is_over

    def finish(self) -> Emulated:
        """Ends everything."""
        return self._session.finish()


def main(descriptor: int) -> None:
    """Serves until the other end is closed, or a signal wants an end."""
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
    """An error that the other end can raise: of this package as it is, else by its name."""
    known = isinstance(error, ValueError | OSError | InternalError)
    return error if known else RuntimeError(f"{type(error).__name__}: {error}")


def _leave(number: int, _: FrameType | None) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    main(int(sys.argv[1]))
