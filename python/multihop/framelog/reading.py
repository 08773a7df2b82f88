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
from multihop.simulation.logs import nanoseconds
from multihop.simulation.scenario import read_bytes

#: How a frame log begins.
_MAGIC = b"mhframes"
#: A table has no more transmissions than these: some 2 GB of memory.
MOST = 10_000_000
#: A larger file is not read: a transmission takes less than three bytes.
_MOST_BYTES = 2_000_000_000


@dataclass(frozen=True)
class FrameLog:
    """A frame log: description, tables as the file has them, and from which block on it is cut short."""

    head: dict[str, Any]
    tables: dict[str, pd.DataFrame]
    cut_short: str | None

    @property
    def transmissions(self) -> pd.DataFrame:
        """A row per transmission, with the columns of its sort, and words for numbers that stand for one.

        Times are in nanoseconds, as integers. Missing are -1 among numbers and None among names.
        """
        sorts = self.tables["sorts"].iloc[self.tables["transmissions"]["sort"]].reset_index(drop=True)
        rest = self.tables["transmissions"].drop(columns="sort")
        return self.in_words(pd.concat([rest["start"], sorts, rest.drop(columns="start")], axis=1))

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
        path: a file that `run --frames` wrote.
        between: only what begins between these instants, in seconds.

    Raises:
        UserError: if it cannot be read, is no frame log, or has more than ten million transmissions in the
            interval; or if that is none.

    Of a file that is cut short a warning says where it ends.
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
        return decode(read_log(path), between, most)


@dataclass(frozen=True)
class Checked:
    """Description of a readable log, from which block on it is missing, and its number of transmissions."""

    head: dict[str, Any]
    cut_short: str | None
    transmissions: int


def checked(path: Path, between: tuple[int, int] | None = None, most: int = MOST) -> Checked:
    """Reads a log, or an interval of it, without the memory that tables take.

    Raises:
        UserError: as `read`.
    """
    with _errors_of(path):
        head, cut_short, transmissions = _core.check_frames(read_log(path), between, most)
    return Checked(json.loads(head), cut_short, transmissions)


def read_log(path: Path) -> bytes:
    """The bytes of a frame log.

    Raises:
        UserError: if it cannot be read, or is a device, or larger than any log.
    """
    return read_bytes(path, "a frame log", _MOST_BYTES)


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """What is wrong with a log is reported with its path."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error
    except _core.CaptureError as error:
        raise UserError(f"{path}: {error}") from error


def begins_as_log(path: Path) -> bool:
    """Does a file begin as a frame log, or can it not be read at all?"""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return True


def decode(data: bytes, between: tuple[int, int] | None = None, most: int = MOST) -> FrameLog:
    """The frame log in these bytes, as `read`; a `CaptureError` of the core says why there is none."""
    head, tables, cut_short = _core.read_frames(data, between, most)
    return FrameLog(json.loads(head), {name: pd.DataFrame(columns) for name, columns in tables.items()}, cut_short)


def cut(data: bytes, between: tuple[int, int] | None) -> bytes:
    """A frame log of what begins in an interval of nanoseconds, with all next hops and places."""
    return data if between is None else _core.cut_frames(data, between)


def _named(indices: pd.Series[int], names: list[str]) -> pd.Series[Any]:
    known = np.array([*names, None], dtype=object)
    return pd.Series(known[indices.to_numpy()], index=indices.index, dtype=object)
