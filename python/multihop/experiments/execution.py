"""Execution of missing runs on any executor; every run is stored when it finishes."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from multihop import _core
from multihop.base.errors import OutputError
from multihop.experiments.points import Point
from multihop.results.provenance import engine
from multihop.simulation.store import Failure, RunId, Store, encode

#: Most runs submitted at once: enough to keep a cluster busy, few enough to stop soon.
_UNDER_WAY_MOST = 2_000


@dataclass(frozen=True)
class Run:
    """One run of a study: a point and a seed, with all data that a worker needs."""

    id: RunId
    point: Point
    seed: int
    duration_s: float
    text: str = field(repr=False)
    origin: str
    overrides: Mapping[str, Any] = field(repr=False)


@dataclass
class Progress:
    """Progress of a study. With a stop rule, `total` may fall or grow."""

    finished: int = 0
    found: int = 0
    failed: int = 0
    total: int = 0
    simulated_s: float = 0.0
    left_s: float = 0.0


class Group:
    """Points that are compared with each other, and so have the same seeds.

    `rule` returns the number of seeds wanted after the given number of finished seeds.
    """

    def __init__(self, make: Callable[[int], list[Run]], first: int, most: int, rule: Callable[[int], int]) -> None:
        self._make = make
        self._rule = rule
        self.most = most
        self.seeds = 0
        self.wanted = first
        self.open: set[str] = set()

    def next_runs(self) -> list[Run]:
        """Returns the runs that are needed now and were not returned yet; none once enough seeds have run."""
        if self.open:
            return []
        if self.seeds > 0 and self.seeds == self.wanted:
            self.wanted = min(self.most, self._rule(self.seeds))
        runs = [run for index in range(self.seeds, self.wanted) for run in self._make(index)]
        self.seeds = self.wanted
        self.open = {run.id.key for run in runs}
        return runs


def execute(text: str, origin: str, overrides: dict[str, Any], run: RunId) -> bytes:
    """Executes one run on a worker and returns its encoded output.

    Raises:
        OutputError: if this worker has another build of multihop than the study.
    """
    if engine() != run.engine:
        here, there = engine(), run.engine
        raise OutputError(f"this worker has multihop {here}, but the study runs {there}; install the same build")
    return encode(_core.run(text, origin, overrides), run)


def run_missing(
    groups: Sequence[Group],
    store: Store,
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    fail_fast: bool = False,
    replay: Callable[[Run], str],
    on_progress: Callable[[Progress], None] | None = None,
) -> list[Failure]:
    """Runs what the groups need and the store lacks. Returns the failures.

    Raises:
        OutputError: if a result cannot be written, or the executor is lost; finished runs are kept.
    """
    with _executor_or_threads(executor, jobs) as pool:
        return _Campaign(groups, store, pool, replay, on_progress, fail_fast=fail_fast).run()


class _Campaign:
    def __init__(
        self,
        groups: Sequence[Group],
        store: Store,
        pool: Executor,
        replay: Callable[[Run], str],
        on_progress: Callable[[Progress], None] | None,
        *,
        fail_fast: bool,
    ) -> None:
        self._groups = groups
        self._store = store
        self._pool = pool
        self._replay = replay
        self._on_progress = on_progress
        self._fail_fast = fail_fast
        self._queue: deque[Run] = deque()
        #: Groups that wait for a run, by its key: points of several comparisons may be the same run.
        self._waiting: dict[str, list[Group]] = {}
        #: Keys of finished and failed runs. Each run counts once, also in several comparisons.
        self._settled: set[str] = set()
        self._under_way: dict[Future[bytes], Run] = {}
        self._done: SimpleQueue[Future[bytes]] = SimpleQueue()
        self._failures: list[Failure] = []
        self._began = time.monotonic()
        self._waiting_s = 0.0
        self._stopped = False
        self._progress = Progress()

    def run(self) -> list[Failure]:
        for group in self._groups:
            self._advance(group)
        self._tell()
        try:
            while self._queue or self._under_way:
                self._submit()
                # The timeout returns control to the interpreter, so that Ctrl-C is handled.
                with suppress(Empty):
                    self._finish(self._done.get(timeout=0.2))
                self._tell()
        finally:
            # Cancelling calls back and changes the dictionary, so iterate over a copy.
            for future in list(self._under_way):
                future.cancel()
        return self._failures

    def _advance(self, group: Group) -> None:
        """Queues the next runs of a group, until one of them is not in the store."""
        while runs := group.next_runs():
            for run in runs:
                key = run.id.key
                if key in self._waiting:
                    if group not in self._waiting[key]:
                        self._waiting[key].append(group)
                elif key in self._settled:
                    group.open.discard(key)
                elif self._store.has(run.id):
                    self._progress.found += 1
                    self._settled.add(key)
                    group.open.discard(key)
                else:
                    self._waiting[key] = [group]
                    self._queue.append(run)
                    self._waiting_s += run.duration_s
            if group.open:
                return

    def _submit(self) -> None:
        # First in, first out: results appear in the order of the study.
        while self._queue and len(self._under_way) < _UNDER_WAY_MOST:
            run = self._queue.popleft()
            try:
                future = self._pool.submit(execute, run.text, run.origin, dict(run.overrides), run.id)
            except (BrokenExecutor, RuntimeError) as error:
                raise self._without_workers(error) from error
            self._under_way[future] = run
            future.add_done_callback(self._done.put)

    def _finish(self, future: Future[bytes]) -> None:
        run = self._under_way.pop(future, None)
        if run is None:
            return
        self._waiting_s -= run.duration_s
        try:
            content = future.result()
        except (BrokenExecutor, CancelledError) as error:
            raise self._without_workers(error) from error
        except (OutputError, ImportError) as error:
            # Every run on this worker would fail in the same way.
            raise OutputError(f"a worker cannot be used: {error}; finished runs are kept") from error
        except Exception as error:  # noqa: BLE001 - any failure of a run or worker is recorded with the run
            self._fail(run, error)
        else:
            if not isinstance(content, bytes):
                raise OutputError(
                    f"the executor cannot be used: the result of a run is {type(content).__name__}, not the bytes "
                    "that its function returned; finished runs are kept"
                )
            self._store.write(run.id, content)
            self._progress.finished += 1
            self._progress.simulated_s += run.duration_s
        self._settled.add(run.id.key)
        for group in self._waiting.pop(run.id.key):
            group.open.discard(run.id.key)
            if not group.open and not self._stopped:
                self._advance(group)

    def _without_workers(self, error: Exception) -> OutputError:
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return OutputError(
            f"the workers are lost ({why}); finished runs are kept in {self._store.directory}, run again to resume"
        )

    def _fail(self, run: Run, error: Exception) -> None:
        failure = Failure(dict(run.point.labels), run.seed, f"{type(error).__name__}: {error}", self._replay(run))
        self._store.write_failure(run.id, failure)
        self._failures.append(failure)
        self._progress.failed += 1
        if self._fail_fast:
            self._stopped = True
            self._queue.clear()
            for future in list(self._under_way):
                if future.cancel():
                    self._under_way.pop(future, None)

    def _tell(self) -> None:
        if self._on_progress is None:
            return
        p = self._progress
        p.total = p.found + p.finished + p.failed + len(self._queue) + len(self._under_way)
        elapsed = time.monotonic() - self._began
        if p.simulated_s > 0:
            p.left_s = elapsed / p.simulated_s * self._waiting_s
        self._on_progress(p)


@contextmanager
def _executor_or_threads(executor: Executor | None, jobs: int | None) -> Iterator[Executor]:
    """Yields the given executor, or threads on all cores, since the engine releases the GIL."""
    if executor is not None:
        yield executor
        return
    pool = ThreadPoolExecutor(max_workers=jobs or os.cpu_count() or 1, thread_name_prefix="multihop")
    try:
        yield pool
    finally:
        with suppress(RuntimeError):
            pool.shutdown(wait=False, cancel_futures=True)
