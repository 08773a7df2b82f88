"""Import of real meshes as scenarios: one module per file format, which defines how it reads link quality.

`read` converts a file to a `Mesh`. `to_scenario.write` converts a mesh to a scenario with positions and a
link matrix. `formats.catalogue` lists the formats.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from multihop.base.errors import UserError
from multihop.importers.formats.catalogue import FORMATS, READERS, Kind, Options, Reader, Source
from multihop.importers.mesh import Mesh
from multihop.importers.parsing import content, tables, xml_tree
from multihop.importers.parsing.records import json_type, shown
from multihop.importers.positions import drop_false_places

__all__ = ["FORMATS", "Options", "read"]

#: Largest file of a mesh. The largest real one so far has 1 MB. Reading needs up to ten times the memory.
MAX_BYTES = 100_000_000

#: What a file has to be.
_WHAT = "a file with a mesh"

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

#: Most reasons for omitted parts in a message.
_MOST_REASONS = 5

_SUPPORTED = f"needs one of: {', '.join(FORMATS)} (docs/how-to/import.md)"


def read(path: Path, options: Options) -> Mesh:
    """Reads a mesh from a file, or from a folder with a file of each node.

    Raises:
        UserError: if the file cannot be read, its format is unknown, or half of its records or more are
            broken.
    """
    _require(options)
    text, unreadable = _of_folder(path) if path.is_dir() else (content.read(path, _WHAT, MAX_BYTES), [])
    if not text.strip():
        raise UserError(f"{path}: the file is empty; {_SUPPORTED}")
    source, reader = _recognised(text, path)
    _require_wanted(reader, path, options)
    if options.nodes is not None:
        source.nodes = _nodes(options.nodes, reader.kind)
    mesh = reader.read(source, options)
    mesh.tally.require_most_sound()
    drop_false_places(mesh)
    if not mesh.nodes:
        raise UserError(f"{path}: contains no usable node; {_tally(mesh)}")
    if not mesh.links:
        raise UserError(f"{path}: contains no usable wireless link; {_tally(mesh)}")
    if mesh.tally.broken:
        mesh.left_out["broken records"] += mesh.tally.broken
    if unreadable:
        mesh.left_out[f"unreadable files (the first: {unreadable[0]})"] += len(unreadable)
    return mesh


def _of_folder(path: Path) -> tuple[str, list[str]]:
    """Joins the files of a folder: JSON to a list, other text one after the other.

    Returns the text, and what is wrong with files that cannot be read.

    Raises:
        UserError: if there are no files, half of them or more cannot be read, or only some are JSON.
    """
    files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    if not files:
        raise UserError(f"{path}: this folder has no files; {_SUPPORTED}")
    values: list[Any] = []
    texts: list[str] = []
    unreadable: list[str] = []
    left = MAX_BYTES
    for file in files:
        try:
            text = content.read(file, _WHAT, left)
            left = max(left - len(text), 1)
            if text.lstrip()[:1] in {"{", "["}:
                value = _parse_json(text, file)
                values += value if isinstance(value, list) else [value]
            elif text.strip():
                texts.append(text)
        except UserError as error:
            unreadable.append(str(error))
    if 2 * len(unreadable) >= len(files):
        raise UserError(f"{unreadable[0]} ({len(unreadable)} of {len(files)} files of {path} cannot be read)")
    if values and texts:
        raise UserError(f"{path}: some files are JSON, and some are not; put the files of one format into a folder")
    return (json.dumps(values) if values else "\n".join(texts)), unreadable


def _require(options: Options) -> None:
    if options.format != "auto" and options.format not in FORMATS:
        raise UserError(f"--format: found {options.format!r}; needs auto, {', '.join(FORMATS)}")
    if options.assume_delivery is not None and not 0.0 < options.assume_delivery <= 1.0:
        raise UserError(f"--assume-delivery: found {options.assume_delivery:g}; needs more than 0, at most 1")
    if options.range_m is not None and not 0.0 < options.range_m <= 1e6:
        raise UserError(f"--range: found {options.range_m:g}; needs more than 0 m, at most 1000 km")


def _recognised(text: str, path: Path) -> tuple[Source, Reader]:
    """Returns the file and the reader for its format."""
    origin = str(path)
    reader = _matching("text", text)
    if reader is not None:
        return Source(text, origin), reader
    if text.lstrip()[0] in "{[":
        data = _parse_json(text, path)
        reader = _matching("json", data)
        if reader is None:
            raise UserError(f"{path}: {_describe(data)}; {_SUPPORTED}")
        return Source(text, origin, data), reader
    if text.lstrip().startswith("<"):
        root = xml_tree.root_name(text) or xml_tree.parse(text, origin).name
        reader = _matching("xml", root)
        if reader is None:
            raise UserError(f"{path}: found XML of <{shown(root)}>, which is no known mesh format; {_SUPPORTED}")
        return Source(text, origin), reader
    columns, _ = tables.header(text)
    reader = _matching("columns", columns)
    if reader is None:
        raise UserError(f"{path}:1: found columns {shown(', '.join(columns), 120)}; {_SUPPORTED}")
    return Source(text, origin), reader


def _matching(kind: Kind, value: Any) -> Reader | None:  # noqa: ANN401 - any value of the kind
    return next((reader for reader in READERS if reader.kind == kind and reader.matches(value)), None)


def _nodes(path: Path, kind: Kind) -> Any:  # noqa: ANN401 - any JSON value, or a table
    """Reads the second file, of the same kind as the first one."""
    text = content.read(path, "a list of nodes", MAX_BYTES)
    return _parse_json(text, path) if kind == "json" else tables.parse(text, str(path))


def _require_wanted(reader: Reader, path: Path, options: Options) -> None:
    """Refuses a format other than the requested one, and options that the file's format does not use."""
    found = reader.format
    if options.format not in {"auto", found}:
        raise UserError(f"{path}: --format: found {options.format}, but this is {found}; use --format {found} or auto")
    for option in ("nodes", "assume_delivery", "noise_level", "range_m"):
        if getattr(options, option) is not None and option not in reader.takes:
            takers = ", ".join(dict.fromkeys(other.name for other in READERS if option in other.takes))
            flag = "--" + option.removesuffix("_m").replace("_", "-")
            raise UserError(f"{flag}: does not apply to {reader.name}; it is for {takers}: leave it out")


