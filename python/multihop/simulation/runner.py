"""Runs jobs on threads. The engine releases the GIL, so one process uses all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from multihop import _core
from multihop.results.provenance import engine
from multihop.simulation.logs import NO_LOGS, Logs
from multihop.simulation.scenario import Scenario, for_core
from multihop.simulation.store import RunId, Store, encode


@dataclass(frozen=True)
class Job:
    """One run: a scenario, what replaces its keys, the scenario resolved with that, and where its logs go.

    With `causes`, its output has the tables of causes as well.
    """

    scenario: Scenario
    overrides: Mapping[str, Any]
    view: _core.ScenarioView
    logs: Logs = NO_LOGS
    causes: bool = False

    @property
    def id(self) -> RunId:
        """What it is a run of, once it has a seed."""
        return RunId(self.view["hash"], int(self.overrides["seed"]), engine())


def run_all(
    jobs: Sequence[Job],
    threads: int | None = None,
    on_done: Callable[[Job, _core.Output], None] | None = None,
    on_tick: Callable[[float], None] | None = None,
    store: Store | None = None,
) -> list[_core.Output]:
    """Runs jobs in parallel and returns their outputs in the jobs' order, whatever the number of threads.

    With a store, jobs of which it has the run are not run, and each other run is kept the moment it is
    finished.

    `threads` defaults to the number of cores. `on_done` is called from worker threads, once per job that was
    run; `on_tick` from this thread, a few times a second, with the share of all virtual time that has passed.
    If a job fails, jobs that have not begun are cancelled and its exception is raised.
    """
    kept = [None if store is None else store.read(job.id) for job in jobs]
    missing = [job for job, output in zip(jobs, kept, strict=True) if output is None]
    made = iter(_run(missing, threads, on_done, on_tick, store))
    return [next(made) if output is None else output for output in kept]


def _run(
    jobs: Sequence[Job],
    threads: int | None,
    on_done: Callable[[Job, _core.Output], None] | None,
    on_tick: Callable[[float], None] | None,
    store: Store | None,
) -> list[_core.Output]:
    workers = max(1, min(threads or os.cpu_count() or 1, len(jobs)))
    to_simulate_s = sum(job.view["duration"] for job in jobs)
    meters = [_core.Meter() for _ in jobs]

    def work(job: Job, meter: _core.Meter) -> _core.Output:
        replaced = for_core(job.overrides)
        logs = job.logs
        output = _core.run(
            job.scenario.text,
            job.scenario.origin,
            replaced,
            meter,
            logs.pcap,
            job.causes,
            logs.frames,
            logs.part(job.view),
        )
        if store is not None:
            store.write(job.id, encode(output, job.id))
        if on_done is not None:
            on_done(job, output)
        return output

    pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="multihop")
    try:
        futures: list[Future[_core.Output]] = [
            pool.submit(work, job, meter) for job, meter in zip(jobs, meters, strict=True)
        ]
        # Returning to the interpreter now and then is what lets Ctrl-C through.
        pending = set(futures)
        while pending:
            done, pending = wait(pending, timeout=0.2, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
            if on_tick is not None:
                on_tick(sum(meter.simulated_s for meter in meters) / to_simulate_s)
        return [future.result() for future in futures]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
