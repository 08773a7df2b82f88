"""Store of finished runs, each under a key derived from its identity."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import json
import os
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from multihop import _core
from multihop.base.errors import OutputError, UserError
from multihop.base.files import clear_left_overs, is_part, moved_into_place, require_writable_directory
from multihop.results.causes import CAUSE_TABLES
from multihop.results.columns import TABLES
from multihop.simulation.reservations import Reservations
from multihop.simulation.shards import Place, Shards

#: Format of the folder; changes when older versions of multihop cannot read it, or it cannot read older ones.
STORE_FORMAT = 2

#: Format of a run, part of its key; changes when `encode` writes different content.
RUN_FORMAT = 2

#: Largest unpacked size of a run in bytes: a constant, and a multiple of its packed size.
_MOST_BYTES, _MOST_BYTES_OF_BYTE = 64_000_000, 100

# Errors of decompression that mean damaged content.
_DAMAGE = (EOFError, OSError, zlib.error)

_MARK = "store.json"
_RUNS = "runs"

#: Files of a study's folder that outputs must not replace, since the folder depends on them.
KEPT_NAMES = (_MARK, "study.toml", "scenario.toml")
_WHAT = "multihop study"


@dataclass(frozen=True)
class RunId:
    """Identity of a run. Runs with equal ids are equal to the last bit."""

    scenario_hash: str
    seed: int
    engine: str

    @property
    def plain(self) -> dict[str, Any]:
        """The id as part of a run's content."""
        return {"scenario_hash": self.scenario_hash, "seed": self.seed, "engine": self.engine}

    @cached_property
    def key(self) -> str:
        """SHA-256 of the id and the run format, in hexadecimal."""
        words = [RUN_FORMAT, self.engine, self.scenario_hash, self.seed]
        return hashlib.sha256(json.dumps(words).encode()).hexdigest()


@dataclass(frozen=True)
class Failure:
    """Run that failed.

    Attributes:
        point: label of each factor at its point.
        seed: seed of the run.
        error: type and message of the error.
        command: command that repeats the run.
    """

    point: Mapping[str, Any]
    seed: int
    error: str
    command: str


