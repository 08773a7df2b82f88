"""Bars: metrics by scheme, goodput by flow, losses by cause, airtime by node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from multihop.experiments.comparisons import VariantRuns
from multihop.report.charts.figures import (
    Facet,
    Figure,
    Key,
    cut,
    faint,
    flow_names,
    ink,
    looks,
    scheme_keys,
    seed_keys,
    seed_mark,
    tokens,
)
from multihop.report.charts.marks import whiskers
from multihop.report.markup import estimate_words
from multihop.report.notes import Notes
from multihop.report.numbers import Line
from multihop.report.svg import PAGE_WIDTH
from multihop.results.columns import DROP_CAUSES, TABLES, Metric
from multihop.results.statistics import estimate_or_none
from multihop.results.words import three_digits

#: Flows above which goodput is drawn as sorted lines.
_MOST_FLOWS = 20
_MOST_NODES = 100
_MOST_NAMES = 40

#: Colour (`None` is ink) and hatching of each share of a node's time. Colours belong to schemes.
_SHARES: dict[str, tuple[str | None, str]] = {
    "transmitting": (None, ""),
    "receiving": ("#8d959c", "////"),
    "sensing": ("#c9ced2", "...."),
    "idle": ("none", ""),
}


def metrics(runs: VariantRuns, names: Sequence[str] | None = None) -> Figure:
    """Returns a facet per metric, or per named metric: bars with 95 % intervals and one dot per seed."""
    facets = [
        Facet(metric.heading, measures_of(metric), partial(draw_metric, runs=runs, metric=metric))
        for metric in runs.metrics
        if (names is None or metric.name in names) and has_bars(runs, metric)
    ]
    keys = [*scheme_keys(runs, "bar"), *seed_keys(runs)]
    return Figure(
        "metrics", "Metrics by scheme", facets, keys, columns=3, least=14.0, height=15.0, width=PAGE_WIDTH / 3
    )


def measures_of(metric: Metric) -> set[str]:
    """Returns the names by which a metric is chosen: its own, and its first word."""
    word = metric.name.split("_")[0]
    return {metric.name, word, *({"fairness"} if word == "jain" else set())}


def has_bars(runs: VariantRuns, metric: Metric) -> bool:
    """Whether something can be compared: two schemes, and a value that is not zero."""
    values = np.concatenate([runs.values(variant, metric.name) for variant in runs.variants])
    return len(runs.variants) > 1 and bool(np.any(np.isfinite(values) & (values != 0)))


def draw_metric(notes: Notes, axis: Any, *, runs: VariantRuns, metric: Metric) -> None:  # noqa: ANN401 - an Axes
    """Draws a bar for each scheme, named by the legend."""
    panel = notes.panel(axis, "scheme", metric.heading)
    for index, (variant, look) in enumerate(looks(runs.variants).items()):
        of = tokens(runs, variant)
        bar = _Bar(index, 0.7, f"{variant}: {metric.title.lower()}", metric.unit, of, look.colour, look.hatch)
        values = metric.scale * runs.values(variant, metric.name)
        ends = metric.scale * metric.least, metric.scale * metric.most
        _draw_bar(notes, axis, bar, values, panel.line(variant, look.colour, of), variant, ends)
    axis.set_xticks([])
    axis.set_ylabel(metric.heading)
    if metric.least >= 0:
        axis.set_ylim(bottom=0)
    axis.set_xlim(-0.6, len(runs.variants) - 0.4)


@dataclass(frozen=True)
class _Bar:
    """Position, width, tooltip, subjects and look of a bar."""

    at: float
    width: float
    said: str
    unit: str
    of: tuple[str, ...]
    colour: str
    hatch: str = ""
    is_lying: bool = False


def _draw_bar(
    notes: Notes,
    axis: Any,  # noqa: ANN401 - an Axes
    bar: _Bar,
    values: np.ndarray,
    line: Line,
    place: str,
    ends: tuple[float, float] = (0.0, np.inf),
) -> None:
    """Draws a bar at the mean, its 95 % interval within the range, a dot per seed, and a tooltip."""
    found = estimate_or_none(values)
    if found is None:
        return
    found = found.within(*ends)
    draw = axis.barh if bar.is_lying else axis.bar
    drawn = draw(bar.at, found.mean, bar.width * 0.95, color=bar.colour, hatch=bar.hatch, edgecolor=ink(), linewidth=0)[
        0
    ]
    notes.tip(drawn, f"{bar.said} {estimate_words(found, bar.unit)}", bar.of)
    line.add(place, found.mean, found.low, found.high)
    _dots(notes, axis, bar, values)
    x, y, along_x, along_y = (found.mean, bar.at, found, None) if bar.is_lying else (bar.at, found.mean, None, found)
    capsize = min(3.0, 12 * bar.width)
    whiskers(notes, axis, x, y, along_x=along_x, along_y=along_y, colour=ink(), capsize=capsize, of=bar.of)


def _dots(notes: Notes, axis: Any, bar: _Bar, values: np.ndarray) -> None:  # noqa: ANN401 - an Axes
    finite = values[np.isfinite(values)]
    if len(finite) < 2:
        return
    spread = bar.at + bar.width * np.linspace(-0.25, 0.25, len(finite))
    places = (finite, spread) if bar.is_lying else (spread, finite)
    (dots,) = axis.plot(*places, linestyle="none", **seed_mark())
    notes.part(dots, of=bar.of)


def flow_goodput(runs: VariantRuns) -> Figure:
    """Returns the goodput of each flow; many flows are sorted from the least to the most."""
    flows = len(flow_names(runs))
    measures = {"goodput"}
    optimum = [Key("fair optimum", "line")] if runs.not_comparable is None else []
    if len(runs.variants) < 2:
        facets = []
    elif flows > _MOST_FLOWS:
        optimum = [Key("fair optimum", "line", dash="--") for _ in optimum]
        facets = [Facet("", measures, partial(draw_sorted_goodput, runs=runs))]
        return Figure("goodput-flows", "Goodput of flows, sorted", facets, [*scheme_keys(runs, "line"), *optimum])
    else:
        facets = [Facet("", measures, partial(draw_flow_goodput, runs=runs))]
    keys = [*scheme_keys(runs, "bar"), *seed_keys(runs), *optimum]
    height = 4.0 + flows * (0.9 * len(runs.variants) + 0.8)
    return Figure("goodput-flows", "Goodput of each flow", facets, keys, height=height)


def draw_flow_goodput(notes: Notes, axis: Any, *, runs: VariantRuns) -> None:  # noqa: ANN401 - an Axes
    """Draws a group of bars for each flow, with a line across each bar at the flow's optimum."""
    names = flow_names(runs)
    rates = {variant: runs.rates(variant) / 1e6 for variant in runs.variants}

    def values(variant: str, flow: int) -> np.ndarray:
        return rates[variant][:, flow]

    def of(variant: str, flow: int) -> tuple[str, ...]:
        return tokens(runs, variant, flow)

    _grouped(notes, axis, runs, _Groups("flow", names, names, "goodput [Mb/s]", "Mb/s", values, of))
    if runs.not_comparable is None:
        for variant in runs.variants:
            _mark_optimum(notes, axis, runs, variant)


