"""Verdicts by equivalence: whether the whole 95 % interval of a relative difference is within a tolerance.

Differences are ours relative to the kernel's. Means go over runs. Both sides have the same seeds, and so the same
starts, losses on the wire and first draws of the MAC: the interval of a difference of means is Student's, over pairs of
runs with one seed. Quantiles of completion times go over all transfers of all runs; their intervals are those of order
statistics, which assume no distribution, but independent transfers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from multihop.results.statistics import Estimate, PairedDifference, estimate, paired_difference
from validation.kernel.cells import Cell
from validation.kernel.measured import Emulated, Measured
from validation.kernel.recorded import MOST_LAG_MS
from validation.measure import Agreement

GOODPUT_TOLERANCE, RTT_TOLERANCE, QUANTILE_TOLERANCE = 0.05, 0.10, 0.25
#: Quantiles that the page shows, and those that can decide: the higher one, if its interval is finite.
QUANTILES = (0.5, 0.95, 0.99)
DECIDING = (0.95, 0.99)
#: Probability that is left on either side of an interval.
TAIL = 0.025


@dataclass(frozen=True)
class Quantile:
    """A quantile of completion times, and its 95 % interval, whose upper end may be infinite [ms]."""

    value: float
    low: float
    high: float

    @property
    def is_bounded(self) -> bool:
        """Whether there are transfers enough for an interval with two ends."""
        return self.low > 0 and math.isfinite(self.high)


def quantile(values: Sequence[float], at: float) -> Quantile:
    """Quantile of independent values, and the interval between the order statistics around it.

    The number of values below the true quantile is binomial. The interval's ends are the innermost order statistics
    beyond which the quantile lies with a probability of at most 2.5 % each; without such a value, 0 or infinity.

    Raises:
        ValueError: without values.
    """
    ordered = sorted(values)
    count = len(ordered)
    if not count:
        raise ValueError("a quantile needs at least one value")
    low, high = 0.0, math.inf
    #: Probability that fewer than `rank` values are below the quantile.
    fewer = 0.0
    for rank, value in enumerate(ordered, 1):
        fewer += _binomial(count, rank - 1, at)
        if fewer <= TAIL:
            low = value
        if fewer >= 1 - TAIL:
            high = value
            break
    return Quantile(ordered[math.ceil(at * count) - 1], low, high)


def _binomial(count: int, successes: int, probability: float) -> float:
    ways = math.lgamma(count + 1) - math.lgamma(successes + 1) - math.lgamma(count - successes + 1)
    return math.exp(ways + successes * math.log(probability) + (count - successes) * math.log1p(-probability))


@dataclass(frozen=True)
class Compared:
    """A quantile of ours and the kernel's."""

    ours: Quantile
    kernel: Quantile

    @property
    def off(self) -> float:
        """Relative difference."""
        return self.ours.value / self.kernel.value - 1 if math.isfinite(self.kernel.value) else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the relative difference, from those of both.

        On logarithms, by the method of variance estimates recovery (Zou and Donner 2008).
        """
        ours, kernel = self.ours, self.kernel
        ends = (ours.value, ours.low, ours.high, kernel.value, kernel.low, kernel.high)
        if not all(0 < end < math.inf for end in ends):
            return -1.0, math.inf
        value, low, high, *theirs = map(math.log, ends)
        other, other_low, other_high = theirs
        down = math.hypot(value - low, other_high - other)
        up = math.hypot(high - value, other - other_low)
        return math.exp(value - other - down) - 1, math.exp(value - other + up) - 1

    def agreement(self, tolerance: float) -> Agreement:
        """Whether the whole interval is within the tolerance."""
        return Agreement.of(self.interval, tolerance)


@dataclass(frozen=True)
class Means:
    """Means over runs, ours and the kernel's, and their difference seed by seed."""

    ours: Estimate
    kernel: Estimate
    difference: PairedDifference

    @property
    def off(self) -> float:
        """Difference relative to the kernel's mean; NaN if that is 0."""
        return self.difference.mean / self.kernel.mean if self.kernel.mean else math.nan

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the relative difference; none of a single pair, or relative to 0."""
        low, high, mean = self.difference.low, self.difference.high, self.kernel.mean
        return None if low is None or high is None or not mean else (low / mean, high / mean)

    def agreement(self, tolerance: float) -> Agreement:
        """Whether the whole interval is within the tolerance. Without an interval the means decide nothing."""
        return Agreement.OPEN if self.interval is None else Agreement.of(self.interval, tolerance)


@dataclass(frozen=True)
class Row:
    """A cell compared."""

    cell: Cell
    #: Number of runs of the kernel, and of ours.
    runs: int
    #: Most lag of a run [ms].
    lag_ms: float
    #: Why the emulation does not allow a comparison; empty if it does.
    not_judged: str
    goodput: Means
    rtt: Means | None
    #: Quantiles of completion times, by `QUANTILES`.
    completions: Mapping[float, Compared]
    transfers: int
    #: Transfers that the end of a run cut off: the kernel's, ours.
    unfinished: tuple[int, int]
    #: Retransmissions and retransmission timeouts of a run: the kernel's, ours.
    retransmissions: tuple[Estimate, Estimate]
    timeouts: tuple[Estimate, Estimate]

    @property
    def decisive(self) -> float | None:
        """Highest quantile of those that can decide whose interval is finite on both sides."""
        deciding = [(at, self.completions[at]) for at in DECIDING if at in self.completions]
        return max((at for at, each in deciding if each.ours.is_bounded and each.kernel.is_bounded), default=None)

    @property
    def agreement(self) -> Agreement | None:
        """Whether ours is equivalent to the kernel's; `None` if the cell is not judged."""
        if self.not_judged:
            return None
        if self.cell.is_short:
            at = self.decisive
            return Agreement.OPEN if at is None else self.completions[at].agreement(QUANTILE_TOLERANCE)
        found = self.goodput.agreement(GOODPUT_TOLERANCE)
        return found if self.rtt is None else found & self.rtt.agreement(RTT_TOLERANCE)


