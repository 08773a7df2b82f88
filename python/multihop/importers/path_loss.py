"""A path-loss law with shadowing, fitted to what is known of links, and to pairs that have none.

Received power falls by `10 n` dB per decade of distance, and varies around that by a normal variable in dB,
the shadowing (Rappaport 2002, 4.9: the log-distance law). What is known of a direction is how likely it makes
the law, as in Tobin's regression (Econometrica 26(1), 1958):

- a power: by its density;
- a link that loses nothing: the power is above the band in which a receiver goes from losing all to losing
  nothing;
- a link that loses some: the power is in that band, or above it and frames are lost for another cause. Links
  above the band have such losses with one probability, which is fitted with the rest: where it is high,
  losses of this mesh say little about powers, such as where quality is lost in busy air;
- no link: the power is below the band.

Which pairs have a link only determines the ratio of exponent and shadowing, so that both have a prior
distribution, that of measurements in towns. What is most likely after all is the fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_ndtr, ndtri_exp

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: What is known of the exponent before any link is: that of towns, where 2.7 to 3.5 is usual (Rappaport 2002,
#: table 4.2), and its standard deviation. Where links say nothing, it stays at that.
USUAL_EXPONENT = 3.0
EXPONENT_SPREAD = 0.7
#: The same of shadowing, in dB and as the logarithm of a factor: 4 to 9 dB.
USUAL_SIGMA_DB = 6.0
_SIGMA_SPREAD = 0.4
#: And of the logit of other losses: anything.
_LOGIT_SPREAD = 3.0

#: From corridors, which guide waves, to the worst of buildings (Rappaport 2002, table 4.2).
_EXPONENTS = (1.6, 6.0)
_SIGMAS_DB = (0.1, 20.0)


@dataclass(frozen=True)
class Evidence:
    """What is known of powers in dBm, by distance in metres.

    Attributes:
        distances: of directions that are listed.
        powers: of those, in dBm; NaN where it is not known.
        lossy: which of them lose some.
        absent: distances of pairs that are not listed, or the middles of classes of such distances.
        counts: how many directions that are not listed each of them stands for.
        band: below the one power nothing arrives, and above the other one everything.
    """

    distances: Floats
    powers: Floats
    lossy: Flags
    absent: Floats
    counts: Floats
    band: tuple[float, float]


@dataclass(frozen=True)
class Law:
    """Received power by distance.

    Attributes:
        exponent: path-loss exponent.
        exponent_error: its standard error.
        at_1m_dbm: power at a metre.
        sigma_db: standard deviation of shadowing.
        other_losses: the share of links with losses of another cause than a weak signal.
        links: directions of links that it was fitted to.
        absent: directions without a link that it was fitted to.
    """

    exponent: float
    exponent_error: float
    at_1m_dbm: float
    sigma_db: float
    other_losses: float
    links: int
    absent: int

    @property
    def says_little(self) -> bool:
        """Is the exponent hardly better known than before?"""
        return self.exponent_error > 0.8 * EXPONENT_SPREAD

    def mean_dbm(self, distance: Floats) -> Floats:
        """Power without shadowing; within a metre as at a metre."""
        return self.at_1m_dbm - 10.0 * self.exponent * np.log10(np.maximum(distance, 1.0))

    def below(self, distance: Floats, threshold: float, draws: Floats) -> Floats:
        """Powers in dBm of pairs below a threshold, each at its quantile (0 to 1) of their distribution."""
        mean = self.mean_dbm(distance)
        whole = log_ndtr((threshold - mean) / self.sigma_db)
        return np.asarray(mean + self.sigma_db * ndtri_exp(whole + np.log(draws)))

    def expected(self, distance: Floats, band: tuple[float, float], lossy: Flags, in_band: Floats) -> Floats:
        """Expected powers of links, with those that they would have in the band."""
        mean = self.mean_dbm(distance)
        z = (mean - band[1]) / self.sigma_db
        # The ratio of density to probability, by logarithms: far out, both are 0.
        above = mean + self.sigma_db * np.exp(-0.5 * z * z - 0.5 * math.log(2.0 * math.pi) - log_ndtr(z))
        inside = np.exp(_log_inside(mean, band, self.sigma_db))
        weak = inside / np.maximum(inside + self.other_losses * np.exp(log_ndtr(z)), 1e-300)
        return np.asarray(np.where(lossy, weak * in_band + (1.0 - weak) * above, above))

    def reach(self, power_dbm: float) -> float:
        """The distance at which power falls to this without shadowing."""
        return float(10.0 ** ((self.at_1m_dbm - power_dbm) / (10.0 * self.exponent)))


def fit(evidence: Evidence) -> Law:
    """The most likely law. It needs a link."""
    distances = np.log10(np.maximum(evidence.distances, 1.0))
    centre = float(np.mean(distances))
    cost = _cost(evidence, centre)
    start = np.array([_start(evidence), USUAL_EXPONENT, math.log(USUAL_SIGMA_DB), 0.0])
    bounds = [(-250.0, 100.0), _EXPONENTS, (math.log(_SIGMAS_DB[0]), math.log(_SIGMAS_DB[1])), (-9.0, 9.0)]

    def of_all(parameters: Floats) -> float:
        return cost(*parameters.tolist())

    best = np.asarray(minimize(of_all, start, method="L-BFGS-B", bounds=bounds).x, dtype=np.float64)
    middle, exponent, log_sigma, logit = (float(value) for value in best)
    return Law(
        exponent=exponent,
        exponent_error=_error_of_second(of_all, best),
        at_1m_dbm=middle + 10.0 * exponent * centre,
        sigma_db=math.exp(log_sigma),
        other_losses=float(expit(logit)),
        links=len(evidence.distances),
        absent=round(float(evidence.counts.sum())),
    )


def _start(evidence: Evidence) -> float:
    """A power to begin with: the middle of those that are known, or a little above the band."""
    known = evidence.powers[np.isfinite(evidence.powers)]
    return float(np.median(known)) if len(known) else evidence.band[1] + USUAL_SIGMA_DB


def _log_inside(mean: Floats, band: tuple[float, float], sigma: float) -> Floats:
    """Logarithm of the probability of a power in the band."""
    low, high = (band[0] - mean) / sigma, (band[1] - mean) / sigma
    # On the side where both are small, so that their difference is exact.
    low, high = np.where(low > 0, -high, low), np.where(low > 0, -low, high)
    above, below = log_ndtr(high), log_ndtr(low)
    return np.asarray(above + np.log1p(-np.exp(np.minimum(below - above, -1e-12))))


def _cost(evidence: Evidence, centre: float) -> Callable[[float, float, float, float], float]:
    """Negative log posterior of power at the mean log-distance, exponent, ln sigma and logit of losses."""
    listed = np.log10(np.maximum(evidence.distances, 1.0)) - centre
    absent = np.log10(np.maximum(evidence.absent, 1.0)) - centre
    known = np.isfinite(evidence.powers)
    lossy, clean = evidence.lossy & ~known, ~evidence.lossy & ~known
    low, high = evidence.band

    def cost(middle: float, exponent: float, log_sigma: float, logit: float) -> float:
        sigma = math.exp(log_sigma)
        mean = middle - 10.0 * exponent * listed
        points = 0.5 * ((evidence.powers[known] - mean[known]) / sigma) ** 2 + log_sigma
        strong = log_ndtr((mean - high) / sigma)
        other = np.logaddexp(_log_inside(mean[lossy], (low, high), sigma), strong[lossy] + math.log(expit(logit)))
        none = strong[clean] + math.log(expit(-logit))
        below = log_ndtr((low - middle + 10.0 * exponent * absent) / sigma)
        before = ((exponent - USUAL_EXPONENT) / EXPONENT_SPREAD) ** 2 + (logit / _LOGIT_SPREAD) ** 2
        before += ((log_sigma - math.log(USUAL_SIGMA_DB)) / _SIGMA_SPREAD) ** 2
        return float(0.5 * before + points.sum() - other.sum() - none.sum() - (evidence.counts * below).sum())

    return cost


def _error_of_second(cost: Callable[[Floats], float], best: Floats) -> float:
    """Standard error of the second parameter by the cost's curvature, at most that of the prior."""
    steps = np.array([0.05, 0.01, 0.01, 0.05])
    unit = np.diag(steps)
    curvature = np.empty((4, 4))
    for i in range(4):
        for j in range(4):
            ends = [cost(best + a * unit[i] + b * unit[j]) for a in (1, -1) for b in (1, -1)]
            curvature[i, j] = (ends[0] - ends[1] - ends[2] + ends[3]) / (4.0 * steps[i] * steps[j])
    try:
        variance = float(np.linalg.inv(curvature)[1, 1])
    except np.linalg.LinAlgError:
        return EXPONENT_SPREAD
    return min(math.sqrt(variance), EXPONENT_SPREAD) if variance > 0.0 else EXPONENT_SPREAD
