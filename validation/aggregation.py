"""802.11n, ac and ax with and without aggregation and access categories, as ns-3 ran them: `ns3/aggregates.py`."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

from multihop import Result
from multihop.models.aggregate_saturation import Aggregates
from multihop.models.aggregate_saturation import goodput as fixed_point_bps
from multihop.results.statistics import estimate
from validation.interference import MEDIUM, SCHEMES
from validation.measure import Against, Agreement, goodput_kbps, over, results
from validation.ns3 import aggregates, sinr
from validation.ns3.aggregates import Cell, Flow
from validation.scenarios import Scenario, ns3_chain

#: By kind of cell: how far goodput, and mean delay, may be off.
SATURATED, LOSSY, CHAINS, SHARES = 0.05, 0.05, 0.10, 0.05

#: In ns-3 the medium is busy from here on.
SENSED_DBM = -82

#: ns-3.37 gives MPDUs up by their lifetime alone, as the standard has it, and its recipients wait for what is missing
#: without end, and pass on each MPDU when it is over.
ENDLESS: Scenario = {"retry_limit": "none", "reordering_timeout": "off", "delivery": "mpdu"}

#: In which ns-3 detects a preamble: a station that begins to send until then has not sensed it.
#: It is detected from this SINR on.
CCA_TIME, DETECTION = "4 us", "4 dB"

#: As ns-3.37 has EDCA: the standard's parameters, but one exchange at a time of best effort and background.
ONE_EXCHANGE: Scenario = {"txop_limit": "0 s"}
EDCA: Scenario = {"ac_be": ONE_EXCHANGE, "ac_bk": ONE_EXCHANGE}
#: Frames reserve what is left of an opportunity.
RESERVED: Scenario = {"protection": "multiple"}


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
    start: Scenario = {}
    if flow.load_mbps is not None:  # as in ns-3: how packets of several stations fall on each other is in their delays
        start = {"start": f"{10 + 0.1 * (cell.flows.index(flow) + 1):g} ms"}
    return {
        "from": f"n{flow.source}",
        "to": f"n{flow.sink}",
        "scheme": SCHEMES[flow.transport],
        "app": app | dscp,
        **start,
    }


def _thresholds(cell: Cell) -> Scenario:
    """Those of ns-3 are of the whole channel, and ours of each 20 MHz of it."""
    wider_db = 10 * math.log10(cell.phy.width_mhz / 20)
    return {
        "sensitivity": f"{cell.taken_dbm - wider_db:g} dBm",
        "carrier_sense": f"{SENSED_DBM - wider_db:g} dBm",
    }


def scenario(cell: Cell) -> Scenario:
    """The cell. Its responses are at 24 Mb/s by the standard's rule in both, and lower at MCS 1 and 2.

    RTS, which no cell has there, would be at 24 Mb/s still in ns-3. Losses by MPDU are of TCP's acknowledgements too.
    """
    phy = cell.phy
    one: Scenario = {"ac_vi": ONE_EXCHANGE, "ac_vo": ONE_EXCHANGE} if cell.one_exchange else RESERVED
    aggregation: Scenario = {"a_mpdu": f"{cell.ampdu} B", "window": 64} | ENDLESS if cell.ampdu else {"a_mpdu": "off"}
    rates: Scenario = {}
    if cell.rates is not None:
        rates = {"rate_control": {"algorithm": cell.rates, "streams": phy.streams}}
    return {
        "name": cell.name.replace(" ", "-").replace(",", ""),
        "duration": f"{sinr.WARMUP + cell.seconds} s",
        "warmup": f"{sinr.WARMUP} s",
        "record_interval": "1 s",
        "phy": {
            "standard": phy.standard,
            "channel_width": f"{phy.width_mhz} MHz",
            # Of a rate control: what routes are weighed at, which lead over every link that carries the lowest.
            "data_rate": f"MCS {0 if cell.rates else phy.mcs} NSS {phy.streams}",
        },
        "mac": {
            "rules": "ieee",
            "override": {"cca_time": CCA_TIME},
            "rts_threshold": "0 B" if cell.rts else "off",
            "queue": 500,
            "aggregation": aggregation,
            "edca": EDCA | one,
            **rates,
        },
        "medium": MEDIUM | _thresholds(cell) | {"packet_error_rate": cell.lost, "preamble_detection": DETECTION},
        "topology": {
            "nodes": [{"name": f"n{i}", "position": [f"{x} m", f"{y} m"]} for i, (x, y) in enumerate(cell.places)]
        },
        "schemes": {SCHEMES[cell.flows[0].transport]: _scheme(cell)},
        "flows": [_flow(cell, flow) for flow in cell.flows],
    }


#: 802.11n at MCS 7, as `_saturated_cell` has it: 28 MPDUs of 1538 bytes, which are 1331 symbols of 260 bits behind a
#: preamble of 36 us; requests and answers of 24 and 32 bytes at 24 Mb/s; EIFS for ACKs at 6 Mb/s.
SENT = Aggregates(
    a_mpdu=36e-6 + 1331 * 4e-6,
    request=32e-6,
    answer=16e-6 + 32e-6,
    payload=28 * 1472 * 8,
    slot=9e-6,
    difs=34e-6,
    eifs=16e-6 + 44e-6 + 34e-6,
)


def _saturated_cell(stations: int) -> Scenario:
    """Stations under the model's assumptions."""
    nodes = [
        {"name": f"n{i}", "position": [f"{x} m", f"{y} m"]} for i, (x, y) in enumerate(aggregates.circle(stations))
    ]
    flow = {"to": "n0", "scheme": "udp", "app": {"kind": "saturated"}}
    return {
        "name": f"fixed-point-{stations}",
        "duration": "101 s",
        "warmup": "1 s",
        "record_interval": "10 s",
        "phy": {"standard": "802.11n", "data_rate": "MCS 7"},
        "mac": {"rules": "bianchi", "aggregation": {"request_limit": 7}},
        "medium": {"model": "ranges", "capture": "off", "propagation_delay": "0 s"},
        "topology": {"nodes": nodes},
        "schemes": {"udp": {"segment_size": f"{sinr.PAYLOAD} B"}},
        "flows": [{"from": f"n{i + 1}"} | flow for i in range(stations)],
    }


