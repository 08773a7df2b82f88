"""Writes the page of a paper's results from the runs that `multihop reproduce` made, with its charts.

    multihop reproduce recn
    python -m docs.results recn results/reproduce/recn

writes docs/results/recn.md, the charts into docs/results/images/recn/ITEM, and the verdicts beside the runs. It runs
nothing, and needs the build of multihop that made the runs.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from docs.pictures import compact

from multihop import UserError
from multihop.claims.judging import Cell, Judgement, State, Verdict
from multihop.claims.study import StudyResult
from multihop.papers import Paper, find
from multihop.papers.verdicts import EXTENTS, Extent, write_verdicts
from multihop.report.study.figures import figures
from multihop.report.study.provenance import runs, spans
from multihop.results.provenance import build
from multihop.results.words import markdown_table, with_interval
from multihop.study.design import as_list
from multihop.study.spec import Claim, Label

DOCS = Path(__file__).parent
#: A study of more points has its numbers in the report alone.
_MOST_POINTS = 300


def main() -> None:
    """Reads the arguments, writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paper")
    parser.add_argument("folder", type=Path, help="where multihop reproduce put the paper's studies")
    parser.add_argument("--quick", action="store_true", help="of runs that were made with --quick")
    parser.add_argument("--to", type=Path, help="the page; docs/results/PAPER.md by default")
    given = parser.parse_args()
    try:
        paper = find(given.paper)
        results = [_result(paper, item, given.folder / item, quick=given.quick) for item in paper.items]
    except UserError as error:
        sys.exit(f"results.py: {error}")
    target = given.to or DOCS / "results" / f"{paper.name}.md"
    images = target.parent / "images" / target.stem
    for old in images.rglob("*.svg"):
        old.unlink()
    charts: dict[str, list[str]] = {}
    for item, result in zip(paper.items, results, strict=True):
        charts[item] = []
        for figure in figures(result, item):
            (images / item).mkdir(parents=True, exist_ok=True)
            (images / item / f"{figure.name}.svg").write_text(compact(figure.svg), encoding="utf-8")
            charts[item].append(f"images/{target.stem}/{item}/{figure.name}.svg")
    target.write_text(page(paper, results, charts), encoding="utf-8")
    write_verdicts(given.folder, results)


def page(paper: Paper, results: Sequence[StudyResult], charts: dict[str, list[str]]) -> str:
    """The page: verdicts, then each study with its charts, claims and printed numbers.

    Args:
        paper: what was reproduced.
        results: one for each item, in their order.
        charts: item -> paths of its charts, relative to the page.
    """
    judgements = [judgement for result in results for judgement in result.judgements]
    extent = Extent.of(results)
    command = f"multihop reproduce {paper.name}{' --quick' if extent is Extent.QUICK else ''}"
    lines = [
        f"# Results: {paper.name}",
        "",
        f"{paper.authors}: *{paper.title}*. {paper.published}.",
        "",
        f"Written by `docs/results.py` from the runs of `{command}`, with multihop",
        f"{build()}. The command reproduces these runs, and writes a report with every cell and interval.",
        "[What a verdict means](../explanation/verdicts.md) says how claims are judged.",
        "",
    ]
    if about := EXTENTS[extent]:
        lines += [f"**{about}** Each study says which seeds it has.", ""]
    lines += ["## Verdicts", "", f"{_counted(judgements)}.", "", *_summary(judgements)]
    for item, result in zip(paper.items, results, strict=True):
        lines += _study(paper, item, result, charts.get(item, []))
    return "\n".join(lines)


def _result(paper: Paper, item: str, folder: Path, *, quick: bool) -> StudyResult:
    """What an item found with the seeds of which all points have a run.

    Raises:
        UserError: if there is no such seed.
    """
    study = paper.study(item)
    study = study.quick() if quick else study
    found = study.result(folder)
    if not found.missing and (study.spec.model is not None or any(found.seeds.values())):
        return found
    # Interrupted, or items that share runs with this one have more seeds.
    plan = study.plan
    has_all = (all(found.store.has(plan.run_id(at, seed)) for at in range(len(plan.points))) for seed in plan.seeds)
    whole = sum(1 for _ in itertools.takewhile(bool, has_all))
    if whole == 0 or study.spec.stop is not None:
        raise UserError(f"{folder}: runs of this build are missing; make them with multihop reproduce {paper.name}")
    return study.with_seeds(whole).result(folder)


def _counted(judgements: Sequence[Judgement]) -> str:
    counts = Counter(judgement.verdict for judgement in judgements)
    kinds = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    return f"{len(judgements)} claims: {kinds}"


def _summary(judgements: Iterable[Judgement]) -> list[str]:
    rows = [
        [f"`{j.claim.id}`", j.claim.where, j.claim.says, f"**{j.verdict}**", j.summary + _impossible(j), j.whose]
        for j in judgements
    ]
    return markdown_table(["claim", "where", "it says", "verdict", "cells", "difference"], rows)


