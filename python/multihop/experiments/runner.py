"""Runner of jobs, on threads or any executor. Each run is kept when it finishes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from queue import Empty, SimpleQueue
from typing import Any

from multihop import _core
from multihop.base.errors import OutputError
from multihop.base.executors import in_processes, pool_for, workers
from multihop.experiments.points import AS_WRITTEN, Point
from multihop.experiments.runs import FinishedRun
from multihop.results.provenance import engine
from multihop.simulation import classes
from multihop.simulation.logs import NO_LOGS, Logs
from multihop.simulation.reservations import Reservations
from multihop.simulation.scenario import Scenario, for_core
from multihop.simulation.store import Failure, RunId, Store, decode, encode

#: Most runs submitted at once: enough to keep a cluster busy, few enough to stop soon.
_UNDER_WAY_MOST = 2_000

#: Time between looks at what other processes have stored [s].
_LOOK_EVERY_S = 0.5


@dataclass(frozen=True)
class Job:
    """One run to be made.

    Attributes:
        scenario: scenario to run.
        overrides: values that replace keys of the scenario.
        view: scenario with its overrides, resolved.
        point: point of the design, for the record of a failure.
        logs: logs to write.
        causes: whether the output includes the tables of causes.
    """

    scenario: Scenario
    overrides: Mapping[str, Any]
    view: _core.ScenarioView
    point: Point = AS_WRITTEN
    logs: Logs = NO_LOGS
    causes: bool = False

    @property
    def seed(self) -> int:
        """Seed of the run: that of the overrides, or else the scenario's."""
        return int(self.overrides.get("seed", self.view["seed"]))

    @cached_property
    def id(self) -> RunId:
        """Identity of the run in a store."""
        return RunId(self.view["hash"], self.seed, engine())

    @property
    def given(self) -> tuple[classes.Given, ...]:
        """Classes of its schemes that were given as objects, for other processes."""
        return classes.given(self.view["classes"])

    def finished(self, output: _core.Output) -> FinishedRun:
        """Returns the run with its output."""
        return FinishedRun(self.scenario, self.view, self.overrides, output)


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

    def __init__(self, make: Callable[[int], list[Job]], first: int, most: int, rule: Callable[[int], int]) -> None:
        self._make = make
        self._rule = rule
        self.most = most
        self.seeds = 0
        self.wanted = first
        self.open: set[str] = set()

    def first(self) -> list[Job]:
        """Returns the jobs of the first seed."""
        return self._make(0)

    def next_jobs(self) -> list[Job]:
        """Returns the jobs that are needed now and were not returned yet; none once enough seeds have run."""
        if self.open:
            return []
        if self.seeds > 0 and self.seeds == self.wanted:
            self.wanted = min(self.most, self._rule(self.seeds))
        jobs = [job for index in range(self.seeds, self.wanted) for job in self._make(index)]
        self.seeds = self.wanted
        self.open = {job.id.key for job in jobs}
        return jobs


def run_all(
    jobs: Sequence[Job],
    threads: int | None = None,
    on_done: Callable[[FinishedRun], None] | None = None,
    on_tick: Callable[[float], None] | None = None,
    store: Store | None = None,
) -> list[FinishedRun]:
    """Runs jobs on threads. Returns their runs in the order of the jobs, for any number of threads.

    Jobs whose run is in the store are not run again; other runs are stored when finished. If a job fails,
    jobs that have not started are cancelled and its exception is raised.

    Args:
        jobs: jobs to run.
        threads: number of threads; all cores by default.
        on_done: callback after each new run, from a worker thread.
        on_tick: callback several times a second from this thread, with the simulated share of virtual time.
        store: store of finished runs.
    """
    memory = _Memory(store, on_done)
    tick = None if on_tick is None else lambda _: on_tick(memory.simulated_share)
    runs_python = any(job.view["classes"] for job in jobs)
    with pool_for(threads, runs_python=runs_python, runs=len(jobs)) as pool:
        _Runner([Group(lambda _: list(jobs), 1, 1, lambda seeds: seeds)], memory, pool, tick).run()
    return [job.finished(memory.outputs[job.id.key]) for job in jobs]


