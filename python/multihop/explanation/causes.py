"""What holds a flow back, and which part of it each cause is.

A flow that is slow either keeps a hop of its path occupied, or does not. Where it does, the time that a frame
takes at the head of that hop's queue is what counts, split into the exchange itself, tries that failed (by
why they failed), and waiting for a medium that others use. Where it does not, its packets were lost and its
transport waits, or its packets did not come so far: then the packets that were dropped count, split by where
and why. The share of time that the flow occupies its busiest hop weighs the two.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from multihop import _core
from multihop.comparison.run import Run
from multihop.explanation.counters import Blame, CauseCounters, Failures, HopCounters
from multihop.explanation.sharing import Sharing
from multihop.optima.optimum import Optimum

#: A flow that receives less than this share of what is fair and possible is dead, starving, or slow.
DEAD, STARVING, SLOW = 0.01, 0.1, 0.5

#: Causes smaller than this part of what holds a flow back are not named.
LEAST_SCORE = 0.05

#: From this loss rate on a window-limited transport is taken to be held back by losses alone: the window of
#: TCP goes with one over the root of the loss rate, and is of one to two segments here, too few for a fast
#: retransmit.
_CRIPPLING_LOSS = 0.1

#: Where less than this part of a frame's time is lost to anything, the time counts in proportion.
_LITTLE = 0.1

#: A link whose PPDUs carry more MPDUs than this is one that aggregates.
_AGGREGATES = 1.05

#: What the causes of dropped packets are called here; the others are those of frames, and `contention`,
#: `transport`.
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


#: Kind of a cause, sender, receiver and interferer. What is said of a hop or of a flow has the kind `hop` or
#: `flow`.
Place = tuple[str, int | None, int | None, int | None]


@dataclass(frozen=True)
class Cause:
    """One thing that holds a flow back.

    Attributes:
        kind: which: see `multihop.explanation.words`.
        score: which part it is of what holds the flow back, from 0 to 1.
        sender: index of the node that sends on the hop, or where packets are dropped; none where it is no
            hop's.
        receiver: index of the other end of the hop.
        interferer: index of the node that collided, if that is it.
        facts: numbers and names for the sentence about it.
    """

    kind: str
    score: float
    sender: int | None = None
    receiver: int | None = None
    interferer: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> Place:
        """What it is apart from how much: causes of two flows with one place are one cause."""
        return self.kind, self.sender, self.receiver, self.interferer


@dataclass(frozen=True)
class Hop:
    """A hop of a flow's path, with what it did for the flow.

    Attributes:
        sender, receiver: indices of its ends.
        feedback: does it carry the flow's acknowledgements rather than its data?
        wire: is it a wire?
        counters: what it did for the flow; none for a wire, or where nothing came.
        alone_bps: the goodput that it would carry with nothing else on the air, without the channel's errors.
        occupied: the share of time during which a frame of the flow was at the head of its queue.
        failures: why tries failed on this link, of all flows.
        ended: frames that ended there, of all flows; as many as PPDUs would carry, where they carry several.
        tries: tries per frame that ended there, of all flows.
    """

    sender: int
    receiver: int
    feedback: bool
    wire: bool
    counters: HopCounters | None
    alone_bps: float | None
    occupied: float
    failures: dict[Blame, Failures]
    ended: float
    tries: float

    def share(self, failures: int) -> float:
        """So many failures as a share of the tries."""
        return failures / max(self.tries * self.ended, 1.0)


@dataclass(frozen=True)
class FlowAccount:
    """A flow, what it got, and what holds it back.

    Attributes:
        flow: index.
        goodput_bps: by run.
        fair_bps: what it would get in proportional fairness, with no more than it offers; none without a
            path.
        alone_bps: what it could get alone.
        payload_bytes: of its packets.
        hops: of its data, then of its acknowledgements.
        causes: the greatest first.
        clique: links of its path and others that cannot be used at once, which limit it: pairs of indices.
        clique_airtime: the share of time during which their exchanges took the air in the runs.
    """

    flow: int
    view: _core.FlowView = field(repr=False)
    goodput_bps: np.ndarray
    fair_bps: float
    alone_bps: float
    payload_bytes: int
    hops: tuple[Hop, ...] = field(repr=False)
    causes: tuple[Cause, ...]
    clique: tuple[tuple[int, int], ...]
    clique_airtime: float

    @property
    def name(self) -> str:
        """The flow's name."""
        return self.view["name"]

    @property
    def goodput_mean_bps(self) -> float:
        """Mean over runs."""
        return float(self.goodput_bps.mean())

    @property
    def share(self) -> float:
        """Goodput over what would be fair; 0 without a path."""
        return self.goodput_mean_bps / self.fair_bps if self.fair_bps > 0 else 0.0

    @property
    def status(self) -> str:
        """`dead`, `starving`, `slow` or `fine`."""
        limits = (("dead", DEAD), ("starving", STARVING), ("slow", SLOW))
        return next((status for status, limit in limits if self.share < limit), "fine")


