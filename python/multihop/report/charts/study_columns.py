"""Columns of tables in the charts of a study: by flow, and over time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from multihop.experiments.metrics import matching
from multihop.experiments.specs import Chart, Curve, is_number
from multihop.experiments.studies import StudyResult
from multihop.experiments.units import shown_unit
from multihop.report.charts.study_layout import (
    Layout,
    curve_pairs,
    labels_along,
    layout_of,
    series_name,
    text,
    title_of,
)
from multihop.report.charts.study_plots import Mark, PlotPanel, Series, StudyPlot
from multihop.results.columns import COORDINATE, TABLES
from multihop.results.statistics import Estimate, estimate_or_none

_MOST_NAMED_FLOWS = 20

#: Ends of the band around a single run, as shares of the seeds.
_SPREAD = (0.05, 0.95)


def of_flows(result: StudyResult, chart: Chart, key: str) -> StudyPlot:
    """Returns bars by flow, or flows along a factor; of many flows, values from the least to the most."""
    table, column, unit, scale = _column(chart, chart.column)
    layout = layout_of(result, chart, chart.x)
    values = {index: _flow_values(result, chart, index, table, column) * scale for index in result.select(chart.at)}
    seed = _seed_of(chart, list(values.values()))
    found = {index: _estimated(made, unit, seed) for index, made in values.items()}
    flows = list(dict.fromkeys(name for made in found.values() for name in made))
    label = _label(chart.y_title or _words(column), unit)
    if chart.x is not None:
        return _flows_along(result, chart, key, layout, found, (label, unit), seed)
    many = len(flows) > _MOST_NAMED_FLOWS

    def marks(points: Sequence[int]) -> list[Mark]:
        made = found[points[0]]
        if many:
            rows = np.sort(_run(values[points[0]], seed).to_numpy(dtype=float), axis=0)
            return [Mark(rank + 1.0, str(rank + 1), each) for rank, each in enumerate(_estimates(rows, unit))]
        return [Mark(float(flows.index(name)), name, each) for name, each in made.items()]

    panels = [
        PlotPanel(title, [Series(number, marks(points)) for number, points in series.items()])
        for title, series in layout.panels
    ]
    shape, x_label = ("lines", "flows, from the least to the most") if many else ("bars", "flow")
    return StudyPlot(
        key,
        chart,
        shape,
        layout.names,
        layout.named_by,
        panels,
        _of_seed(x_label, seed),
        label,
        unit,
        categories=[] if many else flows,
        seed=seed,
    )


def _flows_along(
    result: StudyResult,
    chart: Chart,
    key: str,
    layout: Layout,
    found: Mapping[int, Mapping[str, Estimate | None]],
    label_and_unit: tuple[str, str],
    seed: int | None,
) -> StudyPlot:
    """Returns a series per flow along a factor: lines over numbers, bars over names."""
    flows = list(dict.fromkeys(name for made in found.values() for name in made))
    labels = labels_along(result, chart)
    numeric = all(is_number(one) for one in labels)

    def mark(index: int, flow: str) -> Mark:
        at = result.points[index].labels[chart.x or ""]
        place = float(at) if numeric and is_number(at) else float(labels.index(at))
        return Mark(place, text(at), found[index].get(flow))

    panels = [
        PlotPanel(
            title,
            [
                Series(group * len(flows) + number, sorted((mark(i, flow) for i in points), key=lambda one: one.x))
                for group, points in groups.items()
                for number, flow in enumerate(flows)
            ],
        )
        for title, groups in layout.panels
    ]
    return StudyPlot(
        key,
        chart,
        "lines" if numeric else "bars",
        [series_name(group, flow) for group in layout.names for flow in flows],
        layout.named_by,
        panels,
        _of_seed(title_of(result.study.spec, chart.x or ""), seed),
        *label_and_unit,
        categories=[] if numeric else [text(one) for one in labels],
        ticks=[float(one) for one in labels if is_number(one)] if numeric else [],
        pairs=curve_pairs(layout, len(flows)),
        seed=seed,
    )


def _of_seed(label: str, seed: int | None) -> str:
    """Returns the label of an axis along which values of a single run are drawn."""
    return label if seed is None else f"{label} (one run, seed {seed})"


def _run(rows: pd.DataFrame, seed: int | None) -> pd.DataFrame:
    """Returns the column of the seed alone, or all columns."""
    return rows if seed is None else rows[[seed]]


def _estimated(rows: pd.DataFrame, unit: str, seed: int | None) -> dict[str, Estimate | None]:
    """Returns an estimate per flow from a row per flow and a column per seed."""
    shown = _run(rows, seed)
    names = [str(name) for name in shown.index]
    return dict(zip(names, _estimates(shown.to_numpy(dtype=float), unit), strict=True))


def _flow_values(result: StudyResult, chart: Chart, index: int, table: str, column: str) -> pd.DataFrame:
    """Returns a row per flow and a column per seed."""
    rows = result.point_table(index, table)
    if rows.empty:
        return pd.DataFrame()
    rows = rows[matching(rows, chart.where)]
    made = rows.groupby(["name", "seed"], sort=False)[column].mean()
    return made.unstack("seed")  # noqa: PD010 - the index is unique by construction


def over_time(result: StudyResult, chart: Chart, key: str) -> StudyPlot:
    """Returns lines over time: means with intervals, or one run with the spread over seeds."""
    alone = Curve.model_construct(label="", metric=chart.metric, column=chart.column, where=chart.where)
    curves = chart.curves or [alone]
    title, unit = _title_and_unit(result, chart, curves[0])
    layout = layout_of(result, chart, None)
    lines = {
        (index, number): _lines(result, chart, index, curve)
        for index in result.select(chart.at)
        for number, curve in enumerate(curves)
    }
    # Names contain only what distinguishes the lines of one point and curve.
    varying = [place for place in (0, 1) if any(len({line[place] for line in found}) > 1 for found in lines.values())]
    runs = [rows for found in lines.values() for rows in found.values()]
    seed = _seed_of(chart, runs)
    common = [number for number in range(len(curves)) if len(curves) > 1 and _is_common(lines, layout, number)]
    numbers: dict[tuple[int, int, str], int] = {}
    panels = []
    for panel, groups in layout.panels:
        series = []
        for group, points in groups.items():
            for number in range(len(curves)):
                if number in common and group != next(iter(groups)):
                    continue
                for line, rows in (lines[points[0], number] or {("", ""): pd.DataFrame()}).items():
                    words = " at ".join(line[place] for place in varying)
                    owner = -1 if number in common else group
                    place = numbers.setdefault((owner, number, words), len(numbers))
                    series.append(Series(place, _marks(rows, unit, seed)))
        warmup = max((result.study.plan.views[i]["warmup"] for points in groups.values() for i in points), default=0.0)
        panels.append(PlotPanel(panel, series, warmup))
    names = [*layout.names, ""]
    shares_colours = min(len(layout.names), len(curves) - len(common)) > 1 and not varying and not common
    return StudyPlot(
        key,
        chart,
        "bands",
        [series_name(names[group], curves[number].label, words) for group, number, words in numbers],
        layout.named_by,
        panels,
        "time [s]",
        _label(chart.y_title or ("" if chart.curves else title), unit),
        unit,
        x_unit="s",
        pairs=[(group, number) for group, number, _ in numbers] if shares_colours else [],
        seed=seed,
        band=_band_words(seed, max((len(rows.columns) for rows in runs), default=0)),
    )


def _is_common(lines: Mapping[tuple[int, int], Mapping[Any, pd.DataFrame]], layout: Layout, number: int) -> bool:
    """Whether a curve is the same line for all groups of each panel, such as a bound, and is drawn once."""
    for _, groups in layout.panels:
        found = [list(lines[points[0], number].values()) for points in groups.values()]
        first = found[0][0] if found[0] else pd.DataFrame()
        if len(groups) < 2 or any(len(each) != 1 or not each[0].equals(first) for each in found):
            return False
    return True


def _seed_of(chart: Chart, runs: Sequence[pd.DataFrame]) -> int | None:
    """Returns the seed of the run to draw if all tables have it, with a column per seed."""
    return chart.seed if runs and all(chart.seed in rows.columns for rows in runs) else None


def _band_words(seed: int | None, seeds: int) -> str:
    """Returns the meaning of bands for the legend."""
    if seeds < 2:
        return "" if seed is None else f"seed {seed}"
    return "95 % interval" if seed is None else f"line: seed {seed}; band: 5th to 95th percentile of {seeds} seeds"


def _marks(rows: pd.DataFrame, unit: str, seed: int | None) -> list[Mark]:
    """Returns a mark per time of a table with a column per seed."""
    table = rows.to_numpy(dtype=float)
    if seed is None or rows.empty:
        found = _estimates(table, unit)
        return [Mark(float(t), f"{t:g} s", each) for t, each in zip(rows.index, found, strict=True)]
    there = rows[rows.notna().any(axis=1)]
    ends = there.quantile(list(_SPREAD), axis=1).T.to_numpy(dtype=float)
    made = []
    for t, value, (low, high) in zip(there.index, there[seed].to_numpy(dtype=float), ends, strict=True):
        found_here = Estimate(float(value), None, None, 1) if np.isfinite(value) else None
        made.append(Mark(float(t), f"{t:g} s", found_here, spread=(float(low), float(high))))
    return made


def _lines(result: StudyResult, chart: Chart, index: int, curve: Curve) -> dict[tuple[str, str], pd.DataFrame]:
    """Returns a row per time and a column per seed, by estimator and node, in the unit of the axis.

    Flows are averaged to one line. Estimators are not, since their quantities differ.
    """
    if curve.metric is not None:
        steps, scale = result.steps(index, curve.metric), result.metric(curve.metric).scale
        rows = _level(result, index, curve.metric) if steps is None else steps
        return {} if rows.empty else {("", ""): _by_time(rows, "value") * scale}
    table, column, _, scale = _column(chart, curve.column)
    rows = result.point_table(index, table)
    if rows.empty:
        return {}
    rows = rows[matching(rows, curve.where)].dropna(subset=[column])
    apart = [rows["estimator"], rows["name"]] if table == "measurements" else [rows["name"] * 0] * 2
    return {
        (str(estimator), str(name)): _by_time(part, column) * scale
        for (estimator, name), part in rows.groupby(apart, sort=False)
    }


def _level(result: StudyResult, index: int, metric: str) -> pd.DataFrame:
    """Returns a metric without time steps at the beginning and the end of each run."""
    values = result.values(index, metric).dropna()
    times = (0.0, float(result.study.plan.views[index]["duration"]))
    return pd.DataFrame(
        [(seed, time, value) for seed, value in values.items() for time in times], columns=["seed", "time_s", "value"]
    )


def _by_time(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Returns means over the rows of a time and seed: a row per time, a column per seed."""
    return rows.groupby(["time_s", "seed"])[column].mean().unstack("seed")  # noqa: PD010 - the index is unique


def _title_and_unit(result: StudyResult, chart: Chart, curve: Curve) -> tuple[str, str]:
    """Returns title and unit of a curve over time."""
    if curve.metric is not None:
        metric = result.metric(curve.metric)
        return metric.title, metric.unit
    _, column, unit, _ = _column(chart, curve.column)
    return _words(column), unit


def _words(column: str) -> str:
    """Returns the name of a column without its unit."""
    return re.sub(r"_(bps|s|m|bytes)$", "", column).replace("_", " ")


def _label(title: str, unit: str) -> str:
    """Returns the label of an axis: its title, with the unit if there is one."""
    return f"{title} [{unit}]" if title and unit else title or unit


def _column(chart: Chart, name: str | None) -> tuple[str, str, str, float]:
    """Returns table, column, unit and factor of a column of the chart."""
    table, _, column = (name or "").partition(".")
    unit, scale = shown_unit(TABLES[table][column].unit, chart.unit, "unit")
    return table, column, unit, scale


def _estimates(rows: np.ndarray, unit: str) -> list[Estimate | None]:
    """Returns an estimate for each row of values of a column."""
    least = -np.inf if unit == COORDINATE else 0.0
    found = map(estimate_or_none, rows)
    return [None if each is None else each.within(least) for each in found]
