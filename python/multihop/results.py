"""The result of one run, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from multihop import _core
from multihop.columns import DROP_CAUSES, METRICS, TABLES
from multihop.statistics import jain

if TYPE_CHECKING:
    from multihop.comparison import Comparison
    from multihop.scenario import Scenario


@dataclass(frozen=True)
class Result:
    """One run. Tables are DataFrames; `multihop.columns` says each column's unit and meaning.

    Attributes:
        scenario: what was run.
        view: the scenario resolved: nodes, links, flows with their paths.
        overrides: what replaced keys of the scenario in this run.
    """

    scenario: Scenario
    view: _core.ScenarioView
    overrides: Mapping[str, Any]
    _output: _core.Output = field(repr=False)

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self._output["summary"]["seed"])

    @cached_property
    def summary(self) -> dict[str, int | float | str]:
        """Scalars of the run; see `multihop.columns.TABLES["summary"]`."""
        raw = dict(self._output["summary"])
        raw.update(_flow_scalars(self.flows))
        return {name: raw[name] for name in TABLES["summary"] if name in raw}

    @cached_property
    def flows(self) -> pd.DataFrame:
        """One row per flow."""
        df = pd.DataFrame(self._output["flows"])
        df["goodput_bps"] = df["delivered_bytes"] * 8 / float(self._output["summary"]["measured_s"])
        sent = df["packets_sent"].to_numpy(dtype=float)
        lost = df[[f"dropped_{cause}" for cause in DROP_CAUSES]].sum(axis=1).to_numpy(dtype=float)
        # Not per packet emitted: a queue filled during the warm-up may lose more than is emitted afterwards.
        df["loss_ratio"] = _ratio(lost, lost + df["packets_delivered"].to_numpy(dtype=float))
        df["retransmission_ratio"] = _ratio(df["retransmissions"].to_numpy(dtype=float), sent)
        # The engine writes zero where nothing arrived; a delay that was never observed is missing, not small.
        nothing_arrived = df["packets_delivered"] == 0
        delays = [name for name in df.columns if name.startswith("delay_")]
        df.loc[nothing_arrived, delays] = np.nan
        return df[list(TABLES["flows"])]

    @cached_property
    def nodes(self) -> pd.DataFrame:
        """One row per node."""
        return pd.DataFrame(self._output["nodes"])[list(TABLES["nodes"])]

    @cached_property
    def links(self) -> pd.DataFrame:
        """One row per directed link that carried at least one unicast attempt."""
        df = pd.DataFrame(self._output["links"])
        names = np.array([node["name"] for node in self.view["nodes"]], dtype=object)
        df["sender_name"] = names[df["sender"].to_numpy(dtype=int)]
        df["receiver_name"] = names[df["receiver"].to_numpy(dtype=int)]
        return df[list(TABLES["links"])]

    @cached_property
    def series(self) -> pd.DataFrame:
        """One row per flow and step, from the start of the run."""
        df = pd.DataFrame(self._output["series"])
        times = np.unique(df["time_s"].to_numpy(dtype=float))
        starts = np.concatenate([[0.0], times[:-1]])
        lengths = (times - starts)[np.searchsorted(times, df["time_s"].to_numpy(dtype=float))]
        df["goodput_bps"] = df["delivered_bytes"] * 8 / lengths
        names = np.array([flow["name"] for flow in self.view["flows"]], dtype=object)
        df["name"] = names[df["flow"].to_numpy(dtype=int)]
        return df[list(TABLES["series"])]

    def table(self, name: str) -> pd.DataFrame:
        """The table of that name: flows, nodes, links, series or summary."""
        if name == "summary":
            return pd.DataFrame([self.summary])
        return {"flows": self.flows, "nodes": self.nodes, "links": self.links, "series": self.series}[name]

    def report(self, path: str | Path) -> Path:
        """Writes a self-contained HTML report and returns its path."""
        return self._alone().report(path)

    def save(self, directory: str | Path) -> Path:
        """Writes the tables (Parquet and CSV), the scenario and a manifest, and returns the directory."""
        return self._alone().save(directory)

    def _alone(self) -> Comparison:
        from multihop.comparison import Comparison

        return Comparison(self.scenario, {"scenario": (self,)})

    def _repr_html_(self) -> str:
        shown = [f"{m.title}: {m.shown(float(self.summary[m.name])):.4g} {m.unit}".strip() for m in METRICS]
        columns = ["name", "scheme", "hops", "goodput_bps", "delay_p50_s", "delay_p95_s", "loss_ratio"]
        table = self.flows[columns].to_html(index=False, border=0, float_format=lambda v: f"{v:.4g}")
        head = f"<b>{_escape(self.view['name'])}</b>, seed {self.seed}, {self.summary['measured_s']:g} s measured"
        return f"<div>{head}<br>{_escape(' · '.join(shown))}{table}</div>"


def _flow_scalars(flows: pd.DataFrame) -> dict[str, float | int]:
    goodput = flows["goodput_bps"].to_numpy(dtype=float)
    arrived = flows["packets_delivered"].to_numpy(dtype=float)
    sent = float(flows["packets_sent"].sum())
    lost = float(flows[[f"dropped_{cause}" for cause in DROP_CAUSES]].to_numpy(dtype=float).sum())
    delay = flows["delay_mean_s"].to_numpy(dtype=float)
    heard = arrived > 0
    return {
        "goodput_total_bps": float(goodput.sum()),
        "jain": jain(goodput),
        "delay_mean_s": float(np.average(delay[heard], weights=arrived[heard])) if heard.any() else float("nan"),
        "delay_p50_s": _mean(flows["delay_p50_s"]),
        "delay_p95_s": _mean(flows["delay_p95_s"]),
        "rtt_mean_s": _mean(flows["rtt_mean_s"]),
        "loss_ratio": lost / decided if (decided := lost + float(arrived.sum())) else float("nan"),
        "feedback_dropped": int(flows["feedback_dropped"].sum()),
        "retransmission_ratio": float(flows["retransmissions"].sum()) / sent if sent else float("nan"),
        "flows_starved": int((goodput == 0).sum()),
    }


def _mean(column: pd.Series[float]) -> float:
    present = column.dropna()
    return float(present.mean()) if len(present) else float("nan")


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, np.nan)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
