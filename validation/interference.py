"""802.11a where interference decides, and 802.11g, as ns-3 ran them: `ns3/sinr.py` has the cells and what it said."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from multihop.results.statistics import estimate
from validation.measure import Against, Agreement, goodput_kbps, over, results
from validation.ns3 import sinr
from validation.scenarios import Scenario, ns3_chain

#: As `sinr.cc` has it: kT of 20 MHz at 290 K is -101 dBm, and a noise figure of 7 dB.
MEDIUM = {
    "model": "sinr",
    "propagation_delay": "100 ns",
    "transmit_power": "16 dBm",
    "noise": "-93.97 dBm",
    "carrier_sense": "-82 dBm",
    "path_loss": {"model": "log-distance", "exponent": 3.0, "reference_loss": "46.68 dB", "reference_distance": "1 m"},
}


#: Nodes that move begin to after so many seconds. Until then DSDV finds its one hop, as routes of nodes that move are
#: not static here; ns-3 has none to find. Its updates are one broadcast of each node in 15 s.
STILL = 30


@dataclass(frozen=True)
class InterferenceRow:
    """A cell: total goodput in kb/s, and Jain's index over its flows."""

    cell: str
    goodput: Against
    jain: Against

    @property
    def agreement(self) -> Agreement:
        """Both within 10 %."""
        return self.goodput.agreement(0.10) & self.jain.agreement(0.10)


def jain(shares: list[float]) -> float:
    """Jain's index: 1 if all have as much."""
    return sum(shares) ** 2 / (len(shares) * sum(share**2 for share in shares))


def movement(cell: sinr.Cell) -> str:
    """Nodes that move on straight lines until the end, as a movement file of ns-2."""
    lines = []
    way = sinr.WARMUP + cell.seconds
    for i, (x, y, vx, vy) in enumerate(cell.nodes):
        lines += [f"$node_({i}) set X_ {x}", f"$node_({i}) set Y_ {y}"]
        if vx or vy:
            speed = (vx**2 + vy**2) ** 0.5
            lines.append(f'$ns_ at {STILL}.0 "$node_({i}) setdest {x + vx * way} {y + vy * way} {speed}"')
    return "\n".join(lines) + "\n"


#: What carries flows here that is UDP or TCP there.
SCHEMES = {"udp": "udp", "tcp": "tcp-newreno"}


def _phy(cell: sinr.Cell) -> Scenario:
    """ACKs by the standard's rule in both; RTS and CTS are the only frames of direct sequence that protection has."""
    if cell.erp is None:
        return {"standard": "802.11a", "data_rate": f"{cell.rate_mbps} Mb/s"}
    phy = {"standard": "802.11g", "data_rate": f"{cell.rate_mbps} Mb/s", "slot": f"{cell.erp.slot_us} us"}
    if cell.erp.protection_mbps:
        phy |= {"control_rate": f"{cell.erp.protection_mbps} Mb/s", "ack_rate": "24 Mb/s"}
    return phy


def _scheme(cell: sinr.Cell) -> Scenario:
    """TCP as in the chains beside ns-3."""
    size = {"segment_size": f"{cell.payload} B"}
    return size if cell.transport == "udp" else ns3_chain(1, 1)["schemes"]["tcp-newreno"] | size


def scenario(cell: sinr.Cell, motion: Path) -> Scenario:
    """The cell; the file has what moves."""
    moves = any(vx or vy for *_, vx, vy in cell.nodes)
    begin = STILL if moves else 0
    found: Scenario = {
        "name": cell.name.replace(" ", "-"),
        "duration": f"{begin + sinr.WARMUP + cell.seconds} s",
        "warmup": f"{begin + sinr.WARMUP} s",
        "record_interval": "1 s",
        "phy": _phy(cell),
        "mac": {"rules": "ieee", "rts_threshold": "0 B" if cell.erp and cell.erp.protection_mbps else "off"},
        "medium": MEDIUM | {"sensitivity": f"{cell.taken_dbm} dBm"},
        "topology": {
            "nodes": [{"name": f"n{i}", "position": [f"{x} m", f"{y} m"]} for i, (x, y, *_) in enumerate(cell.nodes)]
        },
        "schemes": {SCHEMES[cell.transport]: _scheme(cell)},
        "flows": [
            {
                "from": f"n{source}",
                "to": f"n{sink}",
                "scheme": SCHEMES[cell.transport],
                "app": {"kind": "saturated"},
                "start": f"{begin} s",
            }
            for source, sink in cell.flows
        ],
    }
    if moves:
        motion.write_text(movement(cell))
        found["mobility"] = {"model": "setdest", "file": str(motion), "resolution": "0.5 m"}
        found["routing"] = {"protocol": "dsdv"}
    return found


def compared(seeds: int, cells: tuple[sinr.Cell, ...] = sinr.CELLS) -> list[InterferenceRow]:
    """Cells against ns-3."""
    facts = sinr.recorded()
    return [_row(cell, facts[cell.name], seeds) for cell in cells]


def _row(cell: sinr.Cell, peer: list[list[float]], seeds: int) -> InterferenceRow:
    with tempfile.TemporaryDirectory() as folder:
        runs = results(scenario(cell, Path(folder) / "motion.tcl"), SCHEMES[cell.transport], seeds)
    total, shares = estimate([sum(flows) for flows in peer]), estimate([jain(flows) for flows in peer])
    return InterferenceRow(
        cell.name,
        Against("goodput", over(runs, goodput_kbps), total.mean, total.half_width or 0.0),
        Against("jain", over(runs, lambda run: float(run.summary["jain"])), shares.mean, shares.half_width or 0.0),
    )
