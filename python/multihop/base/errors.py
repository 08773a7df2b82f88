"""Errors that the person at the keyboard can do something about."""

from __future__ import annotations

from collections.abc import Iterable

from multihop import _core


class UserError(ValueError):
    """What was asked for cannot be done; the message says why and what would do."""


class OutputError(UserError):
    """What was asked for makes sense, but its output cannot be written: the disk is full or broken."""


class Interrupted(Exception):  # noqa: N818 - not an error: the person at the keyboard wanted it
    """Work was interrupted; the message says what is kept and how to go on."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question with the known name that is nearest, if one is near, as the engine has it."""
    near = _core.nearest_name(name, list(known))
    return f"did you mean {near}? " if near is not None else ""
