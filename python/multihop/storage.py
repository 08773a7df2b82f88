"""Results on disk: tidy tables that describe themselves, and a manifest."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from multihop.columns import RUN_COLUMNS, TABLES
from multihop.errors import UserError
from multihop.provenance import commit, version

if TYPE_CHECKING:
    from multihop.comparison import Comparison

MANIFEST_FORMAT = 1


def save(comparison: Comparison, directory: Path) -> Path:
    """Writes `flows`, `nodes`, `links`, `series` and `summary` as Parquet and CSV, the scenario, and `manifest.json`.

    Each file is written whole and then moved into place, the manifest last: where there is a manifest, all is there.

    Raises:
        UserError: if the directory cannot be written.
    """
    require_writable_directory(directory)
    about = manifest(comparison)
    for name in TABLES:
        table = arrow_table(comparison, name, about)
        _replace(directory / f"{name}.parquet", partial(pa.parquet.write_table, table))
        _replace(directory / f"{name}.csv", partial(pa.csv.write_csv, table))
    _replace(directory / "scenario.toml", lambda path: path.write_text(comparison.scenario.text, encoding="utf-8"))
    text = json.dumps(about, indent=2) + "\n"
    _replace(directory / "manifest.json", lambda path: path.write_text(text, encoding="utf-8"))
    return directory


def arrow_table(comparison: Comparison, name: str, about: dict[str, Any] | None = None) -> pa.Table:
    """A table with unit and meaning in each field's metadata, and the manifest in the schema's."""
    table = pa.Table.from_pandas(comparison.table(name), preserve_index=False)
    definitions = RUN_COLUMNS | TABLES[name]
    fields = []
    for column in table.schema:
        meta = definitions[column.name]
        fields.append(column.with_metadata({"unit": meta.unit, "meaning": meta.meaning}))
    about = about or manifest(comparison)
    described = pa.schema(fields, metadata={"multihop": json.dumps(about)})
    return table.cast(described)


def manifest(comparison: Comparison) -> dict[str, Any]:
    """What was run, by what, and how to run it again. Nothing in it depends on the machine."""
    first = next(iter(comparison.results.values()))[0]
    return {
        "format": MANIFEST_FORMAT,
        "multihop": version(),
        "commit": commit(),
        "command": comparison.command,
        "scenario": {
            "name": first.view["name"],
            "origin": Path(comparison.scenario.origin).name,
            "duration_s": first.view["duration"],
            "warmup_s": first.view["warmup"],
        },
        "seeds": comparison.seeds,
        "variants": [
            {
                "name": name,
                "scenario_hash": results[0].view["hash"],
                "overrides": {k: v for k, v in results[0].overrides.items() if k != "seed"},
                "fingerprints": {str(r.seed): r.summary["fingerprint"] for r in results},
            }
            for name, results in comparison.results.items()
        ],
        "tables": {name: f"{name}.parquet" for name in TABLES},
    }


def require_writable_directory(directory: Path) -> None:
    """Makes the directory if needed and proves that a file can be written there.

    Raises:
        UserError: if not.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except (FileExistsError, NotADirectoryError) as error:
        raise UserError(f"{directory}: cannot be a directory, a file is in the way; name another place") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"{directory}: cannot be written: {reason}; name another place") from error


def require_writable_file(path: Path) -> None:
    """Proves that a file can be written at `path`, making its directory if needed.

    Raises:
        UserError: if not.
    """
    if path.is_dir():
        raise UserError(f"{path}: this is a directory; name a file in it")
    require_writable_directory(path.parent)
    if path.exists() and not os.access(path, os.W_OK):
        raise UserError(f"{path}: cannot be written: it is read-only; name another place")


def write_text(path: Path, text: str) -> Path:
    """Writes a whole file and then moves it into place."""
    require_writable_file(path)
    _replace(path, lambda part: part.write_text(text, encoding="utf-8"))
    return path


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(part)
        part.replace(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror or error}; name another place") from error
    finally:
        part.unlink(missing_ok=True)
