"""Keys of scenarios that pages name exist, and no page has a place that is still to be filled."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import multihop
from conftest import ROOT, repository

TABLES = ("phy", "mac", "medium", "network", "routing", "topology", "traffic", "mobility")

Schema = dict[str, Any]


def pages() -> list[Path]:
    """Those that people write: not what programs do, nor what says how things were."""
    written = [path for path in repository() if path.suffix == ".md" and path.name != "CHANGELOG.md"]
    return [path for path in written if path.parent.name not in {"results", "generated"}]


def properties(schema: Schema, node: Schema) -> Iterator[Schema]:
    """The keys of a node of a schema, through references and alternatives."""
    if "$ref" in node:
        yield from properties(schema, schema["$defs"][node["$ref"].rsplit("/", 1)[-1]])
    for several in ("anyOf", "oneOf", "allOf"):
        for one in node.get(several, []):
            yield from properties(schema, one)
    if isinstance(node.get("items"), dict):
        yield from properties(schema, node["items"])
    if "properties" in node:
        yield node["properties"]


def exists(schema: Schema, path: list[str]) -> bool:
    """Is there a key of this path?"""
    nodes = [schema]
    for part in path:
        nodes = [keys[part] for node in nodes for keys in properties(schema, node) if part in keys]
    return bool(nodes)


def test_pages_name_keys_that_exist():
    schema = multihop.schema()
    assert exists(schema, ["mac", "rate_control", "tries"])
    assert not exists(schema, ["mac", "queue_limit"])
    dotted = re.compile(rf"`\[?((?:{'|'.join(TABLES)})(?:\.[a-z0-9_]+)+)")
    named = [(path, key) for path in pages() for key in dotted.findall(path.read_text("utf-8"))]
    assert len(named) > 50
    wrong = [
        f"{path.relative_to(ROOT)}: {key}"
        for path, key in named
        if not key.endswith(".toml") and not exists(schema, key.split("."))
    ]
    assert not wrong


def test_no_page_has_a_place_to_be_filled():
    left = [path for path in repository() if path.suffix == ".md" and path.parent.name != "templates"]
    places = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in left
        for line in path.read_text("utf-8").splitlines()
        if re.fullmatch(r"@\w+@", line)
    ]
    assert not places
