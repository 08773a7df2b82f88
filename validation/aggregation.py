"""802.11n, ac and ax with and without aggregation, as ns-3 ran them: `ns3/aggregates.py` has the cells."""

from __future__ import annotations

from dataclasses import dataclass

from multihop import Result
from multihop.results.statistics import estimate
from validation.interference import MEDIUM, SCHEMES
from validation.measure import Against, Agreement, goodput_kbps, over, results
from validation.ns3 import aggregates, sinr
from validation.ns3.aggregates import Cell, Flow
from validation.scenarios import Scenario, ns3_chain

#: By kind of cell: how far goodput, and mean delay, may be off.
SATURATED, LOSSY, CHAINS = 0.05, 0.05, 0.10


@dataclass(frozen=True)
class AggregationRow:
    """A cell: total goodput in kb/s; where a load is offered that is carried, the mean delay in milliseconds."""

    cell: str
    goodput: Against
    delay: Against | None
    tolerance: float

    @property
    def agreement(self) -> Agreement:
        """All of it within the tolerance."""
        goodput = self.goodput.agreement(self.tolerance)
        return goodput if self.delay is None else goodput & self.delay.agreement(self.tolerance)


def _scheme(cell: Cell) -> Scenario:
    size = {"segment_size": f"{cell.payload} B"}
    tcp = ns3_chain(1, 1)["schemes"]["tcp-newreno"]
    return size if cell.flows[0].transport == "udp" else tcp | size


def _flow(cell: Cell, flow: Flow) -> Scenario:
    app: Scenario = {"kind": "saturated"}
    if flow.load_mbps is not None:
        app = {"kind": "cbr", "rate": f"{flow.load_mbps} Mb/s", "packet": f"{cell.payload} B"}
    dscp = {} if flow.category == "BE" else {"dscp": aggregates.TOS[flow.category] >> 2}
    return {
        "from": f"n{flow.source}",
        "to": f"n{flow.sink}",
        "scheme": SCHEMES[flow.transport],
        "app": app | dscp,
    }


def scenario(cell: Cell) -> Scenario:
    """The cell. Its responses are at 24 Mb/s by the standard's rule in both."""
    phy = cell.phy
    aggregation: Scenario = {"a_mpdu": f"{cell.ampdu} B", "window": 64} if cell.ampdu else {"a_mpdu": "off"}
    return {
        "name": cell.name.replace(" ", "-").replace(",", ""),
        "duration": f"{sinr.WARMUP + cell.seconds} s",
        "warmup": f"{sinr.WARMUP} s",
        "record_interval": "1 s",
        "phy": {
            "standard": phy.standard,
            "channel_width": f"{phy.width_mhz} MHz",
            "data_rate": f"MCS {phy.mcs} NSS {phy.streams}",
        },
        "mac": {
            "rules": "ieee",
            "rts_threshold": "0 B" if cell.rts else "off",
            "queue": 500,
            "aggregation": aggregation,
        },
        "medium": MEDIUM | {"sensitivity": f"{cell.taken_dbm} dBm", "packet_error_rate": cell.lost},
        "topology": {
            "nodes": [{"name": f"n{i}", "position": [f"{x} m", f"{y} m"]} for i, (x, y) in enumerate(cell.places)]
        },
        "schemes": {SCHEMES[cell.flows[0].transport]: _scheme(cell)},
        "flows": [_flow(cell, flow) for flow in cell.flows],
    }


def _mean_delay_ms(run: Result) -> float:
    return float(run.flows["delay_mean_s"].mean()) * 1e3


def compared(cells: tuple[Cell, ...], seeds: int, tolerance: float) -> list[AggregationRow]:
    """Cells against ns-3."""
    facts = aggregates.recorded()
    return [_row(cell, facts[cell.name], seeds, tolerance) for cell in cells if cell.name in facts]


def _row(cell: Cell, said: list[aggregates.Said], seeds: int, tolerance: float) -> AggregationRow:
    runs = results(scenario(cell), SCHEMES[cell.flows[0].transport], seeds)
    total = estimate([sum(one.kbps) for one in said])
    goodput = Against("goodput", over(runs, goodput_kbps), total.mean, total.half_width or 0.0)
    delay = None
    if any(flow.load_mbps is not None for flow in cell.flows):
        theirs = estimate([one.delay_ms[0] for one in said])
        delay = Against("delay", over(runs, _mean_delay_ms), theirs.mean, theirs.half_width or 0.0)
    return AggregationRow(cell.name, goodput, delay, tolerance)