def run_missing(
    groups: Sequence[Group],
    store: Store,
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    fail_fast: bool = False,
    replay: Callable[[Job], str],
    on_progress: Callable[[Progress], None] | None = None,
) -> None:
    """Runs what the groups need and the store lacks. The store keeps runs and records of failures.

    Raises:
        OutputError: if a result cannot be written, or the executor is lost; finished runs are kept.
    """
    runs_python = executor is None and any(job.view["classes"] for group in groups for job in group.first())
    # One process submits all runs to an executor that was given; others share them by reservations.
    reservations = store.reservations() if executor is None else None
    keeper = _Stored(store, replay, reservations, fail_fast=fail_fast)
    try:
        with pool_for(jobs, executor, runs_python=runs_python) as pool:
            _Runner(groups, keeper, pool, on_progress, most=None if executor else 2 * workers(jobs)).run()
    finally:
        if reservations is not None:
            reservations.close()


def execute(
    text: str,
    origin: str,
    overrides: dict[str, Any],
    run: RunId,
    given: Sequence[classes.Given] = (),
    *,
    causes: bool = False,
) -> bytes:
    """Executes one run on a worker and returns its encoded output.

    `given` are the classes of its schemes that were given as objects.

    Raises:
        OutputError: if this worker has another build of multihop than the study.
    """
    if engine() != run.engine:
        here, there = engine(), run.engine
        raise OutputError(f"this worker has multihop {here}, but the study runs {there}; install the same build")
    classes.receive(given)
    output = _core.run(text, origin, overrides, causes=True) if causes else _core.run(text, origin, overrides)
    return encode(output, run)


class _Memory:
    """Outputs in memory, which threads also write to a store, if there is one. A failure is raised."""

    def __init__(self, store: Store | None, on_done: Callable[[FinishedRun], None] | None) -> None:
        self.outputs: dict[str, _core.Output] = {}
        self._store = store
        self._on_done = on_done
        self._meters: list[_core.Meter] = []
        self._to_simulate_s = 0.0

    @property
    def simulated_share(self) -> float:
        """Share of virtual time that has been simulated."""
        return sum(meter.simulated_s for meter in self._meters) / max(self._to_simulate_s, 1e-9)

    def reserve(self, _: Job) -> bool:
        return True

    def renew(self) -> None:
        """Runs in memory are not shared with other processes."""

    def look_elsewhere(self) -> None:
        """Runs in memory are not shared with other processes."""

    def has(self, job: Job) -> bool:
        output = None if self._store is None else self._store.read(job.id)
        if output is None:
            self._to_simulate_s += job.view["duration"]
            return False
        self.outputs[job.id.key] = output
        return True

    def submit(self, pool: Executor, job: Job) -> Future[_core.Output] | Future[bytes]:
        if in_processes(pool):
            overrides = for_core(job.overrides)
            return pool.submit(
                execute, job.scenario.text, job.scenario.origin, overrides, job.id, job.given, causes=job.causes
            )
        self._meters.append(_core.Meter())
        return pool.submit(self._run, job, self._meters[-1])

    def _run(self, job: Job, meter: _core.Meter) -> _core.Output:
        text, origin, logs = job.scenario.text, job.scenario.origin, job.logs
        replaced, part = for_core(job.overrides), logs.part(job.view)
        output = _core.run(text, origin, replaced, meter, logs.pcap, job.causes, logs.frames, part)
        if self._store is not None:
            self._store.write(job.id, encode(output, job.id))
        if self._on_done is not None:
            self._on_done(job.finished(output))
        return output

    def keep(self, job: Job, made: _core.Output | bytes) -> None:
        if isinstance(made, bytes):
            if self._store is not None:
                self._store.write(job.id, made)
            made = decode(made, job.id)
            if self._on_done is not None:
                self._on_done(job.finished(made))
        self.outputs[job.id.key] = made

    def fail(self, _: Job, error: Exception) -> bool:
        raise error


