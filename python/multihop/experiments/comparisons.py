"""Several runs side by side: variants (usually schemes) by seeds."""

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
from multihop.experiments.runs import Run
from multihop.experiments.services import Service, records, services
from multihop.optima.optimum import Optimum, optimum
from multihop.results.columns import METRICS, OPTIMUM_METRICS, VIDEO_METRICS, Metric
from multihop.results.folders import MOTION_FILE
from multihop.results.frames import largest_alike
from multihop.results.statistics import (
    SIGNIFICANCE,
    Estimate,
    PairedDifference,
    estimate_or_none,
    holm,
    paired_difference,
)
from multihop.results.words import several, with_interval
from multihop.simulation.scenario import Scenario, inline_toml

#: Metrics of the largest group of flows that want the same.
_OF_ALIKE = frozenset({"jain", "delay_p50_s", "delay_p95_s"})


@dataclass(frozen=True)
class Contrast:
    """Two variants compared by one metric over common seeds.

    `adjusted_p` is Holm's adjustment over all pairs of variants for this metric; `None` with one seed.
    """

    metric: Metric
    a: str
    b: str
    difference: PairedDifference
    adjusted_p: float | None

    @property
    def significant(self) -> bool:
        """Is the difference of the two significant?"""
        return self.adjusted_p is not None and self.adjusted_p < SIGNIFICANCE


@dataclass(frozen=True, repr=False)
class Runs(Displayed):
    """Runs of one scenario: for each variant, one `Run` per seed, in the same order of seeds."""

    #: What was run.
    scenario: Scenario
    #: Variant -> results.
    results: Mapping[str, tuple[Run, ...]] = field(repr=False)

    @property
    def variants(self) -> list[str]:
        """What is compared: names of schemes, or `scenario` alone for the scenario as written."""
        return list(self.results)

    @property
    def first(self) -> Run:
        """The run of the first variant and seed, for what all runs have in common."""
        return next(iter(self.results.values()))[0]

    @property
    def view(self) -> _core.ScenarioView:
        """The resolved scenario of the first run: nodes, links, and flows with their paths."""
        return self.first.view

    @property
    def seeds(self) -> list[int]:
        """The common seeds."""
        return [result.seed for result in next(iter(self.results.values()))]

    @property
    def command(self) -> str:
        """A command that makes the same results from `scenario.toml`, as in what `save` writes."""
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
        """Which flows have the compared scheme and which keep theirs; none where all have it."""
        first = self.first
        return varied_flows.sentence(first.view["flows"], first.overrides.get("varying"))

    @cached_property
    def optima(self) -> dict[str, Optimum]:
        """Proportionally fair optimum by variant, with its own transport's headers and acknowledgements.

        See `Optimum.not_comparable` for what runs cannot be held against it. Nothing where the extra is not
        installed.
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
        """Variant -> what each flow got of what it could have."""
        return {variant: services(results, self.optima.get(variant)) for variant, results in self.results.items()}

    @property
    def not_comparable(self) -> str | None:
        """Why these runs cannot be held against their optima; none if they can."""
        lacking = extras.missing("optimum")
        if lacking:
            return f"it needs {', '.join(lacking)}: {extras.install('optimum')}"
        return next((why for found in self.optima.values() if (why := found.not_comparable) is not None), None)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Metrics reported of each variant; those of the optimum where runs can be held against it."""
        return self.measured_metrics if self.not_comparable is not None else (*self.measured_metrics, *OPTIMUM_METRICS)

    @property
    def measured_metrics(self) -> tuple[Metric, ...]:
        """Those that runs have by themselves.

        Fairness is between flows that want the same; frames are those of videos.
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
        """One value per seed; `metric` is a column of the summary, `optimum_distance` or `optimum_gap`.

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
        """Goodput of each flow in bit/s, of shape (seeds, flows)."""
        return np.array([result.flows["goodput_bps"].to_numpy(dtype=float) for result in self.results[variant]])

    def by_flow(self, variant: str, column: str) -> np.ndarray:
        """Mean over seeds of a column of the flow table, by flow; missing (NaN) where no seed has a value."""
        values = pd.concat([result.flows[column].reset_index(drop=True) for result in self.results[variant]], axis=1)
        means: np.ndarray = values.mean(axis=1).to_numpy(dtype=float)
        return means

    def loss_ratios(self, variant: str) -> np.ndarray:
        """Share of packets lost over all seeds, by flow, and last of all flows; NaN without packets.

        A flow that sends ten packets under one seed and a million under the next has that of the million.
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
        """All pairs of variants by one metric, leaving out pairs without a common value."""
        found: list[tuple[str, str, PairedDifference]] = []
        for a, b in combinations(self.variants, 2):
            x, y = self.values(a, metric.name), self.values(b, metric.name)
            if np.isfinite(x - y).any():
                found.append((a, b, paired_difference(x, y)))
        p_values = [difference.p_value for _, _, difference in found]
        if any(p is None for p in p_values):
            return [Contrast(metric, a, b, difference, None) for a, b, difference in found]
        adjusted = holm([p for p in p_values if p is not None])
        return [Contrast(metric, a, b, d, p) for (a, b, d), p in zip(found, adjusted, strict=True)]

    def table(self, name: str) -> pd.DataFrame:
        """The tables of all runs below each other, with columns `variant` and `seed` in front.

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
    def flows(self) -> pd.DataFrame:
        """One row per variant, seed and flow."""
        return self.table("flows")

    @property
    def nodes(self) -> pd.DataFrame:
        """One row per variant, seed and node."""
        return self.table("nodes")

    @property
    def links(self) -> pd.DataFrame:
        """One row per variant, seed and directed link."""
        return self.table("links")

    @property
    def wires(self) -> pd.DataFrame:
        """One row per variant, seed and direction of a wire."""
        return self.table("wires")

    @property
    def categories(self) -> pd.DataFrame:
        """One row per variant, seed, node and access category, of a scenario with `[mac.edca]`."""
        return self.table("categories")

    @property
    def series(self) -> pd.DataFrame:
        """One row per variant, seed, flow and step."""
        return self.table("series")

    @property
    def delays(self) -> pd.DataFrame:
        """One row per variant, seed, flow and bin of one-way delay."""
        return self.table("delays")

    @property
    def measurements(self) -> pd.DataFrame:
        """One row per variant, seed, step, node and estimator that the scenario asks for."""
        return self.table("measurements")

    @property
    def positions(self) -> pd.DataFrame:
        """One row per variant, seed, step, and node that moves or is off for a while."""
        return self.table("positions")

    @property
    def summary(self) -> pd.DataFrame:
        """One row per variant and seed."""
        return self.table("summary")

    def overview(self, *, whole: bool = True) -> Overview:
        """Metrics of each variant, means with their intervals; `whole` includes those of the optimum."""
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
        """Estimates and paired differences as plain data (JSON), in SI units."""
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
        """The optimum of each variant's flows, in bit/s, and why runs cannot be held against it, if so."""
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
