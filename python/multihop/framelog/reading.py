"""Reader of frame logs. The core defines the tables and columns."""

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

#: First bytes of a frame log of multihop 0.1.
_MAGIC = b"mhframes"
#: Maximum number of transmissions in a table, which need about 2 GB of memory.
MAX_TRANSMISSIONS = 10_000_000


@dataclass(frozen=True)
class FrameLog:
    """Frame log.

    Attributes:
        head: description of the log.
        tables: tables with the columns of the files.
        cut_short: reason why the log is incomplete, or None.
    """

    head: dict[str, Any]
    tables: dict[str, pd.DataFrame]
    cut_short: str | None

    @property
    def transmissions(self) -> pd.DataFrame:
        """Returns one row per transmission, with names in place of indices and codes.

        Times are integers in nanoseconds. A missing number is -1, a missing name None.
        """
        return self.in_words(self.tables["transmissions"])

    def in_words(self, table: pd.DataFrame) -> pd.DataFrame:
        """Returns a table with names in place of indices and codes."""
        _, enumerations = _core.frame_layout()
        units = {column["name"]: column["unit"] for described in self.head["tables"] for column in described["columns"]}
        names = {
            **enumerations,
            "node": [node["name"] for node in self.head["nodes"]],
            "flow": [flow["name"] for flow in self.head["flows"]],
        }
        named = {column: names[units[column]] for column in table.columns if units[column] in names}
        return table.assign(**{column: _with_names(table[column], known) for column, known in named.items()})


def frames(path: str | os.PathLike[str], between: tuple[float, float] | None = None) -> pd.DataFrame:
    """Returns the transmissions of a frame log, one row each: see `FrameLog.transmissions`.

    A log that is cut short causes a warning that names its end.

    Args:
        path: folder that `run --frames` wrote.
        between: interval in seconds; only transmissions that begin in it are returned.

    Raises:
        UserError: if the folder cannot be read, is not a frame log, or has more than ten million
            transmissions in the interval; or if `between` is no interval.
    """
    window = None if between is None else window_of(between)
    found = read(Path(path), window)
    if found.cut_short:
        warnings.warn(gap_message(path, found.cut_short), stacklevel=2)
    return found.transmissions


def window_of(between: tuple[float, float]) -> tuple[int, int]:
    """Converts an interval in seconds to nanoseconds.

    Raises:
        UserError: if `between` is no interval.
    """
    try:
        first, last = (float(end) for end in between)
    except (TypeError, ValueError):
        raise UserError(f"between: found {between!r}; needs two times in seconds, as in (10, 12.5)") from None
    return nanoseconds("between", between, first, last)


def gap_message(path: str | os.PathLike[str], gap: str) -> str:
    """Returns the message about a log of which only the beginning could be read."""
    return f"{path}: {gap}; only the part before this is read. To obtain the rest, write the log again"


def read(path: Path, between: tuple[int, int] | None = None, limit: int = MAX_TRANSMISSIONS) -> FrameLog:
    """Reads a frame log.

    Args:
        path: folder of the log.
        between: interval in nanoseconds; only rows that begin in it are read, and all routes and places.
        limit: maximum number of transmissions.

    Raises:
        UserError: if the folder cannot be read, is not a frame log, or has more than `limit` transmissions.
    """
    with _as_user_errors(path):
        head, tables, cut_short = _core.read_frames(path, between, limit)
    return FrameLog(json.loads(head), {name: pd.DataFrame(columns) for name, columns in tables.items()}, cut_short)


@dataclass(frozen=True)
class Packed:
    """Frame log in the format of the viewer.

    Attributes:
        data: packed log.
        head: description of the log.
        cut_short: reason why the log is incomplete, or None.
        transmissions: number of transmissions.
    """

    data: bytes
    head: dict[str, Any]
    cut_short: str | None
    transmissions: int


def packed(path: Path, between: tuple[int, int] | None = None, limit: int = MAX_TRANSMISSIONS) -> Packed:
    """Packs a log, or an interval of it, for the viewer; arguments as for `read`.

    Raises:
        UserError: as `read`.
    """
    with _as_user_errors(path):
        data, head, cut_short, transmissions = _core.pack_frames(path, between, limit)
    return Packed(data, json.loads(head), cut_short, transmissions)


@contextmanager
def _as_user_errors(path: Path) -> Iterator[None]:
    """Raises errors of reading a log as `UserError` with the path of the log."""
    try:
        if not path.exists():
            raise UserError(f"{path}: no such file; name a frame log")
        if not path.is_dir():
            raise UserError(f"{path}: not a frame log: needs a folder of Parquet files{_version_remedy(path)}")
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"{path}: {reason}") from error


def _version_remedy(path: Path) -> str:
    """Returns the remedy for a log of multihop 0.1, which is a file; empty for other files."""
    try:
        with path.open("rb") as file:
            is_old = file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return ""
    return "; this file is a log of multihop 0.1: write it again" if is_old else ""


def is_log(path: Path) -> bool:
    """Whether a path is a frame log, or a frame log of multihop 0.1, which was a file."""
    return (path / FRAMES_MARK).exists() or (path.is_file() and bool(_version_remedy(path)))


def _with_names(indices: pd.Series[int], names: list[str]) -> pd.Series[Any]:
    """Returns the names of indices; None for -1."""
    known = np.array([*names, None], dtype=object)
    return pd.Series(known[indices.to_numpy()], index=indices.index, dtype=object)
