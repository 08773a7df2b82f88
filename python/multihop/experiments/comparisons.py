"""Runs of a comparison, by variant (usually a scheme) and seed."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from multihop import _core
from multihop.base import extras
from multihop.base.display import Displayed, Overview
from multihop.base.errors import UserError
from multihop.experiments import varied_flows
from multihop.experiments.runs import FinishedRun, Tables
from multihop.experiments.services import Service, records, services
from multihop.optima.optimum import Optimum, optimum
from multihop.results.columns import METRICS, OPTIMUM_METRICS, VIDEO_METRICS, Metric
from multihop.results.folders import MOTION_FILE
from multihop.results.frames import largest_alike
from multihop.results.statistics import (
    SIGNIFICANCE,
    Estimate,
    PairedDifference,
    adjusted_p,
    difference_or_none,
    estimate_or_none,
)
from multihop.results.words import several, with_interval
from multihop.simulation.scenario import Scenario, inline_toml

#: Metrics of the largest group of flows with equal demand.
_OF_ALIKE = frozenset({"jain", "delay_p50_s", "delay_p95_s"})


@dataclass(frozen=True)
class Contrast:
    """Paired difference of two variants in one metric, over common seeds.

    `adjusted_p` is the p-value adjusted by Holm's method over all pairs of variants; `None` with one seed.
    """

    metric: Metric
    a: str
    b: str
    difference: PairedDifference
    adjusted_p: float | None

    @property
    def significant(self) -> bool:
        """Whether the difference is significant."""
        return self.adjusted_p is not None and self.adjusted_p < SIGNIFICANCE


@dataclass(frozen=True, repr=False)
class VariantRuns(Tables, Displayed):
    """Runs of one scenario: for each variant, one `FinishedRun` per seed, in the same order of seeds."""

    #: Scenario that was run.
    scenario: Scenario
    #: Runs of each variant.
    results: Mapping[str, tuple[FinishedRun, ...]] = field(repr=False)

    @property
    def variants(self) -> list[str]:
        """Names of the compared schemes, or only `scenario` for the scenario as written."""
        return list(self.results)

    @property
    def first(self) -> FinishedRun:
        """Run of the first variant and seed, for properties that all runs share."""
        return next(iter(self.results.values()))[0]

    @property
    def view(self) -> _core.ScenarioView:
        """Resolved scenario of the first run: nodes, links, and flows with their paths."""
        return self.first.view

    @property
    def seeds(self) -> list[int]:
        """Seeds, common to all variants."""
        return [result.seed for result in next(iter(self.results.values()))]

    @property
    def command(self) -> str:
        """Command that reproduces the results from `scenario.toml`, which `save` writes."""
        first = self.first
        compares = all(name == results[0].overrides.get("scheme") for name, results in self.results.items())
        words = ["multihop", "compare" if compares else "run", "scenario.toml"]
        words += ["--schemes", ",".join(self.variants)] if compares else []
        words += ["--seed", str(self.seeds[0]), "--seeds", str(len(self.seeds))]
        for name, value in first.overrides.items():
            if name == "varying":
                words += ["--vary", varied_flows.pattern(first.view["flows"], value)]
            elif name not in {"scheme", "seed", "set"}:
                words += [f"--{name.replace('_', '-')}", str(value)]
        replaced = dict(first.overrides.get("set", {}))
        if first.view["motion_file"] is not None:
            replaced.pop("mobility.file", None)
            replaced["mobility.file"] = MOTION_FILE
        for path, value in replaced.items():
            words += ["--set", f"{path}={inline_toml(value)}"]
        return shlex.join(words)

    @property
    def varied(self) -> str | None:
        """Sentence with the flows that take the compared scheme and those that do not; `None` if all do."""
        first = self.first
        return varied_flows.sentence(first.view["flows"], first.overrides.get("varying"))

    @cached_property
    def optima(self) -> dict[str, Optimum]:
        """Proportionally fair optimum by variant, with the headers and acknowledgements of its transport.

        `Optimum.not_comparable` states why runs cannot be compared with it. Empty if the extra `optimum` is
        not installed.
        """
        made: dict[str, Optimum] = {}
        if not extras.has("optimum"):
            return made
        for variant, results in self.results.items():
            overrides = {name: value for name, value in results[0].overrides.items() if name != "seed"}
            made[variant] = optimum(self.scenario, overrides)
        return made

    @cached_property
    def services(self) -> dict[str, list[Service]]:
        """Service of each flow, by variant."""
        return {variant: services(results, self.optima.get(variant)) for variant, results in self.results.items()}

    @property
    def not_comparable(self) -> str | None:
        """Reason why these runs cannot be compared with their optima; `None` if they can."""
        lacking = extras.missing("optimum")
        if lacking:
            return f"it needs {', '.join(lacking)}: {extras.install('optimum')}"
        return next((why for found in self.optima.values() if (why := found.not_comparable) is not None), None)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Metrics of each variant, with those of the optimum if runs can be compared with it."""
        return self.measured_metrics if self.not_comparable is not None else (*self.measured_metrics, *OPTIMUM_METRICS)

    @property
    def measured_metrics(self) -> tuple[Metric, ...]:
        """Metrics that need no optimum.

        Fairness is measured among flows with equal demand, and only of several; frames are those of videos.
        """
        flows = self.view["flows"]
        fairness = len(largest_alike(flows)) > 1
        alike = [flows[index]["name"] for index in largest_alike(flows)]
        own = tuple(
            replace(metric, title=f"{metric.title} of {several(alike, 2)}")
            if metric.name in _OF_ALIKE and len(alike) < len(flows)
            else metric
            for metric in METRICS
            if metric.name != "jain" or fairness
        )
        return (*own, *VIDEO_METRICS) if any(flow["app"] == "video" for flow in flows) else own

    def values(self, variant: str, metric: str) -> np.ndarray:
        """Returns a metric by seed: a column of the summary, `optimum_distance` or `optimum_gap`.

        Raises:
            UserError: if there is no such variant or metric.
        """
        if variant not in self.results:
            swapped = "; the variant is the first argument, the metric the second" if metric in self.results else ""
            raise UserError(f"variant: found {variant!r}; needs one of {', '.join(self.variants)}{swapped}")
        results = self.results[variant]
        if metric in {about.name for about in OPTIMUM_METRICS}:
            rates, best = self.rates(variant), self.optima[variant]
            return best.distance(rates) if metric == "optimum_distance" else best.gap(rates)
        if isinstance(results[0].summary.get(metric, ""), str):
            known = [name for name, value in results[0].summary.items() if not isinstance(value, str)]
            raise UserError(f"metric: found {metric!r}; needs one of {', '.join(known)}")
        return np.array([float(result.summary[metric]) for result in results])

    def rates(self, variant: str) -> np.ndarray:
        """Returns the goodput of each flow in bit/s, of shape (seeds, flows)."""
        return np.array([result.flows["goodput_bps"].to_numpy(dtype=float) for result in self.results[variant]])

    def by_flow(self, variant: str, column: str) -> np.ndarray:
        """Returns the mean over seeds of a column of `flows`, by flow; NaN where no seed has a value."""
        values = pd.concat([result.flows[column].reset_index(drop=True) for result in self.results[variant]], axis=1)
        means: np.ndarray = values.mean(axis=1).to_numpy(dtype=float)
        return means

    def loss_ratios(self, variant: str) -> np.ndarray:
        """Returns the share of lost packets by flow, and last that of all flows; NaN without packets.

        Packets of all seeds are added up, so that a seed with few packets weighs little.
        """
        counts = np.array(
            [result.flows[["packets_lost", "packets_delivered"]].to_numpy() for result in self.results[variant]],
            dtype=float,
        ).sum(axis=0)
        lost, arrived = np.vstack([counts, counts.sum(axis=0)]).T
        with np.errstate(invalid="ignore"):
            ratios: np.ndarray = lost / (lost + arrived)
        return ratios

    def estimate(self, variant: str, metric: str) -> Estimate | None:
        """Mean and 95 % interval over seeds, within the metric's range; `None` if no seed has a value."""
        found = estimate_or_none(self.values(variant, metric))
        about = next((about for about in (*METRICS, *VIDEO_METRICS, *OPTIMUM_METRICS) if about.name == metric), None)
        return found if found is None or about is None else found.within(about.least, about.most)

    def contrasts(self, metric: Metric) -> list[Contrast]:
        """Returns the paired difference of every two variants in a metric, if a seed has a value of both."""
        pairs = {}
        for a, b in combinations(self.variants, 2):
            found = difference_or_none(self.values(a, metric.name), self.values(b, metric.name))
            if found is not None:
                pairs[a, b] = found
        adjusted = adjusted_p(list(pairs.values()))
        return [Contrast(metric, a, b, d, p) for ((a, b), d), p in zip(pairs.items(), adjusted, strict=True)]

    def table(self, name: str) -> pd.DataFrame:
        """Returns a table of all runs, which begins with the columns `variant` and `seed`.

        `name` is flows, nodes, links, wires, categories, series, delays, measurements, positions or summary.
        """
        parts = []
        for variant, results in self.results.items():
            for result in results:
                df = result.table(name).copy()
                if "seed" in df.columns:
                    df = df.drop(columns="seed")
                df.insert(0, "seed", result.seed)
                df.insert(0, "variant", variant)
                parts.append(df)
        return pd.concat(parts, ignore_index=True)

    @property
    def summary(self) -> pd.DataFrame:
        """One row per variant and seed."""
        return self.table("summary")

    def overview(self, *, whole: bool = True) -> Overview:
        """Returns the metrics of each variant with intervals; with `whole`, also those of the optimum."""
        metrics = self.metrics if whole else self.measured_metrics
        rows = [
            [
                m.heading,
                *(with_interval(self.estimate(v, m.name), m) for v in self.variants),
            ]
            for m in metrics
        ]
        first, seeds = self.first, len(self.seeds)
        over = f"{seeds} seeds, mean ± 95 % interval" if seeds > 1 else "one seed"
        return Overview(f"{first.view['name']}, {over}", ["", *self.variants], rows)

    def statistics(self) -> dict[str, Any]:
        """Returns estimates and paired differences as plain data (JSON), in SI units."""
        return {
            "confidence": 0.95,
            "metrics": {m.name: {v: self._estimate_record(v, m) for v in self.variants} for m in self.metrics},
            "paired": [_contrast_record(c) for m in self.metrics for c in self.contrasts(m)],
            "optimum": self._optimum_record(),
            "services": {variant: records(found) for variant, found in self.services.items()},
        }

    def _estimate_record(self, variant: str, metric: Metric) -> dict[str, Any]:
        values = self.values(variant, metric.name)
        found = self.estimate(variant, metric.name)
        return {
            "mean": found.mean if found else None,
            "low": found.low if found else None,
            "high": found.high if found else None,
            "n": found.n if found else 0,
            "values": [None if math.isnan(v) else v for v in values.tolist()],
        }

    def _optimum_record(self) -> dict[str, Any]:
        """Returns the optimum of each variant's flows in bit/s, and why runs cannot be compared with it."""
        return {
            "not_comparable": self.not_comparable,
            "flows_bps": {variant: found.rates_bps.tolist() for variant, found in self.optima.items()},
        }


def _contrast_record(contrast: Contrast) -> dict[str, Any]:
    d = contrast.difference
    return {
        "metric": contrast.metric.name,
        "a": contrast.a,
        "b": contrast.b,
        "difference": d.mean,
        "low": d.low,
        "high": d.high,
        "p_value": d.p_value,
        "p_adjusted": contrast.adjusted_p,
        "n": d.n,
        "significant": contrast.significant,
    }
