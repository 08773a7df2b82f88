"""Result of every importer: nodes, directed links, and counts of omitted parts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from multihop.importers.parsing.records import RecordTally
from multihop.simulation.scenario import schema

Quantity = Literal["delivery", "rssi", "distance"]


def _engine_dbm(key: str) -> float:
    """Returns a default power of the engine's `sinr` medium in dBm."""
    media = schema()["$defs"]["Medium"]["oneOf"]
    keys = next(medium["properties"] for medium in media if medium["properties"]["model"]["const"] == "sinr")
    return float(keys[key]["default"].removesuffix(" dBm"))


#: Default noise of the engine, to which powers in a mesh refer.
NOISE_DBM = _engine_dbm("noise")
#: `medium.sensitivity` of the engine, the least power at which a frame is sensed.
SENSITIVITY_DBM = _engine_dbm("sensitivity")


@dataclass
class Node:
    """Node of a mesh. Position in degrees (`latitude`, `longitude`), in metres (`x`, `y`), or none."""

    id: str
    label: str = ""
    latitude: float | None = None
    longitude: float | None = None
    x: float | None = None
    y: float | None = None
    gateway: bool = False


#: Range of powers of a link in dBm that the engine accepts.
POWERS_DBM = (-150.0, 40.0)

#: Reason for omitting a repeated direction.
REPEATED = "parallel or repeated directions (the best one stays)"


@dataclass
class Mesh:
    """Network as the file describes it.

    Attributes:
        format: name of the file format.
        reading: sentence on how link qualities were read.
        quantity: quantity of `links`: delivery ratios (0 to 1), received powers in dBm, or distances in
            metres.
        nodes: nodes by id, in the order of the file.
        links: value of each direction (from, to); a missing direction is not received.
        left_out: number of omitted parts, by reason.
        nodes_listed: number of nodes in the file, imported or not.
        reach_m: reception range, if links hold distances.
        powers: received power in dBm of each direction with noise of `NOISE_DBM`, if the file has it as well.
        rates: rate of unicast frames in b/s of each direction, if the file has it.
        throughputs: rate of unicast frames times delivery in b/s of each direction of which only this product
            is known; its delivery in `links` is 1 until `rates.split_throughputs`.
        radios: meshes of the same nodes with the links of one radio, by its label, if the file distinguishes
            radios.
        are_named: whether the file names the radio of a link; otherwise radios number parallel links.
        standard: PHY of the file, if it has one.
        assumed: whether the values of `links` are assumed, not measured.
        heard: pairs that the file lists although a direction delivers nothing. They sense each other.
        signals: received power in dBm of directions without a link, if the file has it.
        tally: counts of the file's records, and of broken ones.
    """

    format: str
    reading: str
    quantity: Quantity = "delivery"
    nodes: dict[str, Node] = field(default_factory=dict)
    links: dict[tuple[str, str], float] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    nodes_listed: int = 0
    reach_m: float = 0.0
    powers: dict[tuple[str, str], float] = field(default_factory=dict)
    rates: dict[tuple[str, str], float] = field(default_factory=dict)
    throughputs: dict[tuple[str, str], float] = field(default_factory=dict)
    radios: dict[str, Mesh] = field(default_factory=dict)
    are_named: bool = False
    standard: str | None = None
    assumed: bool = False
    heard: set[frozenset[str]] = field(default_factory=set)
    signals: dict[tuple[str, str], float] = field(default_factory=dict)
    tally: RecordTally = field(default_factory=RecordTally)

    def add_node(self, node: Node) -> None:
        """Adds a node; a second one with the same id is left out."""
        self.nodes_listed += 1
        if node.id in self.nodes:
            self.left_out["nodes with an id that was already there"] += 1
            return
        _drop_bad_position(self, node)
        self.nodes[node.id] = node

    def omit_node(self, why: str) -> None:
        """Counts a node that is left out."""
        self.nodes_listed += 1
        self.left_out[why] += 1

    def add_link(
        self,
        source: str,
        target: str,
        value: float | None,
        power: float | None = None,
        rate: float | None = None,
        radio: str | None = None,
    ) -> None:
        """Adds a directed link. Of parallel links, `links` keeps the best.

        With a `radio`, the link is also added to the mesh of that radio.
        """
        if radio is not None:
            if radio not in self.radios:
                self.radios[radio] = Mesh(self.format, self.reading, self.quantity, self.nodes, assumed=self.assumed)
            self.radios[radio].add_link(source, target, value, power, rate)
        if source == target:
            self.left_out["links from a node to itself"] += 1
            return
        if source not in self.nodes or target not in self.nodes:
            self.left_out["links to nodes that are not listed"] += 1
            return
        if value is None or not math.isfinite(value):
            self.left_out["directions without a usable quality"] += 1
            return
        if self.quantity == "delivery":
            if not 0.0 <= value <= 1.0:
                self.left_out["directions with a delivery outside of 0 to 1"] += 1
                return
            if value == 0.0:
                self.left_out["directions that deliver nothing"] += 1
                self.heard.add(frozenset((source, target)))
                return
        if self.quantity == "rssi" and not POWERS_DBM[0] < value < POWERS_DBM[1]:
            self.left_out[f"directions with a power outside of {POWERS_DBM[0]:g} to {POWERS_DBM[1]:g} dBm"] += 1
            return
        known = self.links.get((source, target))
        if known is not None:
            self.left_out[REPEATED] += 1
            if value < known:
                return
        self.links[source, target] = value
        for table, measured in ((self.powers, power), (self.rates, rate)):
            if measured is not None and math.isfinite(measured):
                table[source, target] = measured

    @property
    def parallel(self) -> int:
        """Number of directions with links of several radios."""
        times = Counter(pair for radio in self.radios.values() for pair in radio.links)
        return sum(count > 1 for count in times.values())

    def largest_component(self, *, by_radio: bool = False) -> list[str]:
        """Returns the largest set of nodes connected by two-way links; of equal sets, the first in the file.

        With `by_radio`, both directions of a link must be of the same radio.
        """
        neighbours: dict[str, list[str]] = {}
        for links in [radio.links for radio in self.radios.values()] if by_radio else [self.links]:
            for a, b in links:
                if (b, a) in links:
                    neighbours.setdefault(a, []).append(b)
        seen: set[str] = set()
        best: list[str] = []
        for start in self.nodes:
            if start in seen or start not in neighbours:
                continue
            reached = _reach(start, neighbours)
            seen |= reached
            if len(reached) > len(best):
                best = [node for node in self.nodes if node in reached]
        return best

    def restricted(self, keep: Iterable[str]) -> Mesh:
        """Returns the mesh with only these nodes and the links between them."""
        kept = set(keep)
        nodes = {id: node for id, node in self.nodes.items() if id in kept}
        links, powers, rates, signals = (
            {pair: value for pair, value in table.items() if kept.issuperset(pair)}
            for table in (self.links, self.powers, self.rates, self.signals)
        )
        return replace(
            self,
            nodes=nodes,
            links=links,
            left_out=Counter(self.left_out),
            powers=powers,
            rates=rates,
            radios={radio: mesh.restricted(kept) for radio, mesh in self.radios.items()},
            signals=signals,
            heard={pair for pair in self.heard if kept.issuperset(pair)},
        )


