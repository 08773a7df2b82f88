"""Use of wires: utilisation, queues and random losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import pandas as pd

#: Utilisation above which a wire limits the flows that it carries.
FULL = 0.9


@dataclass(frozen=True)
class WireUse:
    """Use of one direction of a wire, means over runs.

    Attributes:
        rate_bps: rate of the wire.
        utilisation: share of time for which the wire was sending.
        queue_mean: mean number of packets in the queue in front of it.
        wait_s: mean time of a packet in that queue.
        lost_ratio: share of sent packets that were lost at random.
    """

    rate_bps: float
    utilisation: float
    queue_mean: float
    wait_s: float
    lost_ratio: float


def uses(wires: pd.DataFrame) -> dict[tuple[int, int], WireUse]:
    """Returns uses by sender and receiver, from the tables of wires of several runs."""
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
    """Returns the key of the discipline of the wire between two nodes; `None` without such a key."""
    if topology.get("generator") == "dumbbell":
        return "topology.discipline"
    listed = topology.get("wires")
    if not isinstance(listed, list):
        return None
    for index, wire in enumerate(listed):
        if isinstance(wire, Mapping) and set(wire.get("between", ())) == set(ends):
            return f"topology.wires[{index}].discipline"
    return None
