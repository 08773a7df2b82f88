"""Chart in the page: panels, a legend of switches, numbers, and a file."""

from __future__ import annotations

import base64
import gzip
import re
from dataclasses import dataclass

from multihop.claims.study import StudyResult
from multihop.report.markup import disclosure, escape, paragraphs, table
from multihop.report.study import drawing
from multihop.report.study.drawing import EXTRAS, Look, columns, look, size
from multihop.report.study.plots import Mark, Panel, Plot, charts_of, plot
from multihop.report.svg import style
from multihop.results.columns import Metric
from multihop.results.words import with_interval

_MOST_ROWS = 300
_POINTS_PER_INCH = 72
#: Share of its size below which text of charts does not shrink; narrower screens scroll.
_SMALLEST = 0.8

_CUT = "Some intervals reach beyond the axis; the numbers below have all of them."
_PIXELS_PER_POINT = 1.36

#: Shapes of markers in a box of 12 by 12, as in Matplotlib.
_SHAPES = {
    "o": '<circle cx="6" cy="6" r="4"/>',
    "s": '<rect x="2.3" y="2.3" width="7.4" height="7.4"/>',
    "^": '<path d="M6 1.8 10.2 10H1.8Z"/>',
    "v": '<path d="M6 10.2 10.2 2H1.8Z"/>',
    "P": '<path d="M4.5 1.8h3v2.7h2.7v3H7.5v2.7h-3V7.5H1.8v-3h2.7Z"/>',
    "X": '<path d="M3.7 1.6 6 3.9 8.3 1.6 10.4 3.7 8.1 6 10.4 8.3 8.3 10.4 6 8.1 3.7 10.4 1.6 8.3 3.9 6 1.6 3.7Z"/>',
}


@dataclass(frozen=True)
class Figure:
    """Chart of a study.

    Attributes:
        name: name of its file, without suffix; unique in the study.
        html: `<figure>` of the page.
        svg: content of the file.
    """

    name: str
    html: str
    svg: str


def figures(result: StudyResult, prefix: str) -> list[Figure]:
    """Returns the study's charts, drawn. Keys in the page begin with `prefix`."""
    made: list[Figure] = []
    taken: set[str] = set()
    for number, chart in enumerate(charts_of(result)):
        content = plot(result, chart, f"{prefix}c{number}")
        name = _file_name(chart.title, taken)
        taken.add(name)
        with style():
            panels = [panel.svg(_sizes(content)) for panel in drawing.panel_charts(content)]
            file = drawing.whole_chart(content).file()
        made.append(Figure(name, _figure(content, name, panels, file), file))
    return made


def _figure(plot: Plot, name: str, panels: list[str], file: str) -> str:
    least = int(size(plot)[0] * _POINTS_PER_INCH * _SMALLEST)
    grid = f' style="--least: {least}px; --columns: {columns(plot)}"' if columns(plot) > 1 else ""
    kind = "panels several" if columns(plot) > 1 else "panels"
    box = "chart-box half" if drawing.is_narrow(plot) else "chart-box"
    packed = base64.b64encode(gzip.compress(file.encode(), 9, mtime=0)).decode()
    note = paragraphs(plot.chart.note) + (f"<p>{_CUT}</p>" if drawing.is_cut(plot) else "")
    return (
        f'<figure class="{box}" id="{plot.key}"><figcaption><b>{escape(plot.chart.title)}</b>{note}</figcaption>'
        f"{_legend(plot)}"
        f'<div class="{kind}"{grid}>{"".join(f"<div>{panel}</div>" for panel in panels)}</div>'
        f'<div class="below">{disclosure("numbers", _numbers(plot))}'
        f'<a class="file" role="button" hidden download="{escape(name)}.svg" data-file="{packed}">SVG</a></div>'
        "</figure>"
    )


def _sizes(plot: Plot) -> str:
    width = size(plot)[0] * _POINTS_PER_INCH
    most = "100%" if columns(plot) > 1 or drawing.is_narrow(plot) else f"{_PIXELS_PER_POINT * width:.0f}px"
    return f"min-width: {_SMALLEST * width:.0f}px; max-width: {most}"