def fixed_point(seeds: int) -> list[AggregationRow]:
    """Saturated stations against Bianchi's fixed point, extended to A-MPDUs."""
    rows = []
    for stations in aggregates.STATIONS:
        ours = over(results(_saturated_cell(stations), "udp", seeds), goodput_kbps)
        against = Against("goodput", ours, fixed_point_bps(stations, SENT) / 1e3, 0.0)
        rows.append(AggregationRow(f"{stations} stations", against, None, 0.01))
    return rows


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
        theirs = estimate([sum(one.delay_ms) / len(one.delay_ms) for one in said])
        delay = Against("delay", over(runs, _mean_delay_ms), theirs.mean, theirs.half_width or 0.0)
    return AggregationRow(cell.name, goodput, delay, tolerance)


@dataclass(frozen=True)
class ShareRow:
    """What the stations of a category get in a cell together, in kb/s."""

    cell: str
    category: str
    goodput: Against

    @property
    def agreement(self) -> Agreement:
        """It is within the tolerance."""
        return self.goodput.agreement(SHARES)


def shares(cells: tuple[Cell, ...], seeds: int) -> list[ShareRow]:
    """Cells of several categories against ns-3."""
    facts = aggregates.recorded()
    return [row for cell in cells if cell.name in facts for row in _shares(cell, facts[cell.name], seeds)]


def _shares(cell: Cell, said: list[aggregates.Said], seeds: int) -> list[ShareRow]:
    runs = results(scenario(cell), SCHEMES[cell.flows[0].transport], seeds)
    rows = []
    for category in dict.fromkeys(flow.category for flow in cell.flows):
        flows = [index for index, flow in enumerate(cell.flows) if flow.category == category]
        theirs = estimate([sum(one.kbps[index] for index in flows) for one in said])

        def ours(run: Result, flows: list[int] = flows) -> float:
            return float(run.flows["goodput_bps"].iloc[flows].sum()) / 1e3

        goodput = Against("goodput", over(runs, ours), theirs.mean, theirs.half_width or 0.0)
        rows.append(ShareRow(cell.name, category, goodput))
    return rows


def main() -> None:
    """Prints what each category carries beside ns-3, by the beginning of the names of cells."""
    seeds, *names = sys.argv[1:]
    cells = tuple(cell for cell in aggregates.CATEGORIES if not names or cell.name.startswith(tuple(names)))
    for row in shares(cells, int(seeds)):
        low, high = row.goodput.interval
        here, there = row.goodput.measured.mean, row.goodput.reference
        off = f"{row.goodput.off:+.1%} [{low:+.1%}, {high:+.1%}]"
        print(f"{row.cell}: {row.category} {here:.0f} kb/s, ns-3 {there:.0f}, {off} {row.agreement}", flush=True)


if __name__ == "__main__":
    main()
