"""What stations of different rates have of a cell that an access point serves, by whose turn it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from multihop.models.airtimes import airtimes
from multihop.models.dcf import mean_backoff
from multihop.models.ranges import require

#: What the paper's testbed runs: HT at 5 GHz with short guard intervals, 20 MHz.
HT_5GHZ: Mapping[str, Any] = {"standard": "802.11n", "band": "5 GHz", "guard_interval": "400 ns"}
TURNS = ("aggregate", "airtime", "packet")

#: Bytes around each packet of an A-MPDU: the delimiter; the MAC header of QoS DATA, LLC and SNAP, FCS.
#: Padding follows.
_DELIMITER, _HEADERS = 4, 26 + 8 + 4


def performance_anomaly(
    station: int = 1,
    aggregates: Sequence[float] = (32, 32, 2),
    rates: Sequence[str] = ("MCS 7 NSS 2", "MCS 7 NSS 2", "MCS 0"),
    *,
    turns: str = "aggregate",
    packet: int = 1500,
    phy: Mapping[str, Any] = HT_5GHZ,
) -> dict[str, float]:
    """Airtime and rate of an AP's station (Høiland-Jørgensen et al., USENIX ATC 2017, section 2.2).

    Alone, a station has `R_0 = n l / (T_data + T_oh)` with aggregates of n packets of l bytes; beside others
    it has `R = T R_0` of its share T of airtime. Downlink, without losses. T_data is a PPDU with its
    preamble, T_oh is DIFS, the mean of a first back-off, SIFS and the BlockAck; all are the engine's.

    Args:
        station: which one, from 1 on.
        aggregates: n, packets of an A-MPDU to each station, mean.
        rates: bit rate of DATA to each, as `data_rate` of `[phy]` has it.
        turns: whose turn it is: "aggregate", each station has one in turn, which is the paper's without
            airtime fairness; "airtime", each has the same time; "packet", each has as many packets, as where
            all wait in one queue.
        packet: l, bytes of a packet at the network layer.
        phy: other keys of `[phy]`.

    Returns:
        `airtime`, T; `alone_bps`, R_0; `goodput_bps`, R, and `total_bps`, R of all, in bits of packets.

    Raises:
        ValueError: if a number is out of its range, or `turns` is none of these.
        ScenarioError: if this is no PHY.
    """
    if turns not in TURNS:
        raise ValueError(f"turns is {turns!r}; it must be one of {', '.join(TURNS)}")
    if len(aggregates) != len(rates):
        raise ValueError(
            f"aggregates are of {len(aggregates)} stations, rates of {len(rates)}; both must be of the same"
        )
    if not 1 <= station <= len(rates):
        raise ValueError(f"station is {station}; it must be from 1 to {len(rates)}")
    require("packet", packet, above=0.0)
    for aggregate in aggregates:
        require("aggregates", aggregate, above=0.0)
    times = [_times(n, packet, {**phy, "data_rate": rate}) for n, rate in zip(aggregates, rates, strict=True)]
    alone = [n * packet * 8 / (data + other) for n, (data, other) in zip(aggregates, times, strict=True)]
    by_turns = {
        "aggregate": [data for data, _ in times],
        "airtime": [1.0 for _ in times],
        "packet": [data / n for n, (data, _) in zip(aggregates, times, strict=True)],
    }
    weights = by_turns[turns]
    shares = [weight / sum(weights) for weight in weights]
    goodputs = [share * rate for share, rate in zip(shares, alone, strict=True)]
    return {
        "airtime": shares[station - 1],
        "alone_bps": alone[station - 1],
        "goodput_bps": goodputs[station - 1],
        "total_bps": sum(goodputs),
    }


def _times(packets: float, packet: int, phy: Mapping[str, Any]) -> tuple[float, float]:
    """T_data and T_oh of an aggregate, in seconds. A mean aggregate need not be whole: its bytes are."""
    framed = _DELIMITER + -4 * (-(packet + _HEADERS) // 4)
    made = airtimes(round(packets * framed), phy)
    backoff = mean_backoff(0.0, 1, made.cw_min, made.cw_max) * made.slot
    return made.data, made.difs + backoff + made.sifs + made.block_ack
