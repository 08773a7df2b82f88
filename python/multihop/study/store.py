"""Finished runs on disk, each under a name made from what it is a run of."""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import re
import socket
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from multihop import _core
from multihop.columns import TABLES
from multihop.errors import OutputError, UserError
from multihop.storage import require_writable_directory

#: Changes when files of the store can no longer be read by what was written before, or the other way round.
STORE_FORMAT = 1

# What a damaged file makes of decompression.
_DAMAGE = (EOFError, OSError, zlib.error)

_MARK = "store.json"

#: Files of a study's folder that nothing may replace, for without them it is none or does not explain itself.
KEPT_NAMES = (_MARK, "study.toml", "scenario.toml")
_WHAT = "multihop study"
_PART = re.compile(r"^\..*\.(?P<host>[^.]*)\.(?P<pid>\d+)\.part$")

#: No file takes so long to write: what is older was left by a process of another machine.
_LEFT_OVER_AFTER_S = 24 * 3600.0


@dataclass(frozen=True)
class RunId:
    """What a run is a run of. Runs with equal ids are the same run, to the last bit."""

    scenario_hash: str
    seed: int
    engine: str

    @property
    def key(self) -> str:
        """SHA-256 of the id and the store's format, in hexadecimal."""
        words = [STORE_FORMAT, self.engine, self.scenario_hash, self.seed]
        return hashlib.sha256(json.dumps(words).encode()).hexdigest()


@dataclass(frozen=True)
class Failure:
    """A run that did not finish.

    Attributes:
        point: labels of its factors.
        command: what to type to see it fail again.
    """

    point: Mapping[str, Any]
    seed: int
    error: str
    command: str


