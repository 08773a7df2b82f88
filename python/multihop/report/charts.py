"""The charts of a report, each a function from a comparison to a `Chart`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from multihop.comparison.runs import Runs
from multihop.report.markup import estimate_words, with_unit
from multihop.report.numbers import Line, Panel
from multihop.report.svg import FAINT, INK, PAGE_WIDTH, PALETTE, Chart, colours, legend_above
from multihop.results.columns import DROP_CAUSES, TABLES, Metric
from multihop.results.statistics import estimate_or_none
from multihop.results.words import three_digits

_MOST_FLOWS = 20
_MOST_NODES = 100
_MOST_LINES = 7
#: Lines of single flows in all; beyond, those with the least and the most goodput and those between, evenly.
_MOST_FLOW_LINES = 100

_SHARES = {
    "transmitting": "#0072B2",
    "receiving": "#009E73",
    "sensing": "#E69F00",
    "idle": "#BBBBBB",
}


def every(comparison: Runs) -> list[Chart]:
    """All charts, in the order of the report."""
    makers = (metrics, flow_goodput, losses, over_time, airtime)
    return [make(comparison) for make in makers]


def metrics(comparison: Runs) -> Chart:
    """Bars with 95 % intervals and one dot per seed, a panel for each metric."""
    drawn = {"goodput_total_bps", "jain", "delay_p50_s", "delay_p95_s", "rtt_mean_s", "retransmission_ratio"}
    metrics = [metric for metric in comparison.measured_metrics if metric.name in drawn]
    chart = Chart("metrics", "Metrics per scheme with 95 % intervals", PAGE_WIDTH, 5.6)
    axes = list(chart.figure.subplots(2, 3).flat)
    for axis, metric in zip(axes, metrics, strict=False):
        _metric_panel(chart, axis, comparison, metric)
    for axis in axes[len(metrics) :]:
        axis.remove()
    return chart


def flow_goodput(comparison: Runs) -> Chart:
    """Goodput of each flow; with many flows, sorted from the least to the most."""
    flows = comparison.flows
    listed = next(iter(comparison.results.values()))[0].view["flows"]
    labels = [flow["name"] for flow in listed]
    if len(labels) > _MOST_FLOWS:
        return _sorted_goodput(comparison, flows)
    chart = Chart("flows", "Goodput of each flow with 95 % intervals", PAGE_WIDTH, 3.6)
    axis = chart.figure.subplots()
    palette = colours(comparison.variants)
    width = 0.8 / len(comparison.variants)
    panel = chart.panel(axis, "flow", "goodput [Mb/s]")
    for index, variant in enumerate(comparison.variants):
        mine = flows[flows["variant"] == variant]
        groups = [mine.loc[mine["flow"] == k, "goodput_bps"].to_numpy(dtype=float) / 1e6 for k in range(len(labels))]
        line = panel.line(variant, palette[variant], (f"v{index}",))
        for position, (flow, values) in enumerate(zip(listed, groups, strict=True)):
            at = position + (index - (len(comparison.variants) - 1) / 2) * width
            name = variant if position == 0 else None
            bar = _Bar(at, width, f"{flow['name']}, {variant}:", "Mb/s", (f"v{index}", f"f{position}"))
            _draw_bar(chart, axis, bar, values, line, flow["name"], name)
        _mark_optimum(chart, axis, comparison, variant, (index - (len(comparison.variants) - 1) / 2) * width, width)
    axis.set_xticks(range(len(labels)), labels, rotation=_tilt(labels), ha="right" if _tilt(labels) else "center")
    axis.set_ylabel("goodput [Mb/s]")
    _legend(axis, comparison)
    return chart


def _mark_optimum(
    chart: Chart,
    axis: Any,  # noqa: ANN401 - an Axes
    comparison: Runs,
    variant: str,
    offset: float,
    width: float,
) -> None:
    """A line across the bar of each flow, where the proportionally fair optimum is."""
    if comparison.not_comparable is not None:
        return
    of = f"v{comparison.variants.index(variant)}"
    for position, row in enumerate(comparison.optima[variant].flows.to_dict("records")):
        best = row["optimum_bps"] / 1e6
        at = position + offset
        label = "optimum" if position == 0 and variant == comparison.variants[0] else None
        (line,) = axis.plot([at - width / 2, at + width / 2], [best, best], color=INK, linewidth=1.5, label=label)
        said = f"{row['name']}, {variant}: proportionally fair optimum {three_digits(best)} Mb/s"
        chart.tip(line, said, (of, f"f{position}"))


def losses(comparison: Runs) -> Chart:
    """Data packets lost by named cause, stacked, as a share of those that were lost or arrived."""
    flows = comparison.flows
    chart = Chart("losses", "Loss by cause per scheme", PAGE_WIDTH / 2, 3.2)
    axis = chart.figure.subplots()
    bottoms = np.zeros(len(comparison.variants))
    fates = flows[["packets_delivered", *(f"dropped_{cause}" for cause in DROP_CAUSES)]].sum(axis=1)
    panel = chart.panel(axis, "scheme", "data packets lost [%]")
    decided = fates.groupby(flows["variant"], sort=False).sum().reindex(comparison.variants).to_numpy(dtype=float)
    for cause, colour in zip(DROP_CAUSES, PALETTE, strict=False):
        column = f"dropped_{cause}"
        lost = flows.groupby("variant", sort=False)[column].sum().reindex(comparison.variants).to_numpy(dtype=float)
        if not lost.any():
            continue
        shares = 100 * np.divide(lost, decided, out=np.zeros_like(lost), where=decided > 0)
        label = cause.replace("_", " ")
        bars = axis.bar(comparison.variants, shares, 0.6, bottom=bottoms, color=colour, label=label)
        line = panel.line(label, colour)
        for index, (variant, bar, share) in enumerate(zip(comparison.variants, bars, shares, strict=True)):
            chart.tip(bar, f"{variant}: {share:.3g} %, {TABLES['flows'][column].meaning}", (f"v{index}",))
            line.add(variant, share)
        bottoms += shares
    axis.set_ylabel("data packets lost [%]")
    if bottoms.any():
        axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    else:
        axis.text(0.5, 0.5, "nothing was lost", transform=axis.transAxes, ha="center")
        axis.set_ylim(0, 1)
    axis.margins(x=0.15)
    return chart


def over_time(comparison: Runs) -> Chart:
    """Goodput and congestion window over time: by scheme with a 95 % band, or by flow of a single one."""
    chart = Chart("time", "Goodput and congestion window over time", PAGE_WIDTH, 5.4)
    top, bottom = chart.figure.subplots(2, 1, sharex=True)
    series = comparison.series
    of_flows = len(comparison.variants) == 1
    names = ("goodput [Mb/s]", "window [kB]") if of_flows else ("total goodput [Mb/s]", "mean window [kB]")
    upper, lower = (
        chart.panel(axis, "time [s]", name, cursor=True, zooms=True)
        for axis, name in zip((top, bottom), names, strict=True)
    )
    if of_flows:
        _lines_per_flow(chart, (upper, lower), series)
    else:
        total: Callable[[Any], Any] = lambda g: g.sum() / 1e6  # noqa: E731 - two aggregations side by side
        mean: Callable[[Any], Any] = lambda g: g.mean() / 1e3  # noqa: E731
        for index, (variant, colour) in enumerate(colours(comparison.variants).items()):
            mine = series[series["variant"] == variant]
            for panel, column, over in ((upper, "goodput_bps", total), (lower, "window_bytes", mean)):
                _band(chart, panel, _by_time(mine, column, over), panel.line(variant, colour, (f"v{index}",)))
    if not len(bottom.lines):
        bottom.text(0.5, 0.5, "no flow has a congestion window", transform=bottom.transAxes, ha="center")
    top.set_ylabel(names[0])
    bottom.set_ylabel(names[1])
    bottom.set_xlabel("time [s]")
    warmup = next(iter(comparison.results.values()))[0].view["warmup"]
    for axis in (top, bottom):
        axis.set_ylim(bottom=0)
        axis.margins(x=0.01)
        if warmup > 0:
            chart.tip(axis.axvspan(0, warmup, color=FAINT, alpha=0.35, linewidth=0), "warm-up, not in the results")
    if top.lines:
        legend_above(top, PAGE_WIDTH)
    return chart


def airtime(comparison: Runs) -> Chart:
    """Stacked shares of each node's time, a panel per scheme; the busiest nodes where there are many."""
    nodes = comparison.nodes
    busy = 1 - nodes.groupby("node")["idle"].mean()
    shown = sorted(busy.nlargest(_MOST_NODES).index)
    count = len(comparison.variants)
    chart = Chart("airtime", "Share of time per node", PAGE_WIDTH, 0.9 + 1.75 * count)
    axes = np.atleast_1d(chart.figure.subplots(count, 1, sharex=True, sharey=True))
    names = nodes.drop_duplicates("node").set_index("node")["name"]
    for index, (axis, variant) in enumerate(zip(axes, comparison.variants, strict=True)):
        panel = chart.panel(axis, "node", "% of time", variant if count > 1 else "")
        means = nodes[nodes["variant"] == variant].groupby("node")[list(_SHARES)].mean().loc[shown]
        bottoms = np.zeros(len(shown))
        for share, colour in _SHARES.items():
            values = 100 * means[share].to_numpy(dtype=float)
            bars = axis.bar(range(len(shown)), values, 0.85, bottom=bottoms, color=colour, label=share)
            line = panel.line(share, colour)
            for node, bar, value in zip(shown, bars, values, strict=True):
                said = f"{names[node]}, {variant}: {share} {value:.1f} % of the time"
                chart.tip(bar, said, (f"v{index}", f"n{node}"))
                line.add(str(names[node]), value)
            bottoms += values
        axis.set_title(variant if count > 1 else "")
        axis.set_ylabel("% of time")
        axis.set_ylim(0, 100)
        axis.margins(x=0.01)
    labels = [str(names[node]) for node in shown]
    if len(shown) <= 40:
        axes[-1].set_xticks(
            range(len(shown)), labels, rotation=_tilt(labels), ha="right" if _tilt(labels) else "center"
        )
    else:
        axes[-1].set_xticks([])
        axes[-1].set_xlabel("nodes, in the order of the scenario (point at a bar for its name)")
    axes[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4, borderaxespad=0)
    return chart


