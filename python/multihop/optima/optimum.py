"""Network-utility optimum of a scenario: the flow rates that maximise a sum of utilities.

Constraints are those of airtime, as in `multihop.optima.capacity`; `multihop.optima.utility` solves the
programme. No run is needed, and routes are the shortest, as in a bound.

Runs are compared with the optimum by `distance` and `gap`, and each flow by its share x / x*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from multihop import _core
from multihop.base.display import Displayed, Overview
from multihop.base.errors import UserError, instead_of
from multihop.base.finite import finite
from multihop.optima.capacity import LEVELS, Shares, crossings, interference_shares, multicast_flow, not_counted, shares
from multihop.optima.utility import LOG, Allocation, Utility, allocate
from multihop.results.statistics import jain
from multihop.simulation.scenario import Scenario

Constraints = Literal["cliques", "interference-sets"]

#: Meaning of each kind of constraint.
CONSTRAINTS: Mapping[Constraints, str] = {
    "cliques": "links of which any two exclude each other send one after the other",
    "interference-sets": "a link and all links near it send one after the other (EWCCP, Eqs. 12 and 13)",
}

#: Least share of its optimum with which a flow enters `gap`.
FLOOR = 0.01

#: Share of unused time below which a constraint binds.
_BINDING = 1e-6

#: Unit of rates within the programme: 1 Mb/s, to which prices refer.
_MBPS = 1e6


@dataclass(frozen=True)
class Question:
    """Definition of an optimum.

    Attributes:
        utility: utility of a rate.
        constraints: sets of links whose airtime is limited.
        level: name of one of `multihop.optima.capacity.LEVELS`: the airtime charged, and for cliques, the
            conflicts.
        feedback: whether the transport's acknowledgements are charged.
    """

    utility: Utility = LOG
    constraints: Constraints = "cliques"
    level: str = "idle-channel"
    feedback: bool = True

    def __post_init__(self) -> None:
        _require("constraints", self.constraints, list(get_args(Constraints)))
        _require("level", self.level, [level.name for level in LEVELS])
        if not isinstance(self.feedback, bool):
            raise UserError(f"feedback: found {self.feedback!r}; needs True or False")

    def shares(self, capacity: _core.CapacityView) -> Shares:
        """Returns the constraints of a scenario."""
        level = {known.name: known for known in LEVELS}[self.level]
        make = shares if self.constraints == "cliques" else interference_shares
        return make(capacity, level, feedback=self.feedback)


@dataclass(frozen=True, repr=False)
class Optimum(Displayed):
    """Rates of a scenario that maximise the sum of utilities.

    Attributes:
        view: resolved scenario.
        capacity: airtime that flows need, and links that share it.
        question: definition of the optimum.
        shares: constraints, and airtime that flows take from them.
        allocation: solution; rates in Mb/s, prices of a whole constraint and of 1 Mb/s.
        weights: weight of each flow's utility.
    """

    view: _core.ScenarioView
    capacity: _core.CapacityView = field(repr=False)
    question: Question
    shares: Shares = field(repr=False)
    allocation: Allocation = field(repr=False)
    weights: np.ndarray = field(repr=False)

    @property
    def rates_bps(self) -> np.ndarray:
        """Goodput of each flow, in bit/s; 0 without a path."""
        return self.allocation.rates * _MBPS

    @property
    def total_bps(self) -> float:
        """Sum of the flows' goodputs in bit/s."""
        return float(self.rates_bps.sum())

    @property
    def jain(self) -> float:
        """Jain's index of the goodputs of flows with a path; NaN if none has one."""
        reached = self.rates_bps[self.rates_bps > 0]
        return jain(reached) if len(reached) else float("nan")

    @property
    def without_path(self) -> list[str]:
        """Names of flows without a path, whose goodput is 0."""
        flows = zip(self.view["flows"], self.capacity["demands"], strict=True)
        return [flow["name"] for flow, demand in flows if not demand["forward"]]

    @property
    def of_start(self) -> bool:
        """Whether nodes move or switch off, so that the optimum applies only to the network at the start."""
        return self.capacity["changes"]

    @property
    def not_comparable(self) -> str | None:
        """Reason why runs cannot be compared with the optimum, or `None`.

        The optimum is of one network and one set of flows, while a run whose nodes or flows change has many.
        """
        multicast = multicast_flow(self.view)
        if multicast is not None:
            return f"flow {multicast} is multicast, and the optimum is one of unicast flows"
        if self.of_start:
            return "nodes move or are switched off, and the optimum with them"
        flows = zip(self.view["flows"], self.capacity["demands"], strict=True)
        pausing = next((flow["name"] for flow, demand in flows if not demand["steady"]), None)
        if pausing is not None:
            return f"flow {pausing} does not send during all of the measured time, and the optimum changes with it"
        return None if (self.rates_bps > 0).any() else "no flow has a path"

    @cached_property
    def flows(self) -> pd.DataFrame:
        """Table of flows.

        - `optimum_bps` and `alone_bps`, the goodput if the flow is alone, in bit/s.
        - `price`: cost of 1 Mb/s of the flow to others, the sum over constraints of price times share of the
          constraint.
        - `limit_price`: value of a higher offered load per Mb/s. Both prices add up to the marginal utility.
        - `bottleneck`: links of the flow in constraints with a price; without prices, as in max-min fairness,
          in binding constraints.
        """
        links = self._link_names
        costs = self.allocation.prices @ (self.shares.airtime * _MBPS)
        priced = {link for row in self._priced for link in self.shares.cliques[row]}
        rows = []
        for index, (flow, demand) in enumerate(zip(self.view["flows"], self.capacity["demands"], strict=True)):
            own = [time["link"] for time in demand["forward"]]
            rows.append(
                {
                    "flow": index,
                    "name": flow["name"],
                    "hops": flow["hops"],
                    "optimum_bps": self.rates_bps[index],
                    "alone_bps": self.shares.alone_bps[index],
                    "price": costs[index],
                    "limit_price": self.allocation.limit_prices[index],
                    "bottleneck": [links[link] for link in own if link in priced],
                }
            )
        return pd.DataFrame(rows)

    @cached_property
    def constraints(self) -> pd.DataFrame:
        """Table of binding constraints: links, price (marginal utility of a whole further one), and flows.

        If several binding constraints restrict flows in the same way, prices are not unique: one may have the
        price of all.
        """
        links = self._link_names
        names = [flow["name"] for flow in self.view["flows"]]
        rows = [
            {
                "links": [links[link] for link in self.shares.cliques[row]],
                "price": self.allocation.prices[row],
                "flows": [names[flow] for flow in np.flatnonzero(self.shares.airtime[row] * self.rates_bps)],
            }
            for row in self._binding
        ]
        return pd.DataFrame(rows, columns=["links", "price", "flows"])

    def distance(self, rates: np.ndarray) -> np.ndarray:
        """Returns `distance` of rates in bit/s, of shape (..., flows)."""
        return distance(rates, self.rates_bps)

    def gap(self, rates: np.ndarray) -> np.ndarray:
        """Returns `gap` of rates in bit/s, of shape (..., flows)."""
        return gap(rates, self.rates_bps)

    def overview(self, *, whole: bool = True) -> Overview:
        """Returns the optimum of each flow, and its goodput alone, in kb/s."""
        del whole
        rows = [
            [str(row["name"]), str(row["hops"]), f"{row['optimum_bps'] / 1e3:.1f}", f"{row['alone_bps'] / 1e3:.1f}"]
            for row in self.flows.to_dict("records")
        ]
        title = f"{self.view['name']}, {self.question.utility.name} optimum"
        said = f"all flows together {self.total_bps / 1e3:.1f} kb/s, Jain index {self.jain:.4f}"
        return Overview(title, ["flow", "hops", "optimum kb/s", "alone kb/s"], rows, [said])

    def record(self) -> dict[str, Any]:
        """Returns everything as plain data (JSON); missing values, such as max-min prices, are None."""
        level = {known.name: known for known in LEVELS}[self.question.level]
        return {
            "scenario": {"name": self.view["name"], "hash": self.view["hash"]},
            "utility": self.question.utility.name,
            "constraints": self.question.constraints,
            "level": level.name,
            "with_feedback": self.question.feedback,
            "of_start": self.of_start,
            "complete": self.shares.complete,
            "without_path": self.without_path,
            "not_comparable": self.not_comparable,
            "total_bps": self.total_bps,
            "jain": finite(self.jain),
            "residual": self.allocation.residual,
            "flows": _records(self.flows),
            "binding": _records(self.constraints),
            "links": _records(crossings(self.capacity, self.view)),
            "notes": not_counted(self.capacity, self.view),
        }

    @cached_property
    def _binding(self) -> list[int]:
        """Indices of constraints without unused time, those with the highest price first."""
        used = self.shares.airtime @ self.rates_bps
        full = np.flatnonzero(used > 1.0 - _BINDING)
        prices = np.nan_to_num(self.allocation.prices[full])
        return [int(row) for row in full[np.argsort(-prices, kind="stable")]]

    @property
    def _priced(self) -> list[int]:
        prices = self.allocation.prices
        least = _BINDING * np.nan_to_num(prices).max(initial=0.0)
        return [row for row in self._binding if not prices[row] <= least]

    @cached_property
    def _link_names(self) -> list[str]:
        names = [node["name"] for node in self.view["nodes"]]
        return [f"{names[a]}>{names[b]}" for a, b in self.capacity["links"]]


