"""meshviewer.json of Freifunk communities: nodes by `node_id`, links with `source_tq` and `target_tq`.

batman-adv IV measures a link by the share of its own broadcasts that a neighbour repeats back, divided by the
share of the neighbour's broadcasts that it receives. The result is the *transmit quality* towards that
neighbour, which a poor reverse link lowers further. So `source_tq` is read as the delivery ratio from source
to target, and `target_tq` as that of the reverse link. The broadcasts are short and sent at a low basic rate,
without retransmissions: a long frame at a high rate has a lower ratio.

meshnet-lab writes positions as `x` and `y`: latitude and longitude in converted files of communities, and
units of its own, taken for metres, in generated networks. They are read as degrees if all values are valid
degrees.
"""

from collections import Counter
from typing import Any

from multihop.importers.mesh import Mesh, Node
from multihop.importers.parsing.geography import coordinates
from multihop.importers.parsing.records import BrokenRecordError, json_records, number, shown, text_id

READING = "batman-adv transmit quality, read as delivery probability of each direction (source_tq: source to target)"


def matches(data: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether the value is a meshviewer.json."""
    if not isinstance(data, dict) or data.get("type") == "NetworkGraph":
        return False
    links = data.get("links")
    return isinstance(links, list) and any(isinstance(link, dict) and "source_tq" in link for link in links)


def read(data: dict[str, Any], origin: str) -> Mesh:
    """Reads nodes that are online and links of type `wifi`.

    Raises:
        UserError: if nodes or links are missing or have another shape.
    """
    mesh = Mesh("meshviewer", READING)
    degrees = _in_degrees(data.get("nodes"))
    offline: set[str] = set()
    times: Counter[frozenset[str]] = Counter()
    for where, record in json_records(mesh.tally, data.get("nodes"), origin, "nodes"):
        with mesh.tally.record():
            id = text_id(record.get("node_id", record.get("id")))
            if id is None:
                raise BrokenRecordError(where, "has no node_id; needs text or a whole number")
            if record.get("is_online") is False:
                mesh.omit_node("nodes that are offline")
                offline.add(id)
                continue
            mesh.add_node(_node(id, record, degrees=degrees))
    for where, record in json_records(mesh.tally, data.get("links"), origin, "links"):
        with mesh.tally.record():
            _link(mesh, record, offline, times, where)
    return mesh


def _in_degrees(nodes: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether all `x` and `y` could be latitudes and longitudes."""
    found = [r for r in nodes if isinstance(r, dict)] if isinstance(nodes, list) else []
    return all(abs(number(r.get("x")) or 0.0) <= 90 and abs(number(r.get("y")) or 0.0) <= 180 for r in found)


def _node(id: str, record: dict[str, Any], *, degrees: bool) -> Node:
    location = record.get("location")
    latitude, longitude = coordinates(location)
    x, y = number(record.get("x")), number(record.get("y"))
    if degrees and not isinstance(location, dict | list):
        latitude, longitude, x, y = x, y, None, None
    return Node(
        id,
        label=str(record.get("hostname") or record.get("name") or ""),
        latitude=latitude,
        longitude=longitude,
        x=x,
        y=y,
        gateway=record.get("is_gateway") is True,
    )


def _link(mesh: Mesh, record: dict[str, Any], offline: set[str], times: Counter[frozenset[str]], where: str) -> None:
    """Adds both directions of a link.

    A record is of two interfaces: a further record of the same nodes is of other radios.
    """
    source, target = text_id(record.get("source")), text_id(record.get("target"))
    if source is None or target is None:
        raise BrokenRecordError(where, "source or target is missing; needs the node_id of both ends")
    kind = record.get("type", "wifi")
    if kind != "wifi":
        mesh.left_out[f"links of type {shown(kind)}"] += 1
        return
    if source in offline or target in offline:
        mesh.left_out["links to nodes that are offline"] += 1
        return
    times[frozenset((source, target))] += 1
    radio = f"link {times[frozenset((source, target))]} of a pair"
    mesh.add_link(source, target, number(record.get("source_tq")), radio=radio)
    if source != target:
        mesh.add_link(target, source, number(record.get("target_tq")), radio=radio)
