"""Where a scenario comes from: a path, TOML text or a dictionary. Only the engine knows its meaning."""

from __future__ import annotations

import json
import math
import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any

import tomli_w

from multihop import _core
from multihop.base.errors import UserError

ScenarioLike = str | Path | Mapping[str, Any]

#: A time: text with a unit, or seconds.
TimeLike = str | float | timedelta

# A scenario is written by hand or imported; the largest real one so far is 300 kB.
MAX_BYTES = 16_000_000

#: Messages of mistakes that are given at once.
_MOST_MISTAKES = 5

#: A table that studies have, and scenarios have not.
_FACTORS = re.compile(r"^\s*\[factors[].]", re.MULTILINE)


@dataclass(frozen=True)
class Scenario:
    """TOML text, a name for it in messages, and the file that it was read from, if any."""

    text: str
    origin: str
    file: Path | None = None

    def check(self, overrides: Mapping[str, Any] | None = None) -> _core.ScenarioView:
        """Resolves it without running.

        Raises:
            ScenarioError: naming file, line, key, what was found and what would do.
            UserError: if the text or a replacement is not made of Unicode characters.
        """
        for what, text in {"scenario": self.text, **(overrides or {})}.items():
            _require_unicode(what if what != "scenario" else self.origin, text)
        replaced = for_core(overrides or {})
        try:
            return _core.check(self.text, self.origin, replaced)
        except _core.ScenarioError as error:
            for further in self._further_mistakes(error, replaced):
                error.add_note(further)
            raise

    def _further_mistakes(self, error: _core.ScenarioError, overrides: dict[str, Any]) -> list[str]:
        """Messages of mistakes in the text besides the first, at which the engine stops.

        The line of a mistake is blanked and the text is read again. Only keys and values that do not fit by
        themselves count: whether others fit each other cannot be known before.
        """
        said: list[str] = []
        text: str | None = self.text
        undecided: set[str] = set()
        while len(said) < _MOST_MISTAKES - 1 and error.is_parameter_error:
            if (error.found or "").startswith("unknown name"):
                # The name may decide which keys its table has.
                undecided.add(_table_of(error))
            text = _without_line(text or "", error)
            if text is None:
                break
            try:
                _core.check(text, self.origin, overrides)
                break
            except _core.ScenarioError as found:
                error = found
            if not error.is_parameter_error or error.found == "missing":
                break
            if _table_of(error) not in undecided:
                said.append(str(error))
        return said

    def capacity(self, overrides: Mapping[str, Any]) -> _core.CapacityView:
        """What its flows need of the channel, and which links share it; `check` has accepted overrides."""
        return _core.capacity(self.text, self.origin, for_core(overrides))


def _table_of(error: _core.ScenarioError) -> str:
    return (error.key or "").rpartition(".")[0]


def _without_line(text: str, error: _core.ScenarioError) -> str | None:
    """TOML text without the line of a mistake; none where this is not one key with its value."""
    if error.line is None or not error.key:
        return None
    lines = text.splitlines(keepends=True)
    parts = [re.escape(part) for part in re.findall(r"[^.\[\]\s\"]+", error.key)]
    if (
        not parts
        or error.line > len(lines)
        or not re.match(rf"""\s*["']?({"|".join(parts)})["']?\s*=""", lines[error.line - 1])
    ):
        return None
    lines[error.line - 1] = "\n"
    made = "".join(lines)
    try:
        tomllib.loads(made)
    except tomllib.TOMLDecodeError:
        return None
    return made


def load(source: ScenarioLike) -> Scenario:
    """Reads a scenario.

    A `str` is TOML text if it contains a line break or an equals sign, otherwise a path.

    Raises:
        UserError: if the file cannot be read as text.
    """
    if isinstance(source, Mapping):
        try:
            return Scenario(tomli_w.dumps(source), "<dict>")
        except (TypeError, ValueError, AttributeError) as error:
            raise UserError(f"<dict>: this scenario cannot be written as TOML: {error}") from error
        except RecursionError as error:
            raise UserError("<dict>: this scenario contains itself, or is nested too deeply") from error
    if isinstance(source, str) and ("\n" in source or "=" in source):
        return Scenario(source, "<text>")
    if not isinstance(source, str | Path):
        raise UserError(f"scenario: found {type(source).__name__}; needs a path, TOML text or a dictionary")
    path = Path(source)
    text, origin = read_text(path, "a scenario (TOML)"), text_of(str(source))
    if _FACTORS.search(text):
        raise UserError(f"{origin}: this is a study, not a scenario; run it: multihop study run {origin}")
    return Scenario(text, origin, path)


