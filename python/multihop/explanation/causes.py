"""Causes that hold a flow back, with the share of each.

A slow flow either occupies a hop of its path all the time, or does not. If it does, the time of a frame at
the head of that hop's queue is divided into the exchange itself, failed attempts by cause, and waiting for a
medium that others use. If it does not, its packets were dropped before that hop, or its transport waits after
losses: then dropped packets are divided by place and cause. The share of time for which the flow occupies its
busiest hop weighs the two divisions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from multihop.experiments.runs import FinishedRun
from multihop.experiments.services import Service, Status, services
from multihop.explanation.account import Cause, FlowAccount, Hop
from multihop.explanation.counters import Blame, CauseCounters, HopCounters
from multihop.explanation.sharing import Sharing
from multihop.explanation.wires import FULL
from multihop.optima.optimum import Optimum

#: Share of a cause below which sentences do not name it.
LEAST_SCORE = 0.05

#: Loss rate from which losses alone limit a window-based transport. The window of TCP is proportional to one
#: over the root of the loss rate; at this rate it has one or two segments, too few for a fast retransmit.
_CRIPPLING_LOSS = 0.1

#: Share of lost time of a frame below which its time counts in proportion.
_LITTLE = 0.1

#: Mean number of MPDUs in a PPDU from which a link aggregates.
_AGGREGATES = 1.05

#: Kind of cause of each drop cause. Further kinds are those of frames, `contention` and `transport`.
DROP_KINDS = {
    "queue_full": "queue",
    "no_route": "no-route",
    "policy": "policy",
    "link_broken": "broken",
    "hop_limit": "hop-limit",
    "lifetime": "lifetime",
    "aqm": "aqm",
    "wire_loss": "wire-loss",
    "reordering": "reordering",
    "multicast": "multicast",
}


def accounts(runs: Sequence[FinishedRun], best: Optimum) -> list[FlowAccount]:
    """Returns the service of each flow and the causes that reduce it, greatest first, relative to `best`.

    The account of a flow that starves only in some seeds covers these seeds, since others hide the cause.
    """
    known: dict[tuple[int, ...], tuple[CauseCounters, Sharing]] = {}
    made = []
    for service in services(runs, best):
        which = tuple(np.flatnonzero(service.starves).tolist()) or tuple(range(len(runs)))
        if which not in known:
            counters = CauseCounters([runs[index] for index in which])
            known[which] = counters, Sharing(counters, best)
        counters, sharing = known[which]
        made.append(_Accountant(counters, best, sharing, service, which).account())
    return made


class _Accountant:
    """Maker of the account of one flow."""

    def __init__(
        self, counters: CauseCounters, best: Optimum, sharing: Sharing, service: Service, which: tuple[int, ...]
    ) -> None:
        self.counters, self.best, self.sharing, self.service, self.which = counters, best, sharing, service, which
        self.flow = flow = service.flow
        self.view = counters.view["flows"][flow]
        self.demand = best.capacity["demands"][flow]
        self.rows = counters.flows[counters.flows["flow"] == flow]
        self.hops = [*self._path(feedback=False), *self._path(feedback=True)]

    def account(self) -> FlowAccount:
        """Returns the account."""
        clique, airtime = self._clique()
        basis, causes = self._causes()
        return FlowAccount(
            self.flow,
            self.view,
            self.service,
            self.service.fair_bps,
            float(self.best.shares.alone_bps[self.flow]),
            self.demand["payload_bytes"],
            tuple(self.hops),
            tuple(causes),
            basis,
            self.which,
            clique,
            airtime,
        )

    def _path(self, *, feedback: bool) -> list[Hop]:
        """Returns the hops of the shortest path, and other hops that routing used for some frames."""
        path = self.view["path"][::-1] if feedback else self.view["path"]
        nodes = self.counters.view["nodes"]
        # Packets pass between radios of one node without a transmission.
        pairs = [(a, b) for a, b in pairwise(path) if nodes[a]["node"] != nodes[b]["node"]]
        used = self.sharing.of_flow(self.flow, feedback=feedback)
        most = max((hop.frames for hop in used.values()), default=0)
        others = [pair for pair, hop in used.items() if pair not in pairs and hop.frames > 0.05 * most]
        if others:
            # Routing left the shortest path, so hops without frames are omitted.
            pairs = [pair for pair in pairs if pair in used or pair in self.counters.wires] + others
        if feedback and not used:
            return []
        return [self._hop(sender, receiver, used.get((sender, receiver)), feedback) for sender, receiver in pairs]

    def _hop(self, sender: int, receiver: int, counters: HopCounters | None, feedback: bool) -> Hop:
        link = self.counters.links.get((sender, receiver), {})
        failures = dict(self.counters.failures.get((sender, receiver), {}))
        # Attempts and failures count PPDUs.
        mpdus = self.counters.mpdus.get((sender, receiver), 1.0)
        arrived = link.get("acknowledged", 0) / mpdus
        ended = arrived + link.get("given_up", 0) / mpdus
        failed = sum(failure.frames for failure in failures.values())
        wire = self.counters.wires.get((sender, receiver))
        occupied = 0.0
        if wire is not None:
            occupied = wire.utilisation
        elif counters is not None:
            # The MPDUs of a PPDU are at the head of the queue together.
            occupied = (
                counters.service_s * counters.frames / counters.mpdus / (self.counters.runs * self.counters.measured_s)
            )
        tries = (arrived + failed) / max(ended, 1)
        alone = None if feedback else self._alone(sender, receiver)
        return Hop(sender, receiver, feedback, wire, counters, alone, min(occupied, 1.0), failures, ended, tries)

    def _alone(self, sender: int, receiver: int) -> float | None:
        for time in self.demand["forward"]:
            if tuple(self.best.capacity["links"][time["link"]]) == (sender, receiver):
                return self.demand["payload_bytes"] * 8 / (time["exchange_s"] + time["access_s"])
        return None

    def _loss(self) -> float:
        """Returns the share of lost data packets among those that were lost or delivered."""
        lost, arrived = float(self.rows["packets_lost"].sum()), float(self.rows["packets_delivered"].sum())
        return lost / (lost + arrived) if lost + arrived else 0.0

    def _causes(self) -> tuple[str, list[Cause]]:
        """Returns the basis of shares, and all causes, the greatest first; shares sum to one."""
        if self.service.loses_most and (dropped := self._of_drops()):
            return "losses", sorted(dropped, key=lambda cause: -cause.score)
        if self.service.status == Status.LATE and (waits := self._of_delay()):
            return "delay", waits
        busiest = max(self.hops, key=lambda hop: hop.occupied, default=None)
        of_time = [] if busiest is None else self._of_wire(busiest) if busiest.wire else self._of_time(busiest)
        weight = 0.0
        if busiest is not None and of_time and busiest.wire:
            weight = busiest.occupied if busiest.occupied > FULL else 0.0
        elif busiest is not None and of_time:
            lost = sum(cause.facts["time_s"] for cause in of_time) / of_time[0].facts["service_s"]
            weight = busiest.occupied * min(lost / _LITTLE, 1.0)
        parts = [(weight, cause) for cause in of_time]
        dropped = self._of_drops()
        sent = float(self.rows["packets_sent"].sum()) / self.counters.runs
        severity = self._severity()
        parts += [((1.0 - weight) * severity, cause) for cause in dropped]
        parts.append(
            ((1.0 - weight) * (1.0 - severity if dropped else 1.0), Cause("transport", 1.0, facts={"sent": sent}))
        )
        merged: dict[Any, Cause] = {}
        for part, cause in parts:
            before = merged.get(cause.place)
            score = part * cause.score + (before.score if before else 0.0)
            facts = {**cause.facts, **(before.facts if before else {})}
            merged[cause.place] = Cause(cause.kind, score, cause.sender, cause.receiver, cause.interferer, facts)
        return "service", sorted(merged.values(), key=lambda cause: -cause.score)

    def _severity(self) -> float:
        """Returns the share of goodput, 0 to 1, that losses cost the transport while no hop is occupied."""
        lost = self._loss()
        sent = float(self.rows["packets_sent"].sum())
        backward = sum(sum(drops.values()) for (_, back, _), drops in self.sharing.drops_of(self.flow) if back)
        lost = max(lost, backward / max(backward + float(self.rows["packets_delivered"].sum()), 1.0))
        if not self.demand["feedback"]:
            # A sender of datagrams does not react to losses: each missing packet was dropped.
            return 1.0 if lost else 0.0
        if sent == 0:
            return 0.0
        return max(float(min(1.0, (lost / _CRIPPLING_LOSS) ** 0.5)), self._of_random_loss())

    def _of_random_loss(self) -> float:
        """Returns goodput over the goodput that the wires' random losses allow, 0 to 1.

        A window that each loss halves carries about 1.22 segments per round trip over the root of the loss
        rate (Mathis et al. 1997), even on an empty path.
        """
        kept = float(np.prod([1.0 - hop.wire.lost_ratio for hop in self.hops if hop.wire and not hop.feedback]))
        rtt = float(self.rows["rtt_mean_s"].mean())
        if kept >= 1.0 or not rtt > 0.0:
            return 0.0
        allowed = 1.22 * self.demand["payload_bytes"] * 8 / (rtt * (1.0 - kept) ** 0.5)
        return float(min(1.0, self.rows["goodput_bps"].mean() / allowed))

    def _of_wire(self, hop: Hop) -> list[Cause]:
        """Returns a full wire as the cause, with the other flows that it carries."""
        rate = hop.wire.rate_bps if hop.wire else 0.0
        facts = {"rate_bps": rate, "utilisation": hop.occupied, "others": self._other_flows(hop)}
        return [Cause("wire-full", 1.0, hop.sender, hop.receiver, None, facts)]

    def _other_flows(self, hop: Hop) -> list[tuple[int, float]]:
        """Returns the other flows over a hop with the most goodput, in bit/s."""
        goodput = self.counters.flows.groupby("flow")["goodput_bps"].mean()
        over = (hop.sender, hop.receiver)
        paths = [(index, flow["path"]) for index, flow in enumerate(self.counters.view["flows"]) if index != self.flow]
        found = [(index, float(goodput[index])) for index, path in paths if over in pairwise(path)]
        return sorted(found, key=lambda each: -each[1])[:3]

    def _of_delay(self) -> list[Cause]:
        """Returns the waiting times of the flow's packets as causes, by hop."""
        waits = []
        for hop in self.hops:
            if hop.feedback:
                continue
            if hop.wire is not None:
                waits.append((hop.wire.wait_s, hop.wire.queue_mean, hop))
            elif hop.counters is not None:
                queue = float(self.counters.nodes[hop.sender]["queue_mean"])
                waits.append((hop.counters.wait_s + hop.counters.service_s, queue, hop))
        total = sum(wait for wait, _, _ in waits)
        if total <= 0:
            return []
        return [
            Cause(
                "waiting",
                wait / total,
                hop.sender,
                hop.receiver,
                None,
                {
                    "wait_s": wait,
                    "queue_mean": queue,
                    "wire": hop.wire is not None,
                    "others": self._other_flows(hop),
                },
            )
            for wait, queue, hop in sorted(waits, key=lambda each: -each[0])
        ]

    def _of_time(self, hop: Hop) -> list[Cause]:
        """Returns the time of a frame at the head of a hop's queue, divided into causes."""
        counters = hop.counters
        if counters is None or counters.data + counters.rts == 0 or counters.service_s <= 0:
            return []
        exchange = (
            counters.airtime * self.counters.measured_s * self.counters.runs / max(counters.data / counters.mpdus, 1)
        )
        access = next((time["access_s"] for time in self.demand["forward"]), 0.0)
        # The contention window doubles with each failure, up to 32 times: after n failures in a row a frame
        # waits for 2^n times the first back-off.
        failed = sum(failure.frames for failure in hop.failures.values())
        failing = hop.share(failed)
        backoff = access * sum(failing**n * min(2**n, 32) for n in range(1, 7))
        spent: dict[Blame, float] = {}
        for blame, failure in hop.failures.items():
            whole = (failure.frames - failure.short) * exchange + failure.short * 0.2 * exchange
            spent[blame] = whole / max(hop.ended, 1) + backoff * failure.frames / max(failed, 1)
        own = exchange + access
        node = self.counters.nodes[hop.sender]
        busy = min(float(node["sensing"] + node["receiving"] + node["nav_only"]), 1.0)
        left = max(counters.service_s - own - sum(spent.values()), 0.0)
        deferral = min(left, busy * counters.service_s)
        others = self._others_of(hop)
        # With A-MPDUs, MPDUs for a neighbour are at the head while their node serves others; otherwise a
        # queue has one head.
        turns = min(left - deferral, sum(others.values()) * counters.service_s) if counters.mpdus > _AGGREGATES else 0.0
        # The exchange itself is no cause.
        lost = deferral + turns + sum(spent.values())
        if lost <= 0:
            return []
        times = {"own_s": own, "service_s": counters.service_s, "mpdus": counters.mpdus}
        made = [self._frames(hop, blame, time / lost, {**times, "time_s": time}) for blame, time in spent.items()]
        facts = {**self._contention(hop), **times, "time_s": deferral}
        made.append(Cause("contention", deferral / lost, hop.sender, hop.receiver, None, facts))
        if turns:
            receivers = sorted(others.items(), key=lambda item: -item[1])[:3]
            facts = {**times, "time_s": turns, "others": [(self.counters.name(to), share) for to, share in receivers]}
            made.append(Cause("turns", turns / lost, hop.sender, hop.receiver, None, facts))
        return made

    def _others_of(self, hop: Hop) -> Counter[int]:
        """Returns the airtime that a hop's sender spends on other neighbours."""
        used: Counter[int] = Counter()
        for (_, _, _, receiver), counters in self.sharing.from_node(hop.sender):
            if receiver != hop.receiver:
                used[receiver] += counters.airtime  # type: ignore[assignment]
        return used

    def _of_drops(self) -> list[Cause]:
        """Returns dropped packets by place and cause, frames given up by causes of failed attempts."""
        weights: dict[Any, list[Any]] = defaultdict(lambda: [0.0, None])
        total = 0
        for (_, feedback, node), drops in self.sharing.drops_of(self.flow):
            for cause, count in drops.items():
                total += count
                by_mac = cause == "retry_limit"
                made = self._given_up(node, feedback) if by_mac else [self._dropped(node, cause, count, feedback)]
                for each in made:
                    found = weights[each.place]
                    found[0], found[1] = found[0] + count * each.score, each
        return [
            Cause(c.kind, weight / total, c.sender, c.receiver, c.interferer, c.facts) for weight, c in weights.values()
        ]

    def _given_up(self, node: int, feedback: bool) -> list[Cause]:
        hops = [hop for hop in self.hops if hop.sender == node and hop.feedback == feedback and hop.failures]
        failed = sum(failure.frames for hop in hops for failure in hop.failures.values())
        if not failed:
            return [Cause("given-up", 1.0, node)]
        return [
            self._frames(hop, blame, failure.frames / failed) for hop in hops for blame, failure in hop.failures.items()
        ]

    def _dropped(self, node: int, cause: str, count: int, feedback: bool) -> Cause:
        kind = DROP_KINDS[cause]
        facts: dict[str, Any] = {"packets": count / self.counters.runs, "feedback": feedback}
        path = self.view["path"][::-1] if feedback else self.view["path"]
        ends = next((pair for pair in pairwise(path) if pair[0] == node and pair in self.counters.wires), None)
        if kind in {"queue", "aqm", "wire-loss"} and ends is not None:
            wire = self.counters.wires[ends]
            facts |= {"queue_mean": wire.queue_mean, "wait_s": wire.wait_s}
            return Cause(kind, 1.0, node, ends[1], None, facts)
        if kind in {"queue", "aqm"}:
            others: Counter[int] = Counter()
            for (flow, _, _, _), hop in self.sharing.from_node(node):
                others[flow] += hop.frames
            for (flow, _, _), drops in self.sharing.drops_at(node):
                others[flow] += drops.get(cause, 0)
            offered = max(others.total(), 1)
            rows = self.counters.nodes[node]
            facts |= {
                "lost_share": count / max(others[self.flow], 1),
                "own_share": others[self.flow] / offered,
                "others": [(flow, n / offered) for flow, n in others.most_common() if flow != self.flow][:2],
                "queue_mean": float(rows["queue_mean"]),
            }
        return Cause(kind, 1.0, node, None, None, facts)

    def _frames(self, hop: Hop, blame: Blame, score: float, more: Mapping[str, Any] | None = None) -> Cause:
        """Returns the attempts that failed on a hop by one cause."""
        failure = hop.failures[blame]
        facts: dict[str, Any] = {
            **(more or {}),
            "frames": failure.frames / self.counters.runs,
            "share": hop.share(failure.frames),
            "answers": failure.answers / max(failure.frames, 1),
            "short": failure.short / max(failure.frames, 1),
            "feedback": hop.feedback,
        }
        if failure.doing:
            (frame, whom), count = failure.doing.most_common(1)[0]
            facts |= {
                "doing": frame,
                "whom": None if whom is None else self.counters.name(whom),
                "whom_node": whom,
                "doing_share": count / failure.frames,
                "warned": failure.warned / failure.frames,
            }
        return Cause(blame.kind, score, hop.sender, hop.receiver, blame.interferer, facts)

    def _contention(self, hop: Hop) -> dict[str, Any]:
        """Returns the airtime of other hops around a hop."""
        node = self.counters.nodes[hop.sender]
        used: Counter[tuple[int, tuple[int, int]]] = Counter()
        for (flow, _, sender, receiver), counters in self.sharing.around((hop.sender, hop.receiver)):
            used[flow, (sender, receiver)] += counters.airtime  # type: ignore[assignment]
        own = sum(share for (flow, _), share in used.items() if flow == self.flow)
        return {
            "busy": float(node["sensing"] + node["receiving"]),
            "own_hops": float(own),
            "others": [
                (flow, self.counters.name(link[0]), self.counters.name(link[1]), float(share))
                for (flow, link), share in used.most_common()
                if flow != self.flow
            ][:3],
        }

    def _clique(self) -> tuple[tuple[tuple[int, int], ...], float]:
        """Returns the clique with a link of the path whose links had the most airtime, and that airtime."""
        # Wires use no airtime.
        radio = {
            time["link"]
            for time in self.demand["forward"]
            if self.sharing.links[time["link"]] not in self.counters.wires
        }
        clique, airtime = self.sharing.busiest_clique(radio)
        return tuple(self.sharing.links[link] for link in clique), airtime
