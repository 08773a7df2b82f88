"""Errors that the person at the keyboard can do something about."""

from __future__ import annotations

from collections.abc import Iterable

from multihop import _core


class UserError(ValueError):
    """What was asked for cannot be done; the message says why and what would do.

    Attributes:
        setting: as of a `ScenarioError`, the key path that was set, or the name of the option.
    """

    def __init__(self, message: str, *, setting: str | None = None) -> None:
        super().__init__(message)
        self.setting = setting


class OutputError(UserError):
    """What was asked for makes sense, but its output cannot be written: the disk is full or broken."""


class Interrupted(Exception):  # noqa: N818 - not an error: the person at the keyboard wanted it
    """Work was interrupted; the message says what is kept and how to go on."""


def instead_of(name: str, known: Iterable[str]) -> str:
    """The engine's remedy for an unknown name: the nearest as a question, and the known names."""
    return _core.instead_of(name, list(known))
