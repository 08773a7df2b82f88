"""Minstrel-HT by Linux's own integers on one link: what its rule makes of losses that are known, without a simulator.

Linux (`net/mac80211/rc80211_minstrel_ht.c`, 6.18) counts in fractions of 4096, and so is it here: one group of rates,
one station that always has something to send, no collisions. What ours finds on such a link should be this; a share of
the best rate that is low here as well is the rule's, and no fault of the engine.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

#: Linux's numbers: the unit of probabilities, the filter's coefficients of the last two values, and bytes of the packet
#: that rates are compared by.
ONE, OF_LAST, OF_BEFORE, BYTES = 4096, 5273, -2350, 1200
UPDATE_NS, SAMPLE_NS = 50_000_000, 20_000_000
#: Whose turn it is to be sampled: what is next above the best, any that is faster, or one within the chain.
TURNS = ("increment", "jump", "increment", "jump", "increment", "slow")
WAITING = 5


@dataclass(frozen=True)
class Link:
    """Of each rate, slowest first: kb/s, the probability that an MPDU arrives, and how many an A-MPDU has."""

    kbps: tuple[int, ...]
    arrives: tuple[float, ...]
    mpdus: tuple[int, ...]
    #: Of a PPDU beside its MPDUs: access, preamble, SIFS and BlockAck; and of RTS and CTS.
    overhead_ns: int = 34_000 + 67_500 + 36_000 + 16_000 + 32_000
    protection_ns: int = 28_000 + 28_000 + 32_000
    mpdu_bytes: int = 1538

    def exchange_ns(self, rate: int, mpdus: int) -> int:
        """How long it takes, access included."""
        return self.overhead_ns + mpdus * self.mpdu_bytes * 8_000_000 // self.kbps[rate]

    def best(self) -> float:
        """MPDUs a second at the best of fixed rates."""
        rates = range(len(self.kbps))
        return max(self.mpdus[r] * self.arrives[r] * 1e9 / self.exchange_ns(r, self.mpdus[r]) for r in rates)


@dataclass
class Minstrel:
    """What Linux keeps of a neighbour with one group of rates."""

    link: Link
    draw: random.Random
    attempts: list[int] = field(init=False)
    successes: list[int] = field(init=False)
    known: list[bool] = field(init=False)
    likely: list[int] = field(init=False)
    before: list[int] = field(init=False)
    length: int = 0
    sent: list[int] = field(default_factory=lambda: [0, 0])
    chain: tuple[int, int, int] = (0, 0, 0)
    waiting: dict[str, list[int]] = field(default_factory=lambda: {turn: [] for turn in TURNS})
    turn: int = 0

    def __post_init__(self) -> None:
        """Nothing is known."""
        count = len(self.link.kbps)
        self.attempts, self.successes, self.likely, self.before = ([0] * count for _ in range(4))
        self.known = [False] * count
        self.update()

    def duration(self, rate: int) -> int:
        """Of a packet, in nanoseconds, out of sixteen that share their symbols."""
        bits_of_symbol = self.link.kbps[rate] * 4 // 1000
        return -(-BYTES * 16 * 8 // bits_of_symbol) * 4000 // 16

    def throughput(self, rate: int) -> int:
        """In Linux's unit; the overhead is that of the lowest rate, 76 us."""
        likely = self.likely[rate]
        if likely < ONE // 10:
            return 0
        nsecs = 76_000 // max(1, self.length // ONE) + self.duration(rate)
        return 100 * (min(likely, ONE * 9 // 10) * 1_000_000 // nsecs) // ONE

    def learn(self, rate: int, mpdus: int, arrived: int) -> None:
        """What came of a PPDU."""
        self.attempts[rate] += mpdus
        self.successes[rate] += arrived
        self.sent = [self.sent[0] + mpdus, self.sent[1] + 1]

    def update(self) -> None:
        """An interval is over."""
        if self.sent[1]:
            mean = self.sent[0] * ONE // self.sent[1]
            self.length += int((mean - self.length) * 32 / 128)
            self.sent = [0, 0]
        of_faster = 0
        rates = range(len(self.link.kbps))
        for rate in reversed(rates):
            self._filter(rate)
            if self.known[rate]:
                of_faster = max(of_faster, self.likely[rate])
            else:
                self.likely[rate] = max(of_faster, self.likely[rate])
        # Of equal throughput the likelier, and then the faster.
        ranked = sorted(rates, key=lambda rate: (self.throughput(rate), self.likely[rate], rate), reverse=True)
        ranked = [rate for rate in ranked if self.throughput(rate) > 0] + [0, 0]
        self.chain = (ranked[0], ranked[1], self._likeliest(ranked[0]))
        self._refill()

    def _filter(self, rate: int) -> None:
        if self.attempts[rate] == 0:
            return
        share = max(1, self.successes[rate] * ONE // self.attempts[rate])
        last = self.likely[rate]
        if last == 0:
            value = last = share
        else:
            value = ((ONE - OF_LAST - OF_BEFORE) * share + OF_LAST * last + OF_BEFORE * self.before[rate]) >> 12
            value = min(ONE, value) if value >= 0 else 1
        self.before[rate], self.likely[rate] = last, value
        self.known[rate] = True
        self.attempts[rate] = self.successes[rate] = 0

    def _likeliest(self, best: int) -> int:
        chosen = 0
        for rate in range(len(self.link.kbps)):
            if rate > best and self.likely[rate] < self.likely[best]:
                continue
            if self.likely[rate] > ONE * 3 // 4:
                better = self.throughput(rate) > self.throughput(chosen)
            else:
                better = self.likely[rate] > self.likely[chosen]
            chosen = rate if better else chosen
        return chosen

    def _refill(self) -> None:
        fastest, slowest = max(self.chain), min(self.chain)
        for turn in ("increment", "jump"):
            self.waiting[turn] = [rate for rate in self.waiting[turn] if rate > fastest]
        slow = self.waiting["slow"] = [rate for rate in self.waiting["slow"] if slowest < rate < fastest]
        above = self.chain[0] + 1
        if above < len(self.link.kbps) and above not in self.waiting["increment"]:
            self.waiting["increment"].append(above)
        while len(self.waiting["jump"]) < WAITING:
            least = fastest if len(slow) >= WAITING else slowest
            drawn = range(least + 1, len(self.link.kbps))
            if not drawn:
                return
            rate = self.draw.choice(drawn)
            if rate > fastest and rate not in self.waiting["jump"]:
                self.waiting["jump"].append(rate)
                continue
            if slowest < rate < fastest and rate not in slow and self.likely[rate] <= ONE * 95 // 100:
                slow.append(rate)
            return

    def sample(self) -> int | None:
        """The rate whose turn it is."""
        waiting = self.waiting[TURNS[self.turn]]
        self.turn = (self.turn + 1) % len(TURNS)
        return waiting.pop(0) if waiting else None


def share_of_best(link: Link, seconds: float, seed: int) -> float:
    """Its goodput by the best fixed rate's, from the first second on."""
    draw = random.Random(seed)
    minstrel = Minstrel(link, draw)
    now = updated = next_sample = arrived = 0
    warm, end = 1_000_000_000, int((1 + seconds) * 1e9)

    def send(rate: int, mpdus: int, around_ns: int) -> int:
        nonlocal now, updated, next_sample, arrived
        now += link.exchange_ns(rate, mpdus) + around_ns
        came = sum(draw.random() < link.arrives[rate] for _ in range(mpdus))
        minstrel.learn(rate, mpdus, came)
        arrived += came if now > warm else 0
        if now > updated + UPDATE_NS:
            minstrel.update()
            updated = next_sample = now
        return came

    while now < end:
        stages = list(minstrel.chain)
        mpdus = link.mpdus[stages[0]]
        if now >= next_sample:
            next_sample = now + SAMPLE_NS
            sampled = minstrel.sample()
            if sampled is not None:
                stages[0], mpdus = sampled, 1
        tries = [stages[0], *([stages[0]] if mpdus > 1 else []), stages[1], stages[1], *[stages[2]] * 3]
        for attempt, rate in enumerate(tries):
            count = min(mpdus, link.mpdus[rate])
            if send(rate, count, link.protection_ns if attempt >= len(tries) - 5 else 0):
                break
    return arrived / (end - warm) * 1e9 / link.best()
