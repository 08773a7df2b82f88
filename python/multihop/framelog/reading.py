"""Reads frame logs. The core says what tables and columns there are."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from multihop import _core
from multihop.base.errors import UserError
from multihop.simulation.logs import FRAMES_MARK, nanoseconds

#: First bytes of a log of an earlier version.
_MAGIC = b"mhframes"
#: A table has no more transmissions than these: some 2 GB of memory.
MOST = 10_000_000


@dataclass(frozen=True)
class FrameLog:
    """A frame log: description, tables as the files have them, and where it is cut short, if so."""

    head: dict[str, Any]
    tables: dict[str, pd.DataFrame]
    cut_short: str | None

    @property
    def transmissions(self) -> pd.DataFrame:
        """A row per transmission, with words for numbers that stand for one.

        Times are in nanoseconds, as integers. Missing are -1 among numbers and None among names.
        """
        return self.in_words(self.tables["transmissions"])

    def in_words(self, table: pd.DataFrame) -> pd.DataFrame:
        """A table with names for indices and enumerations."""
        _, enumerations = _core.frame_layout()
        units = {column["name"]: column["unit"] for described in self.head["tables"] for column in described["columns"]}
        names = {
            **enumerations,
            "node": [node["name"] for node in self.head["nodes"]],
            "flow": [flow["name"] for flow in self.head["flows"]],
        }
        worded = {column: names[units[column]] for column in table.columns if units[column] in names}
        return table.assign(**{column: _named(table[column], known) for column, known in worded.items()})


def frames(path: str | os.PathLike[str], between: tuple[float, float] | None = None) -> pd.DataFrame:
    """The transmissions of a frame log, a row each: see `FrameLog.transmissions`.

    Args:
        path: a folder that `run --frames` wrote.
        between: only what begins between these instants, in seconds.

    Raises:
        UserError: if it cannot be read, is no frame log, or has more than ten million transmissions in the
            interval; or if that is none.

    Of a log that is cut short a warning says where it ends.
    """
    window = None if between is None else window_of(between)
    found = read(Path(path), window)
    if found.cut_short:
        warnings.warn(said_of_gap(path, found.cut_short), stacklevel=2)
    return found.transmissions


def window_of(between: tuple[float, float]) -> tuple[int, int]:
    """An interval in seconds in nanoseconds.

    Raises:
        UserError: if it is none.
    """
    try:
        first, last = (float(end) for end in between)
    except (TypeError, ValueError):
        raise UserError(f"between: found {between!r}; needs two instants in seconds, as in (10, 12.5)") from None
    return nanoseconds("between", between, first, last)


def said_of_gap(path: str | os.PathLike[str], gap: str) -> str:
    """What is said of a log of which only the beginning could be read."""
    return f"{path}: {gap}; what is before it is read. For the rest, write the log again"


def read(path: Path, between: tuple[int, int] | None = None, most: int = MOST) -> FrameLog:
    """Reads a frame log; of an interval, in nanoseconds, what begins in it, with all next hops and places.

    Raises:
        UserError: if it cannot be read, is no frame log, or has more than `most` transmissions.
    """
    with _errors_of(path):
        head, tables, cut_short = _core.read_frames(path, between, most)
    return FrameLog(json.loads(head), {name: pd.DataFrame(columns) for name, columns in tables.items()}, cut_short)


@dataclass(frozen=True)
class Packed:
    """A frame log as the viewer reads it: bytes, description, where it is cut short, transmissions."""

    data: bytes
    head: dict[str, Any]
    cut_short: str | None
    transmissions: int


def packed(path: Path, between: tuple[int, int] | None = None, most: int = MOST) -> Packed:
    """Packs a log, or an interval of it, for the viewer.

    Raises:
        UserError: as `read`.
    """
    with _errors_of(path):
        data, head, cut_short, transmissions = _core.pack_frames(path, between, most)
    return Packed(data, json.loads(head), cut_short, transmissions)


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """What is wrong with a log is reported with its path."""
    try:
        if not path.exists():
            raise UserError(f"{path}: no such file; name a frame log")
        if not path.is_dir():
            raise UserError(f"{path}: this is no frame log: a frame log is a folder of Parquet files{_of_old(path)}")
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"{path}: {reason}") from error


def _of_old(path: Path) -> str:
    """What would do instead of a log of multihop 0.1, a file."""
    try:
        with path.open("rb") as file:
            is_old = file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return ""
    return "; this one is of an earlier version: write it again" if is_old else ""


def is_log(path: Path) -> bool:
    """Whether a path is that of a frame log, or of a file that was one in an earlier version."""
    return (path / FRAMES_MARK).exists() or (path.is_file() and bool(_of_old(path)))


def _named(indices: pd.Series[int], names: list[str]) -> pd.Series[Any]:
    known = np.array([*names, None], dtype=object)
    return pd.Series(known[indices.to_numpy()], index=indices.index, dtype=object)
