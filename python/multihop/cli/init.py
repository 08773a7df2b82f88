"""`init`: scenarios and studies to start from."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from multihop import examples
from multihop.cli import console
from multihop.cli.runs import QuietOption


def init(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Target folder of DIR/scenarios and DIR/studies.", show_default=False)
    ],
    quiet: QuietOption = False,
) -> None:
    """Write scenarios and studies to start from into a directory. Existing files are not replaced."""
    from multihop import api

    kinds = {"scenarios": "scenario", "studies": "study"}
    schemas = {folder: json.dumps(api.schema(kind), indent=2) + "\n" for folder, kind in kinds.items()}
    for path in examples.write(directory, schemas):
        console.say(str(path))
    first = shlex.join(["multihop", "run", str(directory / "scenarios" / "chain.toml")])
    console.note(f"try: {first}", quiet=quiet)
