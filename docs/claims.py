"""Writes the page of all claims at a glance from the runs that `multihop reproduce` made, with its picture.

    multihop reproduce
    python -m docs.claims results/reproduce

writes docs/results/claims.md and docs/results/images/claims.svg. It runs nothing: `reproduce` left the verdicts.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from docs import claims_picture

from multihop import UserError
from multihop.claims.bars import Bar, pairs, rows
from multihop.claims.judging import WHOSE, Judgement, State, Verdict
from multihop.papers import Paper, find, papers
from multihop.papers.verdicts import EXTENTS, Verdicts, read_verdicts

PAGE = Path(__file__).parent / "results" / "claims.md"

#: Blue squares and orange diamonds differ in colour and in shape, for readers who do not see colours.
_CELLS = {State.HOLDS: "🟦", State.FAILS: "🔶", State.UNDECIDED: "⚪", State.MISSING: "◽"}

#: At most so many symbols to a bar.
_WIDTH = 12


def main() -> None:
    """Reads the arguments, writes the page and the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where multihop reproduce put the folders of papers")
    parser.add_argument("--papers", help="only these, as in recn,winf; all by default")
    parser.add_argument("--to", type=Path, default=PAGE, help="the page; docs/results/claims.md by default")
    given = parser.parse_args()
    try:
        chosen = [find(name) for name in given.papers.split(",")] if given.papers else papers()
        verdicts = [read_verdicts(paper, given.folder / paper.name) for paper in chosen]
    except UserError as error:
        sys.exit(f"claims.py: {error}")
    images = given.to.parent / "images"
    images.mkdir(parents=True, exist_ok=True)
    picture = claims_picture.svg([(found.paper, found.judgements) for found in verdicts])
    (images / f"{given.to.stem}.svg").write_text(picture, encoding="utf-8")
    given.to.write_text(page(verdicts, f"images/{given.to.stem}.svg"), encoding="utf-8")


def page(verdicts: Sequence[Verdicts], picture: str) -> str:
    """The page: the picture, how many claims of each paper have which verdict, and every claim by figure."""
    command = "multihop reproduce"
    judged = [(found.paper, found.judgements) for found in verdicts]
    lines = [
        f"# Claims at a glance: {', '.join(found.paper.name for found in verdicts)}",
        "",
        "All claims, held against the runs: how much of each holds, and whose the difference is where it",
        f"does not. Written by `docs/claims.py` from what `{command}` found; `{command} --summary` prints the same.",
        "[What a verdict means](../explanation/verdicts.md) has the rules.",
        "",
    ]
    for extent, about in EXTENTS.items():
        of = [found.paper.name for found in verdicts if found.extent is extent]
        lines += [f"**{', '.join(of)}**: {about}", ""] if of and about else []
    lines += [
        f"![Each claim as a column of its cells, by paper and figure]({picture})",
        "",
        "Each column is a claim, in the order of the studies: from below the cells that hold (blue), are undecided",
        "(grey), and fail (orange, striped).",
        "",
        *_table(["paper", "claims", *Verdict], [_counts(paper, found) for paper, found in judged]),
        "Differences of claims that do not hold, or not wholly:",
        "",
        *_table(["paper", *WHOSE], [_differences(paper, found) for paper, found in judged]),
        f"In the tables below, {', '.join(f'{symbol} {state}' for state, symbol in _CELLS.items())}; more than",
        f"{_WIDTH} cells in proportion. Readings of a paper that came out differently have a line each, and the pairs",
        "that a claim compares a bar each.",
        "",
    ]
    for found in verdicts:
        paper = found.paper
        lines += [f"## {paper.name}", "", f"{paper.authors}: *{paper.title}*. {paper.published}.", ""]
        lines += [
            f"[Every number]({paper.name}.md), with its interval and reason. Runs of multihop {found.build}.",
            "",
        ]
        lines += _table(["where", "claim", "verdict", "cells", "difference"], _claims(found.judgements))
    return "\n".join(lines).rstrip() + "\n"


def _counts(paper: Paper, found: Sequence[Judgement]) -> list[str]:
    counts = Counter(judgement.verdict for judgement in found)
    return [f"[{paper.name}](#{paper.name})", str(len(found)), *(str(counts[verdict] or "") for verdict in Verdict)]


def _differences(paper: Paper, found: Sequence[Judgement]) -> list[str]:
    counts = Counter(judgement.whose for judgement in found)
    return [paper.name, *(str(counts[whose] or "") for whose in WHOSE)]


def _claims(found: Sequence[Judgement]) -> Iterable[list[str]]:
    before = ""
    for judgement in found:
        claim = judgement.claim
        where, before = ("" if claim.where == before else claim.where), claim.where
        verdict = f"{judgement.verdict.symbol} {judgement.verdict}"
        yield [where, claim.says, verdict, _cells(judgement), judgement.whose]


def _cells(judgement: Judgement) -> str:
    compared = pairs(judgement)
    lines = [" \\| ".join(compared)] if len(compared) > 1 else []
    for row in rows(judgement):
        drawn = " \\| ".join(_drawn(bar, max(len(State), _WIDTH // len(compared))) for bar in row.bars)
        lines.append(f"{drawn} {'; '.join(row.readings)}".rstrip())
    return "<br>".join([*lines, judgement.summary])


def _drawn(bar: Bar, width: int) -> str:
    return "".join(_CELLS[state] * count for state, count in bar.parts(width))


def _table(heads: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    made = ["| " + " | ".join(row) + " |" for row in body]
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads), *made, ""]


if __name__ == "__main__":
    main()
