"""Chart of a study before it is drawn: panels of series of estimates, in the unit of their axis."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from multihop.experiments.metrics import matching
from multihop.experiments.specs import Chart, Label, StudySpec, is_number
from multihop.experiments.studies import StudyResult
from multihop.experiments.units import shown_unit
from multihop.results.columns import COORDINATE, TABLES, Metric
from multihop.results.statistics import Estimate, estimate_or_none

_MOST_NAMED_FLOWS = 20
_DEFAULT_METRICS = ("goodput_total_bps", "jain", "delay_p95_s")


@dataclass(frozen=True)
class Mark:
    """Estimate of a series.

    Attributes:
        x: place on the axis; for categories their number.
        label: label of the place.
        y: estimate; `None` if no run has a value.
        across: estimate along an axis that is a metric.
        printed: the paper's numbers here.
        possible: upper bound of the channel here.
    """

    x: float
    label: str
    y: Estimate | None
    across: Estimate | None = None
    printed: tuple[float, ...] = ()
    possible: float | None = None


@dataclass(frozen=True)
class Series:
    """Line, or bars of one colour; `number` is the index of its name in the plot's `names`."""

    number: int
    marks: list[Mark]


@dataclass(frozen=True)
class PlotPanel:
    """Pair of axes; `shaded` is a span of the x axis that results leave out."""

    title: str
    series: list[Series]
    shaded: float = 0.0


@dataclass(frozen=True)
class StudyPlot:
    """Content of a chart.

    Attributes:
        key: key, unique in the page.
        chart: chart of the study.
        shape: kind of drawing.
        names: names of all series of all panels.
        named_by: title of the factor that distinguishes series.
        panels: panels of the chart.
        x_label, y_label: labels with units.
        unit: unit of the y axis.
        x_unit: unit of the x axis.
        categories: labels of the places on the x axis; empty if it is numeric.
        ticks: numbers to mark on a numeric axis; empty for any.
    """

    key: str
    chart: Chart
    shape: str
    names: list[str]
    named_by: str
    panels: list[PlotPanel]
    x_label: str
    y_label: str
    unit: str
    x_unit: str = ""
    categories: list[str] = field(default_factory=list)
    ticks: list[float] = field(default_factory=list)

    @property
    def marks(self) -> Iterator[Mark]:
        """Marks of all panels."""
        return (mark for panel in self.panels for series in panel.series for mark in series.marks)

    @property
    def has_printed(self) -> bool:
        """Whether the paper has numbers for the plot."""
        return any(mark.printed for mark in self.marks)

    @property
    def has_possible(self) -> bool:
        """Whether the channel's upper bound is known."""
        return any(mark.possible is not None for mark in self.marks)


def charts_of(result: StudyResult) -> list[Chart]:
    """Returns the charts of the study; without any, one for each metric."""
    spec = result.study.spec
    if spec.charts:
        return spec.charts
    names = result.metric_names
    if not spec.metrics and spec.model is None:
        names = list(_DEFAULT_METRICS)
    by = result.study.compared
    free = [f for f, factor in spec.factors.items() if len(factor.names) > 1 and f != by]
    x = next((f for f in free if all(is_number(name) for name in spec.factors[f].names)), None)
    kind = "lines" if x is not None else "bars"
    x = x or next(iter(free), None)
    panels = next((f for f in free if f != x), None)
    keys = {"kind": kind, "x": x, "panels": panels}
    return [Chart.model_validate({**keys, "metric": name, "title": result.metric(name).title}) for name in names]


def plot(result: StudyResult, chart: Chart, key: str) -> StudyPlot:
    """Returns the content of a chart."""
    match chart.kind:
        case "lines" | "bars":
            return _of_metric(result, chart, key)
        case "flows":
            return _of_flows(result, chart, key)
        case "time":
            return _over_time(result, chart, key)


@dataclass(frozen=True)
class _Layout:
    """Assignment of points to panels and series.

    Attributes:
        names: names of series.
        named_by: title of the factor that distinguishes them.
        panels: title of each panel, and the points of each series by its number.
    """

    names: list[str]
    named_by: str
    panels: list[tuple[str, dict[int, list[int]]]]


def _layout(result: StudyResult, chart: Chart, x: str | None) -> _Layout:
    """Assigns each point its own place: factors shown nowhere else make series, and nothing is averaged."""
    spec = result.study.spec
    chosen = result.select(chart.at)
    labels = {index: result.points[index].labels for index in chosen}
    by = chart.by
    compared = result.study.compared
    if by is None and compared in spec.factors and compared not in (x, chart.panels):
        by = compared if len({labels[index][compared] for index in chosen}) > 1 else None
    placed = [name for name in dict.fromkeys((x, chart.panels, by)) if name is not None]
    others: list[str] = []
    for name in spec.factors:
        if name not in placed and not _follows(labels.values(), name, [*placed, *others]):
            others.append(name)
    numbers: dict[tuple[Label, ...], int] = {}
    panels: dict[Label | None, dict[int, list[int]]] = {}
    for index in chosen:
        apart = tuple(labels[index][name] for name in ([by] if by is not None else []) + others)
        number = numbers.setdefault(apart, len(numbers))
        panel = labels[index][chart.panels] if chart.panels is not None else None
        panels.setdefault(panel, {}).setdefault(number, []).append(index)
    names = []
    for apart in numbers:
        own = [text(apart[0])] if by is not None else []
        named = zip(others, apart[len(own) :], strict=True)
        names.append(", ".join([*own, *(_named(spec, name, label) for name, label in named)]))
    titled = [
        ("" if label is None or chart.panels is None else _named(spec, chart.panels, label), series)
        for label, series in panels.items()
    ]
    return _Layout(names, title_of(spec, by) if by is not None else "", titled or [("", {})])


