"""NYC Mesh's network map: a JSON list of links `{from, to, status}`, and one of nodes `{id, coordinates}`.

The files list links without their quality.
"""

from typing import Any

from multihop.base.errors import UserError
from multihop.importers.mesh import Mesh, Node
from multihop.importers.parsing.geography import coordinates
from multihop.importers.parsing.records import BrokenRecordError, json_records, shown, text_id


def matches(data: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether the value is a list of such links."""
    return isinstance(data, list) and any(isinstance(link, dict) and {"from", "to"} <= link.keys() for link in data)


def read(data: list[Any], nodes: Any, origin: str, assume_delivery: float | None) -> Mesh:  # noqa: ANN401 - JSON
    """Reads links of status `active`, with the same delivery ratio for all.

    Raises:
        UserError: if no delivery ratio is assumed, or a record has another shape.
    """
    if assume_delivery is None:
        raise UserError(
            f"{origin}: links have no quality (found from, to, status); use --assume-delivery 0.9 to give all the same"
        )
    mesh = Mesh("nycmesh", f"every link is assumed to deliver {assume_delivery:g} in both directions", assumed=True)
    for where, record in json_records(mesh.tally, nodes, "--nodes", "nodes") if nodes is not None else ():
        with mesh.tally.record():
            id = text_id(record.get("id"))
            if id is None:
                raise BrokenRecordError(where, "has no id; needs a whole number")
            latitude, longitude = coordinates(record.get("coordinates"))
            mesh.add_node(Node(id, label=id, latitude=latitude, longitude=longitude))
    for where, record in json_records(mesh.tally, data, origin, "links"):
        with mesh.tally.record():
            _link(mesh, record, where, assume_delivery, listed=nodes is not None)
    return mesh


def _link(mesh: Mesh, record: dict[str, Any], where: str, delivery: float, *, listed: bool) -> None:
    a, b = text_id(record.get("from")), text_id(record.get("to"))
    if a is None or b is None:
        raise BrokenRecordError(where, "from or to is missing; needs the ids of both ends")
    status = record.get("status", "active")
    if status != "active":
        mesh.left_out[f"links of status {shown(status)}"] += 1
        return
    for id in () if listed else (a, b):
        if id not in mesh.nodes:
            mesh.add_node(Node(id, label=id))
    mesh.add_link(a, b, delivery)
    if a != b:
        mesh.add_link(b, a, delivery)