class Store:
    """Directory of finished runs as compressed JSON, in shards: one per process that added runs.

    A killed process leaves complete runs and at most one incomplete run, which is ignored. The content of a
    run is equal to the last byte whenever and wherever it was made. A damaged run counts as missing; its
    bytes are left unchanged and skipped from then on.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._shards: Shards | None = None
        #: Keys of complete runs that this process has read or written.
        self._whole: set[str] = set()

    @property
    def damaged(self) -> list[Place]:
        """Places that were found damaged."""
        return [] if self._shards is None else self._shards.damaged

    @property
    def kept(self) -> int:
        """Number of runs that this process has found or written."""
        return len(self._whole)

    @staticmethod
    def of(folder: Path) -> Store:
        """Returns the store of a study's folder: the folder itself, or the one that its mark refers to.

        Raises:
            UserError: if the folder has another format.
        """
        elsewhere = (Store(folder).mark() or {}).get("runs_in")
        return Store(folder / elsewhere if isinstance(elsewhere, str) else folder)

    def open(self, runs_in: Path | None = None) -> None:
        """Creates the directory if needed, checks the store's format, and removes files of killed processes.

        Args:
            runs_in: directory of another store with the study's runs, to which the mark of this folder
                refers.

        Raises:
            UserError: if the directory cannot be written, or is no store.
            OutputError: if the disk is full or broken.
        """
        there = self.check()
        require_writable_directory(self.directory)
        self._shards = None
        for pattern in ("", "*/", "*/*/"):
            clear_left_overs(self.directory, f"{pattern}.*.part")
        wanted: dict[str, Any] = {"what": _WHAT, "format": STORE_FORMAT}
        if runs_in is not None:
            wanted["runs_in"] = Path(os.path.relpath(runs_in, self.directory)).as_posix()
        if there != wanted:
            self._write(self.directory / _MARK, json.dumps(wanted).encode() + b"\n")

    def check(self) -> dict[str, Any] | None:
        """Returns the mark of a store, or `None` if the directory may become one. Writes nothing.

        Raises:
            UserError: if the directory has other content.
        """
        there = self.mark()
        # A process killed during its first write leaves a temporary file.
        if there is None and any(not is_part(name) for name in self._names()):
            # Another process may have made a store of it since.
            there = self.mark()
            if there is None:
                raise UserError(
                    f"{self.directory}: not a study folder of multihop, and not empty; name another place with --out"
                )
        return there

    def mark(self) -> dict[str, Any] | None:
        """Returns the mark of the directory, or `None` without one.

        Raises:
            UserError: if the mark has another format, or is of another program.
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
        if not isinstance(found, dict) or found.get("what") != _WHAT or "\0" in str(found.get("runs_in")):
            raise UserError(f"{mark}: not the mark of a study folder of multihop; name another place with --out")
        if found.get("format") != STORE_FORMAT:
            raise UserError(
                f"{self.directory}: a study folder of format {found.get('format')}, while this version of multihop "
                f"reads format {STORE_FORMAT}; nothing was touched: name another place with --out, where the runs are "
                "made anew"
            )
        return found

    def has(self, run: RunId) -> bool:
        """Whether the store has the run, undamaged.

        Raises:
            UserError: if the store cannot be read.
        """
        place = self._opened.places.get(run.key)
        if place is None:
            return False
        self._whole.add(run.key)
        return True

    def refresh(self) -> None:
        """Reads the runs that other processes have added.

        Raises:
            UserError: if the store cannot be read.
        """
        try:
            self._opened.scan_new()
        except OSError as error:
            raise _unreadable(Path(error.filename or self.directory), error) from error

    def reservations(self) -> Reservations:
        """Returns the reservations of runs that processes are making."""
        return Reservations(self.directory / "under-way")

    def has_failed(self, run: RunId) -> bool:
        """Whether the run was tried and failed."""
        return not self.has(run) and self._failure_path(run).exists()

    def read(self, run: RunId, tables: Collection[str] | None = None) -> _core.Output | None:
        """Returns a run's output, or only some of its tables; `None` if it is missing or damaged.

        Raises:
            UserError: if the run exists but cannot be read.
        """
        place = self._opened.places.get(run.key)
        if place is None:
            return None
        try:
            output = decode(place.read(), run, tables)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unreadable(place.path, error) from error
        except ValueError:
            self._whole.discard(run.key)
            del self._opened.places[run.key]
            self._opened.pass_over(place)
            return None
        self._whole.add(run.key)
        return output

    def write(self, run: RunId, content: bytes) -> None:
        """Adds a run's encoded output.

        Raises:
            OutputError: if the disk is full or broken; earlier runs stay.
        """
        try:
            self._opened.append(run.key, content)
        except OSError as error:
            raise _unwritable(self.directory / _RUNS, error) from error
        self._whole.add(run.key)
        with suppress(OSError):
            self._failure_path(run).unlink(missing_ok=True)

    def write_failure(self, run: RunId, failure: Failure) -> None:
        """Records the failure of a run.

        Raises:
            OutputError: if the disk is full or broken.
        """
        content = json.dumps(asdict(failure), indent=2, ensure_ascii=False) + "\n"
        self._write(self._failure_path(run), content.encode())

    def failures(self, runs: Mapping[str, RunId]) -> Iterator[Failure]:
        """Yields the recorded failures of these runs (by key)."""
        for run in runs.values():
            # A process may be killed between storing a run and removing the record of an earlier failure.
            if self.has(run):
                continue
            path = self._failure_path(run)
            with suppress(OSError, ValueError, TypeError, RecursionError):
                yield _failure(json.loads(path.read_text(encoding="utf-8")))

    def other_runs(self, keys: set[str]) -> int:
        """Number of other finished runs: of other builds, or of another form of the study."""
        return len(self._opened.places.keys() - keys)

    def size(self) -> int:
        """Bytes of all finished runs."""
        return sum(place.length for place in self._opened.places.values())

    def write_text(self, name: str, text: str) -> Path:
        """Writes a text file, such as the study itself, unless it has this text already.

        Raises:
            OutputError: if the disk is full or broken.
        """
        path = self.directory / name
        with suppress(OSError):
            if path.read_bytes() == text.encode():
                return path
        self._write(path, text.encode())
        return path

    @property
    def _opened(self) -> Shards:
        """Shards, read on first use."""
        if self._shards is None:
            folder = self.directory / _RUNS
            shards = Shards(folder)
            try:
                shards.scan()
            except OSError as error:
                raise _unreadable(Path(error.filename or folder), error) from error
            self._shards = shards
        return self._shards

    def _failure_path(self, run: RunId) -> Path:
        return self.directory / "failures" / f"{run.key}.json"

    def _write(self, path: Path, content: bytes) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with moved_into_place(path) as part:
                part.write_bytes(content)
        except OSError as error:
            raise _unwritable(path, error) from error

    def _names(self) -> list[str]:
        try:
            return [path.name for path in self.directory.iterdir()] if self.directory.is_dir() else []
        except OSError as error:
            raise UserError(
                f"{self.directory}: cannot be read: {error.strerror or error}; name another place"
            ) from error


