"""Numbers in words, and tables of words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

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


def three_digits(value: float) -> str:
    """A number with three significant digits; a large one without an exponent: 3150, not 3.15e+03."""
    shown = f"{value:.3g}"
    return f"{float(shown):.0f}" if "e+" in shown else shown


def signed(metric: Metric, difference: float) -> str:
    """A difference in the unit that people read, with its sign."""
    shown = three_digits(metric.shown(difference))
    return shown if shown.startswith("-") else f"+{shown}"


def share(value: float) -> str:
    """A share in percent, of which something small is not nothing; empty if there is none."""
    if value != value:
        return ""
    return "< 0.1 %" if 0 < value < 0.0005 else f"{100 * value:.1f} %"


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table in Markdown, with an empty one behind it; bars within cells are escaped."""
    made = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads), *made, ""]
