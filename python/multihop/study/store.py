"""Finished runs on disk, each under a name made from what it is a run of."""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from multihop import _core
from multihop.errors import OutputError, UserError
from multihop.provenance import commit, version
from multihop.storage import require_writable_directory

#: Changes when files of the store can no longer be read by what was written before, or the other way round.
STORE_FORMAT = 1

_MARK = "store.json"
_PART = re.compile(r"^\..*\.(?P<host>[^.]*)\.(?P<pid>\d+)\.part$")


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

    def open(self) -> None:
        """Makes the directory if needed, checks that it is a store of this format, clears what a killed process left.

        Raises:
            UserError: if it cannot be written, or is something else.
        """
        mark = self.directory / _MARK
        if not mark.exists() and self.directory.is_dir() and any(self.directory.iterdir()):
            raise UserError(
                f"{self.directory}: not a study folder of multihop, and not empty; name another place with --out"
            )
        require_writable_directory(self.directory)
        self.require_readable()
        if not mark.exists():
            self._write(mark, json.dumps({"what": "multihop study", "format": STORE_FORMAT}).encode() + b"\n")
        for part in [
            *self.directory.glob(".*.part"),
            *self.directory.glob("*/.*.part"),
            *self.directory.glob("*/*/.*.part"),
        ]:
            if _is_left_over(part):
                with suppress(OSError):
                    part.unlink()

    def require_readable(self) -> None:
        """Checks that what is there, if anything, is a store of this format.

        Raises:
            UserError: if not.
        """
        mark = self.directory / _MARK
        if not mark.exists():
            return
        try:
            found = json.loads(mark.read_text(encoding="utf-8"))["format"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(
                f"{mark}: cannot be read as the mark of a study folder ({error}); name another place"
            ) from error
        if found != STORE_FORMAT:
            raise UserError(
                f"{self.directory}: a study folder of format {found}, while this version of multihop writes format "
                f"{STORE_FORMAT}; nothing was touched: name another place with --out"
            )

    def has(self, run: RunId) -> bool:
        """Whether the run is there."""
        return self._path(run).exists()

    def read(self, run: RunId) -> _core.Output | None:
        """The run's output; `None` if it is not there, or damaged (by a power failure), which counts as missing."""
        path = self._path(run)
        try:
            return decode(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, EOFError, ValueError, KeyError):
            with suppress(OSError):
                path.replace(path.with_name(f"{path.name}.damaged"))
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
        for key in runs:
            path = self._failure_path(runs[key])
            with suppress(OSError, ValueError, TypeError):
                yield Failure(**json.loads(path.read_text(encoding="utf-8")))

    def other_runs(self, keys: set[str]) -> int:
        """Finished runs that are not among these: of other builds of multihop, or of another form of the study."""
        there = {path.name.partition(".")[0] for path in self.directory.glob("runs/*/*.json.gz")}
        return len(there - keys)

    def size(self) -> int:
        """Bytes of all finished runs."""
        return sum(path.stat().st_size for path in self.directory.glob("runs/*/*.json.gz"))

    def write_text(self, name: str, text: str) -> Path:
        """Keeps a text file, such as the study itself.

        Raises:
            OutputError: if the disk is full or broken.
        """
        path = self.directory / name
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
            with suppress(OSError):
                part.unlink(missing_ok=True)
            hint = "; free some space and run again" if error.errno in {errno.ENOSPC, errno.EDQUOT} else ""
            raise OutputError(f"{path}: cannot be written: {error.strerror or error}{hint}") from error


def engine() -> str:
    """Which build of the engine runs here: its version and, if known, its commit."""
    built_from = commit()
    return f"{version()}+{built_from}" if built_from else version()


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
        plain = json.loads(gzip.decompress(content))
        if plain.pop("format") != STORE_FORMAT:
            raise ValueError("a run of another format")
    except (EOFError, OSError, KeyError, AttributeError, gzip.zlib.error) as error:  # type: ignore[attr-defined]
        raise ValueError(f"not a finished run: {error}") from error
    for table, columns in plain.items():
        if table != "summary":
            plain[table] = {name: _column(values) for name, values in columns.items()}
    return cast("_core.Output", plain)


def _column(values: list[Any]) -> _core.Column:
    return values if values and isinstance(values[0], str) else np.array(values)


def _is_left_over(part: Path) -> bool:
    """Whether the process that was writing this file is gone."""
    match = _PART.match(part.name)
    if match is None or match["host"] != socket.gethostname().replace(".", "-"):
        return False
    try:
        os.kill(int(match["pid"]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
