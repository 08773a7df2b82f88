"""The result of one run, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from multihop import _core
from multihop.results import frames
from multihop.results.columns import METRICS, TABLES
from multihop.simulation.scenario import Scenario


@dataclass(frozen=True)
class Run:
    """One run. Tables are DataFrames; `multihop.results.columns` says each column's unit and meaning."""

    #: What was run.
    scenario: Scenario
    #: The scenario resolved: nodes, links, flows with their paths.
    view: _core.ScenarioView
    #: What replaced keys of the scenario in this run.
    overrides: Mapping[str, Any]
    #: The engine's columns, from which the tables are made.
    output: _core.Output = field(repr=False)

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self.output["summary"]["seed"])

    @cached_property
    def summary(self) -> dict[str, int | float | str]:
        """Scalars of the run; see `multihop.results.columns.TABLES["summary"]`."""
        return frames.summaries(self.view, [self.output])[0]

    @cached_property
    def flows(self) -> pd.DataFrame:
        """One row per flow."""
        return self._frame("flows")

    @cached_property
    def nodes(self) -> pd.DataFrame:
        """One row per node."""
        return self._frame("nodes")

    @cached_property
    def links(self) -> pd.DataFrame:
        """One row per directed link that carried at least one unicast attempt."""
        return self._frame("links")

    @cached_property
    def wires(self) -> pd.DataFrame:
        """One row per direction of a wire."""
        return self._frame("wires")

    @cached_property
    def categories(self) -> pd.DataFrame:
        """One row per node and access category, of a scenario with `[mac.edca]`."""
        return self._frame("categories")

    @cached_property
    def series(self) -> pd.DataFrame:
        """One row per flow and step, from the start of the run."""
        return self._frame("series")

    @cached_property
    def delays(self) -> pd.DataFrame:
        """One row per flow and bin of one-way delay: number of data packets that arrived with it."""
        return self._frame("delays")

    @cached_property
    def measurements(self) -> pd.DataFrame:
        """One row per step, node and estimator that the scenario asks for, from the start of the run."""
        return self._frame("measurements")

    @cached_property
    def positions(self) -> pd.DataFrame:
        """One row per step and node that moves or is off for a while, from the start of the run."""
        return self._frame("positions")

    def table(self, name: str) -> pd.DataFrame:
        """The table of that name: one of `multihop.results.columns.TABLES`."""
        if name == "summary":
            return pd.DataFrame([self.summary])
        if name not in TABLES:
            raise KeyError(name)
        made: pd.DataFrame = getattr(self, name)
        return made

    def _frame(self, name: str) -> pd.DataFrame:
        return frames.table(name, self.view, [self.output]).drop(columns="seed")

    def _repr_html_(self) -> str:
        shown = [f"{m.title}: {m.shown(float(self.summary[m.name])):.4g} {m.unit}".strip() for m in METRICS]
        columns = ["name", "scheme", "hops", "goodput_bps", "delay_p50_s", "delay_p95_s", "loss_ratio"]
        table = self.flows[columns].to_html(index=False, border=0, float_format=lambda v: f"{v:.4g}")
        head = f"<b>{_escape(self.view['name'])}</b>, seed {self.seed}, {self.summary['measured_s']:g} s measured"
        return f"<div>{head}<br>{_escape(' · '.join(shown))}{table}</div>"


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