def _metric_panel(chart: Chart, axis: Any, comparison: Runs, metric: Metric) -> None:  # noqa: ANN401 - an Axes
    palette = colours(comparison.variants)
    panel = chart.panel(axis, "scheme", with_unit(metric))
    for index, variant in enumerate(comparison.variants):
        values = metric.scale * comparison.values(variant, metric.name)
        of = (f"v{index}",)
        bar = _Bar(index, 0.62, f"{variant}: {metric.title.lower()}", metric.unit, of)
        _draw_bar(chart, axis, bar, values, panel.line(variant, palette[variant], of), variant)
        finite = values[np.isfinite(values)]
        if len(finite) > 1:
            spread = np.linspace(-0.14, 0.14, len(finite))
            (dots,) = axis.plot(index + spread, finite, ".", color=INK, alpha=0.35, markersize=3.5)
            chart.part(dots, of=of)
    axis.set_xticks(range(len(comparison.variants)), comparison.variants)
    if len(comparison.variants) > 4:
        axis.tick_params(axis="x", rotation=25)
    axis.set_title(with_unit(metric))
    axis.set_ylim(bottom=0)
    axis.set_xlim(-0.6, max(len(comparison.variants) - 0.4, 1.6))


@dataclass(frozen=True)
class _Bar:
    """Where a bar stands, how wide it is, what its tooltip says, and what it is of."""

    at: float
    width: float
    said: str
    unit: str
    of: tuple[str, ...]


