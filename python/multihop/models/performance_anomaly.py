"""Airtime and rates of stations with different bit rates at an access point, by its scheduling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from multihop.models.airtimes import airtimes
from multihop.models.dcf import mean_backoff
from multihop.models.ranges import require

#: PHY of the paper's testbed: HT at 5 GHz with short guard intervals, 20 MHz.
HT_5GHZ: Mapping[str, Any] = {"standard": "802.11n", "band": "5 GHz", "guard_interval": "400 ns"}
TURNS = ("aggregate", "airtime", "packet")
#: Treatment of the overhead of DATA: in a station's rate alone, or as time of each exchange.
OVERHEADS = ("alone", "each")

#: Bytes around each packet of an A-MPDU: the delimiter; MAC header of QoS DATA, LLC and SNAP, FCS; then
#: padding.
_DELIMITER, _HEADERS = 4, 26 + 8 + 4


class _Exchange(NamedTuple):
    """Times of an exchange, in seconds: PPDU of DATA, SIFS with the BlockAck, and DIFS with back-off."""

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

    Alone, a station has `R_0 = n l / (T_data + T_oh)` with aggregates of n packets of l bytes; with others it
    has `R = T R_0` by its share T of airtime. Downlink, without losses. T_data is a PPDU with its preamble;
    T_oh is DIFS, the mean of a first back-off, SIFS and the BlockAck. All times are the engine's.

    Shares are of T_data, so that a station's T_oh is counted as if it were alone. With `overhead` "each"
    every exchange has its own T_oh: with k exchanges in a round a station has `R = k n l / sum k (T_data +
    T_oh)`, and its airtime is that of DATA, SIFS and BlockAck.

    Args:
        station: number of the station, from 1.
        aggregates: n, mean number of packets of an A-MPDU to each station.
        rates: bit rate of DATA to each station, as `data_rate` of `[phy]`.
        turns: scheduling: "aggregate", by turns, as without airtime fairness; "airtime", equal times;
            "packet", equal numbers of packets, as from a common queue.
        overhead: "alone", as in the paper, or "each".
        packet: l, bytes of a packet at the network layer.
        phy: other keys of `[phy]`.

    Returns:
        `airtime`, T; `alone_bps`, R_0; `goodput_bps`, R, and `total_bps`, R of all, in bits of packets.

    Raises:
        ValueError: if a number is out of its range, or `turns` or `overhead` is unknown.
        ScenarioError: if the PHY is invalid.
    """
    for name, value, known in (("turns", turns, TURNS), ("overhead", overhead, OVERHEADS)):
        if value not in known:
            raise ValueError(f"{name} is {value!r}; needs one of {', '.join(known)}")
    if len(aggregates) != len(rates):
        raise ValueError(
            f"aggregates are of {len(aggregates)} stations, rates of {len(rates)}; needs the same number of both"
        )
    if not 1 <= station <= len(rates):
        raise ValueError(f"station is {station}; needs 1 to {len(rates)}")
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
    """Returns the weights as shares of their sum."""
    total = sum(weights)
    return [weight / total for weight in weights]


def _exchange(packets: float, packet: int, phy: Mapping[str, Any]) -> _Exchange:
    """Returns an aggregate's exchange; the bytes of a mean number of packets are rounded."""
    framed = _DELIMITER + -4 * (-(packet + _HEADERS) // 4)
    made = airtimes(round(packets * framed), phy)
    backoff = mean_backoff(0.0, 1, made.cw_min, made.cw_max) * made.slot
    return _Exchange(made.data, made.sifs + made.block_ack, made.difs + backoff)
