"""Conversion of a mesh to a scenario: selects nodes, infers carrier sense, adds traffic, and writes TOML."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from multihop.base import extras
from multihop.base.errors import UserError
from multihop.importers.mesh import Mesh
from multihop.importers.positions import positions
from multihop.importers.radios import Layer, are_several, layers, radios_of
from multihop.importers.rates import link_rates, split_throughputs
from multihop.importers.text import quote
from multihop.importers.traffic import Traffic, Wishes, require_traffic
from multihop.importers.traffic import choose as _traffic
from multihop.simulation import scenario

#: Ratio of carrier-sense range (550 m) to reception range (250 m) of ns-2's WaveLAN.
_SENSE_RATIO = 2.2

#: Most nodes of the engine; a test compares it.
NODES_MAX = 100_000

TRAFFIC = ("to-gateway", "random-pairs", "gateway")
COMPONENTS = ("largest", "all")

#: PHY if neither the plan nor the file names one.
_STANDARD = "802.11b"
SENSING = ("inferred", "listed")


@dataclass(frozen=True)
class Plan(Wishes):
    """Options of the scenario; for its traffic see `Wishes`.

    Attributes:
        name: name of the scenario.
        component: `largest` or `all`.
        scheme: congestion control of every flow.
        standard: PHY; `None` for that of the file, else 802.11b.
        data_rate: rate of unicast DATA frames; `None` for the highest of the PHY.
        duration: duration with unit.
        warmup: warm-up with unit.
        probe_size: size of the frames to which delivery ratios apply, with unit.
        min_delivery: delivery ratio below which a link is left out, in either direction.
        sensing: `inferred` for powers, and for pairs that sense each other without a listed link; `listed`
            for the listed links alone.
        two_hops: whether nodes with a common neighbour sense each other if one has no position.
        shadowing_seed: seed of the shadowing of pairs without a link.
        radios: `one` per node, with the best of parallel links, or `several`, as the file distinguishes them;
            `None` for `several` if the file names them.
    """

    name: str = "imported mesh"
    component: str = "largest"
    scheme: str = "tcp-newreno"
    standard: str | None = None
    data_rate: str | None = None
    duration: str = "60 s"
    warmup: str = "10 s"
    probe_size: str = "1500 B"
    min_delivery: float = 0.0
    sensing: str = "inferred"
    two_hops: bool = True
    shadowing_seed: int = 1
    radios: str | None = None


@dataclass(frozen=True)
class Imported:
    """Scenario of an imported mesh.

    Attributes:
        text: text of the scenario (TOML).
        summary: lines about imported and omitted parts, with reasons.
        nodes: number of imported nodes.
        links: number of imported directed links.
        left_out: number of omitted parts, by reason.
        gateway: name of the destination of all traffic, if there is one.
        gateways: names of the gateways of clients.
        sensed: inferred sensing, by channel if there are several; `None` if it was not inferred.
        parallel: number of directions with links of several radios.
        first_broken: message about the first broken record, with its place, or `None`.
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
    first_broken: str | None = None


