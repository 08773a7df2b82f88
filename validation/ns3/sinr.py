"""`python -m validation.ns3.sinr PROGRAM [CELL...]`: runs ns-3 on all cells or some, and writes down what it said.

PROGRAM is `sinr.cc` beside this file, compiled where ns-3.37 is installed: `g++ -O2 -std=c++17 sinr.cc -o PROGRAM` with
ns-3's modules wifi, internet, applications, mobility, propagation and traffic-control, and what they need. The facts
are in `sinr.toml`, so that pages can be made where it is not.
"""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from multihop.results.statistics import Estimate, estimate

FACTS = Path(__file__).with_name("sinr.toml")
HEAD = """# What ns-3.37 (Debian's packages ns3 and libns3-dev) says of `sinr.cc`: kb/s of each flow, by seed.
# `python -m validation.ns3.sinr PROGRAM` writes it down; sinr.py has the cells.
"""
SEEDS = 3
#: Seconds before payload counts.
WARMUP = 1
PAYLOAD, SEGMENT = 1472, 1460

#: Place in metres and speed in metres per second.
Node = tuple[float, float, float, float]


@dataclass(frozen=True)
class Erp:
    """What 802.11g can be besides: with long slots, and with RTS and CTS of direct sequence before each exchange."""

    slot_us: int = 9
    protection_mbps: int | None = None

    def __str__(self) -> str:
        """As pages have it."""
        slots = "short slots" if self.slot_us == 9 else "long slots"
        return slots if self.protection_mbps is None else f"{slots}, protected"


@dataclass(frozen=True)
class Cell:
    """Flows of 802.11a, or of 802.11g: saturated UDP, or TCP."""

    name: str
    rate_mbps: int
    nodes: tuple[Node, ...]
    flows: tuple[tuple[int, int], ...]
    #: Seconds that count.
    seconds: int
    #: Of 802.11g; none for 802.11a.
    erp: Erp | None = None
    transport: str = "udp"
    #: The weakest frame that is taken, in dBm; weaker ones, down to -82 dBm, keep the medium busy.
    taken_dbm: int = -82

    @property
    def payload(self) -> int:
        """Bytes of a packet of 1500."""
        return PAYLOAD if self.transport == "udp" else SEGMENT

    def case(self) -> str:
        """What the program reads. Over more than one hop a flow goes from node to node in their order."""
        lines = [f"rate {self.rate_mbps}", "control 24", f"payload {self.payload}", f"taken {self.taken_dbm}"]
        if self.erp is not None:
            lines += ["standard g", f"slot {self.erp.slot_us}"]
            lines += [f"protection {self.erp.protection_mbps}"] if self.erp.protection_mbps else []
        lines += ["node " + " ".join(f"{number:g}" for number in node) for node in self.nodes]
        if self.hops > 1:
            lines += [f"route {i} {self.hops} {i + 1}" for i in range(self.hops - 1)]
            lines += [f"route {i} 0 {i - 1}" for i in range(2, self.hops + 1)]
        return "\n".join(lines + [f"flow {source} {sink} {self.transport}" for source, sink in self.flows]) + "\n"

    @property
    def hops(self) -> int:
        """Of a chain: as many as it has neighbours in a row. Other flows have one."""
        return len(self.nodes) - 1 if self.flows == ((0, len(self.nodes) - 1),) else 1


def _circle(stations: int, erp: Erp | None = None) -> Cell:
    """Stations 8 m around a sink that hear each other: collisions and back-off alone."""
    angles = [2 * math.pi * i / stations for i in range(stations)]
    around = tuple((round(8 * math.cos(a), 3), round(8 * math.sin(a), 3), 0.0, 0.0) for a in angles)
    flows = tuple((i + 1, 0) for i in range(stations))
    name = f"circle of {stations}" if erp is None else f"802.11g, {erp}, {stations}"
    return Cell(name, 54, ((0.0, 0.0, 0.0, 0.0), *around), flows, 3, erp)


def _chain(rate_mbps: int, transport: str) -> Cell:
    """Three hops of 25 m: who is two hops away is sensed, who is three is not, and only neighbours are decoded."""
    nodes = tuple((25.0 * i, 0.0, 0.0, 0.0) for i in range(4))
    name = f"802.11g, chain at {rate_mbps} Mb/s, {transport}"
    return Cell(name, rate_mbps, nodes, ((0, 3),), 9, Erp(), transport, taken_dbm=-75)


