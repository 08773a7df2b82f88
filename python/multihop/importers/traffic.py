"""Traffic of an imported mesh: sources and destinations, as lines of `[traffic]`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from multihop.base.errors import UserError
from multihop.importers.mesh import Mesh
from multihop.importers.text import quote

#: Values of the engine, which a test compares.
DIRECTIONS = ("downloads", "uploads", "both")
MIXES = ("download", "web", "video", "call")

#: Default number of clients.
_CLIENTS = 8


@dataclass(frozen=True)
class Wishes:
    """Options of traffic.

    Attributes:
        traffic: `to-gateway`, `random-pairs` or `gateway`.
        flows: number of flows; `gateway` uses `clients` instead.
        gateway: `to-gateway`: id or label of the destination; `None` to choose one.
        clients: `gateway`: number of clients.
        gateways: `gateway`: ids or labels; empty for the marked or best connected nodes.
        gateway_count: `gateway`: number of best connected gateways, instead of names.
        direction: `gateway`: `downloads`, `uploads` or `both`; `None` for the engine's default.
        mix: `gateway`: applications of clients.
    """

    traffic: str = "to-gateway"
    flows: int = 10
    gateway: str | None = None
    clients: int | None = None
    gateways: tuple[str, ...] = ()
    gateway_count: int | None = None
    direction: str | None = None
    mix: tuple[str, ...] = ()


@dataclass(frozen=True)
class Traffic:
    """Lines of `[traffic]` for sources and destinations, and a description.

    Attributes:
        lines: lines of TOML.
        words: lines for the summary.
        gateway: name of the destination of all traffic, if there is one.
        gateways: names of the gateways of clients.
    """

    lines: list[str]
    words: list[str]
    gateway: str | None = None
    gateways: list[str] = field(default_factory=list)


def require_traffic(plan: Wishes) -> None:
    """Refuses options of another kind of traffic, and invalid values.

    Raises:
        UserError: naming the option.
    """
    of_gateway = {
        "--clients": plan.clients is not None,
        "--gateways": bool(plan.gateways),
        "--gateway-count": plan.gateway_count is not None,
        "--direction": plan.direction is not None,
        "--mix": bool(plan.mix),
    }
    given = next((option for option, is_given in of_gateway.items() if is_given), None)
    if plan.traffic != "gateway" and given:
        raise UserError(f"{given}: has no effect with --traffic {plan.traffic}; use --traffic gateway, or leave it out")
    if plan.traffic == "gateway" and plan.gateway is not None:
        raise UserError("--gateway: has no effect with --traffic gateway; name the gateways with --gateways")
    if plan.gateways and plan.gateway_count is not None:
        raise UserError("--gateway-count: has no effect with --gateways; leave one of them out")
    for option, number in (("--clients", plan.clients), ("--gateway-count", plan.gateway_count)):
        if number is not None and number < 1:
            raise UserError(f"{option}: found {number}; needs at least 1")
    if plan.direction is not None and plan.direction not in DIRECTIONS:
        raise UserError(f"--direction: found {plan.direction!r}; needs one of {', '.join(DIRECTIONS)}")
    unknown = next((kind for kind in plan.mix if kind not in MIXES), None)
    if unknown is not None:
        raise UserError(f"--mix: found {unknown!r}; needs some of {', '.join(MIXES)}, separated by commas")


def choose(mesh: Mesh, plan: Wishes, names: dict[str, str]) -> Traffic:
    """Returns the traffic of a plan in a mesh.

    Raises:
        UserError: if a gateway is not among the nodes.
    """
    if plan.traffic == "gateway":
        return _of_clients(mesh, plan, names)
    nodes = len(mesh.nodes)
    gateway = None
    if plan.traffic == "to-gateway":
        marked = [id for id, node in mesh.nodes.items() if node.gateway]
        gateway = (
            _find(mesh, names, plan.gateway, "--gateway")
            if plan.gateway is not None
            else _best_connected(mesh, marked or list(mesh.nodes))[0]
        )
    flows = min(plan.flows, nodes - 1 if gateway else nodes * (nodes - 1))
    words = [
        f"{flows} flows" + (f" to {names[gateway]}" if gateway else " between random pairs"),
        *([f"(not {plan.flows}: so many would not have different ends)"] if flows < plan.flows else []),
    ]
    lines = [
        f"pattern = {quote(plan.traffic)}",
        *([f"gateway = {quote(names[gateway])}"] if gateway else []),
        f"flows = {flows}",
    ]
    return Traffic(lines, words, names[gateway] if gateway else None)


def _of_clients(mesh: Mesh, plan: Wishes, names: dict[str, str]) -> Traffic:
    marked = [id for id, node in mesh.nodes.items() if node.gateway]
    if plan.gateways:
        ids = [_find(mesh, names, name, "--gateways") for name in plan.gateways]
        how = "as asked"
    elif marked and plan.gateway_count is None and len(marked) < len(mesh.nodes):
        ids, how = marked, "marked in the file"
    else:
        wanted = plan.gateway_count or 1
        if wanted >= len(mesh.nodes):
            raise UserError(f"--gateway-count: found {wanted}; leaves no clients of the {len(mesh.nodes)} nodes kept")
        ids, how = _best_connected(mesh, list(mesh.nodes))[:wanted], "best connected"
    gateways = [names[id] for id in dict.fromkeys(ids)]
    wanted = _CLIENTS if plan.clients is None else plan.clients
    clients = min(wanted, len(mesh.nodes) - len(gateways))
    if clients < 1:
        raise UserError("--gateways: every node is a gateway, and none is left for a client; name fewer")
    shown = ", ".join(gateways[:5]) + (f" and {len(gateways) - 5} more" if len(gateways) > 5 else "")
    doing = f", which use {', '.join(plan.mix)}" if plan.mix else ""
    by = f"each by the nearest of {len(gateways)} gateways ({how}): {shown}"
    words = [
        f"{plan.direction or DIRECTIONS[0]} of {clients} clients{doing}, {by}",
        *([f"(not {wanted}: there are no more nodes)"] if clients < wanted else []),
    ]
    lines = [
        'pattern = "gateway"',
        f"gateways = [{', '.join(map(quote, gateways))}]",
        f"clients = {clients}",
        *([f"direction = {quote(plan.direction)}"] if plan.direction else []),
        *([f"mix = [{', '.join(map(quote, plan.mix))}]"] if plan.mix else []),
    ]
    return Traffic(lines, words, None, gateways)


def _find(mesh: Mesh, names: dict[str, str], wanted: str, option: str) -> str:
    match = next((id for id in mesh.nodes if wanted in (id, names[id])), None)
    if match is None:
        raise UserError(
            f"{option}: {wanted!r} is not among the {len(mesh.nodes)} nodes that were kept; "
            f"best connected is {names[_best_connected(mesh, list(mesh.nodes))[0]]!r}"
        )
    return match


def _best_connected(mesh: Mesh, among: list[str]) -> list[str]:
    """Returns the nodes with most two-way links first; of equal ones, the first in the file."""
    degree = Counter(a for a, b in mesh.links if (b, a) in mesh.links)
    return sorted(among, key=lambda id: -degree[id])
