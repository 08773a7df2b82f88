"""Figure before it is drawn: facets side by side, and a common legend.

Pages, files and scripts draw the same facets. A page draws each as a separate picture, so that pictures wrap
on narrow pages. A file contains all of them, and a script draws one on its own axes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from textwrap import fill
from typing import Any

from multihop.experiments.comparisons import VariantRuns
from multihop.report.notes import Notes
from multihop.report.svg import PALETTE

_MARKERS = "os^vPX"
_DASHES = ("-", "--", ":")
_HATCHES = ("", "////", "....")


@dataclass(frozen=True)
class Look:
    """Look of a series: colour and marker; with many series also dashes of lines and hatching of bars."""

    colour: str
    marker: str
    dash: str
    hatch: str


def look(number: int) -> Look:
    """Returns the look of the series of that number."""
    turn = number // len(PALETTE) % len(_DASHES)
    colour, marker = PALETTE[number % len(PALETTE)], _MARKERS[number % len(_MARKERS)]
    return Look(colour, marker, _DASHES[turn], _HATCHES[turn])


def line_and_hatch(number: int) -> tuple[str, str]:
    """Returns a dash of lines and a hatching of bars, for series that share a colour."""
    return _DASHES[number % len(_DASHES)], _HATCHES[number % len(_HATCHES)]


def looks(variants: Sequence[str]) -> dict[str, Look]:
    """Returns the look of each variant, equal in every figure."""
    return {name: look(number) for number, name in enumerate(variants)}


def ink() -> str:
    """Returns the colour of text and of marks without a scheme."""
    import matplotlib as mpl

    return str(mpl.rcParams["text.color"])


def faint() -> str:
    """Returns the colour of grids and shades."""
    import matplotlib as mpl

    return str(mpl.rcParams["grid.color"])


@dataclass(frozen=True)
class Key:
    """Entry of a legend.

    Attributes:
        name: meaning of the mark.
        mark: `bar`, `line`, `thin`, `band`, `shade`, `interval`, `SEED`, `CLAIMED`, or Matplotlib's marker.
        colour: colour; `None` for ink.
        dash: dash of a line.
        hatch: hatching of a bar.
        marker: marker on a line.
        of: subject that the entry selects in a page, such as `v0`.
        switch: series that the entry shows and hides in a page.
    """

    name: str
    mark: str
    colour: str | None = None
    dash: str = "-"
    hatch: str = ""
    marker: str = ""
    of: str = ""
    switch: str = ""

    def handle(self) -> Any:  # noqa: ANN401 - an artist
        """Returns the mark for a legend of Matplotlib."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        colour = self.colour or ink()
        match self.mark:
            case "bar":
                edge = 0.6 if colour == "none" else 0
                return Patch(facecolor=colour, edgecolor=ink(), hatch=self.hatch, linewidth=edge)
            case "band":
                return Patch(facecolor=colour, alpha=0.25, linewidth=0)
            case "shade":
                return Patch(facecolor=faint(), alpha=0.35, linewidth=0)
            case "thin":
                return Line2D([], [], color=colour, linewidth=0.5, alpha=0.6)
            case "interval":
                return Line2D([], [], color=colour, marker="|", markersize=6, linewidth=1)
            case "line":
                return Line2D([], [], color=colour, linestyle=self.dash, marker=self.marker or None)
        if self.mark == SEED:
            return Line2D([], [], color=colour, linestyle="none", **seed_mark())
        if self.mark == CLAIMED:
            return Line2D([], [], color=colour, linestyle="none", marker="D", markerfacecolor="none")
        return Line2D([], [], color=colour, linestyle="none", marker=self.mark, markersize=5)


#: Mark of a single seed: a small ring that is visible on a bar and next to it.
SEED = "seed"

#: Mark of a number that a paper claims: an open diamond.
CLAIMED = "claimed"


def seed_mark() -> dict[str, Any]:
    """Returns Matplotlib's properties of the mark of a seed."""
    ring = {"markerfacecolor": "#ffffff", "markeredgecolor": ink(), "markeredgewidth": 0.5}
    return {"marker": "o", "markersize": 2.6, **ring}


@dataclass(frozen=True)
class Facet:
    """Pair of axes of a figure.

    Attributes:
        title: title that distinguishes it from other facets.
        measures: names by which it is chosen.
        draw: function that draws it on axes with notes on its parts.
    """

    title: str
    measures: Collection[str]
    draw: Callable[[Notes, Any], None]


