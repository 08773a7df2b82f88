"""`reproduce`: figures, tables and verdicts of a paper's claims, with its main claims first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from multihop.base.errors import UserError
from multihop.cli import completion, console
from multihop.cli.runs import JobsOption, JsonOption, QuietOption, report_in, runs_are_kept
from multihop.cli.studies import CellsOption, DaskOption, QuickOption, print_judgements, simulate
from multihop.cli.summary import print_headlines, print_key, print_summary
from multihop.experiments.claims.judging import Judgement
from multihop.experiments.exports import verdict_record
from multihop.experiments.studies import Study, StudyResult
from multihop.papers import Paper, find, headlines, papers
from multihop.papers.verdicts import EXTENTS, Extent, Verdicts, latest_verdicts, write_verdicts
from multihop.results.provenance import build
from multihop.simulation.store import Failure


def reproduce(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[PAPER[/ITEM]|all]",
            help="A paper or an item, as in recn or recn/table3; all papers by default.",
            autocompletion=completion.paper,
        ),
    ] = None,
    quick: QuickOption = False,
    seeds: Annotated[int | None, typer.Option(min=1, help="Most seeds of each study; more can be added later.")] = None,
    mesh: Annotated[
        Path | None,
        typer.Option(help="Your mesh as one more of wifi/mesh: a file that multihop import reads.", show_default=False),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of runs, tables and reports.")] = Path("results/reproduce"),
    jobs: JobsOption = None,
    dask: DaskOption = None,
    cells: CellsOption = False,
    summary: Annotated[
        bool,
        typer.Option("--summary", help="Run nothing: print headlines and claims of the last whole run, or as shipped."),
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Reproduce the figures and tables of a paper, and check its claims against them."""
    chosen = _chosen(what)
    if summary:
        _refuse({"--quick": quick, "--seeds": seeds, "--mesh": mesh, "--jobs": jobs, "--dask": dask, "--cells": cells})
        _summarise(chosen, out, as_json=as_json)
        return
    if mesh is not None and not any(paper.community.get("item") in items for paper, items in chosen):
        raise UserError(f"--mesh: no study of {what} takes a mesh; wifi/mesh does")
    failures: list[Failure] = []
    records = []
    for paper, items in chosen:
        headlines.check(paper)
        results = [
            _run(
                paper.study(item) if mesh is None else paper.study_on(item, mesh),
                item,
                out / paper.name,
                quick=quick,
                seeds=seeds,
                jobs=jobs,
                dask=dask,
                quiet=quiet or as_json,
            )
            for item in items
        ]
        with runs_are_kept(out / paper.name):
            judgements = [judgement for result in results for judgement in result.judgements]
            records.append(_record(paper, judgements, build(), Extent.of(results)))
            failures += [failure for result in results for failure in result.failures]
            if not as_json:
                console.say(_title(paper))
                print_judgements(judgements, cells=cells)
            # The verdicts of pages must be repeatable by everybody, so without a reader's mesh.
            if len(items) == len(paper.items) and mesh is None and not failures:
                write_verdicts(out / paper.name, results)
            _report(paper, results, out / paper.name, quiet=quiet or as_json)
            if not as_json:
                print_headlines(headlines.judged(paper.headlines, judgements))
    if as_json:
        console.print_json(records)
    for failure in failures:
        console.note(f"failed: seed {failure.seed}: {failure.error}\n  repeat it: {failure.command}")
    if failures:
        raise typer.Exit(1)


def _summarise(chosen: Sequence[tuple[Paper, Sequence[str]]], out: Path, *, as_json: bool) -> None:
    """Prints headlines and verdicts of papers or items without a run."""
    records = []
    for paper, items in chosen:
        found = latest_verdicts(paper, out / paper.name)
        claims = {claim.id for item in items for claim in paper.study(item).spec.claims}
        judgements = [judgement for judgement in found.judgements if judgement.claim.id in claims]
        records.append(_record(paper, judgements, found.build, found.extent))
        if not as_json:
            shown = headlines.judged(paper.headlines, judgements)
            print_summary(_title(paper), _source(found, out / paper.name), shown, judgements)
    if as_json:
        console.print_json(records)
    else:
        print_key()


def _source(found: Verdicts, folder: Path) -> str:
    """Returns the line on the runs and the build behind verdicts."""
    shipped = f"{folder} has no verdicts of this build. Shipped verdicts"
    source = shipped if found.is_shipped else f"Verdicts of the runs in {folder}"
    return f"{source}, by multihop {found.build}. {EXTENTS[found.extent]}".rstrip()


def _refuse(options: Mapping[str, object]) -> None:
    given = ", ".join(name for name, value in options.items() if value not in (None, False))
    if given:
        raise UserError(f"--summary: found {given}; a summary runs nothing, so leave out {given} or --summary")


def _record(paper: Paper, judgements: Sequence[Judgement], of_build: str, extent: Extent) -> dict[str, Any]:
    """Returns headlines and claims of a paper as plain data (JSON)."""
    return {
        "paper": paper.name,
        "build": of_build,
        "extent": extent,
        "headlines": [headlines.headline_record(each) for each in headlines.judged(paper.headlines, judgements)],
        "claims": [verdict_record(judgement) for judgement in judgements],
    }


def _title(paper: Paper) -> str:
    return f"{paper.authors}: {paper.title}. {paper.published}"


def _chosen(what: str | None) -> list[tuple[Paper, list[str]]]:
    if what is None or what == "all":
        return [(paper, paper.items) for paper in papers()]
    name, _, item = what.strip("/").partition("/")
    paper = find(name)
    if item:
        paper.study(item)
    return [(paper, [item] if item else paper.items)]


def _run(
    asked: Study,
    item: str,
    folder: Path,
    *,
    quick: bool,
    seeds: int | None,
    jobs: int | None,
    dask: str | None,
    quiet: bool,
) -> StudyResult:
    asked = asked.quick() if quick else asked
    asked = asked.with_seeds(seeds) if seeds is not None else asked
    # Figures of one paper share runs, so they share a store.
    return simulate(asked, folder / item, folder / "store", jobs=jobs, dask=dask, quiet=quiet)


def _report(paper: Paper, results: list[StudyResult], folder: Path, *, quiet: bool) -> None:
    from multihop.report.study import write_study

    is_whole = len(results) == len(paper.items)
    target = report_in(folder if is_whole else results[0].directory, quiet=quiet)
    if target is None:
        return
    written = write_study(results, target, title=f"{paper.name}: reproduction", about=f"{_title(paper)}.")
    console.note(f"report: {written[0]}, with {len(written) - 1} charts as SVG beside it", quiet=quiet)
