"""One finished run, as tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from multihop import _core
from multihop.base.display import Displayed, Overview
from multihop.results import frames
from multihop.results.columns import METRICS, TABLES
from multihop.results.words import fixed
from multihop.simulation.scenario import Scenario


class Tables(ABC):
    """Tables of runs as attributes. Those of several runs begin with the columns `variant` and `seed`."""

    @abstractmethod
    def table(self, name: str) -> pd.DataFrame:
        """Returns the table of that name: one of `multihop.results.columns.TABLES`."""

    @property
    def flows(self) -> pd.DataFrame:
        """One row per run and flow."""
        return self.table("flows")

    @property
    def nodes(self) -> pd.DataFrame:
        """One row per run and node."""
        return self.table("nodes")

    @property
    def links(self) -> pd.DataFrame:
        """One row per run and directed link that carried at least one unicast attempt."""
        return self.table("links")

    @property
    def wires(self) -> pd.DataFrame:
        """One row per run and direction of a wire."""
        return self.table("wires")

    @property
    def categories(self) -> pd.DataFrame:
        """One row per run, node and access category, of a scenario with `[mac.edca]`."""
        return self.table("categories")

    @property
    def series(self) -> pd.DataFrame:
        """One row per run, flow and step, from the start of the run."""
        return self.table("series")

    @property
    def delays(self) -> pd.DataFrame:
        """One row per run, flow and bin of one-way delay: number of data packets with that delay."""
        return self.table("delays")

    @property
    def measurements(self) -> pd.DataFrame:
        """One row per run, step, node and estimator of the scenario, from the start of the run."""
        return self.table("measurements")

    @property
    def positions(self) -> pd.DataFrame:
        """One row per run, step, and node that moves or is off for a while, from the start of the run."""
        return self.table("positions")


@dataclass(frozen=True, repr=False)
class FinishedRun(Tables, Displayed):
    """Finished run. Tables are DataFrames, whose columns `multihop.results.columns` defines."""

    #: Scenario that was run.
    scenario: Scenario
    #: Resolved scenario: nodes, links, flows with their paths.
    view: _core.ScenarioView
    #: Replaced keys of the scenario.
    overrides: Mapping[str, Any]
    #: Columns of the engine, from which the tables are made.
    output: _core.Output = field(repr=False)

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self.output["summary"]["seed"])

    @cached_property
    def summary(self) -> dict[str, int | float | str]:
        """Scalars of the run, defined by `multihop.results.columns.TABLES["summary"]`."""
        return frames.summaries(self.view, [self.output])[0]

    def table(self, name: str) -> pd.DataFrame:
        """Returns the table of that name: one of `multihop.results.columns.TABLES`."""
        if name == "summary":
            return pd.DataFrame([self.summary])
        if name not in TABLES:
            raise KeyError(name)
        if name not in self._tables:
            self._tables[name] = frames.table(name, self.view, [self.output]).drop(columns="seed")
        return self._tables[name]

    @cached_property
    def _tables(self) -> dict[str, pd.DataFrame]:
        """Cache of tables by name."""
        return {}

    def overview(self, *, whole: bool = True) -> Overview:
        """Returns the metrics of the run and its flows, the flow with the least goodput first."""
        del whole
        summary = self.summary
        fairness = len(frames.largest_alike(self.view["flows"])) > 1
        metrics = [m for m in METRICS if m.name != "jain" or fairness]
        shown = [f"{m.title} {m.shown(float(summary[m.name])):.4g} {m.unit}".strip() for m in metrics]
        title = f"{self.view['name']}, seed {self.seed}, {summary['measured_s']:g} s measured"
        flows = self.flows.sort_values("goodput_bps", kind="stable").to_dict("records")
        rows = [
            [
                str(flow["name"]),
                str(flow["scheme"]),
                f"{flow['goodput_bps'] / 1e6:.3f}",
                fixed(1e3 * flow["delay_p50_s"], 1),
                fixed(1e3 * flow["delay_p95_s"], 1),
                fixed(100 * flow["loss_ratio"], 2),
            ]
            for flow in flows
        ]
        heads = ["flow", "scheme", "goodput Mb/s", "delay p50 ms", "p95 ms", "lost %"]
        return Overview(title, heads, rows, [", ".join(shown)])
