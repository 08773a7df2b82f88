"""Rates that maximise a sum of utilities of flows on shared resources.

The convex programme is that of Kelly ("Charging and rate control for elastic traffic", 1997), which Tan,
Jiang, Zhang and Shen ("Congestion control in multi-hop wireless networks") write for airtime as their program
(13):

    maximise sum_s w_s U(x_s)    where    sum_s a_rs x_s <= 1 for every resource r,    0 <= x_s <= m_s,

with a_rs the share of resource r that flow s takes per unit of its rate. The utilities are those of Mo and
Walrand ("Fair end-to-end window-based congestion control", 2000), U(x) = x^(1 - alpha) / (1 - alpha): alpha =
1 is log(x), proportional fairness; alpha = 2 is -1 / x, the least potential delay; infinite alpha is max-min
fairness.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from multihop.base import extras
from multihop.base.errors import UserError

#: Range of alpha. Beyond it, utilities of flows may differ by more powers of ten than numbers have digits.
ALPHAS = (0.1, 5.0)

#: Largest residual of the Karush-Kuhn-Tucker conditions of a solution.
_MOST_RESIDUAL = 1e-9

#: Most steps of Newton's method, which doubles the number of correct digits with each step.
_MOST_STEPS = 20

#: Factor of alpha between successive solutions, if one alone does not converge.
_STEP = 1.3

#: Residual due to rounding alone.
_EXACT = 1e-13

#: Least number of resources added at a time.
_FEWEST = 20

#: Unused share below which a resource or a limit may yet bind.
_NEAR = 0.05


#: Rates, prices of resources, and prices of limits.
_Solution = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Utility:
    """Utility of a rate.

    Attributes:
        alpha: aversion to inequality: 1 for log, infinity for max-min.
    """

    alpha: float

    @classmethod
    def of(cls, given: Utility | str | float) -> Utility:
        """Parses `log`, `max-min`, `alpha=2`, or alpha as a number.

        Raises:
            UserError: if the value is none of these.
        """
        if isinstance(given, Utility):
            return given
        if given == "log":
            return LOG
        if given == "max-min":
            return MAX_MIN
        alpha = math.nan
        if isinstance(given, str) and given.startswith("alpha="):
            try:
                alpha = float(given.removeprefix("alpha="))
            except ValueError:
                alpha = math.nan
        elif isinstance(given, int | float | np.number) and not isinstance(given, bool):
            alpha = float(given)
        if not ALPHAS[0] <= alpha <= ALPHAS[1]:
            needs = f"log, max-min, or alpha=A with A from {ALPHAS[0]:g} to {ALPHAS[1]:g}"
            raise UserError(f"utility: found {given!r}; needs {needs}")
        return cls(alpha)

    @property
    def name(self) -> str:
        """Name of the utility, as `of` parses it."""
        return {1.0: "log", math.inf: "max-min"}.get(self.alpha, f"alpha={self.alpha:g}")

    def marginal(self, rates: np.ndarray) -> np.ndarray:
        """Returns the marginal utility per unit of rate."""
        made: np.ndarray = rates**-self.alpha
        return made


#: Proportional fairness.
LOG = Utility(1.0)
#: Max-min fairness: the least rate is maximised, then the second least, and so on.
MAX_MIN = Utility(math.inf)


@dataclass(frozen=True)
class Allocation:
    """Rates that maximise a sum of utilities, and prices of resources.

    Max-min fairness is no sum and has no prices: they are NaN.

    Attributes:
        rates: rate of each flow, in the unit of its limit; 0 for flows with limit 0, which are left out.
        prices: price of each resource: marginal utility of a whole further one; 0 if the resource is not used
            up.
        limit_prices: marginal utility of a higher limit of each flow, per unit of rate; 0 below the limit.
        residual: violation of the Karush-Kuhn-Tucker conditions: the largest of constraint violations,
            relative errors of marginal utilities, and the share of payments for unused resources. 0 is exact.
    """

    rates: np.ndarray
    prices: np.ndarray = field(repr=False)
    limit_prices: np.ndarray = field(repr=False)
    residual: float


def allocate(
    usage: np.ndarray, limits: np.ndarray, utility: Utility = LOG, weights: np.ndarray | None = None
) -> Allocation:
    """Solves the programme with Clarabel, or for max-min by filling.

    Args:
        usage: one row per resource, one column per flow: share that one unit of rate takes, from 0.
        limits: highest rate of each flow; infinite without a limit, 0 for flows to leave out.
        utility: utility of a rate.
        weights: weights of utilities, above 0; all 1 by default. Max-min compares rates divided by weights.

    Raises:
        ValueError: if shapes do not fit, a number is out of range, or a flow has neither limit nor resource.
        UserError: if rates or weights are too many powers of ten apart for a solution.
    """
    weights = np.ones(len(limits)) if weights is None else np.asarray(weights, dtype=float)
    _check(usage, limits, weights)
    kept = limits > 0
    if math.isinf(utility.alpha):
        rates = np.zeros(len(limits))
        rates[kept] = _filled(usage[:, kept], limits[kept], weights[kept])
        return Allocation(rates, np.full(len(usage), np.nan), np.full(len(limits), np.nan), 0.0)
    made = _by_rows(usage[:, kept], limits[kept], utility, weights[kept])
    rates, limit_prices = np.zeros(len(limits)), np.zeros(len(limits))
    rates[kept], limit_prices[kept] = made.rates, made.limit_prices
    return Allocation(rates, made.prices, limit_prices, made.residual)


def residual(
    usage: np.ndarray,
    limits: np.ndarray,
    utility: Utility,
    weights: np.ndarray,
    allocation: _Solution,
) -> float:
    """Returns `Allocation.residual` of rates, prices and limit prices; all rates must be above 0."""
    rates, prices, limit_prices = allocation
    if not len(rates):
        return 0.0
    spare, below = 1.0 - usage @ rates, 1.0 - rates / limits
    marginal = weights * utility.marginal(rates)
    paid = prices.sum() + (limit_prices * rates).sum()
    wrong = [
        np.max(-spare, initial=0.0),
        np.max(-below, initial=0.0),
        np.max(np.abs(marginal - usage.T @ prices - limit_prices) / marginal),
        (np.abs(prices * spare).sum() + np.abs(limit_prices * rates * below).sum()) / paid,
        -min(prices.min(initial=0.0), (limit_prices * rates).min(initial=0.0)) / paid,
    ]
    worst = float(np.max(wrong))
    return math.inf if math.isnan(worst) else abs(worst)


def _check(usage: np.ndarray, limits: np.ndarray, weights: np.ndarray) -> None:
    if usage.ndim != 2 or limits.shape != weights.shape or usage.shape[1:] != limits.shape:
        raise ValueError(f"shapes {usage.shape}, {limits.shape}, {weights.shape}; needs (r, s), (s,), (s,)")
    if not (np.isfinite(usage).all() and (usage >= 0).all()):
        raise ValueError("usage: needs finite numbers from 0")
    if not (limits >= 0).all():
        raise ValueError("limits: needs numbers from 0")
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ValueError("weights: needs finite numbers above 0")
    if (np.isinf(limits) & ~(usage > 0).any(axis=0)).any():
        raise ValueError("a flow has no limit and uses no resource; needs a bound on its rate")


def _filled(usage: np.ndarray, limits: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Max-min fairness: rates grow by their weights until a limit or a full resource stops them.

    Exact for usage without negative numbers (Bertsekas and Gallager, Data Networks, section 6.5.2).
    """
    rates = np.zeros(len(limits))
    grows = np.ones(len(limits), dtype=bool)
    while grows.any():
        speed = np.where(grows, weights, 0.0)
        spare, taken = 1.0 - usage @ rates, usage @ speed
        with np.errstate(divide="ignore", invalid="ignore"):
            until_full = np.where(taken > 0, spare / taken, np.inf)
            until_limit = np.where(grows, (limits - rates) / speed, np.inf)
        step = max(0.0, min(until_full.min(initial=np.inf), until_limit.min()))
        rates = rates + step * speed
        full = until_full <= step * (1 + 1e-12)
        stopped = (usage[full] > 0).any(axis=0) | (until_limit <= step)
        rates = np.where(grows & (until_limit <= step), limits, rates)
        grows &= ~stopped
    return rates


