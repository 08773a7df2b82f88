"""What the stated channel can carry at all: upper bounds on goodput from airtime alone.

Links that exclude each other share the airtime: the exchanges on the links of a clique of the conflict graph
take, put together, at most all of the time. Under these constraints, one per maximal clique, the largest sum
of goodputs is a linear programme (Jain, Padhye, Padmanabhan and Qiu, MobiCom 2003, section 4). See `LEVELS`
for what is charged.

What the channel loses by itself is sent again, by the engine's own delivery of each link for the frames that
cross it; collisions are not counted.

Routes are those of a scenario with static routes. A routing protocol may take others; then these are bounds
for the shortest ones only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, Literal

import numpy as np
import pandas as pd

from multihop import _core
from multihop.base import extras
from multihop.base.display import Displayed, Overview
from multihop.base.errors import UserError
from multihop.simulation.scenario import Scenario

#: Cliques beyond this many are left out. With fewer constraints a bound is higher, but still a bound.
MAX_CLIQUES = 20_000

#: Of links that lose a smaller share of their tries, or for good of their packets, nothing is said; of
#: others, so many are named at most.
_FEW_TRIES = 0.01
_FEW_PACKETS = 0.001
_MOST_LINKS = 6

Charge = Literal["data", "exchange", "airtime", "airtime and access"]
Conflicts = Literal["data_conflicts", "exchange_conflicts", "sensing_conflicts"]


@dataclass(frozen=True)
class Level:
    """What is charged: a bound that no run exceeds, or an estimate that some runs do.

    Attributes:
        name: of the level.
        families: which conflicts exclude, and what is charged on the links that they exclude.
        meaning: one sentence for people.
        is_bound: whether no run exceeds it.
    """

    name: str
    families: tuple[tuple[Conflicts, Charge], ...]
    meaning: str
    is_bound: bool = False

    @property
    def title(self) -> str:
        """The name, and whether it is a bound."""
        return f"{self.name} {'bound' if self.is_bound else 'estimate'}"


#: The bound, and two estimates, from the highest to the lowest.
LEVELS = (
    Level(
        "hard",
        (("exchange_conflicts", "exchange"), ("data_conflicts", "data")),
        "no MAC carries more: only what would destroy frames excludes, and only what cannot overlap is charged",
        is_bound=True,
    ),
    Level(
        "carrier-sense",
        (("sensing_conflicts", "airtime"),),
        "links that sense or destroy each other send one exchange after the other, without a gap, and DCF's retries; "
        "exposed senders that begin together carry more",
    ),
    Level(
        "idle-channel",
        (("sensing_conflicts", "airtime and access"),),
        "the same with DIFS and a mean back-off before each try, as a lone station has; stations that count back-off "
        "down together carry more",
    ),
)


@dataclass(frozen=True)
class Shares:
    """The airtime that flows take from what they share.

    Attributes:
        airtime: one row per constraint, one column per flow: the share of the time that a goodput of 1 bit/s
            takes.
        offered_bps: what each flow can offer its path at most; infinite without limit, 0 without a path.
        cliques: the links (indices) of each constraint: maximal cliques, or interference sets.
        complete: were all maximal cliques taken?
    """

    airtime: np.ndarray
    offered_bps: np.ndarray
    cliques: tuple[tuple[int, ...], ...] = field(repr=False)
    complete: bool = True

    @property
    def alone_bps(self) -> np.ndarray:
        """The most that each flow can get where it is alone."""
        with np.errstate(divide="ignore"):  # a flow without a path takes no airtime, and offers nothing either
            limits: np.ndarray = np.minimum(1.0 / self.airtime.max(axis=0, initial=0.0), self.offered_bps)
        return limits

    @property
    def bottlenecks(self) -> list[tuple[int, ...]]:
        """The links whose airtime limits each flow where it is alone."""
        if not self.cliques:
            return [()] * len(self.offered_bps)
        return [self.cliques[row] for row in self.airtime.argmax(axis=0)]

    @cached_property
    def total_bps(self) -> float:
        """The largest sum of goodputs."""
        # Imported here, as networkx below: what only a bound needs would slow down the start of every
        # command.
        extras.require("optimum", "the largest sum of goodputs")
        from scipy.optimize import linprog

        # Flows in units of what each carries alone, and their sum in units of the largest of these: the
        # solver has absolute tolerances, so that all numbers have to be near one.
        unit = self.alone_bps
        largest = float(unit.max(initial=0.0))
        if not self.cliques or largest == 0.0:
            return 0.0
        limits = {"A_ub": self.airtime * unit, "b_ub": np.ones(len(self.airtime)), "bounds": (0, 1)}
        found = linprog(-unit / largest, **limits, method="highs")
        if found.fun is None:
            raise RuntimeError(f"the linear programme was not solved: {found.message}")
        return float(-found.fun) * largest


@dataclass(frozen=True, repr=False)
class Bound(Displayed):
    """Upper bounds on the goodput of a scenario; see `LEVELS`.

    Attributes:
        view: the scenario, resolved.
        capacity: what flows need of the channel, and which links share it.
    """

    view: _core.ScenarioView
    capacity: _core.CapacityView = field(repr=False)

    @property
    def has_feedback(self) -> bool:
        """Does any flow send acknowledgements of its transport?"""
        return any(demand["feedback"] for demand in self.capacity["demands"])

    @property
    def of_start(self) -> bool:
        """Do nodes move, so that the bounds are of the network at the start, and a run may get more?"""
        return any(node["moves"] for node in self.view["nodes"])

    def shares(self, level: str = "hard", *, feedback: bool = False) -> Shares:
        """The constraints of a level; `feedback` charges the transport's acknowledgements too."""
        chosen = {known.name: known for known in LEVELS}[level]
        return shares(self.capacity, chosen, feedback=feedback)

    @cached_property
    def totals(self) -> pd.DataFrame:
        """One row per level: the largest sum of goodputs in bit/s, without and with acknowledgements."""
        rows = [
            {
                "level": level.name,
                "total_bps": self._plain[level.name].total_bps,
                "total_with_feedback_bps": self._charged[level.name].total_bps,
            }
            for level in LEVELS
        ]
        return pd.DataFrame(rows)

    @cached_property
    def flows(self) -> pd.DataFrame:
        """A row per flow and level: what the flow could get alone in bit/s, and its links that limit it."""
        names = [node["name"] for node in self.view["nodes"]]
        links = [f"{names[a]}>{names[b]}" for a, b in self.capacity["links"]]
        own = [{time["link"] for time in demand["forward"]} for demand in self.capacity["demands"]]
        rows: list[dict[str, Any]] = []
        for level in LEVELS:
            plain, charged = self._plain[level.name], self._charged[level.name]
            for index, flow in enumerate(self.view["flows"]):
                rows.append(
                    {
                        "level": level.name,
                        "flow": index,
                        "name": flow["name"],
                        "hops": flow["hops"],
                        "alone_bps": plain.alone_bps[index],
                        "alone_with_feedback_bps": charged.alone_bps[index],
                        "bottleneck": [links[link] for link in plain.bottlenecks[index] if link in own[index]],
                    }
                )
        return pd.DataFrame(rows)

    def overview(self, *, whole: bool = True) -> Overview:
        """The largest sum of goodputs at each level, in kb/s."""
        del whole
        rows = [
            [level.title, f"{row['total_bps'] / 1e3:.1f}", f"{row['total_with_feedback_bps'] / 1e3:.1f}"]
            for level, row in zip(LEVELS, self.totals.to_dict("records"), strict=True)
        ]
        return Overview(f"{self.view['name']}, all flows together", ["level", "kb/s", "with transport ACKs"], rows)

    def record(self) -> dict[str, Any]:
        """Everything as plain data (JSON)."""
        return {
            "scenario": {"name": self.view["name"], "hash": self.view["hash"]},
            "levels": {level.name: level.meaning for level in LEVELS},
            "of_start": self.of_start,
            "complete": all(share.complete for share in (*self._plain.values(), *self._charged.values())),
            "totals": self.totals.to_dict("records"),
            "flows": self.flows.to_dict("records"),
            "links": crossings(self.capacity, self.view).to_dict("records"),
            "notes": not_counted(self.capacity, self.view),
        }

    @cached_property
    def _plain(self) -> dict[str, Shares]:
        return {level.name: self.shares(level.name) for level in LEVELS}

    @cached_property
    def _charged(self) -> dict[str, Shares]:
        if not self.has_feedback:
            return self._plain
        return {level.name: self.shares(level.name, feedback=True) for level in LEVELS}


