"""Explicit rates on a chain of four hops: what schemes make of it, and what rt-Winf believes, beside the truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from multihop import Result
from multihop.results.columns import DROP_CAUSES
from multihop.results.statistics import Estimate
from validation.measure import over, results

Scenario = dict[str, Any]
Options = dict[str, Any]

HOPS = 4
MIDDLE = f"n{HOPS // 2}"
WARMUP = 10
#: Bytes of the packets of datagrams at the network layer, and of their payload: as large as those of TCP.
PACKET, PAYLOAD = 1500, 1472
#: Payload of a segment of TCP.
SEGMENT = 1460


@dataclass(frozen=True)
class Effort:
    """How many seeds, and how many seconds are counted of each run."""

    seeds: int
    seconds: int


FULL = Effort(seeds=10, seconds=110)
QUICK = Effort(seeds=2, seconds=30)

#: rt-Winf as its equations are printed.
PRINTED: Options = {
    "reading": "printed",
    "estimate_over": "1 s",
    "self_interference": False,
    "await_estimate": False,
}
#: And what XCP-Winf has besides.
PRINTED_XCP: Options = {**PRINTED, "queue_allowed": 0, "alpha": 0.4}

#: Each variant's label, scheme and options.
VARIANTS: list[tuple[str, str, Options]] = [
    ("tcp-newreno", "tcp-newreno", {"flavour": "rfc"}),
    ("tcp-sack", "tcp-sack", {}),
    ("tcp-ap", "tcp-ap", {"rate": "11 Mb/s"}),
    ("xcp", "xcp", {}),
    ("xcp, set to 1 Mb/s", "xcp", {"capacity": "1 Mb/s"}),
    ("xcp, phy-rate, window 44", "xcp", {"capacity": "phy-rate", "window": 44}),
    ("xcp, phy-rate", "xcp", {"capacity": "phy-rate"}),
    ("xcp, phy-rate, forgets SACK", "xcp", {"capacity": "phy-rate", "keep_sacked": False}),
    ("xcp-b", "xcp-b", {}),
    ("xcp-winf", "xcp-winf", {}),
    ("xcp-winf, printed, window 44", "xcp-winf", {**PRINTED_XCP, "window": 44}),
    ("xcp-winf, printed", "xcp-winf", PRINTED_XCP),
    ("xcp-winf, printed, full busy, window 44", "xcp-winf", {**PRINTED_XCP, "full_busy": True, "window": 44}),
    ("xcp-winf, printed, full busy", "xcp-winf", {**PRINTED_XCP, "full_busy": True}),
    ("rcp", "rcp", {}),
    ("rcp, phy-rate, window 32", "rcp", {"capacity": "phy-rate", "window": 32}),
    ("rcp, phy-rate", "rcp", {"capacity": "phy-rate"}),
    ("rcp, set to 1 Mb/s", "rcp", {"capacity": "1 Mb/s"}),
    ("rcp-winf", "rcp-winf", {}),
    ("rcp-winf, printed, window 32", "rcp-winf", {**PRINTED, "window": 32}),
    ("rcp-winf, printed", "rcp-winf", PRINTED),
    ("rcp-winf, printed, full busy", "rcp-winf", {**PRINTED, "full_busy": True}),
]


def chain(scheme: str, options: Options, effort: Effort, hops: int = HOPS) -> Scenario:
    """One saturated flow over hops of 200 m, 802.11b with RTS/CTS, ns-2's rules, and ranges of 250 and 500 m."""
    return {
        "name": f"chain-{scheme}",
        "duration": f"{effort.seconds + WARMUP} s",
        "warmup": f"{WARMUP} s",
        "record_interval": "1 s",
        "phy": {"standard": "802.11b", "data_rate": "11 Mb/s", "control_rate": "1 Mb/s"},
        "mac": {"rules": "ns2", "rts_threshold": "0 B", "queue": 50},
        "medium": {"model": "ranges", "receive_range": "250 m", "carrier_sense_range": "500 m"},
        "topology": {"generator": "chain", "hops": hops, "spacing": "200 m"},
        "schemes": {scheme: options},
        "flows": [{"from": "n0", "to": f"n{hops}", "scheme": scheme, "start_jitter": "1 s"}],
    }


@dataclass(frozen=True)
class SchemeRow:
    """What a variant makes of the chain: means over seeds."""

    label: str
    goodput_mbps: Estimate
    #: Packets in the fullest queue, on average over time.
    queue: Estimate
    delay_s: Estimate
    #: Packets of the flow, data and acknowledgements, that were lost in a second, by cause.
    lost: dict[str, Estimate]
    #: Share of the data packets that repeated payload.
    repeated: Estimate
    #: Segments in the window, on average over time.
    window: Estimate


def schemes(effort: Effort) -> list[SchemeRow]:
    """What each variant makes of the chain."""
    return [_scheme(label, scheme, options, effort) for label, scheme, options in VARIANTS]


