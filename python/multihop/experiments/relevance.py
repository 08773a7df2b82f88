"""Differences that are too small for a user to notice, however sure it is that they are there."""

from __future__ import annotations

#: Share of the larger of two means below which goodputs, or delays, are practically equal.
LEAST_SHARE = 0.01

#: Difference of two delays in seconds below which they are practically equal: a hundredth of what ITU-T
#: Y.1541 allows its strictest class.
LEAST_DELAY_S = 1e-3

#: Difference of two fairness indices, or of two shares of packets or frames, below which they are practically
#: equal: a video bears the loss of one frame in a hundred (ITU-T G.1010).
LEAST_RATIO = 0.01


def differ(metric: str, a: float, b: float) -> bool:
    """Whether two means of a metric differ by more than a user would not notice."""
    gap, larger = abs(a - b), max(abs(a), abs(b))
    if metric.startswith("delay") and gap < LEAST_DELAY_S:
        return False
    if metric == "jain" or metric.endswith("_ratio"):
        return gap >= LEAST_RATIO
    return gap >= LEAST_SHARE * larger and gap > 0.0