def _follows(labels: Any, name: str, others: Sequence[str]) -> bool:  # noqa: ANN401 - a view of mappings
    """Whether a factor's value follows from others, as of factors that advance together."""
    known: dict[tuple[Label, ...], Label] = {}
    return all(known.setdefault(tuple(at[other] for other in others), at[name]) == at[name] for at in labels)


def _of_metric(result: StudyResult, chart: Chart, key: str) -> StudyPlot:
    spec = result.study.spec
    metric = result.metric(chart.metric or "")
    across = result.metric(chart.x_metric) if chart.x_metric is not None else None
    layout = _layout(result, chart, chart.x)
    labels = _labels_along(result, chart)
    numeric = chart.kind == "lines" and all(is_number(label) for label in labels)
    printed, possible = _references(result, metric)

    def mark(index: int) -> Mark:
        label = result.points[index].labels[chart.x] if chart.x is not None else ""
        place = float(label) if numeric and is_number(label) else float(labels.index(label))
        found = _scaled(result.estimate(index, metric.name), metric)
        made = Mark(place, text(label), found, None, printed.get(index, ()), possible.get(index))
        if across is None:
            return made
        # The paper's numbers have the paper's places, which are unknown on a measured axis.
        other = _scaled(result.estimate(index, across.name), across)
        return replace(made, x=np.nan if other is None else other.mean, across=other, printed=(), possible=None)

    def order(index: int) -> float:
        label = result.points[index].labels[chart.x] if chart.x is not None else ""
        is_sorted = numeric and across is None and is_number(label)
        return float(label) if is_sorted else float(labels.index(label))

    panels = [
        PlotPanel(title, [Series(n, [mark(i) for i in sorted(points, key=order)]) for n, points in series.items()])
        for title, series in layout.panels
    ]
    return StudyPlot(
        key,
        chart,
        "bars" if chart.kind == "bars" else "lines",
        layout.names,
        layout.named_by,
        panels,
        across.heading if across is not None else title_of(spec, chart.x) if chart.x is not None else "",
        metric.heading,
        metric.unit,
        across.unit if across is not None else "",
        [] if numeric or across is not None else [text(label) for label in labels],
        [float(label) for label in labels if is_number(label)] if numeric and across is None else [],
    )


def _labels_along(result: StudyResult, chart: Chart) -> list[Label]:
    """Returns the existing values of the factor along the axis, in the factor's order."""
    if chart.x is None:
        return [""]
    there = [result.points[index].labels[chart.x] for index in result.select(chart.at)]
    return [label for label in result.study.spec.factors[chart.x].names if label in there]


def _references(result: StudyResult, metric: Metric) -> tuple[dict[int, tuple[float, ...]], dict[int, float]]:
    """Returns the paper's numbers, and upper bounds of the channel, by point."""
    printed: dict[int, tuple[float, ...]] = {}
    possible: dict[int, float] = {}
    for judgement in result.judgements:
        if judgement.claim.metric != metric.name:
            continue
        for cell in judgement.cells:
            if cell.point is None:
                continue
            if cell.printed is not None and cell.printed not in printed.get(cell.point, ()):
                printed[cell.point] = (*printed.get(cell.point, ()), cell.printed)
            if cell.possible is not None:
                possible[cell.point] = cell.possible
    return printed, possible


def _of_flows(result: StudyResult, chart: Chart, key: str) -> StudyPlot:
    """Returns bars by flow; of many flows, estimates of the least value, the second least, and so on."""
    table, column, unit, scale = _column(chart)
    layout = _layout(result, chart, None)
    values = {index: _flow_values(result, chart, index, table, column) * scale for index in result.select(chart.at)}
    flows = list(dict.fromkeys(str(name) for made in values.values() for name in made.index))
    many = len(flows) > _MOST_NAMED_FLOWS

    def marks(points: Sequence[int]) -> list[Mark]:
        made = values[points[0]]
        rows = np.sort(made.to_numpy(dtype=float), axis=0) if many else made.to_numpy(dtype=float)
        found = _estimates(rows, unit)
        if many:
            return [Mark(rank + 1.0, str(rank + 1), each) for rank, each in enumerate(found)]
        return [Mark(float(flows.index(str(n))), str(n), each) for n, each in zip(made.index, found, strict=True)]

    panels = [
        PlotPanel(title, [Series(number, marks(points)) for number, points in series.items()])
        for title, series in layout.panels
    ]
    shape, x_label = ("lines", "flows, from the least to the most") if many else ("bars", "flow")
    y_label, categories = _label(column, unit), [] if many else flows
    return StudyPlot(
        key, chart, shape, layout.names, layout.named_by, panels, x_label, y_label, unit, categories=categories
    )


