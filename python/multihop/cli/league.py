"""`league`: every scheme on a common set of networks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multihop.cli import completion, console
from multihop.cli.runs import JobsOption, JsonOption, QuietOption, report_in, runs_are_kept
from multihop.cli.studies import DaskOption, QuickOption, simulate

if TYPE_CHECKING:
    from multihop.api.leagues import League
    from multihop.simulation.store import Failure


def league(
    mesh: Annotated[
        Path | None,
        typer.Option(
            help="Your mesh as one more network: a scenario (TOML), taken unchanged, or a file that multihop import "
            "reads, with the league's radios and traffic. Default: no mesh.",
            show_default=False,
        ),
    ] = None,
    compared: Annotated[
        str | None,
        typer.Option(
            "--schemes",
            help="Only these schemes, as in recn,ewccp,own.py:MyScheme; all by default.",
            autocompletion=completion.schemes,
        ),
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="Runs of each scheme on each network.")] = None,
    quick: QuickOption = False,
    out: Annotated[Path, typer.Option(help="Folder of runs, tables, page and report.")] = Path("results/league"),
    jobs: JobsOption = None,
    dask: DaskOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run every scheme on one common set of networks, and rank them on each. An interrupted run resumes."""
    from multihop.api.leagues import league as made
    from multihop.leagues import page, table

    found = made(
        mesh,
        schemes=listed(compared),
        seeds=seeds,
        quick=quick,
        out=out,
        jobs=jobs,
        dask=dask,
        simulate=partial(simulate, jobs=jobs, dask=dask, quiet=quiet or as_json),
    )
    if command := found.networks[-1].made_by:
        console.note(
            f"{found.networks[-1].title}: radios and traffic are those of the league, as in this command: "
            f"{command}\n  to rank schemes on another scenario of this mesh: multihop league --mesh SCENARIO.toml",
            quiet=quiet or as_json,
        )
    console.note("Runs of the worst network of each scheme are repeated to find their causes.", quiet=quiet or as_json)
    with runs_are_kept(out):
        found.save()
        if as_json:
            console.print_json(table.record(found))
        else:
            heads, rows = page.summary(found)
            console.out().print(console.table(heads, rows))
            if said := "\n".join(filter(None, [found.beside(), found.decision()])):
                console.say(f"\n{said}")
            if advice := found.advice():
                console.say("\n".join(["", f"{found.networks[-1].title}: which scheme helps here", *advice]))
        _report(found, out, quiet=quiet or as_json)
    if found.without_mesh:
        console.note(f"{page.WITHOUT_MESH}.", quiet=quiet)
    exit_if_any_failed(found.failures)


def _report(found: League, out: Path, *, quiet: bool) -> None:
    console.note(f"tables: {out}; page: {out / 'league.md'}", quiet=quiet)
    target = report_in(out, quiet=quiet)
    if target is not None:
        written = found.report(target)
        console.note(f"report: {written[0]}, with {len(written) - 1} charts as SVG beside it", quiet=quiet)


def listed(names: str | None) -> list[str] | None:
    """Returns comma-separated names, or `None` if none were given."""
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def exit_if_any_failed(failures: Sequence[Failure]) -> None:
    """Prints the first ten failed runs with the commands that repeat them, and exits with 1 if any failed."""
    for failure in failures[:10]:
        console.note(f"failed: {failure.point} seed {failure.seed}: {failure.error}\n  repeat it: {failure.command}")
    if failures:
        raise typer.Exit(1)
