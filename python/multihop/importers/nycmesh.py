"""NYC Mesh's network map: a JSON list of links `{from, to, status}`, and one of nodes `{id, coordinates}`.

The files know which links exist, not how good they are.
"""

from typing import Any

from multihop.base.errors import UserError
from multihop.importers.mesh import Mesh, Node, number, records, text_id


def matches(data: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Does this look like a list of such links?"""
    return isinstance(data, list) and bool(data) and isinstance(data[0], dict) and {"from", "to"} <= data[0].keys()


def read(data: list[Any], nodes: Any, origin: str, assume_delivery: float | None) -> Mesh:  # noqa: ANN401 - JSON
    """Reads links whose status is `active`, with the same delivery for all.

    Raises:
        UserError: if no delivery is assumed, or a record is of another shape.
    """
    if assume_delivery is None:
        raise UserError(
            f"{origin}: links have no quality (found from, to, status); use --assume-delivery 0.9 to give all the same"
        )
    mesh = Mesh("nycmesh", f"every link is assumed to deliver {assume_delivery:g} in both directions", assumed=True)
    for index, record in enumerate(records(nodes, "--nodes", "nodes") if nodes is not None else []):
        id = text_id(record.get("id"))
        if id is None:
            raise UserError(f"--nodes: nodes[{index}]: has no id; needs a whole number")
        place = record.get("coordinates")
        longitude, latitude = place[:2] if isinstance(place, list) and len(place) >= 2 else (None, None)
        mesh.add_node(Node(id, label=id, latitude=number(latitude), longitude=number(longitude)))
    for index, record in enumerate(records(data, origin, "links")):
        a, b = text_id(record.get("from")), text_id(record.get("to"))
        if a is None or b is None:
            raise UserError(f"{origin}: links[{index}]: from or to is missing; needs the ids of both ends")
        status = record.get("status", "active")
        if status != "active":
            mesh.left_out[f"links of status {status}"] += 1
            continue
        if nodes is None:
            for id in (a, b):
                if id not in mesh.nodes:
                    mesh.add_node(Node(id, label=id))
        mesh.add_link(a, b, assume_delivery)
        if a != b:
            mesh.add_link(b, a, assume_delivery)
    return mesh
