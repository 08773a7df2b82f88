"""Upper bounds on goodput from airtime alone.

Links that exclude each other share the airtime: the exchanges on the links of a clique of the conflict graph
take together at most all of the time. With one such constraint per maximal clique, the largest sum of
goodputs is a linear programme (Jain, Padhye, Padmanabhan and Qiu, MobiCom 2003, section 4). `LEVELS` define
the airtime charged.

Frames lost by the channel are sent again, by the engine's delivery ratio of each link for these frames;
collisions are not counted.

Routes are those of a scenario with static routes. With a routing protocol that takes other routes, the bounds
apply only to the shortest ones.
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

#: Most cliques. With fewer constraints a bound is higher, but still a bound.
MAX_CLIQUES = 20_000

#: Shares of lost tries and of lost packets below which a link is not reported, and most links that are named.
_FEW_TRIES = 0.01
_FEW_PACKETS = 0.001
_MOST_LINKS = 6

Charge = Literal["data", "exchange", "airtime", "airtime and access"]
Conflicts = Literal["data_conflicts", "exchange_conflicts", "sensing_conflicts"]


@dataclass(frozen=True)
class Level:
    """Model of the airtime charged: a bound that no run exceeds, or an estimate that some runs exceed.

    Attributes:
        name: name of the level.
        families: conflict graphs that exclude links, and the airtime charged on these links.
        meaning: one sentence for readers.
        is_bound: whether no run exceeds it.
    """

    name: str
    families: tuple[tuple[Conflicts, Charge], ...]
    meaning: str
    is_bound: bool = False

    @property
    def title(self) -> str:
        """Name of the level, and whether it is a bound or an estimate."""
        return f"{self.name} {'bound' if self.is_bound else 'estimate'}"


#: The bound and two estimates, from the highest to the lowest.
LEVELS = (
    Level(
        "hard",
        (("exchange_conflicts", "exchange"), ("data_conflicts", "data")),
        "no MAC carries more: only frames that would be destroyed exclude each other, and only time that cannot "
        "overlap is charged",
        is_bound=True,
    ),
    Level(
        "carrier-sense",
        (("sensing_conflicts", "airtime"),),
        "links that sense or destroy each other send one exchange after the other, without gaps, and with DCF's "
        "retries; exposed senders that begin together carry more",
    ),
    Level(
        "idle-channel",
        (("sensing_conflicts", "airtime and access"),),
        "the same with DIFS and a mean back-off before each try, as for a lone station; stations that count back-off "
        "down together carry more",
    ),
)


@dataclass(frozen=True)
class Shares:
    """Airtime that flows take from shared resources.

    Attributes:
        airtime: one row per constraint, one column per flow: share of the time that a goodput of 1 bit/s
            takes.
        offered_bps: highest load that each flow can offer; infinite without a limit, 0 without a path.
        cliques: links (indices) of each constraint: maximal cliques, or interference sets.
        complete: whether all maximal cliques are included.
    """

    airtime: np.ndarray
    offered_bps: np.ndarray
    cliques: tuple[tuple[int, ...], ...] = field(repr=False)
    complete: bool = True

    @property
    def alone_bps(self) -> np.ndarray:
        """Highest goodput of each flow if it is alone."""
        with np.errstate(divide="ignore"):  # a flow without a path takes no airtime, and offers no load
            limits: np.ndarray = np.minimum(1.0 / self.airtime.max(axis=0, initial=0.0), self.offered_bps)
        return limits

    @property
    def bottlenecks(self) -> list[tuple[int, ...]]:
        """Links whose airtime limits each flow if it is alone."""
        if not self.cliques:
            return [()] * len(self.offered_bps)
        return [self.cliques[row] for row in self.airtime.argmax(axis=0)]

    @cached_property
    def total_bps(self) -> float:
        """Largest sum of goodputs."""
        # Imported here, as networkx below, so that other commands start faster.
        extras.require("optimum", "the largest sum of goodputs")
        from scipy.optimize import linprog

        # Flows in units of their goodput alone, and the sum in units of the largest: the solver's tolerances
        # are absolute, so that all numbers must be near one.
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
        view: resolved scenario.
        capacity: airtime that flows need, and links that share it.
    """

    view: _core.ScenarioView
    capacity: _core.CapacityView = field(repr=False)

    @property
    def has_feedback(self) -> bool:
        """Whether any flow has acknowledgements of its transport."""
        return any(demand["feedback"] for demand in self.capacity["demands"])

    @property
    def of_start(self) -> bool:
        """Whether nodes move, so that the bounds apply only to the network at the start."""
        return any(node["moves"] for node in self.view["nodes"])

    def shares(self, level: str = "hard", *, feedback: bool = False) -> Shares:
        """Returns the constraints of a level; `feedback` also charges the transport's acknowledgements."""
        chosen = {known.name: known for known in LEVELS}[level]
        return shares(self.capacity, chosen, feedback=feedback)

    @cached_property
    def totals(self) -> pd.DataFrame:
        """Table of levels: the largest sum of goodputs in bit/s, without and with acknowledgements."""
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
        """Table of flows and levels: goodput alone in bit/s, and the limiting links of the flow."""
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
        """Returns the largest sum of goodputs at each level, in kb/s."""
        del whole
        rows = [
            [level.title, f"{row['total_bps'] / 1e3:.1f}", f"{row['total_with_feedback_bps'] / 1e3:.1f}"]
            for level, row in zip(LEVELS, self.totals.to_dict("records"), strict=True)
        ]
        return Overview(f"{self.view['name']}, all flows together", ["level", "kb/s", "with transport ACKs"], rows)

    def record(self) -> dict[str, Any]:
        """Returns everything as plain data (JSON)."""
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
    """Returns the bounds of a scenario with these overrides; `multihop.bound` is the public function."""
    view = scenario.check(overrides)
    return Bound(view, scenario.capacity(overrides))


