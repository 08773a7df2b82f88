"""Numbers in words."""

from __future__ import annotations

import math

from multihop.results.columns import Metric
from multihop.results.statistics import Estimate


def with_interval(found: Estimate | None, metric: Metric) -> str:
    """`mean ± half width` in the unit that people read, with as many digits as the interval justifies."""
    if found is None:
        return "none"
    mean = metric.shown(found.mean)
    if found.half_width is None:
        return f"{mean:.4g}"
    half = metric.shown(found.half_width)
    if half == 0.0 or not 1e-6 < half < 1e6:
        return f"{mean:.4g} ± {half:.2g}"
    decimals = max(0, 1 - math.floor(math.log10(half)))
    return f"{mean:.{decimals}f} ± {half:.{decimals}f}"
