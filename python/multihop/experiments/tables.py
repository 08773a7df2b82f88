"""Tidy tables of a study's results: estimates, paired differences, and definitions of columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import combinations
from typing import Any

import pandas as pd

from multihop.experiments.outcomes import StudyRuns, column_name
from multihop.experiments.points import advancing_with
from multihop.experiments.specs import MetricSpec
from multihop.experiments.units import unit_of
from multihop.results.columns import RUN_COLUMNS, TABLES, Column
from multihop.results.statistics import adjusted_p


def estimates(result: StudyRuns) -> pd.DataFrame:
    """Returns the mean and 95 % interval of every metric at every point, in SI units."""
    rows = []
    for index in range(len(result.points)):
        for name in result.metric_names:
            found = result.estimate(index, name)
            if found is not None:
                interval = {"mean": found.mean, "low": found.low, "high": found.high, "n": found.n}
                rows.append({**_labels(result, index), "metric": name, "unit": _unit(result, name), **interval})
    return _numeric(pd.DataFrame(rows))


def differences(result: StudyRuns, among: Collection[Any] | None = None) -> pd.DataFrame:
    """Returns paired differences of the compared factor's values, seed by seed, at every point of the others.

    `p_adjusted` is Holm's adjustment over the pairs of one metric at one point. Empty without a compared
    factor.

    Args:
        result: finished runs of the study.
        among: values of the compared factor to include; all by default.
    """
    by = result.study.compared
    if by is None or by not in result.study.spec.factors:
        return pd.DataFrame()
    lines: dict[Any, list[int]] = {}
    for index, point in enumerate(result.points):
        lines.setdefault(point.without(*advancing_with(result.study.spec, by)), []).append(index)
    rows: list[dict[str, Any]] = []
    for line in lines.values():
        shared = {
            name: label for name, label in _labels(result, line[0]).items() if name not in _columns_of(result, by)
        }
        for name in result.metric_names:
            pairs = {}
            for a, b in combinations([i for i in line if among is None or result.label(i, by) in among], 2):
                found = result.difference(a, b, name)
                if found is not None:
                    pairs[a, b] = found
            for ((a, b), d), p in zip(pairs.items(), adjusted_p(list(pairs.values())), strict=True):
                what = {"metric": name, "unit": _unit(result, name)}
                pair = {"a": result.label(a, by), "b": result.label(b, by)}
                numbers = {"difference": d.mean, "low": d.low, "high": d.high, "n": d.n, "p_value": d.p_value}
                rows.append({**shared, **what, **pair, **numbers, "p_adjusted": p})
    return _numeric(pd.DataFrame(rows))


def _labels(result: StudyRuns, index: int) -> Mapping[str, Any]:
    return {column_name(name, _STATISTICS): result.label(index, name) for name in result.points[index].labels}


def _columns_of(result: StudyRuns, factor: str) -> list[str]:
    """Returns the column names of a factor and of those that advance with it."""
    return [column_name(name, _STATISTICS) for name in advancing_with(result.study.spec, factor)]


def _unit(result: StudyRuns, metric: str) -> str:
    """Returns the unit in which a metric is computed."""
    if metric in result.study.spec.metrics:
        return unit_of(result.study.spec, result.study.spec.metrics[metric])
    return TABLES["summary"][metric].unit if metric in TABLES["summary"] else ""


def _numeric(df: pd.DataFrame) -> pd.DataFrame:
    """Converts number columns to floats, so that a column without any number has NaNs and a type."""
    return df.astype({name: float for name in _NUMBERS if name in df.columns})


_STATISTICS = {
    "metric": Column("", "metric of the study"),
    "unit": Column("", "unit of the row's numbers"),
    "mean": Column("as in unit", "mean over seeds"),
    "low": Column("as in unit", "lower end of the 95 % interval (Student t)"),
    "high": Column("as in unit", "upper end of the 95 % interval"),
    "n": Column("1", "seeds"),
    "a": Column("", "value of the compared factor"),
    "b": Column("", "value that a is compared with"),
    "difference": Column("as in unit", "mean of a minus b over common seeds"),
    "p_value": Column("1", "two-sided p-value of no difference (paired t-test)"),
    "p_adjusted": Column("1", "p-value adjusted by Holm's method over the pairs of one metric at one point"),
}


_NUMBERS = ("mean", "low", "high", "difference", "p_value", "p_adjusted")


def _columns(result: StudyRuns, name: str) -> Mapping[str, Column]:
    """Returns the definitions of a table's columns."""
    if name != "metrics":
        return TABLES.get(name, _STATISTICS)
    made = {}
    for metric in result.metric_names:
        spec = result.study.spec.metrics.get(metric)
        if spec is None:
            made[metric] = TABLES["summary"].get(metric, Column("", f"{metric} of {result.study.spec.model}"))
        else:
            made[metric] = Column(unit_of(result.study.spec, spec), spec.title or _made_how(spec))
    return made


def _made_how(metric: MetricSpec) -> str:
    if metric.model is not None:
        return f"{metric.result} of {metric.model}"
    if metric.optimum is not None:
        return f"{metric.optimum} of the {metric.utility} optimum under {metric.constraints}"
    if metric.metric is not None:
        other = f"over {metric.over}" if metric.over is not None else f"less {metric.less}"
        at = ", ".join(f"{factor} = {label}" for factor, label in metric.at.items())
        return f"{metric.metric} {other}" + (f" at {at}" if at else "")
    if metric.per is not None:
        return f"{metric.column} over {metric.per}, sums"
    off = "" if metric.against is None else f" against {metric.against}"
    return f"{metric.reduce} of {metric.column}{off}"


def definitions(result: StudyRuns, name: str, columns: Iterable[str]) -> dict[str, Column]:
    """Returns unit and meaning of each column of a table; columns not defined elsewhere are factors."""
    known = {"seed": RUN_COLUMNS["seed"], **_columns(result, name)}
    return {
        column: known.get(column) or Column("", f"factor of the study: {column.removeprefix('factor_')}")
        for column in columns
    }
