"""What an agent observes, by name: one interval of its own sender, and its own MAC."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from multihop._core import Controller, Counts, Mac
from multihop.base.errors import UserError, instead_of

#: Upper limit of round-trip times and delays [s], and of rates [Mb/s].
_SECONDS, _MEGABITS = 60.0, 20_000.0


@dataclass(frozen=True)
class Interval:
    """One interval of a sender: counters at its start and end, and values at its end."""

    before: Counts
    after: Counts
    length_s: float
    controller: Controller

    @property
    def goodput_bps(self) -> float:
        """Payload acknowledged in the interval, in bit/s."""
        return 8 * (self.after.acked_bytes - self.before.acked_bytes) / self.length_s

    @property
    def rtt_s(self) -> float:
        """Mean of the round-trip samples in the interval; without samples, the latest one, or zero."""
        samples = self.after.rtt_samples - self.before.rtt_samples
        if samples:
            return (self.after.rtt_sum_s - self.before.rtt_sum_s) / samples
        return self.after.rtt_s or 0.0

    @property
    def losses(self) -> int:
        """Episodes of losses that began in the interval."""
        return self.after.losses - self.before.losses


@dataclass(frozen=True)
class Observation:
    """Observed quantity.

    Attributes:
        meaning: the quantity with its unit.
        value: its value in an interval.
        most: upper limit; all quantities are at least zero.
    """

    meaning: str
    value: Callable[[Interval], float]
    most: float


def _of_mac(read: Callable[[Mac], float | None], scale: float = 1.0) -> Callable[[Interval], float]:
    def value(interval: Interval) -> float:
        return scale * (read(interval.controller.mac) or 0.0)

    return value


#: Observations by name. A value that is not known yet is zero.
OBSERVATIONS = {
    "goodput": Observation("payload acknowledged in the interval [Mb/s]", lambda i: i.goodput_bps / 1e6, _MEGABITS),
    "rtt": Observation("mean round-trip time in the interval [s]", lambda i: i.rtt_s, _SECONDS),
    "rtt_min": Observation("least round-trip time so far [s]", lambda i: i.after.rtt_min_s or 0.0, _SECONDS),
    "rtt_ratio": Observation(
        "round-trip time over the least so far",
        lambda i: i.rtt_s / i.after.rtt_min_s if i.after.rtt_min_s else 0.0,
        1e6,
    ),
    "losses": Observation("episodes of losses in the interval", lambda i: i.losses, 1e6),
    "timeouts": Observation("timeouts in the interval", lambda i: i.after.timeouts - i.before.timeouts, 1e6),
    "retransmissions": Observation(
        "retransmitted segments in the interval", lambda i: i.after.retransmissions - i.before.retransmissions, 1e9
    ),
    "marks": Observation("echoed marks in the interval", lambda i: i.after.marks - i.before.marks, 1e9),
    "in_flight": Observation(
        "data in flight [segments]", lambda i: i.after.in_flight_bytes / i.controller.segment_bytes, 1e9
    ),
    "window": Observation("window [segments]", lambda i: i.controller.window_bytes / i.controller.segment_bytes, 1e12),
    "pace": Observation("pace, zero without [Mb/s]", lambda i: (i.controller.pace_bps or 0.0) / 1e6, 1e9),
    "busy_ratio": Observation("share of time in which the medium is busy", _of_mac(lambda m: m.busy_ratio), 1.0),
    "service_delay": Observation("service delay of the MAC [s]", _of_mac(lambda m: m.service_delay_s), _SECONDS),
    "packet_throughput": Observation(
        "packet throughput of the MAC [Mb/s]", _of_mac(lambda m: m.packet_throughput_bps, 1e-6), _MEGABITS
    ),
    "queued": Observation("own packets in the node's queue", _of_mac(lambda m: m.queued_packets), 1e9),
}

#: Estimators that observations of the MAC need; the queue is known to a class that names one.
_ESTIMATORS = {
    "busy_ratio": "busy-ratio",
    "service_delay": "fsd",
    "packet_throughput": "packet-throughput",
    "queued": "busy-ratio",
}

#: Observations by default.
USUAL = ("goodput", "rtt", "rtt_min", "losses", "in_flight", "window")


def estimators(names: Sequence[str]) -> tuple[str, ...]:
    """Returns the estimators that observations need.

    Raises:
        UserError: if an observation is unknown, or none is given.
    """
    if isinstance(names, str) or not names:
        raise UserError(f"observations: found {names!r}; needs a list of some of {', '.join(OBSERVATIONS)}")
    for name in names:
        if name not in OBSERVATIONS:
            raise UserError(f"observations: found {name!r}; {instead_of(str(name), OBSERVATIONS)}")
    return tuple(dict.fromkeys(_ESTIMATORS[name] for name in names if name in _ESTIMATORS))


def vector(names: Sequence[str], interval: Interval) -> npt.NDArray[np.float32]:
    """Returns the named observations of an interval, each within its limits."""
    values = [min(max(OBSERVATIONS[name].value(interval), 0.0), OBSERVATIONS[name].most) for name in names]
    return np.array([0.0 if math.isnan(value) else value for value in values], dtype=np.float32)


def space(names: Sequence[str]) -> spaces.Space[npt.NDArray[np.float32]]:
    """Returns the space of the named observations."""
    most = np.array([OBSERVATIONS[name].most for name in names], dtype=np.float32)
    return spaces.Box(nothing(names), most, dtype=np.float32)


def nothing(names: Sequence[str]) -> npt.NDArray[np.float32]:
    """Returns the observation before the first interval: zeros."""
    return np.zeros(len(names), dtype=np.float32)
