"""Metrics of runs relative to the optimum of their scenario, computed on reading, once per point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from multihop.base.errors import UserError
from multihop.experiments.specs import MetricSpec
from multihop.optima.optimum import Optimum, Question
from multihop.optima.utility import Utility

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Columns that `share` and `rate` add to the table of flows.
COLUMNS: Mapping[str, str] = {"share": "optimum_share", "rate": "optimum_bps"}


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
