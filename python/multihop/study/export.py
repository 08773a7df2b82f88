"""What a study found as files: tidy tables, estimates, paired differences, verdicts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from multihop.columns import METRICS, RUN_COLUMNS, TABLES, Column
from multihop.provenance import commit, version
from multihop.statistics import holm
from multihop.storage import replace_file, require_writable_directory, write_text
from multihop.study.claims import Judgement
from multihop.study.result import StudyResult, column_name


def export(result: StudyResult, directory: Path) -> list[Path]:
    """Writes every table as Parquet and CSV, `verdicts.json`, and a manifest; returns the paths.

    Tables have a column per factor and the seed in front, then their own; `estimates` has a row per point and metric,
    `differences` a row per pair of the compared factor's values, both in SI units.

    Raises:
        UserError: if the directory cannot be written.
        OutputError: if the disk is full or broken.
    """
    require_writable_directory(directory)
    about = manifest(result)
    tables = {} if result.study.spec.model is not None else {name: result.table(name) for name in TABLES}
    tables["metrics"] = result.table("metrics")
    tables["estimates"] = estimates(result)
    tables["differences"] = differences(result)
    paths = []
    for name, df in tables.items():
        if df.empty:
            continue
        table = _described(result, name, df, about)
        for kind, write in (("parquet", pa.parquet.write_table), ("csv", pa.csv.write_csv)):
            path = directory / f"{name}.{kind}"
            replace_file(path, partial(write, table))
            paths.append(path)
    verdicts = json.dumps([verdict_record(judgement) for judgement in result.judgements], indent=2) + "\n"
    paths.append(write_text(directory / "verdicts.json", verdicts))
    paths.append(write_text(directory / "manifest.json", json.dumps(about, indent=2) + "\n"))
    return paths


def estimates(result: StudyResult) -> pd.DataFrame:
    """Mean and 95 % interval of every metric at every point, in SI units."""
    rows = []
    for index, point in enumerate(result.points):
        for name in metric_names(result):
            found = result.estimate(index, name)
            if found is not None:
                numbers = {"metric": name, "mean": found.mean, "low": found.low, "high": found.high, "n": found.n}
                rows.append({**_labels(result, index, "estimates"), **numbers})
        del point
    return pd.DataFrame(rows)


def differences(result: StudyResult) -> pd.DataFrame:
    """Paired differences between the values of the compared factor, seed by seed, at every point of the others.

    `p_adjusted` is Holm's adjustment over the pairs of one metric at one point. Empty if nothing is compared.
    """
    by = result.study.compared
    if by is None or by not in result.study.spec.factors:
        return pd.DataFrame()
    lines: dict[Any, list[int]] = {}
    for index, point in enumerate(result.points):
        lines.setdefault(point.without(by), []).append(index)
    rows: list[dict[str, Any]] = []
    for shared, line in lines.items():
        for name in metric_names(result):
            made = []
            for a, b in combinations(line, 2):
                d = result.difference(a, b, name)
                if d is not None:
                    pair = {"metric": name, "a": result.points[a].labels[by], "b": result.points[b].labels[by]}
                    numbers = {"difference": d.mean, "low": d.low, "high": d.high, "n": d.n, "p_value": d.p_value}
                    made.append({**dict(shared), **pair, **numbers})
            known = [row["p_value"] for row in made]
            adjusted = holm(known) if known and all(p is not None for p in known) else [None] * len(made)
            rows += [{**row, "p_adjusted": p} for row, p in zip(made, adjusted, strict=True)]
    return pd.DataFrame(rows)


def metric_names(result: StudyResult) -> list[str]:
    """The study's own metrics, or if it has none those that every run has."""
    spec = result.study.spec
    if spec.model is not None:
        return [name for name in result.table("metrics").columns if name not in {*spec.factors, "seed", "factor_seed"}]
    return [*spec.metrics] or [metric.name for metric in METRICS]


def manifest(result: StudyResult) -> dict[str, Any]:
    """What was run, by what, and how to run it again. Nothing in it depends on the machine."""
    spec, plan = result.study.spec, result.study.plan
    return {
        "format": 1,
        "multihop": version(),
        "commit": commit(),
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
        "failures": [{"point": dict(f.point), "seed": f.seed, "error": f.error} for f in result.failures],
    }


def verdict_record(judgement: Judgement) -> dict[str, Any]:
    """A verdict as plain data (JSON)."""
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
        "cells": [{**vars(cell), "state": str(cell.state)} for cell in judgement.cells],
    }


def _labels(result: StudyResult, index: int, table: str) -> Mapping[str, Any]:
    return {column_name(factor, table): label for factor, label in result.points[index].labels.items()}


_STATISTICS = {
    "metric": Column("", "metric of the study"),
    "mean": Column("SI", "mean over seeds, in the unit of the metric's column"),
    "low": Column("SI", "lower end of the 95 % interval (Student t)"),
    "high": Column("SI", "upper end of the 95 % interval"),
    "n": Column("1", "seeds"),
    "a": Column("", "value of the compared factor"),
    "b": Column("", "the value that it is compared with"),
    "difference": Column("SI", "mean of a less b over common seeds"),
    "p_value": Column("1", "two-sided p-value of no difference (paired t-test)"),
    "p_adjusted": Column("1", "the same, adjusted by Holm's method over the pairs of one metric at one point"),
}


def _described(result: StudyResult, name: str, df: pd.DataFrame, about: dict[str, Any]) -> pa.Table:
    """The table with unit and meaning in each field's metadata, and the manifest in the schema's."""
    known = {**RUN_COLUMNS, **TABLES.get(name, _STATISTICS)}
    table = pa.Table.from_pandas(df, preserve_index=False)
    fields = []
    for field in table.schema:
        meta = known.get(field.name)
        if meta is None and field.name in result.study.spec.metrics:
            metric = result.study.spec.metrics[field.name]
            meta = Column("SI", f"{metric.reduce} of {metric.column}")
        meta = meta or Column("", f"factor of the study: {field.name}")
        fields.append(field.with_metadata({"unit": meta.unit, "meaning": meta.meaning}))
    return table.cast(pa.schema(fields, metadata={"multihop": json.dumps(about)}))