def _unreadable(path: Path, error: OSError) -> UserError:
    return UserError(f"{path}: cannot be read: {error.strerror or error}; it was left unchanged")


def _unwritable(path: Path, error: OSError) -> OutputError:
    hint = "; free some space and run again" if error.errno in {errno.ENOSPC, errno.EDQUOT} else ""
    return OutputError(f"{path}: cannot be written: {error.strerror or error}{hint}")


def encode(output: _core.Output, run: RunId) -> bytes:
    """Encodes an output as compressed JSON: the id, and type and values of each column; NaN if missing."""
    plain = {
        table: columns if table == "summary" else {name: _typed(column) for name, column in columns.items()}
        for table, columns in cast("dict[str, dict[str, Any]]", output).items()
    }
    text = json.dumps({"format": RUN_FORMAT, "run": run.plain, **plain}, separators=(",", ":"))
    # Fixed level and no time stamp, so that equal runs have equal content.
    return gzip.compress(text.encode(), 6, mtime=0)


def decode(content: bytes, run: RunId, tables: Collection[str] | None = None) -> _core.Output:
    """Decodes an output, or some of its tables, to the last bit and with the same types.

    Raises:
        ValueError: if the content is no output, or that of another run.
    """
    try:
        return _decoded(json.loads(_decompressed(content)), run, tables)
    except (*_DAMAGE, ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise ValueError(f"not a finished run: {error}") from error


def _decompressed(content: bytes) -> bytes:
    most = _MOST_BYTES + _MOST_BYTES_OF_BYTE * len(content)
    with gzip.open(io.BytesIO(content)) as file:
        plain = file.read(most + 1)
    if len(plain) > most:
        raise ValueError("a run that unpacks to more bytes than a run of its size can have")
    return plain


#: Tables that a run may lack.
_OPTIONAL = {"categories", "delays", "measurements", "positions", "wires"}

#: Tables that a run has only on request.
_ASKED_FOR = tuple(CAUSE_TABLES)

#: Type name of text columns; other type names are NumPy's.
_TEXT = "text"


def _decoded(plain: dict[str, Any], run: RunId, tables: Collection[str] | None) -> _core.Output:
    if plain["format"] != RUN_FORMAT or not {"summary", *TABLES} - _OPTIONAL <= plain.keys():
        raise ValueError("a run of another format")
    if plain["run"] != run.plain or plain["summary"]["seed"] != run.seed:
        raise ValueError("another run")
    if not all(isinstance(value, int | float | str) for value in plain["summary"].values()):
        raise ValueError("a summary whose values are not single numbers or texts")
    made = {
        name: {column: _untyped(typed) for column, typed in plain[name].items()}
        for name in (*TABLES, *_ASKED_FOR)
        if name != "summary" and name in plain and (tables is None or name in tables)
    }
    return cast("_core.Output", {"summary": plain["summary"], **made})


def _typed(column: _core.Column) -> dict[str, list[Any]]:
    return {column.dtype.name: column.tolist()} if isinstance(column, np.ndarray) else {_TEXT: column}


def _untyped(typed: dict[str, list[Any]]) -> _core.Column:
    ((kind, values),) = typed.items()
    if kind == _TEXT:
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise ValueError("a column that is not of text")
        return values
    # NumPy would interpret other names as descriptions of fields.
    if kind not in np.sctypeDict:
        raise ValueError("a column of unknown type")
    column = np.array(values, dtype=kind)
    if column.ndim != 1 or column.dtype.kind not in "biuf":
        raise ValueError("a column that is not of numbers")
    return column


def _failure(plain: Any) -> Failure:  # noqa: ANN401 - any JSON value
    failure = Failure(**plain)
    wanted = {"point": dict, "seed": int, "error": str, "command": str}
    if not all(isinstance(getattr(failure, name), kind) for name, kind in wanted.items()):
        raise TypeError("not the record of a failure")
    return failure
