"""Errors that a user can correct."""

from __future__ import annotations

from collections.abc import Iterable

from multihop import _core


class UserError(ValueError):
    """Request that cannot be carried out; the message says why and what is needed.

    Attributes:
        setting: key path or option that the message is about, as in a `ScenarioError`.
    """

    def __init__(self, message: str, *, setting: str | None = None) -> None:
        super().__init__(message)
        self.setting = setting


class OutputError(UserError):
    """Output that cannot be written: the disk is full or broken."""


class Interrupted(Exception):  # noqa: N818 - no error, since the user asked for it
    """Work stopped by an interrupt; the message names the files that were kept and how to resume."""


def instead_of(name: str, known: Iterable[str]) -> str:
    """Returns the remedy for an unknown name: the nearest known name as a question, and all known names."""
    return _core.instead_of(name, list(known))