def _draw_bar(
    chart: Chart,
    axis: Any,  # noqa: ANN401 - an Axes
    bar: _Bar,
    values: np.ndarray,
    line: Line,
    place: str,
    label: str | None = None,
) -> None:
    """A bar at the mean in the line's colour, its 95 % interval, and a tooltip; `line` keeps its numbers."""
    found = estimate_or_none(values)
    if found is None:
        return
    drawn = axis.bar(bar.at, found.mean, bar.width * 0.95, color=line.colour, label=label)[0]
    if found.half_width is not None:
        _, caps, whiskers = axis.errorbar(bar.at, found.mean, found.half_width, color=INK, capsize=3, linewidth=1.1)
        for part in (*caps, *whiskers):
            chart.part(part, of=bar.of)
    chart.tip(drawn, f"{bar.said} {estimate_words(found, bar.unit)}", bar.of)
    line.add(place, found.mean, found.low, found.high)


def _sorted_goodput(comparison: Runs, flows: pd.DataFrame) -> Chart:
    chart = Chart("flows", "Goodput of flows, sorted", PAGE_WIDTH, 3.6)
    axis = chart.figure.subplots()
    panel = chart.panel(axis, "flows, from the least to the most goodput", "goodput [Mb/s]", cursor=True)
    for index, (variant, colour) in enumerate(colours(comparison.variants).items()):
        mine = flows[flows["variant"] == variant]
        values = np.sort(mine.groupby("flow")["goodput_bps"].mean().to_numpy(dtype=float)) / 1e6
        of = (f"v{index}",)
        (line,) = axis.plot(np.arange(1, len(values) + 1), values, color=colour, linewidth=2, label=variant)
        chart.tip(line, f"{variant}: from {three_digits(values[0])} to {three_digits(values[-1])} Mb/s", of)
        shown = panel.line(variant, colour, of)
        shown.extend(range(1, len(values) + 1), values)
        if comparison.not_comparable is None:
            best = np.sort(comparison.optima[variant].rates_bps) / 1e6
            (line,) = axis.plot(np.arange(1, len(best) + 1), best, color=colour, linewidth=1.2, linestyle="--")
            least, most = three_digits(best[0]), three_digits(best[-1])
            chart.tip(line, f"{variant}: proportionally fair optimum, from {least} to {most} Mb/s", of)
    axis.set_xlabel("flows, from the least to the most goodput")
    axis.set_ylabel("goodput, mean over seeds [Mb/s]")
    axis.set_ylim(bottom=0)
    _legend(axis, comparison)
    return chart


