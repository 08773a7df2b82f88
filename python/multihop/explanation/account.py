"""What is known of one flow: what it got, its hops, and what holds it back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from multihop import _core
from multihop.experiments.services import Service, Status
from multihop.explanation.counters import Blame, Failures, HopCounters
from multihop.explanation.wires import WireUse

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
        wire: what the wire did, if the hop is one.
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
    wire: WireUse | None
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
        service: what it got of what it could have.
        fair_bps: what it would get in proportional fairness, with no more than it offers; none without a
            path.
        alone_bps: what it could get alone.
        payload_bytes: of its packets.
        hops: of its data, then of its acknowledgements.
        causes: the greatest first.
        basis: what causes are shares of: `delay`, `losses`, or `service` for what keeps goodput low.
        which: positions of the runs that causes and hops are of: those in which the flow starves, or all.
        clique: links of its path and others that cannot be used at once, which limit it: pairs of indices.
        clique_airtime: the share of time during which their exchanges took the air in the runs.
    """

    flow: int
    view: _core.FlowView = field(repr=False)
    service: Service
    fair_bps: float
    alone_bps: float
    payload_bytes: int
    hops: tuple[Hop, ...] = field(repr=False)
    causes: tuple[Cause, ...]
    basis: str
    which: tuple[int, ...]
    clique: tuple[tuple[int, int], ...]
    clique_airtime: float

    @property
    def name(self) -> str:
        """The flow's name."""
        return self.view["name"]

    @property
    def goodput_bps(self) -> np.ndarray:
        """Goodput by run."""
        return self.service.goodput_bps

    @property
    def goodput_mean_bps(self) -> float:
        """Mean over runs."""
        return float(self.goodput_bps.mean())

    @property
    def share(self) -> float:
        """Goodput over what would be fair; 0 without a path."""
        return self.service.share

    @property
    def status(self) -> Status:
        """How the flow fares."""
        return self.service.status


def without_bps(account: FlowAccount, cause: Cause) -> float | None:
    """A flow's goodput without a cause, in bit/s; none unless it occupies the cause's hop all the time."""
    hops = [hop for hop in account.hops if (hop.sender, hop.receiver) == (cause.sender, cause.receiver)]
    if "time_s" not in cause.facts or not any(hop.occupied > 0.9 and not hop.feedback for hop in hops):
        return None
    left = max(cause.facts["service_s"] - cause.facts["time_s"], cause.facts["own_s"])
    return float(min(account.payload_bytes * 8 * cause.facts["mpdus"] / left, account.alone_bps))