@dataclass(frozen=True)
class _Groups:
    """Groups of horizontal bars, one bar per scheme.

    Attributes:
        what: kind of the groups.
        names: names of groups, for tooltips and files.
        said: text of each group in tooltips.
        label: label of the axis.
        unit: unit of the values.
        values: values of a scheme and group, one per seed.
        of: subjects of a bar.
    """

    what: str
    names: Sequence[str]
    said: Sequence[str]
    label: str
    unit: str
    values: Callable[[str, int], np.ndarray]
    of: Callable[[str, int], tuple[str, ...]]


def _grouped(notes: Notes, axis: Any, runs: VariantRuns, groups: _Groups) -> None:  # noqa: ANN401 - an Axes
    panel = notes.panel(axis, groups.what, groups.label)
    for variant, look in looks(runs.variants).items():
        line = panel.line(variant, look.colour, tokens(runs, variant))
        offset, width = _offset(runs, variant)
        for place, name in enumerate(groups.names):
            said = f"{groups.said[place]}, {variant}:"
            of = groups.of(variant, place)
            bar = _Bar(place + offset, width, said, groups.unit, of, look.colour, look.hatch, is_lying=True)
            _draw_bar(notes, axis, bar, groups.values(variant, place), line, name)
    axis.set_yticks(range(len(groups.names)), [cut(name) for name in groups.names])
    axis.set_ylim(len(groups.names) - 0.5, -0.5)
    axis.set_xlim(left=0)
    axis.set_xlabel(groups.label)
    axis.grid(visible=False, axis="y")
    axis.grid(visible=True, axis="x")