#: Largest coordinate in metres, for which squares of distances are finite.
_FARTHEST_M = 1e9


def _drop_bad_position(mesh: Mesh, node: Node) -> None:
    pair = (node.latitude, node.longitude)
    if pair != (None, None) and not _on_earth(*pair):
        swapped = " (latitude and longitude may be swapped)" if _on_earth(*reversed(pair)) else ""
        mesh.left_out[f"positions that are not on Earth{swapped}"] += 1
        node.latitude = node.longitude = None
    pair = (node.x, node.y)
    if pair != (None, None) and not all(v is not None and math.isfinite(v) for v in pair):
        mesh.left_out["positions that are not numbers"] += 1
        node.x = node.y = None
    elif any(v is not None and abs(v) > _FARTHEST_M for v in pair):
        mesh.left_out["positions that are not on Earth"] += 1
        node.x = node.y = None


def _on_earth(latitude: float | None, longitude: float | None) -> bool:
    if latitude is None or longitude is None or not (math.isfinite(latitude) and math.isfinite(longitude)):
        return False
    return abs(latitude) <= 90 and abs(longitude) <= 180


def _reach(start: str, neighbours: dict[str, list[str]]) -> set[str]:
    reached, frontier = {start}, [start]
    while frontier:
        for neighbour in neighbours[frontier.pop()]:
            if neighbour not in reached:
                reached.add(neighbour)
                frontier.append(neighbour)
    return reached