def _by_time(series: pd.DataFrame, column: str, over_flows: Callable[[Any], Any]) -> pd.DataFrame:
    """Index: time; one column per seed. Steps in which no flow has a value are missing."""
    present = series.dropna(subset=[column])
    grouped = present.groupby(["time_s", "seed"])[column].apply(over_flows)
    return grouped.unstack("seed") if len(grouped) else pd.DataFrame()  # noqa: PD010 - the index is unique by construction


def _band(chart: Chart, panel: Panel, table: pd.DataFrame, line: Line) -> None:
    if table.empty:
        return
    times = table.index.to_numpy(dtype=float)
    found = [estimate_or_none(row) for row in table.to_numpy(dtype=float)]
    means = np.array([np.nan if e is None else e.mean for e in found])
    half = np.array([0.0 if e is None or e.half_width is None else e.half_width for e in found])
    low, high = np.maximum(means - half, 0), means + half
    band = panel.axis.fill_between(times, low, high, color=line.colour, alpha=0.18, linewidth=0)
    chart.part(band, of=line.of)
    (drawn,) = panel.axis.plot(times, means, color=line.colour, linewidth=1.6, label=line.name)
    chart.tip(drawn, f"{line.name}: mean {np.nanmean(means):.4g}", line.of)
    for time, mean, end_low, end_high, width in zip(times, means, low, high, half, strict=True):
        line.add(time, mean, *((end_low, end_high) if width > 0 else ()))


def _lines_per_flow(chart: Chart, panels: tuple[Panel, Panel], series: pd.DataFrame) -> None:
    """All flows; of many, the extremes and those between in colour and the others faint."""
    named, faint = flows_in_colour(series)
    looks = [(flow, FAINT, 0.9, False) for flow in faint]
    looks += [(flow, colour, 1.4, True) for flow, colour in zip(named, PALETTE, strict=False)]
    for flow, colour, width, is_named in looks:
        mine = series[series["flow"] == flow]
        name = str(mine["name"].iloc[0])
        for panel, column, unit in ((panels[0], "goodput_bps", 1e-6), (panels[1], "window_bytes", 1e-3)):
            means = mine.groupby("time_s")[column].mean().dropna()
            if means.empty:
                continue
            line = panel.line(name, colour, (f"f{flow}",))
            values = means.to_numpy() * unit
            (drawn,) = panel.axis.plot(means.index, values, color=colour, linewidth=width)
            if is_named:
                drawn.set_label(name)
            chart.tip(drawn, name, line.of)
            line.extend(means.index, values)


def flows_in_colour(series: pd.DataFrame) -> tuple[list[int], list[int]]:
    """Flows that are drawn in colour, and those that are drawn faint.

    Of more than seven the first are those of the least, the most and between in equal steps of rank by
    goodput.
    """
    means = series.groupby("flow", sort=False)["goodput_bps"].mean().sort_values(kind="stable")
    ranked = [int(flow) for flow in means.index]
    if len(ranked) <= _MOST_LINES:
        return [int(flow) for flow in dict.fromkeys(series["flow"])], []
    drawn = _evenly(ranked, _MOST_FLOW_LINES)
    named = _evenly(drawn, _MOST_LINES)
    return named, [flow for flow in drawn if flow not in named]


def flow_lines_note(flows: int) -> str:
    """Which flows are drawn how, of so many."""
    if flows <= _MOST_LINES:
        return "One line per flow, means over seeds."
    some = "" if flows <= _MOST_FLOW_LINES else f" {_MOST_FLOW_LINES} of {flows} flows."
    ranks = f"In colour, from the least to the most goodput, {_MOST_LINES} in equal steps of rank; the rest is faint."
    return f"One line per flow, means over seeds.{some} {ranks} Point at a line for its name."


def _evenly(ranked: list[int], most: int) -> list[int]:
    """So many of a list at most, with its ends."""
    if len(ranked) <= most:
        return ranked
    return [ranked[round(index * (len(ranked) - 1) / (most - 1))] for index in range(most)]


def _legend(axis: Any, comparison: Runs) -> None:  # noqa: ANN401 - an Axes
    if len(comparison.variants) > 1:
        legend_above(axis, PAGE_WIDTH)


def _tilt(labels: list[str]) -> int:
    return 30 if sum(len(label) for label in labels) > 100 else 0
