"""Marks that charts share: intervals of points, and lines with bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from multihop.report.charts.figures import Look
from multihop.report.notes import Notes
from multihop.report.svg import sides
from multihop.results.statistics import Estimate


def whiskers(
    notes: Notes,
    axis: Any,  # noqa: ANN401 - an Axes
    x: float,
    y: float,
    *,
    along_y: Estimate | None = None,
    along_x: Estimate | None = None,
    colour: str,
    capsize: float = 2.5,
    series: Sequence[str] = (),
    of: Sequence[str] = (),
) -> None:
    """Draws the intervals of a point; nothing without any. `series` and `of` are those of `Notes.part`."""
    up, across = (None if found is None else sides(found) for found in (along_y, along_x))
    if up is None and across is None:
        return
    made = axis.errorbar(x, y, up, across, fmt="none", ecolor=colour, elinewidth=1.1, capsize=capsize)
    for part in (*made[1], *made[2]):
        notes.part(part, series=series, of=of)


def band(
    notes: Notes,
    axis: Any,  # noqa: ANN401 - an Axes
    xs: Sequence[float],
    found: Sequence[Estimate | None],
    look: Look,
    tip: str,
    *,
    series: Sequence[str] = (),
    of: Sequence[str] = (),
) -> None:
    """Draws a line through means, with a gap where there is none, and their intervals as a band."""
    rows = [(np.nan,) * 3 if each is None else (each.mean, *ends(each)) for each in found]
    means, low, high = np.array(rows, dtype=float).reshape(-1, 3).T
    if np.any(high > low):
        filled = axis.fill_between(xs, low, high, color=look.colour, alpha=0.18, linewidth=0)
        notes.part(filled, series=series, of=of)
    marker = "." if len(means) == 1 else ""
    (line,) = axis.plot(xs, means, color=look.colour, linestyle=look.dash, linewidth=1.5, marker=marker)
    notes.part(line, tip, series, of)


def ends(found: Estimate) -> tuple[float, float]:
    """Returns the ends of the interval; the mean twice without one."""
    return found.mean if found.low is None else found.low, found.mean if found.high is None else found.high
