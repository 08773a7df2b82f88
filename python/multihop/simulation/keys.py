"""Keys of a scenario from the schema: path, accepted values, range, default and meaning."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from multihop.simulation.scenario import inline_toml, registered, schema

#: Words for quantities of the schema.
_QUANTITIES = {"Duration": "time", "BitRate": "bit rate", "Distance": "length"}

#: Words for types of JSON.
_TYPES = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true or false",
    "array": "list",
    "object": "table",
}


#: Meaning of a key that selects one of several tables.
_CHOICE = "Decides which keys the table has."


@dataclass
class Key:
    """Key of a scenario.

    Attributes:
        path: path as in messages and `--set`, with `[]` after lists of tables.
        takes: kind of value, or the accepted values.
        range: least and most value; empty without a limit besides the type's.
        default: default as TOML; empty without one, or if the meaning states it.
        meaning: full description.
        required: whether a table must have the key.
        only_with: values that identify the tables with the key, if other tables at the path lack it.
    """

    path: str
    takes: str
    range: str
    default: str
    meaning: str
    required: bool
    only_with: list[str] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        """Returns the key as an entry of a catalogue: `name` is its path, `summary` its meaning."""
        return {
            "name": self.path,
            "summary": self.meaning,
            "takes": self.takes,
            "range": self.range,
            "default": self.default,
            "required": self.required,
            "only_with": self.only_with,
        }


def every() -> list[Key]:
    """Returns the keys of scenarios in the order of the schema, and the parameters of each scheme."""
    about = schema()
    top = about["properties"]
    plain = [name for name in top if name != "schemes" and not tables(top[name], about["$defs"])]
    rest = [name for name in top if name != "schemes" and name not in plain]
    found: list[Key] = []
    for name in (*plain, *rest):
        found += _below(name, top[name], about["$defs"], required=name in about.get("required", []))
    for scheme in registered()["schemes"]:
        parameters = scheme["parameters"]
        for name, each in parameters.get("properties", {}).items():
            found += _below(f"schemes.{scheme['name']}.{name}", each, parameters.get("$defs", {}), required=False)
    return _merged(found)


def chosen(found: Sequence[dict[str, Any]], word: str) -> list[dict[str, Any]]:
    """Returns entries whose name begins with a word, or else those with the word in name or summary."""
    # A list index such as flows[0] or flows[*] matches any element.
    wanted = re.sub(r"\[[^]]*\]", "[]", word.lower()).rstrip(".")
    below = [entry for entry in found if re.match(rf"{re.escape(wanted)}(?=$|[.\[])", entry["name"].lower())]
    begin = below or [entry for entry in found if entry["name"].lower().startswith(wanted)]
    within = (entry for entry in found if wanted in f"{entry['name']} {entry.get('summary', '')}".lower())
    return begin or list(within)


def resolved(about: Mapping[str, Any], known: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the target of a schema's reference."""
    while "$ref" in about:
        about = known[about["$ref"].rpartition("/")[2]]
    return about


