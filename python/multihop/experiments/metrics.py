"""Metrics: one number per run, predefined or from columns of tables."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from multihop.base.errors import UserError, instead_of
from multihop.experiments.derived_metrics import COLUMNS, check_combined, check_model, check_optimum, require_above
from multihop.experiments.points import RESERVED, as_list
from multihop.experiments.specs import Label, MetricSpec, StudySpec
from multihop.experiments.units import divisors_of, shown_unit, unit_of
from multihop.models import suffix_and_unit
from multihop.results.columns import COORDINATE, METRIC, TABLES, Metric
from multihop.results.statistics import jain

_PERCENTILES = {"p5": 0.05, "p10": 0.1, "p25": 0.25, "p75": 0.75, "p90": 0.9, "p95": 0.95}


def metric_of(spec: StudySpec, name: str, where: str) -> Metric:
    """Returns title, unit and scale of a metric of the study.

    Raises:
        UserError: if no metric has that name.
    """
    if name in spec.metrics:
        made = spec.metrics[name]
        unit, scale = shown_unit(unit_of(spec, made), made.unit, f"metrics.{name}.unit")
        better = None if made.better is None else made.better == "higher"
        title, least = made.title or name.replace("_", " "), _least(spec, made)
        return Metric(name, title, unit, scale, higher_is_better=better, least=least)
    if name in METRIC:
        return METRIC[name]
    if name in TABLES["summary"] and TABLES["summary"][name].unit != "":
        unit, scale = shown_unit(TABLES["summary"][name].unit, None, where)
        return Metric(name, name.replace("_", " "), unit, scale, higher_is_better=None)
    if spec.model is not None:
        suffix, made_in = suffix_and_unit(name)
        wanted = "Mb/s" if made_in == "bit/s" else None
        unit, scale = shown_unit(made_in, wanted, where)
        return Metric(name, name.removesuffix(suffix).replace("_", " "), unit, scale, higher_is_better=None)
    known = ", ".join([*spec.metrics, *METRIC])
    raise UserError(f"{where}: no metric is named {name!r}; needs {known}, or a metric defined under [metrics]")


def _least(spec: StudySpec, metric: MetricSpec) -> float:
    """Returns the least possible value of a metric: zero, unless it involves a difference or a coordinate."""
    made_of = [spec.metrics[name] for name in (metric.metric, metric.over) if name is not None]
    column = TABLES.get((metric.column or "").partition(".")[0], {}).get((metric.column or "").partition(".")[2])
    is_signed = (
        metric.signed
        or metric.less is not None
        or metric.model is not None
        or metric.optimum == "gap"
        or (column is not None and column.unit == COORDINATE)
        or any(_least(spec, one) < 0 for one in made_of)
    )
    return -np.inf if is_signed else 0.0


def check_metric(spec: StudySpec, name: str, metric: MetricSpec) -> None:
    """Checks that the columns, metrics or closed form of a metric exist and fit.

    Raises:
        UserError: naming the one that does not.
    """
    at = f"metrics.{name}"
    if name == "seed" or name.startswith(RESERVED):
        raise UserError(f"{at}: {name} is the name of a result column; choose another name")
    if metric.column is not None:
        _check_columns(spec, name, metric, metric.column)
    elif metric.metric is not None:
        check_combined(spec, name, metric)
    elif metric.optimum is not None:
        check_optimum(name, metric)
        check_where(metric.where, "flows", f"{at}.where")
    else:
        check_model(spec, name, metric)
    shown_unit(unit_of(spec, metric), metric.unit, f"{at}.unit")


def _check_columns(spec: StudySpec, name: str, metric: MetricSpec, of: str) -> None:
    at = f"metrics.{name}"
    table, column = split_column(of, f"{at}.column")
    _require_number(table, column, f"{at}.column")
    check_where(metric.where, table, f"{at}.where")
    if metric.weight is not None:
        if metric.reduce != "mean":
            raise UserError(f"{at}.weight: has no effect with reduce = {metric.reduce!r}; only a mean is weighted")
        _require_column(table, metric.weight, f"{at}.weight")
        _require_number(table, metric.weight, f"{at}.weight")
    for divisor in divisors_of(metric):
        _require_column(table, divisor, f"{at}.per")
        _require_number(table, divisor, f"{at}.per")
    if metric.against is not None:
        _check_against(spec, name, metric, of)
    if metric.between is not None and "time_s" not in TABLES[table]:
        raise UserError(f"{at}.between: has no effect, since the table {table} has no time steps; remove it")


def _check_against(spec: StudySpec, name: str, metric: MetricSpec, of: str) -> None:
    at, against = f"metrics.{name}.against", metric.against or ""
    table, column = split_column(of, at)
    unit = TABLES[table][column].unit
    if "." not in against:
        require_above(spec, name, "against", against)
        if metric.against_where:
            raise UserError(f"metrics.{name}.against_where: has no effect, since {against} is a metric; remove it")
        other_unit = unit_of(spec, spec.metrics[against])
    else:
        other, other_column = split_column(against, at)
        _require_number(other, other_column, at)
        without = next((one for one in (table, other) if "time_s" not in TABLES[one]), None)
        if without is not None:
            raise UserError(f"{at}: the table {without} has no time steps at which rows could be compared")
        check_where(metric.against_where, other, f"metrics.{name}.against_where")
        other_unit = TABLES[other][other_column].unit
    if unit != other_unit:
        raise UserError(f"{at}: {against} is in {other_unit}, {of} in {unit}")


def check_where(where: Mapping[str, Label | list[Label]], table: str, at: str) -> None:
    """Checks that the columns of a condition exist, and that columns of text are compared with text.

    Raises:
        UserError: naming the column at fault.
    """
    for column, wanted in where.items():
        _require_column(table, column, f"{at}.{column}")
        if wanted == []:
            raise UserError(f"{at}.{column}: has no value; name at least one, or remove it")
        number = next((one for one in as_list(wanted) if not isinstance(one, str)), None)
        if number is not None and column in _texts(table):
            raise UserError(f'{at}.{column}: found {number!r}; {table}.{column} is text, write it as in "{number}"')


def split_column(text: str, at: str) -> tuple[str, str]:
    """Splits `table.column`.

    Raises:
        UserError: if there is no such column.
    """
    table, _, column = text.partition(".")
    if table not in TABLES:
        raise UserError(f"{at}: no table is named {table!r}; needs {', '.join(TABLES)}")
    _require_column(table, column, at)
    return table, column


def per_seed(
    metric: MetricSpec, table: pd.DataFrame, warmup: float = 0.0, truth: pd.Series[float] | None = None
) -> pd.Series[float]:
    """Returns a metric by seed from the table of all seeds; missing if no row has a value.

    Args:
        metric: metric of a column, or of a column that `optima.with_optimum` adds.
        table: table of the column, with the rows of all seeds.
        warmup: time after which steps count, unless the metric has a time window [s].
        truth: reference value of each row, for a metric with `against`.
    """
    column = (metric.column or "").partition(".")[2] if metric.optimum is None else COLUMNS[metric.optimum]
    seeds = table["seed"].unique()
    rows = table[matching(table, metric.where)]
    if "time_s" in rows.columns:
        after, until = metric.between or (warmup, np.inf)
        rows = rows[(rows["time_s"] > after) & (rows["time_s"] <= until)]
    values = row_values(metric, rows[column], truth)
    if metric.per is not None:
        divisors = rows[divisors_of(metric)].astype(float).sum(axis=1).groupby(rows["seed"]).sum(min_count=1)
        return (values.groupby(rows["seed"]).sum(min_count=1) / divisors.where(divisors > 0)).reindex(seeds)
    if metric.weight is not None:
        weights = rows[metric.weight].astype(float).where(values.notna())
        sums = (values * weights).groupby(rows["seed"]).sum(min_count=1)
        made = sums / weights.groupby(rows["seed"]).sum(min_count=1)
    else:
        grouped = values.groupby(rows["seed"])
        match metric.reduce:
            case "sum":
                made = grouped.sum(min_count=1)
            case "jain":
                made = grouped.agg(lambda shares: jain(shares.dropna().to_numpy()))
            case "least-share":
                made = grouped.min() / grouped.mean()
            case "zeros":
                made = grouped.agg(lambda shares: float((shares == 0).sum()) if shares.notna().any() else np.nan)
            case "cv":
                made = grouped.std() / grouped.mean().abs().where(lambda means: means > 0)
            case name if name in _PERCENTILES:
                made = grouped.quantile(_PERCENTILES[name])
            case name:
                made = grouped.agg(name)
    return made.astype(float).reindex(seeds)


def row_values(metric: MetricSpec, cells: pd.Series[float], truth: pd.Series[float] | None) -> pd.Series[float]:
    """Returns the value of each row before it is reduced: the cell, or its deviation from the reference."""
    values = cells.astype(float)
    if truth is None:
        return values
    off = (values / truth.reindex(values.index) - 1).replace([np.inf, -np.inf], np.nan)
    return off if metric.signed else off.abs()


def reference_values(metric: MetricSpec, table: pd.DataFrame, other: pd.DataFrame) -> pd.Series[float]:
    """Returns the reference of each row: the mean of the other table's rows of the same run and time."""
    column = (metric.against or "").partition(".")[2]
    rows = other[matching(other, metric.against_where)]
    found = rows[column].astype(float).groupby([rows["seed"], _nanoseconds(rows)]).mean()
    keys = pd.MultiIndex.from_arrays([table["seed"], _nanoseconds(table)])
    return pd.Series(found.reindex(keys).to_numpy(), index=table.index)