def _by_rows(usage: np.ndarray, limits: np.ndarray, utility: Utility, weights: np.ndarray) -> Allocation:
    """Solves with few resources, then adds those that are exceeded: of thousands few bind."""
    flows = len(limits)
    known = np.zeros(len(usage), dtype=bool)
    known[np.argmax(usage, axis=0) if len(usage) else []] = True
    while True:
        made = _solved(usage[known], limits, utility, weights)
        over = np.where(known, -np.inf, usage @ made.rates - 1.0)
        worst = np.argsort(-over)[: max(flows, _FEWEST)]
        exceeded = worst[over[worst] > _EXACT]
        if not len(exceeded):
            break
        known[exceeded] = True
    prices = np.zeros(len(usage))
    prices[known] = made.prices
    return Allocation(made.rates, prices, made.limit_prices, made.residual)


def _solved(usage: np.ndarray, limits: np.ndarray, utility: Utility, weights: np.ndarray) -> Allocation:
    """Returns Clarabel's solution, made exact by Newton's method."""
    if not len(limits):
        return Allocation(np.zeros(0), np.zeros(len(usage)), np.zeros(0), 0.0)
    # Rates are in units of each flow's rate alone.
    with np.errstate(divide="ignore"):
        unit = np.minimum(limits, 1.0 / usage.max(axis=0, initial=0.0))
    made = _in_units(usage, limits, LOG, weights, unit)
    if utility.alpha != LOG.alpha:
        # Powers are harder than logarithms and start near that solution. If Clarabel's solution is not near
        # enough for Newton's method, alpha changes in steps.
        near = made.rates
        made = _in_units(usage, limits, utility, weights, near)
        alpha = LOG.alpha
        while not made.residual <= _MOST_RESIDUAL and alpha != utility.alpha:
            alpha = min(alpha * _STEP, utility.alpha) if utility.alpha > alpha else max(alpha / _STEP, utility.alpha)
            step = _in_units(usage, limits, Utility(alpha), weights, near, np.ones(len(limits)))
            near = step.rates
            made = step if alpha == utility.alpha else made
    if not made.residual <= _MOST_RESIDUAL:
        raise UserError(
            f"utility: with {utility.name}, rates or weights are too many powers of ten apart for a solution; use "
            "numbers that are closer, or max-min"
        )
    return made


