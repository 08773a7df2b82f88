"""Runs on a Dask cluster, by an executor like that of threads."""

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

#: Time within which a Dask scheduler must answer.
_CONNECT_WITHIN_S = 10


@contextmanager
def executor_at(address: str) -> Iterator[Executor]:
    """Yields an executor over the workers of the Dask scheduler at `address`.

    Raises:
        UserError: if no scheduler answers there, or Dask is not installed.
    """
    extras.require("cluster", "--dask")
    from dask.distributed import Client

    # Dask logs tracebacks when its scheduler stops; multihop reports that itself.
    for name in ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=f"{_CONNECT_WITHIN_S} s")
    except (OSError, ValueError) as error:
        raise UserError(
            f"--dask: no scheduler answers at {address} ({error}); start one there, or correct the address"
        ) from error
    with client:
        yield _OnLoop(client)


class _OnLoop(Executor):
    """Executor that submits on the thread of the client's event loop only.

    When the scheduler stops, that loop iterates over the client's table of futures without a lock. A
    submission from another thread would abort the iteration: some futures would never be cancelled, and
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
