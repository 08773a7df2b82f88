"""What may help, chosen by cause, and tried by runs of the same seeds."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from multihop import _core
from multihop._core import ScenarioError
from multihop.base.errors import UserError
from multihop.comparison.run import Run
from multihop.comparison.service import Service, Status
from multihop.explanation import wires
from multihop.explanation.causes import LEAST_SCORE, Cause, FlowAccount
from multihop.results.statistics import PairedDifference, paired_difference
from multihop.simulation.runner import Job, run_all
from multihop.simulation.scenario import Scenario, registered, schema

if TYPE_CHECKING:
    Nodes = Sequence[_core.NodeView]

#: Causes that say that frames of others destroyed the flow's.
_COLLISIONS = {"hidden", "sensed", "together", "receiver-sending"}

#: Generators that make the same nodes with every seed, and no wires.
_FIXED = {"chain", "star", "cross", "exposed-terminal", "bar", "parking-lot", "circle"}

#: Tried of one flow at most.
MOST_REMEDIES = 5

#: The PHYs whose rates are stepped down one by one: those of direct sequence, and of OFDM.
_STEPPED = ("802.11b", "802.11a")

#: What schemes are tried in place of others: of the same kind of transport, with another signal of
#: congestion.
_SCHEMES = ("tcp-vegas", "recn", "xcp-winf")


@dataclass(frozen=True)
class Remedy:
    """A change of the scenario.

    Attributes:
        words: what it is.
        set: keys with their new values.
        scheme: scheme of every flow that varies.
        flow: index of the flow of which `set` has the scheme.
    """

    words: str
    set: Mapping[str, Any]
    scheme: str | None = None
    flow: int | None = None

    @property
    def key(self) -> str:
        """Equal for equal changes."""
        return repr((sorted(self.set.items(), key=lambda item: item[0]), self.scheme))


@dataclass(frozen=True)
class Trial:
    """A remedy that was run, or why it could not be run.

    Attributes:
        gain: goodput of the flow with the remedy less that without, in bit/s; `total` that of all flows.
        mean_bps: goodput of the flow with the remedy.
        delay: the same difference of the 95th percentile of delay in seconds, of a call that is late: it
            decides whether the remedy helps. `delay_p95_s` is that delay with the remedy.
        problem: why it could not be run.
    """

    remedy: Remedy
    gain: PairedDifference | None
    total: PairedDifference | None
    mean_bps: float
    problem: str | None = None
    delay: PairedDifference | None = None
    delay_p95_s: float = float("nan")

    @property
    def verdict(self) -> str:
        """`helps`, `harms`, `no effect`, `undecided` with one seed, or `impossible`."""
        if self.gain is None:
            return "impossible"
        if self.gain.low is None or self.gain.high is None:
            return "undecided"
        if self.delay is not None and self.delay.low is not None and self.delay.high is not None:
            return "helps" if self.delay.high < 0 else "harms" if self.delay.low > 0 else "no effect"
        if self.gain.low > 0:
            return "helps"
        return "harms" if self.gain.high < 0 else "no effect"


class Settings:
    """Values of keys by overrides, scenario, or the engine's defaults of tables that have any."""

    def __init__(self, scenario: Scenario, overrides: Mapping[str, Any], view: _core.ScenarioView) -> None:
        self._document = tomllib.loads(scenario.text)
        self._set: Mapping[str, Any] = overrides.get("set", {})
        self._defaults = {table: value.get("default") for table, value in schema()["properties"].items()}
        #: Has every flow the same scheme?
        self.same_scheme = len({flow["scheme"] for flow in view["flows"]}) == 1
        #: Packets that a queue holds.
        self.queue = view["queue"]

    def get(self, path: str, default: Any = None) -> Any:  # noqa: ANN401 - any TOML value
        """The value of a key."""
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
    """What may help a flow, by its greatest causes; each change once."""
    made: dict[str, Remedy] = {}
    for cause in account.causes:
        if cause.score < LEAST_SCORE:
            break
        for remedy in _for(cause, account, nodes, settings):
            made.setdefault(remedy.key, remedy)
    return list(made.values())[:MOST_REMEDIES]


def _for(cause: Cause, account: FlowAccount, nodes: Nodes, settings: Settings) -> list[Remedy]:
    """What may help against one cause, the likeliest first."""
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
            return [Remedy("reordering buffers that wait for a second", timeout)]
        case "no-route" | "broken" | "off" | "hop-limit":
            return _etx(settings)
    return []


