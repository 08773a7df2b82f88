"""Drawing of plots: a figure per panel for the page, and one of all panels for a file."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from multihop.report.markup import estimate_words
from multihop.report.study.plots import Mark, Panel, Plot, Series
from multihop.report.svg import FAINT, INK, PAGE_WIDTH, PALETTE, Chart, sides
from multihop.results.statistics import Estimate

#: Names of extra entries of a legend, by the keys with which the page's script toggles them.
EXTRAS = {"printed": "number of a claim", "possible": "most that the channel can carry"}

_MARKERS = "os^vPX"
_DASHES = ("-", "--", ":")
_FADES = (1.0, 0.6, 0.35)

_MOST_MARKERS = 15
_MOST_TICKS = 12
_MOST_OF_INTERVALS = 1.2
_LETTERS_PER_INCH = 11.5


@dataclass(frozen=True)
class Look:
    """Look of a series beyond colour: markers and dashes of lines, strength of bars."""

    colour: str
    marker: str
    dash: str
    fade: float


def look(number: int) -> Look:
    """Returns the look of the series of that number."""
    turn = number // len(PALETTE)
    return Look(
        PALETTE[number % len(PALETTE)],
        _MARKERS[number % len(_MARKERS)],
        _DASHES[turn % len(_DASHES)],
        _FADES[turn % len(_FADES)],
    )


def columns(plot: Plot) -> int:
    """Returns the number of panels side by side on a wide page."""
    return {1: 1, 2: 2, 4: 2}.get(len(plot.panels), 3)


def size(plot: Plot) -> tuple[float, float]:
    """Returns width and height of a panel in inches."""
    if columns(plot) == 1 and not is_narrow(plot):
        return 8.0, 3.3
    return (5.4, 3.1) if columns(plot) < 3 else (PAGE_WIDTH / 3, 2.75)


def is_narrow(plot: Plot) -> bool:
    """Whether two such charts fit side by side on a wide page."""
    return len(plot.panels) == 1 and plot.shape != "bands" and len(plot.categories) <= 8


def panel_charts(plot: Plot) -> list[Chart]:
    """Returns one chart per panel, with equal axes; the page has the legend."""
    made = []
    for number, panel in enumerate(plot.panels):
        label = f"{plot.chart.title}{': ' if panel.title else ''}{panel.title}"
        chart = Chart(f"{plot.key}p{number}", label, *size(plot))
        axis = chart.figure.subplots()
        _draw(chart, axis, plot, panel, size(plot)[0], is_left=True)
        _note(chart, axis, plot, panel)
        made.append(chart)
    return made


def _note(chart: Chart, axis: Any, plot: Plot, panel: Panel) -> None:  # noqa: ANN401 - an Axes
    """Adds the numbers of a panel for the page."""
    is_numeric = not plot.categories and plot.chart.x_metric is None
    noted = chart.panel(
        axis, plot.x_label, plot.y_label, panel.title, cursor=is_numeric, zooms=is_numeric and plot.shape == "bands"
    )
    for series in panel.series:
        line = noted.line(plot.names[series.number] or plot.y_label, look(series.number).colour)
        for mark in series.marks:
            if mark.y is not None:
                line.add(mark.x if is_numeric else mark.label, mark.y.mean, mark.y.low, mark.y.high)


def whole_chart(plot: Plot) -> Chart:
    """Returns all panels and the legend in one figure."""
    across = columns(plot)
    down = math.ceil(len(plot.panels) / across)
    width, height = size(plot)
    entries = _legend(plot)
    per_row = max(1, int(across * width * _LETTERS_PER_INCH / (max((len(n) for _, n in entries), default=1) + 8)))
    legend_height = 0.25 * (math.ceil(len(entries) / per_row) + bool(plot.named_by and entries))
    chart = Chart(plot.key, plot.chart.title, across * width, down * height + legend_height)
    axes = chart.figure.subplots(down, across, squeeze=False)
    for number, axis in enumerate(axes.flat):
        if number < len(plot.panels):
            _draw(chart, axis, plot, plot.panels[number], width, is_left=number % across == 0)
        else:
            axis.set_axis_off()
    if entries:
        # Matplotlib omits names that begin with an underscore.
        names = [f"\u200a{name}" if name.startswith("_") else name for _, name in entries]
        handles = [handle for handle, _ in entries]
        title = plot.named_by or None
        chart.figure.legend(handles, names, title=title, loc="outside upper left", ncols=per_row, alignment="left")
    return chart


def has_bars(plot: Plot) -> bool:
    """Whether values are bars. On a logarithmic axis they are points, since bars have no base there."""
    return plot.shape == "bars" and not plot.chart.log_y


def shows_legend(plot: Plot) -> bool:
    """Whether the plot needs a legend."""
    return len(plot.names) > 1 or plot.has_printed or plot.has_possible


def _legend(plot: Plot) -> list[tuple[Any, str]]:
    if not shows_legend(plot):
        return []
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    entries: list[tuple[Any, str]] = []
    for number, name in enumerate(plot.names):
        how = look(number)
        if has_bars(plot):
            entries.append((Patch(color=how.colour, alpha=how.fade), name or plot.y_label))
        else:
            marker = how.marker if plot.shape != "bands" else None
            dash = how.dash if plot.shape != "bars" else "none"
            entries.append((Line2D([], [], color=how.colour, linestyle=dash, marker=marker), name or plot.y_label))
    if plot.has_printed:
        diamond = Line2D([], [], linestyle="none", marker="D", markerfacecolor="none", color=INK)
        entries.append((diamond, EXTRAS["printed"]))
    if plot.has_possible:
        entries.append((Line2D([], [], color=INK, linestyle=(0, (4, 3)), linewidth=0.9), EXTRAS["possible"]))
    return entries


def _draw(chart: Chart, axis: Any, plot: Plot, panel: Panel, width: float, *, is_left: bool) -> None:  # noqa: ANN401
    axis.set_title(textwrap.fill(panel.title, int(width * _LETTERS_PER_INCH)))
    axis.set_xlabel(plot.x_label)
    if is_left:
        axis.set_ylabel(textwrap.fill(plot.y_label, 34))
    for direction, is_log in (("x", plot.chart.log_x), ("y", plot.chart.log_y)):
        if is_log:
            _make_log(axis, direction)
    for series in panel.series:
        if has_bars(plot):
            _bars(chart, axis, plot, panel, series)
        elif plot.shape == "bands" or len(series.marks) > _MOST_MARKERS:
            _band(chart, axis, plot, panel, series)
        else:
            _line(chart, axis, plot, panel, series)
    _printed(chart, axis, plot, panel)
    _possible(chart, axis, plot, panel)
    _limits(axis, plot)
    _ticks(axis, plot, width)
    if panel.shaded > 0:
        span = axis.axvspan(0, panel.shaded, color=FAINT, alpha=0.35, linewidth=0)
        chart.tip(span, "warm-up, not in the results")
    if not any(mark.y is not None for series in panel.series for mark in series.marks):
        axis.text(0.5, 0.5, "no run has a value", transform=axis.transAxes, ha="center")


def _line(chart: Chart, axis: Any, plot: Plot, panel: Panel, series: Series) -> None:  # noqa: ANN401 - an Axes
    """Draws points with error bars, joined unless x values are names."""
    how, tokens = look(series.number), (str(series.number),)
    xs = [mark.x + _shift(plot, panel, series) for mark in series.marks]
    ys = [np.nan if mark.y is None else mark.y.mean for mark in series.marks]
    if plot.shape != "bars":
        (line,) = axis.plot(xs, ys, color=how.colour, linestyle=how.dash, linewidth=1.6)
        chart.part(line, series=tokens)
    for x, mark in zip(xs, series.marks, strict=True):
        if mark.y is None or not np.isfinite(x):
            continue
        _whiskers(chart, axis, x, mark, how.colour, tokens)
        (dot,) = axis.plot([x], [mark.y.mean], how.marker, color=how.colour, markersize=5.5, markeredgewidth=0)
        chart.part(dot, _words(plot, series, mark), tokens)
    if plot.chart.x_metric is not None:
        _name_ends(chart, axis, series, tokens)


def _band(chart: Chart, axis: Any, plot: Plot, panel: Panel, series: Series) -> None:  # noqa: ANN401 - an Axes
    """Draws a line with its intervals as a band, for many points."""
    how, tokens = look(series.number), (str(series.number),)
    del panel
    xs = np.array([mark.x for mark in series.marks])
    ys = np.array([np.nan if mark.y is None else mark.y.mean for mark in series.marks])
    if not np.isfinite(ys).any():
        return
    ends = np.array([(np.nan, np.nan) if mark.y is None else _ends(mark.y) for mark in series.marks])
    band = axis.fill_between(xs, ends[:, 0], ends[:, 1], color=how.colour, alpha=0.18, linewidth=0)
    chart.part(band, series=tokens)
    (line,) = axis.plot(xs, ys, color=how.colour, linestyle=how.dash, linewidth=1.6)
    name = plot.names[series.number]
    least, most = f"{np.nanmin(ys):.4g}", f"{np.nanmax(ys):.4g}"
    said = f"from {least} to {most} {plot.unit}".rstrip()
    chart.part(line, f"{name}: {said}" if name else said, tokens)


def _bars(chart: Chart, axis: Any, plot: Plot, panel: Panel, series: Series) -> None:  # noqa: ANN401 - an Axes
    how, tokens = look(series.number), (str(series.number),)
    for mark in series.marks:
        if mark.y is None:
            continue
        x = mark.x + _shift(plot, panel, series)
        bar = axis.bar(x, mark.y.mean, 0.94 * _bar_width(panel), color=how.colour, alpha=how.fade)[0]
        chart.part(bar, _words(plot, series, mark), tokens)
        _whiskers(chart, axis, x, mark, INK, tokens)


def _whiskers(chart: Chart, axis: Any, x: float, mark: Mark, colour: str, tokens: Sequence[str]) -> None:  # noqa: ANN401
    if mark.y is None:
        return
    down, across = sides(mark.y), None if mark.across is None else sides(mark.across)
    if down is None and across is None:
        return
    made = axis.errorbar(
        x, mark.y.mean, down, across, fmt="none", ecolor=colour, elinewidth=1.1, capsize=2.5, zorder=2.5
    )
    for artist in (*made[1], *made[2]):
        chart.part(artist, series=tokens)


def _name_ends(chart: Chart, axis: Any, series: Series, tokens: Sequence[str]) -> None:  # noqa: ANN401 - an Axes
    """Names the ends of a path, which its axis does not tell."""
    shown = [mark for mark in series.marks if mark.y is not None and np.isfinite(mark.x)]
    for mark in shown[:: max(1, len(shown) - 1)]:
        place = (mark.x, mark.y.mean if mark.y is not None else 0.0)
        words = axis.annotate(mark.label, place, xytext=(4, 5), textcoords="offset points", fontsize=8)
        chart.part(words, series=tokens)


def _printed(chart: Chart, axis: Any, plot: Plot, panel: Panel) -> None:  # noqa: ANN401 - an Axes
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
        in_colour = is_own and len(panel.series) > 1 and not has_bars(plot)
        colour = look(series.number).colour if in_colour else INK
        tokens = (str(series.number), "printed") if is_own else ("printed",)
        x = sum(place for place, _ in places) / len(places)
        (diamond,) = axis.plot(
            [x], [value], "D", color=colour, markerfacecolor="none", markersize=6.5, markeredgewidth=1.4, zorder=4
        )
        whose = f"{plot.names[series.number]}, " if is_own and plot.names[series.number] else ""
        at = f"{plot.x_label} {label}: " if label else ""
        chart.part(diamond, f"{whose}{at}claimed {value:g} {plot.unit}".rstrip(), tokens)


def _possible(chart: Chart, axis: Any, plot: Plot, panel: Panel) -> None:  # noqa: ANN401 - an Axes
    drawn: list[list[tuple[float, float]]] = []
    for series in panel.series:
        bound = [(mark.x, mark.possible) for mark in series.marks if mark.possible is not None]
        if not bound or bound in drawn:
            continue
        drawn.append(bound)
        xs, ys = [x for x, _ in bound], [y for _, y in bound]
        if plot.shape == "bars" or len(bound) == 1:
            xs, ys = [xs[0] - 0.45, *xs, xs[-1] + 0.45], [ys[0], *ys, ys[-1]]
        (line,) = axis.plot(xs, ys, color=INK, linestyle=(0, (4, 3)), linewidth=0.9, zorder=1.5)
        said = f"{min(ys):.4g}" if max(ys) - min(ys) < 1e-9 * max(ys) else f"{min(ys):.4g} to {max(ys):.4g}"
        chart.part(line, f"most that the channel can carry: {said} {plot.unit}".rstrip(), ("possible",))


def _limits(axis: Any, plot: Plot) -> None:  # noqa: ANN401 - an Axes
    """Sets equal limits for all panels, from zero unless lines are far above or the axis is logarithmic."""
    low, high = _range(plot)
    least = min(_values(plot), default=0.0)
    if plot.chart.log_y:
        if high > 0:
            axis.set_ylim((low if low > 0 else high / 1e3) / 1.3, high * 1.3)
    elif least >= 0 and (plot.shape == "bars" or least < 0.5 * high):
        axis.set_ylim(0, 1.07 * high if high > 0 else 1.0)
    else:
        room = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
        axis.set_ylim(low - room, high + room)


def is_cut(plot: Plot) -> bool:
    """Whether the axis cuts an interval, since wide intervals of few seeds would leave no room for values."""
    low, high = _range(plot)
    found = [mark.y for mark in plot.marks if mark.y is not None]
    return any(end > high or (end_low < low and not plot.chart.log_y) for end_low, end in map(_ends, found))


def _ends(found: Estimate) -> tuple[float, float]:
    """Returns the ends of the interval; the mean twice without one."""
    return found.mean if found.low is None else found.low, found.mean if found.high is None else found.high


def _range(plot: Plot) -> tuple[float, float]:
    """Returns the range of the axis: all values, and their intervals as far as values stay visible."""
    values = _values(plot)
    if not values:
        return 0.0, 0.0
    ends = [_ends(mark.y) for mark in plot.marks if mark.y is not None]
    low, high = min(values), max(values)
    room = _MOST_OF_INTERVALS * max(high - low, max(abs(high), abs(low)) / 2)
    wanted_low = min([low, *(end for end, _ in ends)])
    wanted_high = max([high, *(end for _, end in ends)])
    if plot.chart.log_y:
        positive = [value for value in values if value > 0]
        return (wanted_low if wanted_low > 0 else min(positive, default=0.0)), min(wanted_high, high + 9 * abs(high))
    return max(wanted_low, low - room), min(wanted_high, high + room)


def _values(plot: Plot) -> list[float]:
    """Returns everything with a height: means, the paper's numbers, bounds."""
    means = [mark.y.mean for mark in plot.marks if mark.y is not None]
    printed = [value for mark in plot.marks for value in mark.printed]
    return [*means, *printed, *(mark.possible for mark in plot.marks if mark.possible is not None)]


