"""`reproduce`: figures, tables and verdicts of a paper's claims."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multihop.base.errors import UserError
from multihop.cli import completion, console
from multihop.cli.runs import JobsOption, JsonOption, QuietOption, report_in, runs_are_kept
from multihop.cli.studies import CellsOption, DaskOption, QuickOption, print_judgements, simulate
from multihop.cli.summary import print_key, print_summary
from multihop.experiments.exports import verdict_record
from multihop.experiments.studies import Study, StudyResult
from multihop.papers import Paper, find, papers
from multihop.papers.verdicts import write_verdicts
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
        typer.Option("--summary", help="Print one line per claim: the share that holds, and causes of differences."),
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Reproduce the figures and tables of a paper, and check its claims against them."""
    chosen = _chosen(what)
    if mesh is not None and not any(paper.community.get("item") in items for paper, items in chosen):
        raise UserError(f"--mesh: no study of {what} takes a mesh; wifi/mesh does")
    failures: list[Failure] = []
    records = []
    for paper, items in chosen:
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
            records += [verdict_record(judgement) for judgement in judgements]
            failures += [failure for result in results for failure in result.failures]
            title = f"{paper.authors}: {paper.title}. {paper.published}"
            if summary and not as_json:
                print_summary(title, judgements)
            elif not as_json:
                console.say(title)
                print_judgements(judgements, cells=cells)
            is_whole = len(items) == len(paper.items)
            # The verdicts of pages must be repeatable by everybody, so without a reader's mesh.
            if is_whole and mesh is None and not failures:
                write_verdicts(out / paper.name, results)
            _report(paper, results, out / paper.name, is_whole=is_whole, quiet=quiet or as_json)
    if as_json:
        console.print_json(records)
    elif summary:
        print_key()
    for failure in failures:
        console.note(f"failed: seed {failure.seed}: {failure.error}\n  repeat it: {failure.command}")
    if failures:
        raise typer.Exit(1)


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


def _report(paper: Paper, results: list[StudyResult], folder: Path, *, is_whole: bool, quiet: bool) -> None:
    from multihop.report.study import write_study

    target = report_in(folder if is_whole else results[0].directory, quiet=quiet)
    if target is None:
        return
    about = f"{paper.authors}: {paper.title}. {paper.published}."
    written = write_study(results, target, title=f"{paper.name}: reproduction", about=about)
    console.note(f"report: {written[0]}, with {len(written) - 1} charts as SVG beside it", quiet=quiet)
