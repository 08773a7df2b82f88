"""Finished runs of a study: tidy tables, metrics with intervals, paired differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from multihop import _core
from multihop.base.display import Displayed, Overview
from multihop.base.errors import UserError
from multihop.experiments.derived_metrics import combined, of_all_flows, of_model, question_of, with_optimum
from multihop.experiments.metrics import matching, metric_of, per_seed, reference_values, row_values
from multihop.experiments.plans import PlannedStudy
from multihop.experiments.points import RESERVED, Point
from multihop.experiments.specs import Label, MetricSpec
from multihop.models import evaluate
from multihop.optima.optimum import Optimum, Question, optimum
from multihop.results import frames
from multihop.results.columns import METRICS, Metric
from multihop.results.statistics import Estimate, PairedDifference, difference_or_none, estimate_or_none
from multihop.results.words import with_interval
from multihop.simulation.store import Failure, Store

#: Most points in the display of a study's runs.
MOST_POINTS = 30


class StudyRuns(Displayed):
    """Finished runs of a study."""

    def __init__(
        self,
        study: PlannedStudy,
        directory: Path,
        store: Store,
        seeds: Mapping[int, Sequence[int]],
        failures: Sequence[Failure],
    ) -> None:
        #: The study.
        self.study = study
        #: Folder of the study.
        self.directory = directory
        #: Store of the runs.
        self.store = store
        #: Seeds of each point, by its index: those with a run of at least one point of its comparison, or
        #: with a stop rule those needed so far.
        self.seeds = seeds
        #: Runs that failed.
        self.failures = list(failures)
        self._known: dict[tuple[int, str], dict[int, float]] = {}
        self._at_hand: tuple[tuple[int, ...], frozenset[str], list[_core.Output]] = ((), frozenset(), [])

    @property
    def points(self) -> list[Point]:
        """Combinations of the factors' values, in the order of the study."""
        return self.study.plan.points

    @property
    def has_all_seeds(self) -> bool:
        """Whether every point has all seeds of the study, or those that its stop rule needs."""
        spec = self.study.spec
        if spec.model is not None or spec.stop is not None:
            return True
        return all(len(seeds) >= self.study.seeds_asked for seeds in self.seeds.values())

    def select(self, at: Mapping[str, Label | list[Label]]) -> list[int]:
        """Returns the indices of points where these factors have these labels."""
        return [index for index, point in enumerate(self.points) if point.matches(at)]

    def metric(self, name: str) -> Metric:
        """Returns title, unit and scale of a metric."""
        return metric_of(self.study.spec, name, "metric")

    def values(self, point: int, metric: str) -> pd.Series[float]:
        """Returns a metric of a point's finished runs by seed, in SI units; `metric(...).shown` converts."""
        self._require(point, metric)
        return self.of_seeds(point, metric, self.seeds.get(point, []))

    def of_seeds(self, point: int, metric: str, seeds: Sequence[int]) -> pd.Series[float]:
        """Returns `values` for these seeds, as far as their runs exist."""
        self._require(point, metric)
        return self._of_seeds(point, metric, seeds)

    def _of_seeds(self, point: int, metric: str, seeds: Sequence[int]) -> pd.Series[float]:
        if self.study.spec.model is not None:
            found = self._model(point)
            if metric not in found:
                raise UserError(
                    f"closed form {self.study.spec.model}: has no result {metric!r}; needs {', '.join(found)}"
                )
            return pd.Series([found[metric]], index=[0], dtype=float)
        known = self._known.setdefault((point, metric), {})
        self._learn(point, metric, [seed for seed in seeds if seed not in known])
        there = [seed for seed in seeds if seed in known]
        index = np.array(there, dtype=np.uint64)
        return pd.Series(np.array([known[seed] for seed in there], dtype=float), index=index, dtype=float)

    def _require(self, point: object, metric: object) -> None:
        """Refuses an unknown point or metric.

        Raises:
            UserError: if the point or metric is not of the study.
        """
        swapped = isinstance(point, str) and not isinstance(metric, str)
        hint = "; the point is the first argument, the metric the second" if swapped else ""
        if isinstance(point, bool) or not isinstance(point, int | np.integer) or not 0 <= point < len(self.points):
            last = len(self.points) - 1
            raise UserError(f"point: found {point!r}; needs the index of a point, 0 to {last}{hint}")
        metric_of(self.study.spec, str(metric), "metric")

    def _learn(self, point: int, metric: str, seeds: Sequence[int]) -> None:
        """Reads runs once for all metrics of the study, since reading dominates the time."""
        specs = self.study.spec.metrics
        names = list(specs) if metric in specs else [metric, *specs]
        outputs = self._outputs(point, seeds, self._sources(names)) if seeds else []
        if not outputs:
            return
        seeds_read = pd.Index([int(output["summary"]["seed"]) for output in outputs])
        tables: dict[str, pd.DataFrame] = {}
        made: dict[str, pd.Series[float]] = {}
        for name in names:
            spec = specs.get(name)
            if spec is not None and spec.metric is not None:
                # The metrics that it uses are defined above it.
                made[name] = combined(spec, made[spec.metric], self._other(point, spec, made))
            elif spec is not None and spec.optimum is not None:
                made[name] = self._of_optimum(point, spec, outputs, tables)
            elif spec is not None and spec.model is not None:
                made[name] = pd.Series(of_model(name, spec, self.points[point]), index=seeds_read, dtype=float)
            else:
                made[name] = self._of_table(point, name, outputs, tables, made)
        for name, of_runs in made.items():
            known = self._known.setdefault((point, name), {})
            known |= dict(zip(map(int, of_runs.index.to_list()), of_runs.to_list(), strict=True))

    def _sources(self, metrics: Iterable[str]) -> frozenset[str]:
        """Returns the engine's tables that these metrics need."""
        specs = self.study.spec.metrics
        named: list[str] = []
        for name in metrics:
            spec = specs.get(name)
            if spec is None:
                named.append("summary")
            elif spec.optimum is not None:
                named.append("flows")
            else:
                named += [of for of in (spec.column, spec.against) if of is not None and of not in specs]
        return frozenset().union(*(frames.sources(column.partition(".")[0]) for column in named))

    def _other(self, point: int, spec: MetricSpec, made: Mapping[str, pd.Series[float]]) -> pd.Series[float]:
        """Returns the second operand of a combined metric by seed, at this point or another."""
        name = spec.over or spec.less or ""
        labels = {**self.points[point].labels, **spec.at}
        if labels == self.points[point].labels:
            return made[name]
        found = next((index for index, other in enumerate(self.points) if other.labels == labels), None)
        if found is None:
            return pd.Series(dtype=float)
        return self.of_seeds(found, name, list(made[name].index))

    def _of_table(
        self,
        point: int,
        name: str,
        outputs: list[_core.Output],
        tables: dict[str, pd.DataFrame],
        known: Mapping[str, pd.Series[float]],
    ) -> pd.Series[float]:
        """Returns a metric of a column by seed, with tables and metrics that were made before."""
        view = self.study.plan.views[point]
        spec = self.study.spec.metrics.get(name)

        def table(of: str) -> pd.DataFrame:
            source = of.partition(".")[0]
            if source not in tables:
                tables[source] = frames.table(source, view, outputs)
            return tables[source]

        if spec is None:
            made = table("summary").set_index("seed")[name]
        else:
            df, truth = table(spec.column or ""), None
            if spec.against is not None:
                is_metric = spec.against in known
                truth = (
                    df["seed"].map(known[spec.against])
                    if is_metric
                    else reference_values(spec, df, table(spec.against))
                )
            made = per_seed(spec, df, view["warmup"], truth)
        return made.set_axis([int(seed) for seed in made.index])

    def _of_optimum(
        self, point: int, spec: MetricSpec, outputs: list[_core.Output], tables: dict[str, pd.DataFrame]
    ) -> pd.Series[float]:
        """Returns a metric relative to the optimum, by seed."""
        view, best = self.study.plan.views[point], self.optimum(point, question_of(spec))
        if "flows" not in tables:
            tables["flows"] = frames.table("flows", view, outputs)
        if spec.optimum in {"distance", "gap"}:
            made = of_all_flows(spec, tables["flows"], best)
        else:
            made = per_seed(spec, with_optimum(spec, tables["flows"], best), view["warmup"])
        return made.set_axis([int(seed) for seed in made.index])

    @cache  # noqa: B019 - lives as long as the result
    def optimum(self, point: int, question: Question) -> Optimum:
        """Returns the optimum of a point's scenario."""
        return optimum(self.study.scenario, self.study.overrides(point), question)

    def estimate(self, point: int, metric: str) -> Estimate | None:
        """Mean and 95 % interval over seeds, within the metric's range; `None` if no run has a value."""
        found = estimate_or_none(self.values(point, metric).to_numpy(dtype=float))
        about = self.metric(metric)
        return None if found is None else found.within(about.least, about.most)

    def difference(self, a: int, b: int, metric: str, times: float = 1.0) -> PairedDifference | None:
        """Point `a` minus `times` point `b`, over their common seeds; `None` without any."""
        x, y = self.values(a, metric), self.values(b, metric)
        common = x.index.intersection(y.index)
        left, right = x.loc[common].to_numpy(dtype=float), times * y.loc[common].to_numpy(dtype=float)
        return difference_or_none(left, right)

    def table(self, name: str) -> pd.DataFrame:
        """Returns a table of all runs: a column per factor, the seed, then the table's columns.

        Args:
            name: flows, nodes, links, wires, categories, series, delays, measurements, positions, summary, or
                `metrics` for the study's own metrics.
        """
        parts = [self.point_table(index, name) for index in range(len(self.points))]
        parts = [part for part in parts if len(part)]
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    def point_table(self, point: int, name: str) -> pd.DataFrame:
        """Returns the rows of `table` of one point; empty without runs."""
        labels = self.points[point].labels
        if name == "metrics":
            df = pd.DataFrame({metric: self.values(point, metric) for metric in self.metric_names})
            df.insert(0, "seed", df.index)
        else:
            outputs = self._outputs(point, self.seeds.get(point, []), frames.sources(name))
            if not outputs:
                return pd.DataFrame()
            df = frames.table(name, self.study.plan.views[point], outputs)
            df.insert(0, "seed", df.pop("seed"))
        for position, factor in enumerate(labels):
            df.insert(position, column_name(factor, df.columns), self.label(point, factor))
        return df

    def steps(self, point: int, metric: str) -> pd.DataFrame | None:
        """Returns the rows behind a metric of a column with time steps: `seed`, `time_s`, `value` (SI)."""
        spec = self.study.spec.metrics.get(metric)
        table, _, column = ("" if spec is None else spec.column or "").partition(".")
        if spec is None or spec.per is not None or table not in {"series", "measurements"}:
            return None
        df = self.point_table(point, table)
        if df.empty:
            return df
        truth = None
        if spec.against in self.study.spec.metrics:
            truth = df["seed"].map(self.values(point, spec.against))
        elif spec.against is not None:
            truth = reference_values(spec, df, self.point_table(point, spec.against.partition(".")[0]))
        after, until = spec.between or (0.0, np.inf)
        rows = df[matching(df, spec.where) & (df["time_s"] > after) & (df["time_s"] <= until)]
        return rows[["seed", "time_s"]].assign(value=row_values(spec, rows[column], truth)).dropna()

    def overview(self, *, whole: bool = True) -> Overview:
        """Returns the numbers of runs; with `whole`, also the mean of each metric at each point."""
        runs = sum(map(len, self.seeds.values()))
        said = f"{len(self.points)} points, {runs} runs, {self.missing} missing, {len(self.failures)} failed"
        title = f"{self.study.spec.name}, {said}"
        if not whole:
            return Overview(title)
        metrics = [self.metric(name) for name in self.metric_names]
        heads = [*self.points[0].labels, *(metric.heading for metric in metrics)]
        rows = [
            [*map(str, point.labels.values()), *(with_interval(self.estimate(index, m.name), m) for m in metrics)]
            for index, point in enumerate(self.points[:MOST_POINTS])
        ]
        return Overview(title, heads, rows, more=len(self.points) - len(rows))

    def label(self, point: int, factor: str) -> Label:
        """Returns a point's label of a factor, converted to the type of its column."""
        return self._column_types[factor](self.points[point].labels[factor])

    @property
    def metric_names(self) -> list[str]:
        """Names of the metrics: of the closed form, else of the study, else the predefined ones."""
        if self.study.spec.model is not None:
            return list(self._model(0))
        return [*self.study.spec.metrics] or [metric.name for metric in METRICS]

    @cached_property
    def _column_types(self) -> Mapping[str, Callable[[Label], Label]]:
        """Functions that convert the labels of each factor to one type."""
        made: dict[str, Callable[[Label], Label]] = {}
        for name, factor in self.study.spec.factors.items():
            types = {type(label) for label in factor.names}
            made[name] = types.pop() if len(types) == 1 else float if types == {int, float} else str
        return made

    @cached_property
    def missing(self) -> int:
        """Number of runs that the study lacks. With a stop rule, more may be needed after these."""
        if self.study.spec.model is not None:
            return 0
        plan = self.study.plan
        wanted = {plan.run_id(p, seed) for p in range(len(self.points)) for seed in self._wanted(p)}
        return sum(not self.store.has(run) for run in wanted)

    def _wanted(self, point: int) -> Sequence[int]:
        """Returns the seeds of a point: all, or with a stop rule those needed so far."""
        return self.study.plan.seeds if self.study.spec.stop is None else self.seeds[point]

    def _outputs(self, point: int, seeds: Sequence[int], tables: frozenset[str]) -> list[_core.Output]:
        """Returns tables of a point's finished runs. The last result is cached, since reading takes time."""
        runs, of, outputs = self._at_hand
        if runs == (point, *seeds) and tables <= of:
            return outputs
        read = (self.store.read(self.study.plan.run_id(point, seed), tables) for seed in seeds)
        outputs = [output for output in read if output is not None]
        if len(outputs) == len(seeds):
            self._at_hand = ((point, *seeds), tables, outputs)
        return outputs

    @cache  # noqa: B019 - lives as long as the result
    def _model(self, point: int) -> Mapping[str, float]:
        return evaluate(self.study.spec.model or "", self.points[point].settings)


def column_name(factor: str, taken: Iterable[str]) -> str:
    """Returns the column name of a factor, with a prefix if the table has a column of that name."""
    return f"{RESERVED}{factor}" if factor in taken else factor
