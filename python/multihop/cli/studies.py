"""`study run`, `status`, `report` and `export`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multihop.base import extras
from multihop.base.errors import Interrupted, UserError
from multihop.cli import console
from multihop.cli.runs import JobsOption, JsonOption, QuietOption, report_damaged, runs_are_kept, what_is_kept

if TYPE_CHECKING:
    from multihop.experiments.claims.judging import Judgement
    from multihop.experiments.studies import Study, StudyResult
    from multihop.simulation.store import Failure

StudyArgument = Annotated[
    Path, typer.Argument(metavar="STUDY", help="A study (TOML), or the folder of its results.", show_default=False)
]
OutOption = Annotated[
    Path | None, typer.Option(help="Folder of the study; results/NAME by default, or the given folder.")
]
StoreOption = Annotated[Path | None, typer.Option(help="Folder of finished runs, for studies that share runs.")]
QuickOption = Annotated[bool, typer.Option("--quick", help="Fewer seeds and shorter runs, by the study's [quick].")]
CellsOption = Annotated[bool, typer.Option("--cells", help="Print every number behind a verdict.")]
DaskOption = Annotated[str | None, typer.Option(help="Run on the Dask cluster whose scheduler is at this address.")]

app = typer.Typer(
    help="A base scenario, factors and seeds, with statistics and claims.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

_MOST_ROWS = 60


@app.command("run")
def run(
    study: StudyArgument,
    out: OutOption = None,
    store: StoreOption = None,
    quick: QuickOption = False,
    jobs: JobsOption = None,
    dask: DaskOption = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Start no further run after a failure.")] = False,
    cells: CellsOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run the missing runs of a study, then report metrics and claims. An interrupted study resumes."""
    asked, folder = load(study, out, quick=quick)
    result = simulate(asked, folder, store, jobs=jobs, dask=dask, fail_fast=fail_fast, quiet=quiet or as_json)
    with runs_are_kept(store or folder):
        if as_json:
            console.print_json(_record(result))
        else:
            _print_metrics(result)
            print_judgements(result.judgements, cells=cells)
            command = shlex.join(["multihop", "study", "report", str(folder), *(["--quick"] if quick else [])])
            if any(result.seeds.values()) or asked.spec.model:
                console.note(f"report and figures: {command}", quiet=quiet)
    if result.failures:
        _tell_failures(result.failures)
        raise typer.Exit(1)


@app.command("status")
def status(
    study: StudyArgument,
    out: OutOption = None,
    store: StoreOption = None,
    quick: QuickOption = False,
    as_json: JsonOption = False,
) -> None:
    """Report how many runs of a study are finished, missing and failed."""
    asked, folder = load(study, out, quick=quick)
    result = asked.result(folder, store=store)
    plan = asked.plan
    # Points that resolve to the same run, such as two readings with equal numbers, count once.
    wanted = {plan.run_id(p, s) for p in range(len(plan.points)) for s in plan.seeds} if plan.views else set()
    record: dict[str, Any] = {
        "study": asked.spec.name,
        "folder": str(folder),
        "points": len(plan.points),
        "finished": sum(result.store.has(run) for run in wanted),
        "missing": result.missing,
        "failed": len(result.failures),
        "other_runs_in_store": result.store.other_runs({run.key for run in wanted}),
        "bytes": result.store.size(),
    }
    report_damaged(result.store, "and these runs are missing", quiet=as_json)
    if as_json:
        console.print_json({**record, "failures": [vars(failure) for failure in result.failures]})
        return
    counts = f"{record['finished']} runs finished, {record['missing']} missing, {record['failed']} failed"
    console.say(f"{record['study']}: {record['points']} points, {counts}")
    console.say(f"{folder}: {record['bytes'] / 1e6:.2f} MB of runs")
    if record["other_runs_in_store"]:
        others = "other runs are in the store: of other settings, or of another build of multihop"
        console.say(f"{record['other_runs_in_store']} {others}")
    if result.failures:
        _tell_failures(result.failures)


@app.command("report")
def report(
    study: StudyArgument,
    out: OutOption = None,
    store: StoreOption = None,
    quick: QuickOption = False,
    to: Annotated[Path | None, typer.Option(help="Write the page to this file; charts go next to it as SVG.")] = None,
    quiet: QuietOption = False,
) -> None:
    """Write the report of the finished runs: one HTML file, and each chart as SVG."""
    from multihop.report.study import write_study

    extras.require("report", "study report")
    asked, folder = load(study, out, quick=quick)
    result = _with_runs(asked.result(folder, store=store), quiet=quiet)
    for path in write_study([result], to or folder / "report.html"):
        console.note(f"written: {path}", quiet=quiet)


@app.command("export")
def export(
    study: StudyArgument,
    out: OutOption = None,
    store: StoreOption = None,
    quick: QuickOption = False,
    to: Annotated[Path | None, typer.Option(help="Write the tables to this folder; the study's by default.")] = None,
    quiet: QuietOption = False,
) -> None:
    """Write the tidy tables of the finished runs (Parquet and CSV), with estimates and paired differences."""
    from multihop.experiments.exports import export as export_tables

    asked, folder = load(study, out, quick=quick)
    result = _with_runs(asked.result(folder, store=store), quiet=quiet)
    for path in export_tables(result, to or folder / "tables"):
        console.note(f"written: {path}", quiet=quiet)


