"""Differences that are too small for a user to notice, even if they are significant."""

from __future__ import annotations

#: Difference of two goodputs or delays, as a share of the larger, below which they are practically equal.
LEAST_SHARE = 0.01

#: Difference of two delays in seconds below which they are practically equal: a hundredth of the limit of the
#: strictest class of ITU-T Y.1541.
LEAST_DELAY_S = 1e-3

#: Difference of two fairness indices, or of two shares of packets or frames, below which they are practically
#: equal: video tolerates the loss of one frame in a hundred (ITU-T G.1010).
LEAST_RATIO = 0.01


def is_noticeable(metric: str, a: float, b: float) -> bool:
    """Whether two means of a metric differ by so much that a user notices."""
    gap, larger = abs(a - b), max(abs(a), abs(b))
    if metric.startswith("delay") and gap < LEAST_DELAY_S:
        return False
    if metric == "jain" or metric.endswith("_ratio"):
        return gap >= LEAST_RATIO
    return gap >= LEAST_SHARE * larger and gap > 0.0
