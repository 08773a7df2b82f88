"""The picture of all claims: a column for each, of the shares of its cells, by paper and figure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from multihop.experiments.claims.bars import whole
from multihop.experiments.claims.judging import Judgement, State, Verdict
from multihop.papers import Paper
from multihop.report.svg import PALETTE

#: From below, as they are stacked.
_FILLS = {State.HOLDS: PALETTE[0], State.UNDECIDED: "#d5dade", State.MISSING: "#ffffff", State.FAILS: "url(#fails)"}

#: Kinds of text, and their style.
_TEXTS = {
    "title": "font:bold 14px Helvetica,Arial,sans-serif",
    "said": "font:12px Helvetica,Arial,sans-serif",
    "place": "font:11px Helvetica,Arial,sans-serif;fill:#5a6570",
}

_KEY = {State.HOLDS: "holds", State.UNDECIDED: "undecided", State.FAILS: "fails"}

_WIDTH, _MARGIN = 760, 10
_COLUMN, _GAP, _BAR = 11, 6, 48

#: Below each other in a paper: its name, its columns, and its verdicts. Figures that need more room begin another row.
_TITLE, _ROW, _VERDICTS = 26, 68, 26

_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"
 role="img" aria-label="{label}">
<style>text{{fill:#1c2126;white-space:pre}}{styles}</style>
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
    fills = {state.value: f"fill:{fill}" for state, fill in _FILLS.items()}
    styles = "".join(f".{name}{{{style}}}" for name, style in {**_TEXTS, **fills}.items())
    head = _HEAD.format(width=_WIDTH, height=y, label=label, fails=PALETTE[3], styles=styles)
    return "\n".join([head, *_key(), *parts, "</svg>\n"])


def _paper(paper: Paper, found: Sequence[Judgement], y: int) -> tuple[list[str], int]:
    """The parts of a paper, and where the next one begins."""
    y += _TITLE
    parts = [_text(_MARGIN, y - 8, f"{paper.name}: {len(found)} claims", "title")]
    x = _MARGIN
    for place, together in groupby(found, _place):
        claims = list(together)
        wide = max(len(claims) * _COLUMN, round(6.5 * len(place)))
        if x + wide > _WIDTH - _MARGIN:
            x, y = _MARGIN, y + _ROW
        for index, judgement in enumerate(claims):
            parts.append(_column(judgement, x + index * _COLUMN, y))
        parts.append(_text(x, y + _BAR + 12, place, "place"))
        x += wide + _GAP
    y += _ROW
    counts = Counter(judgement.verdict for judgement in found)
    said = "   ".join(f"{verdict.symbol} {counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    parts.append(_text(_MARGIN, y + 8, said, "said"))
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
    for state in _FILLS:
        height = counts[state] * _BAR / total
        top -= height
        if height:
            drawn.append(_box(state, x, top, _COLUMN - 2, height))
    return f"<g><title>{escape(tip)}</title>{''.join(drawn)}</g>"


def _key() -> Iterable[str]:
    x = _MARGIN
    for state, word in _KEY.items():
        yield _box(state, x, 12, 12, 12)
        yield _text(x + 17, 22, word, "said")
        x += 30 + 7 * len(word)
    yield _text(x + 6, 22, "share of each claim's cells", "place")


def _box(state: State, x: int, y: float, width: int, height: float) -> str:
    return f'<path class="{state.value}" d="M{x} {round(y, 1):g}h{width}v{round(height, 1):g}h-{width}"/>'


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(text)}</text>'
