"""Executors of runs: threads; for schemes in Python processes, or this thread for a single run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

#: Working directory in which the pool of processes was started last.
_started_in = Path()


class ThisThread(Executor):
    """Executor that calls functions at once in this thread, where a signal interrupts Python code."""

    def submit(self, call: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:  # noqa: ANN401
        """Calls the function and returns its outcome."""
        made: Future[Any] = Future()
        try:
            made.set_result(call(*arguments, **keywords))
        except Exception as error:  # noqa: BLE001 - the future has it
            made.set_exception(error)
        return made


def in_processes(pool: Executor) -> bool:
    """Whether an executor runs functions in other processes."""
    return not isinstance(pool, ThreadPoolExecutor | ThisThread)


def workers(jobs: int | None) -> int:
    """Returns the number of runs at once: the given one, or that of all cores."""
    return jobs or os.cpu_count() or 1


@contextmanager
def pool_for(
    jobs: int | None = None, executor: Executor | None = None, *, runs_python: bool = False, runs: int | None = None
) -> Iterator[Executor]:
    """Yields an executor of runs.

    Args:
        jobs: number of runs at once; all cores by default.
        executor: executor to use in place of an own one.
        runs_python: whether schemes are written in Python. Several runs of such schemes are in processes,
            since threads would take turns in Python. Otherwise threads run the engine, which releases the
            GIL.
        runs: number of runs, if it is known.
    """
    if executor is not None:
        yield executor
        return
    if runs_python and runs == 1:
        yield ThisThread()
        return
    if runs_python:
        # loky needs no `if __name__ == "__main__"` in the user's script, and sends classes of notebooks.
        import loky

        global _started_in
        folder = Path.cwd()
        # Processes of an earlier pool have the working directory of their start.
        reuse = "auto" if folder == _started_in else False
        _started_in = folder
        processes = loky.get_reusable_executor(max_workers=workers(jobs), timeout=30, reuse=reuse)
        try:
            yield processes
        except BaseException:
            processes.shutdown(kill_workers=True)
            raise
        return
    pool = ThreadPoolExecutor(max_workers=workers(jobs), thread_name_prefix="multihop")
    try:
        yield pool
    finally:
        with suppress(RuntimeError):
            pool.shutdown(wait=False, cancel_futures=True)