def _offset(runs: VariantRuns, variant: str) -> tuple[float, float]:
    """Returns the position of a scheme's bar within its group, and its width."""
    width = 0.8 / len(runs.variants)
    return (runs.variants.index(variant) - (len(runs.variants) - 1) / 2) * width, width


def _mark_optimum(notes: Notes, axis: Any, runs: VariantRuns, variant: str) -> None:  # noqa: ANN401 - an Axes
    """Draws a line across the bar of each flow at the proportionally fair optimum."""
    offset, width = _offset(runs, variant)
    for place, row in enumerate(runs.optima[variant].flows.to_dict("records")):
        best, at = row["optimum_bps"] / 1e6, place + offset
        (line,) = axis.plot([best, best], [at - width / 2, at + width / 2], color=ink(), linewidth=1.5)
        said = f"{row['name']}, {variant}: proportionally fair optimum {three_digits(best)} Mb/s"
        notes.tip(line, said, tokens(runs, variant, place))


def draw_sorted_goodput(notes: Notes, axis: Any, *, runs: VariantRuns) -> None:  # noqa: ANN401 - an Axes
    """Draws a line per scheme through the goodput of its flows, and a dashed one through their optimum."""
    label = "flows, from the least to the most goodput"
    panel = notes.panel(axis, label, "goodput [Mb/s]", cursor=True)
    for variant, look in looks(runs.variants).items():
        of = tokens(runs, variant)
        values = np.sort(runs.rates(variant).mean(axis=0)) / 1e6
        places = np.arange(1, len(values) + 1)
        (line,) = axis.plot(places, values, color=look.colour, linestyle=look.dash, linewidth=2)
        notes.tip(line, f"{variant}: from {three_digits(values[0])} to {three_digits(values[-1])} Mb/s", of)
        panel.line(variant, look.colour, of).extend(places, values)
        if runs.not_comparable is None:
            best = np.sort(runs.optima[variant].rates_bps) / 1e6
            (line,) = axis.plot(places, best, color=look.colour, linewidth=1.2, linestyle="--")
            least, most = three_digits(best[0]), three_digits(best[-1])
            notes.tip(line, f"{variant}: proportionally fair optimum, from {least} to {most} Mb/s", of)
    axis.set_xlabel(label)
    axis.set_ylabel("goodput, mean over seeds [Mb/s]")
    axis.set_ylim(bottom=0)


def losses(runs: VariantRuns) -> Figure:
    """Returns data packets lost by cause, as a share of those lost or delivered."""
    causes = lost_causes(runs)
    draw = partial(draw_losses, runs=runs, causes=causes)
    facets = [Facet("", {"loss", *(f"dropped_{cause}" for cause in causes)}, draw)] if causes else []
    keys = [*scheme_keys(runs, "bar"), *seed_keys(runs)]
    height = 4.0 + len(causes) * (0.9 * len(runs.variants) + 0.8)
    return Figure("losses", "Loss by cause", facets if len(runs.variants) > 1 else [], keys, height=height)


