"""Statistics over seeds: intervals, fairness, paired comparisons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from multihop.results import student

CONFIDENCE = 0.95

#: Adjusted p-value below which a difference is significant.
SIGNIFICANCE = 0.05


@dataclass(frozen=True)
class Estimate:
    """Mean over `n` independent runs with its Student-t confidence interval; no interval if `n` is 1.

    The interval is cut at the ends of the quantity's range.
    """

    mean: float
    low: float | None
    high: float | None
    n: int

    @property
    def half_width(self) -> float | None:
        """Half of the interval's width; if the range cuts one side, the length of the other."""
        return None if self.low is None or self.high is None else max(self.high - self.mean, self.mean - self.low)

    def within(self, least: float, most: float = math.inf) -> Estimate:
        """Returns the estimate with its interval cut at `least` and `most`."""
        if self.low is None or self.high is None:
            return self
        return replace(self, low=max(self.low, min(least, self.mean)), high=min(self.high, max(most, self.mean)))


@dataclass(frozen=True)
class PairedDifference:
    """Mean of `a - b` over common seeds, Student-t interval, and two-sided p-value of the paired t-test.

    Interval and p-value are `None` for a single pair. Runs of two schemes with one seed share topology, flows
    and start times, so that their difference varies less than either of them.
    """

    mean: float
    low: float | None
    high: float | None
    p_value: float | None
    n: int


def estimate(values: Sequence[float] | np.ndarray, confidence: float = CONFIDENCE) -> Estimate:
    """Mean and Student-t interval of independent values; values that are not finite are left out.

    Raises:
        ValueError: if no finite value is left.
    """
    x = np.asarray(values, dtype=float)
    x = x[np.isfinite(x)]
    if x.size == 0:
        raise ValueError("an estimate needs at least one finite value")
    mean = _mean(x)
    if x.size == 1:
        return Estimate(mean, None, None, 1)
    half = _half_width(x, confidence)
    return Estimate(mean, mean - half, mean + half, int(x.size))


def estimate_or_none(values: np.ndarray) -> Estimate | None:
    """Returns `estimate`, or `None` if no value is finite."""
    return estimate(values) if np.isfinite(values).any() else None


def paired_difference(
    a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray, confidence: float = CONFIDENCE
) -> PairedDifference:
    """Paired t-test of `a` against `b`, seed by seed; pairs with a value that is not finite are left out.

    Raises:
        ValueError: if the lengths differ or no pair is left.
    """
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if x.shape != y.shape:
        raise ValueError(f"paired values need equal lengths, found {x.size} and {y.size}")
    difference = x - y
    difference = difference[np.isfinite(difference)]
    if difference.size == 0:
        raise ValueError("a paired comparison needs at least one finite pair")
    mean = _mean(difference)
    n = int(difference.size)
    if n == 1:
        return PairedDifference(mean, None, None, None, 1)
    half = _half_width(difference, confidence)
    if half == 0.0:
        # Identical in every seed, or a constant offset: the t statistic is 0/0 or infinite.
        return PairedDifference(mean, mean, mean, 1.0 if mean == 0.0 else 0.0, n)
    t = mean / (float(difference.std(ddof=1)) / math.sqrt(n))
    p_value = student.two_sided(t, n - 1)
    return PairedDifference(mean, mean - half, mean + half, p_value, n)


def difference_or_none(a: np.ndarray, b: np.ndarray) -> PairedDifference | None:
    """Returns `paired_difference`, or `None` if no pair is finite."""
    return paired_difference(a, b) if np.isfinite(a - b).any() else None


def adjusted_p(differences: Sequence[PairedDifference]) -> list[float] | list[None]:
    """Returns p-values of simultaneous tests, adjusted by `holm`; all `None` if a difference has none."""
    known = [each.p_value for each in differences if each.p_value is not None]
    return holm(known) if len(known) == len(differences) else [None] * len(differences)


def half_width(deviation: np.ndarray, count: np.ndarray, confidence: float = CONFIDENCE) -> np.ndarray:
    """Half widths of Student-t intervals of means by standard deviation and count; NaN below two values."""
    counts = np.asarray(count)
    quantiles = {n: student.quantile(confidence, n - 1) if n > 1 else math.nan for n in set(counts.ravel().tolist())}
    of_each = np.array([quantiles[n] for n in counts.ravel().tolist()]).reshape(counts.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(of_each * deviation / np.sqrt(counts))


def jain(values: Sequence[float] | np.ndarray) -> float:
    """Jain's fairness index (Jain, Chiu, Hawe 1984): 1 if all shares are equal, 1/n if one takes all.

    Returns NaN without shares or if all are zero.
    """
    x = np.asarray(values, dtype=float)
    square_sum = float((x**2).sum())
    if x.size == 0 or square_sum == 0.0:
        return float("nan")
    return float(x.sum()) ** 2 / (x.size * square_sum)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment for several tests at once (Holm 1979), in the order given."""
    count = len(p_values)
    order = sorted(range(count), key=lambda i: p_values[i])
    scaled = [min(1.0, (count - rank) * p_values[i]) for rank, i in enumerate(order)]
    monotone = list(accumulate(scaled, max))
    adjusted = [0.0] * count
    for rank, i in enumerate(order):
        adjusted[i] = monotone[rank]
    return adjusted


def _mean(x: np.ndarray) -> float:
    """Mean, limited to the range of the values, so that the mean of equal values is that value."""
    return float(np.clip(x.mean(), x.min(), x.max()))


def _half_width(x: np.ndarray, confidence: float) -> float:
    if x.min() == x.max():
        # The rounding error of the mean would otherwise yield a width of about 1e-17 of the mean.
        return 0.0
    return float(half_width(np.array(x.std(ddof=1)), np.array(x.size), confidence))
