"""Results on disk: tidy tables that describe themselves, and a manifest."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet

from multihop.columns import RUN_COLUMNS, TABLES
from multihop.errors import OutputError, UserError
from multihop.provenance import record
from multihop.visible import write_csv

if TYPE_CHECKING:
    from multihop.comparison import Comparison

MANIFEST_FORMAT = 1

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

_PART = re.compile(r"^\..*\.(?P<host>[^.]*)\.(?P<pid>\d+)\.part$")

#: No file takes so long to write: what is older was left by a process of another machine.
_LEFT_OVER_AFTER_S = 24 * 3600.0

# The place is right, but the disk is not: another name would not help.
_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG}


def save(comparison: Comparison, directory: Path) -> Path:
    """Writes every table as Parquet and CSV, the scenario, its file of motion, and `manifest.json`.

    Each file is written whole and then moved into place, the manifest last: where there is a manifest, all is there.

    Raises:
        UserError: if the directory cannot be written, or holds files of these names that are not results.
    """
    with results_directory(directory):
        about = manifest(comparison)
        for name in TABLES:
            table = arrow_table(comparison, name, about)
            write_table(directory, name, table)
        # Results that are made again from their own copies of the scenario and of the file of motion leave these alone.
        copy = directory / "scenario.toml"
        if comparison.scenario.file is None or not _same_file(copy, comparison.scenario.file):
            replace_file(copy, lambda path: path.write_text(comparison.scenario.text, encoding="utf-8"))
        motion = next(iter(comparison.results.values()))[0].view["motion_file"]
        if motion is not None and not _same_file(directory / MOTION_FILE, Path(motion)):
            replace_file(directory / MOTION_FILE, partial(shutil.copyfile, motion))
        text = json.dumps(about, indent=2) + "\n"
        replace_file(directory / "manifest.json", lambda path: path.write_text(text, encoding="utf-8"))
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
        **record(),
        "command": comparison.command,
        "command_runs_in": "the directory of this manifest, whose scenario.toml is the scenario that was run",
        "scenario": {
            "name": first.view["name"],
            "origin": Path(comparison.scenario.origin).name,
            # The clock has nanoseconds; what is below is noise of the conversion to seconds.
            "duration_s": round(first.view["duration"], 9),
            "warmup_s": round(first.view["warmup"], 9),
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


def require_results_directory(directory: Path, names: Sequence[str] = RESULT_NAMES) -> None:
    """As `require_writable_directory`; files that results, of these names, would replace must be results as well.

    Raises:
        UserError: if the directory has a file of the same name as one of ours, but no manifest of ours.
    """
    require_writable_directory(directory)
    there = [name for name in names if os.path.lexists(directory / name)]
    for name in there:
        require_writable_file(directory / name)
    if there and not (_has_manifest(directory) or (directory / _UNFINISHED).exists()):
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
        if _has_manifest(directory) or not any((directory / name).exists() for name in names):
            unfinished.unlink(missing_ok=True)


def require_writable_file(path: Path, source: Path | None = None) -> None:
    """Proves that a file can be written at `path`, making its directory if needed.

    `source` is the file that the output is made from, which it must not replace.

    Raises:
        UserError: if not.
    """
    try:
        if path.is_dir():
            raise UserError(f"{path}: this is a directory; name a file in it")
        if path.exists() and not path.is_file():
            raise UserError(f"{path}: this is a device or a pipe, not a file; name a file")
        read_only = path.exists() and not os.access(path, os.W_OK)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}; name another place") from error
    if source is not None and _same_file(path, source):
        raise UserError(f"{path}: this is the file that is read, which would be lost; name another place")
    require_writable_directory(path.parent)
    if read_only:
        raise UserError(f"{path}: cannot be written: it is read-only; name another place")


def write_text(path: Path, text: str, source: Path | None = None) -> Path:
    """Writes a whole file and then moves it into place; never over `source`, which it is made from."""
    require_writable_file(path, source)
    replace_file(path, lambda part: part.write_text(text, encoding="utf-8"))
    return path


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


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Writes a file under another name and then moves it into place.

    Raises:
        OutputError: if the disk is full or broken.
        UserError: if the place cannot be written.
    """
    with _moved_into_place(path) as part:
        write(part)


@contextmanager
def whole_file(path: Path, source: Path | None = None) -> Iterator[Path]:
    """The name under which a file is to be written that is then moved to `path`; never over `source`.

    Raises:
        OutputError: if the disk is full or broken.
        UserError: if the place cannot be written.
    """
    require_writable_file(path, source)
    with _moved_into_place(path) as part:
        yield part


def part_of(path: Path) -> Path:
    """What a file is called while it is written: the name says by which process of which machine."""
    return path.with_name(f".{path.name}.{_host()}.{os.getpid()}.part")


def is_part(name: str) -> bool:
    """Whether this is the name of a file in the making."""
    return _PART.match(name) is not None


def clear_left_overs(folder: Path, pattern: str) -> None:
    """Removes files in the making whose process is gone, as far as that can be known and done."""
    for part in folder.glob(pattern):
        with suppress(OSError):
            if _is_left_over(part):
                part.unlink()


def _is_left_over(part: Path) -> bool:
    match = _PART.match(part.name)
    if match is None:
        return False
    if match["host"] != _host():
        # Clocks may be set, and of another machine's nothing else is known.
        return time.time() - part.stat().st_mtime > _LEFT_OVER_AFTER_S
    try:
        os.kill(int(match["pid"]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    return False


def _host() -> str:
    return socket.gethostname().replace(".", "-")


@contextmanager
def _moved_into_place(path: Path) -> Iterator[Path]:
    clear_left_overs(path.parent, f".{escape(path.name)}.*.part")
    part = part_of(path)
    try:
        yield part
        part.replace(path)
    except OSError as error:
        if error.errno in _DISK_ERRORS:
            # Arrow's errors carry a number, but words of their own.
            raise OutputError(f"{path}: cannot be written: {os.strerror(error.errno)}") from error
        raise UserError(f"{path}: cannot be written: {error.strerror or error}; name another place") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _same_file(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except (OSError, ValueError):
        return False


def _has_manifest(directory: Path) -> bool:
    try:
        about = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(about, dict) and {"format", "multihop", "command", "tables"} <= about.keys()
