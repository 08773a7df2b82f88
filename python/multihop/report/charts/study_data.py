"""Content of the charts of a study. Columns by flow and over time are in `study_columns`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from multihop.experiments.specs import Chart, Curve, is_number
from multihop.experiments.studies import StudyResult
from multihop.report.charts.study_columns import of_flows, over_time
from multihop.report.charts.study_layout import curve_pairs, labels_along, layout_of, series_name, text, title_of
from multihop.report.charts.study_plots import Mark, PlotPanel, Series, StudyPlot
from multihop.results.columns import Metric
from multihop.results.statistics import Estimate

_DEFAULT_METRICS = ("goodput_total_bps", "jain", "delay_p95_s")


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
            return (
                _along_curves(result, chart, key)
                if chart.curves and chart.x is None
                else _of_metrics(result, chart, key)
            )
        case "flows":
            return of_flows(result, chart, key)
        case "time":
            return over_time(result, chart, key)


@dataclass(frozen=True)
class _Curve:
    """Metric of a curve, with the paper's numbers and upper bounds of the channel, by point."""

    label: str
    metric: Metric
    printed: Mapping[int, tuple[float, ...]]
    possible: Mapping[int, float]

    def mark(self, result: StudyResult, index: int, x: float, label: str) -> Mark:
        """Returns the metric's estimate at a point."""
        found = _scaled(result.estimate(index, self.metric.name), self.metric)
        return Mark(x, label, found, None, self.printed.get(index, ()), self.possible.get(index))


def _curves(result: StudyResult, chart: Chart) -> list[_Curve]:
    """Returns the chart's metrics; the only one has no label."""
    made = []
    for curve in chart.curves or [Curve.model_construct(label="", metric=chart.metric)]:
        metric = result.metric(curve.metric or "")
        made.append(_Curve(curve.label, metric, *_references(result, chart, curve.label, metric)))
    return made


def _of_metrics(result: StudyResult, chart: Chart, key: str) -> StudyPlot:
    """Returns the chart's metrics along a factor; several are series of their own."""
    curves = _curves(result, chart)
    across = result.metric(chart.x_metric) if chart.x_metric is not None else None
    layout = layout_of(result, chart, chart.x)
    labels = labels_along(result, chart)
    numeric = chart.kind == "lines" and all(is_number(label) for label in labels)

    def mark(curve: _Curve, index: int) -> Mark:
        label = result.points[index].labels[chart.x] if chart.x is not None else ""
        place = float(label) if numeric and is_number(label) else float(labels.index(label))
        made = curve.mark(result, index, place, text(label))
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
        PlotPanel(
            title,
            [
                Series(group * len(curves) + number, [mark(curve, index) for index in sorted(points, key=order)])
                for group, points in groups.items()
                for number, curve in enumerate(curves)
            ],
        )
        for title, groups in layout.panels
    ]
    x_label = title_of(result.study.spec, chart.x) if chart.x is not None else ""
    return StudyPlot(
        key,
        chart,
        "bars" if chart.kind == "bars" else "lines",
        [series_name(group, curve.label) for group in layout.names for curve in curves],
        layout.named_by,
        panels,
        across.heading if across is not None else x_label,
        _y_label(chart, curves),
        curves[0].metric.unit,
        across.unit if across is not None else "",
        [] if numeric or across is not None else [text(label) for label in labels],
        [float(label) for label in labels if is_number(label)] if numeric and across is None else [],
        curve_pairs(layout, len(curves)),
    )


def _along_curves(result: StudyResult, chart: Chart, key: str) -> StudyPlot:
    """Returns bars that are grouped by metric."""
    curves = _curves(result, chart)
    layout = layout_of(result, chart, None)

    def marks(points: Sequence[int]) -> list[Mark]:
        return [curve.mark(result, points[0], float(place), curve.label) for place, curve in enumerate(curves)]

    panels = [
        PlotPanel(title, [Series(group, marks(points)) for group, points in groups.items()])
        for title, groups in layout.panels
    ]
    y_label, names = _y_label(chart, curves), [curve.label for curve in curves]
    unit = curves[0].metric.unit
    return StudyPlot(key, chart, "bars", layout.names, layout.named_by, panels, "", y_label, unit, categories=names)


def _y_label(chart: Chart, curves: Sequence[_Curve]) -> str:
    """Returns the label of the y axis; the titles of several metrics are in the legend."""
    metric = curves[0].metric
    if chart.y_title is not None:
        return f"{chart.y_title} [{metric.unit}]" if metric.unit else chart.y_title
    return metric.unit if chart.curves else metric.heading


def _references(
    result: StudyResult, chart: Chart, curve: str, metric: Metric
) -> tuple[dict[int, tuple[float, ...]], dict[int, float]]:
    """Returns the paper's numbers of claims and chart, and upper bounds of the channel, by point."""
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
    for one in chart.printed:
        for index in result.select(one.at) if one.curve in (None, curve) else []:
            if one.value not in printed.get(index, ()):
                printed[index] = (*printed.get(index, ()), one.value)
    return printed, possible


def _scaled(found: Estimate | None, metric: Metric) -> Estimate | None:
    if found is None:
        return None
    low, high = (None if end is None else metric.shown(end) for end in (found.low, found.high))
    return Estimate(metric.shown(found.mean), low, high, found.n)