def write(mesh: Mesh, plan: Plan, origin: str) -> Imported:
    """Converts a mesh to a scenario.

    Raises:
        UserError: if an option is invalid for this mesh.
    """
    _require(plan)
    several = are_several(mesh, plan.radios)
    standard = plan.standard or mesh.standard or _STANDARD
    split = split_throughputs(mesh, standard, plan.data_rate, has_rates=plan.sensing == "inferred")
    found_links = _directions(mesh, several=several)
    mesh = _kept(_without_weak_links(mesh, plan.min_delivery), plan, origin, several=several)
    names = _names(mesh)
    placed = positions(mesh.nodes)
    traffic = _traffic(mesh, plan, names)
    by_channel, radio_words = layers(mesh, names, standard, several=several)
    learnt = [line for layer in by_channel for line in _learn(layer, placed, plan, standard)]
    unplaced = sum(1 for id in mesh.nodes if id not in placed)
    links = [pair for layer in by_channel for pair in layer.mesh.links]
    one_way = sum(1 for layer in by_channel for a, b in layer.mesh.links if (b, a) not in layer.mesh.links)
    summary = [
        f"kept {len(mesh.nodes)} of {mesh.nodes_listed} nodes and {len(links)} of {found_links} directed links",
        *([f"of these, {one_way} directions are one-way: they interfere, but carry no traffic"] if one_way else []),
        *([f"of these, {unplaced} nodes have no position"] if unplaced else []),
        *(f"left out: {count} {what}" for what, count in mesh.left_out.most_common() if count),
        *([f"first broken record: {mesh.tally.first}"] if mesh.tally.first else []),
        f"read as {mesh.format}: {mesh.reading}",
        *([split] if split else []),
        *radio_words,
        *learnt,
        *traffic.words,
    ]
    text = _toml(_Known(mesh, names, placed, by_channel, standard), plan, traffic, summary, origin)
    if len(text) > scenario.MAX_BYTES:
        raise UserError(
            f"{origin}: the scenario would have {len(text) / 1e6:.0f} MB, with {len(mesh.nodes)} nodes and "
            f"{len(links)} directed links; needs at most {scenario.MAX_BYTES // 1_000_000} MB: "
            "leave out weak links by --min-delivery, or give a part of the mesh"
        )
    return Imported(
        text,
        summary,
        len(mesh.nodes),
        len(links),
        {what: count for what, count in mesh.left_out.items() if count},
        traffic.gateway,
        traffic.gateways,
        _view(by_channel),
        mesh.parallel,
        mesh.tally.first,
    )


def _kept(mesh: Mesh, plan: Plan, origin: str, *, several: bool) -> Mesh:
    """Returns the mesh of the nodes that are kept."""
    largest = plan.component == "largest"
    kept = mesh.largest_component(by_radio=several) if largest else list(mesh.nodes)
    if len(kept) < 2:
        raise UserError(f"{origin}: no two nodes receive each other; needs a two-way link")
    if len(kept) > NODES_MAX:
        raise UserError(
            f"{origin}: {len(kept)} nodes would be kept; needs at most {NODES_MAX}: "
            "use --component largest or --min-delivery, or give a part of the mesh"
        )
    lost = len(mesh.nodes) - len(kept)
    mesh = mesh.restricted(kept)
    if lost:
        mesh.left_out["nodes outside of the largest component of two-way links"] += lost
    return mesh


def _learn(layer: Layer, placed: dict[str, tuple[float, float]], plan: Plan, standard: str) -> list[str]:
    """Infers sensing and rates of a channel's links. Returns lines about them."""
    if plan.sensing != "inferred" or layer.mesh.quantity == "distance":
        return []
    phy = {"standard": standard, **({"data_rate": plan.data_rate} if plan.data_rate else {})}
    extras.require("mesh", "import without --sensing listed")
    from multihop.importers.sensing import infer

    layer.sensed = infer(layer.mesh, placed, phy, plan.probe_size, two_hops=plan.two_hops, seed=plan.shadowing_seed)
    layer.rates, rates_line = link_rates(layer.mesh, standard, plan.data_rate)
    where = "" if layer.channel is None else f"channel {layer.channel}: "
    return [f"{where}{line}" for line in (*layer.sensed.words(), *([rates_line] if rates_line else []))]


def _view(by_channel: list[Layer]) -> dict[str, Any] | None:
    """Returns the inferred sensing as plain data (JSON)."""
    views = {str(layer.channel): layer.sensed.view() for layer in by_channel if layer.sensed}
    return views.get("None", views) or None


def _directions(mesh: Mesh, *, several: bool) -> int:
    return sum(len(radio.links) for radio in (mesh.radios.values() if several else [mesh]))


def _require(plan: Plan) -> None:
    if plan.component not in COMPONENTS:
        raise UserError(f"--component: found {plan.component!r}; needs {' or '.join(COMPONENTS)}")
    if plan.traffic not in TRAFFIC:
        raise UserError(f"--traffic: found {plan.traffic!r}; needs one of {', '.join(TRAFFIC)}")
    if plan.sensing not in SENSING:
        raise UserError(f"--sensing: found {plan.sensing!r}; needs {' or '.join(SENSING)}")
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
    result = mesh.restricted(mesh.nodes)
    weak = _drop_weak(result, least)
    for radio in result.radios.values():
        _drop_weak(radio, least)
    if weak:
        result.left_out[f"directions of links that deliver less than {least:g}"] += weak
    return result


