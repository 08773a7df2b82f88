"""Contents by key in files that only grow, one per process that adds to a folder, so that none waits.

A shard is a sequence of entries, each a head (mark, key, length and check sum) and its content. What ends a
process in the middle of an entry leaves a beginning of it at the end of a shard, which counts for nothing. An
entry that no longer has its check sum is passed over, up to the next one that has.
"""

from __future__ import annotations

import os
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import BinaryIO

#: Begins every entry. The first byte is no text, and a copy that changes line ends changes the others.
_MARK = b"\x89run\r\n\x1a\n"

#: Mark, key, length of the content, CRC-32 of all before and of the content.
_HEAD = struct.Struct(">8s32sII")
_SUMMED = _HEAD.size - 4

#: How much is looked through at once for the next mark.
_CHUNK = 1 << 20

#: The key of an entry that says which place is passed over; no SHA-256 that anybody will see.
_PASSED_OVER = bytes(32)


@dataclass(frozen=True)
class Place:
    """Where a content is, or what is damaged: so many bytes from `offset` on."""

    path: Path
    offset: int
    length: int

    def __str__(self) -> str:
        return f"{self.path}, byte {self.offset}"

    def read(self) -> bytes:
        """What is there now.

        Raises:
            OSError: if it cannot be read.
        """
        with self.path.open("rb") as file:
            file.seek(self.offset)
            return file.read(self.length)


class Shards:
    """The shards of a folder, to which this process adds one of its own once it has something to add.

    Attributes:
        places: where each content is, by key in hexadecimal.
        damaged: places that were found damaged, and not by an earlier process.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._own: Path | None = None
        self._passed: set[bytes] = set()
        self.places: dict[str, Place] = {}
        self.damaged: list[Place] = []

    def scan(self) -> None:
        """Reads every shard.

        Raises:
            OSError: if one cannot be read.
        """
        passed: set[bytes] = set()
        found: list[tuple[str, Place]] = []
        damaged: list[Place] = []
        for path in self.files():
            for key, place in _entries(path):
                if key is None:
                    damaged.append(place)
                elif key == _PASSED_OVER:
                    passed.add(place.read())
                else:
                    found.append((key.hex(), place))
        self._passed = passed
        self.places = {key: place for key, place in found if not self.is_passed_over(place)}
        for place in damaged:
            if not self.is_passed_over(place):
                self.pass_over(place)

    def is_passed_over(self, place: Place) -> bool:
        """Whether an earlier process found the place damaged."""
        return _name_of(place) in self._passed

    def files(self) -> list[Path]:
        """All shards, the oldest first."""
        return sorted(self._folder.glob("*.shard"))

    def append(self, key: str, content: bytes) -> None:
        """Adds a content. Any thread may.

        Raises:
            OSError: if the disk is full or broken; then the shard is as it was, or ends in what counts for
                nothing.
        """
        with self._lock:
            self.places[key] = self._append(bytes.fromhex(key), content)

    def pass_over(self, place: Place) -> None:
        """From now on nothing is at this place, which is left as it is; as far as that can be kept."""
        self.damaged.append(place)
        with self._lock, suppress(OSError):
            self._append(_PASSED_OVER, _name_of(place))

    def _append(self, key: bytes, content: bytes) -> Place:
        path = self._own = self._own or self._new_shard()
        head = _HEAD.pack(_MARK, key, len(content), 0)[:_SUMMED]
        entry = head + zlib.crc32(content, zlib.crc32(head)).to_bytes(4, "big") + content
        begin = path.stat().st_size
        try:
            with path.open("ab", buffering=0) as file:
                left = memoryview(entry)
                while left:
                    left = left[file.write(left) :]
        except BaseException:
            # Ctrl-C may come at any point of this as well.
            with suppress(OSError):
                os.truncate(path, begin)
                if begin == 0:
                    self._own = None
                    path.unlink()
            raise
        return Place(path, begin + _HEAD.size, len(content))

    def _new_shard(self) -> Path:
        """An empty shard with a number that no other process has."""
        self._folder.mkdir(parents=True, exist_ok=True)
        there = [path.stem for path in self.files()]
        for number in count(1 + max((int(stem) for stem in there if stem.isdecimal()), default=0)):
            path = self._folder / f"{number:06}.shard"
            with suppress(FileExistsError):
                path.open("xb").close()
                return path
        raise AssertionError("numbers do not end")


def _name_of(place: Place) -> bytes:
    """A place as an entry says that it is passed over: a folder may be moved."""
    return f"{place.path.name} {place.offset}".encode()


def _entries(path: Path) -> Iterator[tuple[bytes | None, Place]]:
    """Each whole entry of a shard: its key, and the place of its content; no key for what is damaged."""
    with path.open("rb") as file:
        size, at, damage = os.fstat(file.fileno()).st_size, 0, -1
        while at < size:
            found = _entry(file, at, size)
            if found is None:
                damage = at if damage < 0 else damage
                at = _next_mark(file, at + 1, size)
                continue
            if damage >= 0:
                yield None, Place(path, damage, at - damage)
                damage = -1
            key, length = found
            yield key, Place(path, at + _HEAD.size, length)
            at += _HEAD.size + length
        if damage >= 0 and not _is_begun(file, damage, size):
            yield None, Place(path, damage, size - damage)


def _entry(file: BinaryIO, at: int, size: int) -> tuple[bytes, int] | None:
    """Key and length of the entry that begins there, if one does, and is whole."""
    file.seek(at)
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    mark, key, length, check = _HEAD.unpack(head)
    if mark != _MARK or at + _HEAD.size + length > size:
        return None
    content = file.read(length)
    if len(content) < length or zlib.crc32(content, zlib.crc32(head[:_SUMMED])) != check:
        return None
    return key, length


def _next_mark(file: BinaryIO, at: int, size: int) -> int:
    """Where the next mark is, or the end."""
    while at < size:
        file.seek(at)
        chunk = file.read(_CHUNK)
        found = chunk.find(_MARK)
        if found >= 0:
            return at + found
        if len(chunk) < _CHUNK:
            return size
        at += len(chunk) - len(_MARK) + 1
    return size


def _is_begun(file: BinaryIO, at: int, size: int) -> bool:
    """Whether the rest of the file begins an entry, whose process was killed or is writing it."""
    file.seek(at)
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return head[: len(_MARK)] == _MARK[: len(head)]
    mark, _, length, _ = _HEAD.unpack(head)
    return bool(mark == _MARK) and at + _HEAD.size + int(length) > size
