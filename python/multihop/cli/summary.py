"""Headlines and claims of a paper in the terminal, claims with bars of their cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from multihop.cli import console
from multihop.experiments.claims.bars import Bar, pairs, rows
from multihop.experiments.claims.judging import WHOSE, Judgement, State, Verdict
from multihop.papers.headlines import JudgedHeadline

#: Blue and vermilion of the palette of Okabe and Ito. The symbols differ for terminals without colours.
_CELLS = {
    State.HOLDS: ("■", "#0072b2"),
    State.FAILS: ("x", "#d55e00"),
    State.UNDECIDED: ("?", "bright_black"),
    State.MISSING: ("-", "bright_black"),
}

_WIDTH = 12


def print_summary(
    title: str, source: str, headlines: Sequence[JudgedHeadline], judgements: Sequence[Judgement]
) -> None:
    """Prints a paper's headlines, then its claims: verdict, cells that hold, cause of a difference."""
    write = console.out().print
    write(title, style="bold")
    console.say(source)
    console.say()
    print_headlines(headlines)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("where", "claim", "verdict", "cells", "difference"):
        table.add_column(head, overflow="fold")
    previous = ""
    for judgement in judgements:
        claim, verdict = judgement.claim, judgement.verdict
        where = "" if claim.where == previous else claim.where
        previous = claim.where
        table.add_row(where, claim.id, f"{verdict.symbol} {verdict}", _bars(judgement), judgement.whose)
    write(table)
    write(_totals(judgements))
    console.say()


def print_headlines(headlines: Sequence[JudgedHeadline]) -> None:
    """Prints the main claims of a paper with their verdicts."""
    if not headlines:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("verdict", "main claim", "where"):
        table.add_column(head, overflow="fold")
    for judged in headlines:
        table.add_row(f"{judged.verdict.symbol} {judged.verdict}", judged.headline.says, judged.headline.where)
    console.out().print(table)
    console.say()


def print_key() -> None:
    """Prints the legend of the bars."""
    key = Text("Cells: ")
    for state, (symbol, colour) in _CELLS.items():
        key.append(f"{symbol} ", style=colour).append(f"{state}  ")
    console.out().print(key.append(f"more than {_WIDTH} in proportion; a line for each reading that differs."))


def _bars(judgement: Judgement) -> Text:
    compared = pairs(judgement)
    lines = [Text(" | ".join(compared), style="dim")] if len(compared) > 1 else []
    for row in rows(judgement):
        line = Text(" | ").join(_drawn(bar, max(len(State), _WIDTH // len(compared))) for bar in row.bars)
        lines.append(line.append(f" {'; '.join(row.readings)}", style="dim") if row.readings else line)
    return Text("\n").join(lines)


def _drawn(bar: Bar, width: int) -> Text:
    text = Text()
    for state, count in bar.parts(width):
        symbol, colour = _CELLS[state]
        text.append(symbol * count, style=colour)
    return text


def _totals(judgements: Sequence[Judgement]) -> str:
    verdicts = Counter(judgement.verdict for judgement in judgements)
    owners = Counter(judgement.whose for judgement in judgements)
    counted = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in Verdict if verdicts[verdict])
    differs = ", ".join(f"{owners[whose]} {whose}" for whose in WHOSE if owners[whose])
    summary = f"{len(judgements)} claims: {counted}"
    return f"{summary}. Differences: {differs}." if differs else f"{summary}."
