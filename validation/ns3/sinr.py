"""`python -m validation.ns3.sinr PROGRAM`: runs ns-3 where interference decides, and writes down what it said.

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
SEEDS = 3
#: Seconds before payload counts.
WARMUP = 1
PAYLOAD = 1472

#: Place in metres and speed in metres per second.
Node = tuple[float, float, float, float]


@dataclass(frozen=True)
class Cell:
    """Saturated UDP over single hops of 802.11a."""

    name: str
    rate_mbps: int
    nodes: tuple[Node, ...]
    flows: tuple[tuple[int, int], ...]
    #: Seconds that count.
    seconds: int

    def case(self) -> str:
        """What the program reads."""
        lines = [f"rate {self.rate_mbps}", "control 24", f"payload {PAYLOAD}"]
        lines += ["node " + " ".join(f"{number:g}" for number in node) for node in self.nodes]
        return "\n".join(lines + [f"flow {source} {sink}" for source, sink in self.flows]) + "\n"


def _circle(stations: int) -> Cell:
    """Stations 8 m around a sink that hear each other: collisions and back-off alone."""
    angles = [2 * math.pi * i / stations for i in range(stations)]
    around = tuple((round(8 * math.cos(a), 3), round(8 * math.sin(a), 3), 0.0, 0.0) for a in angles)
    flows = tuple((i + 1, 0) for i in range(stations))
    return Cell(f"circle of {stations}", 54, ((0.0, 0.0, 0.0, 0.0), *around), flows, 3)


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


def run(program: str, cell: Cell, seed: int) -> list[float]:
    """Goodput of each flow in kb/s."""
    with tempfile.NamedTemporaryFile("w", suffix=".case") as case:
        case.write(cell.case())
        case.flush()
        command = [program, case.name, str(seed), str(WARMUP), str(WARMUP + cell.seconds)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    words = [line.split() for line in done.stdout.splitlines()]
    return [int(word[1]) * 8 / cell.seconds / 1e3 for word in words if word[0] == "flow"]


def recorded() -> dict[str, list[list[float]]]:
    """Goodput in kb/s of each flow, by cell and seed."""
    facts: dict[str, Any] = tomllib.loads(FACTS.read_text())
    return {row["cell"]: row["kbps"] for row in facts["run"]}


def total(runs: list[list[float]]) -> Estimate:
    """Of all flows, over seeds."""
    return estimate([sum(flows) for flows in runs])


def main() -> None:
    """Runs everything, and writes it down cell by cell."""
    program = sys.argv[1]
    text = [
        "# What ns-3.37 (Debian's packages ns3 and libns3-dev) says of `sinr.cc`: kb/s of each flow, by seed.",
        "# `python -m validation.ns3.sinr PROGRAM` writes it down; sinr.py has the cells.",
    ]
    for cell in CELLS:
        runs = [run(program, cell, seed) for seed in range(1, SEEDS + 1)]
        text += ["", "[[run]]", f'cell = "{cell.name}"']
        text += [f'command = "sinr CASE SEED {WARMUP} {WARMUP + cell.seconds}"', f"seeds = {SEEDS}", "kbps = ["]
        text += [f"  [{', '.join(f'{kbps:.1f}' for kbps in flows)}]," for flows in runs] + ["]"]
        FACTS.write_text("\n".join(text) + "\n")
        print(cell.name, total(runs), flush=True)


if __name__ == "__main__":
    main()
