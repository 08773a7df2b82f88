"""From a mesh to a scenario: choose nodes, infer who senses whom, add traffic, write TOML that a person can edit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from multihop.base import extras
from multihop.base.errors import UserError
from multihop.importers.mesh import Mesh, positions
from multihop.importers.rates import link_rates
from multihop.importers.text import quote
from multihop.importers.traffic import Traffic, Wishes, require_traffic
from multihop.importers.traffic import choose as _traffic
from multihop.simulation import scenario

if TYPE_CHECKING:
    from multihop.importers.sensing import Sensed

#: Carrier sense of ns-2's WaveLAN, 550 m, beside its reception, 250 m.
_SENSE_RATIO = 2.2

#: The most nodes that the engine takes; a test asks it.
NODES_MAX = 100_000

TRAFFIC = ("to-gateway", "random-pairs", "gateway")
COMPONENTS = ("largest", "all")
SENSING = ("inferred", "listed")


@dataclass(frozen=True)
class Plan(Wishes):
    """What the scenario should look like; for its traffic see `Wishes`.

    Attributes:
        name: its name.
        component: `largest` or `all`.
        scheme: congestion control of every flow.
        standard: PHY.
        data_rate: rate of unicast DATA frames; `None` for the highest of the PHY.
        duration: with unit.
        warmup: with unit.
        probe_size: size of frames that deliver as measured, with unit.
        min_delivery: links that deliver less in either direction are left out.
        sensing: `inferred` for powers, and pairs that sense each other beyond the list; `listed` for the list alone.
        two_hops: where a place is missing, nodes with a neighbour in common sense each other.
        shadowing_seed: of what pairs without a link have.
    """

    name: str = "imported mesh"
    component: str = "largest"
    scheme: str = "tcp-newreno"
    standard: str = "802.11b"
    data_rate: str | None = None
    duration: str = "60 s"
    warmup: str = "10 s"
    probe_size: str = "1500 B"
    min_delivery: float = 0.0
    sensing: str = "inferred"
    two_hops: bool = True
    shadowing_seed: int = 1


@dataclass(frozen=True)
class Imported:
    """A scenario from a mesh.

    Attributes:
        text: the scenario (TOML).
        summary: what was kept, what was left out and why, line by line.
        nodes: how many nodes were kept.
        links: how many directed links were kept.
        left_out: what -> how many.
        gateway: name of the node that traffic goes to, if it goes to one.
        gateways: names of the gateways of clients.
        sensed: what was inferred about sensing; `None` if nothing was to be.
        parallel: how many directions had several links.
    """

    text: str
    summary: list[str]
    nodes: int
    links: int
    left_out: dict[str, int]
    gateway: str | None
    gateways: list[str] = field(default_factory=list)
    sensed: dict[str, Any] | None = None
    parallel: int = 0


def write(mesh: Mesh, plan: Plan, origin: str) -> Imported:
    """Makes a scenario.

    Raises:
        UserError: if an option makes no sense for this mesh.
    """
    _require(plan)
    found_links = len(mesh.links)
    mesh = _without_weak_links(mesh, plan.min_delivery)
    kept = mesh.largest_component() if plan.component == "largest" else list(mesh.nodes)
    if len(kept) < 2:
        raise UserError(f"{origin}: no two nodes hear each other; there is no network to simulate")
    if len(kept) > NODES_MAX:
        raise UserError(
            f"{origin}: {len(kept)} nodes would be kept; at most {NODES_MAX} are simulated: "
            "use --component largest or --min-delivery, or give a part of the mesh"
        )
    lost = len(mesh.nodes) - len(kept)
    mesh = mesh.restricted(kept)
    if lost:
        mesh.left_out["nodes outside of the largest component of two-way links"] += lost
    names = _names(mesh)
    placed = positions(mesh.nodes)
    traffic = _traffic(mesh, plan, names)
    known = _Known(mesh, names, placed)
    if plan.sensing == "inferred" and mesh.quantity != "distance":
        phy = {"standard": plan.standard, **({"data_rate": plan.data_rate} if plan.data_rate else {})}
        extras.require("mesh", "import without --sensing listed")
        from multihop.importers.sensing import infer

        known.sensed = infer(mesh, placed, phy, plan.probe_size, two_hops=plan.two_hops, seed=plan.shadowing_seed)
        known.rates, rates_line = link_rates(mesh, plan.standard, plan.data_rate)
    else:
        rates_line = None
    unplaced = sum(1 for id in mesh.nodes if id not in placed)
    one_way = sum(1 for a, b in mesh.links if (b, a) not in mesh.links)
    summary = [
        f"kept {len(mesh.nodes)} of {mesh.nodes_listed} nodes and {len(mesh.links)} of {found_links} directed links",
        *([f"of these, {one_way} directions are one-way: they interfere, but carry no traffic"] if one_way else []),
        *([f"of these, {unplaced} nodes have no position"] if unplaced else []),
        *(f"left out: {count} {what}" for what, count in mesh.left_out.most_common()),
        f"read as {mesh.format}: {mesh.reading}",
        *(known.sensed.words() if known.sensed else []),
        *([rates_line] if rates_line else []),
        *traffic.words,
    ]
    text = _toml(known, plan, traffic, summary, origin)
    if len(text) > scenario.MAX_BYTES:
        raise UserError(
            f"{origin}: the scenario would have {len(text) / 1e6:.0f} MB, of {len(mesh.nodes)} nodes and "
            f"{len(mesh.links)} directed links; at most {scenario.MAX_BYTES // 1_000_000} MB are read: "
            "leave out weak links by --min-delivery, or give a part of the mesh"
        )
    return Imported(
        text,
        summary,
        len(mesh.nodes),
        len(mesh.links),
        dict(mesh.left_out),
        traffic.gateway,
        traffic.gateways,
        known.sensed.view() if known.sensed else None,
        len(mesh.parallel),
    )


def _require(plan: Plan) -> None:
    if plan.component not in COMPONENTS:
        raise UserError(f"--component: found {plan.component!r}; what would do: {', '.join(COMPONENTS)}")
    if plan.traffic not in TRAFFIC:
        raise UserError(f"--traffic: found {plan.traffic!r}; what would do: {', '.join(TRAFFIC)}")
    if plan.sensing not in SENSING:
        raise UserError(f"--sensing: found {plan.sensing!r}; what would do: {', '.join(SENSING)}")
    if plan.shadowing_seed < 0:
        raise UserError(f"--shadowing-seed: found {plan.shadowing_seed}; needs 0 or more")
    require_traffic(plan)
    if plan.flows < 1:
        raise UserError(f"--flows: found {plan.flows}; needs at least 1")
    if not 0.0 <= plan.min_delivery <= 1.0:
        raise UserError(f"--min-delivery: found {plan.min_delivery:g}; needs 0 to 1")


def _without_weak_links(mesh: Mesh, least: float) -> Mesh:
    if mesh.quantity != "delivery" or least <= 0.0:
        return mesh
    weak = [
        pair for pair, value in mesh.links.items() if value < least or mesh.links.get((pair[1], pair[0]), 0.0) < least
    ]
    result = mesh.restricted(mesh.nodes)
    for pair in weak:
        del result.links[pair]
    if weak:
        result.left_out[f"directions of links that deliver less than {least:g}"] += len(weak)
    return result


def _names(mesh: Mesh) -> dict[str, str]:
    """Labels as names where they are there and distinct, ids otherwise."""
    labels = Counter(node.label for node in mesh.nodes.values() if node.label)
    return {id: node.label if labels[node.label] == 1 else id for id, node in mesh.nodes.items()}


@dataclass
class _Known:
    """What there is to write."""

    mesh: Mesh
    names: dict[str, str]
    placed: dict[str, tuple[float, float]]
    sensed: Sensed | None = None
    rates: dict[tuple[str, str], float] = field(default_factory=dict)


def _toml(known: _Known, plan: Plan, traffic: Traffic, summary: list[str], origin: str) -> str:
    mesh, names = known.mesh, known.names
    lines = [
        *(f"# {line}" for line in _comment_lines([f"Imported from {origin} by `multihop import`.", *summary])),
        f"name = {quote(plan.name)}",
        f"duration = {quote(plan.duration)}",
        f"warmup = {quote(plan.warmup)}",
        "",
        "[phy]",
        f"standard = {quote(plan.standard)}",
        *([f"data_rate = {quote(plan.data_rate)}"] if plan.data_rate else []),
        "",
        "[medium]",
        *_medium_lines(known, plan),
        "",
        "[routing]",
        *(['metric = "etx"'] if mesh.quantity != "distance" else []),
        "",
        "[traffic]",
        *traffic.lines,
        f"scheme = {quote(plan.scheme)}",
        *([] if plan.mix else ['app = { kind = "saturated" }']),
        'start_jitter = "1 s"',
        "pairs_seed = 1",
        "",
        "[topology]",
        "nodes = [",
        *(_node_line(names[id], known.placed.get(id)) for id in mesh.nodes),
        "]",
        *([] if mesh.quantity == "distance" else ["links = [", *_link_lines(known), *_sensed_lines(known), "]"]),
    ]
    return "\n".join(lines) + "\n"


def _medium_lines(known: _Known, plan: Plan) -> list[str]:
    mesh = known.mesh
    if mesh.quantity == "distance":
        # As in ns-2, nodes sense each other up to 2.2 times as far as they can decode.
        sense = _SENSE_RATIO * mesh.reach_m
        return ['model = "ranges"', f'receive_range = "{mesh.reach_m:g} m"', f'carrier_sense_range = "{sense:g} m"']
    probe = [f"probe_size = {quote(plan.probe_size)}"] if mesh.quantity == "delivery" else []
    quantity = "delivery-and-rssi" if known.sensed and mesh.quantity == "delivery" else mesh.quantity
    return ['model = "matrix"', f"quantity = {quote(quantity)}", *probe]


def _node_line(name: str, position: tuple[float, float] | None) -> str:
    if position is None:
        return f"  {{ name = {quote(name)} }},"
    return f'  {{ name = {quote(name)}, position = ["{position[0]:.12g} m", "{position[1]:.12g} m"] }},'


def _link_lines(known: _Known) -> list[str]:
    """One line per pair; the way back as `reverse` where it is heard."""
    mesh, names, powers = known.mesh, known.names, known.sensed.powers if known.sensed else {}
    lines = []
    done: set[frozenset[str]] = set()
    for (a, b), value in mesh.links.items():
        if frozenset((a, b)) in done:
            continue
        done.add(frozenset((a, b)))
        back = mesh.links.get((b, a))
        parts = []
        if mesh.quantity == "delivery":
            parts += [f"delivery = {_decimal(value)}", *([f"reverse = {_decimal(back)}"] if back is not None else [])]
            if powers:
                # Shadowing is the same both ways: a direction that is not listed is as strong, and not decoded.
                there = powers[a, b]
                parts += [f'rssi = "{there:g} dBm"', f'reverse_rssi = "{powers.get((b, a), there):g} dBm"']
        else:
            parts += [f'rssi = "{value:g} dBm"', *([f'reverse_rssi = "{back:g} dBm"'] if back is not None else [])]
        rate = known.rates.get((min(a, b), max(a, b)))
        if rate is not None:
            parts.append(f'data_rate = "{rate / 1e6:g} Mb/s"')
        lines.append(f"  {{ from = {quote(names[a])}, to = {quote(names[b])}, {', '.join(parts)} }},")
    return lines


def _sensed_lines(known: _Known) -> list[str]:
    """Pairs that sense each other, or interfere, and exchange nothing."""
    if known.sensed is None:
        return []
    names = known.names
    lines = []
    for (a, b), power in known.sensed.inferred.items():
        ends = f"from = {quote(names[a])}, to = {quote(names[b])}"
        lines.append(f'  {{ {ends}, rssi = "{power:g} dBm", reverse_rssi = "{power:g} dBm" }},')
    return lines


def _decimal(value: float) -> str:
    return repr(round(value, 4)) if value >= 1e-4 else repr(value)


def _comment_lines(lines: list[str]) -> list[str]:
    """Control characters, which file names may hold, would end a comment."""
    return ["".join(c if c.isprintable() else "?" for c in line) for line in lines]
