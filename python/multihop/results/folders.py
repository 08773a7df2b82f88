"""Folders of results: tables as Parquet and CSV, and a manifest that is written last."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from multihop.base.errors import UserError
from multihop.base.files import replace_file, require_writable_directory, require_writable_file
from multihop.base.visible import write_csv
from multihop.results.columns import TABLES

#: What the file of motion of a scenario is called beside its copy.
MOTION_FILE = "motion"

#: What results are called in their directory.
RESULT_NAMES = (
    "manifest.json",
    "scenario.toml",
    "report.html",
    MOTION_FILE,
    *(f"{name}.{kind}" for name in TABLES for kind in ("parquet", "csv")),
)

#: There while results are written: a folder whose writer was killed holds some of our files but no manifest yet.
_UNFINISHED = ".multihop-unfinished"


def require_results_directory(directory: Path, names: Sequence[str] = RESULT_NAMES) -> None:
    """As `require_writable_directory`; files that results, of these names, would replace must be results as well.

    Raises:
        UserError: if the directory has a file of the same name as one of ours, but no manifest of ours.
    """
    require_writable_directory(directory)
    there = [name for name in names if os.path.lexists(directory / name)]
    for name in there:
        require_writable_file(directory / name)
    if there and not (manifest_of(directory) is not None or (directory / _UNFINISHED).exists()):
        raise UserError(
            f"{directory}: not a results folder of multihop, but it has a file {there[0]}, which would be replaced; "
            "choose another"
        )


@contextmanager
def results_directory(directory: Path, names: Sequence[str] = RESULT_NAMES) -> Iterator[None]:
    """A directory into which results of these names are written, the manifest last.

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


def write_table(directory: Path, name: str, table: pa.Table) -> list[Path]:
    """Writes a table as Parquet and as CSV, each whole; returns their paths.

    Raises:
        OutputError: if the disk is full or broken.
        UserError: if the place cannot be written.
    """
    paths = []
    for kind, write in (("parquet", pa.parquet.write_table), ("csv", write_csv)):
        path = directory / f"{name}.{kind}"
        replace_file(path, partial(write, table))
        paths.append(path)
    return paths


def manifest_of(directory: Path) -> dict[str, Any] | None:
    """The manifest of results that are there; none if it is missing, or nobody's."""
    try:
        about = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return about if isinstance(about, dict) and {"format", "multihop", "command", "tables"} <= about.keys() else None
