"""Fluid model of EWCCP: its law over continuous rates, its equilibrium, and the distance to the optimum.

Tan, Jiang, Zhang and Shen (section IV) write the law of a flow s as Eqs. 20 and 21,

    dx_s/dt = alpha - beta x_s sum_{l in P_s} lambda_l,    lambda_l = (y_l - C)^+ / y_l,

where P_s are the links of its path, and y_l is the rate of all links in the interference set of l: y = H x
with H = G A. They state that it converges to the optimum of program (13), the largest sum of log x_s under H
x <= C. With the constraints as penalties, that programme has another gradient: a flow pays for every
interference set that contains its links, as often as it does,

    dx_s/dt = alpha - beta x_s sum_l H_ls lambda_l.

`law="printed"` is the first, `law="gradient"` the second. The second also follows from their Eqs. 16 and 17:
in the sum of neighbourhood queues over a path, the queue of link l is counted H_ls times, and if other links
carry what they send, that queue is (y_l - C)^+ d. Eq. 19 adds up differently.

Rates are in units of C and times in units of 1 / beta, which leaves one parameter: the step alpha / (beta C).
Overload is of its order. In consistent units (bytes, seconds) Eq. 8 as printed increases a rate by alpha s /
(rtt d) per second, where Eq. 16 has alpha, so that the step differs between flows of unequal round-trip
times; `weights` model that. With the engine's `law = "rates"` it is alpha s / d^2, equal for all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

from multihop.base import extras
from multihop.optima.capacity import interference, link_airtime
from multihop.optima.optimum import distance, gap
from multihop.optima.utility import LOG, allocate
from multihop.simulation.scenario import ScenarioLike, load

Law = Literal["printed", "gradient"]


@dataclass(frozen=True)
class Network:
    """Flows on links, and links that share the channel.

    Attributes:
        paths: A, shape (links, flows): share of C that a rate of 1 takes on a link; 1 without airtime.
        interference: G, shape (links, links), symmetric: 1 if two links are in each other's interference set,
            and on the diagonal.
    """

    paths: np.ndarray
    interference: np.ndarray

    @property
    def usage(self) -> np.ndarray:
        """H = G A, shape (links, flows): what a rate of 1 takes in each link's interference set."""
        made: np.ndarray = self.interference @ self.paths
        return made

    def optimum(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Returns the rates that solve program (13) with log utility."""
        return allocate(self.usage, np.full(self.paths.shape[1], np.inf), LOG, weights).rates


@dataclass(frozen=True)
class Motion:
    """Solution over time.

    Attributes:
        times: times in units of 1 / beta.
        rates: rates of shape (times, flows), in units of C.
        residual: distance of the end from equilibrium: the largest speed of a rate, over that without prices.
    """

    times: np.ndarray
    rates: np.ndarray
    residual: float

    @property
    def end(self) -> np.ndarray:
        """Rates at the end."""
        last: np.ndarray = self.rates[-1]
        return last


def of_scenario(scenario: ScenarioLike, overrides: Mapping[str, Any] | None = None) -> Network:
    """Returns a scenario's network: its interference sets, and the airtime of data at level idle-channel.

    A rate of 1 takes all of the time on the slowest link. Flows without a path are left out.
    """
    capacity = load(scenario).capacity(overrides or {})
    airtime = link_airtime(capacity, "idle-channel")
    airtime = airtime[:, airtime.any(axis=0)]
    used = airtime.any(axis=1)
    near = interference(capacity)[np.ix_(used, used)].astype(float)
    return Network(airtime[used] / airtime.max(initial=np.finfo(float).tiny), near)


def settle(
    network: Network,
    step: float,
    law: Law = "printed",
    *,
    weights: np.ndarray | None = None,
    start: np.ndarray | None = None,
    duration: float | None = None,
) -> Motion:
    """Integrates the law from a start.

    Args:
        network: paths and interference sets.
        step: alpha / (beta C), above 0.
        law: `printed` or `gradient`, see the module.
        weights: factor of each flow's step, 1 by default: the weight of its utility.
        start: rates in units of C, above 0; a thousandth each by default.
        duration: time in units of 1 / beta; long enough for equilibrium by default.

    Raises:
        ValueError: if the step is not above 0, or the law is unknown.
    """
    extras.require("optimum", "the fluid model")
    from scipy.integrate import solve_ivp

    if not 0 < step < math.inf:
        raise ValueError(f"step is {step}; needs a number above 0")
    if law not in get_args(Law):
        raise ValueError(f"law is {law!r}; needs {' or '.join(get_args(Law))}")
    flows = network.paths.shape[1]
    usage = network.usage
    payers = (network.paths > 0).astype(float) if law == "printed" else usage
    steps = step * (np.ones(flows) if weights is None else weights)

    # Integrates the logarithms of rates, which stay above zero.
    def speeds(_time: float, logs: np.ndarray) -> np.ndarray:
        rates = np.exp(logs)
        together = usage @ rates
        prices = np.maximum(together - 1.0, 0.0) / np.maximum(together, 1.0)
        made: np.ndarray = steps / rates - payers.T @ prices
        return made

    begin = np.log(np.full(flows, 1e-3) if start is None else start)
    until = 200.0 / step if duration is None else duration
    found = solve_ivp(speeds, (0.0, until), begin, method="LSODA", rtol=1e-8, atol=1e-10)
    if not found.success:
        raise ValueError(f"the law could not be followed with step {step:g}: {found.message}")
    rates = np.exp(found.y.T)
    still = np.abs(speeds(until, found.y[:, -1]) * rates[-1] / steps).max(initial=0.0)
    return Motion(found.t, rates, float(still))


#: Topologies by name: positions of nodes in units of the range, which is that of reception and of
#: interference, and paths of flows.
_PLACES: Mapping[str, tuple[list[tuple[float, float]], list[list[int]]]] = {
    "chain": ([(0.8 * i, 0.0) for i in range(8)], [list(range(8))]),
    "exposed": ([(0.8 * i, 0.0) for i in range(4)], [[1, 0], [2, 3]]),
    "bar": ([(0.8 * i, 0.0) for i in range(3)] + [(0.8, 0.5), (1.4, 0.5)], [[3, 4], [0, 1, 2]]),
    "parking-lot": ([(0.8 * i, 0.0) for i in range(4)], [[0, 1, 2, 3], [0, 1], [1, 2], [2, 3]]),
    "long-parking-lot": ([(0.8 * i, 0.0) for i in range(13)], [list(range(13)), [1, 2], [6, 7], [10, 11]]),
    "middle": ([(0.8 * i, 0.9 * row) for row in range(3) for i in range(2)], [[0, 1], [2, 3], [4, 5]]),
}

TOPOLOGIES = (*_PLACES, "random")


def named(name: str, seed: int = 1) -> Network:
    """Returns one of `TOPOLOGIES`, with interference sets by distance.

    `chain`, `exposed`, `bar` and `parking-lot` are those of the paper's section V. `long-parking-lot` has
    separate bottlenecks. `middle` has three parallel flows, of which the middle one interferes with both
    others, but these do not with each other. `random` has 25 nodes in a square of four ranges and eight flows
    over shortest paths.

    Raises:
        ValueError: if the name is unknown.
    """
    if name == "random":
        return _network(*_random(seed))
    if name not in _PLACES:
        raise ValueError(f"topology is {name!r}; needs one of {', '.join(TOPOLOGIES)}")
    places, paths = _PLACES[name]
    return _network(np.array(places), paths)


def _network(places: np.ndarray, paths: list[list[int]]) -> Network:
    links = sorted({hop for path in paths for hop in pairwise(path)})
    index = {link: row for row, link in enumerate(links)}
    crosses = np.zeros((len(links), len(paths)))
    for flow, path in enumerate(paths):
        for hop in pairwise(path):
            crosses[index[hop], flow] = 1.0
    near = np.linalg.norm(places[:, None] - places[None, :], axis=-1) <= 1.0
    ends = np.array(links)
    interferes = near[ends[:, None, :, None], ends[None, :, None, :]].any(axis=(2, 3))
    return Network(crosses, interferes.astype(float))


def _random(seed: int) -> tuple[np.ndarray, list[list[int]]]:
    extras.require("optimum", "the fluid model")
    import networkx as nx

    rng = np.random.default_rng(seed)
    while True:
        places = rng.random((25, 2)) * 4.0
        distances = np.linalg.norm(places[:, None] - places[None, :], axis=-1)
        graph = nx.from_numpy_array(distances <= 1.0)
        if nx.is_connected(graph):
            break
    pairs = [rng.choice(25, 2, replace=False) for _ in range(8)]
    return places, [nx.shortest_path(graph, int(a), int(b)) for a, b in pairs]


def ewccp_fluid(
    topology: str = "bar", step: float = 0.01, law: Law = "printed", round_trips: str = "equal", seed: int = 1
) -> dict[str, float]:
    """Equilibrium of EWCCP's fluid law relative to the optimum of its program (13) (Tan et al., section IV).

    Args:
        topology: chain, exposed, bar, parking-lot, long-parking-lot, middle or random.
        step: alpha / (beta C), above 0.
        law: printed (Eq. 21), or gradient (flows pay for every set that contains their links).
        round_trips: equal, as in Eq. 16; or hops, which makes a flow's step inversely proportional to its
            hops.
        seed: seed of the random topology.

    Returns:
        `distance` |x - x*| / |x*|, `gap` (1 minus the geometric mean of x / x*) and `least_share` (the least
        x / x*), of rates scaled down until no set is overloaded; `raw_distance` before that; `overload`, the
        largest load of a set minus 1; `ratio`, the rate of the first flow over the mean of the others (1 if
        none); `residual`, the distance from equilibrium; `spread`, the difference of ends from two starts.
    """
    if round_trips not in ("equal", "hops"):
        raise ValueError(f"round_trips is {round_trips!r}; needs equal or hops")
    network = named(topology, seed)
    hops = network.paths.sum(axis=0)
    weights = np.ones(len(hops)) if round_trips == "equal" else hops.mean() / hops
    best = network.optimum()
    motion = settle(network, step, law, weights=weights)
    other = settle(network, step, law, weights=weights, start=np.linspace(0.2, 1.0, len(hops)))
    load = float((network.usage @ motion.end).max())
    feasible = motion.end / max(load, 1.0)
    return {
        "distance": float(distance(feasible, best)),
        "gap": float(gap(feasible, best)),
        "raw_distance": float(distance(motion.end, best)),
        "overload": load - 1.0,
        "least_share": float((feasible / best).min()),
        "ratio": float(motion.end[0] / motion.end[1:].mean()) if len(hops) > 1 else 1.0,
        "residual": max(motion.residual, other.residual),
        "spread": float(np.max(np.abs(other.end / motion.end - 1.0))),
    }
