"""Bounds and optimal rates: marks of each flow, without a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from multihop.optima.capacity import LEVELS, Bound
from multihop.optima.optimum import Optimum
from multihop.report.charts.figures import Facet, Figure, Key, cut, ink
from multihop.report.notes import Notes

#: Flows above which rates are drawn as sorted lines.
_MOST_FLOWS = 20

#: Marker, its size, and dash of each kind of rate. Colours are schemes.
_LOOKS = (("|", 10.0, "-"), ("o", 4.5, "--"), ("x", 5.0, ":"))


def bound(found: Bound) -> Figure:
    """Returns the goodput of each flow alone, at every level."""
    table = found.flows
    rates = {
        level.title: table.loc[table["level"] == level.name, "alone_bps"].to_numpy(dtype=float) for level in LEVELS
    }
    return _rates("bound", "Bounds of flows", [flow["name"] for flow in found.view["flows"]], rates)


def optimum(found: Optimum) -> Figure:
    """Returns the optimal rate of each flow, and its goodput alone."""
    table = found.flows
    rates = {
        "alone": table["alone_bps"].to_numpy(dtype=float),
        f"{found.question.utility.name} optimum": table["optimum_bps"].to_numpy(dtype=float),
    }
    return _rates("optimum", "Optimal rates of flows", [str(name) for name in table["name"]], rates)


def _rates(name: str, title: str, flows: Sequence[str], rates: Mapping[str, np.ndarray]) -> Figure:
    """Returns marks by flow; of many flows, lines from the least to the most."""
    is_sorted = len(flows) > _MOST_FLOWS
    keys = [
        Key(said, "line" if is_sorted else marker, dash=dash)
        for said, (marker, _, dash) in zip(rates, _LOOKS, strict=False)
    ]
    draw = draw_sorted if is_sorted else partial(draw_flows, flows=flows)
    height = 17.0 if is_sorted else 5.0 + 1.7 * len(flows)
    return Figure(name, title, [Facet("", {"goodput"}, partial(draw, rates=rates))], keys, height=height)


def draw_flows(notes: Notes, axis: Any, *, rates: Mapping[str, np.ndarray], flows: Sequence[str]) -> None:  # noqa: ANN401 - an Axes
    """Draws a row for each flow with a mark for each kind of rate."""
    del notes
    places = range(len(flows))
    for values, (marker, size, _) in zip(rates.values(), _LOOKS, strict=False):
        axis.plot(values / 1e6, places, marker, color=ink(), markersize=size, linestyle="none")
    axis.set_yticks(places, [cut(name) for name in flows])
    axis.set_ylim(len(flows) - 0.5, -0.5)
    axis.set_xlim(left=0)
    axis.set_xlabel("goodput [Mb/s]")
    axis.grid(visible=True, axis="both")


def draw_sorted(notes: Notes, axis: Any, *, rates: Mapping[str, np.ndarray]) -> None:  # noqa: ANN401 - an Axes
    """Draws a line for each kind of rate through its values, from the least to the most."""
    del notes
    for values, (*_, dash) in zip(rates.values(), _LOOKS, strict=False):
        axis.plot(np.arange(1, len(values) + 1), np.sort(values) / 1e6, color=ink(), linestyle=dash)
    axis.set_xlabel("flows, from the least to the most goodput")
    axis.set_ylabel("goodput [Mb/s]")
    axis.set_ylim(bottom=0)