def _rts(settings: Settings, *, on: bool) -> list[Remedy]:
    is_on = settings.get("mac.rts_threshold") != "off"
    if is_on == on:
        return []
    words = "RTS/CTS before every DATA frame" if on else "no RTS/CTS"
    return [Remedy(words, {"mac.rts_threshold": "0 B" if on else "off"})]


def _etx(settings: Settings) -> list[Remedy]:
    if settings.get("routing.protocol", "static") != "static":
        return []
    metric = settings.get("routing.metric", "hops")
    other = "etx" if metric == "hops" else "hops"
    words = "routes of fewest expected transmissions (ETX)" if other == "etx" else "routes of fewest hops"
    return [Remedy(words, {"routing.metric": other})]


def _rate(settings: Settings) -> list[Remedy]:
    text = settings.get("phy.data_rate")
    try:
        rate = float(str(text).removesuffix("Mb/s"))
    except ValueError:
        return []
    rows = (sorted(bps / 1e6 for bps in phy["rates_bps"]) for phy in registered()["phys"] if phy["name"] in _STEPPED)
    lower = next((rates[rates.index(rate) - 1] for rates in rows if rate in rates and rate > rates[0]), None)
    return [] if lower is None else [Remedy(f"a data rate of {lower:g} Mb/s", {"phy.data_rate": f"{lower:g} Mb/s"})]


def _retries(settings: Settings) -> list[Remedy]:
    limits = [settings.get(f"mac.{which}_retry_limit") for which in ("short", "long")]
    if not all(isinstance(limit, int) for limit in limits):
        return []
    keys = {"mac.short_retry_limit": 3 * limits[0], "mac.long_retry_limit": 3 * limits[1]}
    return [Remedy(f"retry limits of {3 * limits[0]} and {3 * limits[1]}", keys)]


def _queue(settings: Settings) -> list[Remedy]:
    packets = max(4 * settings.queue, 50)
    return [Remedy(f"queues of {packets} packets", {"mac.queue": packets}), *_discipline(settings)]


def _wire_discipline(cause: Cause, nodes: Nodes, settings: Settings) -> list[Remedy]:
    """Fair queueing in front of a wire, instead of one line."""
    if cause.sender is None or cause.receiver is None:
        return []
    ends = (nodes[cause.sender]["name"], nodes[cause.receiver]["name"])
    key = wires.remedy_key(settings.get("topology", {}), ends)
    if key is None or settings.get(key) == "fq-codel":
        return []
    return [Remedy(f'discipline "fq-codel" in front of the wire {ends[0]} to {ends[1]}', {key: "fq-codel"})]


def _discipline(settings: Settings) -> list[Remedy]:
    """Fair queueing in front of radios, instead of one line."""
    if settings.get("mac.discipline") != "drop-tail":
        return []
    return [Remedy('discipline "fq-codel"', {"mac.discipline": "fq-codel", "mac.queue": 1024})]


def _loss_tolerant(account: FlowAccount, settings: Settings) -> list[Remedy]:
    """A scheme whose rate random losses do not set."""
    return _schemes(account, settings, ("tcp-bbr",))


def _stations(settings: Settings) -> list[Remedy]:
    if settings.get("mac.discipline") == "stations":
        return []
    words = 'discipline "stations", turns of equal airtime'
    return [Remedy(words, {"mac.discipline": "stations", "mac.queue": max(settings.queue, 1024)})]


_HARDWARE_QUEUE = ("mac.hardware_queue.packets", "mac.hardware_queue.aggregates", "mac.hardware_queue.aql.low")


def _airtime_limits(settings: Settings) -> list[Remedy]:
    """Linux's limit of airtime below the discipline (AQL), where the hardware's queue lacks one."""
    packets, aggregates, low = map(settings.get, _HARDWARE_QUEUE)
    if not (packets or aggregates) or low is not None:
        return []
    return [Remedy("5 ms of airtime in the hardware's queue (AQL)", {"mac.hardware_queue.aql.low": "5 ms"})]


def _schemes(account: FlowAccount, settings: Settings, which: Sequence[str] = _SCHEMES) -> list[Remedy]:
    """Another scheme, for all flows if they share one; none for datagrams, which send what they are given."""
    present = account.view["scheme"]
    names = [name for name in which if name != present][:2]
    if present.startswith("udp"):
        return []
    if settings.same_scheme:
        return [Remedy(f"scheme {name} for every flow", {}, name) for name in names]
    key = f"flows[{account.flow}].scheme"
    return [Remedy(f"scheme {name} for {account.name}", {key: name}, flow=account.flow) for name in names]


