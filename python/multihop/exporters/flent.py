"""Data file of flent (format 4, flent.org) of a run, as of its test `tcp_nup`: each flow is an upload.

`TCP upload::1` is the goodput of the first flow in Mb/s by step of the run, from its start. Raw values have
the smoothed round-trip time in ms as `tcp_rtt`, which the plot `upload_with_ping_and_tcp_rtt` draws. There is
no ping. `SERIES_META` names the flow of each upload. The time is 1970, since nothing depends on the machine.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from multihop.base.finite import finite
from multihop.results.provenance import version
from multihop.results.statistics import jain

if TYPE_CHECKING:
    from multihop.exporters.runs import TabledRun

_FORMAT = 4
_EPOCH = "1970-01-01T00:00:00.000000Z"


def document(run: TabledRun) -> dict[str, Any]:
    """Returns the JSON value of a run."""
    flows = run.rows("flows")
    names = {flow["flow"]: f"TCP upload::{flow['flow'] + 1}" for flow in flows}
    steps: dict[str, list[dict[str, Any]]] = {name: [] for name in names.values()}
    for row in run.rows("series"):
        steps[names[row["flow"]]].append(row)
    uploads = {name: [row["goodput_bps"] / 1e6 for row in rows] for name, rows in steps.items()}
    together = list(zip(*uploads.values(), strict=True))
    times = [float(row["time_s"]) for row in next(iter(steps.values()))]
    made = {
        "version": _FORMAT,
        "metadata": {
            **_metadata(run, flows, times[0]),
            "SERIES_META": {names[flow["flow"]]: _meta(flow) for flow in flows},
        },
        "x_values": times,
        "results": {
            **uploads,
            "TCP upload avg": [sum(step) / len(step) for step in together],
            "TCP upload sum": [sum(step) for step in together],
            "TCP upload fairness": [jain(step) for step in together],
        },
        "raw_values": {name: [_raw(row) for row in rows] for name, rows in steps.items()},
    }
    return cast("dict[str, Any]", finite(made))


def _metadata(run: TabledRun, flows: list[dict[str, Any]], step_s: float) -> dict[str, Any]:
    return {
        "NAME": "tcp_nup",
        "TITLE": f"{run.name}, {run.variant}, seed {run.seed}",
        "NOTE": f"multihop {version()}",
        "HOST": flows[0]["destination"],
        "HOSTS": [flow["destination"] for flow in flows],
        "LOCAL_HOST": flows[0]["source"],
        "TIME": _EPOCH,
        "T0": _EPOCH,
        "LENGTH": run.duration_s,
        "TOTAL_LENGTH": run.duration_s,
        "STEP_SIZE": step_s,
        "IP_VERSION": 4,
        "TEST_PARAMETERS": {"upload_streams": str(len(flows))},
    }


def _meta(flow: dict[str, Any]) -> dict[str, str]:
    return {"UNITS": "Mbits/s", "FLOW": flow["name"], "CC_ALGO": flow["scheme"], "HOST": flow["destination"]}


def _raw(row: dict[str, Any]) -> dict[str, float]:
    """Returns the raw values of a step: those that the flow's transport has."""
    values = {"t": row["time_s"], "val": row["goodput_bps"] / 1e6, "tcp_rtt": 1e3 * row["srtt_s"]}
    return {key: value for key, value in values.items() if not math.isnan(value)}
