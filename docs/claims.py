"""Writes the page of counts of claims from the runs that `multihop reproduce` made, with its picture.

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
from multihop.experiments.claims.judging import WHOSE, Judgement, Verdict
from multihop.papers import Paper, find, papers
from multihop.papers.verdicts import EXTENTS, Verdicts, read_verdicts

PAGE = Path(__file__).parent / "results" / "claims.md"


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
    """The page: the picture, how many claims of each paper have which verdict, and where each claim is."""
    command = "multihop reproduce"
    judged = [(found.paper, found.judgements) for found in verdicts]
    lines = [
        f"# Claims at a glance: {', '.join(found.paper.name for found in verdicts)}",
        "",
        "All claims, held against the runs: how much of each holds, and whose the difference is where it",
        f"does not. `{command} --summary` prints each claim with its cells. [All claims](numbers.md) are searched on",
        "one page. [What a verdict means](../explanation/claims.md) has the rules.",
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
    ]
    for found in verdicts:
        paper = found.paper
        lines += [f"## {paper.name}", "", f"{paper.authors}: *{paper.title}*. {paper.published}.", ""]
        where = f"[Results]({paper.name}.md), [claims with reasons](data/{paper.name}-claims.csv)"
        lines += [f"{where}. Runs of multihop {found.build}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def _counts(paper: Paper, found: Sequence[Judgement]) -> list[str]:
    counts = Counter(judgement.verdict for judgement in found)
    return [f"[{paper.name}](#{paper.name})", str(len(found)), *(str(counts[verdict] or "") for verdict in Verdict)]


def _differences(paper: Paper, found: Sequence[Judgement]) -> list[str]:
    counts = Counter(judgement.whose for judgement in found)
    return [paper.name, *(str(counts[whose] or "") for whose in WHOSE)]


def _table(heads: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    made = ["| " + " | ".join(row) + " |" for row in body]
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads), *made, ""]


if __name__ == "__main__":
    main()
