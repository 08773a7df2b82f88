"""Reports of nodes on their own links: each measures what arrives, and relays what its neighbour reports.

A direction that both ends mention has the value of the end that receives; the report at the other end is
older.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from multihop.importers.mesh import NOISE_DBM, Mesh

_Direction = tuple[str, str]

#: Rates of broadcasts, which drivers name where a link is idle, are no more than this.
_BROADCAST_BPS = 1e6


@dataclass(frozen=True)
class Report:
    """A value of a direction, with its power in dBm, rate in b/s and radio where they are known."""

    value: float | None
    power: float | None = None
    rate: float | None = None
    radio: str | None = None


@dataclass
class Reports:
    """Reports by direction: of the end that receives, and of the end that sends."""

    measured: dict[_Direction, list[Report]] = field(default_factory=dict)
    relayed: dict[_Direction, list[Report]] = field(default_factory=dict)

    def fill(self, mesh: Mesh) -> Mesh:
        """Adds a link for each direction."""
        for source, target in dict.fromkeys([*self.measured, *self.relayed]):
            own = [report for report in self.measured.get((source, target), []) if report.value is not None]
            for report in own or self.relayed.get((source, target), [Report(None)]):
                mesh.add_link(source, target, report.value, report.power, report.rate, report.radio)
        return mesh

    def add(self, source: str, target: str, report: Report, *, measured: bool) -> None:
        """Adds what the receiving end (`measured`) or the sending end says of a direction."""
        (self.measured if measured else self.relayed).setdefault((source, target), []).append(report)


def power_over_noise(signal: float | None, noise: float | None) -> float | None:
    """Received power in dBm with the engine's noise instead of that of the card; `None` if it is no power."""
    if signal is None or not -120.0 <= signal < 0.0:
        return None
    return signal + (NOISE_DBM - noise if noise is not None and -110.0 <= noise < signal else 0.0)


def unicast_rate(rate: float | None) -> float | None:
    """A rate in b/s; `None` if it is one of broadcasts, which is not that of the link."""
    return rate if rate is not None and rate > _BROADCAST_BPS else None