def _flow_values(result: StudyResult, chart: Chart, index: int, table: str, column: str) -> pd.DataFrame:
    """Returns a row per flow and a column per seed."""
    rows = result.point_table(index, table)
    if rows.empty:
        return pd.DataFrame()
    rows = rows[matching(rows, chart.where)]
    made = rows.groupby(["name", "seed"], sort=False)[column].mean()
    return made.unstack("seed")  # noqa: PD010 - the index is unique by construction


def _over_time(result: StudyResult, chart: Chart, key: str) -> StudyPlot:
    table, column, unit, scale = _column(chart)
    layout = _layout(result, chart, None)
    lines = {index: _lines(result, chart, index, table, column) for index in result.select(chart.at)}
    # Names contain only what distinguishes the lines of one point.
    varying = [place for place in (0, 1) if any(len({line[place] for line in found}) > 1 for found in lines.values())]
    numbers: dict[tuple[int, str], int] = {}
    panels = []
    for title, groups in layout.panels:
        series = []
        for group, points in groups.items():
            for line, rows in (lines[points[0]] or {("", ""): pd.DataFrame()}).items():
                words = " at ".join(line[place] for place in varying)
                found = _estimates((rows * scale).to_numpy(dtype=float), unit)
                marks = [Mark(float(t), f"{t:g} s", each) for t, each in zip(rows.index, found, strict=True)]
                series.append(Series(numbers.setdefault((group, words), len(numbers)), marks))
        warmup = max((result.study.plan.views[i]["warmup"] for points in groups.values() for i in points), default=0.0)
        panels.append(PlotPanel(title, series, warmup))
    names = [", ".join(part for part in (layout.names[group], words) if part) for group, words in numbers]
    y_label = _label(column, unit)
    return StudyPlot(key, chart, "bands", names, layout.named_by, panels, "time [s]", y_label, unit, x_unit="s")


def _lines(
    result: StudyResult, chart: Chart, index: int, table: str, column: str
) -> dict[tuple[str, str], pd.DataFrame]:
    """Returns a row per time and a column per seed, by estimator and node.

    Flows are averaged to one line. Estimators are not, since their quantities differ.
    """
    rows = result.point_table(index, table)
    if rows.empty:
        return {}
    rows = rows[matching(rows, chart.where)].dropna(subset=[column])
    apart = [rows["estimator"], rows["name"]] if table == "measurements" else [rows["name"] * 0] * 2
    return {
        (str(estimator), str(name)): part.groupby(["time_s", "seed"])[column].mean().unstack("seed")  # noqa: PD010 - as above
        for (estimator, name), part in rows.groupby(apart, sort=False)
    }


def _label(column: str, unit: str) -> str:
    """Returns the label of an axis for a column, with the unit."""
    name = re.sub(r"_(bps|s|m|bytes)$", "", column).replace("_", " ")
    return f"{name} [{unit}]" if unit else name


def _column(chart: Chart) -> tuple[str, str, str, float]:
    """Returns table, column, unit and factor of the chart's column."""
    table, _, column = (chart.column or "").partition(".")
    unit, scale = shown_unit(TABLES[table][column].unit, chart.unit, "unit")
    return table, column, unit, scale


def _scaled(found: Estimate | None, metric: Metric) -> Estimate | None:
    if found is None:
        return None
    low, high = (None if end is None else metric.shown(end) for end in (found.low, found.high))
    return Estimate(metric.shown(found.mean), low, high, found.n)


def _estimates(rows: np.ndarray, unit: str) -> list[Estimate | None]:
    """Returns an estimate for each row of values of a column."""
    least = -np.inf if unit == COORDINATE else 0.0
    found = map(estimate_or_none, rows)
    return [None if each is None else each.within(least) for each in found]


def title_of(spec: StudySpec, factor: str) -> str:
    """Returns the title of a factor for axes and tables."""
    return spec.factors[factor].title or factor.replace("_", " ")


def text(label: Label) -> str:
    """Returns a label as text."""
    if isinstance(label, bool):
        return "yes" if label else "no"
    return f"{label:g}" if isinstance(label, float) else str(label)


def point_words(spec: StudySpec, labels: Mapping[str, Label]) -> str:
    """Returns the varying factors of a point as text."""
    varying = [name for name, factor in spec.factors.items() if len(factor.names) > 1 and name in labels]
    return ", ".join(_named(spec, name, labels[name]) for name in varying)


def _named(spec: StudySpec, factor: str, label: Label) -> str:
    """Returns a label that stands alone: a number with the name of its factor."""
    speaks = isinstance(label, str) and not label.replace(".", "").isdigit()
    return text(label) if speaks else f"{title_of(spec, factor)} {text(label)}"
