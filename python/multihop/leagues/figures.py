"""Ranks of a league, and leaders of regimes, as grids of cells."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from multihop.leagues import League, page, words
from multihop.report.charts.figures import LETTER, Facet, Figure, Key, cut, ink
from multihop.report.notes import Notes

#: Letters in a line of the name of a row, and of a column.
_ROW_LETTERS, _COLUMN_LETTERS = 22, 24

#: Shades of cells between white and the darkest colour: leaders, and schemes of which none differs.
_LEADS, _ALIKE = 0.8, 0.25

#: Colour of a shade, in steps of a map of Matplotlib that is legible in grey.
_MAP = "Blues"

#: Colours of the legend, those of the map at these shades.
_COLOURS = {_LEADS: "#1c6bb0", _ALIKE: "#d0e1f2"}


def ranks(league: League) -> Figure:
    """Returns a row for each scheme, a column for each network, and the rank in each cell, dark if good."""
    _, rows = page.summary(league)
    networks = [network.title for network in league.networks]
    texts = [row[2 : 2 + len(networks)] for row in rows]
    numbers = np.array([[float(text) if text.isdigit() else np.nan for text in each] for each in texts])
    kinds = np.array([row[0] for row in rows])
    last = np.array([np.nanmax(numbers[kinds == kind], initial=2.0) for kind in kinds])
    shades = _LEADS * (1 - (numbers - 1) / (last - 1)[:, None])
    texts = [[text if text.isdigit() else "" for text in each] for each in texts]
    keys = [Key("1: no scheme is significantly better", "bar", _COLOURS[_LEADS])]
    return _grid("ranks", "Ranks of schemes", [row[1] for row in rows], networks, (shades, texts), keys)


def leaders(winners: pd.DataFrame, metric: str) -> Figure:
    """Returns a row for each regime, a column for each scheme, and cells of those that lead by the metric.

    Args:
        winners: table of that name of `multihop.When`.
        metric: one of `words.QUESTIONS`.
    """
    table = winners[winners["metric"] == metric]
    regimes = list(dict.fromkeys(table["regime"]))
    columns = list(
        dict.fromkeys(scheme for row in table.to_dict("records") for scheme in row["leaders"] + row["behind"])
    )
    shades = np.full((len(regimes), len(columns)), np.nan)
    for row in table.to_dict("records"):
        for scheme in row["leaders"] + row["behind"]:
            shade = 0.0 if scheme in row["behind"] else _LEADS if row["behind"] else _ALIKE
            shades[regimes.index(row["regime"]), columns.index(scheme)] = shade
    texts = [["" if np.isfinite(shade) else "·" for shade in each] for each in shades]
    keys = [Key("leads", "bar", _COLOURS[_LEADS]), Key("none differs", "bar", _COLOURS[_ALIKE])]
    keys += [Key("is behind", "bar", "none"), Key("not compared", ".")]
    title = f"Schemes that lead by regime: {words.QUESTIONS[metric].lower()}"
    return _grid("leaders", title, regimes, columns, (shades, texts), keys)


def _grid(
    name: str,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    cells: tuple[np.ndarray, Sequence[Sequence[str]]],
    keys: Sequence[Key],
) -> Figure:
    """Returns a figure of cells with a shade and a text each."""
    shown = [textwrap.fill(row, _ROW_LETTERS) for row in rows]
    lines = max((row.count("\n") + 1 for row in shown), default=1)
    draw = partial(draw_grid, rows=shown, columns=columns, cells=cells)
    longest = max((min(len(column), _COLUMN_LETTERS) for column in columns), default=0)
    height, depth = 2.0 + (0.4 + 1.2 * lines) * len(rows), LETTER * longest
    return Figure(name, title, [Facet("", {name}, draw)] if rows else [], keys, height=height, depth=depth)


def draw_grid(
    notes: Notes,
    axis: Any,  # noqa: ANN401 - an Axes
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    cells: tuple[np.ndarray, Sequence[Sequence[str]]],
) -> None:
    """Draws a cell for each row and column, in its shade and with its text."""
    del notes
    shades, texts = cells
    axis.imshow(shades, cmap=_MAP, vmin=0, vmax=1, aspect="auto")
    for (row, column), shade in np.ndenumerate(shades):
        colour = "white" if shade > 0.6 else ink()
        axis.text(column, row, texts[row][column], ha="center", va="center", color=colour, fontsize="small")
    # White lines between cells.
    axis.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    axis.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    axis.grid(visible=False, which="major")
    axis.grid(visible=True, which="minor", axis="both", color="white", linewidth=1.5)
    axis.tick_params(which="minor", length=0)
    axis.set_xticks(range(len(columns)), [cut(column, _COLUMN_LETTERS) for column in columns], rotation=90)
    axis.set_yticks(range(len(rows)), rows)