def load(study: Path, out: Path | None, *, quick: bool) -> tuple[Study, Path]:
    """Returns a study and its folder."""
    from multihop.experiments.studies import Study

    asked = Study.load(study)
    asked = asked.quick() if quick else asked
    return asked, out or asked.folder or Path("results") / asked.spec.name


def simulate(
    asked: Study,
    folder: Path,
    store: Path | None = None,
    *,
    jobs: int | None = None,
    dask: str | None = None,
    fail_fast: bool = False,
    quiet: bool = False,
) -> StudyResult:
    """Runs the missing runs of a study with a progress bar."""
    from multihop.cli.progress import StudyBar
    from multihop.experiments.clusters import executor_at

    if jobs is not None and jobs < 1:
        raise UserError(f"--jobs: found {jobs}; needs at least 1")
    workers = nullcontext() if dask is None else executor_at(dask)
    with StudyBar(asked.spec.name, quiet=quiet) as bar, workers as executor:
        try:
            result = asked.run(
                folder, store=store, executor=executor, jobs=jobs, fail_fast=fail_fast, on_progress=bar.update
            )
        except KeyboardInterrupt as error:
            # Before the first count of runs, the number of finished runs is unknown.
            raise Interrupted(what_is_kept(store or folder, bar.kept())) from error
        console.note(bar.summary(), quiet=quiet)
    report_damaged(result.store, "and these runs were repeated", quiet=quiet)
    return result


def print_judgements(judgements: Sequence[Judgement], *, cells: bool = False) -> None:
    """Prints the table of verdicts, and the reasons for claims that are not reproduced.

    With `cells`, prints every claim with all its numbers.
    """
    from multihop.experiments.claims.judging import Verdict

    if not judgements:
        return
    rows = [[j.claim.id, j.claim.where, str(j.verdict), j.summary] for j in judgements]
    console.out().print(console.table(["claim", "where", "verdict", "cells"], rows))
    console.say()
    for judgement in judgements:
        if cells or judgement.verdict is not Verdict.REPRODUCED:
            _print_judgement(judgement, cells=cells)


def _print_judgement(judgement: Judgement, *, cells: bool) -> None:
    from multihop.experiments.claims.judging import Verdict

    claim = judgement.claim
    write = console.out().print
    write(f"{claim.id}: {claim.says}: {judgement.verdict}", style="bold")
    if len(judgement.readings) > 1:
        write("; ".join(f"{label}: {verdict}" for label, verdict in judgement.readings))
    if claim.reason and judgement.verdict is not Verdict.REPRODUCED:
        write(claim.reason)
    if judgement.impossible:
        most = max(judgement.impossible, key=lambda cell: (cell.printed or 0) / (cell.possible or 1))
        write(f"{most.what}: {most.printed:g} is more than the channel can carry at all, {most.possible:.4g}")
    if cells:
        rows = [[cell.what or "all", cell.measured, cell.expected, str(cell.state)] for cell in judgement.cells]
        write(console.table(["at", "measured", "claimed", "state"], rows))
    console.say()


def _record(result: StudyResult) -> dict[str, Any]:
    from multihop.experiments.exports import verdict_record

    points = []
    names = result.metric_names if result.study.spec.model is not None else [*result.study.spec.metrics]
    names = names or ["goodput_total_bps", "jain"]
    for index, point in enumerate(result.points):
        estimates = {}
        for name in names:
            found = result.estimate(index, name)
            if found is not None:
                estimates[name] = {"mean": found.mean, "low": found.low, "high": found.high, "n": found.n}
        points.append({"point": dict(point.labels), "seeds": list(result.seeds.get(index, [])), "metrics": estimates})
    return {
        "study": result.study.spec.name,
        "folder": str(result.directory),
        "points": points,
        "claims": [verdict_record(judgement) for judgement in result.judgements],
        "failures": [vars(failure) for failure in result.failures],
    }


def _print_metrics(result: StudyResult) -> None:
    from multihop.results.words import with_interval

    spec = result.study.spec
    names = result.metric_names if spec.model is not None else [*spec.metrics]
    names = names or ["goodput_total_bps", "jain", "delay_p95_s"]
    metrics = [result.metric(name) for name in names]
    rows = []
    for index, point in enumerate(result.points[:_MOST_ROWS]):
        cells = [with_interval(result.estimate(index, metric.name), metric) for metric in metrics]
        seeds = [str(len(result.seeds.get(index, [])))] if spec.model is None else []
        rows.append([*(str(label) for label in point.labels.values()), *seeds, *cells])
    seeds = ["seeds"] if spec.model is None else []
    heads = [*result.points[0].labels, *seeds, *(metric.heading for metric in metrics)]
    console.out().print(console.table(heads, rows))
    if len(result.points) > _MOST_ROWS:
        console.say(f"... and {len(result.points) - _MOST_ROWS} more points: see the report, or --json")
    console.say()


def _tell_failures(failures: list[Failure]) -> None:
    for failure in failures[:10]:
        where = ", ".join(f"{factor}={label}" for factor, label in failure.point.items())
        console.note(f"failed: {where} seed {failure.seed}: {failure.error}\n  repeat it: {failure.command}")
    if len(failures) > 10:
        console.note(f"... and {len(failures) - 10} more failures")


def _with_runs(result: StudyResult, *, quiet: bool) -> StudyResult:
    report_damaged(result.store, "and these runs are missing: multihop study run repeats them", quiet=quiet)
    if result.study.spec.model is None and not any(result.seeds.values()):
        raise UserError(f"{result.store.directory}: no finished runs of this study; run them with multihop study run")
    return result
