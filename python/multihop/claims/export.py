"""Results of a study as files: tidy tables, estimates, paired differences, verdicts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from multihop.base.files import write_text
from multihop.base.finite import finite
from multihop.claims.judging import Judgement
from multihop.claims.study import StudyResult
from multihop.experiments.tables import definitions, differences, estimates
from multihop.results.columns import TABLES
from multihop.results.folders import results_directory, table_file, write_table
from multihop.results.provenance import record

_TABLE_NAMES = (*TABLES, "metrics", "estimates", "differences")

#: Names of the files of an export.
EXPORT_NAMES = (
    "manifest.json",
    "verdicts.json",
    *(f"{name}.{kind}" for name in _TABLE_NAMES for kind in ("parquet", "csv")),
)


def export(result: StudyResult, directory: Path) -> list[Path]:
    """Writes every table as Parquet and CSV, `verdicts.json`, and a manifest. Returns the paths.

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
    about = manifest(result, list(tables))
    paths = []
    with results_directory(directory, EXPORT_NAMES):
        for name, df in tables.items():
            paths += write_table(directory, name, df, about, definitions(result, name, df.columns))
        verdicts = [verdict_record(judgement) for judgement in result.judgements]
        paths.append(write_text(directory / "verdicts.json", _json(verdicts)))
        paths.append(write_text(directory / "manifest.json", _json(about)))
        # A table of an earlier export without rows in this one would be taken for a current one.
        for name in EXPORT_NAMES:
            if directory / name not in paths:
                (directory / name).unlink(missing_ok=True)
    return paths


def manifest(result: StudyResult, tables: Sequence[str]) -> dict[str, Any]:
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