class _Stored:
    """Runs in a store, from any executor, with records of failures."""

    def __init__(
        self, store: Store, replay: Callable[[Job], str], reservations: Reservations | None, *, fail_fast: bool
    ) -> None:
        self._store = store
        self._reservations = reservations
        self._replay = replay
        self._fail_fast = fail_fast

    def has(self, job: Job) -> bool:
        return self._store.has(job.id)

    def reserve(self, job: Job) -> bool:
        """Reserves a run for this process. Returns whether it is to be made here and now."""
        if self._reservations is None:
            return True
        if not self._reservations.take(job.id.key):
            return False
        if self._reservations.are_shared():
            # Another process may have finished it since the store was read.
            self._store.refresh()
            if self._store.has(job.id):
                self._reservations.release(job.id.key)
                return False
        return True

    def renew(self) -> None:
        """Keeps the reservations of this process."""
        if self._reservations is not None:
            self._reservations.renew()

    def look_elsewhere(self) -> None:
        """Reads what other processes have stored."""
        self._store.refresh()

    def submit(self, pool: Executor, job: Job) -> Future[bytes]:
        try:
            overrides = for_core(job.overrides)
            given = (job.given,) if job.given else ()
            return pool.submit(execute, job.scenario.text, job.scenario.origin, overrides, job.id, *given)
        except (BrokenExecutor, RuntimeError) as error:
            raise self._without_workers(error) from error

    def keep(self, job: Job, made: bytes) -> None:
        if not isinstance(made, bytes):
            raise OutputError(
                f"the executor cannot be used: the result of a run is {type(made).__name__}, not the bytes "
                "that its function returned; finished runs are kept"
            )
        self._store.write(job.id, made)
        self._release(job)

    def _release(self, job: Job) -> None:
        if self._reservations is not None:
            self._reservations.release(job.id.key)

    def fail(self, job: Job, error: Exception) -> bool:
        """Records a failure. Returns whether to start further runs.

        Raises:
            OutputError: if all further runs would fail as well.
        """
        if isinstance(error, BrokenExecutor | CancelledError):
            raise self._without_workers(error) from error
        if isinstance(error, OutputError | ImportError):
            # Every run on this worker would fail in the same way.
            said = f"a worker cannot run the study: {error}"
            remedy = "repair its installation and repeat the command; finished runs are kept"
            raise OutputError(f"{said}; {remedy}") from error
        words = f"{type(error).__name__}: {error}"
        self._release(job)
        self._store.write_failure(job.id, Failure(dict(job.point.labels), job.seed, words, self._replay(job)))
        return not self._fail_fast

    def _without_workers(self, error: Exception) -> OutputError:
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return OutputError(
            f"the workers are lost ({why}); finished runs are kept in {self._store.directory}, run again to resume"
        )


