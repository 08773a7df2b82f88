"""Cost of an event as networks grow, and time of large networks.

    python benches/growth.py                             every network, five runs each
    python benches/growth.py --quick --only grid-100     one short run: a check, not a measurement

Grids, and meshes of nodes at random with eight neighbours on average, carry the same load on the same area. What counts
is user CPU over the number of events, both without those of the first simulated second: a run of it is taken off, and
with that set-up, first touches of memory, and the burst with which all flows begin. An event of a large network is more
work, as fewer nodes are at its edge: `listeners` is how many sense a node. `city` is one command, as its user gives it:
its wall time and memory include Python, the reading of the scenario, and the results as files. A row is printed, and
kept in --json, when it is there.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import tomli_w
from simulators import HERE, MeasurementError, run

from multihop import _core

REPETITIONS = 5
#: --quick: one run, of this share of the simulated time after the beginning, with a minimum in seconds.
QUICK_SHARE, QUICK_LEAST_S = 0.05, 2.0
#: Simulated seconds at the beginning that are subtracted.
BEGINNING = 1.0

#: Metres: range of decoding, range of sensing, and distance of neighbours in grids.
RANGE, SENSED, SPACING = 250.0, 550.0, 200.0
DEGREE = 8.0
#: Number of nodes per flow, and largest number of hops of a path.
NODES_PER_FLOW, HOPS = 10, 3
#: Each run simulates so many node seconds behind them, and so many seconds at least: a million events or more. Set-up
#: of 30,000 nodes takes a second, and the difference of two runs has the noise of two.
NODE_SECONDS, LEAST_S = 30_000.0, 4.0

Document = dict[str, Any]
Place = tuple[float, float]
Squares = dict[tuple[int, int], list[int]]


@dataclass(frozen=True)
class Network:
    """Network with its traffic."""

    name: str
    #: Simulated seconds after the beginning.
    seconds: float
    #: Function that makes the scenario without its duration.
    document: Callable[[], Document]
    #: Network of the same kind to compare with.
    least: str = ""


def grid(nodes: int) -> Document:
    """Nearly square grid with short flows."""
    columns = math.isqrt(nodes)
    while nodes % columns:
        columns -= 1
    cells = product(range(nodes // columns), range(columns))
    places = [(SPACING * column, SPACING * line) for line, column in cells]
    topology = {"generator": "grid", "columns": columns, "rows": nodes // columns, "spacing": f"{SPACING:g} m"}
    return scenario(topology) | {"flows": short_flows(places)}


def mesh(nodes: int) -> Document:
    """Random nodes with `DEGREE` neighbours each on average, and short flows."""
    side = RANGE * math.sqrt(nodes * math.pi / DEGREE)
    draw = random.Random(1)
    places = [(round(draw.uniform(0, side), 3), round(draw.uniform(0, side), 3)) for _ in range(nodes)]
    listed = [{"name": f"n{node}", "position": [f"{x} m", f"{y} m"]} for node, (x, y) in enumerate(places)]
    return scenario({"nodes": listed}) | {"flows": short_flows(places)}


def city() -> Document:
    """Grid of 10,000 nodes with 100 flows across it."""
    topology = {"generator": "grid", "columns": 100, "rows": 100, "spacing": f"{SPACING:g} m"}
    return scenario(topology) | {"traffic": pairs(100)}


def cell() -> Document:
    """500 saturated stations around a sink."""
    traffic = {"pattern": "canonical", "scheme": "udp", "app": {"kind": "saturated"}}
    return scenario({"generator": "circle", "stations": 500, "radius": "10 m"}) | {"traffic": traffic}


def mobile() -> Document:
    """1,000 moving nodes with as many neighbours as a mesh; AODV finds routes."""
    nodes = 1000
    side = f"{RANGE * math.sqrt(nodes * math.pi / DEGREE):.0f} m"
    speeds = {"min_speed": "1 m/s", "max_speed": "20 m/s"}
    mobility = {"model": "random-waypoint", "count": nodes, "area": [side, side], "seed": 1} | speeds
    moving = {"mobility": mobility, "routing": {"protocol": "aodv"}, "traffic": pairs(50)}
    return scenario({"nodes": []}) | moving


def scenario(topology: Document) -> Document:
    """Scenario of a topology, with the settings common to all networks."""
    return {
        "name": "growth",
        "phy": {"standard": "802.11b", "data_rate": "11 Mb/s", "control_rate": "1 Mb/s"},
        "mac": {"rules": "ns2", "rts_threshold": "0 B"},
        "medium": {"model": "ranges", "propagation_delay": "667 ns"},
        "topology": topology,
        "schemes": {"udp": {"segment_size": "512 B"}},
    }


def pairs(flows: int) -> Document:
    """Flows between random nodes."""
    return {"pattern": "random-pairs", "flows": flows, "scheme": "udp", "app": cbr()}


def short_flows(places: list[Place]) -> list[Document]:
    """Flows from random nodes to the end of a random walk of `HOPS` steps, unless it ends where it began."""
    draw = random.Random(2)
    squares = sorted_out(places, RANGE)
    flows: list[Document] = []
    while len(flows) < len(places) // NODES_PER_FLOW:
        source = here = draw.randrange(len(places))
        for _ in range(HOPS):
            here = draw.choice(near(here, places, squares, RANGE))
        if here != source:
            flows.append({"from": f"n{source}", "to": f"n{here}", "scheme": "udp", "app": cbr()})
    return flows


def sorted_out(places: list[Place], width: float) -> Squares:
    """Nodes in each square of this width."""
    squares: Squares = {}
    for node, (x, y) in enumerate(places):
        squares.setdefault((int(x // width), int(y // width)), []).append(node)
    return squares


def near(node: int, places: list[Place], squares: Squares, limit: float) -> list[int]:
    """Nodes closer than the limit, the node itself included; squares are as wide as the limit."""
    column, line = (int(metres // limit) for metres in places[node])
    around = ((column + dx, line + dy) for dx, dy in product((-1, 0, 1), repeat=2))
    found = (other for square in around for other in squares.get(square, []))
    return [other for other in found if math.dist(places[node], places[other]) < limit]


def sensed(places: list[Place]) -> float:
    """Mean number of other nodes that a node senses."""
    squares = sorted_out(places, SENSED)
    return sum(len(near(node, places, squares, SENSED)) - 1 for node in range(len(places))) / len(places)


def cbr() -> Document:
    """Traffic of each flow."""
    return {"kind": "cbr", "rate": "64 kb/s", "packet": "512 B", "jitter": 0.5}


NETWORKS = [
    *(
        Network(
            f"{kind.__name__}-{nodes}",
            max(NODE_SECONDS / nodes, LEAST_S),
            lambda kind=kind, nodes=nodes: kind(nodes),
            least,
        )
        for kind in (grid, mesh)
        for least in [f"{kind.__name__}-100"]
        for nodes in (100, 1_000, 10_000, 30_000)
    ),
    Network("cell", 20.0, cell),
    Network("mobile", 59.0, mobile),
    Network("city", 59.0, city),
]
#: Network that is run as a command.
COMMAND = "city"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures as the command line requests; returns the exit code."""
    options = parse(arguments)
    rows: list[Document] = []
    try:
        for network in options.only or NETWORKS:
            row = measured(network, options)
            least = next((other for other in rows if other["network"] == network.least), None)
            row["growth"] = row["ns_per_event"] / least["ns_per_event"] if least else None
            rows.append(row)
            print(line(row), flush=True)
            if options.json:
                options.json.write_text(json.dumps(rows, indent=2) + "\n")
    except (MeasurementError, OSError) as error:
        print(f"growth: {error}", file=sys.stderr)
        return 2
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = {network.name: network for network in NETWORKS}
    parser.add_argument("--quick", action="store_true", help="one short run of each: a check, not a measurement")
    parser.add_argument("--only", action="append", metavar="NAME", help=f"one of {', '.join(names)}; repeatable")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, metavar="N", help="runs of each (5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="all samples, for programs")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.only or [] if name not in names]:
        parser.error(f"--only: {unknown[0]} is not a network; give one of {', '.join(names)}")
    options.only = [names[name] for name in options.only or []]
    if options.repetitions < 1:
        parser.error(f"--repetitions: found {options.repetitions}; needs at least 1")
    return options