@dataclass(frozen=True)
class Figure:
    """Facets about one subject.

    Attributes:
        name: name of its file, without suffix.
        title: caption on the page; files have none.
        facets: facets in order; empty if there is nothing to draw.
        keys: entries of the legend.
        columns: facets side by side on a wide page.
        least, height: least width and height of a facet, in heights of its text.
        depth: height of names below the x axis beyond one line, in the same unit.
        note: remark for the reader.
        key: beginning of ids in the page; the name by default.
        width: width of a facet on a page, in inches.
        is_wide: whether a single facet takes the width of the page.
        keys_title: title of the legend.
        shares_y: whether the facets have one y axis, which a file labels once in a row.
    """

    name: str
    title: str
    facets: Sequence[Facet]
    keys: Sequence[Key]
    columns: int = 2
    least: float = 24.0
    height: float = 17.0
    note: str = ""
    key: str = ""
    width: float = 4.8
    is_wide: bool = False
    keys_title: str = ""
    shares_y: bool = False
    depth: float = 0.0

    def chosen(self, measures: Collection[str]) -> Figure:
        """Returns the figure with only the facets that show one of these."""
        return replace(self, facets=[facet for facet in self.facets if set(facet.measures) & set(measures)])


def scheme_keys(runs: VariantRuns, mark: str) -> list[Key]:
    """Returns an entry per scheme; none for a single scenario as written."""
    if runs.variants == ["scenario"]:
        return []
    found = enumerate(looks(runs.variants).items())
    return [Key(name, mark, look.colour, look.dash, look.hatch, of=f"v{n}") for n, (name, look) in found]


def seed_keys(runs: VariantRuns, mark: str = "interval") -> list[Key]:
    """Returns entries for marks of several seeds: their interval, and single seeds where they are drawn."""
    if len(runs.seeds) < 2:
        return []
    return [Key("95 % interval", mark), *([Key("one seed", SEED)] if mark == "interval" else [])]


def legend_names(keys: Sequence[Key], width: float = math.inf) -> list[str]:
    """Returns names for a legend of Matplotlib, in lines that fit this width in heights of text.

    Matplotlib omits names that begin with an underscore.
    """
    names = [f"\u200a{key.name}" if key.name.startswith("_") else key.name for key in keys]
    letters = 10**6 if math.isinf(width) else max(8, int((width - HANDLE) / LETTER))
    return [fill(name, letters) for name in names]


def tokens(runs: VariantRuns, variant: str, flow: int | None = None) -> tuple[str, ...]:
    """Returns the subjects of a part, for selection in the page."""
    of = (f"v{runs.variants.index(variant)}",)
    return of if flow is None else (*of, f"f{flow}")


#: Most facets of single flows.
MOST_FLOWS = 5


def typical_flows(runs: VariantRuns, among: Collection[int] | None = None) -> tuple[list[int], str]:
    """Returns the flows that have a facet each, in their order, and a remark if others exist.

    Of many flows these are the ones with the least and the most goodput, and others in equal steps of rank.
    """
    means = runs.flows.groupby("flow", sort=True)["goodput_bps"].mean()
    flows = [int(flow) for flow in means.index if among is None or int(flow) in among]
    if len(flows) <= MOST_FLOWS:
        return flows, ""
    ranked = sorted(flows, key=lambda flow: float(means.loc[flow]))
    some = {ranked[round(index * (len(ranked) - 1) / (MOST_FLOWS - 1))] for index in range(MOST_FLOWS)}
    note = f"{len(some)} of {len(flows)} flows, from the least to the most goodput in equal steps of rank."
    return sorted(some), note


def flow_names(runs: VariantRuns) -> list[str]:
    """Returns the names of all flows."""
    return [flow["name"] for flow in runs.view["flows"]]


def cut(name: str, most: int = 24) -> str:
    """Cuts a name to the room on an axis."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


#: Mean width of a letter, and of a legend's handle with its margins, in heights of text.
LETTER, HANDLE = 0.56, 3.2


def wrap_labels(axis: Any, width: float, height: float) -> None:  # noqa: ANN401 - an Axes
    """Breaks title and labels into lines that fit a picture of this width and height in heights of text."""
    across, down = (max(8, int(room / LETTER)) for room in (width - 4.0, height - 3.0))
    axis.set_title(fill(axis.get_title(loc="left") or axis.get_title(), across))
    axis.set_xlabel(fill(axis.get_xlabel(), across))
    axis.set_ylabel(fill(axis.get_ylabel(), down))


def make_log(axis: Any, direction: str) -> None:  # noqa: ANN401 - an Axes
    """Makes an axis logarithmic, with as many plain numbers as ticks as fit."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set(**{f"{direction}scale": "log"})
    along = getattr(axis, f"{direction}axis")
    low, high = along.get_view_interval()
    subs = (1.0, 2.0, 5.0) if high < 100 * max(low, 1e-12) else (1.0,)
    along.set_major_locator(LogLocator(subs=subs, numticks=8))
    along.set_major_formatter(lambda value, _: f"{value:g}")
    along.set_minor_locator(NullLocator())


def spans(values: Collection[float], times: float) -> bool:
    """Whether the largest positive value is more than `times` the smallest."""
    positive = [value for value in values if value > 0]
    return bool(positive) and max(positive) > times * min(positive)
