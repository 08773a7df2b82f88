"""Goodput, delay and windows over time: a facet per flow, a line per scheme."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from multihop.experiments.comparisons import VariantRuns
from multihop.report.charts.figures import (
    Facet,
    Figure,
    Key,
    faint,
    flow_names,
    looks,
    scheme_keys,
    seed_keys,
    tokens,
    typical_flows,
)
from multihop.report.charts.marks import band
from multihop.report.notes import Notes
from multihop.results.statistics import estimate_or_none


@dataclass(frozen=True)
class Quantity:
    """Quantity over time.

    Attributes:
        name: name by which it is chosen, and with which its file begins.
        title: title of its figure.
        label: label of its axis, with the unit.
        column: column of the table `series`.
        scale: factor from the column's unit to that of the axis.
        adds_up: whether a sum over flows is meaningful.
        measures: other names by which it is chosen.
    """

    name: str
    title: str
    label: str
    column: str
    scale: float
    adds_up: bool = False
    measures: tuple[str, ...] = ()


QUANTITIES = {
    made.name: made
    for made in (
        Quantity("goodput", "Goodput over time", "goodput [Mb/s]", "goodput_bps", 1e-6, adds_up=True),
        Quantity("rtt", "Round-trip time over time", "round-trip time [ms]", "rtt_s", 1e3, measures=("delay",)),
        Quantity("window", "Congestion window over time", "window [kB]", "window_bytes", 1e-3),
    )
}


def over_time(runs: VariantRuns, quantity: Quantity, flows: Collection[int] | None = None) -> Figure:
    """Returns a facet for each of some flows with the quantity, and one of their sum if it is meaningful.

    With `flows`, only a facet for each of these.
    """
    series = runs.series.dropna(subset=[quantity.column])
    series = series[["variant", "seed", "flow", "time_s", quantity.column]]
    measured = {int(flow) for flow in series["flow"].unique() if flows is None or int(flow) in flows}
    some, note = typical_flows(runs, measured)
    names = flow_names(runs)
    wanted: list[tuple[str, int | None]] = [(names[flow], flow) for flow in some]
    if flows is None and quantity.adds_up and len(names) > 1:
        wanted = [("all flows", None), *wanted]
    measures = {quantity.name, quantity.column, *quantity.measures}
    facets = [
        Facet(title, measures, partial(draw_over_time, runs=runs, series=series, quantity=quantity, flow=flow))
        for title, flow in wanted
    ]
    keys = [*scheme_keys(runs, "line"), *seed_keys(runs, "band")]
    keys += [Key("warm-up", "shade")] if _warmup(runs) > 0 else []
    return Figure(f"{quantity.name}-time", quantity.title, facets, keys, least=24.0, height=13.0, note=note)


def draw_over_time(
    notes: Notes,
    axis: Any,  # noqa: ANN401 - an Axes
    *,
    runs: VariantRuns,
    series: pd.DataFrame,
    quantity: Quantity,
    flow: int | None = None,
) -> None:
    """Draws a line per scheme with a 95 % band, of a flow or of the sum of all."""
    title = flow_names(runs)[flow] if flow is not None else "all flows" if len(flow_names(runs)) > 1 else ""
    panel = notes.panel(axis, "time [s]", quantity.label, title, cursor=True, zooms=True)
    shown = series if flow is None else series[series["flow"] == flow]
    for variant, look in looks(runs.variants).items():
        grouped = shown[shown["variant"] == variant].groupby(["time_s", "seed"])[quantity.column].sum()
        if len(grouped):
            table = quantity.scale * grouped.unstack("seed")  # noqa: PD010 - the index is unique by construction
            rows = zip(table.index, map(estimate_or_none, table.to_numpy(dtype=float)), strict=True)
            shown_at = {float(time): each.within(0.0) for time, each in rows if each is not None}
            of, found = tokens(runs, variant, flow), list(shown_at.values())
            mean = np.array([each.mean for each in found]).mean()
            band(notes, axis, list(shown_at), found, look, f"{variant}: mean {mean:.4g}", of=of)
            line = panel.line(variant, look.colour, of)
            for time, each in shown_at.items():
                line.add(time, each.mean, each.low, each.high)
    warmup = _warmup(runs)
    axis.set_ylim(bottom=0)
    axis.margins(x=0.01)
    if warmup > 0:
        notes.tip(axis.axvspan(0, warmup, color=faint(), alpha=0.35, linewidth=0), "warm-up, not in the results")
    axis.set_xlabel("time [s]")
    axis.set_ylabel(quantity.label)


def _warmup(runs: VariantRuns) -> float:
    return float(runs.view["warmup"])