def _interferer_channel(cause: Cause, account: FlowAccount, nodes: Nodes, settings: Settings) -> list[Remedy]:
    whom = cause.facts.get("whom_node")
    if cause.interferer is None or whom is None:
        return []
    return _channel(cause.interferer, whom, account, nodes, settings)


def _channel(a: int | None, b: int | None, account: FlowAccount, nodes: Nodes, settings: Settings) -> list[Remedy]:
    """Another channel for a hop, by second radios at both ends: a wire as fast as the hop is alone."""
    generator = settings.get("topology.generator")
    if a is None or b is None or generator not in {None, *_FIXED}:
        return []
    if generator is not None and settings.get("traffic.pattern") == "canonical":
        return []  # listed nodes have no canonical flows
    rates = [hop.alone_bps for hop in account.hops if hop.alone_bps]
    own = next((hop.alone_bps for hop in account.hops if {hop.sender, hop.receiver} == {a, b} and hop.alone_bps), None)
    if not rates:
        return []
    ends = [nodes[nodes[end]["node"]]["name"] for end in (a, b)]
    there = list(settings.get("topology.wires", []))
    if any(set(ends) == set(old["between"]) for old in there):
        return []
    extended = [*there, {"between": ends, "rate": f"{round(own or max(rates))} b/s", "delay": "1 ms"}]
    # Generated nodes have no wires: the same are listed instead.
    changes: dict[str, Any] = {"topology.wires": extended}
    if generator is not None:
        listed = [_listed(nodes, index) for index, node in enumerate(nodes) if node["node"] == index]
        changes = {"topology": {"nodes": listed, "wires": extended}}
    return [Remedy(f"another channel, on radios of their own, for {ends[0]}-{ends[1]}", changes)]


def _listed(nodes: Nodes, index: int) -> dict[str, Any]:
    """A node as scenarios list it."""
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
    base: Sequence[Run],
    remedies: Sequence[Remedy],
    threads: int | None = None,
    on_tick: Callable[[float], None] | None = None,
) -> dict[str, list[Run] | str]:
    """By key of a remedy: its runs, with the seeds of `base`, or why it cannot be run."""
    made: dict[str, list[Run] | str] = {}
    jobs: list[Job] = []
    for remedy in remedies:
        replaced = {**overrides, "set": {**overrides.get("set", {}), **remedy.set}}
        if remedy.scheme is not None:
            replaced["scheme"] = remedy.scheme
        if remedy.flow is not None and "scheme" in replaced:
            # What `--scheme` replaces is not what the key of the flow says.
            varying = replaced.get("varying", range(len(base[0].view["flows"])))
            replaced["varying"] = [index for index in varying if index != remedy.flow]
        try:
            view = scenario.check(replaced)
        except (ScenarioError, UserError) as error:
            made[remedy.key] = str(error)
            continue
        made[remedy.key] = []
        jobs += [Job(scenario, {**replaced, "seed": run.seed}, view) for run in base]
    outputs = iter(zip(jobs, run_all(jobs, threads, on_tick=on_tick), strict=True)) if jobs else iter(())
    for runs in made.values():
        if isinstance(runs, list):
            for _ in base:
                job, output = next(outputs)
                runs.append(Run(job.scenario, job.view, job.overrides, output))
    return made


def trial(remedy: Remedy, service: Service, base: Sequence[Run], runs: list[Run] | str) -> Trial:
    """What a remedy did for one flow, seed by seed."""
    flow = service.flow
    if isinstance(runs, str):
        return Trial(remedy, None, None, float("nan"), runs)

    def values(of: Sequence[Run], column: str) -> np.ndarray:
        return np.array([run.flows[column].to_numpy(dtype=float) for run in of])

    after, before = values(runs, "goodput_bps"), values(base, "goodput_bps")
    gain = paired_difference(after[:, flow], before[:, flow])
    total = paired_difference(after.sum(axis=1), before.sum(axis=1))
    mean = float(after[:, flow].mean())
    if not (service.is_call and service.status == Status.LATE):
        return Trial(remedy, gain, total, mean)
    with_it, without = values(runs, "delay_p95_s")[:, flow], values(base, "delay_p95_s")[:, flow]
    if not np.isfinite(with_it - without).any():
        return Trial(remedy, gain, total, mean)
    delay = paired_difference(with_it, without)
    return Trial(remedy, gain, total, mean, None, delay, float(np.nanmean(with_it)))
