"""Student's t distribution by the incomplete beta function, so that intervals need only NumPy."""

from __future__ import annotations

import math
from functools import lru_cache

#: Most terms of the continued fraction; some dozens are enough.
_MOST_TERMS = 10_000


def two_sided(t: float, freedom: float) -> float:
    """Two-sided tail probability of Student's t distribution: of values at least as far from zero as `t`.

    Equals I_x(freedom / 2, 1 / 2) with x = freedom / (freedom + t^2) (Abramowitz and Stegun 1964, 26.5.27).
    """
    if math.isnan(t) or not freedom > 0:
        return math.nan
    square = t * t
    if math.isinf(square):
        return 0.0
    x, rest = freedom / (freedom + square), square / (freedom + square)
    return _incomplete_beta(x, rest, freedom / 2, 0.5)


@lru_cache(maxsize=4096)
def quantile(confidence: float, freedom: float) -> float:
    """Two-sided quantile of Student's t for a confidence and degrees of freedom, by bisection."""
    outside = 1.0 - confidence
    low, high = 0.0, 1.0
    while two_sided(high, freedom) > outside:
        low, high = high, 2.0 * high
    while low < (middle := (low + high) / 2) < high:
        if two_sided(middle, freedom) > outside:
            low = middle
        else:
            high = middle
    return high


def _incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """Incomplete beta function I_x(a, b), with `rest` = 1 - x (Abramowitz and Stegun 1964, 26.5.8)."""
    if x == 0.0 or rest == 0.0:
        return 0.0 if x == 0.0 else 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest))
    # The fraction converges fast below the mean.
    if x < (a + 1) / (a + b + 2):
        return front / a / _fraction(x, a, b)
    return 1.0 - front / b / _fraction(rest, b, a)


def _fraction(x: float, a: float, b: float) -> float:
    """Continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    value = above = 1.0
    below = 0.0
    for term in range(1, _MOST_TERMS):
        m, odd = divmod(term, 2)
        if odd:
            factor = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            factor = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        below = 1.0 / ((1.0 + factor * below) or tiny)
        above = (1.0 + factor / above) or tiny
        value *= above * below
        if abs(above * below - 1.0) < 1e-16:
            break
    return value