def bound(scenario: Scenario, overrides: Mapping[str, Any]) -> Bound:
    """Bounds of a scenario with these overrides; `multihop.bound` is the same for everyday use."""
    view = scenario.check(overrides)
    return Bound(view, scenario.capacity(overrides))


def multicast_flow(view: _core.ScenarioView) -> str | None:
    """Name of the first multicast flow; `None` if there is none."""
    return next((flow["name"] for flow in view["flows"] if "group" in flow), None)


def require_unicast(view: _core.ScenarioView, what: str) -> None:
    """Refuses a scenario with a multicast flow.

    Raises:
        UserError: naming the flow, and what would do.
    """
    flow = multicast_flow(view)
    if flow is not None:
        raise UserError(
            f"{what}: found the multicast flow {flow!r}; needs unicast flows alone, as airtime is counted for packets "
            'with one receiver; give it one receiver (to = "n1"), or leave it out'
        )


def shares(capacity: _core.CapacityView, level: Level, *, feedback: bool = False) -> Shares:
    """The constraints of a level, one per maximal clique of each of its conflict graphs."""
    demands = capacity["demands"]
    rows: list[np.ndarray] = []
    members: list[tuple[int, ...]] = []
    complete = True
    for conflicts, charge in level.families:
        per_link = _per_link(capacity, charge, feedback=feedback)
        cliques, all_there = maximal_cliques(len(per_link), capacity[conflicts])
        complete &= all_there
        members += cliques
        rows += [per_link[list(clique)].sum(axis=0) for clique in cliques]
    airtime = np.array(rows).reshape(len(rows), len(demands))
    return Shares(airtime, _all_offered(capacity), tuple(members), complete)


