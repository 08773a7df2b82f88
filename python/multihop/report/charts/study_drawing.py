"""Drawing of the charts of studies: a facet per panel, in which points, bars or bands are series."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from multihop.report.charts.figures import CLAIMED, Facet, Figure, Key, Look, faint, ink, line_and_hatch, look, make_log
from multihop.report.charts.marks import band, ends, whiskers
from multihop.report.charts.study_plots import Mark, PlotPanel, Series, StudyPlot
from multihop.report.charts.ticks import spaced_ticks, tick_names
from multihop.report.markup import estimate_words
from multihop.report.notes import Notes
from multihop.report.svg import PAGE_WIDTH

#: Size of text of these charts, in inches.
_EM = 10 / 72

#: Width of a file with several panels, or with a wide one, in inches.
FILE_WIDTH = 7.2

#: Height of the title of a facet, in heights of text.
_TITLE = 1.5

_MOST_MARKERS = 15
_MOST_TICKS = 12
_MOST_OF_INTERVALS = 1.2
_DASHED = (0, (4, 3))


def figure(plot: StudyPlot, name: str, note: str = "", least: float | None = None) -> Figure:
    """Returns a figure with a facet per panel and equal axes.

    Args:
        plot: content of the chart.
        name: name of its file.
        note: remark for the reader.
        least: width of the axes in inches at 10 pt, for which ticks are chosen; that of the page by default.
    """
    columns = {1: 1, 2: 2, 4: 2}.get(len(plot.panels), 3)
    is_wide = len(plot.panels) == 1 and (plot.shape == "bands" or len(plot.categories) > 8)
    width, height = (FILE_WIDTH, 3.3) if is_wide else (5.4, 3.1) if columns < 3 else (PAGE_WIDTH / 3, 2.75)
    # Panels of a file are narrower than those of a page, and both have the same ticks.
    narrowest = least or (width if len(plot.panels) == 1 else min(width, FILE_WIDTH / 2))
    depth = tick_names(plot.categories, narrowest)[2] if plot.categories else 0.0
    return Figure(
        name,
        plot.chart.title,
        [Facet(panel.title, (), partial(_draw, plot=plot, panel=panel, width=narrowest)) for panel in plot.panels],
        _keys(plot),
        columns=columns,
        least=narrowest / _EM - 0.5,
        height=height / _EM - (_TITLE if any(panel.title for panel in plot.panels) else 0.0),
        depth=depth,
        note=note,
        key=f"{plot.key}-",
        width=width,
        is_wide=is_wide,
        keys_title=plot.named_by,
        shares_y=True,
    )


def file_width(shown: Figure) -> float:
    """Returns the width of a figure's file in inches, whose text is legible on a page of a phone's width."""
    return shown.width if len(shown.facets) == 1 else FILE_WIDTH


def look_of(plot: StudyPlot, number: int) -> Look:
    """Returns the look of a series. Curves of a group share its colour; marker, dash and hatch differ."""
    if not plot.pairs:
        return look(number)
    group, curve = plot.pairs[number]
    return Look(look(group).colour, look(curve).marker, *line_and_hatch(curve))


def _keys(plot: StudyPlot) -> list[Key]:
    """Returns the legend; empty for a single series without other marks."""
    keys = []
    for number, name in enumerate(plot.names):
        how = look_of(plot, number)
        mark = "bar" if _has_bars(plot) else how.marker if plot.shape == "bars" else "line"
        marker = "" if plot.shape == "bands" else how.marker
        keys.append(Key(name or plot.y_label, mark, how.colour, how.dash, how.hatch, marker, switch=str(number)))
    keys += [Key(plot.band, "band")] if plot.band else []
    keys += [Key("paper", CLAIMED, switch="printed")] if plot.has_printed else []
    keys += [Key("most that the channel can carry", "line", dash="--", switch="possible")] if plot.has_possible else []
    return keys if len(keys) > 1 else []


def _has_bars(plot: StudyPlot) -> bool:
    """Whether values are bars. On a logarithmic axis they are points, since bars have no base there."""
    return plot.shape == "bars" and not plot.chart.log_y


def _draw(notes: Notes, axis: Any, *, plot: StudyPlot, panel: PlotPanel, width: float) -> None:  # noqa: ANN401 - an Axes
    axis.set_xlabel(plot.x_label)
    axis.set_ylabel(plot.y_label)
    for series in panel.series:
        if plot.shape == "bands" or (len(series.marks) > _MOST_MARKERS and not _has_bars(plot)):
            _band(notes, axis, plot, series)
        else:
            _points(notes, axis, plot, panel, series)
    _printed(notes, axis, plot, panel)
    _possible(notes, axis, plot, panel)
    _limits(axis, plot)
    for direction, is_log in (("x", plot.chart.log_x), ("y", plot.chart.log_y)):
        if is_log:
            make_log(axis, direction)
    _ticks(axis, plot, width)
    if panel.shaded > 0:
        span = axis.axvspan(0, panel.shaded, color=faint(), alpha=0.35, linewidth=0)
        notes.tip(span, "warm-up, not in the results")
    if not any(mark.y is not None for series in panel.series for mark in series.marks):
        axis.text(0.5, 0.5, "no run has a value", transform=axis.transAxes, ha="center")
    _note(notes, axis, plot, panel)


def _note(notes: Notes, axis: Any, plot: StudyPlot, panel: PlotPanel) -> None:  # noqa: ANN401 - an Axes
    """Adds the numbers of a panel for the page."""
    is_numeric = not plot.categories and plot.chart.x_metric is None
    zooms = is_numeric and plot.shape == "bands"
    noted = notes.panel(axis, plot.x_label, plot.y_label, panel.title, cursor=is_numeric, zooms=zooms)
    for series in panel.series:
        line = noted.line(plot.names[series.number] or plot.y_label, look_of(plot, series.number).colour)
        for mark in series.marks:
            if mark.y is not None:
                low, high = reach(mark) if mark.spread is not None else (mark.y.low, mark.y.high)
                line.add(mark.x if is_numeric else mark.label, mark.y.mean, low, high)


def _points(notes: Notes, axis: Any, plot: StudyPlot, panel: PlotPanel, series: Series) -> None:  # noqa: ANN401 - an Axes
    """Draws bars, or points that are joined unless x values are names, with their intervals."""
    how, tokens = look_of(plot, series.number), (str(series.number),)
    xs = [mark.x + _shift(plot, panel, series) for mark in series.marks]
    if plot.shape != "bars":
        ys = [np.nan if mark.y is None else mark.y.mean for mark in series.marks]
        (line,) = axis.plot(xs, ys, color=how.colour, linestyle=how.dash, linewidth=1.6)
        notes.part(line, series=tokens)
    for x, mark in zip(xs, series.marks, strict=True):
        if mark.y is None or not np.isfinite(x):
            continue
        if _has_bars(plot):
            (part,) = axis.bar(x, mark.y.mean, 0.94 * _bar_width(panel), color=how.colour, hatch=how.hatch, linewidth=0)
        else:
            (part,) = axis.plot([x], [mark.y.mean], how.marker, color=how.colour, markersize=5.5, markeredgewidth=0)
        notes.part(part, _words(plot, series, mark), tokens)
        colour = ink() if _has_bars(plot) else how.colour
        whiskers(notes, axis, x, mark.y.mean, along_y=mark.y, along_x=mark.across, colour=colour, series=tokens)
    if plot.chart.x_metric is not None:
        _name_ends(notes, axis, series, tokens)


def _band(notes: Notes, axis: Any, plot: StudyPlot, series: Series) -> None:  # noqa: ANN401 - an Axes
    """Draws a line with its intervals, or the spread over seeds, as a band, for many points."""
    means = [mark.y.mean for mark in series.marks if mark.y is not None]
    if not means:
        return
    name, said = plot.names[series.number], f"from {min(means):.4g} to {max(means):.4g} {plot.unit}".rstrip()
    xs, found = [mark.x for mark in series.marks], [mark.y for mark in series.marks]
    how, tokens = look_of(plot, series.number), (str(series.number),)
    if any(mark.spread is not None for mark in series.marks):
        low, high = zip(*(mark.spread or (np.nan, np.nan) for mark in series.marks), strict=True)
        filled = axis.fill_between(xs, low, high, color=how.colour, alpha=0.22, linewidth=0)
        notes.part(filled, series=tokens)
    band(notes, axis, xs, found, how, f"{name}: {said}" if name else said, series=tokens)


def _name_ends(notes: Notes, axis: Any, series: Series, tokens: Sequence[str]) -> None:  # noqa: ANN401 - an Axes
    """Names the ends of a path, which its axis does not tell."""
    shown = [mark for mark in series.marks if mark.y is not None and np.isfinite(mark.x)]
    for mark in shown[:: max(1, len(shown) - 1)]:
        place = (mark.x, mark.y.mean if mark.y is not None else 0.0)
        words = axis.annotate(mark.label, place, xytext=(4, 5), textcoords="offset points", fontsize=8)
        notes.part(words, series=tokens)


def _printed(notes: Notes, axis: Any, plot: StudyPlot, panel: PlotPanel) -> None:  # noqa: ANN401 - an Axes
    """Draws the paper's numbers, in a series' colour, or once for series that the paper does not separate."""
    owners: dict[tuple[str, float], list[tuple[float, Series]]] = {}
    for series in panel.series:
        for mark in series.marks:
            for value in mark.printed:
                place = mark.x + _shift(plot, panel, series)
                owners.setdefault((mark.label, value), []).append((place, series))
    for (label, value), places in owners.items():
        is_own = len(places) == 1
        series = places[0][1]
        # On a bar of the same colour the mark would be invisible.
        in_colour = is_own and len(panel.series) > 1 and not _has_bars(plot)
        colour = look_of(plot, series.number).colour if in_colour else ink()
        tokens = (str(series.number), "printed") if is_own else ("printed",)
        x = sum(place for place, _ in places) / len(places)
        (diamond,) = axis.plot(
            [x], [value], "D", color=colour, markerfacecolor="none", markersize=6.5, markeredgewidth=1.4, zorder=4
        )
        whose = f"{plot.names[series.number]}, " if is_own and plot.names[series.number] else ""
        at = f"{plot.x_label} {label}: " if label else ""
        notes.part(diamond, f"{whose}{at}paper {value:g} {plot.unit}".rstrip(), tokens)


def _possible(notes: Notes, axis: Any, plot: StudyPlot, panel: PlotPanel) -> None:  # noqa: ANN401 - an Axes
    drawn: list[list[tuple[float, float]]] = []
    for series in panel.series:
        bound = [(mark.x, mark.possible) for mark in series.marks if mark.possible is not None]
        if not bound or bound in drawn:
            continue
        drawn.append(bound)
        xs, ys = [x for x, _ in bound], [y for _, y in bound]
        if plot.shape == "bars" or len(bound) == 1:
            xs, ys = [xs[0] - 0.45, *xs, xs[-1] + 0.45], [ys[0], *ys, ys[-1]]
        (line,) = axis.plot(xs, ys, color=ink(), linestyle=_DASHED, linewidth=0.9, zorder=1.5)
        said = f"{min(ys):.4g}" if max(ys) - min(ys) < 1e-9 * max(ys) else f"{min(ys):.4g} to {max(ys):.4g}"
        notes.part(line, f"most that the channel can carry: {said} {plot.unit}".rstrip(), ("possible",))


def _limits(axis: Any, plot: StudyPlot) -> None:  # noqa: ANN401 - an Axes
    """Sets equal limits for all panels, from zero unless points are far above or the axis is logarithmic."""
    low, high = _range(plot)
    least = min(_values(plot), default=0.0)
    if plot.chart.log_y:
        if high > 0:
            axis.set_ylim((low if low > 0 else high / 1e3) / 1.3, high * 1.3)
    elif least >= 0 and (plot.shape in {"bars", "bands"} or least < 0.5 * high):
        axis.set_ylim(0, 1.07 * high if high > 0 else 1.0)
    else:
        room = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
        axis.set_ylim(low - room, high + room)


def is_cut(plot: StudyPlot) -> bool:
    """Whether the axis cuts an interval, since wide intervals of few seeds would leave no room for values."""
    low, high = _range(plot)
    found = [reach(mark) for mark in plot.marks if mark.y is not None]
    return any(end > high or (end_low < low and not plot.chart.log_y) for end_low, end in found)


def _range(plot: StudyPlot) -> tuple[float, float]:
    """Returns the range of the axis: all values, and their intervals as far as values stay visible."""
    values = _values(plot)
    if not values:
        return 0.0, 0.0
    found = [reach(mark) for mark in plot.marks if mark.y is not None]
    low, high = min(values), max(values)
    room = _MOST_OF_INTERVALS * max(high - low, max(abs(high), abs(low)) / 2)
    wanted_low = min([low, *(end for end, _ in found)])
    wanted_high = max([high, *(end for _, end in found)])
    if plot.chart.log_y:
        positive = [value for value in values if value > 0]
        return (wanted_low if wanted_low > 0 else min(positive, default=0.0)), min(wanted_high, high + 9 * abs(high))
    return max(wanted_low, low - room), min(wanted_high, high + room)


def reach(mark: Mark) -> tuple[float, float]:
    """Returns the ends of a mark's interval, or those of the spread over seeds and the run itself."""
    if mark.y is None or mark.spread is None:
        return (np.nan, np.nan) if mark.y is None else ends(mark.y)
    return min(mark.spread[0], mark.y.mean), max(mark.spread[1], mark.y.mean)


