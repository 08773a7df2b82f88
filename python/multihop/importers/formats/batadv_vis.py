"""batadv-vis: neighbours of batman-adv IV nodes, by alfred (`-f jsondoc`, `-f json` and `-f dot`).

All three forms have the addresses of each node, one of them primary; for each neighbour of each interface the
metric 255 / TQ, with the transmit quality TQ (0 to 255) towards that neighbour; and clients. 1 / metric
equals `source_tq` of meshviewer files. `jsondoc` is one document, `json` has an object on each line, and
`dot` is for graphviz.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from multihop.importers.mesh import Mesh, Node
from multihop.importers.parsing.records import BrokenRecordError, json_records, json_type, number

READING = "batman-adv transmit quality, as the metric 255/TQ: the direction to the neighbour delivers 1/metric"

_LINE = re.compile(r'\{\s*"(primary|secondary|router)"\s*:')
_DIGRAPH = re.compile(r"digraph\s*\{")
_CLUSTER = re.compile(r'subgraph\s+"cluster_([^"]*)"\s*\{$')
_INTERFACE = re.compile(r'"([^"]*)"(\s*\[peripheries=2\])?;?$')
_ARROW = re.compile(r'"([^"]*)"\s*->\s*"([^"]*)"\s*\[label="([^"]*)"\];?$')

_MAC = re.compile(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}")

#: Length of the beginning of a file that identifies batadv-vis.
_HEAD = 10_000

#: Place and content of a record.
_Found = tuple[str, dict[str, Any]]

#: Label of a client in the translation table, which is no neighbour.
_CLIENT = "TT"


def matches(data: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether the value is jsondoc."""
    return isinstance(data, dict) and "vis" in data


def matches_text(text: str) -> bool:
    """Whether the text is one of the other forms."""
    start = text.lstrip()
    if _DIGRAPH.match(start):
        return any(_CLUSTER.match(line.strip()) for line in start[:_HEAD].splitlines())
    return _LINE.match(start) is not None


def read(data: dict[str, Any], origin: str) -> Mesh:
    """Reads jsondoc.

    Raises:
        UserError: if the value has another shape.
    """
    mesh = Mesh("batadv-vis", READING)
    found: list[_Found] = []
    for where, node in json_records(mesh.tally, data.get("vis"), origin, "vis"):
        found.append((where, {"primary": node.get("primary")}))
        secondary, clients, neighbors = node.get("secondary"), node.get("clients"), node.get("neighbors", [])
        others = secondary if isinstance(secondary, list) else []
        found += [(where, {"secondary": address, "of": node.get("primary")}) for address in others]
        if isinstance(neighbors, list):
            links = json_records(mesh.tally, neighbors, where, "neighbors")
            found += [(place, {**link, "label": link.get("metric")}) for place, link in links]
        else:
            mesh.tally.add_broken(where, f"neighbors: found {json_type(neighbors)}; needs a list of objects")
        found += [(where, {"label": _CLIENT})] * (len(clients) if isinstance(clients, list) else 0)
    return _filled(mesh, found)


def read_text(text: str, origin: str) -> Mesh:
    """Reads `json`, an object on each line, or `dot`. Other lines are broken records."""
    mesh = Mesh("batadv-vis", READING)
    lines = [(f"{origin}:{at}", line.strip()) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
    is_dot = _DIGRAPH.match(lines[0][1]) is not None
    return _filled(mesh, list(_of_dot(mesh, lines) if is_dot else _of_lines(mesh, lines)))


def _of_lines(mesh: Mesh, lines: list[tuple[str, str]]) -> Iterator[_Found]:
    for where, line in lines:
        try:
            record = json.loads(line)
        except (RecursionError, ValueError):
            mesh.tally.add_broken(where, "not JSON: the line may have been cut short")
            continue
        if isinstance(record, dict):
            yield where, record
        else:
            mesh.tally.add_broken(where, f"found {json_type(record)}; needs an object on each line")


def _of_dot(mesh: Mesh, lines: list[tuple[str, str]]) -> Iterator[_Found]:
    primary = None
    for where, line in lines:
        if arrow := _ARROW.match(line):
            yield where, {"router": arrow[1], "neighbor": arrow[2], "label": arrow[3]}
        elif cluster := _CLUSTER.match(line):
            primary = cluster[1]
            yield where, {"primary": primary}
        elif interface := _INTERFACE.match(line):
            if interface[1] != primary:
                yield where, {"secondary": interface[1], "of": primary}
        elif line != "}" and not _DIGRAPH.match(line):
            mesh.tally.add_broken(where, f"found {line[:40]!r}, which batadv-vis does not write")


def _filled(mesh: Mesh, found: list[_Found]) -> Mesh:
    primary: dict[str, str] = {}
    for where, record in found:
        if "primary" in record:
            with mesh.tally.record():
                id = _address(record, "primary", where)
                mesh.add_node(Node(id, label=id))
        elif "secondary" in record:
            with mesh.tally.record():
                primary[_address(record, "secondary", where)] = _address(record, "of", where)
    for where, record in found:
        if record.get("label") == _CLIENT:
            mesh.left_out["clients"] += 1
        elif "primary" not in record and "secondary" not in record:
            with mesh.tally.record():
                a, b = (_address(record, key, where) for key in ("router", "neighbor"))
                metric = number(record.get("label"))
                mesh.add_link(primary.get(a, a), primary.get(b, b), 1.0 / metric if metric else None)
    return mesh


def _address(record: dict[str, Any], key: str, where: str) -> str:
    address = record.get(key)
    if not isinstance(address, str) or not _MAC.fullmatch(address):
        raise BrokenRecordError(where, f"{key}: found {str(address)[:40]!r}; needs a MAC address")
    return address
