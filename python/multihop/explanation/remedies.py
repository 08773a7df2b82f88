"""Remedies: candidates by cause, and their runs with the same seeds."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any

from multihop import _core
from multihop._core import ScenarioError
from multihop.base.errors import UserError
from multihop.experiments.runner import Job, run_all
from multihop.experiments.runs import FinishedRun
from multihop.explanation import wires
from multihop.explanation.account import Cause, FlowAccount
from multihop.explanation.causes import LEAST_SCORE
from multihop.simulation.scenario import Scenario, registered, schema

if TYPE_CHECKING:
    Nodes = Sequence[_core.NodeView]

#: Causes in which frames of other nodes destroy those of the flow.
_COLLISIONS = {"hidden", "sensed", "together", "receiver-sending"}

#: Generators whose nodes do not depend on the seed, and that make no wires.
_FIXED = {"chain", "star", "cross", "exposed-terminal", "bar", "parking-lot", "circle"}

#: Most remedies that are tried for a flow, and most of these that need hardware.
MOST_REMEDIES, MOST_HARDWARE = 5, 2

#: PHYs whose next lower rate is a remedy: direct sequence, and OFDM.
_STEPPED = ("802.11b", "802.11a")

#: Schemes that are tried in place of others, with other signals of congestion.
_SCHEMES = ("tcp-vegas", "recn", "xcp-winf")


class Effort(StrEnum):
    """Effort of a remedy, the least first."""

    SETTING = "setting"
    #: More radios at existing nodes.
    HARDWARE = "hardware"
    #: Other positions of nodes, or more nodes.
    PLAN = "new plan"

    @property
    def rank(self) -> int:
        """Position in this order, from 0."""
        return list(Effort).index(self)


@dataclass(frozen=True)
class Remedy:
    """Change of the scenario that may help.

    Attributes:
        words: description of the change, with the value that it replaces.
        set: keys with their new values.
        scheme: scheme of every flow that varies.
        flow: index of the flow whose scheme `set` replaces.
        effort: effort of the change.
    """

    words: str
    set: Mapping[str, Any]
    scheme: str | None = None
    flow: int | None = None
    effort: Effort = Effort.SETTING

    @property
    def key(self) -> str:
        """Identity of the change."""
        return repr((sorted(self.set.items(), key=lambda item: item[0]), self.scheme))


class Settings:
    """Values of keys: of the overrides, else of the scenario, else the engine's defaults of tables."""

    def __init__(self, scenario: Scenario, overrides: Mapping[str, Any], view: _core.ScenarioView) -> None:
        self._document = tomllib.loads(scenario.text)
        self._set: Mapping[str, Any] = overrides.get("set", {})
        self._defaults = {table: value.get("default") for table, value in schema()["properties"].items()}
        #: Whether every flow has the same scheme.
        self.same_scheme = len({flow["scheme"] for flow in view["flows"]}) == 1
        #: Length of queues in packets.
        self.queue = view["queue"]

    def get(self, path: str, default: Any = None) -> Any:  # noqa: ANN401 - any TOML value
        """Returns the value of a key."""
        if path in self._set:
            return self._set[path]
        for values in (self._document, self._defaults):
            found: Any = values
            for key in path.split("."):
                found = found.get(key) if isinstance(found, dict) else None
            if found is not None:
                return found
        return default


def candidates(account: FlowAccount, nodes: Nodes, settings: Settings) -> list[Remedy]:
    """Returns up to `MOST_REMEDIES` remedies for causes of at least `LEAST_SCORE`, settings first."""
    made: dict[str, Remedy] = {}
    for cause in account.causes:
        if cause.score < LEAST_SCORE:
            break
        for remedy in _for(cause, account, nodes, settings):
            made.setdefault(remedy.key, remedy)
    of_settings = [remedy for remedy in made.values() if remedy.effort == Effort.SETTING]
    others = [remedy for remedy in made.values() if remedy.effort != Effort.SETTING]
    kept = of_settings[: MOST_REMEDIES - min(len(others), MOST_HARDWARE)]
    return [*kept, *others][:MOST_REMEDIES]


def _for(cause: Cause, account: FlowAccount, nodes: Nodes, settings: Settings) -> list[Remedy]:
    """Returns remedies against a cause, the most promising first."""
    channel = _channel(cause.sender, cause.receiver, account, nodes, settings)
    match cause.kind:
        case kind if kind in _COLLISIONS:
            interferer = _interferer_channel(cause, account, nodes, settings)
            return [*_rts(settings, on=True), *interferer, *channel, *_etx(settings)]
        case "channel" | "weak":
            return [*_etx(settings), *_rate(settings), *_retries(settings)]
        case "unanswered" | "late":
            return [*_rts(settings, on=False), *channel]
        case "wire-full" | "waiting":
            is_wire = cause.kind == "wire-full" or cause.facts["wire"]
            return (
                _wire_discipline(cause, nodes, settings) if is_wire else [*_stations(settings), *_discipline(settings)]
            )
        case "wire-loss":
            return _loss_tolerant(account, settings)
        case "queue" | "aqm" if cause.receiver is not None:
            return [*_wire_discipline(cause, nodes, settings), *_schemes(account, settings)]
        case "queue" | "aqm" | "lifetime":
            return [*_queue(settings), *_schemes(account, settings)]
        case "contention":
            return [*_airtime_limits(settings), *channel, *_rts(settings, on=False), *_schemes(account, settings)]
        case "turns":
            return [*_airtime_limits(settings), *_stations(settings), *channel]
        case "policy" | "transport":
            return [*_airtime_limits(settings), *_queue(settings)[1:], *_schemes(account, settings)]
        case "reordering":
            timeout = {"mac.aggregation.reordering_timeout": "1 s"}
            now = settings.get("mac.aggregation.reordering_timeout", "the default")
            return [Remedy(f"reordering buffers that wait 1 s instead of {now}", timeout)]
        case "no-route" | "broken" | "off" | "hop-limit":
            return _etx(settings)
    return []


