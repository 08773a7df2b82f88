"""Positions of a mesh's nodes in metres, and removal of positions that cannot be true."""

from __future__ import annotations

import math
from collections.abc import Iterable

from multihop.importers.mesh import Mesh, Node
from multihop.importers.parsing.geography import EARTH_RADIUS_M, distance_m

#: Distance within which another node makes a position at latitude 0 and longitude 0 plausible.
_NEAR_NULL_M = 100_000.0

#: Longest link: the record of 802.11 is 382 km (Pietrosemoli's group, Venezuela, 2007).
_LONGEST_LINK_M = 400_000.0

#: Number of nodes from which one common position is taken for a default.
_SAME_PLACE = 3


def positions(nodes: dict[str, Node]) -> dict[str, tuple[float, float]]:
    """Returns positions in metres of the nodes that have one.

    Degrees are projected equirectangularly about the mean latitude, with an error below 1 % up to some 100
    km.
    """
    placed = {id: (n.x, n.y) for id, n in nodes.items() if n.x is not None and n.y is not None}
    located = {id: (math.radians(lat), math.radians(lon)) for id, (lat, lon) in _located(nodes).items()}
    if placed or not located:
        return placed
    middle = sum(latitude for latitude, _ in located.values()) / len(located)
    east = {id: longitude * math.cos(middle) * EARTH_RADIUS_M for id, (_, longitude) in located.items()}
    north = {id: latitude * EARTH_RADIUS_M for id, (latitude, _) in located.items()}
    west_end, south_end = min(east.values()), min(north.values())
    return {id: (round(east[id] - west_end, 1), round(north[id] - south_end, 1)) for id in located}


def drop_null_island(mesh: Mesh) -> None:
    """Removes positions at latitude 0 and longitude 0, unless other nodes are near."""
    located = _located(mesh.nodes)
    null = [id for id, place in located.items() if place == (0.0, 0.0)]
    others = [place for place in located.values() if place != (0.0, 0.0)]
    near = any(distance_m(place, (0.0, 0.0)) <= _NEAR_NULL_M for place in others)
    if not near and (others or len(null) > 1):
        _drop(mesh, null, "positions of latitude 0 and longitude 0, which stand for none")


def drop_false_places(mesh: Mesh) -> None:
    """Removes positions in degrees that cannot be true.

    Removed are latitude 0 with longitude 0, a position common to all nodes, and a position with links that
    would all be longer than any real link.
    """
    drop_null_island(mesh)
    located = _located(mesh.nodes)
    if len(located) >= _SAME_PLACE and len(set(located.values())) == 1:
        _drop(mesh, located, "positions that all nodes have alike")
        return
    far: set[str] = set()
    near: set[str] = set()
    for a, b in mesh.links:
        if a in located and b in located:
            (far if distance_m(located[a], located[b]) > _LONGEST_LINK_M else near).update((a, b))
    _drop(mesh, far - near, f"positions more than {_LONGEST_LINK_M / 1e3:g} km from every node with a link")


def _located(nodes: dict[str, Node]) -> dict[str, tuple[float, float]]:
    """Latitude and longitude of the nodes that have both."""
    return {
        id: (n.latitude, n.longitude) for id, n in nodes.items() if n.latitude is not None and n.longitude is not None
    }


def _drop(mesh: Mesh, ids: Iterable[str], why: str) -> None:
    for id in ids:
        mesh.nodes[id].latitude = mesh.nodes[id].longitude = None
        mesh.left_out[why] += 1
