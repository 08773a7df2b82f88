"""Flows whose packets arrive at one queue at equal intervals.

A full queue has room only just after a packet has left. The phase of the flows decides whose packet arrives
at that moment. The phase stays constant for the whole run, so that one flow always finds room and another
never (Floyd and Jacobson, "On traffic phase effects in packet-switched gateways", 1992). Clocks of real
senders drift enough to break the phase; `jitter` of the application breaks it in a simulation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multihop import _core
from multihop.experiments.comparisons import VariantRuns
from multihop.results.words import three_digits

#: Ratio of two goodputs from which flows differ.
_DIFFERENT = 1.25

#: Share of packets that a flow drops at full queues, below which its phase does not matter.
_LOSSES = 0.01

#: Most flows that a sentence names.
_MOST_FLOWS = 4


@dataclass(frozen=True)
class InPhase:
    """Flows that send at equal intervals through the same queues.

    Attributes:
        flows: indices of the flows.
        interval_s: interval between two packets of each flow.
        nodes: indices of the nodes that have the queues.
    """

    flows: tuple[int, ...]
    interval_s: float
    nodes: tuple[int, ...]


def in_phase(view: _core.ScenarioView) -> list[InPhase]:
    """Returns groups of flows with equal intervals whose paths share queues."""
    wires = {(wire["sender"], wire["receiver"]) for wire in view["wires"]}
    queues: dict[tuple[float, tuple[int, ...]], list[int]] = defaultdict(list)
    for index, flow in enumerate(view["flows"]):
        interval = flow.get("interval")
        if interval is None or flow.get("group", index) != index:  # the first flow of a group sends for all
            continue
        for hop in zip(flow["path"], flow["path"][1:], strict=False):
            # A wire has a queue in each direction; all packets that a radio sends share the radio's queue.
            queues[interval, hop if hop in wires else hop[:1]].append(index)
    shared: dict[tuple[float, tuple[int, ...]], list[int]] = defaultdict(list)
    for (interval, queue), flows in queues.items():
        if len(flows) > 1:
            shared[interval, tuple(flows)].append(queue[0])
    return [InPhase(flows, interval, tuple(nodes)) for (interval, flows), nodes in shared.items()]


def sentences(runs: VariantRuns) -> list[str]:
    """Returns a sentence for each variant and group in which one flow carries far more than another."""
    view = runs.view
    if not any(flow.get("interval") for flow in view["flows"]):
        return []
    return [said for group in in_phase(view) for variant in runs.variants if (said := _sentence(runs, variant, group))]


def _sentence(runs: VariantRuns, variant: str, group: InPhase) -> str | None:
    flows = list(group.flows)
    rates = runs.rates(variant).mean(axis=0)[flows]
    lost = runs.by_flow(variant, "dropped_queue_full")[flows] / np.maximum(
        runs.by_flow(variant, "packets_sent")[flows], 1
    )
    if rates.max() < _DIFFERENT * rates.min() or not (lost > _LOSSES).any():
        return None
    view, nodes = runs.results[variant][0].view, runs.results[variant][0].nodes
    names = [view["nodes"][node]["name"] for node in group.nodes]
    full = nodes[nodes["name"].isin(names)].nlargest(1, "dropped_queue_full")["name"].iloc[0]
    by_rate = sorted(zip(-rates, flows, strict=True))
    shown = by_rate if len(by_rate) <= _MOST_FLOWS else [*by_rate[: _MOST_FLOWS - 1], by_rate[-1]]
    each = ", ".join(f"{view['flows'][flow]['name']} {three_digits(-rate / 1e6)}" for rate, flow in shown)
    of = f" (of {len(flows)} flows)" if len(shown) < len(flows) else ""
    under = f"{variant}: " if len(runs.variants) > 1 else ""
    return (
        f"{under}{each} Mb/s{of}, with equal intervals of {_milliseconds(group.interval_s)} through the full queue of "
        f"{full}: their phase decides whose packets find room, not the scheme; "
        "app.jitter = 0.1 breaks it."
    )


def warnings(view: _core.ScenarioView, capacity: _core.CapacityView) -> list[str]:
    """Returns warnings before a run: groups that offer a node more than it can send alone."""
    said = []
    for group in in_phase(view):
        loads = {node: _load(group, node, capacity) for node in group.nodes}
        node = max(loads, key=loads.__getitem__)
        if loads[node] > 1.0:
            said.append(
                f"{_names(view, group.flows)} send at equal intervals of {_milliseconds(group.interval_s)} through the "
                f"queue of {view['nodes'][node]['name']}, which overflows: their phase decides whose packets find "
                "room; app.jitter = 0.1 breaks it"
            )
    return said


def _load(group: InPhase, node: int, capacity: _core.CapacityView) -> float:
    """Returns the share of time that a node needs to send the packets of a group, with channel access."""
    load = 0.0
    for flow in group.flows:
        demand = capacity["demands"][flow]
        messages = (demand["offered_bps"] or 0.0) / (8 * demand["payload_bytes"])
        own = (time for time in demand["forward"] if capacity["links"][time["link"]][0] == node)
        load += messages * sum(time["airtime_s"] + time["access_s"] for time in own)
    return load


def _names(view: _core.ScenarioView, flows: Sequence[int]) -> str:
    names = [view["flows"][flow]["name"] for flow in flows]
    if len(names) > _MOST_FLOWS:
        return f"{', '.join(names[:_MOST_FLOWS])} and {len(names) - _MOST_FLOWS} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _milliseconds(seconds: float) -> str:
    return f"{three_digits(seconds * 1e3)} ms"