class Store:
    """A directory with one compressed JSON file per finished run.

    A file is written under another name and then renamed, so that whatever ends the process leaves whole files only.
    Files are the same to the last byte whenever and wherever a run was made.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @staticmethod
    def of(folder: Path) -> Store:
        """The store of a study's folder: the folder itself, or where its mark says that its runs are.

        Raises:
            UserError: if the folder is another version's.
        """
        elsewhere = (Store(folder).mark() or {}).get("runs_in")
        return Store(folder / elsewhere if isinstance(elsewhere, str) else folder)

    def open(self, runs_in: Path | None = None) -> None:
        """Makes the directory if needed, checks that it is a store of this format, clears what a killed process left.

        A study whose runs are in another store, `runs_in`, still has its folder, which says so.

        Raises:
            UserError: if it cannot be written, or is something else.
            OutputError: if the disk is full or broken.
        """
        there = self.check()
        require_writable_directory(self.directory)
        for pattern in (".*.part", "*/.*.part", "*/*/.*.part"):
            for part in self.directory.glob(pattern):
                if _is_left_over(part):
                    with suppress(OSError):
                        part.unlink()
        wanted: dict[str, Any] = {"what": _WHAT, "format": STORE_FORMAT}
        if runs_in is not None:
            wanted["runs_in"] = Path(os.path.relpath(runs_in, self.directory)).as_posix()
        if there != wanted:
            self._write(self.directory / _MARK, json.dumps(wanted).encode() + b"\n")

    def check(self) -> dict[str, Any] | None:
        """The mark, if the directory is a store, or may become one. Writes nothing.

        Raises:
            UserError: if it is something else.
        """
        there = self.mark()
        # A process that was killed before its first file was whole leaves a part of it.
        if there is None and any(not _PART.match(name) for name in self._names()):
            raise UserError(
                f"{self.directory}: not a study folder of multihop, and not empty; name another place with --out"
            )
        return there

    def mark(self) -> dict[str, Any] | None:
        """What the directory says of itself; `None` if it is no store yet.

        Raises:
            UserError: if it is a store of another format, or of something else.
        """
        mark = self.directory / _MARK
        try:
            found = json.loads(mark.read_text(encoding="utf-8"))
        except NotADirectoryError as error:
            raise UserError(f"{self.directory}: a file is in the way; name another place with --out") from error
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise UserError(
                f"{mark}: cannot be read as the mark of a study folder ({error}); name another place with --out"
            ) from error
        if not isinstance(found, dict) or found.get("what") != _WHAT:
            raise UserError(f"{mark}: not the mark of a study folder of multihop; name another place with --out")
        if found.get("format") != STORE_FORMAT:
            raise UserError(
                f"{self.directory}: a study folder of format {found.get('format')}, while this version of multihop "
                f"writes format {STORE_FORMAT}; nothing was touched: name another place with --out"
            )
        return found

    def has(self, run: RunId) -> bool:
        """Whether the run is there."""
        return self._path(run).exists()

    def has_failed(self, run: RunId) -> bool:
        """Whether the run was tried and did not finish."""
        return not self.has(run) and self._failure_path(run).exists()

    def is_whole(self, run: RunId) -> bool:
        """Whether the run is there and undamaged; a damaged file (of a power failure, say) is set aside.

        Raises:
            UserError: if the file is there but cannot be read.
        """
        content = self._content(run)
        if content is None:
            return False
        with suppress(*_DAMAGE):
            # Nothing at all decompresses to nothing.
            if gzip.decompress(content):
                return True
        self._set_aside(run)
        return False

    def read(self, run: RunId) -> _core.Output | None:
        """The run's output; `None` if it is not there, or damaged (by a power failure), which counts as missing.

        Raises:
            UserError: if the file is there but cannot be read.
        """
        content = self._content(run)
        if content is None:
            return None
        try:
            return decode(content)
        except ValueError:
            self._set_aside(run)
            return None

    def write(self, run: RunId, content: bytes) -> None:
        """Keeps a run's encoded output.

        Raises:
            OutputError: if the disk is full or broken; everything kept before is still there.
        """
        self._write(self._path(run), content)
        with suppress(OSError):
            self._failure_path(run).unlink(missing_ok=True)

    def write_failure(self, run: RunId, failure: Failure) -> None:
        """Keeps what is needed to see a run fail again.

        Raises:
            OutputError: if the disk is full or broken.
        """
        content = json.dumps(asdict(failure), indent=2, ensure_ascii=False) + "\n"
        self._write(self._failure_path(run), content.encode())

    def failures(self, runs: Mapping[str, RunId]) -> Iterator[Failure]:
        """The failures among these runs (by key)."""
        for run in runs.values():
            # A process may be killed after it kept a run and before it removed the note of an earlier failure.
            if self.has(run):
                continue
            path = self._failure_path(run)
            with suppress(OSError, ValueError, TypeError):
                yield Failure(**json.loads(path.read_text(encoding="utf-8")))

    def other_runs(self, keys: set[str]) -> int:
        """Finished runs that are not among these: of other builds of multihop, or of another form of the study."""
        there = {path.name.partition(".")[0] for path in self.directory.glob("runs/*/*.json.gz")}
        return len(there - keys)

    def size(self) -> int:
        """Bytes of all finished runs."""
        total = 0
        for path in self.directory.glob("runs/*/*.json.gz"):
            # Somebody may be tidying up meanwhile.
            with suppress(FileNotFoundError):
                total += path.stat().st_size
        return total

    def write_text(self, name: str, text: str) -> Path:
        """Keeps a text file, such as the study itself; one that says the same already is left alone.

        Raises:
            OutputError: if the disk is full or broken.
        """
        path = self.directory / name
        with suppress(OSError):
            if path.read_bytes() == text.encode():
                return path
        self._write(path, text.encode())
        return path

    def _path(self, run: RunId) -> Path:
        return self.directory / "runs" / run.key[:2] / f"{run.key}.json.gz"

    def _failure_path(self, run: RunId) -> Path:
        return self.directory / "failures" / f"{run.key}.json"

    def _write(self, path: Path, content: bytes) -> None:
        part = path.with_name(f".{path.name}.{socket.gethostname().replace('.', '-')}.{os.getpid()}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(content)
            part.replace(path)
        except OSError as error:
            hint = "; free some space and run again" if error.errno in {errno.ENOSPC, errno.EDQUOT} else ""
            raise OutputError(f"{path}: cannot be written: {error.strerror or error}{hint}") from error
        finally:
            # Ctrl-C may come at any point of this as well.
            with suppress(OSError):
                part.unlink(missing_ok=True)

    def _names(self) -> list[str]:
        try:
            return [path.name for path in self.directory.iterdir()] if self.directory.is_dir() else []
        except OSError as error:
            raise UserError(
                f"{self.directory}: cannot be read: {error.strerror or error}; name another place"
            ) from error

    def _content(self, run: RunId) -> bytes | None:
        path = self._path(run)
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror or error}; it was left as it is") from error

    def _set_aside(self, run: RunId) -> None:
        path = self._path(run)
        with suppress(OSError):
            path.replace(path.with_name(f"{path.name}.damaged"))


def encode(output: _core.Output) -> bytes:
    """A run's output as compressed JSON, table -> column -> values; missing numbers are `NaN`."""
    plain = {
        table: {name: column.tolist() if isinstance(column, np.ndarray) else column for name, column in columns.items()}
        for table, columns in cast("dict[str, dict[str, Any]]", output).items()
    }
    # Level 6 of zlib, no time stamp: the same run is the same file.
    return gzip.compress(json.dumps({"format": STORE_FORMAT, **plain}, separators=(",", ":")).encode(), 6, mtime=0)


def decode(content: bytes) -> _core.Output:
    """The output that `encode` was given.

    Raises:
        ValueError: if the content is no such output.
    """
    try:
        return _decoded(json.loads(gzip.decompress(content)))
    except (*_DAMAGE, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a finished run: {error}") from error


#: Tables that a run may be without.
_OPTIONAL = {"measurements", "positions", "wires"}


def _decoded(plain: dict[str, Any]) -> _core.Output:
    if plain["format"] != STORE_FORMAT or not {"summary", *TABLES} - _OPTIONAL <= plain.keys():
        raise ValueError("a run of another format")
    made = {
        name: {column: _column(values) for column, values in plain[name].items()}
        for name in TABLES
        if name != "summary" and name in plain
    }
    return cast("_core.Output", {"summary": plain["summary"], **made})


def _column(values: list[Any]) -> _core.Column:
    if values and isinstance(values[0], str):
        return values
    try:
        # NumPy would take floats for integers of which some have 64 bits.
        return (
            np.array(values, dtype=np.int64) if values and isinstance(values[0], int) else np.array(values, dtype=float)
        )
    except OverflowError:
        return np.array(values, dtype=np.uint64)


def _is_left_over(part: Path) -> bool:
    """Whether the process that was writing this file is gone."""
    match = _PART.match(part.name)
    if match is None:
        return False
    with suppress(OSError):
        if time.time() - part.stat().st_mtime > _LEFT_OVER_AFTER_S:
            return True
    if match["host"] != socket.gethostname().replace(".", "-"):
        return False
    try:
        os.kill(int(match["pid"]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
