"""Delay: its distribution by scheme, and goodput against delay by flow and scheme."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from multihop.experiments.comparisons import VariantRuns
from multihop.report.charts.figures import (
    SEED,
    Facet,
    Figure,
    Key,
    flow_names,
    ink,
    looks,
    make_log,
    scheme_keys,
    seed_keys,
    seed_mark,
    spans,
    tokens,
    typical_flows,
)
from multihop.report.charts.marks import whiskers
from multihop.report.notes import Notes
from multihop.report.svg import PAGE_WIDTH
from multihop.results.statistics import estimate_or_none
from multihop.results.words import three_digits

_MARKERS = "os^vDPX*<>"
#: Most seeds with lines of their own.
_MOST_SEEDS = 20

#: Most points with intervals.
_MOST_WHISKERS = 12

#: Delay against which goodput is drawn.
_DELAY = "delay_p95_s"


def cdf(runs: VariantRuns, flows: Collection[int] | None = None) -> Figure:
    """Returns the distribution of one-way delay: a facet of all packets, and one for each of some flows.

    With `flows`, only a facet for each of these.
    """
    delays = runs.delays
    there = delays.groupby("flow")["packets"].sum()
    arrived = {int(flow) for flow in there.index[there > 0] if flows is None or int(flow) in flows}
    some, note = typical_flows(runs, arrived)
    names = flow_names(runs)
    wanted = [("all flows", None), *((names[flow], flow) for flow in some)]
    wanted = wanted[1:] if flows is not None or len(names) == 1 else wanted
    facets = [Facet(title, {"delay"}, partial(draw_cdf, runs=runs, delays=delays, flow=flow)) for title, flow in wanted]
    keys = scheme_keys(runs, "line")
    keys += [Key("one seed", "thin")] if 1 < len(runs.seeds) <= _MOST_SEEDS else []
    facets = facets if arrived else []
    return Figure(
        "delay-cdf",
        "Distribution of delay",
        facets,
        keys,
        columns=3,
        least=20.0,
        height=15.0,
        note=note,
        width=PAGE_WIDTH / 3,
    )


def cumulative(delays: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Returns delays in seconds in rising order, and the share of packets up to each.

    Args:
        delays: columns `delay_s`, the longest delay of a bin, and `packets`, the number of packets in it.
    """
    counted = delays.groupby("delay_s")["packets"].sum()
    counted = counted[counted > 0].sort_index()
    total = float(counted.sum())
    shares = np.cumsum(counted.to_numpy(dtype=float)) / total if total else np.array([])
    return counted.index.to_numpy(dtype=float), shares


def draw_cdf(
    notes: Notes,
    axis: Any,  # noqa: ANN401 - an Axes
    *,
    runs: VariantRuns,
    delays: pd.DataFrame,
    flow: int | None = None,
) -> None:
    """Draws a line per scheme through the shares of packets of all seeds, and a thin one per seed.

    `delays` has the columns `variant`, `seed`, `flow`, `delay_s` and `packets`; of all flows, or of `flow`.
    """
    label = "one-way delay [ms]"
    panel = notes.panel(axis, label, "share of packets", "" if flow is None else flow_names(runs)[flow], cursor=True)
    shown = delays if flow is None else delays[delays["flow"] == flow]
    ends: list[float] = []
    for variant, look in looks(runs.variants).items():
        of, mine = tokens(runs, variant, flow), shown[shown["variant"] == variant]
        at, shares = cumulative(mine)
        if not len(at):
            continue
        milliseconds = 1e3 * at
        ends += [milliseconds[0], milliseconds[-1]]
        if 1 < len(runs.seeds) <= _MOST_SEEDS:
            for _, seed in mine.groupby("seed"):
                one, up = cumulative(seed)
                (thin,) = axis.plot(*_risen(1e3 * one, up), color=look.colour, linewidth=0.5, alpha=0.45)
                notes.part(thin, of=of)
        (line,) = axis.plot(*_risen(milliseconds, shares), color=look.colour, linestyle=look.dash, linewidth=1.6)
        half, most = (three_digits(float(milliseconds[np.searchsorted(shares, q)])) for q in (0.5, 0.95))
        notes.tip(line, f"{variant}: half of the packets within {half} ms, 95 % within {most} ms", of)
        panel.line(variant, look.colour, of).extend(milliseconds, shares)
    if spans(ends, 10.0):
        make_log(axis, "x")
    axis.set_xlabel(label)
    axis.set_ylabel("share of packets")
    axis.set_ylim(0, 1.03)


