"""Results of a paper as records: its page, headlines first, and the files of all claims and numbers beside it."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import astuple, dataclass, field, fields
from pathlib import Path

from multihop.experiments.claims.judging import Verdict
from multihop.papers import Paper
from multihop.papers.verdicts import EXTENTS, Extent
from multihop.results.words import markdown_table

#: Abbreviations behind which a sentence goes on.
_ABBREVIATIONS = ("al.", "Eq.", "Eqs.", "Fig.", "Figs.", "Sec.", "cf.", "e.g.", "i.e.", "vs.")


@dataclass(frozen=True)
class ClaimRecord:
    """A claim with its verdict; a row of PAPER-claims.csv.

    Attributes:
        study: item of the paper, as in `wifi/anomaly`.
        cells: how many cells hold, fail or are undecided, in words.
        difference: whose the difference is, where the claim does not hold.
        readings: verdict of each reading of the paper, where these differ.
    """

    study: str
    where: str
    claim: str
    says: str
    verdict: str
    cells: str
    difference: str
    reason: str
    readings: str


@dataclass(frozen=True)
class NumberRecord:
    """A number at a point; a row of PAPER/STUDY.csv.

    Attributes:
        study: item of the paper, as in `wifi/anomaly`.
        claim: claim that the number is held against; empty for the mean of a metric.
        at: factors and their labels, as in `queue = one line; station = 3`.
        paper: number that the paper prints, if the claim has one.
        ours: mean over seeds, with its 95 % interval.
        state: whether the claim holds here; empty for the mean of a metric.
    """

    study: str
    claim: str
    at: str
    metric: str
    unit: str
    paper: str
    ours: str
    state: str


@dataclass(frozen=True)
class HeadlineRecord:
    """A claim of the abstract, as the page shows it.

    Attributes:
        where: figures and tables that show it.
        found: a sentence on what the runs show.
        verdict: on the cells of all its claims.
        claims: ids of these, with their verdicts.
        chart: title of the chart.
        picture: path of the chart, relative to the page.
    """

    says: str
    where: str
    found: str
    verdict: Verdict
    claims: Sequence[tuple[str, Verdict]]
    chart: str
    picture: str


@dataclass(frozen=True)
class StudyRecord:
    """A study of a paper, as its page shows it.

    Attributes:
        item: paper and name of the study, as in `wifi/anomaly`.
        found: discussion of the study; empty where there is none.
        extent: points, seeds and runs.
        charts: paths of the charts, relative to the page.
    """

    item: str
    title: str
    found: str
    extent: str
    charts: Sequence[str] = ()
    claims: Sequence[ClaimRecord] = field(default_factory=list)
    numbers: Sequence[NumberRecord] = field(default_factory=list)


def page(
    paper: Paper, build: str, extent: Extent, headlines: Sequence[HeadlineRecord], studies: Sequence[StudyRecord]
) -> str:
    """The page: headlines, verdicts by study, then the first sentence and the charts of each."""
    command = f"multihop reproduce {paper.name}{' --quick' if extent is Extent.QUICK else ''}"
    claims = [claim for study in studies for claim in study.claims]
    lines = [
        f"# Results: {paper.name}",
        "",
        f"{paper.authors}: *{paper.title}*. {paper.published}.",
        "",
        f"Runs of `{command}` with multihop {build}. The command repeats them, and writes a report with every cell.",
        "",
    ]
    if about := EXTENTS[extent]:
        lines += [f"**{about}**", ""]
    if headlines:
        lines += ["## Main claims", ""]
    for headline in headlines:
        lines += _headline(headline)
    lines += [
        "## All claims" if claims else "## Studies",
        "",
        f"- [Claims with reasons](data/{paper.name}-claims.csv); [one page](numbers.md) searches these, and numbers.",
        f"- Descriptions and discussions of the studies: `python/multihop/papers/{paper.name}/`, and the report.",
        "- [What a verdict means](../explanation/claims.md).",
        "",
    ]
    if claims:
        lines += [f"{_counted(claims)}.", "", *_verdicts(studies), *_failed(claims)]
    for study in studies:
        lines += _study(study, {headline.picture for headline in headlines})
    return "\n".join(lines).rstrip() + "\n"


def write_tables(folder: Path, paper: str, studies: Sequence[StudyRecord]) -> None:
    """Writes PAPER-claims.csv, and PAPER/STUDY.csv with the numbers of each study."""
    (folder / paper).mkdir(parents=True, exist_ok=True)
    for old in (folder / paper).glob("*.csv"):
        old.unlink()
    claims = [claim for study in studies for claim in study.claims]
    (folder / f"{paper}-claims.csv").write_text(_csv(ClaimRecord, claims), encoding="utf-8")
    for study in studies:
        if study.numbers:
            (folder / f"{study.item}.csv").write_text(_csv(NumberRecord, study.numbers), encoding="utf-8")


def first_sentence(found: str) -> str:
    """The first sentence of a text, and the second where the first has few words."""
    words: list[str] = []
    for word in found.split():
        words.append(word)
        ends = word.endswith((".", "!", "?", ".**")) and word not in _ABBREVIATIONS
        if ends and len(words) >= 6:
            break
    return " ".join(words)


def _headline(headline: HeadlineRecord) -> list[str]:
    claims = ", ".join(f"{verdict.symbol} `{claim}`" for claim, verdict in headline.claims)
    return [
        f"### {headline.says}",
        "",
        f"**{headline.verdict.symbol} {headline.verdict}** ({headline.where}). {headline.found}",
        "",
        f"![{headline.chart}]({headline.picture})",
        "",
        f"Decided by {claims}.",
        "",
    ]


def _counted(claims: Sequence[ClaimRecord]) -> str:
    counts = Counter(claim.verdict for claim in claims)
    kinds = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    return f"{len(claims)} claims: {kinds}"


def _verdicts(studies: Sequence[StudyRecord]) -> list[str]:
    """A row for each study with claims: how many have which verdict."""
    present = [verdict for verdict in Verdict if any(c.verdict == verdict for study in studies for c in study.claims)]
    rows = []
    for study in studies:
        counts = Counter(claim.verdict for claim in study.claims)
        if counts:
            rows.append([f"`{study.item}`", str(len(study.claims)), *(str(counts[v] or "") for v in present)])
    return markdown_table(["study", "claims", *map(str, present)], rows)


def _failed(claims: Sequence[ClaimRecord]) -> list[str]:
    """A line for each claim of which no cell holds."""
    failed = [claim for claim in claims if claim.verdict == Verdict.NOT]
    if not failed:
        return []
    lines = [f"- {claim.says} ({claim.where}; difference: {claim.difference or 'none'})" for claim in failed]
    return ["Not reproduced:", "", *lines, ""]


def _study(study: StudyRecord, above: Collection[str]) -> list[str]:
    """The section of a study, without charts that headlines above it show."""
    numbers = f"; [numbers](data/{study.item}.csv)" if study.numbers else ""
    about = f"`{study.item}`: {study.extent}{numbers}. {first_sentence(study.found)}".rstrip()
    lines = [f"## {study.title}", "", about, ""]
    shown = [f"![{re.sub('-', ' ', Path(chart).stem)}]({chart})" for chart in study.charts if chart not in above]
    for picture in shown[:1]:
        lines += [picture, ""]
    if len(shown) > 1:
        lines += ["<details><summary>More charts</summary>", ""]
        for picture in shown[1:]:
            lines += [picture, ""]
        lines += ["</details>", ""]
    return lines


def _csv(kind: type[ClaimRecord | NumberRecord], rows: Iterable[ClaimRecord | NumberRecord]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([each.name for each in fields(kind)])
    writer.writerows(astuple(row) for row in rows)
    return text.getvalue()
