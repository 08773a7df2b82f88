"""BMX6 and BMX7: `-c jshow topology`, `-c jshow links`, and the nodes with links of bmx6's b6m.

A node counts the share of a neighbour's HELLOs that it receives, `rxRate` (BMX7: `rq`), in per cent. The
neighbour reports the share of the node's own HELLOs that it receives, `txRate` (BMX7: `tq`). If both ends
have a direction, the count of the receiving end is used, not the report of the other end. `rxRate` and
`txRate` of BMX7 are bits per second, which say nothing about delivery.
"""

from collections.abc import Iterator
from typing import Any

from multihop.importers.mesh import Mesh, Node
from multihop.importers.parsing.records import BrokenRecordError, json_records, json_type, number, text_id
from multihop.importers.reports import Report, Reports

READING = "BMX's share of HELLOs that arrive, as counted by the receiving end of each direction"

#: Node with the links, if the file does not name it.
_SELF = {"name": "this node"}

#: Keys of ids, the best first, since names may repeat.
_IDS = ("globalId", "nodeId", "id", "name")

#: Name that stands for no name.
_NAMELESS = "---"


def matches(data: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether the value is a list of BMX links."""
    if isinstance(data, list):
        return any(isinstance(node, dict) and {"name", "links"} <= node.keys() for node in data)
    return isinstance(data, dict) and any(_has_shares(data.get(key)) for key in ("topology", "links"))


def read(data: Any, origin: str) -> Mesh:  # noqa: ANN401 - any JSON value
    """Reads the links of all nodes, or of one."""
    mesh = Mesh("bmx", READING)
    reports = Reports()
    for where, own, neighbour, link in _links(mesh, data, origin):
        with mesh.tally.record():
            ids = [_require_id(end, where) for end in (own, neighbour)]
            a, b = (_node(mesh, end, id) for end, id in zip((own, neighbour), ids, strict=True))
            reports.add(b, a, Report(_share(link, "rq", "rxRate")), measured=True)
            reports.add(a, b, Report(_share(link, "tq", "txRate")), measured=False)
    return reports.fill(mesh)


def _links(mesh: Mesh, data: Any, origin: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]]:  # noqa: ANN401
    """Yields place, node, neighbour and link."""
    if isinstance(data, list):
        for where, node in json_records(mesh.tally, data, origin, "nodes"):
            links = node.get("links")
            if not isinstance(links, list):
                mesh.tally.add_broken(where, f"links: found {json_type(links)}; needs a list of objects")
                continue
            for place, link in json_records(mesh.tally, links, where, "links"):
                yield place, node, link, link
    elif _has_shares(data.get("topology")):
        for where, link in json_records(mesh.tally, data["topology"], origin, "topology"):
            neighbour = {"id": link.get("neighId"), "name": link.get("neighName")}
            yield where, link, neighbour, link
    else:
        status = data.get("status")
        own = status if isinstance(status, dict) and _id(status) else _SELF
        for where, link in json_records(mesh.tally, data["links"], origin, "links"):
            yield where, own, link, link


def _require_id(record: dict[str, Any], where: str) -> str:
    id = _id(record)
    if id is None:
        raise BrokenRecordError(where, "a node has no name; needs one, or an id")
    return id


def _node(mesh: Mesh, record: dict[str, Any], id: str) -> str:
    if id not in mesh.nodes:
        name = text_id(record.get("name"))
        mesh.add_node(Node(id, label=name if name and name != _NAMELESS else ""))
    return id


def _id(record: dict[str, Any]) -> str | None:
    return next((id for key in _IDS if (id := text_id(record.get(key)))), None)


def _has_shares(links: Any) -> bool:  # noqa: ANN401 - any JSON value
    return isinstance(links, list) and any(
        isinstance(link, dict) and ("rxRate" in link or "rq" in link) for link in links
    )


def _share(link: dict[str, Any], *keys: str) -> float | None:
    """Returns the first of these percentages as a share."""
    percent = number(next((link[key] for key in keys if key in link), None))
    return None if percent is None else percent / 100
