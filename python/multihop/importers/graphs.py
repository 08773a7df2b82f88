"""Graphs whose edges have named attributes, as in GraphML and DOT: the attribute that is a link's quality.

Quality is the first of these that any edge has as a number:

- `delivery`, `delivery_probability`, `pdr`: delivery from source to target (0 to 1);
- `nlq` and `lq`, or netdiff's `neighbor_link_quality` and `link_quality`: as in OLSR, delivery from source to
  target and of the reverse direction;
- `rssi`, `rssi_dbm`, `signal`, `signal_dbm`: received power at the target in dBm;
- `snr`, `snr_db`: signal-to-noise ratio in dB, relative to the noise of the engine;
- `etx`: ETX, split evenly (`etx`);
- `weight`, `cost`, `metric`, `label`: a number without a name. From 0 to 1, they are deliveries; from 1 up,
  with a median of at most 20, they are ETX. Others are refused, since a wrong unit would give wrong results.

An undirected edge counts in both directions. So does a directed edge with ETX, a measure of both directions,
unless the file has the reverse edge.

Positions are `lat` and `lon` (also `latitude`, `longitude`, `lng`) in degrees, or `x` and `y` in metres.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from multihop.base.errors import UserError
from multihop.importers import etx
from multihop.importers.mesh import NOISE_DBM, Mesh, Node, Quantity
from multihop.importers.parsing.geography import coordinates
from multihop.importers.parsing.records import number, shown

_YES = {"1", "true", "y", "yes"}

#: Upper limit of the median ETX of links that carry traffic.
_USUAL_ETX = 20.0


@dataclass(frozen=True)
class Vertex:
    """Node of a graph, with attribute names in lower case; `drawn`: `x` and `y` are of a drawing."""

    id: str
    label: str
    attributes: Mapping[str, str]
    drawn: bool = False


@dataclass(frozen=True)
class Edge:
    """Edge of a graph, with attribute names in lower case."""

    source: str
    target: str
    attributes: Mapping[str, str]
    directed: bool


@dataclass(frozen=True)
class _Column:
    """Interpretation of an attribute: its names, kind of quantity, and description."""

    names: tuple[str, ...]
    kind: str
    words: str


_COLUMNS = (
    _Column(("delivery", "delivery_probability", "pdr"), "delivery", "delivery probability, as given"),
    _Column(("nlq", "neighbor_link_quality"), "nlq", "OLSR link quality: NLQ is delivery towards the target"),
    _Column(("rssi_dbm", "rssi", "signal_dbm", "signal"), "rssi", "received power in dBm, as given"),
    _Column(("snr", "snr_db"), "snr", f"signal-to-noise ratio in dB, over noise of {NOISE_DBM:g} dBm"),
    _Column(("etx",), "etx", "ETX, split evenly: each direction delivers 1/sqrt(ETX)"),
    _Column(("weight", "cost", "metric", "label"), "unnamed", ""),
)
_REVERSE = {"nlq": "lq", "neighbor_link_quality": "link_quality"}


def fill(mesh: Mesh, origin: str, edges: list[Edge], assume_delivery: float | None) -> Mesh:
    """Adds edges as links to a mesh with nodes, and sets how their quality is read.

    Raises:
        UserError: if no attribute is a quality and none is assumed, or its unit is unknown.
    """
    name, kind, words = _quality(origin, edges, assume_delivery)
    mesh.reading = words
    quantity: Quantity = "rssi" if kind in {"rssi", "snr"} else "delivery"
    mesh.quantity, mesh.assumed = quantity, kind == "assumed"
    both_ways = {"etx", "assumed"}
    listed = {(edge.source, edge.target) for edge in edges}
    for edge in edges:
        there = assume_delivery if kind == "assumed" else _value(edge, name, kind)
        back = there if not edge.directed or kind in both_ways else None
        if kind == "nlq":
            back = _value(edge, _REVERSE[name], kind)
        mesh.add_link(edge.source, edge.target, there)
        if edge.source == edge.target:
            continue
        if not edge.directed or kind == "nlq" or (kind in both_ways and (edge.target, edge.source) not in listed):
            mesh.add_link(edge.target, edge.source, back)
    return mesh


def add_node(mesh: Mesh, vertex: Vertex) -> None:
    """Adds a node with the position in its attributes."""
    found = vertex.attributes
    latitude, longitude = coordinates(dict(found))
    x, y = number(found.get("x")), number(found.get("y"))
    if (latitude, longitude) != (None, None):
        x = y = None
    elif vertex.drawn and (x, y) != (None, None):
        mesh.left_out["positions that are those of a drawing"] += 1
        x = y = None
    gateway = str(found.get("gateway", "")).strip().lower() in _YES
    mesh.add_node(Node(vertex.id, vertex.label, latitude, longitude, x, y, gateway))


def _quality(origin: str, edges: list[Edge], assume_delivery: float | None) -> tuple[str, str, str]:
    """Returns name and kind of the attribute that is read, and a description."""
    for column in _COLUMNS:
        for name in column.names:
            values = [value for edge in edges if (value := _number(edge.attributes.get(name))) is not None]
            if not values:
                continue
            if column.kind != "unnamed":
                return name, column.kind, column.words
            kind = _kind_of([value for value in values if value < etx.BROKEN])
            if kind == "delivery":
                return name, kind, f"{name} from 0 to 1, taken for delivery probability"
            if kind == "etx":
                words = f"{name} from 1 up, taken for ETX and split evenly: each direction delivers 1/sqrt({name})"
                return name, kind, words
            if assume_delivery is None:
                raise UserError(
                    f"{origin}: {name}: found {min(values):g} to {max(values):g}, which is neither delivery (0 to 1) "
                    "nor ETX (from 1 up); name it delivery, etx, snr or rssi, or use --assume-delivery 0.9"
                )
    if not edges:
        raise UserError(f"{origin}: the graph has no edges; needs edges, which are links")
    if assume_delivery is None:
        names = sorted({name for edge in edges for name in edge.attributes})
        found = f"found {shown(', '.join(names), 80)}" if names else "found no attributes"
        raise UserError(
            f"{origin}: edges have no quality: {found}; needs delivery, etx, snr, rssi or weight, "
            "or use --assume-delivery 0.9"
        )
    return "", "assumed", f"every link is assumed to deliver {assume_delivery:g} in both directions"


def _kind_of(values: list[float]) -> str | None:
    """Returns the kind of numbers without a name; `None` if ambiguous."""
    if not values or min(values) < 0.0:
        return None
    if max(values) <= 1.0:
        # If all values are 1, delivery and ETX agree.
        return "delivery"
    return "etx" if min(values) >= 1.0 and median(values) <= _USUAL_ETX else None


def _value(edge: Edge, name: str, kind: str) -> float | None:
    value = _number(edge.attributes.get(name))
    if kind == "etx":
        return etx.delivery(value)
    if kind == "snr":
        return None if value is None else NOISE_DBM + value
    return value


def _number(text: str | None) -> float | None:
    return float("inf") if text is not None and etx.is_infinite(text) else number(text)
