"""Parser of study files, with one message for the first mistake."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from multihop import _core
from multihop.base.errors import UserError, instead_of
from multihop.experiments.specs import StudySpec

#: Names of which one begins a text that matches a pattern.
_FIRST_NAMES = re.compile(r"\^\(([a-z|]+)\)")


def parse(text: str, origin: str) -> StudySpec:
    """Reads TOML text as a study.

    Raises:
        UserError: naming file, line, key, the value found and what is needed.
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UserError(f"{origin}: not valid TOML: {error}; correct this line (see toml.io)") from error
    return validate(data, origin, text)


def validate(data: Mapping[str, Any], origin: str, text: str | None = None) -> StudySpec:
    """Checks the data of a study; `text` is its source, for line numbers.

    Raises:
        UserError: naming file, line, key, the value found and what is needed.
    """
    try:
        return StudySpec.model_validate(dict(data))
    except ValidationError as error:
        first = min(error.errors(), key=_specificity)
        path = [step for step in first["loc"] if not _is_type_name(step, data, first["loc"])]
        raise UserError(f"{place(origin, text, path)}: {_shown(path)}: {_what(first)}") from error


def place(origin: str, text: str | None, path: list[str | int]) -> str:
    """Returns `file:line`, or only the file if the line is unknown."""
    line = _core.locate(text, path) if text is not None else None
    return f"{origin}:{line}" if line is not None else origin


def _specificity(error: Any) -> tuple[int, int]:  # noqa: ANN401 - record of pydantic
    # Among errors about alternatives of a union, one about a nested value is more specific than one about a
    # type.
    # A key that is missing may be the one that is misspelt.
    order = {"extra_forbidden": 0, "value_error": 1, "missing": 1}
    return (order.get(error["type"], 2), -len(error["loc"]))


def _is_type_name(step: str | int, data: Mapping[str, Any], path: tuple[str | int, ...]) -> bool:
    """Whether a step of pydantic's path names a member of a union, which is no key of the file."""
    if isinstance(step, int):
        return False
    value: Any = data
    for at in path:
        if at == step:
            is_key = isinstance(value, Mapping) and step in value
            # A missing key is not in the data, but is the last step and a known word.
            return not is_key and (step in {"str", "int", "float", "bool"} or "[" in step)
        is_entry = isinstance(value, list) and isinstance(at, int) and at < len(value)
        if is_entry or (isinstance(value, Mapping) and at in value):
            value = value[at]
    return False


def _shown(path: list[str | int]) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "study"


def _what(error: Any) -> str:  # noqa: ANN401 - record of pydantic
    match error["type"]:
        case "extra_forbidden":
            return f"unknown key; {_known(error['loc'])}"
        case "missing":
            return "missing; add it"
        case "value_error":
            return str(error["ctx"]["error"])
    found = repr(error["input"])
    found = found if len(found) <= 60 else found[:57] + "..."
    return f"found {found}; {_nearest(error) or _lower(error['msg'])}"


def _nearest(error: Any) -> str | None:  # noqa: ANN401 - record of pydantic
    """Returns the remedy for a text that must be, or begin with, one of several names."""
    match error["type"], error["input"]:
        case "literal_error", str(text):
            return instead_of(text, re.findall(r"'([^']*)'", error["ctx"]["expected"]))
        case "string_pattern_mismatch", str(text):
            names = _FIRST_NAMES.match(error["ctx"]["pattern"])
            known = names[1].split("|") if names else []
            first = text.partition(".")[0]
            return instead_of(first, known) if known and first not in known else None
    return None


def _known(path: tuple[str | int, ...]) -> str:
    """Returns the known keys of the table with an unknown key."""
    table: Any = StudySpec
    for step in path[:-1]:
        if isinstance(step, int):
            continue
        if isinstance(table, type) and issubclass(table, BaseModel) and step in table.model_fields:
            table = _table_in(table.model_fields[step].annotation)
    keys = list(table.model_fields) if isinstance(table, type) and issubclass(table, BaseModel) else []
    return instead_of(str(path[-1]), keys) if keys else "remove it"


def _table_in(annotation: Any) -> Any:  # noqa: ANN401 - any annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        found = _table_in(inner)
        if found is not None:
            return found
    return None


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
