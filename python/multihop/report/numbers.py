"""Numbers of a chart in the page, for its cursor, its zoom and its CSV file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from multihop.base.escaping import visible

#: Significant digits of a number in the page; the tables next to the report have all.
_DIGITS = 7


@dataclass
class Line:
    """Series of a panel: a value at each x, with the ends of its interval if there is one."""

    name: str
    colour: str
    #: Subjects by number: `v0`, `f1`, `n2` for a variant, flow and node.
    of: Sequence[str] = ()
    x: list[float | str] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def add(self, x: float | str, y: float, low: float | None = None, high: float | None = None) -> None:
        """Adds a value."""
        self.x.append(x)
        self.y.append(y)
        self.low.append(math.nan if low is None else low)
        self.high.append(math.nan if high is None else high)

    def extend(self, xs: Iterable[float], ys: Iterable[float]) -> None:
        """Adds values without intervals."""
        for x, y in zip(xs, ys, strict=True):
            self.add(float(x), float(y))

    def record(self) -> dict[str, Any]:
        """Returns the series for the page's script."""
        made: dict[str, Any] = {"name": visible(self.name), "colour": self.colour, "of": list(self.of)}
        made["x"], made["y"] = _short(self.x), _short(self.y)
        if any(math.isfinite(end) for end in self.low):
            made["low"], made["high"] = _short(self.low), _short(self.high)
        return made


@dataclass
class Panel:
    """One pair of axes of a chart.

    Attributes:
        axis: axes on which it is drawn.
        title: title of the panel, or empty.
        x, y: labels of the axes, with units. Panels of a page with equal `x` share a cursor.
        has_cursor: whether x values are rising numbers.
        zooms: whether the panel shows a time series.
        lines: series of the panel.
    """

    axis: Any
    title: str
    x: str
    y: str
    has_cursor: bool
    zooms: bool
    lines: list[Line] = field(default_factory=list)

    def line(self, name: str, colour: str, of: Sequence[str] = ()) -> Line:
        """Adds an empty series, and returns it."""
        made = Line(name, colour, of)
        self.lines.append(made)
        return made

    def record(self, group: str, width: float, height: float) -> dict[str, Any]:
        """Returns the panel for the page's script, once the chart of this width and height is drawn."""
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
    """Returns an element of the page with the numbers of a chart's panels."""
    text = json.dumps({"name": key, "panels": list(panels)}, ensure_ascii=False, separators=(",", ":"))
    return f'<script type="application/json" class="numbers">{in_script(text)}</script>'


def in_script(text: str) -> str:
    """Escapes JSON for an HTML script element."""
    return text.replace("<", "\\u003c")


def _short(values: Iterable[float | str]) -> list[float | str | None]:
    return [visible(value) if isinstance(value, str) else _rounded(float(value)) for value in values]


def _rounded(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{_DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
