"""From a mesh to a scenario: choose nodes, place them, add traffic, write TOML that a person can edit."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace

from multihop.base.errors import UserError
from multihop.importers.mesh import Mesh, positions
from multihop.simulation import scenario

#: Carrier sense of ns-2's WaveLAN, 550 m, beside its reception, 250 m.
_SENSE_RATIO = 2.2

#: The most nodes that the engine takes; a test asks it.
NODES_MAX = 100_000

TRAFFIC = ("to-gateway", "random-pairs")
COMPONENTS = ("largest", "all")


@dataclass(frozen=True)
class Plan:
    """What the scenario should look like.

    Attributes:
        name: its name.
        component: `largest` or `all`.
        traffic: `to-gateway` or `random-pairs`.
        flows: how many.
        gateway: id or label of the node that traffic goes to; `None` to choose one.
        scheme: congestion control of every flow.
        standard: PHY.
        data_rate: rate of unicast DATA frames; `None` for the highest of the PHY.
        duration: with unit.
        warmup: with unit.
        probe_size: size of frames that deliver as measured, with unit.
        min_delivery: links that deliver less in either direction are left out.
    """

    name: str = "imported mesh"
    component: str = "largest"
    traffic: str = "to-gateway"
    flows: int = 10
    gateway: str | None = None
    scheme: str = "tcp-newreno"
    standard: str = "802.11b"
    data_rate: str | None = None
    duration: str = "60 s"
    warmup: str = "10 s"
    probe_size: str = "1500 B"
    min_delivery: float = 0.0


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
    """

    text: str
    summary: list[str]
    nodes: int
    links: int
    left_out: dict[str, int]
    gateway: str | None


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
    gateway = _gateway(mesh, plan, names) if plan.traffic == "to-gateway" else None
    possible = len(kept) - 1 if gateway else len(kept) * (len(kept) - 1)
    flows = min(plan.flows, possible)
    placed = positions(mesh.nodes)
    unplaced = sum(1 for id in mesh.nodes if id not in placed)
    one_way = sum(1 for a, b in mesh.links if (b, a) not in mesh.links)
    summary = [
        f"kept {len(mesh.nodes)} of {mesh.nodes_listed} nodes and {len(mesh.links)} of {found_links} directed links",
        *([f"of these, {one_way} directions are one-way: they interfere, but carry no traffic"] if one_way else []),
        *([f"of these, {unplaced} nodes have no position"] if unplaced else []),
        *(f"left out: {count} {what}" for what, count in mesh.left_out.most_common()),
        f"read as {mesh.format}: {mesh.reading}",
        f"{flows} flows" + (f" to {names[gateway]}" if gateway else " between random pairs"),
        *([f"(not {plan.flows}: so many would not have different ends)"] if flows < plan.flows else []),
    ]
    text = _toml(mesh, replace(plan, flows=flows), names, gateway, placed, summary, origin)
    if len(text) > scenario.MAX_BYTES:
        raise UserError(
            f"{origin}: the scenario would have {len(text) / 1e6:.0f} MB, of {len(mesh.nodes)} nodes and "
            f"{len(mesh.links)} directed links; at most {scenario.MAX_BYTES // 1_000_000} MB are read: "
            "leave out weak links by --min-delivery, or give a part of the mesh"
        )
    return Imported(
        text, summary, len(mesh.nodes), len(mesh.links), dict(mesh.left_out), names[gateway] if gateway else None
    )


def _require(plan: Plan) -> None:
    if plan.component not in COMPONENTS:
        raise UserError(f"--component: found {plan.component!r}; what would do: {', '.join(COMPONENTS)}")
    if plan.traffic not in TRAFFIC:
        raise UserError(f"--traffic: found {plan.traffic!r}; what would do: {', '.join(TRAFFIC)}")
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