def _values(plot: StudyPlot) -> list[float]:
    """Returns everything with a height: means, the paper's numbers, bounds."""
    means = [mark.y.mean for mark in plot.marks if mark.y is not None]
    printed = [value for mark in plot.marks for value in mark.printed]
    return [*means, *printed, *(mark.possible for mark in plot.marks if mark.possible is not None)]


def _ticks(axis: Any, plot: StudyPlot, width: float) -> None:  # noqa: ANN401 - an Axes
    if plot.categories:
        names, how, _ = tick_names(plot.categories, width)
        axis.set_xticks(range(len(names)), names, **how)
        axis.set_xlim(-0.6, len(names) - 0.4)
        return
    axis.margins(x=0.01 if plot.shape == "bands" else 0.06)
    if 0 < len(plot.ticks) <= _MOST_TICKS:
        # Points without values register the ticks without extending the axis.
        axis.plot(plot.ticks, [np.nan] * len(plot.ticks), linestyle="none")
        shown = spaced_ticks(plot.ticks, width, is_log=plot.chart.log_x)
        axis.set_xticks(shown, [f"{tick:g}" for tick in shown])


def _shift(plot: StudyPlot, panel: PlotPanel, series: Series) -> float:
    """Returns the offset of a series on an axis of names, so that no interval hides another."""
    if not plot.categories:
        return 0.0
    middle = (len(panel.series) - 1) / 2
    step = _bar_width(panel) if plot.shape == "bars" else min(0.12, 0.5 / len(panel.series))
    return (panel.series.index(series) - middle) * step


def _bar_width(panel: PlotPanel) -> float:
    return 0.8 / max(len(panel.series), 1)


def _words(plot: StudyPlot, series: Series, mark: Mark) -> str:
    """Returns the tooltip of a point."""
    if mark.y is None:
        return ""
    along = "" if plot.chart.x_metric is not None or not mark.label else f"{plot.x_label} {mark.label}"
    if plot.chart.x_metric is not None:
        along = mark.label
    place = ", ".join(part for part in (plot.names[series.number], along) if part)
    said = estimate_words(mark.y, plot.unit)
    if mark.across is not None:
        said += f"; {plot.x_label} {estimate_words(mark.across, plot.x_unit)}"
    return f"{place}: {said}" if place else said
