"""`league`: every scheme on one common set of networks."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multihop.base.errors import UserError
from multihop.cli import completion, console
from multihop.cli.runs import JobsOption, JsonOption, QuietOption, report_in, runs_are_kept
from multihop.cli.studies import DaskOption, QuickOption, simulate

if TYPE_CHECKING:
    from multihop.claims.study import StudyResult
    from multihop.leagues import League


def league(
    mesh: Annotated[
        Path | None,
        typer.Option(
            help="Your mesh as one more network: a scenario (TOML), or a file that multihop import reads; "
            "without it there is no community mesh.",
            show_default=False,
        ),
    ] = None,
    compared: Annotated[
        str | None,
        typer.Option(
            "--schemes", help="Only these, as in recn,ewccp; all by default.", autocompletion=completion.schemes
        ),
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="Runs of each scheme on each network.")] = None,
    quick: QuickOption = False,
    out: Annotated[Path, typer.Option(help="Runs, tables, page and report go here.")] = Path("results/league"),
    jobs: JobsOption = None,
    dask: DaskOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run every scheme on one common set of networks, and rank them on each. Interrupted, it resumes."""
    from multihop.leagues import League, networks, page, schemes, study, table, words
    from multihop.results.folders import require_results_directory

    check_counts(seeds, jobs)
    names = schemes(listed(compared))
    asked = networks(mesh)
    studies = [study(network, names, seeds) for network in asked]
    studies = [each.quick() for each in studies] if quick else studies
    for each in studies:
        each.plan  # noqa: B018 - whatever is wrong with a network is said before anything is written
    require_results_directory(out, table.NAMES)
    results = [
        simulate(each, out / each.spec.name, out / "store", jobs=jobs, dask=dask, quiet=quiet or as_json)
        for each in studies
    ]
    with runs_are_kept(out):
        found = League(asked, results, without_mesh=mesh is None)
        command = _command(mesh, compared, seeds, quick=quick)
        table.export(found, out, command, page.markdown(found, command))
        if as_json:
            console.print_json(table.record(found))
        else:
            heads, rows = page.summary(found)
            console.out().print(console.table(heads, rows))
            if said := page.decision(found):
                console.say(f"\n{said}")
            if mesh is not None:
                console.say("\n".join(["", f"{asked[-1].title}: which scheme helps here", *words.said(results[-1])]))
        _report(found, out, command, quiet=quiet or as_json)
    _tell_what_is_missing(found, quiet=quiet)


def _command(mesh: Path | None, compared: str | None, seeds: int | None, *, quick: bool) -> str:
    # Where the file lies concerns the reader alone.
    its_mesh = ["--mesh", mesh.name] if mesh is not None else []
    return command_of("league", its_mesh, compared, seeds, quick=quick)


def _report(found: League, out: Path, command: str, *, quiet: bool) -> None:
    from multihop.leagues import page
    from multihop.report.markup import section, table
    from multihop.report.study import write_study

    rank = " ".join(filter(None, (page.decision(found), page.RANK)))
    front = section("Which scheme is better where", table(*page.summary(found)), rank)
    title = "League of schemes"
    console.note(f"tables: {out}; page: {out / 'league.md'}", quiet=quiet)
    target = report_in(out, quiet=quiet)
    if target is None:
        return
    written = write_study(found.results, target, title=title, command=command, front=front)
    console.note(f"report: {written[0]}, with {len(written) - 1} charts as SVG beside it", quiet=quiet)


def _tell_what_is_missing(found: League, *, quiet: bool) -> None:
    from multihop.leagues.page import WITHOUT_MESH

    if found.without_mesh:
        console.note(f"{WITHOUT_MESH}.", quiet=quiet)
    exit_if_any_failed(found.results)


def check_counts(seeds: int | None, jobs: int | None) -> None:
    """Raises a `UserError` if there are to be fewer than one of either."""
    for name, given in (("--seeds", seeds), ("--jobs", jobs)):
        if given is not None and given < 1:
            raise UserError(f"{name}: found {given}; needs at least 1")


def listed(names: str | None) -> list[str] | None:
    """Names with commas between; `None` if none were given."""
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def command_of(name: str, options: list[str], compared: str | None, seeds: int | None, *, quick: bool) -> str:
    """The command that reproduces this."""
    words = ["multihop", name, *options]
    words += ["--schemes", compared] if compared is not None else []
    words += ["--seeds", str(seeds)] if seeds is not None else []
    return shlex.join([*words, *(["--quick"] if quick else [])])


def exit_if_any_failed(results: Sequence[StudyResult]) -> None:
    """Says which runs failed, ten of them at most, and how to see that again."""
    failures = [failure for result in results for failure in result.failures]
    for failure in failures[:10]:
        console.note(f"failed: {failure.point} seed {failure.seed}: {failure.error}\n  see it again: {failure.command}")
    if failures:
        raise typer.Exit(1)
