"""Airtimes for closed forms, from the engine's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tomli_w

from multihop import _core

#: 802.11 at 1 Mb/s with long preambles and the standard's slots, as in most multi-hop papers of its time.
DSSS_1MBPS: Mapping[str, Any] = {"standard": "dsss", "data_rate": "1 Mb/s", "control_rate": "1 Mb/s"}


@dataclass(frozen=True)
class Airtimes:
    """Inter-frame spaces, slot and airtimes in seconds, preambles included; contention windows in slots.

    `block_ack` is zero without aggregation.
    """

    slot: float
    sifs: float
    difs: float
    eifs: float
    rts: float
    cts: float
    data: float
    ack: float
    block_ack: float
    cw_min: int
    cw_max: int

    @property
    def stages(self) -> int:
        """Number of doublings of the contention window up to the largest."""
        return max(0, round((self.cw_max + 1) / (self.cw_min + 1)).bit_length() - 1)


def airtimes(frame_bytes: int, phy: Mapping[str, Any] = DSSS_1MBPS) -> Airtimes:
    """Returns the times of a PHY, described as in the table `[phy]` of a scenario.

    Args:
        frame_bytes: size of the DATA frame, MAC header and FCS included.
        phy: keys of `[phy]`.

    Raises:
        ScenarioError: if the PHY is invalid.
    """
    return Airtimes(**_core.airtimes(scenario_of(phy), "<phy>", frame_bytes))


def scenario_of(phy: Mapping[str, Any], mac: Mapping[str, Any] | None = None) -> str:
    """Returns a minimal scenario with tables `[phy]` and `[mac]`, for the engine."""
    scenario = {
        "duration": "1 s",
        "phy": dict(phy),
        "mac": dict(mac or {}),
        "topology": {"generator": "chain", "hops": 1},
        "flows": [{"from": "n0", "to": "n1", "scheme": "udp"}],
    }
    return tomli_w.dumps(scenario)
