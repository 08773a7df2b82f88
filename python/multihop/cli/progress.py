"""A progress bar on standard error, with what is left and how fast it goes. Silent where nobody looks."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

from multihop.results import Result


class RunProgress:
    """Counts finished runs. A context manager; `done` may be called from any thread."""

    def __init__(self, runs: int, *, quiet: bool) -> None:
        self._lock = threading.Lock()
        self._runs = runs
        self._finished = 0
        self._events = 0
        self._simulated_s = 0.0
        self._began = 0.0
        self._bar: Progress | None = None
        if not quiet and sys.stderr.isatty():
            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[note]}"),
                console=Console(stderr=True),
                transient=True,
            )

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        if self._bar is not None:
            self._task = self._bar.add_task("simulating", total=1.0, note="")
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def done(self, result: Result) -> None:
        """One run has finished."""
        with self._lock:
            self._finished += 1
            self._events += int(result.summary["events"])
            self._simulated_s += result.view["duration"]

    def tick(self, share: float) -> None:
        """So much of the virtual time of all runs has passed."""
        with self._lock:
            if self._bar is not None and share > 0:
                left = (time.monotonic() - self._began) * (1 - share) / share
                note = f"{self._finished} of {self._runs} runs, {_clock(left)} left"
                self._bar.update(self._task, completed=share, note=note)

    def speed(self) -> str:
        """Simulated seconds and events per second of waiting, so far."""
        elapsed = max(time.monotonic() - self._began, 1e-9)
        return f"{self._simulated_s / elapsed:,.0f} simulated s/s, {self._events / elapsed / 1e6:.2f} M events/s"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