def _parse_json(text: str, path: Path) -> Any:  # noqa: ANN401 - any JSON value
    try:
        data = json.loads(text)
        if _SURROGATE.search(text):
            json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise UserError(
            f"{path}: a text has half of a surrogate pair, such as \\ud800, which is no character"
        ) from error
    except json.JSONDecodeError as error:
        where = f"{path}:{error.lineno}:{error.colno}"
        raise UserError(f"{where}: not JSON: {error.msg}; the file may have been cut short") from error
    except (RecursionError, ValueError) as error:
        raise UserError(f"{path}: not usable JSON: {error or 'nested too deeply'}") from error
    return data


def _describe(data: Any) -> str:  # noqa: ANN401 - any JSON value
    """Returns a description of an unknown JSON file."""
    nodes = data.get("nodes") if isinstance(data, dict) else None
    listed = list(nodes.values()) if isinstance(nodes, dict) else nodes if isinstance(nodes, list) else []
    if any(isinstance(node, dict) and "nodeinfo" in node for node in listed):
        return "this is nodes.json of ffmap, which has no links; import graph.json, with this file as --nodes"
    keys = f" with {shown(', '.join(list(data)[:6]), 120)}" if isinstance(data, dict) and data else ""
    return f"found {json_type(data)}{keys}, which is no known mesh format"


def _tally(mesh: Mesh) -> str:
    counts = [(what, count) for what, count in mesh.left_out.most_common() if count]
    if mesh.tally.broken:
        counts.insert(0, (f"broken records (the first: {mesh.tally.first})", mesh.tally.broken))
    if not counts:
        return "it lists none"
    more = [f"{len(counts) - _MOST_REASONS} more kinds"] if len(counts) > _MOST_REASONS else []
    return "left out: " + ", ".join([*(f"{count} {what}" for what, count in counts[:_MOST_REASONS]), *more])