def _gateway(mesh: Mesh, plan: Plan, names: dict[str, str]) -> str:
    if plan.gateway is not None:
        match = [id for id in mesh.nodes if plan.gateway in (id, names[id])]
        if not match:
            raise UserError(
                f"--gateway: {plan.gateway!r} is not among the {len(mesh.nodes)} nodes that were kept; "
                f"best connected is {names[_best_connected(mesh, list(mesh.nodes))]!r}"
            )
        return match[0]
    marked = [id for id, node in mesh.nodes.items() if node.gateway]
    return _best_connected(mesh, marked or list(mesh.nodes))


def _best_connected(mesh: Mesh, among: list[str]) -> str:
    """The node with most two-way links; of equal ones, the first in the file."""
    degree = Counter(a for a, b in mesh.links if (b, a) in mesh.links)
    return max(among, key=lambda id: degree[id])


def _toml(
    mesh: Mesh,
    plan: Plan,
    names: dict[str, str],
    gateway: str | None,
    placed: dict[str, tuple[float, float]],
    summary: list[str],
    origin: str,
) -> str:
    quote = _quote
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
        *_medium_lines(mesh, plan),
        "",
        "[routing]",
        *(['metric = "etx"'] if mesh.quantity != "distance" else []),
        "",
        "[traffic]",
        f"pattern = {quote(plan.traffic)}",
        *([f"gateway = {quote(names[gateway])}"] if gateway else []),
        f"flows = {plan.flows}",
        f"scheme = {quote(plan.scheme)}",
        'app = { kind = "saturated" }',
        'start_jitter = "1 s"',
        "pairs_seed = 1",
        "",
        "[topology]",
        "nodes = [",
        *(_node_line(names[id], placed.get(id)) for id in mesh.nodes),
        "]",
        *([] if mesh.quantity == "distance" else ["links = [", *_link_lines(mesh, names), "]"]),
    ]
    return "\n".join(lines) + "\n"


def _medium_lines(mesh: Mesh, plan: Plan) -> list[str]:
    if mesh.quantity == "distance":
        # As in ns-2, nodes sense each other up to 2.2 times as far as they can decode.
        sense = _SENSE_RATIO * mesh.reach_m
        return ['model = "ranges"', f'receive_range = "{mesh.reach_m:g} m"', f'carrier_sense_range = "{sense:g} m"']
    probe = [f"probe_size = {_quote(plan.probe_size)}"] if mesh.quantity == "delivery" else []
    return ['model = "matrix"', f"quantity = {_quote(mesh.quantity)}", *probe]


def _node_line(name: str, position: tuple[float, float] | None) -> str:
    if position is None:
        return f"  {{ name = {_quote(name)} }},"
    return f'  {{ name = {_quote(name)}, position = ["{position[0]:.12g} m", "{position[1]:.12g} m"] }},'


def _link_lines(mesh: Mesh, names: dict[str, str]) -> list[str]:
    """One line per pair; the way back as `reverse` where it is heard."""
    lines = []
    done: set[frozenset[str]] = set()
    for (a, b), value in mesh.links.items():
        if frozenset((a, b)) in done:
            continue
        done.add(frozenset((a, b)))
        back = mesh.links.get((b, a))
        if mesh.quantity == "delivery":
            quality = f"delivery = {_decimal(value)}" + (f", reverse = {_decimal(back)}" if back is not None else "")
        else:
            quality = f'rssi = "{value:g} dBm"' + (f', reverse_rssi = "{back:g} dBm"' if back is not None else "")
        lines.append(f"  {{ from = {_quote(names[a])}, to = {_quote(names[b])}, {quality} }},")
    return lines


def _decimal(value: float) -> str:
    return repr(round(value, 4)) if value >= 1e-4 else repr(value)


def _quote(text: str) -> str:
    """A TOML basic string; JSON's escapes are a subset of TOML's but for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _comment_lines(lines: list[str]) -> list[str]:
    """Control characters, which file names may hold, would end a comment."""
    return ["".join(c if c.isprintable() else "?" for c in line) for line in lines]
