"""The comparisons: each returns rows, and says what would be a failure."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from multihop import Result
from multihop.results.statistics import Estimate
from validation import closed_forms, scenarios
from validation.measure import (
    Against,
    Agreement,
    collision_probability,
    goodput_kbps,
    over,
    results,
    rtt_per_ack_s,
    sampled_rtt_s,
    window_segments,
)

REFERENCE = tomllib.loads((Path(__file__).parent / "reference.toml").read_text())


@dataclass(frozen=True)
class Effort:
    """How long, and how often, to run."""

    seeds: int
    seconds: int
    #: Leave out all but a few cells.
    few: bool = False

    def keeps(self, hops_or_stations: int) -> bool:
        """Is this cell among those to run?"""
        return not self.few or hops_or_stations in {1, 4, 7, 10}


#: Seeds under a routing protocol, where they differ more.
ROUTED_SEEDS = 40

FULL = Effort(seeds=6, seconds=300)
QUICK = Effort(seeds=5, seconds=120, few=True)

Build = Callable[[str, int, int], dict[str, Any]]
Runs = tuple[Result, ...]

FLOWS = {"newreno": "tcp-newreno", "sack": "tcp-sack", "udp": "udp"}


@dataclass(frozen=True)
class ChainRow:
    """A chain: goodput in kb/s, and the round-trip time in seconds where the flow has one."""

    flow: str
    hops: int
    goodput: Against
    rtt: Against | None

    def agreement(self, goodput_tolerance: float) -> Agreement:
        """Of the goodput within this tolerance, and of the round-trip time within 10 %."""
        rtt = Agreement.YES if self.rtt is None else self.rtt.agreement(0.10)
        return self.goodput.agreement(goodput_tolerance) & rtt


def ns2_chains(effort: Effort) -> list[ChainRow]:
    """NewReno, SACK and saturated UDP over 1 to 8 hops against ns-2."""
    rows = [row for row in REFERENCE["ns2_chain"] if effort.keeps(row["hops"])]
    return [_chain(row, FLOWS[row["flow"]], scenarios.ns2_chain, sampled_rtt_s, effort) for row in rows]


def ns2_dsdv_chains(effort: Effort) -> list[ChainRow]:
    """NewReno over 1 to 8 hops whose routes are kept by DSDV, against ns-2."""
    effort = _more_seeds(effort)
    rows = [row for row in REFERENCE["ns2_dsdv_chain"] if effort.keeps(row["hops"])]
    return [_chain(row, FLOWS[row["flow"]], scenarios.ns2_dsdv_chain, sampled_rtt_s, effort) for row in rows]


def _chain(
    row: dict[str, Any], scheme: str, build: Build, rtt_s: Callable[[Result], float], effort: Effort
) -> ChainRow:
    runs = results(build(scheme, row["hops"], effort.seconds), scheme, effort.seeds)
    label = f"{scheme}, {row['hops']} hops"
    goodput = Against(label, over(runs, goodput_kbps), row["goodput_kbps"], row["goodput_ci"])
    rtt = None
    if "rtt_s" in row:
        rtt = Against(label, over(runs, rtt_s), row["rtt_s"], row.get("rtt_ci", 0.0))
    return ChainRow(scheme, row["hops"], goodput, rtt)


@dataclass(frozen=True)
class DsrRow:
    """A chain over live DSR: goodput in kb/s, the round-trip time in seconds, the window in segments."""

    control_rate: str
    goodput: Against
    rtt: Against
    window: Against


def ns2_dsr_chains(seeds: int, seconds: int) -> list[DsrRow]:
    """TCP SACK over seven hops whose routes DSR finds and, at every loss of the MAC, takes for broken, against ns-2."""
    rows = []
    for row in REFERENCE["ns2_dsr_chain"]:
        runs = results(scenarios.ns2_dsr_chain(row["control_rate"], seconds), "tcp-sack", seeds)

        def against(
            measure: Callable[[Result], float], key: str, row: dict[str, Any] = row, runs: Runs = runs
        ) -> Against:
            name = key.split("_")[0]
            return Against(name, over(runs, measure), row[key], row[f"{name}_ci"])

        goodput, rtt = against(goodput_kbps, "goodput_kbps"), against(sampled_rtt_s, "rtt_s")
        rows.append(DsrRow(row["control_rate"], goodput, rtt, against(window_segments, "window")))
    return rows


@dataclass(frozen=True)
class XcpRow:
    """XCP over a chain: goodput in kb/s, and timeouts in 200 s."""

    hops: int
    goodput: Against
    timeouts: Against


def ns2_xcp_chains(seeds: int) -> list[XcpRow]:
    """XCP in its flavour ns2 over four hops against ns-2's."""
    rows = []
    for row in REFERENCE["ns2_xcp_chain"]:
        runs = results(scenarios.ns2_xcp_chain(row["hops"], 200), "xcp", seeds)
        goodput = Against("goodput", over(runs, goodput_kbps), row["goodput_kbps"], row["goodput_ci"])
        timeouts = over(runs, lambda run: float(run.flows["timeouts"].sum()))
        rows.append(XcpRow(row["hops"], goodput, Against("timeouts", timeouts, row["timeouts"], row["timeouts_ci"])))
    return rows


