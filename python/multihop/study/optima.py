"""Metrics of runs against the optimum of their scenario, computed when read, once per point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from multihop.base.errors import UserError
from multihop.optima.optimum import Optimum, Question
from multihop.optima.utility import Utility
from multihop.study.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What `share` and `rate` add to the table of flows.
COLUMNS: Mapping[str, str] = {"share": "optimum_share", "rate": "optimum_bps"}


def question_of(metric: MetricSpec) -> Question:
    """Which optimum a metric is about.

    Raises:
        UserError: if there is no such utility.
    """
    return Question(Utility.of(metric.utility), metric.constraints, metric.level, metric.feedback)


def check_optimum(name: str, metric: MetricSpec) -> None:
    """Checks that there is such an optimum.

    Raises:
        UserError: naming what there is not.
    """
    try:
        question_of(metric)
    except UserError as error:
        raise UserError(f"metrics.{name}.{error}") from error


def of_all_flows(metric: MetricSpec, flows: pd.DataFrame, best: Optimum) -> pd.Series[float]:
    """`distance` or `gap`, by seed, from the table of flows of all seeds."""
    seeds = flows["seed"].unique()
    if best.not_comparable is not None:
        return pd.Series(np.nan, index=seeds, dtype=float)
    rates = flows[metric.got].to_numpy(dtype=float).reshape(len(seeds), -1)
    made = best.distance(rates) if metric.optimum == "distance" else best.gap(rates)
    return pd.Series(made, index=seeds, dtype=float)


def with_optimum(metric: MetricSpec, flows: pd.DataFrame, best: Optimum) -> pd.DataFrame:
    """The flows of all seeds, with a column of x* in bit/s and one of x / x*, missing without a path."""
    rates = np.tile(best.rates_bps if best.not_comparable is None else np.nan * best.rates_bps, flows["seed"].nunique())
    rates = np.where(rates > 0, rates, np.nan)
    shares = flows[metric.got].to_numpy(dtype=float) / rates
    return flows.assign(**{COLUMNS["rate"]: rates, COLUMNS["share"]: shares})
