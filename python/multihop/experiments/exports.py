"""Results on disk: tidy tables that describe themselves, verdicts, and a manifest."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from multihop.base.files import replace_file, same_file, write_text
from multihop.base.finite import finite
from multihop.experiments.claims.judging import Judgement
from multihop.experiments.comparisons import VariantRuns
from multihop.experiments.studies import StudyResult
from multihop.experiments.tables import definitions, differences, estimates
from multihop.results.columns import RUN_COLUMNS, TABLES
from multihop.results.folders import MOTION_FILE, manifest_of, results_directory, table_file, write_table
from multihop.results.provenance import record

#: Format of the manifest of a comparison.
MANIFEST_FORMAT = 1


def save(runs: VariantRuns, directory: Path) -> Path:
    """Writes the tables of a comparison (Parquet, CSV), its scenario, its motion file, and `manifest.json`.

    Each file is written whole and then moved into place, the manifest last, so that a folder with a manifest
    is complete.

    Raises:
        UserError: if the directory cannot be written, or holds files of these names that are not results.
    """
    with results_directory(directory):
        about = comparison_manifest(runs)
        for name in TABLES:
            write_table(directory, name, runs.table(name), about, RUN_COLUMNS | TABLES[name])
        # A run from the folder's own copies of the scenario and the motion file leaves these unchanged.
        copy = directory / "scenario.toml"
        if runs.scenario.file is None or not same_file(copy, runs.scenario.file):
            replace_file(copy, lambda path: path.write_text(runs.scenario.text, encoding="utf-8"))
        motion = runs.view["motion_file"]
        if motion is not None and not same_file(directory / MOTION_FILE, Path(motion)):
            replace_file(directory / MOTION_FILE, partial(shutil.copyfile, motion))
        text = json.dumps(about, indent=2) + "\n"
        replace_file(directory / "manifest.json", lambda path: path.write_text(text, encoding="utf-8"))
    return directory


def other_results(runs: VariantRuns, directory: Path) -> str | None:
    """Returns a description of a directory's results if they are of another scenario, else `None`.

    Results are of another scenario if no scenario hash of theirs is one of these runs.
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


def comparison_manifest(runs: VariantRuns) -> dict[str, Any]:
    """Returns the runs, build and command of a comparison; nothing depends on the machine."""
    first = runs.first
    return {
        "format": MANIFEST_FORMAT,
        **record(),
        "command": runs.command,
        "command_runs_in": "the directory of this manifest, whose scenario.toml is the scenario that was run",
        "scenario": {
            "name": first.view["name"],
            "origin": Path(runs.scenario.origin).name,
            # The clock has nanoseconds; smaller digits are rounding errors of the conversion to seconds.
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


_TABLE_NAMES = (*TABLES, "metrics", "estimates", "differences")

#: Names of the files of an export.
EXPORT_NAMES = (
    "manifest.json",
    "verdicts.json",
    *(f"{name}.{kind}" for name in _TABLE_NAMES for kind in ("parquet", "csv")),
)


def export(result: StudyResult, directory: Path) -> list[Path]:
    """Writes every table of a study as Parquet and CSV, `verdicts.json`, and a manifest. Returns the paths.

    Tables begin with a column per factor and the seed. `estimates` has a row per point and metric,
    `differences` a row per pair of the compared factor's values, both in SI units.

    Raises:
        UserError: if the directory cannot be written, or has files of these names that are not results.
        OutputError: if the disk is full or broken.
    """
    tables = {} if result.study.spec.model is not None else {name: result.table(name) for name in TABLES}
    tables["metrics"] = result.table("metrics")
    tables["estimates"] = estimates(result)
    tables["differences"] = differences(result)
    tables = {name: df for name, df in tables.items() if not df.empty}
    about = study_manifest(result, list(tables))
    paths = []
    with results_directory(directory, EXPORT_NAMES):
        for name, df in tables.items():
            paths += write_table(directory, name, df, about, definitions(result, name, df.columns))
        verdicts = [verdict_record(judgement) for judgement in result.judgements]
        paths.append(write_text(directory / "verdicts.json", _json(verdicts)))
        paths.append(write_text(directory / "manifest.json", _json(about)))
        # Remove tables of an earlier export that have no rows in this one.
        for name in EXPORT_NAMES:
            if directory / name not in paths:
                (directory / name).unlink(missing_ok=True)
    return paths


def study_manifest(result: StudyResult, tables: Sequence[str]) -> dict[str, Any]:
    """Returns the runs, build, command and tables of a study; nothing depends on the machine."""
    spec, plan = result.study.spec, result.study.plan
    return {
        "format": 1,
        **record(),
        "command": "multihop study run study.toml" + (" --quick" if result.study.is_quick else ""),
        "command_runs_in": "the study's folder, with its study.toml and scenario.toml",
        "study": spec.name,
        "points": [
            {
                "labels": dict(point.labels),
                "settings": dict(point.settings),
                "scenario_hash": plan.views[index]["hash"] if plan.views else None,
                "seeds": list(result.seeds.get(index, [])),
            }
            for index, point in enumerate(plan.points)
        ],
        # Messages of failures may contain file names of the machine.
        "failures": [{"point": dict(f.point), "seed": f.seed} for f in result.failures],
        "tables": {name: table_file(name) for name in tables},
    }


def verdict_record(judgement: Judgement) -> dict[str, Any]:
    """Returns a verdict as plain data (JSON)."""
    claim = judgement.claim
    return {
        "id": claim.id,
        "where": claim.where,
        "says": claim.says,
        "kind": claim.kind,
        "verdict": str(judgement.verdict),
        "readings": {str(label): str(verdict) for label, verdict in judgement.readings},
        "summary": judgement.summary,
        "reason": claim.reason,
        "whose": judgement.whose,
        "cells": [{**vars(cell), "state": str(cell.state)} for cell in judgement.cells],
    }


def _json(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return json.dumps(finite(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
