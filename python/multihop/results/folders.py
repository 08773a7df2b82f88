"""Folders of results: tables as Parquet and CSV, and a manifest that is written last."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from multihop.base import extras
from multihop.base.errors import UserError
from multihop.base.escaping import no_formula, write_csv
from multihop.base.files import replace_file, require_writable_directory, require_writable_file
from multihop.results.columns import TABLES, Column

if TYPE_CHECKING:
    import pyarrow as pa

#: Name of the copy of a scenario's motion file.
MOTION_FILE = "motion"

#: Names of result files.
RESULT_NAMES = (
    "manifest.json",
    "scenario.toml",
    "report.html",
    MOTION_FILE,
    *(f"{name}.{kind}" for name in TABLES for kind in ("parquet", "csv")),
)

#: Marker of unfinished results: a folder whose writer was killed has result files but no manifest yet.
_UNFINISHED = ".multihop-unfinished"


def require_results_directory(directory: Path, names: Sequence[str] = RESULT_NAMES) -> None:
    """Checks that results can be written into a directory and replace only results of multihop.

    Raises:
        UserError: if the directory cannot be written, or has files of these names but no manifest of
            multihop.
    """
    require_writable_directory(directory)
    there = [name for name in names if os.path.lexists(directory / name)]
    for name in there:
        require_writable_file(directory / name)
    if there and not (manifest_of(directory) is not None or (directory / _UNFINISHED).exists()):
        raise UserError(
            f"{directory}: not a results folder of multihop, but it has a file {there[0]}, which would be replaced; "
            "choose another folder"
        )


@contextmanager
def results_directory(directory: Path, names: Sequence[str] = RESULT_NAMES) -> Iterator[None]:
    """Context in which results of these names are written into a directory, the manifest last.

    Raises:
        UserError: as `require_results_directory`.
        OutputError: if the disk is full or broken.
    """
    require_results_directory(directory, names)
    unfinished = directory / _UNFINISHED
    replace_file(unfinished, Path.touch)
    try:
        yield
    finally:
        if manifest_of(directory) is not None or not any((directory / name).exists() for name in names):
            unfinished.unlink(missing_ok=True)


def table_file(name: str) -> str:
    """Returns the name of a table's file in a manifest: Parquet if it can be written, else CSV."""
    return f"{name}.{'parquet' if extras.has('parquet') else 'csv'}"


def write_table(
    directory: Path, name: str, table: pd.DataFrame, about: Mapping[str, Any], columns: Mapping[str, Column]
) -> list[Path]:
    """Writes a table as Parquet and CSV, or without PyArrow only as CSV, each atomically. Returns the paths.

    In Parquet, the metadata of fields hold unit and meaning from `columns`, and the schema's hold `about`.

    Raises:
        OutputError: if the disk is full or broken.
        UserError: if the place cannot be written.
    """
    parquet, text = directory / f"{name}.parquet", directory / f"{name}.csv"
    if not extras.has("parquet"):
        # An older Parquet file would be taken for the same table.
        parquet.unlink(missing_ok=True)
        replace_file(text, partial(_write_plain, table))
        return [text]
    import pyarrow.parquet

    arrow = arrow_table(table, about, columns)
    replace_file(parquet, partial(pyarrow.parquet.write_table, arrow))
    replace_file(text, partial(write_csv, arrow))
    return [parquet, text]


def arrow_table(table: pd.DataFrame, about: Mapping[str, Any], columns: Mapping[str, Column]) -> pa.Table:
    """Converts a table to Arrow, with units, meanings and `about` as metadata."""
    import pyarrow as pa

    made = pa.Table.from_pandas(table, preserve_index=False)
    fields = []
    for field in made.schema:
        meta = columns.get(field.name)
        fields.append(field if meta is None else field.with_metadata({"unit": meta.unit, "meaning": meta.meaning}))
    return made.cast(pa.schema(fields, metadata={"multihop": json.dumps(about)}))


def _write_plain(table: pd.DataFrame, path: Path) -> None:
    safe = table.map(no_formula)
    safe.to_csv(path, index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")


def manifest_of(directory: Path) -> dict[str, Any] | None:
    """Returns the manifest of a folder, or `None` if it is missing or not of multihop."""
    try:
        about = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return about if isinstance(about, dict) and {"format", "multihop", "command", "tables"} <= about.keys() else None
