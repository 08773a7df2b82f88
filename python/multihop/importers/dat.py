"""Delivery, rate and throughput of a direction from its directional airtime (DAT), the metric of OLSRv2.

By RFC 7779 the cost of a direction is `2^24 / 8 / delivery * least rate / bit rate`, where 8 is the largest
loss. The least rate is 1024 b/s in OONF's `ff_dat_metric` (ff_dat_metric.c). So a cost is 2^31 over the
throughput in b/s, which is the bit rate times the share of multicast packets that arrive. OLSRv2 sends costs
in steps of 1/257, rounded up (RFC 7181, section 6.2).

OONF takes the least rate where the driver tells none: a cost of 2^21 or more is ETX of one direction.
"""

from __future__ import annotations

from dataclasses import dataclass

from multihop.importers.mesh import Mesh

#: Name of the metric in OONF.
NAME = "ff_dat_metric"

READING = (
    "directional airtime (RFC 7779): 2^31/cost in b/s is bit rate times delivery; without a bit rate, which is a cost "
    "of 2^21 or more, 2^21/cost is delivery"
)

_MINIMUM_BPS = 1024.0
_LOSSLESS = float(1 << 21)

#: Cost of a direction that loses nothing and has no bit rate: 2^21 as OLSRv2 sends it.
_SENT_LOSSLESS = float((257 << 13) - 256)

#: Largest cost of a link (RFC 7181); a cost above is infinite.
_MAXIMUM = float(0xFFFF00)


@dataclass(frozen=True)
class Direction:
    """Direction of a link: delivery and rate in b/s, or the throughput in b/s, the product of both."""

    delivery: float | None
    rate: float | None = None
    throughput: float | None = None

    def add_to(self, mesh: Mesh, source: str, target: str) -> None:
        """Adds the direction to a mesh, with the throughput if the best of parallel links has one."""
        mesh.add_link(source, target, self.delivery, rate=self.rate)
        if self.throughput is not None and mesh.links.get((source, target)) == self.delivery:
            known = mesh.throughputs.get((source, target), 0.0)
            mesh.throughputs[source, target] = max(known, self.throughput)


def direction(cost: float | None) -> Direction:
    """Returns the direction of a cost: of delivery 0 if it is infinite, and `None` if it is invalid."""
    if cost is None or not cost > 0.0:
        return Direction(None)
    if cost > _MAXIMUM:
        return Direction(0.0)
    if cost >= _LOSSLESS:
        return Direction(min(1.0, _SENT_LOSSLESS / cost))
    return Direction(1.0, throughput=_MINIMUM_BPS * _LOSSLESS / cost)