def _rts(settings: Settings, *, on: bool) -> list[Remedy]:
    now = settings.get("mac.rts_threshold")
    if (now != "off") == on:
        return []
    words = "RTS/CTS before every DATA frame instead of none" if on else f"no RTS/CTS instead of RTS/CTS from {now} on"
    return [Remedy(words, {"mac.rts_threshold": "0 B" if on else "off"})]


def _etx(settings: Settings) -> list[Remedy]:
    if settings.get("routing.protocol", "static") != "static":
        return []
    metric = settings.get("routing.metric", "hops")
    other = "etx" if metric == "hops" else "hops"
    expected = "fewest expected transmissions (ETX)"
    words = (
        f"routes of {expected} instead of fewest hops"
        if other == "etx"
        else f"routes of fewest hops instead of {expected}"
    )
    return [Remedy(words, {"routing.metric": other})]


def _rate(settings: Settings) -> list[Remedy]:
    text = settings.get("phy.data_rate")
    try:
        rate = float(str(text).removesuffix("Mb/s"))
    except ValueError:
        return []
    rows = (sorted(bps / 1e6 for bps in phy["rates_bps"]) for phy in registered()["phys"] if phy["name"] in _STEPPED)
    lower = next((rates[rates.index(rate) - 1] for rates in rows if rate in rates and rate > rates[0]), None)
    words = f"a data rate of {lower:g} instead of {rate:g} Mb/s"
    return [] if lower is None else [Remedy(words, {"phy.data_rate": f"{lower:g} Mb/s"})]


def _retries(settings: Settings) -> list[Remedy]:
    limits = [settings.get(f"mac.{which}_retry_limit") for which in ("short", "long")]
    if not all(isinstance(limit, int) for limit in limits):
        return []
    keys = {"mac.short_retry_limit": 3 * limits[0], "mac.long_retry_limit": 3 * limits[1]}
    return [Remedy(f"retry limits of {3 * limits[0]} and {3 * limits[1]} instead of {limits[0]} and {limits[1]}", keys)]


def _queue(settings: Settings) -> list[Remedy]:
    packets = max(4 * settings.queue, 50)
    words = f"queues of {packets} instead of {settings.queue} packets"
    return [Remedy(words, {"mac.queue": packets}), *_discipline(settings)]


def _wire_discipline(cause: Cause, nodes: Nodes, settings: Settings) -> list[Remedy]:
    """Returns fair queueing in front of a wire, instead of one queue."""
    if cause.sender is None or cause.receiver is None:
        return []
    ends = (nodes[cause.sender]["name"], nodes[cause.receiver]["name"])
    key = wires.remedy_key(settings.get("topology", {}), ends)
    if key is None or settings.get(key) == "fq-codel":
        return []
    where = f"in front of the wire {ends[0]} to {ends[1]}"
    return [Remedy(f'discipline "fq-codel" instead of "{settings.get(key, "drop-tail")}" {where}', {key: "fq-codel"})]


def _discipline(settings: Settings) -> list[Remedy]:
    """Returns fair queueing in front of radios, instead of one queue."""
    if settings.get("mac.discipline") != "drop-tail":
        return []
    words = f'discipline "fq-codel" instead of "drop-tail"{_room(1024, settings)}'
    return [Remedy(words, {"mac.discipline": "fq-codel", "mac.queue": 1024})]


def _room(packets: int, settings: Settings) -> str:
    """Returns the change of the length of queues in words; empty without a change."""
    return "" if packets == settings.queue else f", and queues of {packets} instead of {settings.queue} packets"


def _loss_tolerant(account: FlowAccount, settings: Settings) -> list[Remedy]:
    """Returns a scheme whose rate does not depend on random losses."""
    return _schemes(account, settings, ("tcp-bbr",))


def _stations(settings: Settings) -> list[Remedy]:
    now, packets = settings.get("mac.discipline"), max(settings.queue, 1024)
    if now == "stations":
        return []
    words = f'discipline "stations" (a queue for each neighbour) instead of "{now}"{_room(packets, settings)}'
    return [Remedy(words, {"mac.discipline": "stations", "mac.queue": packets})]


