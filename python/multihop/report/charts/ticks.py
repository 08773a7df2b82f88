"""Ticks of the x axes of a study's charts: names and numbers that fit below a panel."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Sequence
from typing import Any

from multihop.report.charts.figures import LETTER

_LETTERS_PER_INCH = 11.5
_LINES_PER_INCH = 5.5

#: Height of a further line, in heights of text.
_LINE = 1.25

#: Letters of a line of upright or tilted names.
_LONGEST = 24
_TILT = 35


def tick_names(names: Sequence[str], width: float) -> tuple[list[str], dict[str, Any], float]:
    """Returns names that fit below a panel of this width in inches: side by side, filled, tilted, or upright.

    Returns:
        The names, their properties as text, and their height beyond one line in heights of text.
    """
    room = width * _LETTERS_PER_INCH
    apart = room / len(names)
    if all((len(one) + len(other)) / 2 + 2 <= apart for one, other in itertools.pairwise([*names, ""])):
        return list(names), {}, 0.0
    each = int(apart) - 2
    if each >= 8 and all(len(word) <= each for name in names for word in name.split()):
        filled = [textwrap.fill(name, each) for name in names]
        return filled, {}, _LINE * (max(name.count("\n") for name in filled))
    filled = [textwrap.fill(name, _LONGEST) for name in names]
    lines, letters = _extent(filled)
    if lines == 1 and len(names) <= 10:
        tilted = LETTER * letters * math.sin(math.radians(_TILT))
        return filled, {"rotation": _TILT, "ha": "right", "rotation_mode": "anchor"}, tilted
    if lines > max(1, int(_LINES_PER_INCH * width / len(names))):
        filled = list(names)
        _, letters = _extent(filled)
    return filled, {"rotation": 90, "ha": "center"}, LETTER * letters


def _extent(names: Sequence[str]) -> tuple[int, int]:
    """Returns the most lines of a name, and the most letters of a line."""
    lines = [name.split("\n") for name in names]
    return max(map(len, lines)), max(len(line) for each in lines for line in each)


def spaced_ticks(ticks: Sequence[float], width: float, *, is_log: bool) -> list[float]:
    """Returns the ticks, from the left, whose numbers do not touch below a panel of this width in inches."""
    places = [math.log10(tick) for tick in ticks] if is_log else list(ticks)
    span = max(places) - min(places) or 1.0
    per_unit = 0.8 * width * _LETTERS_PER_INCH / span
    shown: list[int] = []
    for index, tick in enumerate(ticks):
        letters = len(f"{tick:g}")
        if (
            not shown
            or (places[index] - places[shown[-1]]) * per_unit >= (letters + len(f"{ticks[shown[-1]]:g}")) / 2 + 1
        ):
            shown.append(index)
    return [ticks[index] for index in shown]