def _grid(spacing: float) -> Cell:
    """Nine pairs, 15 m apart, whose senders form a grid: neighbours in a row or column hear each other, or do not."""
    senders = [(spacing * column, spacing * row) for row in range(3) for column in range(3)]
    nodes = tuple(node for x, y in senders for node in ((x, y, 0.0, 0.0), (x + 15, y, 0.0, 0.0)))
    return Cell(f"grid of {spacing:g} m", 24, nodes, tuple((2 * i, 2 * i + 1) for i in range(9)), 3)


CELLS = (
    # A sender goes away from its receiver, until nothing arrives.
    Cell("walking away", 24, ((0.0, 0.0, 0.0, 0.0), (5.0, 0.0, 4.0, 0.0)), ((1, 0),), 14),
    _circle(5),
    # A pair drives past another: out of its hearing, as a hidden sender, in turns with it, and away again.
    Cell(
        "driving past",
        24,
        ((0.0, 0.0, 0.0, 0.0), (15.0, 0.0, 0.0, 0.0), (-120.0, 20.0, 12.0, 0.0), (-105.0, 20.0, 12.0, 0.0)),
        ((0, 1), (2, 3)),
        20,
    ),
    _grid(70),
    _grid(45),
)

#: Of 802.11g: with either slot, and in a network that has 802.11b stations too; and chains.
ERP_CELLS = (
    *(
        _circle(stations, erp)
        for erp in (Erp(), Erp(slot_us=20), Erp(slot_us=20, protection_mbps=11))
        for stations in (1, 2, 5, 10)
    ),
    *(_chain(rate_mbps, transport) for rate_mbps in (12, 24, 36) for transport in ("udp", "tcp")),
)


def lines(program: str, case: str, seed: int, seconds: int) -> list[list[str]]:
    """The words of each line that the program prints."""
    with tempfile.NamedTemporaryFile("w", suffix=".case") as file:
        file.write(case)
        file.flush()
        command = [program, file.name, str(seed), str(WARMUP), str(WARMUP + seconds)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def flows(program: str, case: str, seed: int, seconds: int) -> list[list[str]]:
    """What it prints of each flow: bytes, and mean delay in milliseconds."""
    return [words[1:] for words in lines(program, case, seed, seconds) if words[0] == "flow"]


def run(program: str, cell: Cell, seed: int) -> list[float]:
    """Goodput of each flow in kb/s."""
    rows = flows(program, cell.case(), seed, cell.seconds)
    return [int(row[0]) * 8 / cell.seconds / 1e3 for row in rows]


def recorded() -> dict[str, list[list[float]]]:
    """Goodput in kb/s of each flow, by cell and seed."""
    facts: dict[str, Any] = tomllib.loads(FACTS.read_text())
    return {row["cell"]: row["kbps"] for row in facts["run"]}


def total(runs: list[list[float]]) -> Estimate:
    """Of all flows, over seeds."""
    return estimate([sum(flows) for flows in runs])


def _text(cell: Cell, runs: list[list[float]]) -> str:
    lines = ["", "[[run]]", f'cell = "{cell.name}"', f'command = "sinr CASE SEED {WARMUP} {WARMUP + cell.seconds}"']
    lines += [f"seeds = {len(runs)}", "kbps = ["]
    lines += [f"  [{', '.join(f'{kbps:.1f}' for kbps in flows)}]," for flows in runs] + ["]"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Runs what is asked for, and writes it down cell by cell; what was said of others stays."""
    program, *names = sys.argv[1:]
    said = recorded() if FACTS.exists() else {}
    for cell in CELLS + ERP_CELLS:
        if not names or cell.name in names:
            said[cell.name] = [run(program, cell, seed) for seed in range(1, SEEDS + 1)]
            print(cell.name, total(said[cell.name]), flush=True)
        texts = [_text(known, said[known.name]) for known in CELLS + ERP_CELLS if known.name in said]
        FACTS.write_text(HEAD + "".join(texts))


if __name__ == "__main__":
    main()
