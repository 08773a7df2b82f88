"""File names made from names of schemes, nodes, figures and estimators."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable

#: Bytes after which a name is cut, so that with its ending a file name stays below 255 bytes.
_MOST_BYTES = 150

#: Characters besides letters and digits that file names keep.
_PLAIN = frozenset(" !#$&'()+,-.;=@[]^_`{}~")

#: Device names of Windows, which are reserved with any ending.
_DEVICES = frozenset({"CON", "PRN", "AUX", "NUL", *(f"{kind}{n}" for kind in ("COM", "LPT") for n in range(1, 10))})


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Returns a distinct file name without ending for each name, also on file systems that ignore case.

    A valid file name stays unchanged. In other names invalid characters are percent-encoded, as in `%2F` for
    a slash, and long names are cut. No file name has a separator, is hidden, or leads out of its folder.
    """
    made = {name: _escaped(name) for name in names}
    # File systems may ignore case, or treat combined and separate accents as equal.
    times = Counter(_folded(file) for file in made.values())
    return {name: file if times[_folded(file)] == 1 else _cut(name, file) for name, file in made.items()}


def file_name(name: str) -> str:
    """Returns the file name of a single name; see `file_names`."""
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
    """Whether a character has a special meaning at its place: a hidden file, an option, a device."""
    return (is_first and (is_device or character in ".-~ ")) or (is_last and character in ". ")


def _cut(name: str, made: str) -> str:
    # No percent-encoded name has this sign before a character that is no digit.
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{made.encode()[: _MOST_BYTES - 20].decode(errors='ignore')}%-{digest}"
