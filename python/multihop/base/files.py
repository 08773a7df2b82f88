"""Atomic file writing: a file is written under a temporary name, and then moved into place.

Links are followed: the link stays, and its target is replaced. Devices and pipes are written directly.
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
from contextlib import AbstractContextManager, contextmanager, suppress
from glob import escape
from pathlib import Path

from multihop.base import signals
from multihop.base.errors import OutputError, UserError

_PART = re.compile(r"^\..*\.(?P<host>[^.]*)\.(?P<pid>\d+)\.part$")

#: Age after which a temporary file of another machine is a left-over, since no file takes so long to write.
_LEFT_OVER_AFTER_S = 24 * 3600.0

# Errors of the disk, for which another path would not help.
_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG}


#: Process number outside the process namespace; `None` without a namespace of its own.
_number_outside: int | None = None

#: Most characters of a file's name within the name of its temporary file.
_LONGEST_NAME = 40

#: Most symbolic links in a chain, as in Linux.
_MOST_LINKS = 40

#: Most file names in a message.
_MOST_NAMES = 3

#: Directories that this process created, outer ones first.
_made: list[Path] = []


def in_namespace(number_outside: int) -> None:
    """Names temporary files by this process number, since numbers repeat across process namespaces."""
    global _number_outside
    _number_outside = number_outside


#: Files that were written completely, in that order.
_written: list[Path] = []

#: Temporary files of this process, finished or abandoned.
_parts: set[Path] = set()


def _say_nothing(_: str) -> None:
    pass


#: Receives messages about what a command waits for.
_announce: Callable[[str], object] = _say_nothing


def announce_waiting(say: Callable[[str], object]) -> None:
    """Sends messages about what a command waits for, such as the reader of a pipe, to `say`."""
    global _announce
    _announce = say


def forget_written() -> None:
    """Clears the lists behind `what_is_written` and `new_directories` at the start of a command."""
    _written.clear()
    _made.clear()


def what_is_written() -> str:
    """Returns a clause that lists the files written so far, for a message about an early exit."""
    # Names that begin with a dot are marks of multihop.
    files = [path for path in dict.fromkeys(_written) if not path.name.startswith(".")]
    if not files:
        return "nothing was written"
    names = ", ".join(map(str, files[:_MOST_NAMES]))
    if len(files) == 1:
        return f"1 complete file was written: {names}; others may be missing"
    rest = f" and {len(files) - _MOST_NAMES} more" if len(files) > _MOST_NAMES else ""
    return f"{len(files)} complete files were written: {names}{rest}; others may be missing"


def remove_parts() -> None:
    """Removes the temporary files of this process before it exits."""
    for part in list(_parts):
        with suppress(OSError):
            _remove(part)


signals.before_end(remove_parts)


def new_directories() -> list[Path]:
    """Returns the outermost directories that this process created for its outputs.

    A directory next to a file of the same output, such as that of a report's figures, is part of that output.
    """
    outermost = [path for path in dict.fromkeys(_made) if not any(outer in path.parents for outer in _made)]
    folders = {path.absolute().parent for path in _written}
    return [path for path in outermost if path.absolute().parent not in folders]


def remove_empty_directories() -> None:
    """Removes the empty directories that this process created, after a command failed."""
    while _made:
        with suppress(OSError):  # a directory that is not empty stays
            _made.pop().rmdir()


def require_writable_directory(directory: Path) -> None:
    """Creates the directory if needed, and checks that a file can be written there.

    Raises:
        UserError: if the directory cannot be created or written.
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
            there = f"{place}: this symbolic link leads to {place.readlink()}, which does not exist"
            raise UserError(f"{there}; make that directory, or name another place")