def _risen(at: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the line through a distribution, starting at zero."""
    return np.concatenate([at[:1], at]), np.concatenate([np.zeros(min(1, len(shares))), shares])


def against_goodput(runs: VariantRuns) -> Figure:
    """Returns a point for each flow and scheme: goodput over delay, means over seeds with intervals."""
    names = flow_names(runs)
    arrived = runs.flows[_DELAY].notna().any()
    several = len(names) * len(runs.variants) > 1
    facets = [Facet("", {"goodput", "delay"}, partial(draw_goodput_delay, runs=runs))] if arrived and several else []
    keys = scheme_keys(runs, "o" if len(names) == 1 else "bar")
    keys += [key for key in seed_keys(runs) if key.mark == SEED or _has_whiskers(runs)]
    marked = 1 < len(names) <= len(_MARKERS)
    keys += [Key(name, marker) for name, marker in zip(names, _MARKERS, strict=False)] if marked else []
    note = "" if marked or len(names) == 1 else "Each mark is a flow; point at it for its name."
    heard = set(runs.flows.dropna(subset=[_DELAY])["flow"])
    without = [names[flow] for flow in range(len(names)) if flow not in heard]
    note += (
        f" Nothing arrived of {', '.join(without[:8])}{' and others' if len(without) > 8 else ''}." if without else ""
    )
    return Figure("goodput-delay", "Goodput against delay", facets, keys, height=20.0, note=note)


def _has_whiskers(runs: VariantRuns) -> bool:
    """Whether intervals are drawn, which would hide many points."""
    return len(flow_names(runs)) * len(runs.variants) <= _MOST_WHISKERS


def draw_goodput_delay(notes: Notes, axis: Any, *, runs: VariantRuns) -> None:  # noqa: ANN401 - an Axes
    """Draws points of flows, with a shape per flow and a colour per scheme."""
    names = flow_names(runs)
    label, up = "95th percentile of one-way delay [ms]", "goodput [Mb/s]"
    panel = notes.panel(axis, label, up)
    flows = runs.flows
    everything: list[tuple[float, float]] = []
    for variant, look in looks(runs.variants).items():
        line = panel.line(variant, look.colour, tokens(runs, variant))
        for flow, name in enumerate(names):
            mine = flows[(flows["variant"] == variant) & (flows["flow"] == flow)]
            delay, goodput = 1e3 * mine[_DELAY].to_numpy(dtype=float), mine["goodput_bps"].to_numpy(dtype=float) / 1e6
            across, along = estimate_or_none(delay), estimate_or_none(goodput)
            if across is None or along is None:
                continue
            of = tokens(runs, variant, flow)
            if len(goodput) > 1:
                ring = {**seed_mark(), "markeredgecolor": look.colour, "alpha": 0.7}
                (dots,) = axis.plot(delay, goodput, linestyle="none", **ring)
                notes.part(dots, of=of)
            marker = _MARKERS[flow] if len(names) <= len(_MARKERS) else "o"
            said = f"{name}, {variant}: {three_digits(along.mean)} Mb/s at {three_digits(across.mean)} ms"
            across, along = across.within(0.0), along.within(0.0)
            if _has_whiskers(runs):
                at = across.mean, along.mean
                whiskers(notes, axis, *at, along_x=across, along_y=along, colour=look.colour, of=of)
            edge = {"markeredgecolor": ink(), "markeredgewidth": 0.6}
            (point,) = axis.plot([across.mean], [along.mean], marker, color=look.colour, markersize=6.5, **edge)
            notes.tip(point, said, of)
            line.add(f"{name} at {three_digits(across.mean)} ms", along.mean, along.low, along.high)
            everything += [(across.mean, along.mean), *zip(delay, goodput, strict=True)]
    axis.set_xlabel(label)
    axis.set_ylabel(up)
    finite = [(x, y) for x, y in everything if np.isfinite(x)]
    _scale(axis, "x", [x for x, _ in finite])
    _scale(axis, "y", [y for _, y in finite])
    axis.grid(visible=True, axis="both")


def _scale(axis: Any, direction: str, values: list[float]) -> None:  # noqa: ANN401 - an Axes
    """Sets an axis to begin at zero, or to be logarithmic if values differ by much."""
    positive = [value for value in values if value > 0]
    if not positive:
        return
    low, high = min(positive), max(values)
    if spans(positive, 30.0):
        axis.set(**{f"{direction}lim": (low / 1.4, high * 1.4)})
        make_log(axis, direction)
    else:
        axis.set(**{f"{direction}lim": (0, high * 1.08)})