def _scheme(label: str, scheme: str, options: Options, effort: Effort) -> SchemeRow:
    runs = results(chain(scheme, options, effort), scheme, effort.seeds)

    def lost(run: Result, cause: str) -> float:
        return float(run.nodes[f"dropped_{cause}"].sum()) / effort.seconds

    by_cause = {cause: over(runs, partial(lost, cause=cause)) for cause in DROP_CAUSES}
    return SchemeRow(
        label,
        over(runs, lambda run: float(run.flows["goodput_bps"].sum()) / 1e6),
        over(runs, lambda run: float(run.nodes["queue_mean"].max())),
        over(runs, lambda run: float(run.flows["delay_mean_s"].mean())),
        {cause: estimate for cause, estimate in by_cause.items() if estimate.mean > 0},
        over(runs, lambda run: float(run.flows["retransmission_ratio"].mean())),
        over(runs, lambda run: float(run.flows["window_mean_bytes"].mean()) / SEGMENT),
    )


@dataclass(frozen=True)
class Truth:
    """What the chain carries, in Mb/s of packets at the network layer."""

    #: One hop alone, saturated.
    hop_mbps: float
    #: The whole chain: the most that arrives, and the offered load for that.
    chain_mbps: float
    best_load_mbps: float
    #: What arrives if the first node always has something to send.
    saturated_mbps: float


def truth(effort: Effort) -> Truth:
    """Runs of datagrams: one hop alone, and loads from 0.8 to 2 Mb/s over the chain."""

    def carried(hops: int, load_mbps: float | None) -> float:
        scenario = chain("udp", {"segment_size": f"{PAYLOAD} B"}, effort, hops)
        if load_mbps is not None:
            payload_bps = load_mbps * 1e6 * PAYLOAD / PACKET
            app = {"kind": "cbr", "rate": f"{payload_bps} b/s", "packet": f"{PAYLOAD} B"}
            scenario["flows"][0]["app"] = app
        goodput = over(
            results(scenario, "udp", min(effort.seeds, 3)), lambda run: float(run.flows["goodput_bps"].sum())
        )
        return goodput.mean * PACKET / PAYLOAD / 1e6

    loads = [0.8 + 0.05 * step for step in range(25)]
    arrived = {load: carried(HOPS, load) for load in loads}
    best = max(loads, key=lambda load: arrived[load])
    return Truth(carried(1, None), arrived[best], best, carried(HOPS, None))


@dataclass(frozen=True)
class BeliefRow:
    """What rt-Winf says at a node, as its scheme reads it, and what is so: means over time and seeds, in Mb/s."""

    label: str
    node: str
    capacity: Estimate
    available: Estimate
    #: Share of the capacity that is believed to be in use, and of time in which the node could not use the medium.
    believed_busy: Estimate
    true_busy: Estimate
    #: Packets in the queue at which the scheme's law gives out nothing more, by what the node believes.
    rest_packets: float


def beliefs(effort: Effort) -> list[BeliefRow]:
    """At each node, under both schemes with rt-Winf as printed, and with whole exchanges counted besides."""
    rows = []
    for label, scheme, options in VARIANTS:
        if options.get("reading") != "printed" or "window" in options:
            continue
        scenario = chain(scheme, options, effort)
        scenario["measure"] = [
            {"estimator": "rt-winf", "reference_size": "1500 B", "full_busy": options.get("full_busy", False)}
        ]
        runs = results(scenario, scheme, effort.seeds)
        rows += [_belief(label, scheme, f"n{node}", runs) for node in range(HOPS + 1)]
    return rows


def rest_packets(scheme: str, capacity_mbps: float, available_mbps: float, rtt_s: float) -> float:
    """The queue in equilibrium, in packets.

    For xcp-winf `alpha AB = beta Q / d`, where d is at most 0.5 s; for rcp-winf
    `alpha (0.95 C - (C - AB)) = beta q / d`, where alpha is beta.
    """
    if scheme == "xcp-winf":
        bits = 0.4 / 0.226 * available_mbps * 1e6 * min(rtt_s, 0.5)
    else:
        bits = (0.95 * capacity_mbps - (capacity_mbps - available_mbps)) * 1e6 * rtt_s
    return bits / 8 / PACKET


def _belief(label: str, scheme: str, node: str, runs: tuple[Result, ...]) -> BeliefRow:
    def mean(column: str, scale: float = 1.0) -> Estimate:
        return over(runs, lambda run: scale * _late(run, node, column))

    capacity, available = mean("capacity_bps", 1e-6), mean("available_bps", 1e-6)
    rtt = over(runs, lambda run: float(run.flows["rtt_mean_s"].mean()))
    return BeliefRow(
        label,
        node,
        capacity,
        available,
        mean("implied_busy_ratio"),
        mean("true_busy_ratio"),
        rest_packets(scheme, capacity.mean, available.mean, rtt.mean),
    )


def _late(run: Result, node: str, column: str) -> float:
    table = run.measurements
    return float(table.loc[(table["name"] == node) & (table["time_s"] > WARMUP), column].mean())
