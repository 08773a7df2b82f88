"""NetJSON NetworkGraph (netjson.org), whose links carry one cost.

With the metric ETX, a cost is 1 / (d_f d_r), the product of both directions' delivery probabilities (De Couto
et al. 2003). The split is not in the file, so each direction is given 1 / sqrt(ETX). olsrd writes ETX in
units of 1/1024; a file whose costs are all 1000 or more is read like that. Other metrics say nothing about
delivery.
"""

import math
from typing import Any

from multihop.base.errors import UserError
from multihop.importers.mesh import Mesh, Node, number, records, text_id

_OLSRD_ONE = 1024.0
_ATTACHED = {"lan", "attached"}


def matches(data: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Does this look like a NetworkGraph?"""
    return isinstance(data, dict) and data.get("type") == "NetworkGraph"


def read(data: dict[str, Any], origin: str, assume_delivery: float | None) -> Mesh:
    """Reads nodes and links; networks that are merely attached to a node are left out.

    Raises:
        UserError: if the shape is another one, or the metric says nothing about delivery and none is assumed.
    """
    metric = str(data.get("metric") or "")
    links = records(data.get("links"), origin, "links")
    scale = _etx_unit(metric, links)
    if scale is None and assume_delivery is None:
        raise UserError(
            f"{origin}: metric: found {metric or 'none'!r}, which says nothing about delivery; "
            "what can be read is ETX, or use --assume-delivery 0.9 to give every link the same"
        )
    mesh = Mesh("netjson", _reading(scale, assume_delivery), assumed=scale is None)
    for index, record in enumerate(records(data.get("nodes"), origin, "nodes")):
        _node(mesh, record, f"{origin}: nodes[{index}]")
    for index, record in enumerate(links):
        source, target = text_id(record.get("source")), text_id(record.get("target"))
        if source is None or target is None:
            raise UserError(f"{origin}: links[{index}]: source or target is missing; needs the id of both ends")
        if _kind(record) in _ATTACHED:
            mesh.left_out["links to attached networks"] += 1
            continue
        cost = number(record.get("cost"))
        delivery = assume_delivery if scale is None else _delivery(cost, scale)
        mesh.add_link(source, target, delivery)
        if source != target:
            mesh.add_link(target, source, delivery)
    return mesh


def _node(mesh: Mesh, record: dict[str, Any], where: str) -> None:
    id = text_id(record.get("id"))
    if id is None:
        raise UserError(f"{where}: has no id; needs text")
    if _kind(record) in _ATTACHED:
        mesh.omit_node("attached networks")
        return
    # Geography is not part of NetJSON NetworkGraph; these names are what writers use.
    properties = _properties(record)
    latitude = number(properties.get("lat", properties.get("latitude")))
    longitude = number(properties.get("lon", properties.get("lng", properties.get("longitude"))))
    mesh.add_node(Node(id, label=str(record.get("label") or ""), latitude=latitude, longitude=longitude))


def _etx_unit(metric: str, links: list[dict[str, Any]]) -> float | None:
    """What a cost of one transmission is written as; `None` if costs are not ETX."""
    if metric.strip().lower() not in {"etx", "etx_ff", "etx_fpm", "etx_float"}:
        return None
    costs = [cost for link in links if (cost := number(link.get("cost"))) is not None and math.isfinite(cost)]
    return _OLSRD_ONE if costs and min(costs) >= 1000.0 else 1.0


def _delivery(cost: float | None, unit: float) -> float | None:
    if cost is None or not math.isfinite(cost) or cost <= 0:
        return None
    return min(1.0, 1.0 / math.sqrt(cost / unit))


def _reading(scale: float | None, assume_delivery: float | None) -> str:
    if scale is None:
        return f"every link is assumed to deliver {assume_delivery:g} in both directions"
    unit = "" if scale == 1.0 else " in units of 1/1024"
    return f"ETX{unit}, split evenly: each direction delivers 1/sqrt(ETX)"


def _properties(record: dict[str, Any]) -> dict[str, Any]:
    properties = record.get("properties")
    return properties if isinstance(properties, dict) else {}


def _kind(record: dict[str, Any]) -> str:
    return str(_properties(record).get("type", ""))
