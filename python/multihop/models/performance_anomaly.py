"""What stations of different rates have of a cell that an access point serves, by whose turn it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from multihop.models.airtimes import airtimes
from multihop.models.dcf import mean_backoff
from multihop.models.ranges import require

#: What the paper's testbed runs: HT at 5 GHz with short guard intervals, 20 MHz.
HT_5GHZ: Mapping[str, Any] = {"standard": "802.11n", "band": "5 GHz", "guard_interval": "400 ns"}
TURNS = ("aggregate", "airtime", "packet")
#: Whether what surrounds DATA is counted in what a station has alone, or as time of each exchange.
OVERHEADS = ("alone", "each")

#: Bytes around each packet of an A-MPDU: the delimiter; the MAC header of QoS DATA, LLC and SNAP, FCS.
#: Padding follows.
_DELIMITER, _HEADERS = 4, 26 + 8 + 4


class _Exchange(NamedTuple):
    """Times of an exchange, in seconds: its PPDU of DATA, SIFS with the BlockAck, and DIFS with back-off."""

    data: float
    answer: float
    access: float

    @property
    def whole(self) -> float:
        return self.data + self.answer + self.access


def performance_anomaly(
    station: int = 1,
    aggregates: Sequence[float] = (32, 32, 2),
    rates: Sequence[str] = ("MCS 7 NSS 2", "MCS 7 NSS 2", "MCS 0"),
    *,
    turns: str = "aggregate",
    overhead: str = "alone",
    packet: int = 1500,
    phy: Mapping[str, Any] = HT_5GHZ,
) -> dict[str, float]:
    """Airtime and rate of an AP's station (Høiland-Jørgensen et al., USENIX ATC 2017, section 2.2).

    Alone, a station has `R_0 = n l / (T_data + T_oh)` with aggregates of n packets of l bytes; beside others
    it has `R = T R_0` of its share T of airtime. Downlink, without losses. T_data is a PPDU with its
    preamble, T_oh is DIFS, the mean of a first back-off, SIFS and the BlockAck; all are the engine's.

    The shares are of T_data, so that a station's T_oh is counted as often as it would be alone. With
    `overhead` "each" every exchange has its own: of k exchanges in a round a station has
    `R = k n l / sum k (T_data + T_oh)`, and its airtime is that of DATA, SIFS and BlockAck.

    Args:
        station: which one, from 1 on.
        aggregates: n, packets of an A-MPDU to each station, mean.
        rates: bit rate of DATA to each, as `data_rate` of `[phy]` has it.
        turns: whose turn it is: "aggregate", each station has one in turn, which is the paper's without
            airtime fairness; "airtime", each has the same time; "packet", each has as many packets, as where
            all wait in one queue.
        overhead: "alone", as in the paper, or "each".
        packet: l, bytes of a packet at the network layer.
        phy: other keys of `[phy]`.

    Returns:
        `airtime`, T; `alone_bps`, R_0; `goodput_bps`, R, and `total_bps`, R of all, in bits of packets.

    Raises:
        ValueError: if a number is out of its range, or `turns` or `overhead` is none of these.
        ScenarioError: if this is no PHY.
    """
    for name, value, known in (("turns", turns, TURNS), ("overhead", overhead, OVERHEADS)):
        if value not in known:
            raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(known)}")
    if len(aggregates) != len(rates):
        raise ValueError(
            f"aggregates are of {len(aggregates)} stations, rates of {len(rates)}; both must be of the same"
        )
    if not 1 <= station <= len(rates):
        raise ValueError(f"station is {station}; it must be from 1 to {len(rates)}")
    require("packet", packet, above=0.0)
    for aggregate in aggregates:
        require("aggregates", aggregate, above=0.0)
    made = [_exchange(n, packet, {**phy, "data_rate": rate}) for n, rate in zip(aggregates, rates, strict=True)]
    on_air = [each.data + (each.answer if overhead == "each" else 0.0) for each in made]
    by_turns = {
        "aggregate": [1.0 for _ in made],
        "airtime": [1.0 / time for time in on_air],
        "packet": [1.0 / n for n in aggregates],
    }
    exchanges = by_turns[turns]
    shares = _of_one([k * time for k, time in zip(exchanges, on_air, strict=True)])
    alone = [n * packet * 8 / each.whole for n, each in zip(aggregates, made, strict=True)]
    of_time = shares
    if overhead == "each":
        of_time = _of_one([k * each.whole for k, each in zip(exchanges, made, strict=True)])
    goodputs = [share * rate for share, rate in zip(of_time, alone, strict=True)]
    return {
        "airtime": shares[station - 1],
        "alone_bps": alone[station - 1],
        "goodput_bps": goodputs[station - 1],
        "total_bps": sum(goodputs),
    }


def _of_one(weights: Sequence[float]) -> list[float]:
    """The weights as shares of their sum."""
    total = sum(weights)
    return [weight / total for weight in weights]


def _exchange(packets: float, packet: int, phy: Mapping[str, Any]) -> _Exchange:
    """An aggregate's exchange. A mean aggregate need not be whole: its bytes are."""
    framed = _DELIMITER + -4 * (-(packet + _HEADERS) // 4)
    made = airtimes(round(packets * framed), phy)
    backoff = mean_backoff(0.0, 1, made.cw_min, made.cw_max) * made.slot
    return _Exchange(made.data, made.sifs + made.block_ack, made.difs + backoff)