def accounts(runs: Sequence[Run], best: Optimum) -> list[FlowAccount]:
    """Accounts of all flows of one scenario from runs with tables of causes; `best` is its optimum."""
    counters = CauseCounters(runs)
    sharing = Sharing(counters, best)
    return [_Accountant(counters, best, sharing, flow).account() for flow in range(len(counters.view["flows"]))]


class _Accountant:
    """What is known of one flow."""

    def __init__(self, counters: CauseCounters, best: Optimum, sharing: Sharing, flow: int) -> None:
        self.counters, self.best, self.sharing, self.flow = counters, best, sharing, flow
        self.view = counters.view["flows"][flow]
        self.demand = best.capacity["demands"][flow]
        self.rows = counters.flows[counters.flows["flow"] == flow]
        self.hops = [*self._path(feedback=False), *self._path(feedback=True)]

    def account(self) -> FlowAccount:
        clique, airtime = self._clique()
        return FlowAccount(
            self.flow,
            self.view,
            self.rows["goodput_bps"].to_numpy(dtype=float),
            float(min(self.best.rates_bps[self.flow], self.best.shares.offered_bps[self.flow])),
            float(self.best.shares.alone_bps[self.flow]),
            self.demand["payload_bytes"],
            tuple(self.hops),
            tuple(self._causes()),
            clique,
            airtime,
        )

    def _path(self, *, feedback: bool) -> list[Hop]:
        """Hops of the shortest path, and others that routing took for a part of the frames."""
        path = self.view["path"][::-1] if feedback else self.view["path"]
        nodes = self.counters.view["nodes"]
        # From one radio of a node to another packets pass at once.
        pairs = [(a, b) for a, b in pairwise(path) if nodes[a]["node"] != nodes[b]["node"]]
        used = self.sharing.of_flow(self.flow, feedback=feedback)
        most = max((hop.frames for hop in used.values()), default=0)
        pairs += [pair for pair, hop in used.items() if pair not in pairs and hop.frames > 0.05 * most]
        if feedback and not used:
            return []
        return [self._hop(sender, receiver, used.get((sender, receiver)), feedback) for sender, receiver in pairs]

    def _hop(self, sender: int, receiver: int, counters: HopCounters | None, feedback: bool) -> Hop:
        link = self.counters.links.get((sender, receiver), {})
        failures = dict(self.counters.failures.get((sender, receiver), {}))
        # Tries, and what fails, are PPDUs.
        mpdus = self.counters.mpdus.get((sender, receiver), 1.0)
        arrived = link.get("acknowledged", 0) / mpdus
        ended = arrived + link.get("given_up", 0) / mpdus
        failed = sum(failure.frames for failure in failures.values())
        wire = any({wire["sender"], wire["receiver"]} == {sender, receiver} for wire in self.counters.view["wires"])
        occupied = 0.0
        if counters is not None:
            # The MPDUs of a PPDU are at the head together.
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
        """The share of its data packets that were lost, of those whose fate was decided."""
        lost, arrived = float(self.rows["packets_lost"].sum()), float(self.rows["packets_delivered"].sum())
        return lost / (lost + arrived) if lost + arrived else 0.0

    def _causes(self) -> list[Cause]:
        """All causes, the greatest first; together they are one."""
        busiest = max((hop for hop in self.hops if not hop.wire), key=lambda hop: hop.occupied, default=None)
        of_time = [] if busiest is None else self._of_time(busiest)
        weight = 0.0
        if busiest is not None and of_time:
            lost = sum(cause.facts["time_s"] for cause in of_time) / of_time[0].facts["service_s"]
            weight = busiest.occupied * min(lost / _LITTLE, 1.0)
        parts = [(weight, cause) for cause in of_time]
        dropped = self._of_drops()
        severity = self._severity()
        parts += [((1.0 - weight) * severity, cause) for cause in dropped]
        parts.append(((1.0 - weight) * (1.0 - severity if dropped else 1.0), Cause("transport", 1.0)))
        merged: dict[Any, Cause] = {}
        for part, cause in parts:
            before = merged.get(cause.place)
            score = part * cause.score + (before.score if before else 0.0)
            facts = {**cause.facts, **(before.facts if before else {})}
            merged[cause.place] = Cause(cause.kind, score, cause.sender, cause.receiver, cause.interferer, facts)
        return sorted(merged.values(), key=lambda cause: -cause.score)

    def _severity(self) -> float:
        """Share of the goodput, from 0 to 1, that losses cost the transport without occupying a hop."""
        lost = self._loss()
        sent = float(self.rows["packets_sent"].sum())
        backward = sum(sum(drops.values()) for (_, back, _), drops in self.sharing.drops_of(self.flow) if back)
        lost = max(lost, backward / max(backward + float(self.rows["packets_delivered"].sum()), 1.0))
        if not self.demand["feedback"]:
            return lost
        if sent == 0:
            return 0.0
        return float(min(1.0, (lost / _CRIPPLING_LOSS) ** 0.5))

    def _of_time(self, hop: Hop) -> list[Cause]:
        """The time of a frame at the head of a hop's queue, by what it is spent on."""
        counters = hop.counters
        if counters is None or counters.data + counters.rts == 0 or counters.service_s <= 0:
            return []
        exchange = (
            counters.airtime * self.counters.measured_s * self.counters.runs / max(counters.data / counters.mpdus, 1)
        )
        access = next((time["access_s"] for time in self.demand["forward"]), 0.0)
        # The contention window doubles with each failure, up to 32 times its first length: what failed n
        # times in a row waits for 2^n times the first back-off before it is sent again.
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
        # MPDUs for a neighbour stand at the head while their node serves others; without A-MPDUs a queue has
        # one head.
        turns = min(left - deferral, sum(others.values()) * counters.service_s) if counters.mpdus > _AGGREGATES else 0.0
        # Without what the exchange itself takes: that holds nothing back.
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
        """The shares of the air that a hop's sender spends on other neighbours."""
        used: Counter[int] = Counter()
        for (_, _, _, receiver), counters in self.sharing.from_node(hop.sender):
            if receiver != hop.receiver:
                used[receiver] += counters.airtime  # type: ignore[assignment]
        return used

    def _of_drops(self) -> list[Cause]:
        """Dropped packets by place and cause; those given up are split by why tries failed on the hop."""
        weights: dict[Any, list[Any]] = defaultdict(lambda: [0.0, None])
        total = 0
        for (_, feedback, node), drops in self.sharing.drops_of(self.flow):
            for cause, count in drops.items():
                total += count
                made = self._given_up(node, feedback) if cause == "retry_limit" else [self._dropped(node, cause, count)]
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

    def _dropped(self, node: int, cause: str, count: int) -> Cause:
        kind = DROP_KINDS[cause]
        facts: dict[str, Any] = {"packets": count / self.counters.runs}
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
        """Tries that failed on a hop for one reason."""
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
        """The other nodes that use the medium around a hop."""
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
        """Of the cliques with a link of the path, the one whose links took most of the time in the runs."""
        clique, airtime = self.sharing.busiest_clique({time["link"] for time in self.demand["forward"]})
        return tuple(self.sharing.links[link] for link in clique), airtime
