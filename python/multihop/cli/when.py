"""`when`: the schemes that help in each regime."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from multihop.cli import completion, console
from multihop.cli.league import exit_if_any_failed, listed
from multihop.cli.runs import JobsOption, QuietOption, runs_are_kept
from multihop.cli.studies import DaskOption, QuickOption, simulate


def when(
    compared: Annotated[
        str | None,
        typer.Option(
            "--schemes",
            help="Only these schemes, as in recn,own.py:MyScheme; those of the study by default.",
            autocompletion=completion.schemes,
        ),
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="Runs of each scheme in each regime.")] = None,
    quick: QuickOption = False,
    out: Annotated[Path, typer.Option(help="Folder of runs and page.")] = Path("results/when"),
    jobs: JobsOption = None,
    dask: DaskOption = None,
    quiet: QuietOption = False,
) -> None:
    """Report which scheme helps in which regime of hops, flows, rate, load, loss and mobility.

    An interrupted run resumes.
    """
    from multihop.api.leagues import when as made

    found = made(
        schemes=listed(compared),
        seeds=seeds,
        quick=quick,
        out=out,
        jobs=jobs,
        dask=dask,
        simulate=partial(simulate, jobs=jobs, dask=dask, quiet=quiet),
    )
    with runs_are_kept(out):
        page = found.save()
        console.say("\n".join(found.sentences()))
        console.note(f"page: {page}", quiet=quiet)
    exit_if_any_failed(found.failures)
