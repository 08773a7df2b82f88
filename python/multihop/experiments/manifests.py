"""The runs of a comparison on disk: tidy tables that describe themselves, and a manifest."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

from multihop.base.files import replace_file, same_file
from multihop.experiments.comparisons import Runs
from multihop.results.columns import RUN_COLUMNS, TABLES
from multihop.results.folders import MOTION_FILE, manifest_of, results_directory, table_file, write_table
from multihop.results.provenance import record

MANIFEST_FORMAT = 1


def save(runs: Runs, directory: Path) -> Path:
    """Writes every table as Parquet and CSV, the scenario, its file of motion, and `manifest.json`.

    Each file is written whole and then moved into place, the manifest last: where there is a manifest, all is
    there.

    Raises:
        UserError: if the directory cannot be written, or holds files of these names that are not results.
    """
    with results_directory(directory):
        about = manifest(runs)
        for name in TABLES:
            write_table(directory, name, runs.table(name), about, RUN_COLUMNS | TABLES[name])
        # Results that are reproduced from their own copies of the scenario and of the file of motion leave
        # these alone.
        copy = directory / "scenario.toml"
        if runs.scenario.file is None or not same_file(copy, runs.scenario.file):
            replace_file(copy, lambda path: path.write_text(runs.scenario.text, encoding="utf-8"))
        motion = runs.view["motion_file"]
        if motion is not None and not same_file(directory / MOTION_FILE, Path(motion)):
            replace_file(directory / MOTION_FILE, partial(shutil.copyfile, motion))
        text = json.dumps(about, indent=2) + "\n"
        replace_file(directory / "manifest.json", lambda path: path.write_text(text, encoding="utf-8"))
    return directory


def other_results(runs: Runs, directory: Path) -> str | None:
    """Another scenario of which a directory has finished results, in words; none if there is none.

    Another scenario is one of which no variant is a variant of these runs, whatever their seeds.
    """
    about = manifest_of(directory)
    if about is None:
        return None
    try:
        hashes = {variant["scenario_hash"] for variant in about["variants"]}
        name, variants = about["scenario"]["name"], [variant["name"] for variant in about["variants"]]
        seeds = len(about["seeds"])
    except (KeyError, TypeError):
        return None
    if hashes & {results[0].view["hash"] for results in runs.results.values()}:
        return None
    return f"{name} ({', '.join(variants)}; {seeds} {'seed' if seeds == 1 else 'seeds'})"


def manifest(runs: Runs) -> dict[str, Any]:
    """What was run, by what, and how to run it again. Nothing in it depends on the machine."""
    first = runs.first
    return {
        "format": MANIFEST_FORMAT,
        **record(),
        "command": runs.command,
        "command_runs_in": "the directory of this manifest, whose scenario.toml is the scenario that was run",
        "scenario": {
            "name": first.view["name"],
            "origin": Path(runs.scenario.origin).name,
            # The clock has nanoseconds; what is below is noise of the conversion to seconds.
            "duration_s": round(first.view["duration"], 9),
            "warmup_s": round(first.view["warmup"], 9),
        },
        "seeds": runs.seeds,
        "variants": [
            {
                "name": name,
                "scenario_hash": results[0].view["hash"],
                "overrides": {k: v for k, v in results[0].overrides.items() if k != "seed"},
                "fingerprints": {str(r.seed): r.summary["fingerprint"] for r in results},
            }
            for name, results in runs.results.items()
        ],
        "tables": {name: table_file(name) for name in TABLES},
    }
