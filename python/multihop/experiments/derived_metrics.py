"""Metrics without a column: closed forms, combinations of metrics, and relations to the optimum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from multihop.base.errors import UserError
from multihop.experiments.points import Point, require_factor, require_labels
from multihop.experiments.specs import MetricSpec, StudySpec
from multihop.experiments.units import unit_of
from multihop.models import evaluate, require_model
from multihop.optima.optimum import Optimum, Question
from multihop.optima.utility import Utility

#: Columns that the optimum's `share` and `rate` add to the table of flows.
COLUMNS: Mapping[str, str] = {"share": "optimum_share", "rate": "optimum_bps"}


def check_combined(spec: StudySpec, name: str, metric: MetricSpec) -> None:
    """Checks that the metrics which a combination uses are defined above it, with fitting units.

    Raises:
        UserError: naming the metric or factor that does not fit.
    """
    for key in ("metric", "over", "less"):
        if getattr(metric, key) is not None:
            require_above(spec, name, key, getattr(metric, key))
    for factor, label in metric.at.items():
        require_factor(spec, factor, f"metrics.{name}.at")
        require_labels(spec, {factor: [label]}, f"metrics.{name}.at")
    if metric.metric is not None and metric.less is not None:
        units = [unit_of(spec, spec.metrics[one]) for one in (metric.metric, metric.less)]
        if units[0] != units[1]:
            raise UserError(f"metrics.{name}.less: {metric.less} is in {units[1]}, {metric.metric} in {units[0]}")


def require_above(spec: StudySpec, name: str, key: str, wanted: str) -> None:
    """Checks that a metric refers to a metric above it.

    Raises:
        UserError: if `wanted` is none.
    """
    names = list(spec.metrics)
    above = names[: names.index(name)]
    if wanted not in above:
        there = f"there are {', '.join(above)}" if above else "there are none"
        raise UserError(f"metrics.{name}.{key}: {wanted!r} is no metric above this one; {there}")


def check_model(spec: StudySpec, name: str, metric: MetricSpec) -> None:
    """Checks that the closed form, factors and labels of a metric exist.

    Raises:
        UserError: naming the unknown one.
    """
    try:
        require_model(metric.model or "")
    except UserError as error:
        raise UserError(f"metrics.{name}.model: {error}") from error
    for factor, cases in metric.cases.items():
        at = f"metrics.{name}.cases"
        require_factor(spec, factor, at)
        known = {str(label): label for label in spec.factors[factor].names}
        require_labels(spec, {factor: [known.get(label, label) for label in cases]}, at)


def arguments_at(metric: MetricSpec, point: Point) -> dict[str, Any]:
    """Returns the arguments of a closed form at a point."""
    arguments: dict[str, Any] = dict(metric.arguments)
    for factor, cases in metric.cases.items():
        arguments |= cases.get(str(point.labels[factor]), {})
    return arguments


def of_model(name: str, metric: MetricSpec, point: Point) -> float:
    """Returns the result of a closed form at a point.

    Raises:
        UserError: if an argument is unknown, or the closed form has no such result.
    """
    try:
        made = evaluate(metric.model or "", arguments_at(metric, point))
    except UserError as error:
        raise UserError(f"metrics.{name}: {error}") from error
    if metric.result is None or metric.result not in made:
        raise UserError(f"metrics.{name}.result: {metric.model} has no {metric.result!r}; needs {', '.join(made)}")
    return float(made[metric.result])


def combined(metric: MetricSpec, first: pd.Series[float], other: pd.Series[float]) -> pd.Series[float]:
    """Ratio or difference by seed; missing for a ratio to zero, and for seeds without the other value."""
    other = other.reindex(first.index)
    if metric.less is not None:
        return first - other
    return (first / other).replace([np.inf, -np.inf], np.nan)


def question_of(metric: MetricSpec) -> Question:
    """Returns the optimisation problem of a metric.

    Raises:
        UserError: if the utility is unknown.
    """
    return Question(Utility.of(metric.utility), metric.constraints, metric.level, metric.feedback)


def check_optimum(name: str, metric: MetricSpec) -> None:
    """Checks that the optimum of a metric is defined.

    Raises:
        UserError: naming the unknown setting.
    """
    try:
        question_of(metric)
    except UserError as error:
        raise UserError(f"metrics.{name}.{error}") from error


def of_all_flows(metric: MetricSpec, flows: pd.DataFrame, best: Optimum) -> pd.Series[float]:
    """Returns `distance` or `gap` by seed, from the table of flows of all seeds."""
    seeds = flows["seed"].unique()
    if best.not_comparable is not None:
        return pd.Series(np.nan, index=seeds, dtype=float)
    rates = flows[metric.got].to_numpy(dtype=float).reshape(len(seeds), -1)
    made = best.distance(rates) if metric.optimum == "distance" else best.gap(rates)
    return pd.Series(made, index=seeds, dtype=float)


def with_optimum(metric: MetricSpec, flows: pd.DataFrame, best: Optimum) -> pd.DataFrame:
    """Returns the flows of all seeds with columns of x* [bit/s] and x / x*, missing without a path."""
    rates = np.tile(best.rates_bps if best.not_comparable is None else np.nan * best.rates_bps, flows["seed"].nunique())
    rates = np.where(rates > 0, rates, np.nan)
    shares = flows[metric.got].to_numpy(dtype=float) / rates
    return flows.assign(**{COLUMNS["rate"]: rates, COLUMNS["share"]: shares})
