"""Positions of nodes in drawings: those of the scenario, or those of a spring model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from multihop import _core

WIDTH, HEIGHT, MARGIN = 1000.0, 560.0, 40.0
_ROOM = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN])
_LEAST_DISTANCE = 7.0
#: Nodes that represent all in distances between nodes and in repulsion.
_SAMPLE = 400
_PIVOTS = 30
#: Distance below which repulsion no longer grows.
_LEAST_FORCED = 0.01
#: Rows of distances in memory at once.
_CHUNK = 1024
#: Golden angle, which separates many points around a centre.
_GOLDEN_ANGLE = 2.399963


def layout(view: _core.ScenarioView) -> tuple[np.ndarray, list[bool]]:
    """Returns positions, and for each node whether it is at the scenario's position."""
    points, measured = _as_given(view)
    if any(measured) and not _too_dense(points):
        return points, measured
    return _spring(len(points), view["links"]), [False] * len(points)


def fit(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Returns coordinates in the picture, y downwards, and pixels per metre."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = np.maximum(high - low, 1e-9)
    scale = float((_ROOM / extent).min())
    xs = MARGIN + (points[:, 0] - low[0]) * scale + (_ROOM[0] - extent[0] * scale) / 2
    ys = MARGIN + (high[1] - points[:, 1]) * scale
    return xs, ys, scale


def distance_apart(xs: np.ndarray, ys: np.ndarray) -> float:
    """Returns the median distance of nodes to their nearest ones, from a sample if there are many."""
    nearest = []
    for node in _sample(len(xs), np.random.default_rng(0)):
        squares = (xs - xs[node]) ** 2 + (ys - ys[node]) ** 2
        squares[node] = math.inf
        nearest.append(squares.min())
    return math.sqrt(float(np.median(nearest)))


def _sample(count: int, rng: np.random.Generator) -> np.ndarray:
    """Returns all nodes, or a random sample of many."""
    return np.arange(count) if count <= _SAMPLE else rng.choice(count, _SAMPLE, replace=False)


def _too_dense(points: np.ndarray) -> bool:
    """Whether most nodes would overlap another although there is room.

    A few distant nodes cause that for a town. Without room for all nodes, other positions do not help: random
    nodes are half as far from their nearest one as evenly spread nodes, and half of that is crowded.
    """
    if len(points) < 3:
        return False
    evenly_spread = math.sqrt(_ROOM.prod() / len(points))
    xs, ys, _ = fit(points)
    return distance_apart(xs, ys) < min(_LEAST_DISTANCE, evenly_spread / 4)


def _as_given(view: _core.ScenarioView) -> tuple[np.ndarray, list[bool]]:
    """Returns positions of the scenario; nodes without one are placed next to their neighbours."""
    nodes = view["nodes"]
    measured = [node["x"] is not None and node["y"] is not None for node in nodes]
    if not any(measured):
        return np.zeros((len(nodes), 2)), measured
    points = np.array([[node["x"], node["y"]] for node in nodes], dtype=np.float64)
    if all(measured):
        return points, measured
    neighbours: dict[int, list[int]] = {}
    for a, b, _ in view["links"]:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    span = float(np.nanmax(points) - np.nanmin(points)) or 1.0
    centre = np.nanmean(points[measured], axis=0)
    for index, known in enumerate(measured):
        if known:
            continue
        near = [points[n] for n in neighbours.get(index, []) if measured[n]]
        middle = np.mean(near, axis=0) if near else centre
        angle = _GOLDEN_ANGLE * index
        points[index] = middle + 0.02 * span * np.array([math.cos(angle), math.sin(angle)])
    return points, measured


def _spring(count: int, links: list[tuple[int, int, float]]) -> np.ndarray:
    """Returns a force-directed layout (Fruchterman and Reingold 1991), equal for equal graphs.

    Springs cannot unfold a large network from any start, so it starts as `_unfolded`.
    """
    if count < 2:
        return np.zeros((count, 2))
    pairs = np.array(sorted({(min(a, b), max(a, b)) for a, b, _ in links}), dtype=int).reshape(-1, 2)
    rng = np.random.default_rng(0)
    if count <= _SAMPLE:
        angle = _GOLDEN_ANGLE * np.arange(count)
        points = np.sqrt(np.arange(count) + 0.5)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        steps, temperature, cooling = 300, math.sqrt(count), 0.97
    else:
        points = _unfolded(count, pairs, rng)
        steps, temperature, cooling = 60, math.sqrt(count) / 10, 0.95
    for _ in range(steps):
        force = _repulsion(points, points[_sample(count, rng)])
        pull = points[pairs[:, 0]] - points[pairs[:, 1]]
        pull *= np.linalg.norm(pull, axis=1)[:, None]
        np.add.at(force, pairs[:, 0], -pull)
        np.add.at(force, pairs[:, 1], pull)
        length = np.maximum(np.linalg.norm(force, axis=1), 1e-9)[:, None]
        points += force / length * np.minimum(length, temperature)
        temperature = max(temperature * cooling, 0.01)
    # The longest direction becomes horizontal.
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    turned: np.ndarray = centred @ axes.T
    return turned


def _repulsion(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Returns the force on each point from `others`, all points or a representative sample."""
    weight = len(points) / len(others)
    least = np.full((len(others), 1), _LEAST_FORCED)
    if weight > 1.0:
        # A sampled node represents the nodes up to the next sampled node. Within that distance, its force
        # falls to zero.
        apart = np.hypot(*(others[:, axis] - others[:, axis, None] for axis in (0, 1)))
        np.fill_diagonal(apart, math.inf)
        least = np.maximum(apart.min(axis=1)[:, None], _LEAST_FORCED)
    force = np.empty_like(points)
    for begin in range(0, len(points), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        x, y = (points[part, axis] - others[:, axis, None] for axis in (0, 1))
        distance = np.maximum(np.sqrt(x**2 + y**2), least)
        distance **= 2
        force[part] = weight * np.column_stack([(x / distance).sum(axis=0), (y / distance).sum(axis=0)])
    return force


def _unfolded(count: int, pairs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns positions whose distances resemble hops to pivots (PivotMDS, Brandes and Pich 2007)."""
    ends = np.vstack([pairs, pairs[:, ::-1]])
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    neighbours = np.split(ends[:, 1], np.cumsum(np.bincount(ends[:, 0], minlength=count))[:-1])
    hops = np.empty((_PIVOTS, count))
    pivot = 0
    for row in range(_PIVOTS):
        hops[row] = _hops(pivot, neighbours)
        # The next pivot is as far as possible from the previous ones.
        pivot = int(hops[: row + 1].min(axis=0).argmax())
    squares = hops**2
    squares += squares.mean() - squares.mean(axis=0) - squares.mean(axis=1)[:, None]
    _, sizes, directions = np.linalg.svd(squares, full_matrices=False)
    points = directions[:2].T * np.sqrt(sizes[:2])
    if len(pairs):
        # Root mean square, since in cells the links of pivots are long and most others are zero.
        lengths = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
        points /= max(1e-9, math.sqrt(float((lengths**2).mean())))
    # Nodes with equal neighbours have equal positions, which no force could separate.
    made: np.ndarray = points + 0.1 * rng.standard_normal(points.shape)
    return made


def _hops(start: int, neighbours: list[np.ndarray]) -> np.ndarray:
    """Returns hops from a node to each; for unreachable nodes, one more than to the farthest."""
    hops = np.full(len(neighbours), -1)
    hops[start] = 0
    reached = [start]
    at = 0
    while at < len(reached):
        near = neighbours[reached[at]]
        fresh = near[hops[near] < 0]
        hops[fresh] = hops[reached[at]] + 1
        reached += fresh.tolist()
        at += 1
    hops[hops < 0] = hops.max() + 1
    return hops