def ns3_chains(effort: Effort) -> list[ChainRow]:
    """NewReno over 1 to 15 hops against ns-3: within 10 %."""

    def build(_: str, hops: int, seconds: int) -> dict[str, Any]:
        return scenarios.ns3_chain(hops, seconds)

    rows = [row for row in REFERENCE["ns3_chain"] if effort.keeps(row["hops"])]
    return [_chain(row, "tcp-newreno", build, rtt_per_ack_s, effort) for row in rows]


@dataclass(frozen=True)
class CellRow:
    """A saturated cell: goodput in Mb/s, and the collision probability where the reference has one."""

    stations: int
    rts: bool
    goodput: Against
    collision: tuple[Estimate, float] | None = None


def ns2_cells(effort: Effort) -> list[CellRow]:
    """Saturated stations with and without RTS/CTS against ns-2."""
    rows = []
    for row in REFERENCE["ns2_saturation"]:
        if not effort.keeps(row["stations"]):
            continue
        scenario = scenarios.cell("ns2", row["stations"], row["rts"], effort.seconds // 3)
        runs = results(scenario, "udp", effort.seeds)
        measured = over(runs, lambda run: goodput_kbps(run) / 1e3)
        goodput = Against("saturation", measured, row["goodput_mbps"], row["goodput_ci"])
        rows.append(CellRow(row["stations"], row["rts"], goodput))
    return rows


def bianchi_cells(rules: str, effort: Effort) -> list[CellRow]:
    """1 to 50 saturated stations against Bianchi's model."""
    rows = []
    for rts in (False, True):
        for stations in (1, 2, 3, 5, 10, 20, 30, 50):
            if not effort.keeps(stations):
                continue
            scenario = scenarios.bianchi_cell(rules, stations, rts, effort.seconds // 3)
            runs = results(scenario, "udp", effort.seeds)
            model = closed_forms.bianchi(stations, 1472, rts)
            goodput = Against("saturation", over(runs, lambda run: goodput_kbps(run) / 1e3), model.goodput_bps / 1e6)
            rows.append(CellRow(stations, rts, goodput, (over(runs, collision_probability), model.collision)))
    return rows


def one_link(effort: Effort) -> list[CellRow]:
    """One saturated sender against the closed form."""
    rows = []
    for rts in (False, True):
        runs = results(scenarios.one_link(rts, effort.seconds), "udp", effort.seeds)
        expected = closed_forms.one_link(1472, rts) / 1e6
        rows.append(CellRow(1, rts, Against("one link", over(runs, lambda run: goodput_kbps(run) / 1e3), expected)))
    return rows


@dataclass(frozen=True)
class RecnRow:
    """RECN's chain, without and with RECN: total goodput in kb/s, Jain's index, efficiency, p95 delay in seconds."""

    flows: int
    at_w1: bool
    goodput: dict[str, Estimate]
    jain: dict[str, Estimate]
    efficiency: dict[str, Estimate]
    delay_p95_s: dict[str, Estimate]
    ns2: Against | None


def recn_chains(effort: Effort, flavour: str) -> list[RecnRow]:
    """RECN's paper, Table 3: 1 to 5 flows with and without RECN, from both places, over a flavour of TCP."""
    rows = []
    peers = {(row["at_w1"], row["flows"]): row for row in REFERENCE["ns2_recn_chain"]}
    for at_w1 in (True, False):
        for flows in (1, 2, 3, 4, 5):
            if effort.few and flows not in {1, 3}:
                continue
            runs = {
                scheme: results(
                    scenarios.recn_chain(scheme, flows, at_w1, effort.seconds, flavour), scheme, effort.seeds
                )
                for scheme in ("tcp-newreno", "recn")
            }
            goodput = {scheme: over(of, goodput_kbps) for scheme, of in runs.items()}
            peer = peers.get((at_w1, flows)) if flavour == "ns2" else None
            rows.append(
                RecnRow(
                    flows,
                    at_w1,
                    goodput,
                    {scheme: over(of, lambda run: float(run.summary["jain"])) for scheme, of in runs.items()},
                    {
                        scheme: over(of, lambda run: float(run.flows["transmission_efficiency"].mean()))
                        for scheme, of in runs.items()
                    },
                    {
                        scheme: over(of, lambda run: float(run.flows["delay_p95_s"].mean()))
                        for scheme, of in runs.items()
                    },
                    peer and Against("ns-2", goodput["tcp-newreno"], peer["goodput_kbps"], peer["goodput_ci"]),
                )
            )
    return rows


@dataclass(frozen=True)
class DsdvRow:
    """RECN's chain over live DSDV: total goodput in kb/s."""

    flows: int
    at_w1: bool
    goodput: Against

    @property
    def agreement(self) -> Agreement:
        """Within 5 %."""
        return self.goodput.agreement(0.05)


def recn_dsdv_chains(effort: Effort) -> list[DsdvRow]:
    """RECN's chain without ECN, 1 to 5 flows from both places, over live DSDV against ns-2."""
    effort = _more_seeds(effort)
    rows = []
    for row in REFERENCE["ns2_dsdv_recn"]:
        if effort.few and row["flows"] not in {1, 3}:
            continue
        scenario = scenarios.recn_dsdv_chain(row["flows"], row["at_w1"], effort.seconds)
        measured = over(results(scenario, "tcp-newreno", effort.seeds), goodput_kbps)
        against = Against("ns-2", measured, row["goodput_kbps"], row["goodput_ci"])
        rows.append(DsdvRow(row["flows"], row["at_w1"], against))
    return rows


def _more_seeds(effort: Effort) -> Effort:
    return effort if effort.few else replace(effort, seeds=ROUTED_SEEDS)
