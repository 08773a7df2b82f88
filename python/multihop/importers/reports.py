"""Reports of nodes about their own links: each measures reception, and relays its neighbour's report.

A direction that both ends report has the value of the receiving end, since the report at the other end is
older.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from multihop.importers.mesh import NOISE_DBM, Mesh

_Direction = tuple[str, str]

#: Upper limit of broadcast rates, which drivers report for idle links.
_BROADCAST_BPS = 1e6


@dataclass(frozen=True)
class Report:
    """Value of a direction, with its power in dBm, rate in b/s and radio if known."""

    value: float | None
    power: float | None = None
    rate: float | None = None
    radio: str | None = None


@dataclass
class Reports:
    """Reports by direction, of the receiving end and of the sending end."""

    measured: dict[_Direction, list[Report]] = field(default_factory=dict)
    relayed: dict[_Direction, list[Report]] = field(default_factory=dict)

    def fill(self, mesh: Mesh) -> Mesh:
        """Adds a link for each direction to a mesh."""
        for source, target in dict.fromkeys([*self.measured, *self.relayed]):
            own = [report for report in self.measured.get((source, target), []) if report.value is not None]
            for report in own or self.relayed.get((source, target), [Report(None)]):
                mesh.add_link(source, target, report.value, report.power, report.rate, report.radio)
        return mesh

    def add(self, source: str, target: str, report: Report, *, measured: bool) -> None:
        """Adds a report of the receiving end (`measured`) or the sending end about a direction."""
        (self.measured if measured else self.relayed).setdefault((source, target), []).append(report)


def power_over_noise(signal: float | None, noise: float | None) -> float | None:
    """Received power in dBm relative to the engine's noise, not the card's; `None` if it is no power."""
    if signal is None or not -120.0 <= signal < 0.0:
        return None
    return signal + (NOISE_DBM - noise if noise is not None and -110.0 <= noise < signal else 0.0)


def unicast_rate(rate: float | None) -> float | None:
    """Returns a rate in b/s, or `None` for a broadcast rate, which is not that of the link."""
    return rate if rate is not None and rate > _BROADCAST_BPS else None