_HARDWARE_QUEUE = ("mac.hardware_queue.packets", "mac.hardware_queue.aggregates", "mac.hardware_queue.aql.low")


def _airtime_limits(settings: Settings) -> list[Remedy]:
    """Returns Linux's limit of airtime below the discipline (AQL), if the hardware's queue lacks one."""
    packets, aggregates, low = map(settings.get, _HARDWARE_QUEUE)
    if not (packets or aggregates) or low is not None:
        return []
    return [
        Remedy(
            "5 ms of airtime in the hardware's queue (AQL) instead of no limit", {"mac.hardware_queue.aql.low": "5 ms"}
        )
    ]


def _schemes(account: FlowAccount, settings: Settings, which: Sequence[str] = _SCHEMES) -> list[Remedy]:
    """Returns other schemes, for all flows if they share one; none for datagrams."""
    present = account.view["scheme"]
    names = [name for name in which if name != present][:2]
    if present.startswith("udp"):
        return []
    if settings.same_scheme:
        return [Remedy(f"scheme {name} for every flow instead of {present}", {}, name) for name in names]
    key = f"flows[{account.flow}].scheme"
    words = {name: f"scheme {name} for {account.name} instead of {present}" for name in names}
    return [Remedy(words[name], {key: name}, flow=account.flow) for name in names]


def _interferer_channel(cause: Cause, account: FlowAccount, nodes: Nodes, settings: Settings) -> list[Remedy]:
    whom = cause.facts.get("whom_node")
    if cause.interferer is None or whom is None:
        return []
    return _channel(cause.interferer, whom, account, nodes, settings)


def _channel(a: int | None, b: int | None, account: FlowAccount, nodes: Nodes, settings: Settings) -> list[Remedy]:
    """Returns another channel for a hop, by radios of its own: a wire with the goodput of the hop alone."""
    generator = settings.get("topology.generator")
    if a is None or b is None or generator not in {None, *_FIXED}:
        return []
    if generator is not None and settings.get("traffic.pattern") == "canonical":
        return []  # canonical flows need generated nodes
    rates = [hop.alone_bps for hop in account.hops if hop.alone_bps]
    own = next((hop.alone_bps for hop in account.hops if {hop.sender, hop.receiver} == {a, b} and hop.alone_bps), None)
    if not rates:
        return []
    ends = [nodes[nodes[end]["node"]]["name"] for end in (a, b)]
    there = list(settings.get("topology.wires", []))
    if any(set(ends) == set(old["between"]) for old in there):
        return []
    extended = [*there, {"between": ends, "rate": f"{round(own or max(rates))} b/s", "delay": "1 ms"}]
    # Generated nodes have no wires, so the nodes are listed instead.
    changes: dict[str, Any] = {"topology.wires": extended}
    if generator is not None:
        listed = [_listed(nodes, index) for index, node in enumerate(nodes) if node["node"] == index]
        changes = {"topology": {"nodes": listed, "wires": extended}}
    words = f"another channel, on radios of their own, for {ends[0]}-{ends[1]}"
    return [Remedy(words, changes, effort=Effort.HARDWARE)]


def _listed(nodes: Nodes, index: int) -> dict[str, Any]:
    """Returns a node as scenarios list it."""
    node = nodes[index]
    made: dict[str, Any] = {"name": node["name"]}
    if node["x"] is not None and node["y"] is not None:
        made["position"] = [f"{node['x']!r} m", f"{node['y']!r} m"]
    channels = [radio["channel"] for radio in nodes if radio["node"] == index and radio["channel"] is not None]
    if len(channels) > 1:
        made["radios"] = [{"channel": channel} for channel in channels]
    elif channels:
        made["channel"] = channels[0]
    return made


def try_all(
    scenario: Scenario,
    overrides: Mapping[str, Any],
    base: Sequence[FinishedRun],
    remedies: Sequence[Remedy],
    threads: int | None = None,
    on_tick: Callable[[float], None] | None = None,
) -> dict[str, list[FinishedRun] | str]:
    """Runs remedies with the seeds of `base`. Returns runs by key of the remedy, or why it cannot be run."""
    made: dict[str, list[FinishedRun] | str] = {}
    jobs: list[Job] = []
    for remedy in remedies:
        replaced = {**overrides, "set": {**overrides.get("set", {}), **remedy.set}}
        if remedy.scheme is not None:
            replaced["scheme"] = remedy.scheme
        if remedy.flow is not None and "scheme" in replaced:
            # `scheme` must not replace the scheme that the key of the flow sets.
            varying = replaced.get("varying", range(len(base[0].view["flows"])))
            replaced["varying"] = [index for index in varying if index != remedy.flow]
        try:
            view = scenario.check(replaced)
        except (ScenarioError, UserError) as error:
            made[remedy.key] = str(error)
            continue
        made[remedy.key] = []
        jobs += [Job(scenario, {**replaced, "seed": run.seed}, view) for run in base]
    finished = iter(run_all(jobs, threads, on_tick=on_tick) if jobs else ())
    for runs in made.values():
        if isinstance(runs, list):
            runs += islice(finished, len(base))
    return made