def text_of(name: str) -> str:
    """A name of a file, which may hold bytes that are not text, with these escaped."""
    return name.encode("utf-8", "backslashreplace").decode()


def settings(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Key paths with their new values, as plain TOML values.

    Raises:
        UserError: if this is no mapping of texts, or a value is none that TOML has.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(path, str) for path in given):
        raise UserError(f'set: found {given!r}; needs paths of keys with values, as in {{"topology.hops": 5}}')
    return {path: tomllib.loads(_document(path, value))["value"] for path, value in given.items()}


def time_text(name: str, value: object) -> str:
    """A time as scenarios have it: text as it is, a number as seconds.

    Raises:
        UserError: if it is neither, or below zero or infinite.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < math.inf:
        raise UserError(f'{name}: found {value!r}; needs seconds, or text with a unit, as in "60 s"')
    # Without an exponent, which commands that repeat the run would have to show as well.
    return f"{Decimal(float(value)).normalize() if float(value).is_integer() else Decimal(repr(float(value))):f} s"


def registered() -> dict[str, list[dict[str, Any]]]:
    """What scenarios can name, by the engine: kind -> entries, each with at least a name and a summary."""
    loaded: dict[str, list[dict[str, Any]]] = json.loads(_core.registry())
    return loaded


def schema() -> dict[str, Any]:
    """The JSON Schema of scenarios, as the engine has it."""
    loaded: dict[str, Any] = json.loads(_core.schema())
    return loaded


def for_core(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Overrides as the engine takes them: the values of `set` as TOML documents."""
    made = dict(overrides)
    if "set" in made:
        made["set"] = [(path, _document(path, value)) for path, value in made["set"].items()]
    return made


def inline_toml(value: Any) -> str:  # noqa: ANN401 - any TOML value
    """A TOML value on one line."""
    if isinstance(value, Mapping):
        pairs = (f"{tomli_w.dumps({key: 0}).partition(' = 0')[0]} = {inline_toml(v)}" for key, v in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(inline_toml, value))}]"
    return tomli_w.dumps({"value": value}).strip().removeprefix("value = ")


def _document(path: str, value: Any) -> str:  # noqa: ANN401 - whatever replaces a key
    import numpy as np

    try:
        document = tomli_w.dumps({"value": value.item() if isinstance(value, np.generic) else value})
    except (TypeError, ValueError, AttributeError) as error:
        remedy = "needs text, a number, true or false, a list or a table"
        raise UserError(f"set: {path}: found {value!r}; {remedy}") from error
    except RecursionError as error:
        raise UserError(f"set: {path}: this value contains itself, or is nested too deeply") from error
    _require_unicode("set", path + document)
    return document


def read_text(path: Path, what: str, max_bytes: int = MAX_BYTES) -> str:
    """Reads a text file, or a pipe, that a user named.

    Raises:
        UserError: if it is absent, a directory or device, unreadable, longer than `max_bytes`, or not UTF-8.
    """
    try:
        return read_bytes(path, what, max_bytes).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text (byte {error.start}); expected {what}") from error


def read_bytes(path: Path, what: str, max_bytes: int = MAX_BYTES) -> bytes:
    """Reads a file, or a pipe, that a user named.

    Raises:
        UserError: if it is absent, a directory or device, unreadable, or longer than `max_bytes`.
    """
    too_large = f"is too large for {what}; the limit is {max_bytes // 1_000_000} MB"
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UserError(f"{path}: this is a directory; name {what}")
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode)):
            raise UserError(f"{path}: this is a device or a socket, not a file; name {what}")
        if status.st_size > max_bytes:
            raise UserError(f"{path}: {status.st_size / 1e6:.0f} MB {too_large}")
        # A pipe has no size, and files of /proc say 0: what comes decides.
        with path.open("rb") as file:
            content = file.read(min(status.st_size or max_bytes, max_bytes) + 1)
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file; name {what}") from error
    except (OSError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"{path}: cannot be read: {reason}") from error
    if len(content) > max_bytes:
        raise UserError(f"{path}: this {too_large}")
    return content


def _require_unicode(what: str, text: Any) -> None:  # noqa: ANN401 - whatever replaces a key
    try:
        str(text).encode()
    except UnicodeEncodeError as error:
        raise UserError(f"{what}: character {error.start + 1} is half of a surrogate pair, not text") from error
