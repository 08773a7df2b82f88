"""Errors that the person at the keyboard can do something about."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable


class UserError(ValueError):
    """What was asked for cannot be done; the message says why and what would do."""


class OutputError(UserError):
    """What was asked for makes sense, but its output cannot be written: the disk is full or broken."""


class Interrupted(Exception):  # noqa: N818 - not an error: the person at the keyboard wanted it
    """Work was interrupted; the message says what is kept and how to go on."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question with the known name that is nearest, if one is near: by letters, or with the name for a part of it."""
    known = list(known)
    close = [each for each in known if name.lower() in re.split("[-_]", each.lower())]
    # A part that many names share says little.
    close = sorted(close, key=len) if 0 < len(close) <= 2 else difflib.get_close_matches(name, known, 1)
    return f"did you mean {close[0]}? " if close else ""