def interference_shares(capacity: _core.CapacityView, level: Level, *, feedback: bool = False) -> Shares:
    """Constraints of Tan, Jiang, Zhang and Shen (EWCCP, Eqs. 12, 13): one per interference set of a link.

    It holds the link and all that have an endpoint within interference range of one of its endpoints; their
    airtime is at most all of the time, although some of them may well be used at once. Sets of the same links
    are one constraint. The level says what is charged; where it charges in two ways, the smaller charge.
    """
    sets = sorted({tuple(map(int, np.flatnonzero(row))) for row in interference(capacity)})
    per_link = _per_link(capacity, level.families[-1][1], feedback=feedback)
    rows = [per_link[list(members)].sum(axis=0) for members in sets]
    airtime = np.array(rows).reshape(len(rows), len(capacity["demands"]))
    return Shares(airtime, _all_offered(capacity), tuple(sets))


def interference(capacity: _core.CapacityView) -> np.ndarray:
    """Which links are in each other's interference sets, themselves included, of shape (links, links)."""
    made = np.eye(len(capacity["links"]), dtype=bool)
    for a, b in capacity["interference_conflicts"]:
        made[a, b] = made[b, a] = True
    return made


def link_airtime(capacity: _core.CapacityView, level: str) -> np.ndarray:
    """Share of time on each link for a goodput of 1 bit/s of each flow, of shape (links, flows).

    Without the transport's acknowledgements; charged as the level says, where it says two things, the smaller
    charge.
    """
    charge = next(known.families[-1][1] for known in LEVELS if known.name == level)
    return _per_link(capacity, charge, feedback=False)


def maximal_cliques(
    vertices: int, edges: Iterable[tuple[int, int]], limit: int = MAX_CLIQUES
) -> tuple[list[tuple[int, ...]], bool]:
    """The maximal cliques of a graph, each sorted, and whether these are all.

    Beyond `limit` the rest is left out, but for each vertex as a clique of its own, so that every vertex is
    in one.
    """
    extras.require("optimum", "finding cliques of links")
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(vertices))
    graph.add_edges_from(edges)
    found = [tuple(sorted(clique)) for clique in islice(nx.find_cliques(graph), limit + 1)]
    if len(found) <= limit:
        return sorted(found), True
    return sorted({*found[:limit], *((vertex,) for vertex in range(vertices))}), False