def _in_units(
    usage: np.ndarray,
    limits: np.ndarray,
    utility: Utility,
    weights: np.ndarray,
    unit: np.ndarray,
    start: np.ndarray | None = None,
) -> Allocation:
    """Returns the best iterate of Newton's method from a start or Clarabel's solution, in these units.

    Weights are scaled to a geometric mean of one.
    """
    usage, limits = usage * unit, limits / unit
    logs = np.log(weights) + (1.0 - utility.alpha) * np.log(unit)
    weights = np.exp(logs - logs.mean())
    step: _Solution | None
    if start is None:
        step = _by_clarabel(usage, limits, utility.alpha, weights)
    else:
        step = _newton_step(usage, limits, utility, weights, start)
    made, best = (np.ones(len(limits)), np.zeros(len(usage)), np.zeros(len(limits))), math.inf
    for _ in range(_MOST_STEPS):
        if step is None or not (np.isfinite(step[0]).all() and (step[0] > 0).all()):
            break
        with np.errstate(all="ignore"):  # infinite numbers yield an infinite residual
            wrong = residual(usage, limits, utility, weights, step)
        if wrong < best:
            made, best = step, wrong
        if best < _EXACT:
            break
        step = _newton_step(usage, limits, utility, weights, step[0])
    scale = float(np.exp(logs.mean()))
    rates, prices, limit_prices = made
    return Allocation(unit * rates, prices * scale, limit_prices * scale / unit, best)