def _drop_weak(mesh: Mesh, least: float) -> int:
    weak = [
        pair for pair, value in mesh.links.items() if value < least or mesh.links.get((pair[1], pair[0]), 0.0) < least
    ]
    for pair in weak:
        del mesh.links[pair]
    return len(weak)


def _names(mesh: Mesh) -> dict[str, str]:
    """Returns labels as names if they are distinct and no other node's id; ids otherwise."""
    labels = Counter(node.label for node in mesh.nodes.values() if node.label)

    def is_name(id: str, label: str) -> bool:
        return labels[label] == 1 and (label == id or label not in mesh.nodes)

    return {id: node.label if node.label and is_name(id, node.label) else id for id, node in mesh.nodes.items()}


@dataclass
class _Known:
    """Parts of the scenario to write."""

    mesh: Mesh
    names: dict[str, str]
    placed: dict[str, tuple[float, float]]
    layers: list[Layer]
    standard: str


def _toml(known: _Known, plan: Plan, traffic: Traffic, summary: list[str], origin: str) -> str:
    mesh, names = known.mesh, known.names
    lines = [
        *(f"# {line}" for line in _comment_lines([f"Imported from {origin} by `multihop import`.", *summary])),
        f"name = {quote(plan.name)}",
        f"duration = {quote(plan.duration)}",
        f"warmup = {quote(plan.warmup)}",
        "",
        "[phy]",
        f"standard = {quote(known.standard)}",
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
        *(_node_line(names[id], known.placed.get(id), radios_of(known.layers, id)) for id in mesh.nodes),
        "]",
        *([] if mesh.quantity == "distance" else ["links = [", *_matrix_lines(known.layers), "]"]),
    ]
    return "\n".join(lines) + "\n"


def _medium_lines(known: _Known, plan: Plan) -> list[str]:
    mesh = known.mesh
    if mesh.quantity == "distance":
        # As in ns-2, nodes sense each other up to 2.2 times as far as they can decode.
        sense = _SENSE_RATIO * mesh.reach_m
        return ['model = "ranges"', f'receive_range = "{mesh.reach_m:g} m"', f'carrier_sense_range = "{sense:g} m"']
    probe = [f"probe_size = {quote(plan.probe_size)}"] if mesh.quantity == "delivery" else []
    quantity = "delivery-and-rssi" if known.layers[0].sensed and mesh.quantity == "delivery" else mesh.quantity
    return ['model = "matrix"', f"quantity = {quote(quantity)}", *probe]


def _node_line(name: str, position: tuple[float, float] | None, channels: list[int]) -> str:
    place = [] if position is None else [f'position = ["{position[0]:.12g} m", "{position[1]:.12g} m"]']
    radios = ", ".join(f"{{ channel = {channel} }}" for channel in channels)
    of_radios = [f"radios = [{radios}]"] if channels else []
    return f"  {{ {', '.join([f'name = {quote(name)}', *place, *of_radios])} }},"


def _matrix_lines(by_channel: list[Layer]) -> list[str]:
    return [line for layer in by_channel for line in (*_link_lines(layer), *_sensed_lines(layer))]


def _link_lines(known: Layer) -> list[str]:
    """Returns one line per pair, with the reverse direction as `reverse` if it is received."""
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
                # Shadowing is equal in both directions: a direction that is not listed has the same power,
                # but is not decoded.
                there = powers[a, b]
                parts += [f'rssi = "{there:g} dBm"', f'reverse_rssi = "{powers.get((b, a), there):g} dBm"']
        else:
            parts += [f'rssi = "{value:g} dBm"', *([f'reverse_rssi = "{back:g} dBm"'] if back is not None else [])]
        rate = known.rates.get((min(a, b), max(a, b)))
        if rate is not None:
            parts.append(f"data_rate = {quote(rate)}")
        lines.append(f"  {{ from = {quote(names[a])}, to = {quote(names[b])}, {', '.join(parts)} }},")
    return lines


def _sensed_lines(known: Layer) -> list[str]:
    """Returns lines of pairs that sense each other or interfere, without exchanging frames."""
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
    """Replaces control characters, which file names may contain and which would end a comment."""
    return ["".join(c if c.isprintable() else "?" for c in line) for line in lines]