def judged(cell: Cell, kernel: Mapping[int, Emulated], ours: Mapping[int, Measured]) -> Row:
    """Compares runs of a cell. Both sides have the same seeds."""
    theirs = [kernel[seed].measured for seed in sorted(kernel)]
    own = [ours[seed] for seed in sorted(kernel)]

    def means(quantity: Callable[[Measured], float]) -> Means:
        values, reference = [quantity(run) for run in own], [quantity(run) for run in theirs]
        return Means(estimate(values), estimate(reference), paired_difference(values, reference))

    def both(quantity: Callable[[Measured], float]) -> tuple[Estimate, Estimate]:
        return estimate([quantity(run) for run in theirs]), estimate([quantity(run) for run in own])

    has_rtt = all(run.rtt_ms is not None for run in (*theirs, *own))
    times = [[time for run in runs for time in run.completions_ms] for runs in (own, theirs)]
    completions = {at: Compared(quantile(times[0], at), quantile(times[1], at)) for at in QUANTILES if all(times)}
    return Row(
        cell,
        len(theirs),
        max(run.lag_p99_ms for run in kernel.values()),
        _why_not(kernel),
        means(lambda run: run.goodput_mbps),
        means(lambda run: run.rtt_ms or math.nan) if has_rtt else None,
        completions,
        len(times[1]),
        (sum(run.unfinished for run in theirs), sum(run.unfinished for run in own)),
        both(lambda run: run.retransmissions),
        both(lambda run: run.timeouts),
    )


def _why_not(kernel: Mapping[int, Emulated]) -> str:
    late = [run for run in kernel.values() if not run.is_timely(MOST_LAG_MS)]
    if not late:
        return ""
    lag, overflowed = max(run.lag_p99_ms for run in late), sum(run.overflowed for run in late)
    if overflowed:
        return f"not judged: the emulation missed {overflowed} packets"
    return f"not judged: lag p99 {lag:.1f} ms, above {MOST_LAG_MS:g} ms"
