"""Columns of the result tables with units and meanings, as `crates/sim/src/outcome.rs` declares them.

Parquet files contain these, and the results reference is generated from them.
"""

import math
from dataclasses import dataclass
from typing import Any

from multihop import _core


@dataclass(frozen=True)
class Column:
    """Definition of a column: unit (`1` for counts and shares, empty for names) and meaning."""

    unit: str
    meaning: str


#: Columns of each table, in the order in which they are written.
TABLES: dict[str, dict[str, Column]] = {
    table: {name: Column(unit, meaning) for name, unit, meaning in columns} for table, _, columns in _core.columns()
}

#: Meaning of a row of each table.
_ROWS = {table: row for table, row, _ in _core.columns()}

#: Unit of the columns that may be negative.
COORDINATE = "m"

_DROPPED = "dropped_"

#: Named causes of loss: `flows`, `nodes` and `summary` have a column `dropped_CAUSE` for each.
DROP_CAUSES = tuple(name.removeprefix(_DROPPED) for name in TABLES["flows"] if name.startswith(_DROPPED))


def catalogue() -> list[dict[str, Any]]:
    """Returns every table with its columns, units and meanings, of which metrics of studies are made."""
    return [
        {
            "name": table,
            "summary": _ROWS[table],
            "keys": {name: f"{c.meaning} [{c.unit}]" if c.unit else c.meaning for name, c in columns.items()},
        }
        for table, columns in TABLES.items()
    ]


#: Columns that a comparison adds before those of each table.
RUN_COLUMNS: dict[str, Column] = {
    "variant": Column(
        "", "what was compared: the scheme that every flow used, or `scenario` for the scenario as written"
    ),
    "seed": Column("", "seed of the run"),
}


@dataclass(frozen=True)
class Metric:
    """Scalar of a run by which schemes are compared.

    `least` and `most` limit its range in SI units, and cut its intervals.
    """

    name: str
    title: str
    unit: str
    scale: float
    higher_is_better: bool | None
    least: float = 0.0
    most: float = math.inf

    @property
    def heading(self) -> str:
        """Title with the unit."""
        return f"{self.title} [{self.unit}]" if self.unit else self.title

    def shown(self, value: float) -> float:
        """Converts a value from SI units to the unit of display."""
        return value * self.scale


#: Metrics of a comparison, in the order of display. Names are columns of the summary.
METRICS: tuple[Metric, ...] = (
    Metric("goodput_total_bps", "Total goodput", "Mb/s", 1e-6, higher_is_better=True),
    Metric("jain", "Fairness (Jain index)", "", 1.0, higher_is_better=True, most=1.0),
    Metric("delay_p50_s", "Median delay", "ms", 1e3, higher_is_better=False),
    Metric("delay_p95_s", "95th percentile of delay", "ms", 1e3, higher_is_better=False),
    Metric("rtt_mean_s", "Round-trip time", "ms", 1e3, higher_is_better=False),
    Metric("loss_ratio", "Packets lost", "%", 1e2, higher_is_better=False, most=1.0),
    Metric("retransmission_ratio", "Retransmissions", "%", 1e2, higher_is_better=False),
)

#: Further metrics of a comparison with video flows.
VIDEO_METRICS: tuple[Metric, ...] = (
    Metric("late_ratio", "Late frames", "%", 1e2, higher_is_better=False, most=1.0),
    Metric("stall_time_s", "Stall time", "s", 1.0, higher_is_better=False),
    Metric("video_frame_delay_p95_s", "95th percentile of frame delay", "ms", 1e3, higher_is_better=False),
)

#: Further metrics of a comparison whose runs can be compared with the optimum (`multihop.optima`).
OPTIMUM_METRICS: tuple[Metric, ...] = (
    Metric("optimum_distance", "Distance to the optimum", "%", 1e2, higher_is_better=False),
    Metric("optimum_gap", "Gap to the optimum", "%", 1e2, higher_is_better=False, least=-math.inf, most=1.0),
)

METRIC = {metric.name: metric for metric in METRICS}
