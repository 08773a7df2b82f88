"""What wires did: how full they were, what waited in front of them, and what they lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import pandas as pd

#: A wire that is busy for more than this share of the time holds back what it carries.
FULL = 0.9


@dataclass(frozen=True)
class WireUse:
    """One direction of a wire, means over runs.

    Attributes:
        rate_bps: its rate.
        utilisation: share of time during which it was sending.
        queue_mean: packets that waited in front of it.
        wait_s: how long a packet waited there.
        lost_ratio: share of the packets sent that it lost at random.
    """

    rate_bps: float
    utilisation: float
    queue_mean: float
    wait_s: float
    lost_ratio: float


def uses(wires: pd.DataFrame) -> dict[tuple[int, int], WireUse]:
    """Uses by sender and receiver, from the tables of wires of several runs."""
    made = {}
    for key, rows in wires.groupby(["sender", "receiver"]):
        sender, receiver = cast("tuple[int, int]", key)
        sums = rows[["sent", "sent_bytes", "lost"]].sum()
        sent = max(float(sums["sent"]), 1.0)
        rate = float(rows["rate_bps"].mean())
        queue = float(rows["queue_mean"].mean())
        wait = queue * float(sums["sent_bytes"]) / sent * 8 / rate
        made[int(sender), int(receiver)] = WireUse(
            rate, float(rows["utilisation"].mean()), queue, wait, float(sums["lost"]) / sent
        )
    return made


def remedy_key(topology: Mapping[str, object], ends: tuple[str, str]) -> str | None:
    """The key of the discipline of the wire between two nodes; none where it has no key of its own."""
    if topology.get("generator") == "dumbbell":
        return "topology.discipline"
    listed = topology.get("wires")
    if not isinstance(listed, list):
        return None
    for index, wire in enumerate(listed):
        if isinstance(wire, Mapping) and set(wire.get("between", ())) == set(ends):
            return f"topology.wires[{index}].discipline"
    return None
