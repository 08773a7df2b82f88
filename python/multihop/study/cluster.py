"""Runs on a cluster of Dask: an executor that a campaign submits to as it does to threads."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from multihop.base import extras
from multihop.base.errors import UserError

if TYPE_CHECKING:
    from dask.distributed import Client

#: How long a Dask scheduler may take to answer.
_CONNECT_WITHIN_S = 10


@contextmanager
def executor_at(address: str) -> Iterator[Executor]:
    """The workers of the Dask scheduler at `address`.

    Raises:
        UserError: if nothing answers there as a scheduler does, or Dask is not installed.
    """
    extras.require("cluster", "--dask")
    from dask.distributed import Client

    # Of a scheduler that went away they log tracebacks; we say it ourselves.
    for name in ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=f"{_CONNECT_WITHIN_S} s")
    except (OSError, ValueError) as error:
        raise UserError(f"--dask: no scheduler at {address}: {error}") from error
    with client:
        yield _OnLoop(client)


class _OnLoop(Executor):
    """Submits on the thread of the client's event loop, and on no other.

    When the scheduler goes away, that loop goes through the client's table of futures, which has no lock. A
    submission from another thread meanwhile ends it half-way: some futures would then never be cancelled, and
    closing would raise.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._executor = client.get_executor(pure=False)

    def submit(self, fn: Callable[..., Any], /, *args: object, **kwargs: object) -> Future[Any]:
        async def on_loop() -> Future[Any]:
            future: Future[Any] = self._executor.submit(fn, *args, **kwargs)
            return future

        submitted: Future[Any] = self._client.sync(on_loop)
        return submitted
