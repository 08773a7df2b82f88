"""The picture of all claims: a column for each, of the shares of its cells, by paper and figure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from multihop.claims.bars import whole
from multihop.claims.judging import Judgement, State, Verdict
from multihop.papers import Paper
from multihop.report.svg import PALETTE

#: From below, as they are stacked.
_FILLS = {State.HOLDS: PALETTE[0], State.UNDECIDED: "#d5dade", State.MISSING: "#ffffff", State.FAILS: "url(#fails)"}

_KEY = {State.HOLDS: "holds", State.UNDECIDED: "undecided", State.FAILS: "fails"}

_WIDTH, _MARGIN = 760, 10
_COLUMN, _GAP, _BAR = 11, 6, 48

#: Below each other in a paper: its name, its columns, and its verdicts. Figures that need more room begin another row.
_TITLE, _ROW, _VERDICTS = 26, 68, 26

_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"
 font-family="Helvetica, Arial, sans-serif" role="img" aria-label="{label}">
<defs><pattern id="fails" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<rect width="4" height="4" fill="{fails}"/><rect width="1.3" height="4" fill="#ffffff" fill-opacity=".55"/>
</pattern></defs>
<rect width="100%" height="100%" fill="#ffffff"/>"""


def svg(judged: Sequence[tuple[Paper, Sequence[Judgement]]]) -> str:
    """The picture, dark on white."""
    parts: list[str] = []
    y = 30
    for paper, found in judged:
        made, y = _paper(paper, found, y)
        parts += made
    label = "Claims of each paper by figure, and how many of their cells hold, fail or are undecided"
    head = _HEAD.format(width=_WIDTH, height=y, label=label, fails=PALETTE[3])
    return "\n".join([head, *_key(), *parts, "</svg>\n"])


def _paper(paper: Paper, found: Sequence[Judgement], y: int) -> tuple[list[str], int]:
    """The parts of a paper, and where the next one begins."""
    y += _TITLE
    parts = [_text(_MARGIN, y - 8, f"{paper.name}: {len(found)} claims", size=14, weight="bold")]
    x = _MARGIN
    for place, together in groupby(found, _place):
        claims = list(together)
        wide = max(len(claims) * _COLUMN, round(6.5 * len(place)))
        if x + wide > _WIDTH - _MARGIN:
            x, y = _MARGIN, y + _ROW
        for index, judgement in enumerate(claims):
            parts.append(_column(judgement, x + index * _COLUMN, y))
        parts.append(_text(x, y + _BAR + 12, place, size=11, fill="#5a6570"))
        x += wide + _GAP
    y += _ROW
    counts = Counter(judgement.verdict for judgement in found)
    said = "   ".join(f"{verdict.symbol} {counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    parts.append(_text(_MARGIN, y + 8, said, size=12))
    return parts, y + _VERDICTS


def _place(judgement: Judgement) -> str:
    """The first figure, table, section or equation that a claim names, in short; of anything else its first word."""
    where = judgement.claim.where
    found = re.search(r"\b(fig|table|sec|eq)[a-z]*\.? ([0-9]+|[IVX]+\b)", where, re.IGNORECASE)
    if found is None:
        return where.replace(",", " ").split()[0]
    return {"fig": "F", "table": "T", "sec": "§", "eq": "E"}[found[1].lower()] + found[2]


def _column(judgement: Judgement, x: int, y: int) -> str:
    bar = whole(judgement)
    counts = dict(zip(State, bar.counts, strict=True))
    total = sum(bar.counts) or 1
    tip = f"{judgement.claim.where}: {judgement.claim.says}: {judgement.verdict}, {judgement.summary}"
    drawn, top = [], float(y + _BAR)
    for state, fill in _FILLS.items():
        height = counts[state] * _BAR / total
        top -= height
        if height:
            drawn.append(f'<rect x="{x}" y="{top:.1f}" width="{_COLUMN - 2}" height="{height:.1f}" fill="{fill}"/>')
    return f"<g><title>{escape(tip)}</title>{''.join(drawn)}</g>"


def _key() -> Iterable[str]:
    x = _MARGIN
    for state, word in _KEY.items():
        yield f'<rect x="{x}" y="12" width="12" height="12" fill="{_FILLS[state]}"/>'
        yield _text(x + 17, 22, word, size=12)
        x += 30 + 7 * len(word)
    yield _text(x + 6, 22, "share of each claim's cells", size=12, fill="#5a6570")


def _text(x: float, y: float, text: str, *, size: int, fill: str = "#1c2126", weight: str = "normal") -> str:
    style = f'font-size="{size}" fill="{fill}" font-weight="{weight}" xml:space="preserve"'
    return f'<text x="{x}" y="{y}" {style}>{escape(text)}</text>'
