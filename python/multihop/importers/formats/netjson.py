"""NetJSON NetworkGraph and NetworkCollection (netjson.org), whose links have one cost.

With the metric ETX, a cost is the product of both directions (`etx`). olsrd before 0.9.6 writes ETX in units
of 1/1024: costs are read in these units if half or more are 1000 or above (a wire may cost less than 1). A
cost of 2^22, or the text INFINITE, is a broken link. olsrd leaves the metric empty for its default, which is
ETX (`etx_ff`). Other metrics say nothing about delivery, except directional airtime of olsrd2 (`dat`). A cost
of directional airtime is of one direction; in a graph that lists no link both ways (netdiff), of both.

NetJSON defines no geography. Writers store a position in a node as `location` (netjsongraph.js, OpenWISP:
`{lat, lng}`), directly or within `properties`, or as `lat` and `lon` within `properties`. Links may name a
node by one of its `local_addresses`.

All graphs with a readable metric of a NetworkCollection, or of a list of graphs, form one mesh: nodes with
the same id are one node, and of a link in several graphs the best one is kept.
"""

import math
from statistics import median
from typing import Any

from multihop.base.errors import UserError
from multihop.importers import dat, etx
from multihop.importers.mesh import Mesh, Node
from multihop.importers.parsing.geography import coordinates
from multihop.importers.parsing.records import (
    BrokenRecordError,
    json_records,
    json_type,
    number,
    objects,
    shown,
    text_id,
)

_OLSRD_ONE = 1024.0
_ATTACHED = {"lan", "attached"}

#: Names of ETX: those of olsrd's link-quality algorithms, and those of other writers.
_ETX = {"etx", "etx_ff", "etx_ffeth", "etx_ffeth_nl80211", "etx_fpm", "etx_float"}
_OLSRD = {"olsr", "olsrv1"}

#: Unit of costs of directional airtime, which `dat` reads.
_DAT = math.inf


