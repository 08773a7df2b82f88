"""Runs jobs on threads. The engine releases the GIL, so one process uses all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from multihop import _core
from multihop.results import Result
from multihop.scenario import Scenario, for_core


@dataclass(frozen=True)
class Job:
    """One run: a scenario, what replaces its keys, the scenario resolved with that, and where its capture goes."""

    scenario: Scenario
    overrides: Mapping[str, Any]
    view: _core.ScenarioView
    pcap: Path | None = None


def run_all(
    jobs: Sequence[Job],
    threads: int | None = None,
    on_done: Callable[[Result], None] | None = None,
    on_tick: Callable[[float], None] | None = None,
) -> list[Result]:
    """Runs jobs in parallel and returns their results in the order of the jobs, whatever the number of threads.

    `threads` defaults to the number of cores. `on_done` is called from worker threads, once per finished job; `on_tick`
    from this thread, a few times a second, with the share of all virtual time that has passed. If a job fails, jobs
    that have not begun are cancelled and its exception is raised.
    """
    workers = max(1, min(threads or os.cpu_count() or 1, len(jobs)))
    to_simulate_s = sum(job.view["duration"] for job in jobs)
    meters = [_core.Meter() for _ in jobs]

    def work(job: Job, meter: _core.Meter) -> Result:
        output = _core.run(job.scenario.text, job.scenario.origin, for_core(job.overrides), meter, job.pcap)
        result = Result(job.scenario, job.view, dict(job.overrides), output)
        if on_done is not None:
            on_done(result)
        return result

    pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="multihop")
    try:
        futures: list[Future[Result]] = [pool.submit(work, job, meter) for job, meter in zip(jobs, meters, strict=True)]
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
