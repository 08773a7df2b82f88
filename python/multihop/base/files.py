"""Files that are written whole: under another name, and then moved into place."""

from __future__ import annotations

import errno
import os
import re
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from multihop.base.errors import OutputError, UserError

_PART = re.compile(r"^\..*\.(?P<host>[^.]*)\.(?P<pid>\d+)\.part$")

#: No file takes so long to write: what is older was left by a process of another machine.
_LEFT_OVER_AFTER_S = 24 * 3600.0

# The place is right, but the disk is not: another name would not help.
_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG}


#: Number of this process outside of its namespace of processes; none if it has no namespace of its own.
_number_outside: int | None = None

#: Directories that were made to write into, the outer ones first.
_made: list[Path] = []


def in_namespace(number_outside: int) -> None:
    """Names files in the making by this number, as in namespaces of processes many have the same."""
    global _number_outside
    _number_outside = number_outside


def remove_empty_directories() -> None:
    """Removes those directories that this process made and wrote nothing into: a command failed before."""
    while _made:
        with suppress(OSError):  # one that is not empty stays
            _made.pop().rmdir()


def require_writable_directory(directory: Path) -> None:
    """Makes the directory if needed and proves that a file can be written there.

    Raises:
        UserError: if not.
    """
    try:
        missing = [place for place in (directory, *directory.parents) if not place.exists()]
        directory.mkdir(parents=True, exist_ok=True)
        _made.extend(reversed(missing))
        with tempfile.TemporaryFile(dir=directory):
            pass
    except (FileExistsError, NotADirectoryError) as error:
        raise UserError(f"{directory}: cannot be a directory, a file is in the way; name another place") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"{directory}: cannot be written: {reason}; name another place") from error


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
    if source is not None and same_file(path, source):
        raise UserError(f"{path}: this is the file that is read, which would be lost; name another place")
    require_writable_directory(path.parent)
    if read_only:
        raise UserError(f"{path}: cannot be written: it is read-only; name another place")


def write_text(path: Path, text: str, source: Path | None = None) -> Path:
    """Writes a whole file and then moves it into place; never over `source`, which it is made from."""
    require_writable_file(path, source)
    replace_file(path, lambda part: part.write_text(text, encoding="utf-8"))
    return path


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
    return path.with_name(f".{path.name}.{_host()}.{_number_outside or os.getpid()}.part")


def is_part(name: str) -> bool:
    """Whether this is the name of a file in the making."""
    return _PART.match(name) is not None


def clear_left_overs(folder: Path, pattern: str) -> None:
    """Removes files in the making whose process is gone, as far as that can be known and done."""
    for part in folder.glob(pattern):
        with suppress(OSError):
            if _is_left_over(part):
                part.unlink()


def same_file(a: Path, b: Path) -> bool:
    """Whether two paths are of one file that is there."""
    try:
        return a.samefile(b)
    except (OSError, ValueError):
        return False


def _is_left_over(part: Path) -> bool:
    match = _PART.match(part.name)
    if match is None:
        return False
    if match["host"] != _host() or _number_outside is not None:
        # Clocks may be set, and of processes of another machine, or outside, nothing else is known.
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
