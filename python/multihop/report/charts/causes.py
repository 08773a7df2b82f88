"""Causes that hold flows back: a bar for each flow, stacked by cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from multihop.explanation.explain import Explanation
from multihop.explanation.words import TITLES
from multihop.report.charts.figures import Facet, Figure, Key, cut, look
from multihop.report.notes import Notes

#: Most flows, and most kinds of causes; other causes are summed.
_MOST_FLOWS, _MOST_KINDS = 20, 5

_OTHERS, _GREY = "other causes", "#c9ced2"


def causes(found: Explanation) -> Figure:
    """Returns the shares of causes by explained flow, the least served flow first."""
    flows = sorted(found.explained, key=lambda index: found.flows[index].share)[:_MOST_FLOWS]
    names = [found.flows[index].name for index in flows]
    shares: dict[str, np.ndarray] = {}
    for place, index in enumerate(flows):
        for cause in found.flows[index].causes:
            shares.setdefault(TITLES[cause.kind], np.zeros(len(flows)))[place] += cause.score
    ranked = sorted(shares, key=lambda title: -float(shares[title].sum()))
    shown = {title: shares[title] for title in ranked[:_MOST_KINDS]}
    if len(ranked) > _MOST_KINDS:
        shown[_OTHERS] = np.sum([shares[title] for title in ranked[_MOST_KINDS:]], axis=0)
    keys = [Key(title, "bar", colour) for title, colour in zip(shown, _colours(shown), strict=True)]
    more = len(found.explained) - len(flows)
    note = f"{more} more flows are not fine." if more else ""
    facets = [Facet("", {"causes"}, partial(draw_causes, flows=names, shares=shown))] if shown else []
    return Figure("causes", "What holds flows back", facets, keys, height=5.0 + 1.7 * len(flows), note=note)


def _colours(shown: Sequence[str] | Mapping[str, np.ndarray]) -> list[str]:
    """Returns a colour per kind of cause, as there is one scheme."""
    return [_GREY if title == _OTHERS else look(number).colour for number, title in enumerate(shown)]


def draw_causes(notes: Notes, axis: Any, *, flows: Sequence[str], shares: Mapping[str, np.ndarray]) -> None:  # noqa: ANN401 - an Axes
    """Draws a lying bar for each flow, stacked by cause."""
    del notes
    left = np.zeros(len(flows))
    for (_, values), colour in zip(shares.items(), _colours(shares), strict=True):
        axis.barh(range(len(flows)), 100 * values, 0.75, left=left, color=colour, linewidth=0)
        left += 100 * values
    axis.set_yticks(range(len(flows)), [cut(name) for name in flows])
    axis.set_ylim(len(flows) - 0.5, -0.5)
    axis.set_xlim(0, 100)
    axis.set_xlabel("share of what holds the flow back [%]")
    axis.grid(visible=False, axis="y")
    axis.grid(visible=True, axis="x")
