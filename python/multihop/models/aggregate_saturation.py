"""Saturated stations that send A-MPDUs, and ask again for the block acknowledgement that does not come."""

from __future__ import annotations

from dataclasses import dataclass

from multihop.base import extras
from multihop.models.dcf import attempt_probability


@dataclass(frozen=True)
class Aggregates:
    """What all stations send. Times are in seconds.

    Attributes:
        a_mpdu: an A-MPDU on the air.
        request: a BlockAckReq on the air.
        answer: SIFS and the BlockAck.
        payload: bits that an A-MPDU delivers.
        slot: a slot.
        difs: from the end of an exchange until slots count again.
        eifs: the same of a collision.
        window: slots of the first contention window, `CW_min + 1`.
        stages: how many times it doubles.
        requests: how often one is sent before an A-MPDU is sent again; none if until it is answered.
    """

    a_mpdu: float
    request: float
    answer: float
    payload: float
    slot: float
    difs: float
    eifs: float
    window: int = 16
    stages: int = 6
    requests: int | None = 7


def goodput(stations: int, sent: Aggregates) -> float:
    """Goodput in bit/s of all stations together, which sense each other and lose nothing but by collisions.

    The fixed point of Bianchi (IEEE JSAC 18(3), 2000) for exchanges of two kinds. An A-MPDU that collides is
    not answered. Its sender doubles its window and asks with a BlockAckReq whether it arrived (802.11-2016,
    10.24.7), until a BlockAck says that it did not; then it sends the A-MPDU again, from the first window. So
    the first of the tries `1, p, p^2, ...` is an A-MPDU, the others are requests, and a request that collides
    with an A-MPDU costs the length of that.

    Args:
        stations: how many there are.
        sent: what they send.
    """
    extras.require("optimum", "the fixed point of saturated stations")
    from scipy.optimize import brentq

    tries = None if sent.requests is None else sent.requests + 1

    def attempt(collision: float) -> float:
        return attempt_probability(collision, sent.window, sent.stages, tries)

    def excess(collision: float) -> float:
        return 1 - (1 - attempt(collision)) ** (stations - 1) - collision

    collision = float(brentq(excess, 0.0, 0.999)) if stations > 1 else 0.0
    tau = attempt(collision)
    of_a_mpdus = (1 - collision) / (1 - (0.0 if tries is None else collision**tries))
    silence = (1 - tau) ** stations
    alone = stations * tau * (1 - tau) ** (stations - 1)
    no_a_mpdu = (1 - of_a_mpdus * tau) ** stations
    requests_collide = no_a_mpdu - silence - (1 - of_a_mpdus) * alone
    a_mpdus_collide = 1 - no_a_mpdu - of_a_mpdus * alone
    after = sent.answer + sent.difs
    slot = (
        silence * sent.slot
        + alone * (of_a_mpdus * sent.a_mpdu + (1 - of_a_mpdus) * sent.request + after)
        + a_mpdus_collide * (sent.a_mpdu + sent.eifs)
        + requests_collide * (sent.request + sent.eifs)
    )
    return of_a_mpdus * alone * sent.payload / slot
