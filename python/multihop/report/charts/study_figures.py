"""Figures of a study, drawn: in the page with switches, numbers and a file, and as a file."""

from __future__ import annotations

import base64
import gzip
import re
from dataclasses import dataclass

from multihop.base.errors import UserError
from multihop.experiments.studies import StudyResult
from multihop.report.charts.figures import Figure
from multihop.report.charts.files import Paper, drawn
from multihop.report.charts.html import html
from multihop.report.charts.study_data import charts_of, plot
from multihop.report.charts.study_drawing import figure, file_width, is_cut
from multihop.report.charts.study_plots import Mark, PlotPanel, StudyPlot
from multihop.report.markup import disclosure, escape, table
from multihop.report.svg import paper_style, style
from multihop.results.columns import Metric
from multihop.results.words import with_interval

_MOST_ROWS = 300

_FONT_PT = 10.0

_CUT = "Some intervals reach beyond the axis; the numbers below have all of them."


@dataclass(frozen=True)
class StudyFigure:
    """Figure of a study.

    Attributes:
        name: name of its file, without suffix; unique in the study.
        html: `<figure>` of the page.
        svg: content of the file.
    """

    name: str
    html: str
    svg: str


def figures(result: StudyResult, prefix: str) -> list[StudyFigure]:
    """Returns the study's figures, drawn. Ids in the page begin with `prefix`."""
    made: list[StudyFigure] = []
    for number, chart in enumerate(charts_of(result)):
        content = plot(result, chart, f"{prefix}c{number}")
        name = _file_name(chart.title, {figure.name for figure in made})
        shown = figure(content, name, "\n\n".join(filter(None, (chart.note, _CUT if is_cut(content) else ""))))
        with paper_style(_FONT_PT):
            file = drawn(shown, Paper("svg", file_width(shown), _FONT_PT)).decode()
        packed = base64.b64encode(gzip.compress(file.encode(), 9, mtime=0)).decode()
        download = f'download="{escape(name)}.svg" data-file="{packed}"'
        link = f'<a class="file" role="button" hidden {download}>SVG</a>'
        with style():
            page = html(shown, below=disclosure("numbers", _numbers(content)) + link)
        made.append(StudyFigure(name, page, file))
    return made


def chosen(result: StudyResult, chart: str | int) -> Figure:
    """Returns the figure of a chart at the width of paper; `chart` is its title, or its place from 0.

    Raises:
        UserError: if there is no such chart.
    """
    charts = charts_of(result)
    titles = [each.title for each in charts]
    place = titles.index(chart) if chart in titles else chart
    if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(charts):
        raise UserError(f"chart: found {chart!r}; needs a place from 0, or one of {'; '.join(titles)}")
    paper = Paper()
    return figure(plot(result, charts[place], "p"), "chart", least=paper.width * _FONT_PT / paper.font)


def _numbers(plot: StudyPlot) -> str:
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
    if plot.seed is not None:
        words = f"{plot.y_label}, {plot.band or f'one run, seed {plot.seed}'}."
    if plot.chart.x_metric is not None:
        words += f" At: {plot.x_label}."
    if every > 1:
        words += f" One row in {every}; the tables of the study have all."
    return f'<p class="note">{escape(words)}</p>{table(heads, rows, "tall", 2 if with_panels else 1)}'


def _places(panel: PlotPanel) -> list[str]:
    """Returns the labels along the axis, from left to right."""
    marks = [(mark.x, mark.label) for series in panel.series for mark in series.marks]
    return list(dict.fromkeys(label for _, label in sorted(marks)))


def _cell(mark: Mark | None, metric: Metric) -> str:
    if mark is None:
        return ""
    text = with_interval(mark.y, metric)
    if mark.across is not None:
        text += f" at {with_interval(mark.across, metric)}"
    extra = ["{:.4g} to {:.4g}".format(*mark.spread)] if mark.spread is not None else []
    extra += [f"paper {value:g}" for value in mark.printed]
    extra += [f"channel at most {mark.possible:.4g}"] if mark.possible is not None else []
    return f"{text} ({', '.join(extra)})" if extra else text


def _file_name(title: str, taken: set[str]) -> str:
    """Returns a unique file name from the title's letters."""
    base = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60].strip("-") or "chart"
    name, number = base, 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    return name
