"""Networks and results as other programs read them: NetJSON, the JSON of iperf3, data files of flent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from multihop.base.errors import UserError, instead_of
from multihop.exporters import flent, iperf3, netjson

if TYPE_CHECKING:
    from multihop.exporters.runs import TabledRun

#: Writer of each format from a run.
FORMATS: Mapping[str, Callable[[TabledRun], dict[str, Any]]] = {
    "netjson": lambda run: netjson.graph(run.view(), run),
    "iperf3": iperf3.document,
    "flent": flent.document,
}


def require_format(name: object) -> str:
    """Returns the name of a format.

    Raises:
        UserError: if it is none of `FORMATS`.
    """
    if not isinstance(name, str) or name not in FORMATS:
        raise UserError(f"--as: found {name!r}; {instead_of(str(name), list(FORMATS))}")
    return name
