"""Real meshes as scenarios: one module per file format, each saying how it reads a link's quality.

`read` turns a file into a `Mesh`; `to_scenario.write` turns a mesh into a scenario with positions and a link
matrix.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from multihop.base.errors import UserError
from multihop.importers import batadv_vis, bmx, meshviewer, netjson, nycmesh, olsr, orbit, places, plain, tables
from multihop.importers.mesh import Mesh, json_type
from multihop.simulation.scenario import read_text

#: Names that `--format` takes, with what they stand for.
FORMATS = {
    "meshviewer": "meshviewer.json (Freifunk): links with source_tq and target_tq",
    "batadv-vis": "batadv-vis of alfred: jsondoc, json or dot",
    "bmx": "BMX6 or BMX7: topology or links as JSON, with rxRate or rq",
    "netjson": "NetJSON NetworkGraph with the metric ETX",
    "olsr": "olsrd jsoninfo, or CSV of links with src, dst, lq, nlq",
    "csv": "CSV of links with source, target and delivery or rssi_dbm",
    "places": "CSV of nodes with name and lat, lon or x, y, linked by --range",
    "orbit": "CSV of ORBIT grid measurements",
    "nycmesh": "NYC Mesh map: links.json, with nodes.json as --nodes",
}

#: A mesh is what machines wrote down; the largest real one so far is 1 MB. Reading takes up to ten times as
#: much.
MAX_BYTES = 100_000_000

#: The options that each kind of file takes. Others would be ignored, and so are refused.
_TAKES: dict[str, tuple[str, ...]] = {
    "meshviewer": (),
    "batadv-vis": (),
    "bmx": (),
    "netjson": ("assume_delivery",),
    "olsr jsoninfo": (),
    "olsr CSV": ("nodes",),
    "csv": ("nodes", "assume_delivery"),
    "places": ("range_m",),
    "orbit": ("noise_level",),
    "nycmesh": ("nodes", "assume_delivery"),
}

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

_SUPPORTED = "what can be read: " + "; ".join(FORMATS.values())


@dataclass(frozen=True)
class Options:
    """What importers need to know besides the file.

    Attributes:
        format: one of `FORMATS`, or `auto` to detect it from the content.
        nodes: a second file with the nodes, for formats that have one.
        assume_delivery: delivery probability of every link, where the file has no quality.
        noise_level: which noise level of an ORBIT file, in dBm.
        range_m: how far nodes hear each other, in metres, where the file has positions but no links.
    """

    format: str = "auto"
    nodes: Path | None = None
    assume_delivery: float | None = None
    noise_level: float | None = None
    range_m: float | None = None


def read(path: Path, options: Options) -> Mesh:
    """Reads a mesh.

    Raises:
        UserError: if the file cannot be read, or is in a format that is not known.
    """
    if options.format != "auto" and options.format not in FORMATS:
        raise UserError(f"--format: found {options.format!r}; what would do: auto, {', '.join(FORMATS)}")
    if options.assume_delivery is not None and not 0.0 < options.assume_delivery <= 1.0:
        raise UserError(f"--assume-delivery: found {options.assume_delivery:g}; needs more than 0, at most 1")
    if options.range_m is not None and not 0.0 < options.range_m <= 1e6:
        raise UserError(f"--range: found {options.range_m:g}; needs more than 0 m, at most 1000 km")
    text = read_text(path, "a file with a mesh", MAX_BYTES)
    if not text.strip():
        raise UserError(f"{path}: the file is empty; {_SUPPORTED}")
    if batadv_vis.matches_text(text):
        _require_wanted("batadv-vis", path, options)
        mesh = batadv_vis.read_text(text, str(path))
    elif text.lstrip()[0] in "{[":
        mesh = _read_json(text, path, options)
    else:
        mesh = _read_csv(text, path, options)
    if not mesh.nodes:
        raise UserError(f"{path}: there is no usable node in it; {_tally(mesh)}")
    if not mesh.links:
        raise UserError(f"{path}: there is no usable wireless link in it; {_tally(mesh)}")
    return mesh


def _read_json(text: str, path: Path, options: Options) -> Mesh:
    data = _parse_json(text, path)
    origin = str(path)
    found = _json_format(data)
    if found is None:
        raise UserError(f"{path}: {_describe(data)}; {_SUPPORTED}")
    _require_wanted(found, path, options, "olsr jsoninfo" if found == "olsr" else found)
    if found == "batadv-vis":
        return batadv_vis.read(data, origin)
    if found == "bmx":
        return bmx.read(data, origin)
    if found == "meshviewer":
        return meshviewer.read(data, origin)
    if found == "netjson":
        return netjson.read(data, origin, options.assume_delivery)
    if found == "olsr":
        return olsr.read(data, origin)
    nodes = _parse_json(read_text(options.nodes, "a list of nodes"), options.nodes) if options.nodes else None
    return nycmesh.read(data, nodes, origin, options.assume_delivery)


def _json_format(data: Any) -> str | None:  # noqa: ANN401 - any JSON value
    modules = {
        "meshviewer": meshviewer,
        "batadv-vis": batadv_vis,
        "bmx": bmx,
        "netjson": netjson,
        "olsr": olsr,
        "nycmesh": nycmesh,
    }
    return next((name for name, module in modules.items() if module.matches(data)), None)


def _read_csv(text: str, path: Path, options: Options) -> Mesh:
    found = _csv_format(text, path)
    _require_wanted(found, path, options, "olsr CSV" if found == "olsr" else found)
    table = tables.parse(text, str(path))
    nodes = tables.parse(read_text(options.nodes, "a list of nodes"), str(options.nodes)) if options.nodes else None
    if found == "orbit":
        return orbit.read(table, options.noise_level)
    if found == "olsr":
        return olsr.read_csv(table, nodes)
    if found == "places":
        return places.read(table, options.range_m)
    return plain.read(table, nodes, options.assume_delivery)


def _csv_format(text: str, path: Path) -> str:
    columns, _ = tables.header(text)
    known = {"orbit": orbit.matches, "olsr": olsr.matches_csv, "csv": plain.matches, "places": places.matches}
    for name, matches in known.items():
        if matches(columns):
            return name
    raise UserError(f"{path}:1: found columns {', '.join(columns)[:120]}; {_SUPPORTED}")


def _require_wanted(found: str, path: Path, options: Options, kind: str | None = None) -> None:
    """Refuses another format than asked for, and options that this kind of file does not take."""
    if options.format not in {"auto", found}:
        raise UserError(f"{path}: --format: found {options.format}, but this is {found}; use --format {found} or auto")
    kind = kind or found
    for option in ("nodes", "assume_delivery", "noise_level", "range_m"):
        if getattr(options, option) is not None and option not in _TAKES[kind]:
            takers = ", ".join(name for name, taken in _TAKES.items() if option in taken)
            flag = "--" + option.removesuffix("_m").replace("_", "-")
            raise UserError(f"{flag}: does not apply to {kind}; it is for {takers}: leave it out")


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
    """What an unknown JSON file seems to be."""
    if isinstance(data, dict) and "nodes" in data and "graph" in data:
        return "this is the older ffmap graph, which is not read"
    keys = f" with {', '.join(list(data)[:6])}" if isinstance(data, dict) and data else ""
    return f"found {json_type(data)}{keys}, which is no mesh that is known"


def _tally(mesh: Mesh) -> str:
    if not mesh.left_out:
        return "it lists none"
    return "left out: " + ", ".join(f"{count} {what}" for what, count in mesh.left_out.most_common())
