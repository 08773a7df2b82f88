"""Saturated stations of several access categories that all sense each other, with aggregates as exchanges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from multihop.models.dcf import attempt_probability

#: Probability of reaching a slot below which later slots are ignored.
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class Contenders:
    """Equal stations of one access category. Times are in seconds.

    Attributes:
        stations: number of stations.
        exchange: time from the first bit of a frame to the last of its response: DATA or A-MPDU, SIFS, ACK or
            BlockAck.
        collided: time from the first bit of a collided frame until its sender has timed out.
        payload: bits that an exchange delivers, after losses of MPDUs.
        aifsn: slots of the arbitration inter-frame space after SIFS.
        window: slots of the first contention window, `CW_min + 1`.
        stages: number of doublings of the window.
        tries: most tries of a frame; `None` without a limit.
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
    """Result of a category: total goodput in bit/s, and collision and attempt probability of each station."""

    goodput_bps: float
    collision: float
    attempt: float


def saturated(contenders: Sequence[Contenders], slot: float, sifs: float) -> list[Share]:
    """Returns the fixed point of saturated stations, by category.

    As in Bianchi (IEEE JSAC 18(3), 2000), each station transmits in a usable slot with its own probability,
    and all transmissions of a category collide with the same probability. A category with a longer AIFS
    cannot use the first slots after a busy period. Slots are a Markov chain from the end of a busy period to
    the next one (the contention zones of Robinson and Randhawa, IEEE JSAC 22(5), 2004), so that collisions
    are those in usable slots.

    Args:
        contenders: categories.
        slot: slot time in seconds.
        sifs: SIFS in seconds.
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
    """Slots between busy periods: categories that may use each, and the probability of reaching it."""

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
        """Probability that no station of a category transmits in a slot, with `but` stations excepted."""
        each = self.contenders[index]
        if slot < each.aifsn - self.first:
            return 1.0
        return float((1 - self.attempts[index]) ** (each.stations - but))

    def _silence(self, slot: int, around: int | None = None) -> float:
        """Probability that no station transmits in a slot, with one station of a category excepted."""
        return math.prod(self._silent(index, slot, int(index == around)) for index in range(len(self.contenders)))

    def idle_slots(self) -> float:
        """Mean number of idle slots before a transmission, after the shortest AIFS."""
        return sum(self.reached[1:])

    def collisions(self) -> list[float]:
        """Returns the collision probability of each category."""
        found = []
        for index, each in enumerate(self.contenders):
            slots = range(each.aifsn - self.first, len(self.reached))
            alone = sum(self.reached[slot] * self._silence(slot, index) for slot in slots)
            found.append(1 - alone / sum(self.reached[slot] for slot in slots))
        return found

    def won(self) -> list[float]:
        """Returns the probability that a busy period is an exchange, by category."""
        return [
            sum(self._alone(index, slot) for slot in range(len(self.reached))) for index in range(len(self.attempts))
        ]

    def _alone(self, index: int, slot: int) -> float:
        """Probability that a slot is reached and only one station transmits in it, of this category."""
        each, attempt = self.contenders[index], self.attempts[index]
        if slot < each.aifsn - self.first:
            return 0.0
        return self.reached[slot] * each.stations * attempt * self._silence(slot, index)

    def busy(self) -> float:
        """Mean length of a busy period: an exchange, or the longest collided frame."""
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