def measured(network: Network, options: argparse.Namespace) -> Document:
    """Runs a network several times, each time with another seed."""
    behind = max(QUICK_SHARE * network.seconds, QUICK_LEAST_S) if options.quick else network.seconds
    seconds = BEGINNING + behind
    document = network.document() | {"record_interval": f"{seconds} s"}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{network.name}.toml"
        file.write_text(tomli_w.dumps(document | {"duration": f"{seconds} s", "warmup": "0 s"}))
        seeds = range(1, 2 if options.quick else options.repetitions + 1)
        samples = [[sample(file, lasts, seed) for lasts in (BEGINNING, seconds)] for seed in seeds]
        command = as_command(file) if network.name == COMMAND else None
        nodes = _core.check(file.read_text(), str(file))["nodes"]
    listeners = sensed([(node["x"], node["y"]) for node in nodes])
    costs = [1e9 * difference("cpu_s", pair) / difference("events", pair) for pair in samples]
    whole = [run for _, run in samples]
    return {
        "network": network.name,
        "nodes": whole[0]["nodes"],
        "flows": whole[0]["flows"],
        "listeners": listeners,
        "simulated_s": behind,
        "events": int(difference("events", samples[0])),
        "ns_per_event": median(costs),
        "least": min(costs),
        "most": max(costs),
        "setup_ms": 1e3 * median(run["setup_s"] for run in whole),
        "run_kb": max(run["peak_kb"] - run["empty_kb"] for run in whole),
        "command": command,
        "samples": samples,
    }