def require_writable_file(path: Path, source: Path | None = None) -> None:
    """Checks that a file can be written at `path`, and creates its directory if needed.

    Args:
        path: file to write.
        source: input file, which the output must not replace.

    Raises:
        UserError: if the file cannot be written.
    """
    if source is not None and same_file(path, source):
        raise UserError(f"{path}: this is the input file, which would be lost; name another place")
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
    """Whether a path is a device, a pipe or an open file of this process, which cannot be read back."""
    if _descriptor(path) is not None:
        return True
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def write_text(path: Path, text: str, source: Path | None = None) -> Path:
    """Writes a text file atomically; never over `source`, the input file."""
    with whole_file(path, source) as part:
        part.write_text(text, encoding="utf-8")
    return path


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Calls `write` with a temporary name, and then moves that file into place.

    Raises:
        OutputError: if the disk is full or broken.
        UserError: if the place cannot be written.
    """
    with _written_to(path, _place) as part:
        write(part)


@contextmanager
def whole_file(path: Path, source: Path | None = None) -> Iterator[Path]:
    """Yields a temporary name of a file that is moved to `path` at the end; never over `source`.

    Devices and pipes are written directly.

    Raises:
        OutputError: if the disk is full or broken.
        UserError: if the place cannot be written.
    """
    require_writable_file(path, source)
    with _written_to(path, _place) as part:
        yield part


@contextmanager
def whole_folder(path: Path, mark: str, source: Path | None = None) -> Iterator[Path]:
    """Yields a temporary folder to write files to, then moves it to `path`.

    Replaces only a folder that has a file named `mark`, and never `source`.

    Raises:
        OutputError: if the disk is full or broken.
        UserError: if the place cannot be written.
    """
    require_writable_folder(path, mark, source)
    with _written_to(path, _place_of_folder) as part:
        yield part


def require_writable_folder(path: Path, mark: str, source: Path | None = None) -> None:
    """Proves that a folder of files can be written at `path`, as `whole_folder` does.

    Raises:
        UserError: if not.
    """
    if source is not None and same_file(path, source):
        raise UserError(f"{path}: this is the file that is read, which would be lost; name another place")
    if path.name in {"", ".."}:
        raise UserError(f"{path}: names no folder of its own; name one in it, such as {path / 'run.frames'}")
    target = _target(path)
    try:
        is_there, is_folder = os.path.lexists(target), target.is_dir()
        is_other = is_folder and not (target / mark).exists() and any(target.iterdir())
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error
    if is_there and not is_folder:
        raise UserError(f"{path}: is there, and is no folder; a frame log is a folder: name another place")
    if is_other:
        raise UserError(f"{path}: is there, and is no frame log; name another place")
    require_writable_directory(target.parent)


@contextmanager
def moved_into_place(path: Path, *, is_output: bool = False, is_folder: bool = False) -> Iterator[Path]:
    """Yields a temporary name of a file or folder of multihop's own, then moves it to `path`.

    With `is_output`, the file is listed by `what_is_written`.
    """
    target = _target(path)
    clear_left_overs(target.parent, f".{escape(_in_part(target.name))}.*.part")
    part = part_of(target)
    _parts.add(part)
    moving = False
    replaced = part.with_name(part.name.replace(f".{_host()}.", f".replaced.{_host()}."))
    try:
        if is_folder:
            part.mkdir()
        yield part
        with suppress(OSError):  # keep the mode of a file that others may not read
            shutil.copymode(target, part)
        if is_folder and target.is_dir():
            _parts.add(replaced)
            target.replace(replaced)
        moving = True
        part.replace(target)
    finally:
        # An interrupt may arrive directly after the move.
        if moving and not os.path.lexists(part):
            _parts.discard(part)
            if is_output:
                _written.append(path)
        for rest in (part, replaced):
            with suppress(OSError):
                _remove(rest)


def part_of(path: Path) -> Path:
    """Returns the temporary name of a file, which includes the machine and the process that writes it."""
    return path.with_name(f".{_in_part(path.name)}.{_host()}.{_number_outside or os.getpid()}.part")


def is_part(name: str) -> bool:
    """Whether a name is that of a temporary file."""
    return _PART.match(name) is not None


def clear_left_overs(folder: Path, pattern: str) -> None:
    """Removes temporary files of processes that have ended, as far as that can be determined."""
    for part in folder.glob(pattern):
        with suppress(OSError):
            if _is_left_over(part):
                _remove(part)


def same_file(a: Path, b: Path) -> bool:
    """Whether two paths are the same existing file."""
    try:
        return a.samefile(b)
    except (OSError, ValueError):
        return False


def _remove(part: Path) -> None:
    """Removes a file, or a folder with all that is in it; nothing if there is none."""
    if part.is_dir() and not part.is_symlink():
        shutil.rmtree(part)
    else:
        part.unlink(missing_ok=True)


def _is_left_over(part: Path) -> bool:
    match = _PART.match(part.name)
    if match is None:
        return False
    if match["host"] != _host() or _number_outside is not None:
        # For processes of another machine or outside the namespace, only the age of the file is known.
        return time.time() - part.stat().st_mtime > _LEFT_OVER_AFTER_S
    try:
        os.kill(int(match["pid"]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    return False


def _host() -> str:
    return socket.gethostname().replace(".", "-")


def _in_part(name: str) -> str:
    """Returns the file's name as part of its temporary name, shortened and hashed if it is long."""
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[:_LONGEST_NAME]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"


def _target(path: Path) -> Path:
    """Returns the path that links lead to."""
    try:
        return Path(os.path.realpath(path)) if path.is_symlink() else path
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error


def _descriptor(path: Path) -> int | None:
    """Returns the number of the open file that a path names, such as /dev/stdout or /dev/fd/3."""
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
    """Keeps a device or a pipe open, so that the reader of a pipe sees no end of file between two writers."""
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
def _written_to(path: Path, place: Callable[[Path], AbstractContextManager[Path]]) -> Iterator[Path]:
    """Yields the place to write the content of `path` to. Errors of writing name `path`."""
    part = path
    try:
        with place(path) as part:
            yield part
    except OSError as error:
        # The error is about another file.
        named = None if error.filename is None else Path(os.fsdecode(error.filename))
        if named is not None and named not in {part, path, _target(path)} and named.parent != part:
            raise
        raise _unwritable(path, error) from error


def _place_of_folder(path: Path) -> AbstractContextManager[Path]:
    return moved_into_place(path, is_output=True, is_folder=True)


@contextmanager
def _place(path: Path) -> Iterator[Path]:
    """Yields the place to write the content of `path` to: a temporary file, or the device or pipe itself."""
    if not is_stream(path):
        with moved_into_place(path, is_output=True) as part:
            yield part
        return
    descriptor = _descriptor(path)
    if descriptor is not None and stat.S_ISREG(os.fstat(descriptor).st_mode):
        # Opening the descriptor by its name would overwrite the file from its beginning.
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
        # Arrow's errors have the number of the system error, but a different text.
        return OutputError(f"{path}: cannot be written: {os.strerror(error.errno)}")
    return UserError(f"{path}: cannot be written: {error.strerror or error}; name another place")
