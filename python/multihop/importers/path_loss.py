"""A path-loss law with shadowing, fitted to what is known of links, and to pairs that have none.

Received power falls by `10 n` dB per decade of distance, and varies around that by a normal variable in dB, the
shadowing (Rappaport 2002, 4.9: the log-distance law). A link whose power is known counts by its density; one that is
only known to be above some power, because it loses nothing, or below, because nobody lists it, counts by the
probability of that (Tobin, Econometrica 26(1), 1958). What maximizes the likelihood of all is the fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_ndtr

Floats = NDArray[np.float64]

#: What is taken where links do not say: the exponent of the medium `sinr`, which is that of towns (Rappaport 2002,
#: table 4.2: 2.7 to 3.5), and the shadowing of the same places.
USUAL_EXPONENT = 3.0
USUAL_SIGMA_DB = 6.0

#: Fewer directions of links than this determine no exponent.
LEAST_LINKS = 8
#: Nor do distances that are all alike: their standard deviation in decades.
LEAST_SPREAD = 0.1
#: Nor does a fit that is as unsure as this.
MOST_ERROR = 1.0

_EXPONENTS = (1.5, 6.0)
_SIGMAS_DB = (1.0, 20.0)


@dataclass(frozen=True)
class Evidence:
    """What is known of powers in dBm, by distance in metres.

    Attributes:
        distances: of directions that are listed.
        lower: the power is at least this.
        upper: and at most this; where both are equal, the power is known.
        absent: distances of pairs that are not listed, or the middles of classes of such distances.
        counts: how many directions that are not listed each of them stands for.
        threshold: those have less power than this.
    """

    distances: Floats
    lower: Floats
    upper: Floats
    absent: Floats
    counts: Floats
    threshold: float


@dataclass(frozen=True)
class Law:
    """Received power by distance.

    Attributes:
        exponent: path-loss exponent.
        exponent_error: its standard error; `None` if it was not fitted.
        at_1m_dbm: power at a metre.
        sigma_db: standard deviation of shadowing.
        links: directions of links that it was fitted to.
        absent: directions without a link that it was fitted to.
        why: why the exponent was not fitted; empty if it was.
    """

    exponent: float
    exponent_error: float | None
    at_1m_dbm: float
    sigma_db: float
    links: int
    absent: int
    why: str = ""

    def mean_dbm(self, distance: Floats) -> Floats:
        """Power without shadowing; within a metre as at a metre."""
        return self.at_1m_dbm - 10.0 * self.exponent * np.log10(np.maximum(distance, 1.0))

    def below(self, distance: Floats, threshold: float) -> Floats:
        """Expected power of those that are below a threshold."""
        return self._given(self.mean_dbm(distance), threshold, -1.0)

    def above(self, distance: Floats, threshold: float) -> Floats:
        """Expected power of those that are above a threshold."""
        return self._given(self.mean_dbm(distance), threshold, 1.0)

    def reach(self, power_dbm: float) -> float:
        """The distance at which power falls to this without shadowing."""
        return float(10.0 ** ((self.at_1m_dbm - power_dbm) / (10.0 * self.exponent)))

    def _given(self, mean: Floats, threshold: float, side: float) -> Floats:
        """The mean of a normal variable, cut at a threshold: of what is above it (`side` 1), or below (-1)."""
        z = side * (mean - threshold) / self.sigma_db
        # The ratio of density to probability, by logarithms: far out, both are 0.
        ratio = np.exp(-0.5 * z * z - 0.5 * math.log(2.0 * math.pi) - log_ndtr(z))
        return np.asarray(mean + side * self.sigma_db * ratio)


def fit(evidence: Evidence) -> Law:
    """The most likely law.

    It needs a link. Where links are too few or too much alike for an exponent, that is `USUAL_EXPONENT`, and the rest
    is fitted; below `LEAST_LINKS` shadowing is `USUAL_SIGMA_DB` as well.
    """
    distances = np.log10(np.maximum(evidence.distances, 1.0))
    few = len(distances) < LEAST_LINKS
    alike = float(np.std(distances)) < LEAST_SPREAD
    why = "all links are of one length" if alike else ""
    if few:
        why = f"only {len(distances)} directions have both ends placed"
    centre = float(np.mean(distances))
    cost = _cost(evidence, centre)
    if not why:
        best = _minimum(lambda p: cost(p[0], p[1], p[2]), [_start(evidence), USUAL_EXPONENT, math.log(USUAL_SIGMA_DB)])
        error = _error_of_second(lambda p: cost(p[0], p[1], p[2]), best)
        inside = all(low * 1.02 < value < high * 0.98 for value, (low, high) in _bounded(best))
        if inside and error is not None and error < MOST_ERROR:
            return _law(best[0], best[1], math.exp(best[2]), error, centre, evidence, "")
        why = "links and pairs without one do not determine it"
    if few:
        sigma = math.log(USUAL_SIGMA_DB)
        found = _minimum(lambda p: cost(p[0], USUAL_EXPONENT, sigma), [_start(evidence)])
    else:
        found = _minimum(lambda p: cost(p[0], USUAL_EXPONENT, p[1]), [_start(evidence), math.log(USUAL_SIGMA_DB)])
        sigma = float(np.clip(found[1], math.log(USUAL_SIGMA_DB / 2.0), math.log(USUAL_SIGMA_DB * 2.0)))
    return _law(found[0], USUAL_EXPONENT, math.exp(sigma), None, centre, evidence, why)


def _law(
    middle: float, exponent: float, sigma: float, error: float | None, centre: float, evidence: Evidence, why: str
) -> Law:
    at_1m = float(middle + 10.0 * exponent * centre)
    return Law(
        float(exponent), error, at_1m, float(sigma), len(evidence.distances), round(float(evidence.counts.sum())), why
    )


def _bounded(best: Floats) -> list[tuple[float, tuple[float, float]]]:
    return [(float(best[1]), _EXPONENTS), (math.exp(float(best[2])), _SIGMAS_DB)]


def _start(evidence: Evidence) -> float:
    """A power to begin with: the middle of those that are known, or of the bounds that are."""
    middle = np.where(np.isfinite(evidence.upper), evidence.upper, evidence.lower + USUAL_SIGMA_DB)
    return float(np.median(middle))


def _cost(evidence: Evidence, centre: float) -> Callable[[float, float, float], float]:
    """Minus the logarithm of the likelihood, by power at the mean logarithm of distances, exponent, and ln of sigma."""
    listed = np.log10(np.maximum(evidence.distances, 1.0)) - centre
    absent = np.log10(np.maximum(evidence.absent, 1.0)) - centre
    known = evidence.lower == evidence.upper
    powers, least = evidence.lower[known], evidence.lower[~known]

    def cost(middle: float, exponent: float, log_sigma: float) -> float:
        sigma = math.exp(log_sigma)
        mean = middle - 10.0 * exponent * listed
        points = 0.5 * ((powers - mean[known]) / sigma) ** 2 + log_sigma
        above = -log_ndtr((mean[~known] - least) / sigma)
        below = -log_ndtr((evidence.threshold - middle + 10.0 * exponent * absent) / sigma)
        return float(points.sum() + above.sum() + (evidence.counts * below).sum())

    return cost


def _minimum(cost: Callable[[Any], float], start: list[float]) -> Floats:
    bounds = [(-250.0, 100.0), _EXPONENTS, (math.log(_SIGMAS_DB[0]), math.log(_SIGMAS_DB[1]))]
    if len(start) == 2:
        bounds = [bounds[0], bounds[2]]
    found = minimize(cost, np.array(start), method="L-BFGS-B", bounds=bounds[: len(start)])
    return np.asarray(found.x, dtype=np.float64)


def _error_of_second(cost: Callable[[Any], float], best: Floats) -> float | None:
    """Standard error of the second parameter, by the curvature of the likelihood; `None` if it has no peak."""
    steps = np.array([0.05, 0.01, 0.01])
    unit = np.diag(steps)
    curvature = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            ends = [cost(best + a * unit[i] + b * unit[j]) for a in (1, -1) for b in (1, -1)]
            curvature[i, j] = (ends[0] - ends[1] - ends[2] + ends[3]) / (4.0 * steps[i] * steps[j])
    try:
        variance = float(np.linalg.inv(curvature)[1, 1])
    except np.linalg.LinAlgError:
        return None
    return math.sqrt(variance) if variance > 0.0 else None
