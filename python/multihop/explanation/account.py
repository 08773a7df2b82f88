"""Account of a flow: its service, its hops, and the causes that hold it back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from multihop import _core
from multihop.experiments.services import Service, Status
from multihop.explanation.counters import Blame, Failures, HopCounters
from multihop.explanation.wires import WireUse

#: Kind of a cause, sender, receiver and interferer. Sentences about a hop or a flow have the kind `hop` or
#: `flow`.
Place = tuple[str, int | None, int | None, int | None]


@dataclass(frozen=True)
class Cause:
    """Cause that holds a flow back.

    Attributes:
        kind: kind, a key of `multihop.explanation.words.TITLES`.
        score: share of all that holds the flow back, 0 to 1.
        sender: index of the node that sends on the hop or drops packets; `None` without a place.
        receiver: index of the other end of the hop.
        interferer: index of the node whose frames collide.
        facts: numbers and names for the sentence about the cause.
    """

    kind: str
    score: float
    sender: int | None = None
    receiver: int | None = None
    interferer: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> Place:
        """Identity of the cause without its score: causes of two flows with one place are the same cause."""
        return self.kind, self.sender, self.receiver, self.interferer


@dataclass(frozen=True)
class Hop:
    """Hop of a flow's path with its counters.

    Attributes:
        sender, receiver: indices of its ends.
        feedback: whether the hop carries the flow's acknowledgements rather than its data.
        wire: use of the wire, if the hop is a wire.
        counters: counters of the flow's frames; `None` for a wire and without frames.
        alone_bps: goodput of the hop with nothing else on the air and no channel errors.
        occupied: share of time for which a frame of the flow was at the head of its queue.
        failures: failed attempts on this link by cause, of all flows.
        ended: PPDUs that were acknowledged or given up, of all flows.
        tries: attempts per such PPDU, of all flows.
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
        """Returns a number of failures as a share of the attempts."""
        return failures / max(self.tries * self.ended, 1.0)


@dataclass(frozen=True)
class FlowAccount:
    """Service of a flow, its hops, and the causes that hold it back.

    Attributes:
        flow: index of the flow.
        view: flow in the resolved scenario.
        service: service of the flow.
        fair_bps: reference goodput of the service.
        alone_bps: goodput of the flow alone in the network.
        payload_bytes: payload of its packets.
        hops: hops of its data, then of its acknowledgements.
        causes: causes, the greatest first.
        basis: quantity that causes are shares of: `delay`, `losses`, or `service` for low goodput.
        which: positions of the runs that causes and hops describe: those in which the flow starves, or all.
        clique: links of its path and others that exclude each other and limit the flow: pairs of indices.
        clique_airtime: share of time for which their exchanges occupied the medium.
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
        """Name of the flow."""
        return self.view["name"]

    @property
    def goodput_bps(self) -> np.ndarray:
        """Goodput by run in bit/s."""
        return self.service.goodput_bps

    @property
    def goodput_mean_bps(self) -> float:
        """Mean goodput over runs in bit/s."""
        return float(self.goodput_bps.mean())

    @property
    def share(self) -> float:
        """Goodput over the reference goodput; 0 without a path."""
        return self.service.share

    @property
    def status(self) -> Status:
        """Status of the flow."""
        return self.service.status


def without_bps(account: FlowAccount, cause: Cause) -> float | None:
    """Returns a flow's goodput without a cause [bit/s]; `None` unless it always occupies the cause's hop."""
    hops = [hop for hop in account.hops if (hop.sender, hop.receiver) == (cause.sender, cause.receiver)]
    if "time_s" not in cause.facts or not any(hop.occupied > 0.9 and not hop.feedback for hop in hops):
        return None
    left = max(cause.facts["service_s"] - cause.facts["time_s"], cause.facts["own_s"])
    return float(min(account.payload_bytes * 8 * cause.facts["mpdus"] / left, account.alone_bps))