def multicast_flow(view: _core.ScenarioView) -> str | None:
    """Returns the name of the first multicast flow; `None` without one."""
    return next((flow["name"] for flow in view["flows"] if "group" in flow), None)


def require_unicast(view: _core.ScenarioView, what: str) -> None:
    """Refuses a scenario with a multicast flow.

    Raises:
        UserError: naming the flow, and what is needed.
    """
    flow = multicast_flow(view)
    if flow is not None:
        raise UserError(
            f"{what}: found the multicast flow {flow!r}; needs unicast flows only, since airtime is counted for "
            'packets with one receiver; give it one receiver (to = "n1"), or leave it out'
        )


def shares(capacity: _core.CapacityView, level: Level, *, feedback: bool = False) -> Shares:
    """Returns the constraints of a level, one per maximal clique of each of its conflict graphs."""
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
    """Returns the constraints of EWCCP (Tan et al., Eqs. 12, 13), one per interference set of a link.

    The set contains the link and all links with an endpoint within interference range of one of its
    endpoints. Their airtime is at most all of the time, although some may be used at once. Equal sets are one
    constraint. The level defines the airtime charged; of two charges, the smaller one applies.
    """
    sets = sorted({tuple(map(int, np.flatnonzero(row))) for row in interference(capacity)})
    per_link = _per_link(capacity, level.families[-1][1], feedback=feedback)
    rows = [per_link[list(members)].sum(axis=0) for members in sets]
    airtime = np.array(rows).reshape(len(rows), len(capacity["demands"]))
    return Shares(airtime, _all_offered(capacity), tuple(sets))


def interference(capacity: _core.CapacityView) -> np.ndarray:
    """Returns which links are in each other's interference sets, with themselves, of shape (links, links)."""
    made = np.eye(len(capacity["links"]), dtype=bool)
    for a, b in capacity["interference_conflicts"]:
        made[a, b] = made[b, a] = True
    return made


def link_airtime(capacity: _core.CapacityView, level: str) -> np.ndarray:
    """Returns the share of time on each link for a goodput of 1 bit/s of each flow, of shape (links, flows).

    Acknowledgements of the transport are excluded. The level defines the airtime charged; of two charges, the
    smaller one applies.
    """
    charge = next(known.families[-1][1] for known in LEVELS if known.name == level)
    return _per_link(capacity, charge, feedback=False)


def maximal_cliques(
    vertices: int, edges: Iterable[tuple[int, int]], limit: int = MAX_CLIQUES
) -> tuple[list[tuple[int, ...]], bool]:
    """Returns the maximal cliques of a graph, each sorted, and whether these are all.

    Beyond `limit` further cliques are left out, and each vertex is added as a clique, so that every vertex is
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
    """Returns a table of links on paths of flows, the one with most transmissions first.

    `delivery` is the share of tries that succeed without interference, `transmissions` the DATA frames per
    packet that reaches the end of its path, and `lost` the share of packets that the link loses. If flows
    share a link, the values are those of the flow with most transmissions.
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
    """Returns sentences about losses that bounds and optima count, and collisions that they omit."""
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
    """Returns the share of time that a goodput of 1 bit/s takes: one row per link, one column per flow."""
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