def _legend(plot: Plot) -> str:
    if not drawing.shows_legend(plot):
        return ""
    title = f"<span>{escape(plot.named_by)}</span>" if plot.named_by else ""
    entries = "".join(
        _entry(str(number), _swatch(plot, look(number)), name or plot.y_label) for number, name in enumerate(plot.names)
    )
    if plot.has_printed:
        diamond = '<path d="M13 1 18 6 13 11 8 6Z" fill="none" stroke="currentColor" stroke-width="1.4"/>'
        entries += _entry("printed", _picture(diamond), EXTRAS["printed"])
    if plot.has_possible:
        dashes = '<path d="M1 6H25" stroke="currentColor" stroke-width="1" stroke-dasharray="4 3"/>'
        entries += _entry("possible", _picture(dashes), EXTRAS["possible"])
    return f'<div class="legend" role="group" aria-label="Series of this chart">{title}{entries}</div>'


def _entry(series: str, swatch: str, name: str) -> str:
    """Returns a switch, which the script enables."""
    return f'<button type="button" aria-pressed="true" data-switch="{series}" disabled>{swatch}{escape(name)}</button>'


def _swatch(plot: Plot, how: Look) -> str:
    if drawing.has_bars(plot):
        return _picture(f'<rect x="7" width="12" height="12" rx="2" fill="{how.colour}" opacity="{how.fade}"/>')
    dash = {"-": "", "--": ' stroke-dasharray="6 3"', ":": ' stroke-dasharray="2 2"'}[how.dash]
    line = f'<path d="M1 6H25" stroke="{how.colour}" stroke-width="2"{dash}/>' if plot.shape != "bars" else ""
    if plot.shape != "bands":
        line += f'<g transform="translate(7)" fill="{how.colour}">{_SHAPES[how.marker]}</g>'
    return _picture(line)


def _picture(content: str) -> str:
    return f'<svg class="swatch" viewBox="0 0 26 12" width="26" height="12" aria-hidden="true">{content}</svg>'


def _numbers(plot: Plot) -> str:
    """Returns the table of a drawing: a row per panel and place, a column per series."""
    metric = Metric("", "", plot.unit, 1.0, higher_is_better=None)
    with_panels = any(panel.title for panel in plot.panels)
    rows: list[list[str]] = []
    every = 1
    for panel in plot.panels:
        places = _places(panel)
        every = max(every, -(-len(places) // _MOST_ROWS))
        found = {(series.number, mark.label): mark for series in panel.series for mark in series.marks}
        for label in places[::every]:
            cells = [_cell(found.get((number, label)), metric) for number in range(len(plot.names))]
            rows.append([*([panel.title] if with_panels else []), label, *cells])
    by = plot.chart.x or "x" if plot.chart.x_metric is not None else plot.x_label
    heads = [*(["panel"] if with_panels else []), by or "", *(name or plot.y_label for name in plot.names)]
    n = sorted({mark.y.n for mark in plot.marks if mark.y is not None})
    seeds = f"{n[0]} to {n[-1]} seeds" if len(n) > 1 else "one seed" if n == [1] else f"{n[0] if n else 0} seeds"
    words = f"{plot.y_label}: mean ± half of the 95 % interval (Student t), {seeds}."
    if n == [1]:
        words = f"{plot.y_label}, one value each, so no interval."
    if plot.chart.x_metric is not None:
        words += f" At: {plot.x_label}."
    if every > 1:
        words += f" One row in {every}; the tables of the study have all."
    return f'<p class="note">{escape(words)}</p>{table(heads, rows, "tall", 2 if with_panels else 1)}'


def _places(panel: Panel) -> list[str]:
    """Returns the labels along the axis, from left to right."""
    marks = [(mark.x, mark.label) for series in panel.series for mark in series.marks]
    return list(dict.fromkeys(label for _, label in sorted(marks)))


def _cell(mark: Mark | None, metric: Metric) -> str:
    if mark is None:
        return ""
    text = with_interval(mark.y, metric)
    if mark.across is not None:
        text += f" at {with_interval(mark.across, metric)}"
    extra = [f"claimed {value:g}" for value in mark.printed]
    extra += [f"channel at most {mark.possible:.4g}"] if mark.possible is not None else []
    return f"{text} ({', '.join(extra)})" if extra else text


def _file_name(title: str, taken: set[str]) -> str:
    """Returns a unique file name from the title's letters."""
    base = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60].strip("-") or "chart"
    name, number = base, 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    return name