class _Runner:
    """Runs the jobs of groups, each once, in their order, until the groups need no more."""

    def __init__(
        self,
        groups: Sequence[Group],
        keeper: _Memory | _Stored,
        pool: Executor,
        on_progress: Callable[[Progress], None] | None,
        most: int | None = None,
    ) -> None:
        self._groups = groups
        self._most = most or _UNDER_WAY_MOST
        #: Jobs that other processes are making.
        self._elsewhere: list[Job] = []
        self._looked = 0.0
        self._keeper = keeper
        self._pool = pool
        self._on_progress = on_progress
        self._queue: deque[Job] = deque()
        #: Groups that wait for a run, by its key: points of several comparisons may be the same run.
        self._waiting: dict[str, list[Group]] = {}
        #: Keys of finished and failed runs. Each run counts once, also in several comparisons.
        self._settled: set[str] = set()
        self._under_way: dict[Future[Any], Job] = {}
        self._done: SimpleQueue[Future[Any]] = SimpleQueue()
        self._began = time.monotonic()
        self._waiting_s = 0.0
        self._stopped = False
        self._progress = Progress()

    def run(self) -> None:
        for group in self._groups:
            self._advance(group)
        self._tell()
        try:
            while self._queue or self._under_way or self._elsewhere:
                self._keeper.renew()
                self._submit()
                self._look_elsewhere()
                # The timeout returns control to the interpreter, so that Ctrl-C is handled.
                with suppress(Empty):
                    self._finish(self._done.get(timeout=0.2))
                self._tell()
        finally:
            # Cancelling calls back and changes the dictionary, so iterate over a copy.
            for future in list(self._under_way):
                future.cancel()

    def _advance(self, group: Group) -> None:
        """Queues the next jobs of a group, until one of their runs does not exist."""
        while jobs := group.next_jobs():
            for job in jobs:
                key = job.id.key
                if key in self._waiting:
                    if group not in self._waiting[key]:
                        self._waiting[key].append(group)
                elif key in self._settled:
                    group.open.discard(key)
                elif self._keeper.has(job):
                    self._progress.found += 1
                    self._settled.add(key)
                    group.open.discard(key)
                else:
                    self._waiting[key] = [group]
                    self._queue.append(job)
                    self._waiting_s += job.view["duration"]
            if group.open:
                return

    def _submit(self) -> None:
        # First in, first out: results appear in the order of the study.
        while self._queue and len(self._under_way) < self._most:
            job = self._queue.popleft()
            if not self._keeper.reserve(job):
                self._elsewhere.append(job)
                continue
            future = self._keeper.submit(self._pool, job)
            self._under_way[future] = job
            future.add_done_callback(self._done.put)

    def _look_elsewhere(self) -> None:
        """Settles jobs that other processes have finished, and queues those that they have given up."""
        if not self._elsewhere or time.monotonic() - self._looked < _LOOK_EVERY_S:
            return
        self._looked = time.monotonic()
        self._keeper.look_elsewhere()
        waiting, self._elsewhere = self._elsewhere, []
        for job in waiting:
            if not self._keeper.has(job):
                self._queue.append(job)
                continue
            self._waiting_s -= job.view["duration"]
            self._progress.found += 1
            self._settle(job)

    def _settle(self, job: Job) -> None:
        """Counts a run as finished for all groups that wait for it."""
        self._settled.add(job.id.key)
        for group in self._waiting.pop(job.id.key):
            group.open.discard(job.id.key)
            if not group.open and not self._stopped:
                self._advance(group)

    def _finish(self, future: Future[Any]) -> None:
        job = self._under_way.pop(future, None)
        if job is None:
            return
        self._waiting_s -= job.view["duration"]
        try:
            made = future.result()
        except Exception as error:  # noqa: BLE001 - the keeper decides what any failure means
            self._fail(job, error)
        else:
            self._keeper.keep(job, made)
            self._progress.finished += 1
            self._progress.simulated_s += job.view["duration"]
        self._settle(job)

    def _fail(self, job: Job, error: Exception) -> None:
        goes_on = self._keeper.fail(job, error)
        self._progress.failed += 1
        if not goes_on:
            self._stopped = True
            self._queue.clear()
            self._elsewhere.clear()
            for future in list(self._under_way):
                if future.cancel():
                    self._under_way.pop(future, None)

    def _tell(self) -> None:
        if self._on_progress is None:
            return
        p = self._progress
        p.total = p.found + p.finished + p.failed + len(self._queue) + len(self._under_way) + len(self._elsewhere)
        elapsed = time.monotonic() - self._began
        if p.simulated_s > 0:
            p.left_s = elapsed / p.simulated_s * self._waiting_s
        self._on_progress(p)
