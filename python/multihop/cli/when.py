"""`when`: which scheme helps in which regime."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multihop.cli import completion, console
from multihop.cli.league import check_counts, command_of, exit_if_any_failed, listed
from multihop.cli.runs import JobsOption, QuietOption, runs_are_kept
from multihop.cli.studies import DaskOption, QuickOption, simulate


def when(
    compared: Annotated[
        str | None,
        typer.Option(
            "--schemes",
            help="Only these, as in recn,tcp-cubic; those of the study by default.",
            autocompletion=completion.schemes,
        ),
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="Runs of each scheme in each regime.")] = None,
    quick: QuickOption = False,
    out: Annotated[Path, typer.Option(help="Runs and page go here.")] = Path("results/when"),
    jobs: JobsOption = None,
    dask: DaskOption = None,
    quiet: QuietOption = False,
) -> None:
    """Report which scheme helps when: over hops, flows, rates, load, loss and mobility.

    Interrupted, it resumes.
    """
    from multihop.leagues import study, words
    from multihop.leagues import when as pages
    from multihop.results.folders import require_results_directory

    check_counts(seeds, jobs)
    names = pages.compared(listed(compared))
    asked = pages.regimes(quick=quick)
    if quick and seeds is None:
        seeds = words.regimes()["quick"]["seeds"]
    studies = [study(network, names, seeds) for network in asked]
    studies = [each.quick() for each in studies] if quick else studies
    require_results_directory(out, pages.NAMES)
    results = [
        simulate(each, out / each.spec.name, out / "store", jobs=jobs, dask=dask, quiet=quiet) for each in studies
    ]
    with runs_are_kept(out):
        command = command_of("when", [], compared, seeds, quick=quick)
        page = pages.export(asked, results, out, command)
        for network, result in zip(asked, results, strict=True):
            console.say("\n".join([network.title, *words.said(result)]))
        console.note(f"page: {page}", quiet=quiet)
    exit_if_any_failed(results)
