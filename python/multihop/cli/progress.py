"""Progress bars on standard error with time left and speed; silent where standard error is no terminal."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as Bar

from multihop.api.results import Result
from multihop.cli.console import Terminal
from multihop.experiments.runner import Progress


class RunProgress:
    """Progress of runs. A context manager; `done` may be called from any thread."""

    def __init__(self, runs: int, *, quiet: bool) -> None:
        self._lock = threading.Lock()
        self._runs = runs
        self._finished = 0
        self._events = 0
        self._simulated_s = 0.0
        self._began = 0.0
        self._bar: Bar | None = None
        if not quiet and sys.stderr.isatty():
            self._bar = _bar(TaskProgressColumn())

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
        """Counts a finished run."""
        with self._lock:
            self._finished += 1
            self._events += int(result.output["summary"]["events"])
            self._simulated_s += result.view["duration"]

    def tick(self, share: float) -> None:
        """Shows the share of all runs' virtual time that has been simulated."""
        with self._lock:
            if self._bar is not None and share > 0:
                left = (time.monotonic() - self._began) * (1 - share) / share
                note = f"{self._finished} runs made, {_clock(left)} left"
                self._bar.update(self._task, completed=share, note=note)

    def summary(self) -> str:
        """Returns a line with the number of runs, simulated seconds and events per second of real time."""
        elapsed = max(time.monotonic() - self._began, 1e-9)
        made, found = self._finished, self._runs - self._finished
        speed = f", {self._simulated_s / elapsed:,.0f} simulated s/s, {self._events / elapsed / 1e6:.2f} M events/s"
        there = f", {found} {'was' if found == 1 else 'were'} there" if found else ""
        return f"{made} {'run' if made == 1 else 'runs'}{' made' if found else ''}{there}{speed if made else ''}"


class StudyBar:
    """Progress of a study: finished runs of all, and time left. A context manager."""

    def __init__(self, name: str, *, quiet: bool) -> None:
        self._name = name
        self._bar = None if quiet or not sys.stderr.isatty() else _bar(MofNCompleteColumn())
        self._last = Progress()
        self._began = 0.0

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        if self._bar is not None:
            self._task = self._bar.add_task(self._name, total=None, note="")
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, progress: Progress) -> None:
        """Shows the progress."""
        self._last = progress
        if self._bar is not None:
            done = progress.found + progress.finished + progress.failed
            failed = f", {progress.failed} failed" if progress.failed else ""
            left = f"{_clock(progress.left_s)} left" if progress.left_s > 0 else ""
            self._bar.update(self._task, completed=done, total=progress.total, note=f"{left}{failed}")

    def kept(self) -> int:
        """Number of runs in the store."""
        return self._last.found + self._last.finished

    def summary(self) -> str:
        """Returns a line with the numbers of runs and the speed."""
        p, elapsed = self._last, max(time.monotonic() - self._began, 1e-9)
        speed = f", {p.simulated_s / elapsed:,.0f} simulated s/s" if p.finished else ""
        failed = f", {p.failed} failed" if p.failed else ""
        return f"{self._name}: {p.finished} runs made, {p.found} were there{failed}, {elapsed:.1f} s{speed}"


def _bar(count: ProgressColumn) -> Bar:
    return Bar(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        count,
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        console=Terminal(stderr=True),
        transient=True,
    )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
