"""What a run of a cell measures, of the kernel's TCP or of ours."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Measured:
    """Measurements of one run."""

    #: Payload delivered to the applications of all flows together in the measured time [Mb/s].
    goodput_mbps: float
    #: Smoothed round-trip time, mean over samples each 100 ms and over flows; `None` of transfers [ms].
    rtt_ms: float | None
    retransmissions: int
    timeouts: int
    #: Times from the start of a connection to its last byte at the receiver [ms]; infinite if the run ended before.
    completions_ms: list[float] = field(default_factory=list)

    @property
    def unfinished(self) -> int:
        """Number of transfers that the run's end cut off."""
        return sum(math.isinf(time) for time in self.completions_ms)


@dataclass(frozen=True)
class Emulated:
    """Measurements of one run of the kernel's TCP, and how well the emulation kept time."""

    measured: Measured
    #: 99th percentile of packets' lag [ms].
    lag_p99_ms: float
    #: Packets that the emulation has not read because a device's queue was full.
    overflowed: int
    #: Release of the kernel, without what a distribution appends.
    release: str
    #: Other counters of the senders' kernels.
    counters: dict[str, int]

    def is_timely(self, limit_ms: float) -> bool:
        """Whether the emulation kept time well enough for a comparison."""
        return self.lag_p99_ms <= limit_ms and self.overflowed == 0
