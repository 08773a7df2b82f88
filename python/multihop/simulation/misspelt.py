"""Misspelt keys that choose the other keys of their table: `generator`, `protocol`, `model`, `kind`, `base`.

The engine finds such a key missing, or takes the table for one without it and refuses all of its other keys.
The mistake is the misspelt key alone.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from multihop import _core

#: Keys that a table may lack, by table. Keys of other tables are required, and the engine names them.
_OPTIONAL = {"routing": "protocol", "topology": "generator"}

#: Key that makes a table a variant of a scheme, and the beginning of the remedy if it is missing.
_VARIANT = "base"
_NO_VARIANT = re.compile(r"add base = ")

_STEP = re.compile(r'"((?:[^"\\]|\\.)*)"|\[(\d+)\]|([^.\[\]"]+)')


def misspelt(error: _core.ScenarioError, text: str, origin: str) -> _core.ScenarioError | None:
    """Returns the error about the misspelt key behind an error, or `None` if there is none."""
    path, wanted = _chosen_by(error)
    if not wanted:
        return None
    try:
        table: Any = tomllib.loads(text)
        for step in path:
            table = table[step]
        found = next(key for key in table if _core.instead_of(key, [wanted]).startswith("did you mean"))
    except (tomllib.TOMLDecodeError, KeyError, IndexError, TypeError, StopIteration):
        return None
    if found == wanted:
        return None
    line = _core.locate(text, [*path, found])
    key = f"{_table_of(error)}.{found}" if wanted != _VARIANT else f"{error.key}.{found}"
    remedy = f'did you mean "{wanted}"?'
    made = _core.ScenarioError(f"{origin}:{line}: {key}: unknown key; {remedy}")
    about = {"found": "unknown key", "remedy": remedy, "key": key, "line": line, "setting": None}
    made.__dict__.update({**about, "is_parameter_error": True})
    return made


def _chosen_by(error: _core.ScenarioError) -> tuple[list[str | int], str]:
    """Returns the path of a table and the key that it lacks; no key if none can be misspelt."""
    path = _steps(error.key or "")
    if not path or error.setting is not None:
        return [], ""
    if path[0] == "schemes" and len(path) == 2 and _NO_VARIANT.match(error.remedy or ""):
        return path, _VARIANT
    *table, last = path
    if error.found == "missing":
        return table, str(last)
    if error.found == "unknown key":
        return table, _OPTIONAL.get(_table_of(error), "")
    return [], ""


def _steps(key: str) -> list[str | int]:
    """Returns the steps of a key path, such as `flows[1].app.kind`."""
    return [int(at) if at else name or bare for name, at, bare in _STEP.findall(key)]


def _table_of(error: _core.ScenarioError) -> str:
    return (error.key or "").rpartition(".")[0]
