"""Airtime of a measured capture over time, stacked by kind of frame."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from multihop.measurement import Measurement, Sniffer
from multihop.report.charts.figures import Facet, Figure, Key
from multihop.report.notes import Notes

#: Colours of kinds of frames, in the order in which they are stacked.
_KINDS = {
    "data": "#0072b2",
    "retry": "#d55e00",
    "reservation": "#e69f00",
    "acknowledgement": "#009e73",
    "management": "#cc79a7",
    "control": "#56b4e9",
    "damaged": "#999999",
}

#: Most bins of the picture; more are averaged.
_MOST_BINS = 300


def airtime(found: Measurement, sniffer: Sniffer) -> Figure:
    """Returns the share of each bin by kind of frame; no facet if no airtime is known."""
    there = set(found.kinds(sniffer)["kind"])
    keys = [Key(kind, "bar", colour) for kind, colour in _KINDS.items() if kind in there]
    draw = partial(draw_airtime, found=found, sniffer=sniffer)
    facets = [Facet("", {"airtime"}, draw)] if found.knows_airtime(sniffer) else []
    return Figure("airtime-time", f"Airtime over time at {sniffer.title}", facets, keys, height=14.0)


def draw_airtime(notes: Notes, axis: Any, *, found: Measurement, sniffer: Sniffer) -> None:  # noqa: ANN401 - an Axes
    """Draws a bar for each bin, stacked by kind of frame; the rest is idle or was not decoded."""
    rows = found.of(found.airtime, sniffer)
    shares = rows.pivot_table(index="time_s", columns="kind", values="share", aggfunc="sum", fill_value=0.0)
    bins = max(1, int(np.ceil(sniffer.length_s / sniffer.bin_s)))
    group = int(np.ceil(bins / _MOST_BINS))
    numbers = (shares.index.to_numpy() / sniffer.bin_s + 0.5).astype(int) // group
    shares = shares.groupby(numbers).sum() / group
    shares = shares.reindex(range(-(-bins // group)), fill_value=0.0)
    width = sniffer.bin_s * group
    under = np.zeros(len(shares))
    panel = notes.panel(axis, "time [s]", "share of airtime", cursor=True, zooms=True)
    for kind, colour in _KINDS.items():
        if kind in shares:
            panel.line(kind, colour).extend((shares.index + 0.5) * width, shares[kind])
            axis.bar(
                shares.index * width, shares[kind], width, under, align="edge", color=colour, label=kind, linewidth=0
            )
            under = under + shares[kind].to_numpy()
    axis.set_xlabel("time [s]")
    axis.set_ylabel("share of airtime")
    axis.set_ylim(0, max(1.0, float(under.max(initial=0.0))))
