"""Positions without links: CSV with a node's `name` and `lat, lon` (degrees) or `x, y` (metres).

Nodes within a range of each other have a link, as in the medium `ranges`.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from multihop.base.errors import UserError
from multihop.importers.formats.plain import node
from multihop.importers.mesh import Mesh
from multihop.importers.parsing.tables import Table
from multihop.importers.positions import drop_null_island, positions

#: Reception range of ns-2, also the default of the medium `ranges`.
DEFAULT_RANGE_M = 250.0

_PAIRS_MAX = 5_000_000


def matches(columns: tuple[str, ...]) -> bool:
    """Whether the columns are those of nodes with positions."""
    found = set(columns)
    named = bool({"name", "node", "id"} & found)
    return named and ({"lat", "lon"} <= found or {"x", "y"} <= found) and not {"source", "target"} <= found


def read(table: Table, range_m: float | None) -> Mesh:
    """Reads nodes, and adds links within a range.

    Raises:
        UserError: if there are too many links.
    """
    reach = DEFAULT_RANGE_M if range_m is None else range_m
    mesh = Mesh("places", f"no links in the file: nodes within {reach:g} m hear each other", "distance", reach_m=reach)
    for row in table.rows:
        with mesh.tally.record():
            mesh.add_node(node(row))
    drop_null_island(mesh)
    placed = positions(mesh.nodes)
    for id in [id for id in mesh.nodes if id not in placed]:
        del mesh.nodes[id]
        mesh.left_out["nodes without a position"] += 1
    placed = _apart(mesh, placed)
    for count, (a, b, length) in enumerate(_near(placed, reach)):
        if count >= _PAIRS_MAX:
            raise UserError(
                f"{table.origin}: more than {_PAIRS_MAX} pairs are within {reach:g} m; give a smaller --range"
            )
        mesh.add_link(a, b, length)
        mesh.add_link(b, a, length)
    return mesh


def _apart(mesh: Mesh, placed: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Moves nodes at the position of another, such as two on a mast, since path loss needs a distance."""
    taken: set[tuple[float, float]] = set()
    for id, (x, y) in placed.items():
        east = x
        while (east, y) in taken:
            east += 1.0
        taken.add((east, y))
        placed[id] = (east, y)
        if east != x:
            mesh.left_out["places of nodes that were another's (moved east by 1 m)"] += 1
        mesh.nodes[id] = replace(mesh.nodes[id], latitude=None, longitude=None, x=east, y=y)
    return placed


def _near(placed: dict[str, tuple[float, float]], reach: float) -> Iterator[tuple[str, str, float]]:
    """Yields pairs within reach, found in a grid of that size."""
    squares: dict[tuple[int, int], list[str]] = defaultdict(list)
    for id, (x, y) in placed.items():
        column, line = math.floor(x / reach), math.floor(y / reach)
        for other in (o for dx in (-1, 0, 1) for dy in (-1, 0, 1) for o in squares.get((column + dx, line + dy), ())):
            length = math.dist(placed[other], (x, y))
            if length <= reach:
                yield other, id, length
        squares[column, line].append(id)
