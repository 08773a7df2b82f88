"""Files that are written whole: under another name, and then moved into place.

Links are followed: the file that a link leads to is replaced, and the link stays. Devices and pipes are
written as they are.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import socket
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from multihop.base import signals
from multihop.base.errors import OutputError, UserError

_PART = re.compile(r"^\..*\.(?P<host>[^.]*)\.(?P<pid>\d+)\.part$")

#: No file takes so long to write: what is older was left by a process of another machine.
_LEFT_OVER_AFTER_S = 24 * 3600.0

# The place is right, but the disk is not: another name would not help.
_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG}


#: Number of this process outside of its namespace of processes; none if it has no namespace of its own.
_number_outside: int | None = None

#: A longer name of a file is cut in the name of its part, which has more in it than the file's.
_LONGEST_NAME = 40

#: Links that lead from one to the next, as many as Linux follows.
_MOST_LINKS = 40

#: Names of files that a message lists.
_MOST_NAMES = 3

#: Directories that were made to write into, the outer ones first.
_made: list[Path] = []


def in_namespace(number_outside: int) -> None:
    """Names files in the making by this number, as in namespaces of processes many have the same."""
    global _number_outside
    _number_outside = number_outside


#: Files that are whole under their names, in the order in which they were written.
_written: list[Path] = []

#: Files in the making, and those of which the making was given up.
_parts: set[Path] = set()


def _say_nothing(_: str) -> None:
    pass


#: Says what a command waits for.
_announce: Callable[[str], object] = _say_nothing


def announce_waiting(say: Callable[[str], object]) -> None:
    """Has `say` told what a command waits for, such as the reader of a pipe."""
    global _announce
    _announce = say


def forget_written() -> None:
    """Begins anew what `what_is_written` and `new_directories` say, as a command begins."""
    _written.clear()
    _made.clear()


def what_is_written() -> str:
    """What this process has written so far, for a message about its early end."""
    # What begins with a dot is a mark of ours.
    files = [path for path in dict.fromkeys(_written) if not path.name.startswith(".")]
    if not files:
        return "nothing was written"
    names = ", ".join(map(str, files[:_MOST_NAMES]))
    if len(files) == 1:
        return f"1 file was written, and is whole: {names}; others may be missing"
    rest = f" and {len(files) - _MOST_NAMES} more" if len(files) > _MOST_NAMES else ""
    return f"{len(files)} files were written, each of them whole: {names}{rest}; others may be missing"


def remove_parts() -> None:
    """Removes files in the making of this process, which is about to end."""
    for part in list(_parts):
        with suppress(OSError):
            part.unlink(missing_ok=True)


signals.before_end(remove_parts)


def new_directories() -> list[Path]:
    """Directories that this process made on the way to its outputs; of nested ones the outermost.

    A directory beside a file of the same output, such as that of a report's figures, is part of the output.
    """
    outermost = [path for path in dict.fromkeys(_made) if not any(outer in path.parents for outer in _made)]
    folders = {path.absolute().parent for path in _written}
    return [path for path in outermost if path.absolute().parent not in folders]


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
        _require_no_dangling_link(directory)
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


def _require_no_dangling_link(directory: Path) -> None:
    for place in (directory, *directory.parents):
        if place.is_symlink() and not place.exists():
            there = f"{place}: a link that leads nowhere, to {place.readlink()}"
            raise UserError(f"{there}; make that directory, or name another place")


def require_writable_file(path: Path, source: Path | None = None) -> None:
    """Proves that a file can be written at `path`, making its directory if needed.

    `source` is the file that the output is made from, which it must not replace.

    Raises:
        UserError: if not.
    """
    if source is not None and same_file(path, source):
        raise UserError(f"{path}: this is the file that is read, which would be lost; name another place")
    target = _target(path)
    try:
        mode = target.stat().st_mode if os.path.lexists(target) else 0
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error
    if stat.S_ISDIR(mode):
        raise UserError(f"{path}: this is a directory; name a file in it")
    if stat.S_ISBLK(mode):
        raise UserError(f"{path}: this is a disk, not a file; name a file")
    if mode and not os.access(target, os.W_OK):
        raise UserError(f"{path}: cannot be written: it is read-only; name another place")
    if is_stream(path):
        return
    if stat.S_ISSOCK(mode):
        raise UserError(f"{path}: this is a socket, not a file; name a file")
    try:
        require_writable_directory(target.parent)
    except UserError as error:
        if target.parent == path.parent or not path.is_symlink():
            raise
        raise UserError(f"{path}: leads to {target}; {error}") from error


def is_stream(path: Path) -> bool:
    """Whether this is a device, a pipe or an open file of this process, which cannot be read back."""
    if _descriptor(path) is not None:
        return True
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def write_text(path: Path, text: str, source: Path | None = None) -> Path:
    """Writes a whole file and then moves it into place; never over `source`, which it is made from."""
    with whole_file(path, source) as part:
        part.write_text(text, encoding="utf-8")
    return path


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Writes a file under another name and then moves it into place.

    Raises:
        OutputError: if the disk is full or broken.
        UserError: if the place cannot be written.
    """
    with _written_to(path) as part:
        write(part)


