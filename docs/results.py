"""Writes the page of a paper's results from the runs that `multihop reproduce` made, with its charts and its data.

    multihop reproduce recn
    python -m docs.results recn results/reproduce/recn

writes docs/results/recn.md, the charts into docs/results/images/recn/ITEM, all claims and numbers into
docs/results/data, the verdicts beside the runs, and those that the package ships. With --to it leaves the
last alone. It runs nothing, and needs the build of multihop that made the runs.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from docs.pictures import compact
from docs.result_records import ClaimRecord, HeadlineRecord, NumberRecord, StudyRecord, page, write_tables

from multihop import UserError
from multihop.experiments.claims.judging import Cell, Judgement
from multihop.experiments.points import as_list
from multihop.experiments.specs import Label
from multihop.experiments.studies import StudyResult
from multihop.papers import Paper, find, headlines
from multihop.papers.verdicts import Extent, read_verdicts, shipped_file, write_shipped, write_verdicts
from multihop.report.charts.study_data import charts_of
from multihop.report.charts.study_figures import figures
from multihop.report.study.provenance import runs, spans
from multihop.results.provenance import build
from multihop.results.words import with_interval

DOCS = Path(__file__).parent
#: Most means of a study's metrics at its points; a study with more has them in the report alone.
_MOST_MEANS = 1_250


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
        headlines.check(paper)
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
    studies = records(paper, results, charts)
    shown = headline_records(paper, results, charts)
    target.write_text(page(paper, build(), Extent.of(results), shown, studies), encoding="utf-8")
    write_tables(target.parent / "data", paper.name, studies)
    write_verdicts(given.folder, results)
    if given.to is None:
        write_shipped(shipped_file(paper), read_verdicts(paper, given.folder))


def records(paper: Paper, results: Sequence[StudyResult], charts: Mapping[str, Sequence[str]]) -> list[StudyRecord]:
    """What the page and its data are made of.

    Args:
        paper: what was reproduced.
        results: one for each item, in their order.
        charts: item -> paths of its charts, relative to the page.
    """
    return [
        _study(f"{paper.name}/{item}", result, charts.get(item, ()))
        for item, result in zip(paper.items, results, strict=True)
    ]


def headline_records(
    paper: Paper, results: Sequence[StudyResult], charts: Mapping[str, Sequence[str]]
) -> list[HeadlineRecord]:
    """The headlines of the page. Arguments are those of `records`."""
    by_item = dict(zip(paper.items, results, strict=True))
    made = []
    for judged in headlines.judged(paper.headlines, [each for result in results for each in result.judgements]):
        headline = judged.headline
        titles = [chart.title for chart in charts_of(by_item[headline.item])]
        made.append(
            HeadlineRecord(
                says=headline.says,
                where=headline.where,
                found=headline.found,
                verdict=judged.verdict,
                claims=[(judgement.claim.id, judgement.verdict) for judgement in judged.judgements],
                chart=headline.chart,
                picture=charts[headline.item][titles.index(headline.chart)],
            )
        )
    return made


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


def _study(study: str, result: StudyResult, charts: Sequence[str]) -> StudyRecord:
    spec = result.study.spec
    numbers = [number for judgement in result.judgements for number in _of_claim(study, result, judgement)]
    if len(result.points) * len(result.metric_names) <= _MOST_MEANS:
        numbers += _means(study, result)
    return StudyRecord(
        item=study,
        title=spec.title or spec.name,
        found=spec.discussion,
        extent=_extent(result),
        charts=charts,
        claims=[_claim(study, judgement) for judgement in result.judgements],
        numbers=numbers,
    )


def _extent(result: StudyResult) -> str:
    if result.study.spec.model is not None:
        return f"closed form, {len(result.points)} points"
    used = sorted({seed for seeds in result.seeds.values() for seed in seeds})
    seeds = spans(used) + ("" if result.has_all_seeds else f" of {result.study.seeds_asked}")
    return f"{len(result.points)} points, seeds {seeds}, {runs(result)} runs"


def _claim(study: str, judgement: Judgement) -> ClaimRecord:
    claim = judgement.claim
    differ = len({verdict for _, verdict in judgement.readings}) > 1
    return ClaimRecord(
        study=study,
        where=claim.where,
        claim=claim.id,
        says=claim.says,
        verdict=str(judgement.verdict),
        cells=judgement.summary + _impossible(judgement),
        difference=judgement.whose,
        reason=" ".join(claim.reason.split()),
        readings="; ".join(f"{_text(label)}: {verdict}" for label, verdict in judgement.readings) if differ else "",
    )


def _of_claim(study: str, result: StudyResult, judgement: Judgement) -> Iterator[NumberRecord]:
    """Our numbers at the points of a value or a bound, and the paper's if it has some."""
    claim = judgement.claim
    factors = result.study.spec.factors
    others = [name for name in factors if name not in (claim.per, claim.over) and len(factors[name].names) > 1]
    others = [name for name in others if name not in claim.at or len(as_list(claim.at[name])) > 1]
    along = [name for name in (claim.over, *others, claim.per) if name is not None]
    metric = result.metric(claim.metric) if claim.kind in ("value", "bound") else None
    for cell in judgement.cells:
        if cell.point is None or metric is None:
            continue
        yield NumberRecord(
            study=study,
            claim=claim.id,
            at=_at(result, result.points[cell.point].labels, along),
            metric=metric.title,
            unit=metric.unit,
            paper="" if cell.printed is None else f"{cell.printed:g}",
            ours=_measured(cell),
            state=str(cell.state),
        )


def _means(study: str, result: StudyResult) -> Iterator[NumberRecord]:
    """All metrics at all points."""
    along = [name for name, factor in result.study.spec.factors.items() if len(factor.names) > 1]
    for index, point in enumerate(result.points):
        for name in result.metric_names:
            metric = result.metric(name)
            ours = with_interval(result.estimate(index, metric.name), metric)
            at = _at(result, point.labels, along)
            yield NumberRecord(study, "", at, metric.title, metric.unit, "", ours, "")


def _at(result: StudyResult, labels: Mapping[str, Label], along: Sequence[str]) -> str:
    return "; ".join(f"{_title(result, name)} = {_text(labels[name])}" for name in along)


def _measured(cell: Cell) -> str:
    # The unit has a column of its own.
    mean, plus_minus, rest = cell.measured.partition(" ± ")
    return f"{mean} ± {rest.split()[0]}" if plus_minus else mean.split()[0]


def _impossible(judgement: Judgement) -> str:
    count = len(judgement.impossible)
    return f"; {count} printed numbers are more than the channel can carry" if count else ""


def _title(result: StudyResult, factor: str) -> str:
    return result.study.spec.factors[factor].title or factor.replace("_", " ")


def _text(label: Label) -> str:
    return f"{label:g}" if isinstance(label, float) else str(label)


if __name__ == "__main__":
    main()
