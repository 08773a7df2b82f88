"""Names of files that are made of other names: of schemes, nodes, figures, estimators."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable

#: A longer name is cut. With what is put behind it, a name of a file may have 255 bytes.
_MOST_BYTES = 150

#: What is as it is besides letters and digits.
_PLAIN = frozenset(" !#$&'()+,-.;=@[]^_`{}~")

#: Names of devices of Windows, whatever follows the first dot.
_DEVICES = frozenset({"CON", "PRN", "AUX", "NUL", *(f"{kind}{n}" for kind in ("COM", "LPT") for n in range(1, 10))})


def file_names(names: Iterable[str]) -> dict[str, str]:
    """A name of a file for each of these names, without an ending. No two are the same, in capitals or not.

    A name that can be that of a file is its own. In others, what cannot be there is written as in addresses
    of pages, `%2F` for a slash; long ones are cut. No name has a separator, is hidden, or leads out of its
    folder.
    """
    made = {name: _escaped(name) for name in names}
    # File systems may not tell apart capitals, or an accent from a letter that has it.
    times = Counter(_folded(file) for file in made.values())
    return {name: file if times[_folded(file)] == 1 else _cut(name, file) for name, file in made.items()}


def file_name(name: str) -> str:
    """The name of a file for a name that has no other beside it; see `file_names`."""
    return file_names([name])[name]


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _escaped(name: str) -> str:
    last = len(name) - 1
    is_device = name.partition(".")[0].rstrip().upper() in _DEVICES
    made = "".join(
        character
        if _is_plain(character) and not _acts(character, is_first=at == 0, is_last=at == last, is_device=is_device)
        else "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
        for at, character in enumerate(name)
    )
    if not made:
        return "%"
    return made if len(made.encode()) <= _MOST_BYTES else _cut(name, made)


def _is_plain(character: str) -> bool:
    return character in _PLAIN or character.isalnum()


def _acts(character: str, *, is_first: bool, is_last: bool, is_device: bool) -> bool:
    """Whether a character means something else where it is: a hidden file, an option, a device."""
    return (is_first and (is_device or character in ".-~ ")) or (is_last and character in ". ")


def _cut(name: str, made: str) -> str:
    # No escaped name has this sign before another one that is no digit.
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{made.encode()[: _MOST_BYTES - 20].decode(errors='ignore')}%-{digest}"
