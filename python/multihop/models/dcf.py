"""The DCF: attempt probability of a saturated station (Bianchi, IEEE JSAC 18(3), 2000), and mean back-off."""

from __future__ import annotations

from multihop.base import extras


def attempt_probability(collision: float, window: int = 32, stages: int = 5, tries: int | None = None) -> float:
    """Probability that a saturated station transmits in a slot (Bianchi 2000, Eq. 7).

    With a retry limit (Wu et al., INFOCOM 2002), a frame reaches its j-th try with probability
    `collision^(j-1)`, and defers `(W_j - 1) / 2` slots for it on average, from a window of `W_j`.

    Args:
        collision: probability that a transmission collides.
        window: slots of the first window: `CW_min + 1`.
        stages: number of doublings of the window.
        tries: most tries of a frame; `None` without a limit.
    """
    if tries is not None:
        reached = [collision**j for j in range(tries)]
        slots = [(window * 2 ** min(j, stages) + 1) / 2 for j in range(tries)]
        return float(sum(reached) / sum(share * each for share, each in zip(reached, slots, strict=True)))
    doubling = sum((2 * collision) ** i for i in range(stages))
    return 2 / (1 + window + collision * window * doubling)


def saturation(stations: int, window: int = 32, stages: int = 5) -> tuple[float, float]:
    """Returns the fixed point of saturated stations that sense each other (Bianchi 2000, Eqs. 7 and 9).

    Returns:
        Probability that a station transmits in a slot, and probability that a transmission collides.
    """
    extras.require("optimum", "the fixed point of saturated stations")
    from scipy.optimize import brentq

    def excess(collision: float) -> float:
        return 1 - (1 - attempt_probability(collision, window, stages)) ** (stations - 1) - collision

    collision = float(brentq(excess, 0.0, 0.999)) if stations > 1 else 0.0
    return attempt_probability(collision, window, stages), collision


def mean_backoff(loss: float, tries: int = 7, cw_min: int = 31, cw_max: int = 1023) -> float:
    """Mean back-off of a try in slots, if each fails alike and doubles the window (802.11-2012, 9.3.3).

    A frame reaches its j-th try with probability `loss^(j-1)`, and then draws from 0 to `min((cw_min + 1)
    2^(j-1) - 1, cw_max)`.

    Args:
        loss: probability that a transmission fails, from 0 to 1.
        tries: most tries of a frame; at least 1.
        cw_min: first contention window.
        cw_max: largest contention window.
    """
    weights = [float(loss**j) for j in range(tries)]
    slots = [min((cw_min + 1 << j) - 1, cw_max) / 2 for j in range(tries)]
    return sum(w * s for w, s in zip(weights, slots, strict=True)) / sum(weights)
