"""Conversion of frame logs to Chrome trace events, for Perfetto and chrome://tracing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from multihop.framelog.reading import FrameLog

#: Process numbers in the trace: transmissions by node, and senders.
_LANES, _SENDERS = 1, 2


def write_perfetto(log: FrameLog, path: Path) -> None:
    """Writes the log as a JSON array of trace events: one thread per node, counters for queues and windows.

    Times of trace events are in microseconds with three decimals, so that nanoseconds are preserved.
    """
    with path.open("w", encoding="utf-8") as out:
        out.write('{"displayTimeUnit":"ns","traceEvents":[\n')
        out.write(",\n".join(json.dumps(event, separators=(",", ":"), allow_nan=False) for event in events(log)))
        out.write("\n]}\n")


def events(log: FrameLog) -> Iterator[dict[str, Any]]:
    """Returns the trace events of a log."""
    yield {"ph": "M", "pid": _LANES, "name": "process_name", "args": {"name": "transmissions by node"}}
    yield {"ph": "M", "pid": _SENDERS, "name": "process_name", "args": {"name": "senders"}}
    indices = {}
    for index, node in enumerate(log.head["nodes"]):
        indices[node["name"]] = index
        yield {"ph": "M", "pid": _LANES, "tid": index, "name": "thread_name", "args": {"name": node["name"]}}
    for row in log.transmissions.to_dict("records"):
        lane = {"pid": _LANES, "tid": indices[row["from"]], "ts": row["start"] / 1000}
        columns = ("to", "try", "outcome", "collided", "overlap", "bytes", "rate", "flow", "packet", "frozen", "nav")
        yield {
            "ph": "X",
            "name": row["kind"].upper(),
            "cat": row["outcome"],
            "dur": row["airtime"] / 1000,
            "args": _known({key: row[key] for key in columns}),
            **lane,
        }
        yield {"ph": "C", "name": f"queue of {row['from']}", "args": {"packets": row["queue"]}, **lane}
    for row in log.in_words(log.tables["drops"]).to_dict("records"):
        at = {"pid": _LANES, "tid": indices[row["node"]], "ts": row["time"] / 1000}
        yield {
            "ph": "i",
            "s": "t",
            "name": f"drop: {row['cause']}",
            "args": _known({"flow": row["flow"], "packet": row["packet"]}),
            **at,
        }
    for row in log.in_words(log.tables["windows"]).to_dict("records"):
        at = {"ph": "C", "pid": _SENDERS, "ts": row["time"] / 1000}
        yield {"name": f"window of {row['flow']}", "args": {"bytes": row["window"]}, **at}
        yield {"name": f"RTT of {row['flow']}", "args": {"ms": row["rtt"] / 1e6}, **at}


def _known(values: dict[str, Any]) -> dict[str, Any]:
    """Removes missing values, for which JSON has no number."""
    return {key: value for key, value in values.items() if value == value and value is not None}