def optimum(
    scenario: Scenario,
    overrides: Mapping[str, Any],
    question: Question | None = None,
    weights: Mapping[str, float] | None = None,
) -> Optimum:
    """Returns the optimum of a scenario with these overrides; `multihop.optimum` is the public function."""
    question = question or Question()
    view = scenario.check(overrides)
    capacity = scenario.capacity(overrides)
    found = question.shares(capacity)
    weighed = _weights(view, weights or {})
    allocation = allocate(found.airtime * _MBPS, found.offered_bps / _MBPS, question.utility, weighed)
    return Optimum(view, capacity, question, found, allocation, weighed)


def distance(rates: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Distance of rates from the best ones: |x - x*| / |x*|, Euclidean norms over the flows with a path.

    0 at the optimum, 1 if nothing is delivered. Rates have the shape (..., flows); NaN if no flow has a path.
    """
    kept = best > 0
    if not kept.any():
        return np.full(np.shape(rates)[:-1], np.nan)
    wrong = np.linalg.norm(np.asarray(rates, dtype=float)[..., kept] - best[kept], axis=-1)
    made: np.ndarray = wrong / np.linalg.norm(best[kept])
    return made


def gap(rates: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Share of the geometric mean of the best rates that is missing: 1 - (prod_s x_s / x*_s)^(1 / n).

    The product is over flows with a path. The gap is the mean difference of log utilities, as a share. If the
    best rates are the proportionally fair ones, it is 0 there and positive for all other feasible rates,
    since the mean of their x / x* is at most 1. A flow below `FLOOR` of its best rate counts as if it had
    that, so that one starved flow of n costs a factor of FLOOR^(1 / n), and not everything. Shapes as in
    `distance`.
    """
    kept = best > 0
    if not kept.any():
        return np.full(np.shape(rates)[:-1], np.nan)
    shared = np.maximum(np.asarray(rates, dtype=float)[..., kept] / best[kept], FLOOR)
    made: np.ndarray = 1.0 - np.exp(np.log(shared).mean(axis=-1))
    return made


def _weights(view: _core.ScenarioView, given: Mapping[str, float]) -> np.ndarray:
    names = [flow["name"] for flow in view["flows"]]
    for name, weight in given.items():
        if name not in names:
            raise UserError(f"weights: no flow is named {name!r}; {instead_of(name, names)}")
        number: object = weight
        if not isinstance(number, int | float | np.number) or isinstance(number, bool) or not 0 < weight < np.inf:
            raise UserError(f"weights: {name}: found {weight!r}; needs a number above 0")
    return np.array([float(given.get(name, 1.0)) for name in names], dtype=float)


def _require(what: str, found: object, known: list[str]) -> None:
    if found not in known:
        raise UserError(f"{what}: found {found!r}; needs {' or '.join(known)}")


def _records(df: pd.DataFrame) -> list[dict[str, Any]]:
    return [finite(row) for row in df.to_dict("records")]
