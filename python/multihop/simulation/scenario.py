"""Sources of scenarios: a path, TOML text or a dictionary. Only the engine interprets keys."""

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
from multihop.results.provenance import version
from multihop.simulation.classes import named
from multihop.simulation.misspelt import misspelt

ScenarioLike = str | Path | Mapping[str, Any]

#: Time as text with a unit, or in seconds.
TimeLike = str | float | timedelta

# Largest scenario file; the largest real one so far has 300 kB.
MAX_BYTES = 16_000_000

#: Most mistakes that one check reports.
_MOST_MISTAKES = 5

#: Table that studies have and scenarios lack.
_FACTORS = re.compile(r"^\s*\[factors[].]", re.MULTILINE)


@dataclass(frozen=True)
class Scenario:
    """Text of a scenario (TOML), its name in messages, and the file that it was read from, if any."""

    text: str
    origin: str
    file: Path | None = None

    def check(self, overrides: Mapping[str, Any] | None = None) -> _core.ScenarioView:
        """Resolves the scenario without running it.

        Raises:
            ScenarioError: naming file, line, key, the value found and what is needed.
            UserError: if the text or an override is not Unicode.
        """
        for what, text in {"scenario": self.text, **(overrides or {})}.items():
            _require_unicode(what if what != "scenario" else self.origin, text)
        replaced = for_core(overrides or {})
        try:
            return _core.check(self.text, self.origin, replaced)
        except _core.ScenarioError as error:
            found = misspelt(error, self.text, self.origin) or error
            for further in self._further_mistakes(found, replaced):
                found.add_note(further)
            raise found from None

    def _further_mistakes(self, error: _core.ScenarioError, overrides: dict[str, Any]) -> list[str]:
        """Returns messages about further mistakes, since the engine stops at the first.

        Blanks the line of a mistake and checks again. Only keys and values that are invalid by themselves are
        reported, since relations between others cannot be checked yet.
        """
        said: list[str] = []
        text: str | None = self.text
        undecided: set[str] = set()
        while len(said) < _MOST_MISTAKES - 1 and error.is_parameter_error:
            if (error.found or "").startswith("unknown name") or misspelt(error, self.text, self.origin):
                # The name, or the key, may select the keys of its table.
                undecided.add(_table_of(error))
            text = _without_line(text or "", error)
            if text is None:
                break
            try:
                _core.check(text, self.origin, overrides)
                break
            except _core.ScenarioError as found:
                error = misspelt(found, text, self.origin) or found
            if not error.is_parameter_error or error.found == "missing":
                break
            if _table_of(error) not in undecided:
                said.append(str(error))
        return said

    def capacity(self, overrides: Mapping[str, Any]) -> _core.CapacityView:
        """Returns the airtime that flows need and the links that share it, for checked overrides."""
        return _core.capacity(self.text, self.origin, for_core(overrides))


def _table_of(error: _core.ScenarioError) -> str:
    return (error.key or "").rpartition(".")[0]


def _without_line(text: str, error: _core.ScenarioError) -> str | None:
    """Returns the text without the line of a mistake, or `None` if that line is not a key with its value."""
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
            return Scenario(tomli_w.dumps(named(source)), "<dict>")
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
    """Returns a file name as text, with bytes that are no UTF-8 escaped."""
    return name.encode("utf-8", "backslashreplace").decode()


def settings(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns overrides by key path, as plain TOML values.

    Raises:
        UserError: if `given` does not map texts to values, or a value has no TOML form.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(path, str) for path in given):
        raise UserError(f'set: found {given!r}; needs paths of keys with values, as in {{"topology.hops": 5}}')
    return {path: tomllib.loads(_document(path, named(value)))["value"] for path, value in given.items()}


def time_text(name: str, value: object) -> str:
    """Returns a time as scenarios write it: text unchanged, a number in seconds.

    Raises:
        UserError: if the value is neither, or negative or infinite.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < math.inf:
        raise UserError(f'{name}: found {value!r}; needs seconds, or text with a unit, as in "60 s"')
    # Commands that repeat the run show this text, so without an exponent.
    return f"{Decimal(float(value)).normalize() if float(value).is_integer() else Decimal(repr(float(value))):f} s"


def registered() -> dict[str, list[dict[str, Any]]]:
    """Returns the names that scenarios accept, by kind, each entry with at least a name and a summary."""
    loaded: dict[str, list[dict[str, Any]]] = json.loads(_core.registry())
    return loaded


def schema() -> dict[str, Any]:
    """Returns the engine's JSON Schema of scenarios."""
    return identified("scenario", json.loads(_core.schema()))


def identified(kind: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a JSON Schema that names its dialect, and itself by a name with the version, not an address."""
    about = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:multihop:{kind}:{version()}"}
    return {**about, **schema, **about}


def for_core(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Returns overrides as the engine takes them: the values of `set` as TOML documents."""
    made = dict(overrides)
    if "set" in made:
        made["set"] = [(path, _document(path, value)) for path, value in made["set"].items()]
    return made


def inline_toml(value: Any) -> str:  # noqa: ANN401 - any TOML value
    """Formats a TOML value on one line."""
    if isinstance(value, Mapping):
        pairs = (f"{tomli_w.dumps({key: 0}).partition(' = 0')[0]} = {inline_toml(v)}" for key, v in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(inline_toml, value))}]"
    return tomli_w.dumps({"value": value}).strip().removeprefix("value = ")


def _document(path: str, value: Any) -> str:  # noqa: ANN401 - any value of an override
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
    """Reads a text file or pipe named by the user.

    Raises:
        UserError: if it is missing, a directory or device, unreadable, longer than `max_bytes`, or not UTF-8.
    """
    try:
        return read_bytes(path, what, max_bytes).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text (byte {error.start}); needs {what}") from error


def read_bytes(path: Path, what: str, max_bytes: int = MAX_BYTES) -> bytes:
    """Reads a file or pipe named by the user.

    Raises:
        UserError: if it is missing, a directory or device, unreadable, or longer than `max_bytes`.
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
        # Pipes have no size and files of /proc report 0, so the content read decides.
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


def _require_unicode(what: str, text: Any) -> None:  # noqa: ANN401 - any value of an override
    try:
        str(text).encode()
    except UnicodeEncodeError as error:
        raise UserError(f"{what}: character {error.start + 1} is a lone surrogate, not text; replace it") from error