def _make_log(axis: Any, direction: str) -> None:  # noqa: ANN401 - an Axes
    """Makes an axis logarithmic with plain numbers as ticks."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set(**{f"{direction}scale": "log"})
    along = getattr(axis, f"{direction}axis")
    along.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    along.set_major_formatter(lambda value, _: f"{value:g}")
    along.set_minor_locator(NullLocator())


def _ticks(axis: Any, plot: Plot, width: float) -> None:  # noqa: ANN401 - an Axes
    if plot.categories:
        names, how = _tick_names(plot.categories, width)
        axis.set_xticks(range(len(names)), names, **how)
        axis.set_xlim(-0.6, len(names) - 0.4)
        return
    axis.margins(x=0.01 if plot.shape == "bands" else 0.06)
    if 0 < len(plot.ticks) <= _MOST_TICKS:
        # Points without values register the ticks without extending the axis.
        axis.plot(plot.ticks, [np.nan] * len(plot.ticks), linestyle="none")
        axis.set_xticks(plot.ticks, [f"{tick:g}" for tick in plot.ticks])


def _tick_names(names: Sequence[str], width: float) -> tuple[list[str], dict[str, Any]]:
    """Returns names that fit below a panel: side by side, in several lines, or tilted and cut."""
    room = width * _LETTERS_PER_INCH
    apart = room / len(names)
    if all((len(one) + len(other)) / 2 + 2 <= apart for one, other in itertools.pairwise([*names, ""])):
        return list(names), {}
    each = int(room / len(names)) - 2
    if each >= 8 and all(len(word) <= each for name in names for word in name.split()):
        return [textwrap.fill(name, each) for name in names], {}
    cut = [name if len(name) <= 22 else f"{name[:21]}…" for name in names]
    return cut, {"rotation": 35 if len(names) <= 10 else 90, "ha": "right" if len(names) <= 10 else "center"}


def _shift(plot: Plot, panel: Panel, series: Series) -> float:
    """Returns the offset of a series on an axis of names, so that no interval hides another."""
    if not plot.categories:
        return 0.0
    middle = (len(panel.series) - 1) / 2
    step = _bar_width(panel) if plot.shape == "bars" else min(0.12, 0.5 / len(panel.series))
    return (panel.series.index(series) - middle) * step


def _bar_width(panel: Panel) -> float:
    return 0.8 / max(len(panel.series), 1)


def _words(plot: Plot, series: Series, mark: Mark) -> str:
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
