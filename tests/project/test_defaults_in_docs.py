"""Defaults that pages state in tables are those of the program."""

import json
import re
from collections.abc import Iterator

from conftest import ROOT
from multihop.simulation.scenario import schema

#: A number with or without a unit, or a word of files.
VALUE = re.compile(r"`?(?P<number>-?[0-9.]+)`?(?: (?P<unit>s|ms|us|B|%))?|`?(?P<word>[a-z][a-z0-9-]*)`?")
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


def value(text: str) -> float | str | None:
    """A value in SI units, or a word; none of text that is neither."""
    found = VALUE.fullmatch(text.strip())
    if not found:
        return None
    if found["word"]:
        return found["word"]
    share = 0.01 if found["unit"] == "%" else 1.0
    return round(float(found["number"]) * SECONDS.get(found["unit"] or "", share), 12)


def defaults(node: object, found: dict[str, set[float | str]]) -> dict[str, set[float | str]]:
    """By key: its defaults in all tables and schemes that have a key of that name."""
    if isinstance(node, dict):
        for name, about in node.get("properties", {}).items() if isinstance(node.get("properties"), dict) else ():
            default = about.get("default") if isinstance(about, dict) else None
            made = value(default if isinstance(default, str) else json.dumps(default))
            found.setdefault(name, set()).update(() if made in {None, "null"} else (made,))
        for each in node.values():
            defaults(each, found)
    elif isinstance(node, list):
        for each in node:
            defaults(each, found)
    return found


def stated(page: str) -> Iterator[tuple[str, str]]:
    """Key and default of each row of tables that have such columns; several of one row share a unit."""
    head: list[str] | None = None
    for line in page.splitlines():
        if not line.startswith("|"):
            head = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if head is None:
            head = cells
        elif "default" in head and head[0].startswith("key"):
            keys = re.findall(r"`([a-z_]+)`", cells[0])
            texts = cells[head.index("default")].split(", ")
            unit = re.search(r" (s|ms|us|B)$", texts[-1])
            if len(keys) == len(texts):
                shared = f" {unit[1]}" if unit and all(re.fullmatch(r"[0-9.]+", text) for text in texts[:-1]) else ""
                yield from zip(keys, [*(text + shared for text in texts[:-1]), texts[-1]], strict=True)


def test_defaults_in_tables_of_pages_are_the_programs():
    known = defaults(schema(), {})
    checked, wrong = 0, []
    for page in sorted((ROOT / "docs").rglob("*.md")):
        if "generated" in page.parts or "results" in page.parts:
            continue
        for key, text in stated(page.read_text("utf-8")):
            said = value(text)
            # A word may be another key, whose value it is.
            if said is None or not known.get(key) or said == "none" or said in known:
                continue
            checked += 1
            if said not in known[key]:
                wrong.append(f"{page.name}: {key} {text}, not {known[key]}")
    assert checked >= 15, checked
    assert not wrong, wrong
