"""Status of a running emulation: lines of JSON for programs, a table for people."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from rich.live import Live
from rich.table import Table

from multihop.cli import console
from multihop.emulation.session import Session

_EVERY_S = 1.0
#: Most pairs of nodes in the table, those with the highest goodput.
_MOST_ROWS = 20


class Watch:
    """Writes the status of an emulation each second, as lines of JSON, a table or both. A context manager.

    Lines that cannot be written do not end the emulation.
    """

    def __init__(self, lines: Path | None, *, table: bool) -> None:
        self._lines_to = lines
        self._lines: IO[str] | None = None
        #: Messages about lines that could not be written.
        self.failures: list[str] = []
        self._live = Live(console=console.Terminal(stderr=True), auto_refresh=False, transient=True) if table else None
        self._next = time.monotonic() + _EVERY_S
        self._before: dict[str, Any] = {"real_s": 0.0, "delivered_bytes": {}}

    def __enter__(self) -> Self:
        if self._lines_to is not None:
            self._lines = self._lines_to.open("w", encoding="utf-8")
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()
        self._close()

    def look(self, session: Session) -> None:
        """Writes the status if a second has passed since the last one."""
        if time.monotonic() < self._next or (self._lines is None and self._live is None):
            return
        self._next += _EVERY_S
        status = session.status()
        status["goodput_bps"] = goodputs(self._before, status)
        self._before = status
        if self._lines is not None:
            try:
                self._lines.write(json.dumps(status) + "\n")
                self._lines.flush()
            except OSError as error:
                self.failures.append(f"{self._lines_to}: cannot be written: {error.strerror}; the file ends there")
                self._close()
        if self._live is not None:
            self._live.update(table_of(status), refresh=True)

    def _close(self) -> None:
        if self._lines is not None:
            with suppress(OSError):  # an incomplete line that cannot be flushed
                self._lines.close()
            self._lines = None


def goodputs(before: dict[str, Any], now: dict[str, Any]) -> dict[str, float]:
    """Goodput of each pair of nodes in bit/s of real time between two statuses, where it is not zero."""
    passed = now["real_s"] - before["real_s"]
    if passed <= 0:
        return {}
    gained = {name: count - before["delivered_bytes"].get(name, 0) for name, count in now["delivered_bytes"].items()}
    return {name: count * 8 / passed for name, count in gained.items() if count}


def table_of(status: dict[str, Any]) -> Table:
    """Returns a table of goodput by pair of nodes, with lag, losses and the longest queues in its title."""
    lost = sum(status["lost"].values()) + sum(status["refused"].values()) + status["device_full"] + status["overflowed"]
    queues = sorted(status["queues"].items(), key=lambda queue: -queue[1])[:4]
    title = (
        f"{status['virtual_s']:.0f} s  lag p50 {status['lateness_p50_s'] * 1e3:.2f} ms, "
        f"p99 {status['lateness_p99_s'] * 1e3:.2f} ms  {status['read']} packets read, {lost} lost or refused  "
        f"queues: {', '.join(f'{node} {packets}' for node, packets in queues) or 'empty'}"
    )
    fastest = sorted(status["goodput_bps"].items(), key=lambda pair: -pair[1])[:_MOST_ROWS]
    return console.table(["pair", "goodput Mb/s"], [[name, f"{bps / 1e6:.3f}"] for name, bps in fastest], title=title)
