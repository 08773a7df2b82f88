"""Where a scenario comes from: a path, TOML text, or a dictionary. Its meaning is known to the engine alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from multihop import _core
from multihop.errors import UserError

ScenarioLike = str | Path | Mapping[str, Any]

# A scenario is written by hand or imported; the largest real mesh imported so far is 300 kB.
MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Scenario:
    """TOML text and a name for it in messages."""

    text: str
    origin: str

    def check(self, overrides: Mapping[str, Any] | None = None) -> _core.ScenarioView:
        """Resolves it without running.

        Raises:
            ScenarioError: naming file, line, key, what was found and what would do.
        """
        return _core.check(self.text, self.origin, dict(overrides or {}))


def load(source: ScenarioLike) -> Scenario:
    """Reads a scenario.

    A `str` is TOML text if it contains a line break or an equals sign, otherwise a path.

    Raises:
        UserError: if the file cannot be read as text.
    """
    if isinstance(source, Mapping):
        try:
            return Scenario(tomli_w.dumps(source), "<dict>")
        except TypeError as error:
            raise UserError(f"<dict>: this scenario cannot be written as TOML: {error}") from error
    if isinstance(source, str) and ("\n" in source or "=" in source):
        return Scenario(source, "<text>")
    return Scenario(read_text(Path(source), "a scenario (TOML)"), str(source))


def read_text(path: Path, what: str) -> str:
    """Reads a text file that a user named.

    Raises:
        UserError: if it is absent, a directory, unreadable, too large or not UTF-8.
    """
    if path.is_dir():
        raise UserError(f"{path}: this is a directory; name {what}")
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise UserError(
                f"{path}: {size / 1e6:.0f} MB is too large for {what}; the limit is {MAX_BYTES // 1_000_000} MB"
            )
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; name {what}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text (byte {error.start}); expected {what}") from error
    except (OSError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"{path}: cannot be read: {reason}") from error