def _nanoseconds(table: pd.DataFrame) -> pd.Series[int]:
    return (table["time_s"] * 1e9).round().astype("int64")


def matching(table: pd.DataFrame, where: Mapping[str, Label | list[Label]]) -> np.ndarray:
    """Returns which rows fulfil every condition."""
    chosen = np.ones(len(table), dtype=bool)
    for column, wanted in where.items():
        cells = table[column]
        some = [one for one in as_list(wanted) if not _negates(one)]
        none = [str(one)[1:] for one in as_list(wanted) if _negates(one)]
        if some:
            chosen &= np.any([_is(cells, one) for one in some], axis=0)
        for one in none:
            chosen &= ~_is(cells, one)
    return chosen


def fits(text: str, wanted: Label | list[Label]) -> bool:
    """Whether a text fulfils a condition; an empty condition is always fulfilled."""
    return bool(matching(pd.DataFrame({"text": [text]}), {"text": wanted} if wanted != [] else {})[0])


def _negates(wanted: Label) -> bool:
    return isinstance(wanted, str) and wanted.startswith("!")


def _is(cells: pd.Series[float], wanted: Label) -> np.ndarray:
    if not isinstance(wanted, str):
        return np.asarray(cells == wanted)
    # Only the asterisk is special, since names of nodes may contain brackets.
    pattern = re.compile(".*".join(map(re.escape, wanted.split("*"))), re.DOTALL)
    distinct = {text: pattern.fullmatch(str(text)) is not None for text in cells.unique()}
    return np.asarray(cells.map(distinct), dtype=bool)


def _require_column(table: str, column: str, at: str) -> None:
    if column not in TABLES[table]:
        raise UserError(f"{at}: the table {table} has no column {column!r}; {instead_of(column, TABLES[table])}")


def _texts(table: str) -> set[str]:
    """Columns of text. The seed has no unit either, but is a number."""
    return {name for name, column in TABLES[table].items() if column.unit == "" and name != "seed"}


def _require_number(table: str, column: str, at: str) -> None:
    if TABLES[table][column].unit == "":
        raise UserError(f"{at}: {table}.{column} is a name, not a number; choose another column")
