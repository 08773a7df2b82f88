"""What a study found: tidy tables, metrics with intervals, paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from multihop import _core, frames
from multihop.columns import TABLES, Metric
from multihop.comparison import estimate_or_none
from multihop.models import evaluate
from multihop.statistics import Estimate, PairedDifference, paired_difference
from multihop.study.claims import Judgement, judge
from multihop.study.design import Point
from multihop.study.metrics import metric_of, per_seed
from multihop.study.spec import Label
from multihop.study.store import Failure, Store

if TYPE_CHECKING:
    from multihop.study.study import Study


class StudyResult:
    """The finished runs of a study.

    Attributes:
        study: what was asked.
        directory: the study's folder.
        store: where the runs are.
        points: combinations of the factors' values.
        seeds: index of a point -> seeds of which at least one point of its comparison has a run.
        failures: runs that did not finish.
    """

    def __init__(
        self,
        study: Study,
        directory: Path,
        store: Store,
        seeds: Mapping[int, Sequence[int]],
        failures: Sequence[Failure],
    ) -> None:
        self.study = study
        self.directory = directory
        self.store = store
        self.seeds = seeds
        self.failures = list(failures)
        self._values: dict[tuple[int, str], pd.Series[float]] = {}

    @property
    def points(self) -> list[Point]:
        """Combinations of the factors' values, in the order of the study."""
        return self.study.plan.points

    def select(self, at: Mapping[str, Label | list[Label]]) -> list[int]:
        """Indices of the points where these factors have these values."""
        return [index for index, point in enumerate(self.points) if point.matches(at)]

    def metric(self, name: str) -> Metric:
        """Title, unit and scale of a metric."""
        return metric_of(self.study.spec, name, "metric")

    def values(self, point: int, metric: str) -> pd.Series[float]:
        """One value per finished run of a point, by seed, in SI units (`metric(...).shown` makes the unit to read)."""
        key = (point, metric)
        if key not in self._values:
            self._values[key] = self.of_seeds(point, metric, self.seeds.get(point, []))
        return self._values[key]

    def of_seeds(self, point: int, metric: str, seeds: Sequence[int]) -> pd.Series[float]:
        """As `values`, for these seeds as far as they are there, and read anew."""
        if self.study.spec.model is not None:
            return pd.Series([self._model(point)[metric]], index=[0], dtype=float)
        outputs = self._outputs(point, seeds)
        if not outputs:
            return pd.Series([], dtype=float)
        view = self.study.plan.views[point]
        made = self.study.spec.metrics.get(metric)
        if made is None:
            summary = frames.table("summary", view, outputs)
            return pd.Series(summary[metric].to_numpy(dtype=float), index=summary["seed"].to_list(), dtype=float)
        return per_seed(made, frames.table(made.column.partition(".")[0], view, outputs))

    def estimate(self, point: int, metric: str) -> Estimate | None:
        """Mean and 95 % interval over seeds; `None` if no run has a value."""
        return estimate_or_none(self.values(point, metric).to_numpy(dtype=float))

    def difference(self, a: int, b: int, metric: str, times: float = 1.0) -> PairedDifference | None:
        """Point `a` less `times` point `b`, over their common seeds; `None` if there are none."""
        x, y = self.values(a, metric), self.values(b, metric)
        common = x.index.intersection(y.index)
        left, right = x.loc[common].to_numpy(dtype=float), times * y.loc[common].to_numpy(dtype=float)
        return paired_difference(left, right) if np.isfinite(left - right).any() else None

    def table(self, name: str) -> pd.DataFrame:
        """A table of all runs, below each other: a column per factor, the seed, then the table's own.

        `name` is flows, nodes, links, series, summary, or `metrics` for the study's own metrics.
        """
        parts = [self._point_table(index, name) for index in range(len(self.points))]
        parts = [part for part in parts if len(part)]
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    @cached_property
    def missing(self) -> int:
        """Runs that the study may still make: with a stop rule, at most so many."""
        if self.study.spec.model is not None:
            return 0
        plan = self.study.plan
        ids = (plan.run_id(p, seed) for p in range(len(self.points)) for seed in self._wanted(p))
        return sum(not self.store.has(run) for run in ids)

    @cached_property
    def judgements(self) -> list[Judgement]:
        """A verdict for every claim."""
        return [judge(self, claim) for claim in self.study.spec.claims]

    def _wanted(self, point: int) -> Sequence[int]:
        """Seeds that this point should have: all, or with a stop rule those that its comparison has."""
        stop = self.study.spec.stop
        if stop is None:
            return self.study.plan.seeds
        return self.seeds.get(point) or self.study.plan.seeds[: stop.at_least]

    def _outputs(self, point: int, seeds: Sequence[int]) -> list[_core.Output]:
        read = (self.store.read(self.study.plan.run_id(point, seed)) for seed in seeds)
        return [output for output in read if output is not None]

    def _point_table(self, point: int, name: str) -> pd.DataFrame:
        labels = self.points[point].labels
        if name == "metrics":
            names = [*self.study.spec.metrics] if self.study.spec.model is None else list(self._model(point))
            df = pd.DataFrame({metric: self.values(point, metric) for metric in names})
            df.insert(0, "seed", df.index)
        else:
            outputs = self._outputs(point, self.seeds.get(point, []))
            if not outputs:
                return pd.DataFrame()
            df = frames.table(name, self.study.plan.views[point], outputs)
            df.insert(0, "seed", df.pop("seed"))
        for position, (factor, label) in enumerate(labels.items()):
            df.insert(position, column_name(factor, name), label)
        return df

    @cache  # noqa: B019 - lives as long as the result
    def _model(self, point: int) -> Mapping[str, float]:
        return evaluate(self.study.spec.model or "", self.points[point].settings)


def column_name(factor: str, table: str) -> str:
    """What a factor's column is called in a table that may have a column of that name itself."""
    taken = factor in TABLES.get(table, {}) or factor == "seed"
    return f"factor_{factor}" if taken else factor
