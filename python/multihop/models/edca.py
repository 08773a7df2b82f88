"""Saturated stations of several access categories that all sense each other, with aggregates as exchanges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from multihop.models.dcf import attempt_probability

#: Idle slots after which the chain is cut off, as the probability to get so far.
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class Contenders:
    """Stations of one category, one alike the other. Times are in seconds.

    Attributes:
        stations: how many there are.
        exchange: from the first bit of a frame to the last of its response: DATA or A-MPDU, SIFS, ACK or
            BlockAck.
        collided: from the first bit of a frame that collides until it is over for its sender, the wait for a
            response included.
        payload: bits that an exchange delivers, losses of MPDUs taken off.
        aifsn: slots of the arbitration inter-frame space besides SIFS.
        window: slots of the first contention window, `CW_min + 1`.
        stages: how many times the window doubles.
        tries: after how many a frame is given up; none if never.
    """

    stations: int
    exchange: float
    collided: float
    payload: float
    aifsn: int = 2
    window: int = 16
    stages: int = 6
    tries: int | None = None


@dataclass(frozen=True)
class Share:
    """What a category's stations get: goodput of all in bit/s; collision and attempt probability of each."""

    goodput_bps: float
    collision: float
    attempt: float


def saturated(contenders: Sequence[Contenders], slot: float, sifs: float) -> list[Share]:
    """The fixed point of saturated stations, by category.

    As Bianchi (IEEE JSAC 18(3), 2000), each station transmits in a slot that it may use with a probability of
    its own, and each transmission of a category collides with the same. One with a longer AIFS may not use
    the first slots after the medium was busy: slots are a Markov chain from the end of a busy period to the
    next (the contention zones of Robinson and Randhawa, IEEE JSAC 22(5), 2004), so that collisions are those
    of slots that the category may use.

    Args:
        contenders: the categories.
        slot: a slot, in seconds.
        sifs: SIFS, in seconds.
    """
    collisions = [0.1 for _ in contenders]
    while True:
        attempts = [
            attempt_probability(collision, each.window, each.stages, each.tries)
            for each, collision in zip(contenders, collisions, strict=True)
        ]
        chain = _Chain(contenders, attempts)
        found = chain.collisions()
        if max(abs(one - other) for one, other in zip(found, collisions, strict=True)) < 1e-10:
            break
        collisions = [(one + other) / 2 for one, other in zip(found, collisions, strict=True)]
    cycle = sifs + chain.first * slot + chain.idle_slots() * slot + chain.busy()
    goodputs = [won * each.payload / cycle for won, each in zip(chain.won(), contenders, strict=True)]
    return [Share(*row) for row in zip(goodputs, collisions, attempts, strict=True)]


class _Chain:
    """Slots between busy periods: which categories may use each, and the probability of reaching it."""

    def __init__(self, contenders: Sequence[Contenders], attempts: Sequence[float]) -> None:
        self.contenders = contenders
        self.attempts = attempts
        self.first = min(each.aifsn for each in contenders)
        self.reached: list[float] = []
        reach = 1.0
        while reach > _NEGLIGIBLE:
            self.reached.append(reach)
            reach *= self._silence(len(self.reached) - 1)

    def _silent(self, index: int, slot: int, but: int = 0) -> float:
        """The probability that no station of a category transmits in this slot, but for some."""
        each = self.contenders[index]
        if slot < each.aifsn - self.first:
            return 1.0
        return float((1 - self.attempts[index]) ** (each.stations - but))

    def _silence(self, slot: int, around: int | None = None) -> float:
        """The same of all stations, or of all but one of this category."""
        return math.prod(self._silent(index, slot, int(index == around)) for index in range(len(self.contenders)))

    def idle_slots(self) -> float:
        """Mean number of idle slots before a transmission, after the shortest AIFS."""
        return sum(self.reached[1:])

    def collisions(self) -> list[float]:
        """By category, the probability that a transmission of it collides."""
        found = []
        for index, each in enumerate(self.contenders):
            slots = range(each.aifsn - self.first, len(self.reached))
            alone = sum(self.reached[slot] * self._silence(slot, index) for slot in slots)
            found.append(1 - alone / sum(self.reached[slot] for slot in slots))
        return found

    def won(self) -> list[float]:
        """By category, the probability that a busy period is an exchange of it."""
        return [
            sum(self._alone(index, slot) for slot in range(len(self.reached))) for index in range(len(self.attempts))
        ]

    def _alone(self, index: int, slot: int) -> float:
        """Probability that this slot is reached and only one station transmits in it, of this category."""
        each, attempt = self.contenders[index], self.attempts[index]
        if slot < each.aifsn - self.first:
            return 0.0
        return self.reached[slot] * each.stations * attempt * self._silence(slot, index)

    def busy(self) -> float:
        """The mean length of a busy period: an exchange, or the longest frame that collides."""
        won = self.won()
        exchanges = sum(share * each.exchange for share, each in zip(won, self.contenders, strict=True))
        longest_last = sorted(range(len(won)), key=lambda index: self.contenders[index].collided)
        collided = 0.0
        for slot, reach in enumerate(self.reached):
            nobody_longer = 1.0
            for index in reversed(longest_last):
                silent = nobody_longer * self._silent(index, slot)
                longest = reach * (nobody_longer - silent)
                collided += (longest - self._alone(index, slot)) * self.contenders[index].collided
                nobody_longer = silent
        return exchanges + collided