def matches(data: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether the value is a NetworkGraph, or several."""
    if isinstance(data, list):
        return any(_is(item, "NetworkGraph") for item in data)
    return _is(data, "NetworkGraph", "NetworkCollection")


def read(data: Any, origin: str, assume_delivery: float | None) -> Mesh:  # noqa: ANN401 - any JSON value
    """Reads nodes and links; networks attached to a node are left out.

    Raises:
        UserError: if the shape is another one, or no metric is readable and no delivery ratio is assumed.
    """
    mesh = Mesh("netjson", "")
    graphs = _graphs(data, origin, mesh)
    links = {where: list(json_records(mesh.tally, graph.get("links"), where, "links")) for where, graph in graphs}
    scales = {where: _unit(graph, [link for _, link in links[where]]) for where, graph in graphs}
    useful = [(where, graph) for where, graph in graphs if scales[where] is not None or assume_delivery is not None]
    if not useful:
        metric = str(graphs[0][1].get("metric") or "none") if graphs else "none"
        raise UserError(
            f"{graphs[0][0] if graphs else origin}: metric: found {metric[:40]!r}, which says nothing about delivery; "
            "needs ETX or ff_dat_metric, or use --assume-delivery 0.9 to give every link the same"
        )
    if len(useful) < len(graphs):
        mesh.left_out["graphs whose metric says nothing about delivery"] += len(graphs) - len(useful)
    mesh.assumed = all(scales[where] is None for where, _ in useful)
    mesh.reading = _reading({scales[where] for where, _ in useful}, assume_delivery, len(useful))
    addresses: dict[str, str] = {}
    for where, graph in useful:
        _nodes(mesh, graph, where, addresses, merged=len(useful) > 1)
    for where, _ in useful:
        listed = {tuple(text_id(record.get(key)) for key in ("source", "target")) for _, record in links[where]}
        both_ways = any(pair[::-1] in listed for pair in listed if pair[0] != pair[1])
        for place, record in links[where]:
            with mesh.tally.record():
                _link(mesh, record, place, addresses, scales[where], assume_delivery, both_ways=both_ways)
    return mesh


def _is(data: Any, *types: str) -> bool:  # noqa: ANN401 - any JSON value
    return isinstance(data, dict) and data.get("type") in types


def _graphs(data: Any, origin: str, mesh: Mesh) -> list[tuple[str, dict[str, Any]]]:  # noqa: ANN401 - any JSON value
    """Returns each NetworkGraph with its place. Other objects of a collection are left out."""
    if _is(data, "NetworkGraph"):
        return [(origin, data)]
    items = data.get("collection") if isinstance(data, dict) else data
    found = []
    for where, item in json_records(mesh.tally, items, origin, "collection"):
        if _is(item, "NetworkGraph"):
            found.append((where, item))
        else:
            kind = item.get("type")
            mesh.left_out[f"objects of type {shown(kind) if isinstance(kind, str) else json_type(kind)}"] += 1
    return found


def _nodes(mesh: Mesh, graph: dict[str, Any], origin: str, addresses: dict[str, str], *, merged: bool) -> None:
    for where, record in json_records(mesh.tally, graph.get("nodes"), origin, "nodes"):
        with mesh.tally.record():
            id = text_id(record.get("id"))
            if id is None:
                raise BrokenRecordError(where, "has no id; needs text")
            if _kind(record) in _ATTACHED:
                mesh.omit_node("attached networks")
                continue
            properties = objects(record, "properties")
            latitude, longitude = coordinates(record.get("location"), properties.get("location"), properties, record)
            node = Node(id, label=str(record.get("label") or ""), latitude=latitude, longitude=longitude)
            known = mesh.nodes.get(id) if merged else None
            if known is None:
                mesh.add_node(node)
            elif known.latitude is None:
                known.latitude, known.longitude, known.label = latitude, longitude, known.label or node.label
            local = record.get("local_addresses")
            for address in local if isinstance(local, list) else []:
                text = text_id(objects(address).get("address", address))
                if text is not None:
                    addresses.setdefault(text, id)


def _link(
    mesh: Mesh,
    record: dict[str, Any],
    where: str,
    addresses: dict[str, str],
    scale: float | None,
    assume_delivery: float | None,
    *,
    both_ways: bool,
) -> None:
    source, target = (
        end if end in mesh.nodes or end is None else addresses.get(end, end)
        for end in (text_id(record.get(key)) for key in ("source", "target"))
    )
    if source is None or target is None:
        raise BrokenRecordError(where, "source or target is missing; needs the id of both ends")
    if _kind(record) in _ATTACHED:
        mesh.left_out["links to attached networks"] += 1
        return
    if scale == _DAT:
        direction = dat.direction(number(record.get("cost")))
        direction.add_to(mesh, source, target)
        if not both_ways and source != target:
            direction.add_to(mesh, target, source)
        return
    if any(etx.is_infinite(text) for text in map(record.get, ("cost", "cost_text")) if isinstance(text, str)):
        delivery: float | None = 0.0
    else:
        delivery = assume_delivery if scale is None else etx.delivery(number(record.get("cost")), scale)
    mesh.add_link(source, target, delivery)
    if source != target:
        mesh.add_link(target, source, delivery)


def _unit(graph: dict[str, Any], links: list[dict[str, Any]]) -> float | None:
    """Returns the cost of one transmission, or `_DAT`; `None` if costs say nothing about delivery."""
    metric, protocol = (str(graph.get(key) or "").strip().lower() for key in ("metric", "protocol"))
    if metric == dat.NAME:
        return _DAT
    if metric not in _ETX and not (metric == "" and protocol in _OLSRD):
        return None
    costs = [cost for link in links if (cost := number(link.get("cost"))) is not None and 0.0 < cost < etx.BROKEN]
    return _OLSRD_ONE if costs and median(costs) >= 1000.0 else 1.0


def _reading(scales: set[float | None], assume_delivery: float | None, graphs: int) -> str:
    of = f" ({graphs} graphs are one mesh)" if graphs > 1 else ""
    if scales == {None}:
        return f"every link is assumed to deliver {assume_delivery:g} in both directions{of}"
    unit = " in units of 1/1024" if _OLSRD_ONE in scales else ""
    etx_words = [] if scales <= {_DAT, None} else [f"ETX{unit}, split evenly: each direction delivers 1/sqrt(ETX)"]
    others = [f"{assume_delivery:g} where the metric is none"] if None in scales else []
    return "; ".join([*([dat.READING] if _DAT in scales else []), *etx_words, *others]) + of


def _kind(record: dict[str, Any]) -> str:
    return str(objects(record, "properties").get("type", ""))
