"""Numbers and lists as text, and Markdown tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from multihop.results.columns import Metric
from multihop.results.statistics import Estimate

#: Most significant digits of a number on a screen.
SCREEN_DIGITS = 4


def with_interval(found: Estimate | None, metric: Metric, digits: int | None = None) -> str:
    """Formats `mean ± half width` in the unit of display, with as many digits as the interval justifies.

    `digits` limits the digits of the mean, and with them those of the half width.
    """
    if found is None:
        return "none"
    mean = metric.shown(found.mean)
    if found.half_width is None:
        return f"{mean:.4g}"
    half = metric.shown(found.half_width)
    if half == 0.0 or not 1e-6 < half < 1e6:
        return f"{mean:.4g} ± {half:.2g}"
    decimals = max(0, 1 - math.floor(math.log10(half)))
    if digits is not None and mean != 0.0:
        decimals = min(decimals, max(0, digits - 1 - math.floor(math.log10(abs(mean)))))
    spread = f"{half:.{decimals}f}"
    return f"{mean:.{decimals}f} ± {spread if float(spread) else '0'}"


def fixed(value: float, decimals: int) -> str:
    """Formats a number with a fixed number of decimals; `none` for NaN."""
    return "none" if value != value else f"{value:.{decimals}f}"


def three_digits(value: float) -> str:
    """Formats a number with three significant digits, and large ones without exponent: 3150, not 3.15e+03."""
    shown = f"{value + 0.0:.3g}"
    return f"{float(shown):.0f}" if "e+" in shown else shown


def signed(metric: Metric, difference: float) -> str:
    """Formats a difference with its sign in the unit of display."""
    shown = three_digits(metric.shown(difference))
    return shown if shown.startswith("-") or float(shown) == 0.0 else f"+{shown}"


def rate(bps: float) -> str:
    """Formats a rate in Mb/s with three digits and at most four decimals."""
    mbps = bps / 1e6
    if 0.0 < abs(mbps) < 0.0001:
        return "< 0.0001 Mb/s" if mbps > 0 else "> -0.0001 Mb/s"
    return f"{three_digits(round(mbps, 4))} Mb/s"


def percent(part: float) -> str:
    """Formats a share in percent: whole percent from 10 on, two digits below, and zero without a sign."""
    if abs(part) >= 0.0995 or part == 0:
        return f"{100 * part + 0.0:.0f} %"
    if abs(part) < 0.0001:
        return "< 0.01 %" if part > 0 else "> -0.01 %"
    return f"{100 * part:.2g} %"


def counted(number: int, what: str) -> str:
    """Formats a count with its noun: 1 flow, 2 flows."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def several(names: Sequence[str], most: int = 8) -> str:
    """Joins names with commas, and counts those after the first `most`."""
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def listed(names: Sequence[str], before_last: str = "and") -> str:
    """Joins names with commas, and a word before the last."""
    *first, last = names
    return f"{', '.join(first)} {before_last} {last}" if first else last


def share(value: float) -> str:
    """Formats a share in percent with one decimal, "< 0.1 %" for smaller ones; empty for NaN."""
    if value != value:
        return ""
    return "< 0.1 %" if 0 < value < 0.0005 else f"{100 * value:.1f} %"


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Returns lines of a Markdown table and a blank line; bars within cells are escaped."""
    made = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads), *made, ""]
