"""Tables of a study's numbers: estimates at every point, and paired differences."""

from __future__ import annotations

from typing import Any

import pandas as pd

from multihop.experiments.points import advancing_with
from multihop.experiments.studies import StudyResult
from multihop.experiments.tables import differences
from multihop.report.charts.study_layout import text, title_of
from multihop.report.markup import remark, table
from multihop.results.columns import Metric
from multihop.results.statistics import SIGNIFICANCE
from multihop.results.words import signed, with_interval

_MOST_ROWS = 1000


def estimates(result: StudyResult) -> str:
    """Returns a row per point and a column per metric."""
    spec = result.study.spec
    metrics = [result.metric(name) for name in result.metric_names]
    factors = list(spec.factors)
    heads = [*(title_of(spec, factor) for factor in factors), "seeds", *(metric.heading for metric in metrics)]
    rows = []
    for index, point in enumerate(result.points[:_MOST_ROWS]):
        found = [result.estimate(index, metric.name) for metric in metrics]
        seeds = max((each.n for each in found if each is not None), default=0)
        numbers = (with_interval(each, metric) for each, metric in zip(found, metrics, strict=True))
        rows.append([*(text(point.labels[factor]) for factor in factors), str(seeds), *numbers])
    more = len(result.points) - len(rows)
    return table(heads, rows, "tall", len(factors)) + remark(
        "Means over seeds ± half of the 95 % interval (Student t)." + _left_out(more, "points")
    )


def paired(result: StudyResult) -> str:
    """Returns paired differences between values of the compared factor; nothing if none is compared."""
    by = result.study.compared
    found = differences(result)
    if by is None or found.empty or int(found["n"].max()) < 2:
        return ""
    # The factors' columns are the first ones; a factor named like a column of the table has a prefix.
    columns = list(found.columns)[: list(found.columns).index("metric")]
    shared = [factor for factor in result.study.spec.factors if factor not in advancing_with(result.study.spec, by)]
    metrics = {name: result.metric(name) for name in result.metric_names}
    # Sorted by metric, which readers look for.
    order = {name: rank for rank, name in enumerate(metrics)}
    found = found.sort_values("metric", key=lambda column: column.map(order), kind="stable")
    shown = found.head(_MOST_ROWS).to_dict("records")
    heads = ["metric", *(title_of(result.study.spec, factor) for factor in shared), "difference"]
    note = (
        "Compared seed by seed (paired t-test); p adjusted by Holm's method over the pairs of one metric at one point; "
        f"bold if below {SIGNIFICANCE:g}." + _left_out(len(found) - _MOST_ROWS, "differences")
    )
    return table(
        [*heads, "mean", "95 % interval", "pairs", "p (adjusted)"],
        [_row(record, columns, metrics[record["metric"]]) for record in shown],
        "tall",
        len(heads),
        {number for number, record in enumerate(shown) if record["p_adjusted"] < SIGNIFICANCE},
    ) + remark(note)


def _row(record: dict[Any, Any], columns: list[str], metric: Metric) -> list[str]:
    names = [metric.heading, *(text(record[factor]) for factor in columns)]
    names.append(f"{text(record['a'])} - {text(record['b'])}")
    has_interval = pd.notna(record["low"]) and pd.notna(record["high"])
    interval = f"{signed(metric, record['low'])} to {signed(metric, record['high'])}" if has_interval else ""
    p = f"{record['p_adjusted']:.2g}" if pd.notna(record["p_adjusted"]) else ""
    return [*names, signed(metric, record["difference"]), interval, str(record["n"]), p]


def _left_out(count: int, what: str) -> str:
    return f" {count} more {what} are in the tables that multihop study export writes." if count > 0 else ""
