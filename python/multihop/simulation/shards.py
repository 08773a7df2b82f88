"""Append-only files of keyed contents, one per process that writes to a folder, so that no process waits.

A shard is a sequence of entries. Each entry has a head (mark, key, length and check sum) and a content. A
process that is killed may leave an incomplete entry at the end of its shard, which is ignored. An entry with
a wrong check sum is skipped, up to the next valid entry.
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

#: Begin of every entry. The first byte is no text, and a copy that converts line ends damages the others.
_MARK = b"\x89run\r\n\x1a\n"

#: Head of an entry: mark, key, length of the content, and CRC-32 of these and of the content.
_HEAD = struct.Struct(">8s32sII")
_SUMMED = _HEAD.size - 4

#: Bytes per read in the search for the next mark.
_CHUNK = 1 << 20

#: Key of an entry that names a damaged place to skip; distinct from any SHA-256 key in practice.
_PASSED_OVER = bytes(32)


@dataclass(frozen=True)
class Place:
    """Place of a content or of damage: `length` bytes from `offset` on."""

    path: Path
    offset: int
    length: int

    def __str__(self) -> str:
        return f"{self.path}, byte {self.offset}"

    def read(self) -> bytes:
        """Reads the bytes of the place.

        Raises:
            OSError: if they cannot be read.
        """
        with self.path.open("rb") as file:
            file.seek(self.offset)
            return file.read(self.length)


class Shards:
    """Shards of a folder, to which this process adds its own with its first content.

    Attributes:
        places: place of each content, by key in hexadecimal.
        damaged: places that this process found damaged first.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._own: Path | None = None
        self._passed: set[bytes] = set()
        #: End of the last complete entry that was read of each shard.
        self._read_to: dict[Path, int] = {}
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
                if key is not None:
                    self._read_to[path] = place.offset + place.length
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

    def scan_new(self) -> None:
        """Reads what other processes have added since the last scan. Damage is left to `scan`.

        Raises:
            OSError: if a shard cannot be read.
        """
        for path in self.files():
            begin = self._read_to.get(path, 0)
            if path == self._own or path.stat().st_size <= begin:
                continue
            for key, place in _entries(path, begin):
                if key is None:
                    break
                self._read_to[path] = place.offset + place.length
                if key != _PASSED_OVER:
                    with self._lock:
                        self.places.setdefault(key.hex(), place)

    def is_passed_over(self, place: Place) -> bool:
        """Whether an earlier process recorded the place as damaged."""
        return _name_of(place) in self._passed

    def files(self) -> list[Path]:
        """Returns all shards, the oldest first."""
        return sorted(self._folder.glob("*.shard"))

    def append(self, key: str, content: bytes) -> None:
        """Adds a content; safe from any thread.

        Raises:
            OSError: if the disk is full or broken; the shard is then unchanged, or ends in an incomplete
                entry.
        """
        with self._lock:
            self.places[key] = self._append(bytes.fromhex(key), content)

    def pass_over(self, place: Place) -> None:
        """Records a place as damaged without changing its bytes; the record is lost if the disk is full."""
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
            # Ctrl-C may interrupt this at any point, too.
            with suppress(OSError):
                os.truncate(path, begin)
                if begin == 0:
                    self._own = None
                    path.unlink()
            raise
        return Place(path, begin + _HEAD.size, len(content))

    def _new_shard(self) -> Path:
        """Creates an empty shard with an unused number."""
        self._folder.mkdir(parents=True, exist_ok=True)
        there = [path.stem for path in self.files()]
        for number in count(1 + max((int(stem) for stem in there if stem.isdecimal()), default=0)):
            path = self._folder / f"{number:06}.shard"
            with suppress(FileExistsError):
                path.open("xb").close()
                return path
        raise AssertionError("numbers do not end")


def _name_of(place: Place) -> bytes:
    """Returns the name of a place in the record of damage: relative, since a folder may be moved."""
    return f"{place.path.name} {place.offset}".encode()


def _entries(path: Path, begin: int = 0) -> Iterator[tuple[bytes | None, Place]]:
    """Yields the key of each complete entry and the place of its content; no key for damaged bytes."""
    with path.open("rb") as file:
        size, at, damage = os.fstat(file.fileno()).st_size, begin, -1
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
    """Returns key and length of the entry at an offset, or `None` if no complete entry begins there."""
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
    """Returns the offset of the next mark, or the end of the file."""
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
    """Whether the rest of the file is an incomplete entry, of a killed process or one that is writing."""
    file.seek(at)
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return head[: len(_MARK)] == _MARK[: len(head)]
    mark, _, length, _ = _HEAD.unpack(head)
    return bool(mark == _MARK) and at + _HEAD.size + int(length) > size
