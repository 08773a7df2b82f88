"""What the cells should do by closed form. Times are in seconds, sizes in bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from multihop.models.dcf import saturation

#: Of 802.11b with control frames at 1 Mb/s, from the standard (802.11-2012, 9.3.7, 17.3): the engine has its own.
SLOT, SIFS, DIFS, EIFS = 20e-6, 10e-6, 50e-6, 364e-6
RTS, CTS, ACK = 352e-6, 304e-6, 304e-6
FIRST_WINDOW, STAGES = 32, 5


def data_airtime(payload: int) -> float:
    """A DATA frame at 11 Mb/s, long preamble: 28 bytes of UDP and IP, 8 of LLC, 28 of MAC (802.11-2012, 17.3.4)."""
    return 192e-6 + math.ceil(8 * (payload + 28 + 8 + 28) / 11) * 1e-6


def exchange(payload: int, rts: bool) -> float:
    """From the first bit of a successful exchange to the end of the DIFS after it."""
    handshake = RTS + CTS + 2 * SIFS if rts else 0.0
    return handshake + data_airtime(payload) + SIFS + ACK + DIFS


def one_link(payload: int, rts: bool) -> float:
    """Goodput in bit/s of one saturated sender: an exchange, and a mean back-off of 15.5 slots."""
    return payload * 8 / (exchange(payload, rts) + 15.5 * SLOT)


@dataclass(frozen=True)
class Saturation:
    """A saturated cell: goodput in bit/s, and the probability that a transmission collides."""

    goodput_bps: float
    collision: float


def bianchi(stations: int, payload: int, rts: bool) -> Saturation:
    """Bianchi's model (IEEE JSAC 18(3), 2000); a collision occupies the medium for EIFS after its first frame."""
    tau, p = saturation(stations, FIRST_WINDOW, STAGES)
    some = 1 - (1 - tau) ** stations
    one = stations * tau * (1 - tau) ** (stations - 1)
    collision = (RTS if rts else data_airtime(payload)) + EIFS
    slot = (1 - some) * SLOT + one * exchange(payload, rts) + (some - one) * collision
    return Saturation(payload * 8 * one / slot, p)
