"""JSON of `iperf3 --json` (version 3.12) of a run: each flow is a stream of one client.

- An interval is a step of the run (`record_interval`), with the bytes that the transport sent, repeats
  included. Intervals of the warm-up are `omitted`, as with `--omit`, and time starts again after it.
- `sum_sent` and `sum_received` are of the time after the warm-up: what transports sent, and what applications
  received in order.
- `retransmits` are at the end alone, since runs do not record them by step.
- `rtt` is the smoothed round-trip time in microseconds, `snd_cwnd` the congestion window in bytes.
- A flow without a congestion window has `udp` in place of `sender` and `receiver`. `protocol` is TCP if any
  flow has a window.
- Hosts are names of nodes. Nothing depends on the machine: the time is 0, and there is no CPU load.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from multihop.base.finite import finite
from multihop.results.provenance import engine, version

if TYPE_CHECKING:
    from multihop.exporters.runs import TabledRun

#: Descriptor of the first stream's socket, and port of the server, as of iperf3.
_FIRST_SOCKET = 5
_PORT = 5201

_US = 1e6

_Row = dict[str, Any]


def document(run: TabledRun) -> dict[str, Any]:
    """Returns the JSON value of a run."""
    flows = run.rows("flows")
    steps: dict[float, list[_Row]] = {}
    for row in run.rows("series"):
        steps.setdefault(float(row["time_s"]), []).append(row)
    measured = [row for at, rows in steps.items() if at > run.warmup_s for row in rows]
    made = {
        "start": _start(run, flows),
        "intervals": _intervals(run, flows, steps),
        "end": _end(run, flows, measured),
    }
    return cast("dict[str, Any]", finite(made))


def _start(run: TabledRun, flows: list[_Row]) -> dict[str, Any]:
    return {
        "connected": [
            {
                "socket": _socket(flow),
                "local_host": flow["source"],
                "local_port": _PORT + 1 + flow["flow"],
                "remote_host": flow["destination"],
                "remote_port": _PORT,
            }
            for flow in flows
        ],
        "version": f"multihop {version()}",
        "system_info": f"engine {engine()}",
        "timestamp": {"time": "Thu, 01 Jan 1970 00:00:00 GMT", "timesecs": 0},
        "connecting_to": {"host": flows[0]["destination"] if flows else "", "port": _PORT},
        "title": f"{run.name}, {run.variant}, seed {run.seed}",
        "test_start": {
            "protocol": "TCP" if any(map(_has_window, flows)) else "UDP",
            "num_streams": len(flows),
            "omit": run.warmup_s,
            "duration": run.duration_s - run.warmup_s,
            "bytes": 0,
            "blocks": 0,
            "reverse": 0,
        },
    }


def _intervals(run: TabledRun, flows: list[_Row], steps: dict[float, list[_Row]]) -> list[dict[str, Any]]:
    of_flow = {flow["flow"]: flow for flow in flows}
    found, begin = [], 0.0
    for end, rows in sorted(steps.items()):
        omitted = end <= run.warmup_s
        origin = 0.0 if omitted else run.warmup_s
        time = {"start": max(begin - origin, 0.0), "end": end - origin, "seconds": end - begin}
        streams = []
        for row in rows:
            tcp = {"snd_cwnd": _whole(row["window_bytes"]), "rtt": _whole(row["srtt_s"], _US)}
            stream = {"socket": _socket(row), **time, **_amount(row["sent_bytes"], end - begin)}
            more = tcp if _has_window(of_flow[row["flow"]]) else {}
            streams.append({**stream, **more, "omitted": omitted, "sender": True})
        total = sum(row["sent_bytes"] for row in rows)
        sums = {**time, **_amount(total, end - begin), "omitted": omitted, "sender": True}
        found.append({"streams": streams, "sum": sums})
        begin = end
    return found


def _end(run: TabledRun, flows: list[_Row], measured: list[_Row]) -> dict[str, Any]:
    seconds = run.duration_s - run.warmup_s
    time = {"start": 0, "end": seconds, "seconds": seconds}
    streams: list[dict[str, Any]] = []
    for flow in flows:
        common = {"socket": _socket(flow), **time}
        if not _has_window(flow):
            streams.append({"udp": {**common, **_amount(flow["sent_bytes"], seconds), **_lost([flow]), "sender": True}})
            continue
        own = [row for row in measured if row["flow"] == flow["flow"]]
        times = [row["srtt_s"] for row in own if row["srtt_s"] > 0.0]
        streams.append(
            {
                "sender": {
                    **common,
                    **_amount(flow["sent_bytes"], seconds),
                    "retransmits": flow["retransmissions"],
                    "max_snd_cwnd": _whole(max((row["window_bytes"] for row in own), default=math.nan)),
                    "max_rtt": _whole(max(times, default=math.nan), _US),
                    "min_rtt": _whole(min(times, default=math.nan), _US),
                    "mean_rtt": _whole(flow["rtt_mean_s"], _US),
                    "sender": True,
                },
                "receiver": {**common, **_amount(flow["delivered_bytes"], seconds), "sender": True},
            }
        )
    windows = [flow for flow in flows if _has_window(flow)]
    lost = _lost(flows) if not windows else {}
    retransmits = {"retransmits": sum(flow["retransmissions"] for flow in windows)} if windows else {}
    sent = _amount(sum(flow["sent_bytes"] for flow in flows), seconds)
    received = _amount(sum(flow["delivered_bytes"] for flow in flows), seconds)
    congestion = {flow["scheme"] for flow in flows}
    return {
        "streams": streams,
        **({} if windows else {"sum": {**time, **sent, **lost, "sender": True}}),
        "sum_sent": {**time, **sent, **retransmits, **lost, "sender": True},
        "sum_received": {**time, **received, **lost, "sender": bool(windows)},
        **({"sender_tcp_congestion": congestion.pop()} if windows and len(congestion) == 1 else {}),
    }


def _socket(row: _Row) -> int:
    return _FIRST_SOCKET + int(row["flow"])


def _has_window(flow: _Row) -> bool:
    """Whether the flow's transport has a congestion window."""
    return not math.isnan(flow["window_mean_bytes"])


def _amount(count: float, seconds: float) -> dict[str, float]:
    """Returns bytes and their rate."""
    return {"bytes": int(count), "bits_per_second": 8.0 * count / seconds if seconds > 0.0 else 0.0}


def _lost(flows: list[_Row]) -> dict[str, float]:
    """Returns lost datagrams of flows, and the mean of their jitters in milliseconds."""
    sent, lost = (sum(int(flow[key]) for flow in flows) for key in ("packets_sent", "packets_lost"))
    jitters = [1e3 * flow["jitter_s"] for flow in flows if not math.isnan(flow["jitter_s"])]
    return {
        "jitter_ms": sum(jitters) / len(jitters) if jitters else 0.0,
        "lost_packets": lost,
        "packets": sent,
        "lost_percent": 100.0 * lost / sent if sent else 0.0,
    }


def _whole(value: float, unit: float = 1.0) -> float:
    """Returns a value in whole units, or NaN."""
    return value if math.isnan(value) else round(value * unit)