def _study(paper: Paper, item: str, result: StudyResult, charts: Sequence[str]) -> list[str]:
    spec = result.study.spec
    lines = [
        f"## {spec.title or spec.name}",
        "",
        " ".join(spec.description.split()),
        "",
        _extent(paper, item, result),
        "",
    ]
    for chart in charts:
        lines += [f"![{Path(chart).stem.replace('-', ' ')}]({chart})", ""]
    if not result.judgements:
        lines += _estimates(result)
    for paragraph in filter(None, spec.discussion.split("\n\n")):
        lines += [" ".join(paragraph.split()), ""]
    for judgement in result.judgements:
        lines += _claim(result, judgement)
    if result.judgements and len(result.points) <= _MOST_POINTS:
        # Folded: claims and charts come first, and a reader who looks for a number finds it.
        lines += [
            "<details><summary>All means, with 95 % intervals</summary>",
            "",
            *_estimates(result),
            "</details>",
            "",
        ]
    return lines


def _estimates(result: StudyResult) -> list[str]:
    """All metrics at all points: what a study without claims is for."""
    metrics = [result.metric(name) for name in result.metric_names]
    factors = [name for name, factor in result.study.spec.factors.items() if len(factor.names) > 1]
    heads = [_title(result, name) for name in factors]
    heads += [f"{metric.title} [{metric.unit}]" if metric.unit else metric.title for metric in metrics]
    rows = [
        [
            *(_text(point.labels[name]) for name in factors),
            *(with_interval(result.estimate(index, metric.name), metric) for metric in metrics),
        ]
        for index, point in enumerate(result.points)
    ]
    return markdown_table(heads, rows)


def _extent(paper: Paper, item: str, result: StudyResult) -> str:
    command = f"`multihop reproduce {paper.name}/{item}`"
    if result.study.spec.model is not None:
        return f"Closed form, {len(result.points)} points; {command}."
    used = sorted({seed for seeds in result.seeds.values() for seed in seeds})
    seeds = spans(used) + ("" if result.has_all_seeds else f" of {result.study.seeds_asked}")
    return f"{len(result.points)} points, seeds {seeds}, {runs(result)} runs; {command}."


def _claim(result: StudyResult, judgement: Judgement) -> list[str]:
    claim = judgement.claim
    first = claim.says.split()[0]
    # Not of names such as rt-Winf.
    says = claim.says[:1].upper() + claim.says[1:] if first.isalpha() and first.islower() else claim.says
    lines = [
        f"**{says}** ({claim.where}; `{claim.id}`): {judgement.verdict}, {judgement.summary}{_impossible(judgement)}."
    ]
    reason = " ".join(claim.reason.split())
    lines += [reason, ""] if reason else [""]
    if claim.kind == "value":
        return lines + _numbers(result, judgement)
    if len({verdict for _, verdict in judgement.readings}) > 1:
        rows = [[_text(label), str(verdict)] for label, verdict in judgement.readings]
        lines += markdown_table([_title(result, claim.per or ""), "verdict"], rows)
    return lines + _numbers(result, judgement) if claim.kind == "bound" else lines


def _numbers(result: StudyResult, judgement: Judgement) -> list[str]:
    """Our numbers at the points of a claim, and the paper's if it has some: a column for each reading."""
    claim = judgement.claim
    factors = result.study.spec.factors
    columns: dict[str, None] = {}
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    others = [name for name in factors if name not in (claim.per, claim.over) and len(factors[name].names) > 1]
    others = [name for name in others if name not in claim.at or len(as_list(claim.at[name])) > 1]
    along = [name for name in (claim.over, *others) if name is not None]
    for cell in judgement.cells:
        if cell.point is None:
            continue
        labels = result.points[cell.point].labels
        column = _text(labels[claim.per]) if claim.per is not None else "ours"
        columns[column] = None
        printed = [] if cell.printed is None else [f"{cell.printed:g}"]
        rows.setdefault((*(_text(labels[name]) for name in along), *printed), {})[column] = _measured(cell)
    heads = [*(_title(result, name) for name in along), *(["paper"] if claim.kind == "value" else []), *columns]
    body = [[*key, *(found.get(column, "") for column in columns)] for key, found in rows.items()]
    unit = result.metric(claim.metric).unit
    about = [result.metric(claim.metric).title + (f", in {unit}" if unit else "")]
    about += [judgement.cells[0].expected] if claim.kind == "bound" and judgement.cells else []
    about += [f"within {_allowed(claim, unit)} of the paper's"] if claim.kind == "value" else []
    return [
        f"{'; '.join(about)}. Bold where the claim holds, italic where seeds cannot tell.",
        "",
        *markdown_table(heads, body),
    ]


def _allowed(claim: Claim, unit: str) -> str:
    if isinstance(claim.tolerance, str):
        return claim.tolerance
    return f"{claim.tolerance:g} {unit}".rstrip()


def _measured(cell: Cell) -> str:
    # The unit stands above the table.
    mean, plus_minus, rest = cell.measured.partition(" ± ")
    text = f"{mean} ± {rest.split()[0]}" if plus_minus else mean.split()[0]
    return {State.HOLDS: f"**{text}**", State.UNDECIDED: f"*{text}*"}.get(cell.state, text)


def _impossible(judgement: Judgement) -> str:
    count = len(judgement.impossible)
    return f"; {count} printed numbers are more than the channel can carry" if count else ""


def _title(result: StudyResult, factor: str) -> str:
    return result.study.spec.factors[factor].title or factor.replace("_", " ")


def _text(label: Label) -> str:
    return f"{label:g}" if isinstance(label, float) else str(label)


if __name__ == "__main__":
    main()
