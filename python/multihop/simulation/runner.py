"""Parallel runs on threads. The engine releases the GIL, so that one process uses all cores."""

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
    """One run: a scenario, its overrides, the resolved scenario, and its logs.

    With `causes`, the output includes the tables of causes.
    """

    scenario: Scenario
    overrides: Mapping[str, Any]
    view: _core.ScenarioView
    logs: Logs = NO_LOGS
    causes: bool = False

    @property
    def id(self) -> RunId:
        """Identity of the run, once the overrides contain a seed."""
        return RunId(self.view["hash"], int(self.overrides["seed"]), engine())


def run_all(
    jobs: Sequence[Job],
    threads: int | None = None,
    on_done: Callable[[Job, _core.Output], None] | None = None,
    on_tick: Callable[[float], None] | None = None,
    store: Store | None = None,
) -> list[_core.Output]:
    """Runs jobs in parallel. Returns their outputs in the order of the jobs, for any number of threads.

    Jobs whose run is in the store are not run again; other runs are stored when finished. If a job fails,
    jobs that have not started are cancelled and its exception is raised.

    Args:
        jobs: jobs to run.
        threads: number of threads; all cores by default.
        on_done: callback after each new run, from a worker thread.
        on_tick: callback several times a second from this thread, with the simulated share of virtual time.
        store: store of finished runs.
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
        # The timeout returns control to the interpreter, so that Ctrl-C is handled.
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
