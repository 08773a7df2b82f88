"""Who senses whom, where a list of links ends: powers of links, and of pairs without one.

A node does not stop sensing where a table of links ends. Where nodes have places, the power of each pair follows from
a law that is fitted to the links (`path_loss`); where one of two has none, the graph says it: nodes with a neighbour in
common sense each other.

Powers are those of the engine: its default noise, sensitivity and carrier sense. A delivery is that of frames of the
probe's size at the data rate; such a link has the power at which the engine's error model delivers that share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tomli_w
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from multihop import _core
from multihop.importers.mesh import NOISE_DBM, Mesh
from multihop.importers.path_loss import Evidence, Floats, Law, fit

Ints = NDArray[np.int64]
Pair = tuple[str, str]

#: `medium.sensitivity` of the engine, from which on a frame is sensed.
SENSITIVITY_DBM = -92.0
#: Signals further below the noise than this are left out: each would raise it by less than half a decibel.
FLOOR_DBM = NOISE_DBM - 10.0
#: A link that delivers more than this has no loss that says how strong it is.
LOSSLESS = 0.99
#: By how much such a link is stronger than it needs to be, where no law says it.
MARGIN_DB = 6.0
#: The most pairs that are added: those of the highest power.
PAIRS_MAX = 60_000

_LEAST_DELIVERY, _MOST_THRESHOLD = 0.01, 0.5
_CLASSES = 200


@dataclass(frozen=True)
class Sensed:
    """What was inferred.

    Attributes:
        powers: received power of each direction that is listed, in dBm.
        inferred: and of pairs that are not, both ways.
        law: by which; `None` if no link has both ends placed.
        by_distance: pairs of `inferred` that the law made.
        by_graph: those with a neighbour in common.
        sensing: pairs of `inferred` that sense each other's frames; the others only interfere.
        too_weak: pairs of placed nodes that are left out for being too weak.
        too_many: pairs that are left out beyond `PAIRS_MAX`.
    """

    powers: dict[Pair, float]
    inferred: dict[Pair, float]
    law: Law | None
    by_distance: int
    by_graph: int
    sensing: int
    too_weak: int
    too_many: int

    def words(self) -> list[str]:
        """What was inferred and how sure it is, one line each."""
        pairs = (
            f"{len(self.inferred)} pairs without a link ({self.sensing} sense each other, the others only interfere)"
        )
        parts = []
        if self.law is not None and self.by_distance:
            parts.append(f"{self.by_distance} by distance")
        if self.by_graph:
            parts.append(f"{self.by_graph} as they have a neighbour in common and no place")
        lines = [f"sensing inferred for {pairs}" + (f": {', '.join(parts)}" if parts else "")]
        if self.law is not None:
            lines.append(law_words(self.law))
        left = []
        if self.too_weak:
            left.append(f"{self.too_weak} pairs more than {NOISE_DBM - FLOOR_DBM:g} dB below the noise")
        if self.too_many:
            left.append(f"{self.too_many} of the weaker pairs, beyond {PAIRS_MAX}")
        return lines + ([f"no signal for {' and '.join(left)}"] if left else [])

    def view(self) -> dict[str, Any]:
        """The same for JSON."""
        law = self.law
        return {
            "inferred_pairs": len(self.inferred),
            "by_distance": self.by_distance,
            "by_graph": self.by_graph,
            "sensing": self.sensing,
            "too_weak": self.too_weak,
            "too_many": self.too_many,
            "path_loss": None
            if law is None
            else {
                "exponent": law.exponent,
                "exponent_error": law.exponent_error,
                "sigma_db": law.sigma_db,
                "at_1m_dbm": law.at_1m_dbm,
                "links": law.links,
                "absent": law.absent,
                "assumed_because": law.why or None,
            },
        }


def law_words(law: Law) -> str:
    """A law, and how sure it is, in one line."""
    evidence = f"{law.links} directions of links and {law.absent} without one"
    shadowing = f"shadowing of {law.sigma_db:.1f} dB"
    if law.exponent_error is None:
        return f"path loss: exponent {law.exponent:g} assumed ({law.why}), {shadowing}, from {evidence}"
    exponent = f"exponent {law.exponent:.2f} (standard error {law.exponent_error:.2f})"
    return f"path loss: {exponent}, {shadowing}, from {evidence}"


def infer(
    mesh: Mesh,
    places: dict[str, tuple[float, float]],
    phy: dict[str, str],
    probe_size: str,
    *,
    two_hops: bool,
) -> Sensed:
    """Powers for a mesh of deliveries or powers.

    Args:
        mesh: the nodes and links that the scenario has.
        places: in metres, of the nodes that have one.
        phy: keys of `[phy]`.
        probe_size: size of the frames that deliver as measured, with unit.
        two_hops: do nodes sense each other that have a neighbour in common, where one has no place?

    Raises:
        ScenarioError: if the PHY or the size is none.
    """
    snr = _Snr(phy, probe_size)
    lower, upper = _bounds(mesh, snr)
    threshold = _threshold(mesh, lower, snr)
    ids = list(mesh.nodes)
    number = {id: index for index, id in enumerate(ids)}
    listed = np.array([(number[a], number[b]) for a, b in mesh.links], dtype=np.int64).reshape(-1, 2)
    xy = np.array([places.get(id, (math.nan, math.nan)) for id in ids], dtype=np.float64).reshape(-1, 2)
    distances = np.hypot(*(xy[listed[:, 0]] - xy[listed[:, 1]]).T)
    placed = np.isfinite(distances)
    law = None
    if placed.any():
        absent, counts = _absent(xy[np.isfinite(xy[:, 0])], distances[placed])
        law = fit(Evidence(distances[placed], lower[placed], upper[placed], absent, counts, threshold))
    powers = _powers(lower, upper, distances, law)
    known = {pair: round(float(power), 1) for pair, power in zip(mesh.links, powers, strict=True)}
    pairs, strength, too_weak = _by_distance(law, xy, listed, threshold)
    by_distance = len(pairs)
    if two_hops:
        more = _by_graph(listed, len(ids), np.isfinite(xy[:, 0]) if law is not None else np.zeros(len(ids), dtype=bool))
        level = max(SENSITIVITY_DBM + 1.0, (SENSITIVITY_DBM + threshold) / 2.0)
        pairs = np.concatenate([pairs, more])
        strength = np.concatenate([strength, np.full(len(more), level)])
    by_graph = len(pairs) - by_distance
    too_many = max(0, len(pairs) - PAIRS_MAX)
    if too_many:
        strongest = np.sort(np.argsort(-strength, kind="stable")[:PAIRS_MAX])
        pairs, strength = pairs[strongest], strength[strongest]
    inferred = {(ids[a], ids[b]): round(float(p), 1) for (a, b), p in zip(pairs.tolist(), strength, strict=True)}
    sensing = sum(power >= SENSITIVITY_DBM for power in inferred.values())
    return Sensed(known, inferred, law, by_distance, by_graph, sensing, too_weak, too_many)


class _Snr:
    """At which power a share of the probes arrives."""

    def __init__(self, phy: dict[str, str], probe_size: str) -> None:
        medium = {"model": "matrix", "quantity": "delivery-and-rssi", "probe_size": probe_size}
        ends = [("a", "b"), ("b", "a")]
        links = [{"from": a, "to": b, "delivery": 1.0, "rssi": "-60 dBm"} for a, b in ends]
        topology = {"nodes": [{"name": "a"}, {"name": "b"}], "links": links}
        flows = [{"from": "a", "to": "b", "scheme": "udp"}]
        scenario = {"duration": "1 s", "phy": phy, "medium": medium, "topology": topology, "flows": flows}
        self._text = tomli_w.dumps(scenario)

    def powers(self, shares: Sequence[float]) -> Floats:
        found = _core.snr_of_delivery(self._text, "<imported>", list(shares))
        return np.asarray(found, dtype=np.float64) + NOISE_DBM


def _bounds(mesh: Mesh, snr: _Snr) -> tuple[Floats, Floats]:
    """At least and at most which power each listed direction has."""
    if mesh.quantity == "rssi":
        exact = np.array(list(mesh.links.values()), dtype=np.float64)
        return exact, exact.copy()
    shares = np.array(list(mesh.links.values()), dtype=np.float64)
    least = snr.powers([LOSSLESS if mesh.assumed else min(float(share), LOSSLESS) for share in shares])
    most = np.where((shares >= LOSSLESS) | mesh.assumed, math.inf, least)
    for index, pair in enumerate(mesh.links):
        if pair in mesh.powers:
            least[index] = most[index] = mesh.powers[pair]
    return least, most


def _threshold(mesh: Mesh, lower: Floats, snr: _Snr) -> float:
    """Below which power pairs are not listed."""
    if mesh.quantity == "rssi":
        return min(float(lower.min()), float(snr.powers([_LEAST_DELIVERY])[0]))
    weakest = min(mesh.links.values())
    return float(snr.powers([min(max(weakest, _LEAST_DELIVERY), _MOST_THRESHOLD)])[0])


def _absent(xy: Floats, distances: Floats) -> tuple[Floats, Floats]:
    """Directions without a link, by classes of distance: so there need not be a list of all pairs."""
    span = float(np.hypot(*(xy.max(axis=0) - xy.min(axis=0)))) + 1.0
    edges = np.concatenate([[0.0], np.geomspace(1.0, max(span, 2.0), _CLASSES)])
    tree = cKDTree(xy)
    within = np.asarray(tree.count_neighbors(tree, edges), dtype=np.float64) - len(xy)
    classes = np.diff(np.concatenate([[0.0], within]))
    # Equal edges as the tree has them: a distance counts in the first class whose edge is not below it.
    place = np.minimum(np.searchsorted(edges, distances, side="left"), len(edges) - 1)
    classes -= np.bincount(place, minlength=len(edges))
    middles = np.concatenate([[1.0], np.sqrt(np.maximum(edges[:-1], 1.0) * np.maximum(edges[1:], 1.0))])
    some = classes > 0
    return middles[some], classes[some]


def _powers(lower: Floats, upper: Floats, distances: Floats, law: Law | None) -> Floats:
    """The power of each listed direction: known, or expected of those that lose nothing."""
    exact = np.isfinite(upper)
    powers = np.where(exact, lower, lower + MARGIN_DB)
    if law is not None:
        some = ~exact & np.isfinite(distances)
        for bound in np.unique(lower[some]):
            these = some & (lower == bound)
            powers[these] = law.above(distances[these], float(bound))
    return np.clip(powers, -149.0, 39.0)


def _by_distance(law: Law | None, xy: Floats, listed: Ints, threshold: float) -> tuple[Ints, Floats, int]:
    """Pairs without a link, in either direction or in one, that matter; their powers; how many are too weak."""
    none = np.empty((0, 2), dtype=np.int64), np.empty(0), 0
    if law is None:
        return none
    placed = np.flatnonzero(np.isfinite(xy[:, 0]))
    tree = cKDTree(xy[placed])
    reach = law.reach(FLOOR_DBM)
    # As many pairs as there is room for, at most: if there are more, the nearest.
    while tree.count_neighbors(tree, reach) > 40 * PAIRS_MAX + len(placed) and reach > 1.0:
        reach *= 0.8
    pairs = placed[np.asarray(tree.query_pairs(reach, output_type="ndarray"), dtype=np.int64).reshape(-1, 2)]
    pairs = np.sort(pairs, axis=1)
    size = len(xy)
    linked = np.unique(np.sort(listed, axis=1) @ np.array([size, 1]))
    pairs = pairs[~np.isin(pairs @ np.array([size, 1]), linked)]
    powers = law.below(np.hypot(*(xy[pairs[:, 0]] - xy[pairs[:, 1]]).T), threshold)
    enough = powers >= FLOOR_DBM
    order = np.lexsort((pairs[enough][:, 1], pairs[enough][:, 0]))
    inside = np.isin(listed, placed).all(axis=1)
    links = len(np.unique(np.sort(listed[inside], axis=1) @ np.array([size, 1])))
    total = len(placed) * (len(placed) - 1) // 2 - links
    return pairs[enough][order], powers[enough][order], total - int(enough.sum())


def _by_graph(listed: Ints, nodes: int, placed: NDArray[np.bool_]) -> Ints:
    """Pairs that have a neighbour in common and no link, of which one has no place."""
    ends = np.concatenate([listed, listed[:, ::-1]])
    graph = csr_matrix((np.ones(len(ends), dtype=np.int32), (ends[:, 0], ends[:, 1])), shape=(nodes, nodes))
    two = (graph @ graph).tocoo()
    pairs = np.stack([two.row, two.col], axis=1).astype(np.int64)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    pairs = pairs[~(placed[pairs[:, 0]] & placed[pairs[:, 1]])]
    one = np.unique(np.sort(listed, axis=1) @ np.array([nodes, 1]))
    return pairs[~np.isin(pairs @ np.array([nodes, 1]), one)]