def tables(about: Mapping[str, Any], known: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Returns the table shapes that a key accepts, each with its identifying values, as in `kind = "cbr"`."""
    about = resolved(about, known)
    if about.get("type") == "array":
        return tables(about.get("items", {}), known)
    if "properties" in about:
        return [(_tag(about), about)]
    shapes = [*about.get("oneOf", []), *about.get("anyOf", [])]
    return [found for shape in shapes for found in tables(shape, known)]


def names(about: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    """Returns the fixed texts that a key accepts."""
    shapes = [resolved(shape, known) for shape in (*about.get("oneOf", []), *about.get("anyOf", []))]
    found = [shape["const"] for shape in shapes if isinstance(shape.get("const"), str)]
    return found + [name for shape in [about, *shapes] for name in shape.get("enum", []) if isinstance(name, str)]


def limits(about: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """Returns the range of a key, from itself or the first of its forms with a range."""
    for shape in (about, *(resolved(form, known) for form in about.get("anyOf", []))):
        least = shape.get("minimum", shape.get("x-minimum"))
        above, below = shape.get("exclusiveMinimum"), shape.get("exclusiveMaximum")
        most = shape.get("maximum", shape.get("x-maximum"))
        if most is not None:
            return (
                f"above {_number(above)}, to {_number(most)}"
                if above is not None
                else f"{_number(least)} to {_number(most)}"
            )
        if below is not None:
            return f"{_number(least)} to below {_number(below)}"
        if least not in (None, 0):
            return f"from {_number(least)}"
    return ""


def _below(path: str, about: Mapping[str, Any], known: Mapping[str, Any], *, required: bool) -> Iterator[Key]:
    """Yields the key of a path, and the keys of tables that it accepts."""
    whole = resolved(about, known)
    shapes = tables(about, known)
    default = about.get("default")
    meaning = " ".join(str(about.get("description") or whole.get("description", "")).split())
    is_plain = default not in (None, "") and not isinstance(default, dict)
    shown = inline_toml(default) if is_plain else ""
    limit = limits(whole if "$ref" in about else about, known)
    yield Key(path, " or ".join(dict.fromkeys(_takes(about, known))), limit, shown, meaning, required)
    inner = f"{path}[]" if _is_list(whole, known) else path
    for tag, shape in shapes:
        wanted = shape.get("required", [])
        for name, each in shape["properties"].items():
            if "const" in each:
                yield Key(f"{inner}.{name}", inline_toml(each["const"]), "", "", _CHOICE, required=True)
                continue
            is_in_all = all(other["properties"].get(name) == each for _, other in shapes)
            for key in _below(f"{inner}.{name}", each, known, required=name in wanted):
                if tag and not is_in_all:
                    key.only_with.insert(0, f"{path.rpartition('.')[2]}.{tag}")
                yield key


def _merged(found: list[Key]) -> list[Key]:
    """Merges keys of equal path, meaning and default, with all tables that have them."""
    made: dict[tuple[str, str, str], Key] = {}
    for key in found:
        first = made.setdefault((key.path, key.meaning, key.default), key)
        if first is not key:
            first.only_with += [tag for tag in key.only_with if tag not in first.only_with]
            first.takes = " or ".join(dict.fromkeys([*first.takes.split(" or "), *key.takes.split(" or ")]))
    return list(made.values())


def _takes(about: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    about = resolved(about, known)
    if "const" in about:
        yield json.dumps(about["const"])
    elif "enum" in about:
        yield from (json.dumps(value) for value in about["enum"] if value is not None)
    elif "x-quantity" in about:
        quantity = str(about["x-quantity"])
        yield _QUANTITIES.get(quantity, quantity.lower())
    elif "oneOf" in about or "anyOf" in about:
        for shape in (*about.get("oneOf", []), *about.get("anyOf", [])):
            yield from _takes(shape, known)
    else:
        kinds = about.get("type", "object" if "properties" in about else [])
        for kind in [kinds] if isinstance(kinds, str) else kinds:
            if kind == "array":
                inner = " or ".join(dict.fromkeys(_takes(about.get("items", {}), known)))
                yield f"list of {inner}" if inner else "list"
            elif kind != "null":
                yield _TYPES[kind]


def _is_list(about: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    shapes = (resolved(shape, known) for shape in (*about.get("oneOf", []), *about.get("anyOf", [])))
    return about.get("type") == "array" or any(shape.get("type") == "array" for shape in shapes)


def _tag(about: Mapping[str, Any]) -> str:
    constants = {name: p["const"] for name, p in about["properties"].items() if "const" in p}
    return ", ".join(f'{name} = "{value}"' for name, value in constants.items())


def _number(bound: float | str) -> str:
    return bound if isinstance(bound, str) else f"{bound:.10g}"
