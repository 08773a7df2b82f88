"""Matplotlib figures as SVG in a page, with its fonts, light and dark colours, and tooltips."""

from __future__ import annotations

import html
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from multihop.base import extras
from multihop.report.notes import Notes
from multihop.report.numbers import Panel, element
from multihop.results.statistics import Estimate

#: Okabe and Ito's palette for common colour blindness, without yellow, which is too faint on white; the last
#: violet is added.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8C8C8C", "#6A51A3")

# Matplotlib needs colours; these two are replaced by the page's own.
INK = "#010203"
FAINT = "#040506"

#: Their replacements on paper.
_ON_PAPER = {INK: "#1c2126", FAINT: "#d5dade"}

#: Width of a chart that fills the page, in inches, which determines the size of text.
PAGE_WIDTH = 11.0

#: Resolution of SVG.
_POINTS_PER_INCH = 72

#: Smallest text of a chart on the screen.
_LEAST_TEXT_PX = 9.0

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")

_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "multihop",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": FAINT,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.labelcolor": INK,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "figure.constrained_layout.h_pad": 0.12,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "legend.columnspacing": 1.2,
    "legend.frameon": False,
    "legend.handlelength": 1.4,
    "legend.handletextpad": 0.5,
    "legend.labelcolor": INK,
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.bottom": False,
    "ytick.left": False,
}


class Chart(Notes):
    """Figure with notes on its parts."""

    def __init__(self, key: str, label: str, width: float, height: float) -> None:
        self.key = key
        self.label = label
        # Imported here, as below, since a plain install lacks packages that only reports need.
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        self.figure = Figure(figsize=(width, height), dpi=_POINTS_PER_INCH, layout="constrained")
        # The SVG canvas measures text as SVG displays it.
        FigureCanvasSVG(self.figure)
        self._parts: dict[str, tuple[str, str, str]] = {}
        self._panels: list[Panel] = []

    def part(
        self,
        artist: Any,  # noqa: ANN401 - any artist
        tip: str = "",
        series: Sequence[str] = (),
        of: Sequence[str] = (),
    ) -> None:
        """Adds a tooltip and subjects of an artist."""
        name = f"part{len(self._parts)}"
        artist.set_gid(name)
        self._parts[name] = (tip, " ".join(series), " ".join(of))

    def panel(
        self,
        axis: Any,  # noqa: ANN401 - an Axes
        x: str,
        y: str,
        title: str = "",
        *,
        cursor: bool = False,
        zooms: bool = False,
    ) -> Panel:
        """Adds a panel, whose numbers go into the page."""
        made = super().panel(axis, x, y, title, cursor=cursor, zooms=zooms)
        number = len(self._panels)
        axis.set_gid(f"panel{number}")
        axis.xaxis.set_gid(f"panel{number}-x")
        self._panels.append(made)
        return made

    def file(self) -> str:
        """Returns the figure as an SVG file, dark on white, for papers and slides."""
        return self._drawn(transparent=False).replace(INK, _ON_PAPER[INK]).replace(FAINT, _ON_PAPER[FAINT])

    def svg(self, sizes: str | None = None) -> str:
        """Returns the figure as an `<svg>` element, as wide as drawn unless `sizes` (CSS) is given."""
        text = self._drawn(transparent=True)
        text = text[text.index("<svg") :]
        text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
        text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
        text = text.replace(INK, "currentColor").replace(FAINT, "var(--grid)")
        text = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", text)
        text = re.sub(r"font-family: [^;\"]*; ?", "", text)
        text = re.sub(r"\b(id=\"|url\(#|href=\"#)", rf"\g<1>{self.key}-", text)
        text = re.sub(rf'<g id="{self.key}-(part\d+)">', lambda match: self._opening(match[1]), text)
        alone, wide = sizes is None, self.figure.get_figwidth()
        # On a phone a chart scrolls instead of shrinking until it is illegible.
        least = _LEAST_TEXT_PX / _STYLE["font.size"] * _POINTS_PER_INCH * wide
        sizes = sizes or f"max-width: {100 * wide / PAGE_WIDTH:.0f}%; min-width: {least:.0f}px"
        label = html.escape(self.label, quote=True)
        opening = f'<svg class="chart" style="{sizes}" role="img" aria-label="{label}"'
        text = re.sub(r'(?<=\s)(width|height)="[\d.]+pt"\s*', "", text, count=2)
        text = re.sub(r' xmlns(:\w+)?="[^"]*"| version="1.1"', "", text)
        text = re.sub(r"\s*\n\s*", "\n", text.replace("<svg", opening, 1)).replace("xlink:href", "href")
        text += self._numbers()
        return f'<div class="scroll" tabindex="0">{text}</div>' if alone else text

    def _numbers(self) -> str:
        """Returns the numbers for the page's script; only a drawn chart knows the place of its axes."""
        width, height = (_POINTS_PER_INCH * inches for inches in self.figure.get_size_inches())
        panels = [panel.record(f"{self.key}-panel{n}", width, height) for n, panel in enumerate(self._panels)]
        return element(self.key, panels).replace(INK, "currentColor").replace(FAINT, "var(--grid)") if panels else ""

    def _opening(self, name: str) -> str:
        """Returns the opening tag of a part, with attributes for the page's script."""
        tip, series, of = (html.escape(text, quote=True) for text in self._parts[name])
        marks = (f' data-series="{series}"' if series else "") + (f' data-of="{of}"' if of else "")
        return f'<g class="tip"{marks} data-tip="{tip}"><title>{tip}</title>' if tip else f"<g{marks}>"

    def _drawn(self, *, transparent: bool) -> str:
        # Laid out here, since Matplotlib would otherwise draw the whole figure once more.
        if engine := self.figure.get_layout_engine():
            engine.execute(self.figure)
            self.figure.set_layout_engine(None)
        buffer = io.StringIO()
        about = {"Date": None, "Creator": None}
        self.figure.savefig(buffer, format="svg", transparent=transparent, metadata=about)
        return without_controls(buffer.getvalue())


