"""Result of an emulation: the tables of a run, and how well real time was kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from multihop import _core
from multihop.api.results import Comparison, Result
from multihop.base.display import Displayed, Overview
from multihop.simulation.scenario import Scenario

#: Application of a flow with injected packets.
_OUTSIDE = "external"
#: Scheme without router policies.
_PLAIN = "udp"
#: Columns counted by the end of a transport, which is a program or the kernel in an emulation.
_OF_TRANSPORT = ("retransmissions", "timeouts", "recoveries", "ecn_reductions", "transfers")
#: Share of the other direction's payload below which a direction only carries replies, such as the summary of
#: a transfer or ping replies. Such a direction does not count as sharing the medium.
ANSWERING_SHARE = 0.01


@dataclass(frozen=True, repr=False)
class Emulated(Displayed):
    """Emulation that has ended."""

    #: Tables and report, as of a run. Flows are the pairs of nodes with packets; with mode ethernet there are
    #: none.
    result: Result
    #: Counters of packets, and their lag, as in `--status`.
    live: _core.EmulationStatus
    #: Nodes whose device a program has removed.
    removed: tuple[str, ...]
    #: Messages about files that could not be written; the emulation continued.
    failures: tuple[str, ...]
    #: CPU time of the loop [s].
    cpu_s: float
    #: Whether the loop had real-time priority.
    prompt: bool
    #: Real seconds per virtual second.
    slow: float
    #: Limit of lag for a valid result [s].
    max_lag_s: float
    #: What routed: the run ("ip"), or programs ("ethernet").
    mode: str
    #: Delivered bytes by pair of nodes: payload, or with mode ethernet the content of unicast frames.
    delivered_bytes: Mapping[str, int]

    def overview(self, *, whole: bool = True) -> Overview:
        """Returns the run's flows, and whether the result is valid."""
        said = self.why_invalid or ["the result is valid"]
        return replace(self.result.overview(whole=whole), sentences=[*said, *self.failures])

    @property
    def overflowed(self) -> int:
        """Packets dropped by the kernel because a device's queue was full."""
        return self.live["overflowed"]

    @property
    def is_valid(self) -> bool:
        """Whether the result is valid: packets were in time, and none was lost undetected."""
        return not self.why_invalid

    @property
    def why_invalid(self) -> list[str]:
        """Sentences with the reasons for an invalid result; empty if it is valid."""
        reasons = []
        if self.live["lateness_p99_s"] > self.max_lag_s:
            limit = f"--max-lag {self.max_lag_s * 1e3:g} ms"
            reasons.append(f"the p99 lag is above {limit}; use --slow, or fewer packets")
        if self.overflowed:
            reasons.append(
                f"the kernel dropped {self.overflowed} packets before they were read, since programs sent faster than "
                "the emulation reads; use --slow, or fewer packets"
            )
        reasons += [
            f"{node}: a program removed its device air0, so that the node was cut off from then on"
            for node in self.removed
        ]
        return reasons

    @property
    def comparison(self) -> Comparison:
        """The run as a comparison, for tables and reports."""
        return _Alone(self.result.scenario, {"scenario": (self.result,)})

    def sentences(self) -> list[str]:
        """Returns sentences about lag and outcomes of packets."""
        live = self.live
        pace = "" if self.slow == 1 else f" ({self.slow:g} times as slow as real time, which programs do not know)"
        priority = "with real-time priority" if self.prompt else "without real-time priority"
        p50, p99, most = (live[key] * 1e3 for key in ("lateness_p50_s", "lateness_p99_s", "lateness_max_s"))
        lag = f"lag of packets: p50 {p50:.3f} ms, p99 {p99:.3f} ms, at most {most:.3f} ms, {priority}"
        lag = "\n".join([lag, *(f"INVALID: {reason}" for reason in self.why_invalid)])
        per_packet = f", {self.cpu_s * 1e6 / live['read']:.1f} us per packet" if live["read"] else ""
        return [
            f"{live['virtual_s']:.2f} s emulated in {live['real_s']:.2f} s{pace}",
            lag,
            f"packets read: {live['read']}; {', '.join(self._ends())}",
            f"{self.cpu_s:.2f} s of CPU{per_packet}",
        ]

    def _ends(self) -> list[str]:
        live = self.live
        ends = [f"{live['delivered']} delivered ({live['marked']} marked)"]
        ends += [f"{count} lost ({cause})" for cause, count in live["lost"].items() if count]
        ends += [f"{count} refused ({why})" for why, count in live["refused"].items() if count]
        ends += [f"{live['device_full']} not taken by devices"] if live["device_full"] else []
        ends += [f"{live['queued']} still in the network"]
        ends += [f"{self.overflowed} more never read, as devices overflowed"] if self.overflowed else []
        return ends


@dataclass(frozen=True)
class _Alone(Comparison):
    @property
    def command(self) -> str:
        """The command, which is that of an emulation."""
        return super().command.replace("multihop run", "multihop emulate", 1).replace(" --external alone", "")


def result_of(
    scenario: Scenario, view: _core.ScenarioView, overrides: Mapping[str, Any], output: _core.Output
) -> Result:
    """Returns the result with only those flows that had packets."""
    sent = np.asarray(output["flows"]["packets_sent"]) > 0
    number = np.cumsum(sent) - 1
    tables: dict[str, Any] = dict(output)
    for name, table in tables.items():
        if name == "flows":
            tables[name] = {column: _where(values, sent) for column, values in table.items()}
            tables[name]["flow"] = np.arange(sent.sum(), dtype=np.asarray(table["flow"]).dtype)
        elif "flow" in table:
            kept = sent[np.asarray(table["flow"])]
            tables[name] = {column: _where(values, kept) for column, values in table.items()}
            flow = tables[name]["flow"]
            tables[name]["flow"] = number[flow].astype(flow.dtype)
    flows = [flow for flow, kept in zip(view["flows"], sent, strict=True) if kept]
    seen = _as_seen(flows, tables["flows"])
    return Result(scenario, {**view, "flows": seen}, overrides, cast("_core.Output", tables))


def _as_seen(flows: list[_core.FlowView], table: dict[str, _core.Column]) -> list[_core.FlowView]:
    """Returns flows with the known data on injected ones, whose transport is a program's or the kernel's.

    Values that an end of a transport would count become missing in the table.
    """
    is_outside = np.array([flow["app"] == _OUTSIDE for flow in flows], dtype=bool)
    for column in _OF_TRANSPORT:
        counted = np.asarray(table[column], dtype=float)
        table[column] = np.where(is_outside, np.nan, counted)
    ends = [(flow["source"], flow["destination"]) for flow in flows]
    sent = {
        pair: int(count) for pair, count, outside in zip(ends, table["sent_bytes"], is_outside, strict=True) if outside
    }
    seen: list[_core.FlowView] = []
    for flow, (source, destination), outside in zip(flows, ends, is_outside.tolist(), strict=True):
        if outside:
            there, back = sent[source, destination], sent.get((destination, source), 0)
            scheme = _OUTSIDE if flow["scheme"] == _PLAIN else flow["scheme"]
            seen.append({**flow, "scheme": scheme, "acknowledges": there < ANSWERING_SHARE * back})
        else:
            seen.append(flow)
    table["scheme"] = [flow["scheme"] for flow in seen]
    return seen


def _where(values: _core.Column, mask: np.ndarray[Any, Any]) -> _core.Column:
    if isinstance(values, list):
        return [value for value, kept in zip(values, mask, strict=True) if kept]
    chosen: _core.Column = values[mask]
    return chosen
