"""Runs jobs on threads. The engine releases the GIL, so one process uses all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from multihop import _core
from multihop.results import Result
from multihop.scenario import Scenario


@dataclass(frozen=True)
class Job:
    """One run: a scenario, what replaces its keys, and the scenario resolved with that."""

    scenario: Scenario
    overrides: Mapping[str, Any]
    view: _core.ScenarioView


def run_all(
    jobs: Sequence[Job], threads: int | None = None, on_done: Callable[[Result], None] | None = None
) -> list[Result]:
    """Runs jobs in parallel and returns their results in the order of the jobs, whatever the number of threads.

    `threads` defaults to the number of cores. `on_done` is called from worker threads, once per finished job. If a job
    fails, jobs that have not begun are cancelled and its exception is raised.
    """
    workers = max(1, min(threads or os.cpu_count() or 1, len(jobs)))

    def work(job: Job) -> Result:
        output = _core.run(job.scenario.text, job.scenario.origin, dict(job.overrides))
        result = Result(job.scenario, job.view, dict(job.overrides), output)
        if on_done is not None:
            on_done(result)
        return result

    pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="multihop")
    try:
        futures: list[Future[Result]] = [pool.submit(work, job) for job in jobs]
        # Returning to the interpreter now and then is what lets Ctrl-C through.
        pending = set(futures)
        while pending:
            done, pending = wait(pending, timeout=0.2, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
        return [future.result() for future in futures]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