def without_controls(text: str) -> str:
    """Removes the characters that XML excludes."""
    return _NOT_IN_XML.sub("", text)


@contextmanager
def style() -> Iterator[None]:
    """Applies Matplotlib settings of a page within the context."""
    with _settings(_STYLE):
        yield


@contextmanager
def paper_style(font: float) -> Iterator[None]:
    """Applies Matplotlib settings for paper: dark on white, text size in points, embedded fonts."""
    colours = {key: _ON_PAPER.get(value, value) if isinstance(value, str) else value for key, value in _STYLE.items()}
    more = {"font.size": font, "pdf.fonttype": 42, "ps.fonttype": 42, "figure.constrained_layout.h_pad": 0.04}
    with _settings(colours | more):
        yield


@contextmanager
def _settings(settings: dict[str, Any]) -> Iterator[None]:
    extras.require("report", "a chart")
    import matplotlib as mpl

    with mpl.rc_context(settings), warnings.catch_warnings():
        # Text stays text, since the reader's fonts have the letters that Matplotlib's lack.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def legend_above(axis: Any, width: float) -> None:  # noqa: ANN401 - an Axes
    """Adds a legend above an axis of this width in inches, in as many columns as fit."""
    _, names = axis.get_legend_handles_labels()
    if not names:
        return
    column = _LETTER * max(map(len, names)) + _HANDLE
    columns = max(1, min(len(names), int(width / column)))
    axis.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, borderaxespad=0)


#: Width in inches of a letter, and of a handle with its margins.
_LETTER, _HANDLE = 0.09, 0.6


def colours(names: Sequence[str]) -> dict[str, str]:
    """Returns a colour for each name, in order."""
    return {name: PALETTE[index % len(PALETTE)] for index, name in enumerate(names)}


def sides(found: Estimate) -> list[list[float]] | None:
    """Returns the distances of an interval's ends from the mean, for `errorbar`; `None` without one."""
    if found.low is None or found.high is None:
        return None
    return [[found.mean - found.low], [found.high - found.mean]]