def crossings(capacity: _core.CapacityView, view: _core.ScenarioView) -> pd.DataFrame:
    """One row per link that packets of flows cross, the one with the most transmissions first.

    `delivery` is the share of tries that succeed without interference, `transmissions` the DATA frames for
    each packet that arrives at the end of its path, `lost` the share of packets that do not get across at
    all; of flows that share a link, those of the one that needs the most.
    """
    names = [node["name"] for node in view["nodes"]]
    used = [time for demand in capacity["demands"] for time in demand["forward"]]
    worst = {time["link"]: time for time in sorted(used, key=lambda time: time["transmissions"])}
    rows = [
        {
            "link": "{}>{}".format(*(names[node] for node in capacity["links"][link])),
            "delivery": time["delivery"],
            "transmissions": time["transmissions"],
            "lost": time["lost"],
        }
        for link, time in sorted(worst.items())
    ]
    df = pd.DataFrame(rows, columns=["link", "delivery", "transmissions", "lost"])
    return df.sort_values("transmissions", ascending=False, kind="stable", ignore_index=True)


def not_counted(capacity: _core.CapacityView, view: _core.ScenarioView) -> list[str]:
    """What bounds and optima count for losses, and what they leave out, as sentences; none without either."""
    table = crossings(capacity, view)
    said = []
    lossy = table[table["delivery"] < 1.0 - _FEW_TRIES].to_dict("records")
    if lossy:
        each = [
            f"{row['link']} {row['transmissions']:.3g} ({_percent(row['delivery'])} of tries succeed)" for row in lossy
        ]
        said.append(f"DATA frames for each packet that arrives: {_few(each)}")
    losing = table[table["lost"] > _FEW_PACKETS].sort_values("lost", ascending=False).to_dict("records")
    if losing:
        each = [f"{row['link']} {_percent(row['lost'])}" for row in losing]
        said.append(
            f"packets lost for good by the channel alone: {_few(each)}; a transport that takes loss for congestion "
            "carries far less than these bounds"
        )
    pairs = {frozenset(capacity["links"][link][0] for link in pair) for pair in capacity["hidden"]}
    if pairs:
        senders = len({sender for sender, _ in capacity["links"]})
        what = f"{len(pairs)} of {math.comb(senders, 2)} pairs of senders"
        said.append(
            f"collisions are not counted: {what} do not sense each other and can destroy each other's DATA (hidden "
            "terminals), so that a flow may carry far less than it could alone, or nothing"
        )
    return said


def _few(said: list[str]) -> str:
    more = [f"{len(said) - _MOST_LINKS} more"] if len(said) > _MOST_LINKS else []
    return "; ".join([*said[:_MOST_LINKS], *more])


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _per_link(capacity: _core.CapacityView, charge: Charge, *, feedback: bool) -> np.ndarray:
    """One row per link, one column per flow: the share of the time that a goodput of 1 bit/s takes there."""
    made = np.zeros((len(capacity["links"]), len(capacity["demands"])))
    for column, demand in enumerate(capacity["demands"]):
        for time in demand["forward"] + (demand["feedback"] if feedback else []):
            made[time["link"], column] += _charged(time, charge) / (demand["payload_bytes"] * 8)
    return made


def _all_offered(capacity: _core.CapacityView) -> np.ndarray:
    return np.array([_offered(demand) for demand in capacity["demands"]], dtype=float)


def _offered(demand: _core.DemandView) -> float:
    if not demand["forward"]:
        return 0.0
    return np.inf if demand["offered_bps"] is None else demand["offered_bps"]


def _charged(time: _core.LinkTimeView, charge: Charge) -> float:
    if charge == "data":
        return time["data_s"]
    if charge == "exchange":
        return time["exchange_s"]
    return time["airtime_s"] + (time["access_s"] if charge == "airtime and access" else 0.0)
