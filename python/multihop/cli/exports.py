"""Command `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multihop.cli import completion, console

SourceArgument = Annotated[
    Path,
    typer.Argument(
        metavar="RESULTS|SCENARIO",
        help="A folder that run --out or compare --out wrote; for netjson also a scenario (TOML).",
        show_default=False,
    ),
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--as",
        help="netjson: a NetworkGraph, with the use of links by a run; iperf3: as iperf3 --json; flent: a data file.",
        show_default=False,
        autocompletion=completion.of("netjson", "iperf3", "flent"),
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(help="Write to this file, compressed if its name ends in .gz; standard output by default."),
]
VariantOption = Annotated[str | None, typer.Option(help="The variant of the results; the first by default.")]
SeedOption = Annotated[int | None, typer.Option(help="The seed of the results; the first by default.")]


def export(
    source: SourceArgument,
    format: FormatOption,
    out: OutOption = None,
    variant: VariantOption = None,
    seed: SeedOption = None,
) -> None:
    """Print a network as NetJSON, or a finished run as iperf3 or flent write it."""
    from multihop.api.exports import export as exported

    made = exported(source, format, out, variant=variant, seed=seed)
    if out is None:
        console.print_json(made)
    else:
        console.note(f"{format}: {out}")
