"""Function `export`: networks and runs as other programs read them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from multihop.base.errors import UserError
from multihop.base.files import whole_file
from multihop.experiments.runs import FinishedRun
from multihop.exporters import FORMATS, netjson, require_format, runs
from multihop.simulation.scenario import ScenarioLike, load


def export(
    source: ScenarioLike | FinishedRun,
    format: str,
    path: str | Path | None = None,
    *,
    variant: str | None = None,
    seed: int | None = None,
) -> dict[str, Any]:
    """Returns a network as NetJSON, or a run in the format of iperf3 or flent, as a JSON value.

    Args:
        source: result of a run, or folder that `run --out` or `compare --out` wrote; for NetJSON also a
            scenario.
        format: `netjson`, `iperf3` or `flent`.
        path: file to write as well; compressed if its name ends in `.gz`.
        variant: variant of a folder; the first by default.
        seed: seed of a folder; the first by default.

    Raises:
        ScenarioError: if the scenario is invalid.
        UserError: if the format is unknown, the source lacks the run, or the file cannot be written.
    """
    made = _document(source, require_format(format), variant, seed)
    if path is not None:
        text = json.dumps(made, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        with whole_file(Path(path), _path_of(source)) as part:
            part.write_bytes(gzip.compress(text.encode(), mtime=0) if Path(path).suffix == ".gz" else text.encode())
    return made


def _document(source: ScenarioLike | FinishedRun, format: str, variant: str | None, seed: int | None) -> dict[str, Any]:
    folder = _path_of(source)
    if folder is not None and folder.is_dir():
        return FORMATS[format](runs.read(folder, variant, seed))
    for option, value in (("--variant", variant), ("--seed", seed)):
        if value is not None:
            raise UserError(f"{option}: selects a run of a folder of results; leave it out")
    if isinstance(source, FinishedRun):
        return FORMATS[format](_tabled(source))
    if format != "netjson":
        raise UserError(
            f"--as {format}: needs a finished run, and {load(source).origin} is a scenario; "
            "run it with --out RESULTS, and name that folder"
        )
    return netjson.graph(load(source).check())


def _tabled(run: FinishedRun) -> runs.TabledRun:
    return runs.TabledRun(
        run.view["name"],
        "scenario",
        run.seed,
        round(run.view["duration"], 9),
        round(run.view["warmup"], 9),
        run.table,
        lambda: run.view,
    )


def _path_of(source: ScenarioLike | FinishedRun) -> Path | None:
    """Returns the path that a source is, if it is one."""
    if isinstance(source, str) and ("\n" in source or "=" in source):
        return None
    return Path(source) if isinstance(source, str | Path) else None