@contextmanager
def whole_file(path: Path, source: Path | None = None) -> Iterator[Path]:
    """The name under which a file is to be written that is then moved to `path`; never over `source`.

    A device or a pipe is written as it is.

    Raises:
        OutputError: if the disk is full or broken.
        UserError: if the place cannot be written.
    """
    require_writable_file(path, source)
    with _written_to(path) as part:
        yield part


@contextmanager
def moved_into_place(path: Path, *, is_output: bool = False) -> Iterator[Path]:
    """As `whole_file`, of a file that is none but ours; what cannot be written is an `OSError`.

    An output is one that `what_is_written` names.
    """
    target = _target(path)
    clear_left_overs(target.parent, f".{escape(_in_part(target.name))}.*.part")
    part = part_of(target)
    _parts.add(part)
    moving = False
    try:
        yield part
        with suppress(OSError):  # a file that others may not read stays so
            shutil.copymode(target, part)
        moving = True
        part.replace(target)
    finally:
        # An interrupt may come right behind the move.
        if moving and not os.path.lexists(part):
            _parts.discard(part)
            if is_output:
                _written.append(path)
        with suppress(OSError):
            part.unlink(missing_ok=True)


def part_of(path: Path) -> Path:
    """What a file is called while it is written: the name says by which process of which machine."""
    return path.with_name(f".{_in_part(path.name)}.{_host()}.{_number_outside or os.getpid()}.part")


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


def _in_part(name: str) -> str:
    """The name of a file in that of its part, for which a long one leaves no room."""
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[:_LONGEST_NAME]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"


def _target(path: Path) -> Path:
    """What a path leads to by links."""
    try:
        return Path(os.path.realpath(path)) if path.is_symlink() else path
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error


def _descriptor(path: Path) -> int | None:
    """The open file of this process that a path names, as /dev/stdout and /dev/fd/3 do."""
    for _ in range(_MOST_LINKS):
        try:
            folder = os.path.realpath(path.parent)
            if folder in {os.path.realpath("/proc/self/fd"), "/dev/fd"} and path.name.isdecimal():
                return int(path.name)
            if not path.is_symlink():
                return None
            path = path.parent / path.readlink()
        except (OSError, ValueError):
            return None
    return None


@contextmanager
def _held_open(path: Path) -> Iterator[None]:
    """Holds a device or a pipe open: who reads a pipe sees no end between two writers."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        # Ctrl-C ends the wait for the reader.
        _announce(f"{path}: waiting for a reader of this pipe")
        with path.open("wb"):
            yield
        return
    try:
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _written_to(path: Path) -> Iterator[Path]:
    """Where a file is written that is to be at `path`, with errors that name it."""
    part = path
    try:
        with _place(path) as part:
            yield part
    except OSError as error:
        # Of another file that was written or read meanwhile.
        if error.filename is not None and Path(os.fsdecode(error.filename)) not in {part, path, _target(path)}:
            raise
        raise _unwritable(path, error) from error


@contextmanager
def _place(path: Path) -> Iterator[Path]:
    """Where a file is written that is to be at `path`: beside it, or the device or pipe itself."""
    if not is_stream(path):
        with moved_into_place(path, is_output=True) as part:
            yield part
        return
    descriptor = _descriptor(path)
    if descriptor is not None and stat.S_ISREG(os.fstat(descriptor).st_mode):
        # Opened by its name, it would be written from its beginning, over what others have written.
        sys.stdout.flush()
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "output"
            yield copy
            with copy.open("rb") as source, os.fdopen(os.dup(descriptor), "wb") as out:
                shutil.copyfileobj(source, out)
    else:
        with _held_open(path):
            yield path
    _written.append(path)


def _unwritable(path: Path, error: OSError | ValueError) -> UserError:
    if not isinstance(error, OSError):
        return UserError(f"{path}: cannot be written: {error}; name another place")
    if error.errno in _DISK_ERRORS:
        # Arrow's errors carry a number, but words of their own.
        return OutputError(f"{path}: cannot be written: {os.strerror(error.errno)}")
    return UserError(f"{path}: cannot be written: {error.strerror or error}; name another place")
