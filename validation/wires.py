"""Congestion control over a wired bottleneck of 10 Mb/s: runs of multihop, and of ns-2, in the same numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import multihop
from validation.ns2.dumbbell import RATE, Course, Setup

Scenario = dict[str, Any]
Option = str | int | bool

#: What ns-2's protocols are here, with what ns-2 has by default: each segment acknowledged, and a first window of two.
#: Both open with a packet without data.
SCHEMES = {"xcp": "xcp", "newreno": "tcp-newreno", "sack1": "tcp-sack"}
SENDER: dict[str, Option] = {"delayed_ack": "0 s", "initial_window": 2}

#: Seconds that are not counted in means: from then on all is steady.
STEADY = 10

#: A flow has its share within this much of it.
CLOSE = 0.05


@dataclass(frozen=True)
class Sharing:
    """How connections share the bottleneck."""

    #: Of each connection the share of what is fair, each half second.
    shares: list[list[float]]
    #: After the first ten seconds: share of the bottleneck that was used, and packets that waited, on average.
    utilisation: float
    waiting: float
    #: From the beginning.
    dropped: int
    timeouts: int

    @property
    def delivered(self) -> float:
        """What all delivered from the beginning, over what the bottleneck carries in that time."""
        return sum(map(sum, self.shares)) / len(self.shares) / len(self.shares[0])

    @property
    def settled_s(self) -> float:
        """From when on all shares are within 5 % of fair; infinity if never."""
        far = [half for flow in self.shares for half, share in enumerate(flow) if abs(share - 1) > CLOSE]
        last = max(far, default=-1) + 1
        return math.inf if last == len(self.shares[0]) else 0.5 * last

    def at(self, second: float) -> list[float]:
        """The shares in the half second that ends then."""
        return [flow[round(2 * second) - 1] for flow in self.shares]

    def steady(self) -> list[float]:
        """The shares after the first ten seconds."""
        late = [flow[2 * STEADY :] for flow in self.shares]
        return [sum(flow) / len(flow) for flow in late]


def of_ns2(setup: Setup, course: Course) -> Sharing:
    """What ns-2 said."""
    count = len(setup.round_trips)
    fair = RATE / 8 * 0.5 / (setup.payload + setup.headers) / count
    late = slice(2 * STEADY, None)
    sent, waiting = course.sent[late], course.waiting[late]
    return Sharing(
        shares=[[segments / fair for segments in flow] for flow in course.acknowledged],
        utilisation=sum(sent) * 8 / (RATE * 0.5 * len(sent)),
        waiting=sum(waiting) / len(waiting),
        dropped=course.dropped,
        timeouts=sum(course.timeouts),
    )


def scenario(scheme: str, setup: Setup, **options: Option) -> Scenario:
    """The dumbbell of `dumbbell.tcl`, with a scheme and its options; the setup's protocol does not count."""
    return {
        "name": f"wires-{scheme}",
        "duration": f"{setup.seconds} s",
        "record_interval": "500 ms",
        "topology": {
            "generator": "dumbbell",
            "pairs": len(setup.round_trips),
            "rate": f"{RATE / 1e6} Mb/s",
            "delay": "10 ms",
            "queue": setup.queue,
            "access_rates": ["100 Mb/s"],
            "access_delays": [f"{(round_trip - 20) / 4} ms" for round_trip in setup.round_trips],
        },
        "schemes": {scheme: {"flavour": "rfc", "window": setup.window, "segment_size": f"{setup.payload} B"} | options},
        "traffic": {"pattern": "canonical", "scheme": scheme, "start_jitter": "0 s"},
    }


def of_multihop(scenario: Scenario, headers: int) -> Sharing:
    """What a run says; `headers` are the bytes of headers in a full packet."""
    whole = multihop.run(scenario)
    steady = multihop.run(scenario | {"warmup": f"{STEADY} s"})
    (options,) = scenario["schemes"].values()
    payload = int(options["segment_size"].removesuffix(" B"))
    pairs = scenario["topology"]["pairs"]
    fair = RATE / 8 * 0.5 * payload / (payload + headers) / pairs
    delivered = whole.series.pivot(index="time_s", columns="flow", values="delivered_bytes")
    bottleneck = steady.wires[steady.wires["sender_name"] == f"n{pairs}"].iloc[0]
    return Sharing(
        shares=[(delivered[flow] / fair).tolist() for flow in delivered.columns],
        utilisation=float(bottleneck["utilisation"]),
        waiting=float(bottleneck["queue_mean"]),
        dropped=int(whole.wires["dropped"].sum()),
        timeouts=int(whole.flows["timeouts"].sum()),
    )


def like_ns2(setup: Setup, **options: Option) -> Sharing:
    """What a run says of the protocol that ns-2 was asked for."""
    return of_multihop(scenario(SCHEMES[setup.protocol], setup, **SENDER, **options), setup.headers)


@dataclass(frozen=True)
class RcpLaw:
    """RCP's rate from the beginning until all have their part."""

    flows: int
    #: When the law, and when the slowest flow, is at 90 % of the fair part, in seconds.
    law_s: float
    reached_s: float
    #: All flows are within 5 % from then on.
    settled_s: float
    #: Afterwards: used of the bottleneck, and waiting.
    utilisation: float
    waiting: float
    dropped: int

    @property
    def round_trips(self) -> float:
        """Of propagation, until 90 %."""
        return self.reached_s / RCP_ROUND_TRIP


#: Of propagation, in seconds.
RCP_ROUND_TRIP = 0.1


def rcp(flows: int) -> RcpLaw:
    """`flows` of 100 ms that begin at once.

    The rate grows as R' = alpha R (1 - N R / C) / d from C / 20: a logistic curve, that is at 90 % of C / N after
    d / alpha ln(9 (20 / N - 1)).
    """
    setup = Setup("xcp", (100,) * flows, queue=500)
    asked = scenario("rcp", setup, initial_rtt=f"{RCP_ROUND_TRIP} s", delayed_ack="0 s")
    found = of_multihop(asked, headers=64)
    fine = multihop.run(asked | {"record_interval": f"{RCP_ROUND_TRIP} s", "duration": "10 s"}).series
    fair = RATE / 8 * RCP_ROUND_TRIP * 1460 / (1460 + 64) / flows
    high = fine[fine["delivered_bytes"] > 0.9 * fair]
    return RcpLaw(
        flows=flows,
        law_s=RCP_ROUND_TRIP / 0.4 * math.log(9 * (20 / flows - 1)),
        reached_s=float(high.groupby("flow")["time_s"].min().max()),
        settled_s=found.settled_s,
        utilisation=found.utilisation,
        waiting=found.waiting,
        dropped=found.dropped,
    )