def lost_causes(runs: VariantRuns) -> list[str]:
    """Returns the causes of lost data packets under any scheme."""
    lost = runs.flows[[f"dropped_{cause}" for cause in DROP_CAUSES]].sum()
    return [cause for cause in DROP_CAUSES if lost[f"dropped_{cause}"] > 0]


def loss_shares(runs: VariantRuns, variant: str, cause: str) -> np.ndarray:
    """Returns data packets of all flows lost by a cause, in % of those lost or delivered, by seed."""
    made = []
    for result in runs.results[variant]:
        flows = result.flows
        decided = float(flows["packets_delivered"].sum() + flows["packets_lost"].sum())
        made.append(100 * float(flows[f"dropped_{cause}"].sum()) / decided if decided else np.nan)
    return np.array(made)


def draw_losses(notes: Notes, axis: Any, *, runs: VariantRuns, causes: Sequence[str]) -> None:  # noqa: ANN401 - an Axes
    """Draws a group of bars for each cause."""

    def values(variant: str, place: int) -> np.ndarray:
        return loss_shares(runs, variant, causes[place])

    def of(variant: str, _: int) -> tuple[str, ...]:
        return tokens(runs, variant)

    names = [cause.replace("_", " ") for cause in causes]
    said = [TABLES["flows"][f"dropped_{cause}"].meaning for cause in causes]
    _grouped(notes, axis, runs, _Groups("cause", names, said, "data packets lost [%]", "%", values, of))


def airtime(runs: VariantRuns) -> Figure:
    """Returns stacked shares of each node's time, a facet per scheme; of many nodes the busiest."""
    nodes = runs.nodes
    busy = 1 - nodes.groupby("node")["idle"].mean()
    shown = sorted(busy.nlargest(_MOST_NODES).index)
    facets = [
        Facet(
            variant if len(runs.variants) > 1 else "",
            {"airtime"},
            partial(draw_airtime, runs=runs, variant=variant, shown=shown),
        )
        for variant in runs.variants
    ]
    keys = [Key(share, "bar", colour, hatch=hatch) for share, (colour, hatch) in _SHARES.items()]
    is_worth_it = len(shown) > 1 and bool((busy > 0).any())
    return Figure("airtime", "Share of time per node", facets if is_worth_it else [], keys, height=14.0)


def draw_airtime(notes: Notes, axis: Any, *, runs: VariantRuns, variant: str, shown: Sequence[int]) -> None:  # noqa: ANN401
    """Draws a bar for each node, stacked by its shares of time."""
    nodes = runs.nodes
    names = nodes.drop_duplicates("node").set_index("node")["name"]
    panel = notes.panel(axis, "node", "% of time", variant if len(runs.variants) > 1 else "")
    means = nodes[nodes["variant"] == variant].groupby("node")[list(_SHARES)].mean().loc[list(shown)]
    bottoms = np.zeros(len(shown))
    for share, (colour, hatch) in _SHARES.items():
        values = 100 * means[share].to_numpy(dtype=float)
        bars = axis.bar(
            range(len(shown)),
            values,
            0.85,
            bottom=bottoms,
            color=colour or ink(),
            hatch=hatch,
            edgecolor=ink() if hatch else faint(),
            linewidth=0 if hatch or colour is None else 0.5,
        )
        line = panel.line(share, "currentColor" if colour in {None, "none"} else str(colour))
        for node, bar, value in zip(shown, bars, values, strict=True):
            said = f"{names[node]}, {variant}: {share} {value:.1f} % of the time"
            notes.tip(bar, said, (*tokens(runs, variant), f"n{node}"))
            line.add(str(names[node]), value)
        bottoms += values
    axis.set_ylabel("% of time")
    axis.set_ylim(0, 100)
    axis.margins(x=0.01)
    labels = [cut(str(names[node]), 14) for node in shown]
    if len(shown) <= _MOST_NAMES:
        is_tilted = sum(map(len, labels)) + 2 * len(labels) > 50
        axis.set_xticks(range(len(shown)), labels, rotation=90 if is_tilted else 0)
    else:
        axis.set_xticks([])
        axis.set_xlabel("nodes, in the order of the scenario")