def _newton_step(
    usage: np.ndarray, limits: np.ndarray, utility: Utility, weights: np.ndarray, rates: np.ndarray
) -> _Solution | None:
    """Performs a Newton step under constraints (sequential quadratic programming). Returns rates and prices.

    Returns `None` if the numbers lack the digits for it.

    The quadratic programme, to minimise |D (x - rates) - g / D| with g the marginal utilities and D^2 their
    slopes, is a least-distance problem, which non-negative least squares solve exactly (Lawson and Hanson,
    Solving Least Squares Problems, section 23.4).
    """
    extras.require("optimum", "an optimum")
    from scipy.optimize import nnls

    rates = np.minimum(rates, limits)
    with np.errstate(all="ignore"):
        marginal = weights * utility.marginal(rates)
        root = np.sqrt(utility.alpha * marginal / rates)
    if not (np.isfinite(root).all() and (root > 0).all()):
        return None
    # Constraints far from binding are ignored; `residual` would reveal a violation.
    near = np.flatnonzero(1.0 - usage @ rates < _NEAR)
    bounded = np.flatnonzero(limits - rates < _NEAR * limits)
    rows = np.vstack([usage[near], np.eye(len(rates))[bounded] / limits[bounded, None]])
    spare = 1.0 - rows @ rates
    scaled = rows / root
    # The target point is scaled to a distance of one, for precision.
    length = float(np.linalg.norm(marginal / root))
    over = (scaled @ (marginal / root) - spare) / length
    stacked = np.vstack([-scaled.T, over])
    target = np.zeros(len(rates) + 1)
    target[-1] = 1.0
    try:
        # SciPy 1.17 crashes on a matrix without columns.
        paid = nnls(stacked, target)[0] if len(rows) else np.zeros(0)
    except RuntimeError:  # too many iterations
        return None
    left = stacked @ paid - target
    if not left[-1] < 0.0:
        return None
    paid *= -length / left[-1]
    move = (marginal / root - length * left[:-1] / left[-1]) / root
    # The step is limited, so that rates stay above zero.
    step = min(1.0, 0.9 / max(np.max(-move / rates), 1e-300))
    prices, limit_prices = np.zeros(len(usage)), np.zeros(len(rates))
    prices[near] = paid[: len(near)]
    limit_prices[bounded] = paid[len(near) :] / limits[bounded]
    return rates + step * move, prices, limit_prices


def _by_clarabel(usage: np.ndarray, limits: np.ndarray, alpha: float, weights: np.ndarray) -> _Solution:
    """Returns rates and prices of resources and limits, where all rates are of the order of one.

    Clarabel minimises q'v with A v + s = b, s in a cone. v holds the rates, then an epigraph variable t of
    each: the utility is t in the exponential cone (t <= log x), or a multiple of t in a power cone (t <= x^(1
    - alpha) below alpha = 1, t >= x^(1 - alpha) above).
    """
    # Imported here, as SciPy elsewhere, so that other commands start faster.
    extras.require("optimum", "an optimum")
    import clarabel
    from scipy import sparse

    flows = len(limits)
    bounded = np.flatnonzero(np.isfinite(limits))
    used = np.flatnonzero(usage.any(axis=1))
    linear = sparse.vstack([sparse.csc_matrix(usage[used]), sparse.eye(flows, format="csc")[bounded]])
    # Three rows per flow: the coefficients of its x and its t, and a constant, in the order of its cone.
    cone: Any
    if alpha == 1.0:
        rows, cone, gain = ("t", "1", "x"), clarabel.ExponentialConeT(), -1.0
    elif alpha < 1.0:
        rows, cone, gain = ("x", "1", "t"), clarabel.PowerConeT(1.0 - alpha), -1.0 / (1.0 - alpha)
    else:
        rows, cone, gain = ("t", "x", "1"), clarabel.PowerConeT(1.0 / alpha), 1.0 / (alpha - 1.0)
    of_x, of_t = (-np.array([row == name for row in rows], dtype=float)[:, None] for name in ("x", "t"))
    each = sparse.eye(flows, format="csc")
    curved = sparse.hstack([sparse.kron(each, of_x), sparse.kron(each, of_t)])
    above = sparse.hstack([linear, sparse.csc_matrix((linear.shape[0], flows))])
    matrix = sparse.csc_matrix(sparse.vstack([above, curved]))
    constants = np.tile([float(row == "1") for row in rows], flows)
    right = np.concatenate([np.ones(len(used)), limits[bounded], constants])
    cones = [clarabel.NonnegativeConeT(linear.shape[0]), *[cone] * flows]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    none = sparse.csc_matrix((2 * flows, 2 * flows))
    goal = np.concatenate([np.zeros(flows), gain * weights])
    found = clarabel.DefaultSolver(none, goal, matrix, right, cones, settings).solve()
    x, z = np.array(found.x), np.array(found.z)
    prices, limit_prices = np.zeros(len(usage)), np.zeros(flows)
    prices[used] = z[: len(used)]
    limit_prices[bounded] = z[len(used) : linear.shape[0]]
    return x[:flows], prices, limit_prices
