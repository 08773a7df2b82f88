"""Saturated stations that send A-MPDUs, and repeat block acknowledgement requests after a collision."""

from __future__ import annotations

from dataclasses import dataclass

from multihop.base import extras
from multihop.models.dcf import attempt_probability


@dataclass(frozen=True)
class Aggregates:
    """Transmissions of all stations. Times are in seconds.

    Attributes:
        a_mpdu: airtime of an A-MPDU.
        request: airtime of a BlockAckReq.
        answer: SIFS and airtime of the BlockAck.
        payload: bits that an A-MPDU delivers.
        slot: slot time.
        difs: time from the end of an exchange until back-off resumes.
        eifs: the same time after a collision.
        window: slots of the first contention window, `CW_min + 1`.
        stages: number of doublings of the window.
        requests: most BlockAckReqs before the A-MPDU is sent again; `None` to repeat until it is answered.
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
    """Total goodput in bit/s of stations that sense each other, with losses only by collisions.

    Fixed point of Bianchi (IEEE JSAC 18(3), 2000) for exchanges of two kinds. A collided A-MPDU is not
    answered. Its sender doubles the window and sends a BlockAckReq (802.11-2016, 10.24.7), until a BlockAck
    reports the loss; then it sends the A-MPDU again, from the first window. So the first of the tries `1, p,
    p^2, ...` is an A-MPDU, and the others are requests. A request that collides with an A-MPDU takes the
    A-MPDU's airtime.

    Args:
        stations: number of stations.
        sent: their transmissions.
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
