"""Path-loss law with shadowing, fitted to links and to pairs without a link.

Received power falls by `10 n` dB per decade of distance, and varies around that by a normal variable in dB,
the shadowing (Rappaport 2002, 4.9: the log-distance law). Each direction contributes to the likelihood as in
Tobin's regression (Econometrica 26(1), 1958):

- a known power: its density;
- a link without losses: the power is above the band in which a receiver goes from losing all frames to losing
  none;
- a link with losses: the power is in that band, or above it and frames are lost for another cause. Links
  above the band have such losses with one probability, which is fitted, too: if it is high, the losses of the
  mesh say little about powers, as in busy air;
- no link: the power is below the band.

The presence of links alone determines only the ratio of exponent and shadowing, so both have a prior from
measurements in towns. The fit maximises the posterior probability.
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

#: Mean and standard deviation of the exponent's prior: that of towns, where 2.7 to 3.5 is usual (Rappaport
#: 2002, table 4.2). Without informative links, the fit stays there.
USUAL_EXPONENT = 3.0
EXPONENT_SPREAD = 0.7
#: Prior of shadowing: its median in dB, and the standard deviation of its logarithm (4 to 9 dB).
USUAL_SIGMA_DB = 6.0
_SIGMA_SPREAD = 0.4
#: Standard deviation of the prior of the logit of other losses, which is wide.
_LOGIT_SPREAD = 3.0

#: Range of exponents, from corridors, which guide waves, to the worst buildings (Rappaport 2002, table 4.2).
_EXPONENTS = (1.6, 6.0)
_SIGMAS_DB = (0.1, 20.0)


@dataclass(frozen=True)
class Evidence:
    """Data on powers in dBm, by distance in metres.

    Attributes:
        distances: distances of directions with a link.
        powers: their powers in dBm; NaN if unknown.
        lossy: whether each of them loses frames.
        absent: distances of directions without a link, or the centres of classes of distances.
        counts: number of directions without a link that each entry of `absent` represents.
        band: power below which nothing arrives, and power above which everything arrives.
    """

    distances: Floats
    powers: Floats
    lossy: Flags
    absent: Floats
    counts: Floats
    band: tuple[float, float]


@dataclass(frozen=True)
class Law:
    """Fitted law of received power by distance.

    Attributes:
        exponent: path-loss exponent.
        exponent_error: standard error of the exponent.
        at_1m_dbm: power at 1 m.
        sigma_db: standard deviation of shadowing.
        other_losses: share of links with losses of another cause than a weak signal.
        links: number of directions with a link in the fit.
        absent: number of directions without a link in the fit.
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
        """Whether the exponent is hardly better known than its prior."""
        return self.exponent_error > 0.8 * EXPONENT_SPREAD

    def mean_dbm(self, distance: Floats) -> Floats:
        """Returns the power without shadowing; below 1 m, that at 1 m."""
        return self.at_1m_dbm - 10.0 * self.exponent * np.log10(np.maximum(distance, 1.0))

    def below(self, distance: Floats, threshold: float, draws: Floats) -> Floats:
        """Returns powers in dBm below a threshold, each at its quantile (0 to 1) of the distribution."""
        mean = self.mean_dbm(distance)
        whole = log_ndtr((threshold - mean) / self.sigma_db)
        return np.asarray(mean + self.sigma_db * ndtri_exp(whole + np.log(draws)))

    def expected(self, distance: Floats, band: tuple[float, float], lossy: Flags, in_band: Floats) -> Floats:
        """Returns expected powers of links, given the powers that they would have in the band."""
        mean = self.mean_dbm(distance)
        z = (mean - band[1]) / self.sigma_db
        # The ratio of density to probability is computed by logarithms, since both underflow in the tail.
        above = mean + self.sigma_db * np.exp(-0.5 * z * z - 0.5 * math.log(2.0 * math.pi) - log_ndtr(z))
        inside = np.exp(_log_inside(mean, band, self.sigma_db))
        weak = inside / np.maximum(inside + self.other_losses * np.exp(log_ndtr(z)), 1e-300)
        return np.asarray(np.where(lossy, weak * in_band + (1.0 - weak) * above, above))

    def reach(self, power_dbm: float) -> float:
        """Returns the distance at which power falls to this value without shadowing."""
        return float(10.0 ** ((self.at_1m_dbm - power_dbm) / (10.0 * self.exponent)))


def fit(evidence: Evidence) -> Law:
    """Returns the most likely law. The evidence must contain a link."""
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
    """Returns the initial power: the median of known powers, or a value a little above the band."""
    known = evidence.powers[np.isfinite(evidence.powers)]
    return float(np.median(known)) if len(known) else evidence.band[1] + USUAL_SIGMA_DB


def _log_inside(mean: Floats, band: tuple[float, float], sigma: float) -> Floats:
    """Returns the logarithm of the probability of a power in the band."""
    low, high = (band[0] - mean) / sigma, (band[1] - mean) / sigma
    # Mirrored to the side where both probabilities are small, so that their difference is exact.
    low, high = np.where(low > 0, -high, low), np.where(low > 0, -low, high)
    above, below = log_ndtr(high), log_ndtr(low)
    return np.asarray(above + np.log1p(-np.exp(np.minimum(below - above, -1e-12))))


def _cost(evidence: Evidence, centre: float) -> Callable[[float, float, float, float], float]:
    """Returns the negative log posterior by power at mean log-distance, exponent, ln sigma and loss logit."""
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
    """Returns the standard error of the second parameter by the cost's curvature, at most the prior's."""
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
