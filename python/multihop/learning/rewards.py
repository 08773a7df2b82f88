"""Rewards of an interval, by name."""

from __future__ import annotations

import math
from collections.abc import Callable

from multihop.base.errors import UserError, instead_of
from multihop.learning.observations import Interval

Reward = Callable[[Interval], float]

#: Goodput below which the logarithm does not fall further [Mb/s].
_LEAST = 1e-3


def _utility(interval: Interval) -> float:
    """Proportional fairness with a price of delay: log of goodput less half of that of the RTT ratio."""
    least = interval.after.rtt_min_s
    ratio = max(interval.rtt_s / least, 1.0) if least else 1.0
    return math.log(max(interval.goodput_bps / 1e6, _LEAST)) - 0.5 * math.log(ratio)


def _power(interval: Interval) -> float:
    """Goodput [Mb/s] over round-trip time [s], Kleinrock's power; zero without a round trip."""
    return interval.goodput_bps / 1e6 / interval.rtt_s if interval.rtt_s else 0.0


#: Rewards by name.
REWARDS: dict[str, Reward] = {
    "utility": _utility,
    "goodput": lambda interval: interval.goodput_bps / 1e6,
    "power": _power,
}


def reward(given: str | Reward) -> Reward:
    """Returns the reward of a name, or the given function of an `Interval`.

    Raises:
        UserError: if the name is unknown.
    """
    if callable(given):
        return given
    if given not in REWARDS:
        raise UserError(f"reward: found {given!r}; {instead_of(str(given), REWARDS)}, or a function of an interval")
    return REWARDS[given]
