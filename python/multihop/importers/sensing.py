"""Inference of sensing beyond the listed links: powers of links, and of pairs without a link.

Nodes also sense each other without a link in the table. Between nodes with positions, the power follows from
a law that is fitted to the links (`path_loss`). If one of two nodes has no position, the graph decides: nodes
with a common neighbour sense each other.

Powers refer to the engine's default noise, sensitivity and carrier sense. A delivery ratio is that of frames
of the probe's size at the data rate; such a link has the power at which the engine's error model delivers
that share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import tomli_w
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from multihop import _core
from multihop.importers.mesh import NOISE_DBM, SENSITIVITY_DBM, Mesh
from multihop.importers.path_loss import USUAL_EXPONENT, Evidence, Flags, Floats, Law, fit

Ints = NDArray[np.int64]
Pair = tuple[str, str]

#: Least power of a pair: weaker signals would raise the noise by less than half a decibel each.
FLOOR_DBM = NOISE_DBM - 10.0
#: Delivery ratio above which losses tell nothing about the power of a link.
LOSSLESS = 0.99
#: Margin of such a link above the power that it needs, without a law.
MARGIN_DB = 6.0
#: Most pairs that are added, those of the highest power.
PAIRS_MAX = 60_000

#: Precision of given latitudes and longitudes: smaller distances count as this one.
PLACED_WITHIN_M = 10.0

_LEAST_DELIVERY, _MOST_THRESHOLD = 0.01, 0.5
_CLASSES = 200


@dataclass(frozen=True)
class Sensed:
    """Inferred sensing.

    Attributes:
        powers: received power of each listed direction in dBm.
        inferred: received power of pairs without a link, equal in both directions.
        law: fitted law; `None` if no link has positions of both ends.
        by_distance: number of inferred pairs from the law.
        by_graph: number of inferred pairs with a common neighbour.
        heard: number of inferred pairs that the file lists although they deliver nothing.
        known: number of inferred pairs whose power the file has.
        sensing: number of inferred pairs that sense each other's frames; the others only interfere.
        too_weak: number of pairs of nodes with positions that are left out as too weak.
        too_many: number of pairs left out beyond `PAIRS_MAX`.
    """

    powers: dict[Pair, float]
    inferred: dict[Pair, float]
    law: Law | None
    by_distance: int
    by_graph: int
    heard: int
    known: int
    sensing: int
    too_weak: int
    too_many: int

    def words(self) -> list[str]:
        """Returns lines about the inferred pairs and the certainty of the law."""
        pairs = (
            f"{len(self.inferred)} pairs without a link ({self.sensing} sense each other, the others only interfere)"
        )
        parts = []
        if self.law is not None and self.by_distance:
            parts.append(f"{self.by_distance} by distance")
        if self.by_graph:
            parts.append(f"{self.by_graph} as they have a neighbour in common and no place")
        if self.heard:
            parts.append(f"{self.heard} as the file lists them, though they deliver nothing")
        if self.known:
            parts.append(f"{self.known} as the file has their power")
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
        """Returns the inference as plain data (JSON)."""
        law = self.law
        return {
            "inferred_pairs": len(self.inferred),
            "by_distance": self.by_distance,
            "by_graph": self.by_graph,
            "heard": self.heard,
            "known": self.known,
            "sensing": self.sensing,
            "too_weak": self.too_weak,
            "too_many": self.too_many,
            "path_loss": None
            if law is None
            else {
                "exponent": law.exponent,
                "exponent_error": law.exponent_error,
                "sigma_db": law.sigma_db,
                "other_losses": law.other_losses,
                "at_1m_dbm": law.at_1m_dbm,
                "links": law.links,
                "absent": law.absent,
                "says_little": law.says_little,
            },
        }


def law_words(law: Law) -> str:
    """Returns a line about a law and its certainty."""
    exponent = f"exponent {law.exponent:.2f} (standard error {law.exponent_error:.2f})"
    sure = f"; links say little of it, {USUAL_EXPONENT:g} was expected" if law.says_little else ""
    evidence = f"from {law.links} directions of links and {law.absent} without one"
    return f"path loss: {exponent}, shadowing of {law.sigma_db:.1f} dB, {evidence}{sure}"


def infer(
    mesh: Mesh,
    places: dict[str, tuple[float, float]],
    phy: dict[str, str],
    probe_size: str,
    *,
    two_hops: bool,
    seed: int = 1,
) -> Sensed:
    """Returns powers for a mesh of delivery ratios or powers.

    Args:
        mesh: nodes and links of the scenario.
        places: positions in metres, of the nodes that have one.
        phy: keys of `[phy]`.
        probe_size: size of the frames to which delivery ratios apply, with unit.
        two_hops: whether nodes with a common neighbour sense each other if one has no position.
        seed: seed of the shadowing of pairs without a link.

    Raises:
        ScenarioError: if the PHY or the size is invalid.
    """
    in_band, exact, band = _qualities(mesh, phy, probe_size)
    lossy = np.array([mesh.quantity == "delivery" and value < LOSSLESS for value in mesh.links.values()], dtype=bool)
    if mesh.assumed:
        lossy[:] = False
    ids = list(mesh.nodes)
    number = {id: index for index, id in enumerate(ids)}
    listed = np.array([(number[a], number[b]) for a, b in mesh.links], dtype=np.int64).reshape(-1, 2)
    xy = np.array([places.get(id, (math.nan, math.nan)) for id in ids], dtype=np.float64).reshape(-1, 2)
    least_m = _least_distance(mesh)
    distances = np.maximum(np.hypot(*(xy[listed[:, 0]] - xy[listed[:, 1]]).T), least_m)
    placed = np.isfinite(distances)
    law = None
    if placed.any():
        absent, counts = _absent(xy[np.isfinite(xy[:, 0])], distances[placed], least_m)
        law = fit(Evidence(distances[placed], exact[placed], lossy[placed], absent, counts, band))
    powers = _powers(exact, in_band, lossy, distances, band, law)
    known = {pair: round(float(power), 1) for pair, power in zip(mesh.links, powers, strict=True)}
    pairs, strength, too_weak = _by_distance(law, xy, listed, band[0], least_m, seed)
    by_distance = len(pairs)
    level = max(SENSITIVITY_DBM + 1.0, (SENSITIVITY_DBM + band[0]) / 2.0)
    if two_hops:
        more = _by_graph(listed, len(ids), np.isfinite(xy[:, 0]) if law is not None else np.zeros(len(ids), dtype=bool))
        pairs = np.concatenate([pairs, more])
        strength = np.concatenate([strength, np.full(len(more), level)])
    from_graph = np.arange(len(pairs)) >= by_distance
    too_many = max(0, len(pairs) - PAIRS_MAX)
    if too_many:
        strongest = np.sort(np.argsort(-strength, kind="stable")[:PAIRS_MAX])
        pairs, strength, from_graph = pairs[strongest], strength[strongest], from_graph[strongest]
    inferred = {(ids[a], ids[b]): round(float(p), 1) for (a, b), p in zip(pairs.tolist(), strength, strict=True)}
    graph = {pair for pair, there in zip(inferred, from_graph.tolist(), strict=True) if there}
    heard = _hear(mesh, inferred, level)
    known_pairs = _take_known(mesh, inferred)
    by_graph = len((graph & inferred.keys()) - heard - known_pairs)
    by_distance = len(inferred) - by_graph - len(heard | known_pairs)
    sensing = sum(power >= SENSITIVITY_DBM for power in inferred.values())
    return Sensed(
        known,
        inferred,
        law,
        by_distance,
        by_graph,
        len(heard - known_pairs),
        len(known_pairs),
        sensing,
        too_weak,
        too_many,
    )


def _hear(mesh: Mesh, inferred: dict[Pair, float], level: float) -> set[Pair]:
    """Adds listed pairs without a link as pairs that sense each other. Returns them."""
    place = {id: index for index, id in enumerate(mesh.nodes)}
    heard = [(a, b) for a, b in (sorted(pair, key=place.__getitem__) for pair in mesh.heard)]
    without = {pair for pair in heard if pair not in mesh.links and pair[::-1] not in mesh.links}
    for pair in sorted(without):
        inferred[pair] = round(max(inferred.get(pair, level), level), 1)
    return without


def _take_known(mesh: Mesh, inferred: dict[Pair, float]) -> set[Pair]:
    """Sets the powers that the file has for pairs without a link. Returns the pairs that remain."""
    known: dict[Pair, float] = {}
    for (a, b), power in mesh.signals.items():
        if (a, b) not in mesh.links and (b, a) not in mesh.links:
            pair = (b, a) if (b, a) in inferred or (b, a) in known else (a, b)
            known[pair] = max(power, known.get(pair, power))
    for pair, power in known.items():
        inferred.pop(pair, None)
        if power >= FLOOR_DBM:
            inferred[pair] = round(power, 1)
    return known.keys() & inferred.keys()


def _qualities(mesh: Mesh, phy: dict[str, str], probe_size: str) -> tuple[Floats, Floats, tuple[float, float]]:
    """Returns each direction's power for its delivery ratio, each known power, and the band.

    The band is the power below which nothing arrives or is listed, and the power above which everything
    arrives.
    """
    values = np.array(list(mesh.links.values()), dtype=np.float64)
    if mesh.quantity == "rssi":
        none, all = _powers_of([_LEAST_DELIVERY, LOSSLESS], phy, probe_size)
        return values, values, (min(float(values.min()), none), all)
    shares = np.clip(values, _LEAST_DELIVERY, LOSSLESS)
    weakest = _LEAST_DELIVERY if mesh.assumed else min(float(shares.min()), _MOST_THRESHOLD)
    *in_band, none, all = _powers_of([*shares.tolist(), weakest, LOSSLESS], phy, probe_size)
    exact = np.array([mesh.powers.get(pair, math.nan) for pair in mesh.links], dtype=np.float64)
    return np.where(np.isfinite(exact), exact, np.array(in_band)), exact, (none, all)


def _powers_of(shares: list[float], phy: dict[str, str], probe_size: str) -> list[float]:
    """Returns the powers at which the engine delivers these shares of probes."""
    medium = {"model": "matrix", "quantity": "delivery-and-rssi", "probe_size": probe_size}
    links = [{"from": a, "to": b, "delivery": 1.0, "rssi": "-60 dBm"} for a, b in ("ab", "ba")]
    topology = {"nodes": [{"name": "a"}, {"name": "b"}], "links": links}
    flows = [{"from": "a", "to": "b", "scheme": "udp"}]
    scenario = {"duration": "1 s", "phy": phy, "medium": medium, "topology": topology, "flows": flows}
    return [NOISE_DBM + snr for snr in _core.snr_of_delivery(tomli_w.dumps(scenario), "<imported>", shares)]


def _least_distance(mesh: Mesh) -> float:
    """Returns the least distance between nodes that positions can tell."""
    geographic = any(node.latitude is not None for node in mesh.nodes.values())
    return PLACED_WITHIN_M if geographic else 1.0


def _absent(xy: Floats, distances: Floats, least_m: float) -> tuple[Floats, Floats]:
    """Returns directions without a link by classes of distance, which avoids a list of all pairs."""
    span = float(np.hypot(*(xy.max(axis=0) - xy.min(axis=0)))) + 1.0
    edges = np.geomspace(least_m, max(span, 2.0 * least_m), _CLASSES)
    tree = cKDTree(xy)
    within = np.asarray(tree.count_neighbors(tree, edges), dtype=np.float64) - len(xy)
    classes = np.diff(np.concatenate([[0.0], within]))
    # As in the tree: a distance counts in the first class whose edge is not below it.
    place = np.minimum(np.searchsorted(edges, distances, side="left"), len(edges) - 1)
    classes -= np.bincount(place, minlength=len(edges))
    middles = np.concatenate([[least_m], np.sqrt(edges[:-1] * edges[1:])])
    some = classes > 0
    return middles[some], classes[some]


def _powers(
    exact: Floats, in_band: Floats, lossy: Flags, distances: Floats, band: tuple[float, float], law: Law | None
) -> Floats:
    """Returns the power of each listed direction, known or expected from its delivery ratio."""
    powers = np.where(lossy, in_band, band[1] + MARGIN_DB)
    if law is not None:
        placed = np.isfinite(distances)
        powers[placed] = law.expected(distances[placed], band, lossy[placed], in_band[placed])
    return np.clip(np.where(np.isfinite(exact), exact, powers), -149.0, 39.0)


def _by_distance(
    law: Law | None, xy: Floats, listed: Ints, threshold: float, least_m: float, seed: int
) -> tuple[Ints, Floats, int]:
    """Returns pairs without a link that matter, their powers, and the number of pairs that are too weak."""
    none = np.empty((0, 2), dtype=np.int64), np.empty(0), 0
    if law is None:
        return none
    placed = np.flatnonzero(np.isfinite(xy[:, 0]))
    tree = cKDTree(xy[placed])
    reach = max(law.reach(FLOOR_DBM - law.sigma_db), least_m)
    # If there are more pairs than allowed, the nearest are kept.
    while tree.count_neighbors(tree, reach) > 40 * PAIRS_MAX + len(placed) and reach > 1.0:
        reach *= 0.8
    pairs = placed[np.asarray(tree.query_pairs(reach, output_type="ndarray"), dtype=np.int64).reshape(-1, 2)]
    pairs = np.sort(pairs, axis=1)
    size = len(xy)
    linked = np.unique(np.sort(listed, axis=1) @ np.array([size, 1]))
    pairs = pairs[~np.isin(pairs @ np.array([size, 1]), linked)]
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    distances = np.maximum(np.hypot(*(xy[pairs[:, 0]] - xy[pairs[:, 1]]).T), least_m)
    # Powers are drawn, since at the mean power none of many pairs would sense where a few of them do.
    draws = np.random.default_rng(seed).uniform(1e-12, 1.0, len(pairs))
    powers = law.below(distances, threshold, draws)
    enough = powers >= FLOOR_DBM
    inside = np.isin(listed, placed).all(axis=1)
    links = len(np.unique(np.sort(listed[inside], axis=1) @ np.array([size, 1])))
    total = len(placed) * (len(placed) - 1) // 2 - links
    return pairs[enough], powers[enough], total - int(enough.sum())


def _by_graph(listed: Ints, nodes: int, placed: NDArray[np.bool_]) -> Ints:
    """Returns pairs with a common neighbour and no link, one of which has no position."""
    ends = np.concatenate([listed, listed[:, ::-1]])
    graph = csr_matrix((np.ones(len(ends), dtype=np.int32), (ends[:, 0], ends[:, 1])), shape=(nodes, nodes))
    two = (graph @ graph).tocoo()
    pairs = np.stack([two.row, two.col], axis=1).astype(np.int64)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    pairs = pairs[~(placed[pairs[:, 0]] & placed[pairs[:, 1]])]
    one = np.unique(np.sort(listed, axis=1) @ np.array([nodes, 1]))
    return pairs[~np.isin(pairs @ np.array([nodes, 1]), one)]
