"""Runs our TCP over a cell."""

from __future__ import annotations

import math

import multihop
from multihop import Result
from validation.kernel.cells import Cell
from validation.kernel.measured import Measured

#: Interval of samples of bulk flows, that of the kernel's.
SAMPLE_S = 0.1
#: Most rows of a time series, a row for each flow and step.
MOST_ROWS = 1_000_000


def simulated(cell: Cell, seed: int) -> Measured:
    """Runs our TCP over a cell."""
    interval_s = resolution_s(cell, seed) if cell.is_short else SAMPLE_S
    return measured(cell, seed, multihop.run(cell.scenario(seed), seed=seed, record_interval=interval_s))


def resolution_s(cell: Cell, seed: int) -> float:
    """Resolution of a transfer's last byte at the receiver: 2 ms, or more for many transfers, in whole milliseconds."""
    rows_per_ms = len(cell.connections(seed)) * cell.duration_s * 1000
    return max(2, math.ceil(rows_per_ms / MOST_ROWS)) / 1000


def measured(cell: Cell, seed: int, result: Result) -> Measured:
    """Measurements of a run from its tables."""
    flows = result.flows
    rtt_ms = None
    if not cell.is_short:
        series = result.series
        series = series[series["time_s"] > cell.warmup_s]
        rtt_ms = float(series.groupby("flow")["srtt_s"].mean().mean()) * 1e3
    return Measured(
        float(flows["goodput_bps"].sum()) / 1e6,
        rtt_ms,
        int(flows["retransmissions"].sum()),
        int(flows["timeouts"].sum()),
        _completions_ms(cell, seed, result) if cell.is_short else [],
    )


def _completions_ms(cell: Cell, seed: int, result: Result) -> list[float]:
    """Time to the last byte at the receiver, for each transfer.

    The last byte arrived within the last step in which bytes were delivered, on average in its middle.
    """
    series = result.series
    last_s = series[series["delivered_bytes"] > 0].groupby("flow")["time_s"].max() - resolution_s(cell, seed) / 2
    delivered = result.flows["delivered_bytes"].tolist()
    return [
        (float(last_s[number]) - made.start_s) * 1e3 if delivered[number] == made.size else math.inf
        for number, made in enumerate(cell.connections(seed))
    ]