def sample(file: Path, seconds: float, seed: int) -> Document:
    """Measures one run in a separate process."""
    out, _ = run([sys.executable, str(HERE / "child.py"), str(file), str(seconds), "0", str(seed)])
    found: Document = json.loads(out)
    return found


def difference(of: str, pair: list[Document]) -> float:
    """Cost of a run without its beginning.

    Raises MeasurementError if that is nothing.
    """
    beginning, whole = pair
    if whole[of] <= beginning[of]:
        raise MeasurementError(
            f"{of}: found {whole[of]} of the whole run, and {beginning[of]} of its beginning; run it longer"
        )
    return float(whole[of] - beginning[of])


def as_command(file: Path) -> Document:
    """Wall time in seconds, user CPU and largest resident set in kB of `multihop run`."""
    multihop = [sys.executable, "-m", "multihop", "run", str(file), "--out", str(file.parent / "results")]
    out, _ = run([sys.executable, "-S", str(HERE / "metered.py"), *multihop])
    found: Document = json.loads(out)
    return found


def line(row: Document) -> str:
    """Formats a row."""
    growth = f" {row['growth']:.2f} times {row['network'].split('-')[0]}-100," if row["growth"] else ""
    text = (
        f"{row['network']:<11} {row['nodes']:>6,} nodes {row['flows']:>5,} flows {row['simulated_s']:>6.1f} s: "
        f"{row['listeners']:.0f} listeners, "
        f"{row['events'] / 1e6:.1f} M events, {row['ns_per_event']:.0f} ns each "
        f"({row['least']:.0f} to {row['most']:.0f}),"
        f"{growth} set-up {row['setup_ms']:.0f} ms, {row['run_kb'] / 1024:.0f} MB"
    )
    if command := row["command"]:
        spent = f"{command['wall_s']:.1f} s, user CPU {command['cpu_s']:.1f} s, {command['peak_kb'] / 1024:.0f} MB"
        text += f"; as a command: wall {spent}"
    return text


if __name__ == "__main__":
    sys.exit(main())
