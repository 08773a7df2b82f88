"""graph.json of ffmap-backend, yanic and HopGlass, with nodes.json as `--nodes`; nodes.json of ffmap-d3.

`tq` of a link is batman-adv's metric 255 / TQ: 1 / tq equals `source_tq` of meshviewer files. With
`bidirect`, it applies to both directions: ffmap-backend keeps the worse metric of both, and yanic the better
one. Otherwise only one end reported the link, and only source to target has it. ffmap-d3's older file has
both directions as `quality`: the metric of source to target, then that of the reverse direction; a single
number is of both. `source` and `target` are positions in the list of nodes.

nodes.json has names, positions and whether nodes are online: a list (version 2) or an object by node id
(version 1).
"""

from collections.abc import Iterator
from typing import Any

from multihop.base.errors import UserError
from multihop.importers.mesh import Mesh, Node
from multihop.importers.parsing.geography import coordinates
from multihop.importers.parsing.records import (
    BrokenRecordError,
    RecordTally,
    json_records,
    json_type,
    number,
    objects,
    shown,
    text_id,
)

READING = "batman-adv transmit quality, as one metric 255/TQ of both directions: each delivers 1/metric"

#: Types of radio links.
_WIRELESS = {"", "none", "wireless", "wifi", "unknown", "batadv"}


def matches(data: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether the value is graph.json, or ffmap-d3's nodes.json."""
    if not isinstance(data, dict):
        return False
    if isinstance(data.get("batadv"), dict):
        return "links" in data["batadv"] or "nodes" in data["batadv"]
    links = data.get("links")
    return isinstance(links, list) and any(isinstance(link, dict) and "quality" in link for link in links)


def read(data: dict[str, Any], nodes: Any, origin: str) -> Mesh:  # noqa: ANN401 - any JSON value
    """Reads the graph; `nodes` is the value of nodes.json, if it is given.

    Raises:
        UserError: if nodes or links are missing or of another shape.
    """
    mesh = Mesh("ffmap", READING)
    where = f"{origin}: batadv" if "batadv" in data else origin
    graph = data.get("batadv", data)
    listed = _listed(mesh.tally, nodes)
    ids: list[str | None] = []
    offline: set[str] = set()
    known = graph.get("nodes")
    if not isinstance(known, list):
        raise UserError(f"{where}: nodes: found {json_type(known)}; needs a list of objects")
    for at, record in enumerate(known):
        # Broken nodes keep their position in the list, since links refer to positions.
        ids.append(None)
        with mesh.tally.record():
            if not isinstance(record, dict):
                raise BrokenRecordError(f"{where}: nodes[{at}]", f"found {json_type(record)}; needs an object")
            id = ids[-1] = text_id(record.get("node_id")) or text_id(record.get("id")) or text_id(record.get("primary"))
            if id is None:
                raise BrokenRecordError(f"{where}: nodes[{at}]", "has no node_id and no id; needs text")
            node, online = _node(id, record, listed.get(id, {}))
            if not online:
                mesh.omit_node("nodes that are offline")
                offline.add(id)
            else:
                mesh.add_node(node)
    directed = graph.get("directed") is True
    named = set(ids)
    links = [
        (place, link, (_end(link.get("source"), ids, named), _end(link.get("target"), ids, named)))
        for place, link in json_records(mesh.tally, graph.get("links"), where, "links")
    ]
    pairs = {pair for _, _, pair in links} if directed else set()
    for place, link, (a, b) in links:
        with mesh.tally.record():
            if a is None or b is None:
                needed = f"needs positions from 0 to {len(ids) - 1}"
                raise BrokenRecordError(place, f"source or target is none of the nodes; {needed}")
            if a in offline or b in offline:
                mesh.left_out["links to nodes that are offline"] += 1
            else:
                # In a directed graph, a reverse edge has its own metric.
                _link(mesh, link, a, b, has_back=(b, a) in pairs)
    return mesh


def _link(mesh: Mesh, link: dict[str, Any], a: str, b: str, *, has_back: bool) -> None:
    kind = str(link.get("type") or "").lower()
    if link.get("vpn") is True or kind not in _WIRELESS:
        mesh.left_out[f"links of type {'vpn' if link.get('vpn') is True else shown(kind)}"] += 1
        return
    there, back = _metrics(link)
    mesh.add_link(a, b, _delivery(there))
    if a != b and link.get("bidirect") is not False and not has_back:
        mesh.add_link(b, a, _delivery(back))


def _end(value: Any, ids: list[str | None], named: set[str | None]) -> str | None:  # noqa: ANN401 - any JSON value
    """Returns the id of an end, given as a position in the list or as an id."""
    if isinstance(value, int) and not isinstance(value, bool):
        return ids[value] if 0 <= value < len(ids) else None
    id = text_id(value)
    return id if id in named else None


def _metrics(link: dict[str, Any]) -> tuple[float | None, float | None]:
    quality = link.get("quality")
    if isinstance(quality, str):
        metrics = [number(part) for part in quality.split(",")]
        return metrics[0], metrics[-1]
    metric = number(link.get("tq", quality))
    return metric, metric


def _delivery(metric: float | None) -> float | None:
    """Returns the delivery ratio of a metric. Yanic writes 0 for a TQ of 0, at which nothing is delivered."""
    return None if metric is None else 0.0 if metric == 0.0 else 1.0 / metric


def _node(id: str, record: dict[str, Any], listed: dict[str, Any]) -> tuple[Node, bool]:
    """Returns the node, and whether it is online as far as the files tell."""
    info, flags = objects(listed, "nodeinfo"), {**objects(record, "flags"), **objects(listed, "flags")}
    geo = record.get("geo")
    # ffmap-d3 puts latitude first.
    place = {"lat": geo[0], "lon": geo[1]} if isinstance(geo, list) and len(geo) >= 2 else None
    latitude, longitude = coordinates(objects(info, "location"), objects(listed, "location"), place)
    names = (info.get("hostname"), listed.get("hostname"), listed.get("name"), record.get("name"))
    label = next((name for name in names if isinstance(name, str) and name), "")
    return Node(id, label, latitude, longitude, gateway=flags.get("gateway") is True), flags.get("online") is not False


def _listed(tally: RecordTally, nodes: Any) -> dict[str, dict[str, Any]]:  # noqa: ANN401 - any JSON value
    """Returns the records of nodes.json by node id."""
    if nodes is None:
        return {}
    listed = nodes.get("nodes") if isinstance(nodes, dict) else nodes
    if isinstance(listed, dict):
        return {id: record for id, record in listed.items() if isinstance(record, dict)}
    return dict(_by_id(tally, listed))


def _by_id(tally: RecordTally, listed: Any) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401 - any JSON value
    for where, record in json_records(tally, listed, "--nodes", "nodes"):
        with tally.record():
            ids = (objects(record, "nodeinfo").get("node_id"), record.get("node_id"), record.get("id"))
            id = next((id for value in ids if (id := text_id(value)) is not None), None)
            if id is None:
                raise BrokenRecordError(where, "has no node_id; needs text")
            yield id, record
