"""The numbers of a chart, in the page beside it: for its cursor, its zoom and its CSV file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from multihop.base.escaping import visible

#: Significant digits of a number in the page; the tables beside the report have all.
_DIGITS = 7


@dataclass
class Line:
    """One series of a panel: a value, and the ends of its interval where it has one, at each place."""

    name: str
    colour: str
    #: What it is of: `v0`, `f1`, `n2` for the variant, flow and node of that number.
    of: Sequence[str] = ()
    x: list[float | str] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def add(self, x: float | str, y: float, low: float | None = None, high: float | None = None) -> None:
        """One more place."""
        self.x.append(x)
        self.y.append(y)
        self.low.append(math.nan if low is None else low)
        self.high.append(math.nan if high is None else high)

    def extend(self, xs: Iterable[float], ys: Iterable[float]) -> None:
        """Places with values that have no interval."""
        for x, y in zip(xs, ys, strict=True):
            self.add(float(x), float(y))

    def record(self) -> dict[str, Any]:
        """As the page's script reads it."""
        made: dict[str, Any] = {"name": visible(self.name), "colour": self.colour, "of": list(self.of)}
        made["x"], made["y"] = _short(self.x), _short(self.y)
        if any(math.isfinite(end) for end in self.low):
            made["low"], made["high"] = _short(self.low), _short(self.high)
        return made


@dataclass
class Panel:
    """One pair of axes of a chart.

    Attributes:
        axis: where it is drawn.
        title: of the panel, if it has one.
        x, y: labels of the axes, with units. Panels of a page whose `x` is the same share a cursor.
        has_cursor: whether places along the axis are numbers in rising order.
        zooms: whether it shows a time series.
    """

    axis: Any
    title: str
    x: str
    y: str
    has_cursor: bool
    zooms: bool
    lines: list[Line] = field(default_factory=list)

    def line(self, name: str, colour: str, of: Sequence[str] = ()) -> Line:
        """One more series, still empty."""
        made = Line(name, colour, of)
        self.lines.append(made)
        return made

    def record(self, group: str, width: float, height: float) -> dict[str, Any]:
        """As the page's script reads it, once the chart is drawn; the picture is so wide and high."""
        left, bottom, right, top = self.axis.get_position().extents
        box = [left * width, (1 - top) * height, right * width, (1 - bottom) * height]
        return {
            "title": visible(self.title),
            "x": self.x,
            "y": self.y,
            "group": group,
            "box": [round(edge, 2) for edge in box],
            "range": [float(end) for end in self.axis.get_xlim()],
            "log": self.axis.get_xscale() == "log",
            "cursor": self.has_cursor,
            "zooms": self.zooms,
            "lines": [line.record() for line in self.lines if line.x],
        }


def element(key: str, panels: Iterable[dict[str, Any]]) -> str:
    """An element of the page that holds what panels of a chart show."""
    text = json.dumps({"name": key, "panels": list(panels)}, ensure_ascii=False, separators=(",", ":"))
    return f'<script type="application/json" class="numbers">{in_script(text)}</script>'


def in_script(text: str) -> str:
    """JSON as it may stand in an element of HTML."""
    return text.replace("<", "\\u003c")


def _short(values: Iterable[float | str]) -> list[float | str | None]:
    return [visible(value) if isinstance(value, str) else _rounded(float(value)) for value in values]


def _rounded(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{_DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
