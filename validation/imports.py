"""`python -m validation.imports [FILE]`: imported meshes, and the truth that they were measured on.

Nodes stand at random places; power falls with the logarithm of distance, and each pair has a shadowing of its own. The
truth is a run of that by SINR, all powers known. Of the same network a meshviewer file is written, which holds places,
and of the links that deliver some what they deliver, in 255ths as batman-adv counts. That file is imported, with
`inferred` and with `listed` sensing, and the same flows are run.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w
from numpy.typing import NDArray

import multihop
from multihop import _core
from multihop.importers import Options, read
from multihop.importers.to_scenario import Plan, write
from multihop.simulation.scenario import load
from validation import page

Scenario = dict[str, Any]
Floats = NDArray[np.float64]

SCHEMES = ("tcp-cubic", "tcp-bbr", "recn", "xcp-winf")

#: What the file shows: links that deliver at least this.
SHOWN = 0.1
NOISE_DBM = -95.0
SENSITIVITY_DBM = -92.0
#: What the truth has no signal for, as signals further down hardly raise noise.
FLOOR_DBM = -115.0
TRANSMITTED_DBM = 20.0
LOSS_AT_1M_DB = 40.0
#: Metres of a degree of latitude on the Earth that the importer takes for a sphere.
DEGREE_M = math.radians(1.0) * 6_371_000.0
#: The truth again is with other seeds of the runs: what chance alone makes.
WAYS = ("truth", "again", "inferred", "listed")


@dataclass(frozen=True)
class World:
    """A network, known in all parts.

    Attributes:
        nodes: how many.
        side_m: of the square that they stand in.
        exponent: of path loss.
        sigma_db: of shadowing.
        seed: of places, shadowing, and what probes count.
    """

    nodes: int = 25
    side_m: float = 400.0
    exponent: float = 3.0
    sigma_db: float = 5.0
    seed: int = 1

    def name(self) -> str:
        """The same in words."""
        return (
            f"{self.nodes} nodes, {self.side_m:g} m, exponent {self.exponent:g}, {self.sigma_db:g} dB, seed {self.seed}"
        )


@dataclass(frozen=True)
class Row:
    """Flows of one world under one scheme, by `WAYS`.

    Attributes:
        world: which.
        scheme: of all flows.
        goodput: in Mb/s, the mean over seeds, by way and flow.
    """

    world: World
    scheme: str
    goodput: dict[str, list[float]]

    def total(self, way: str) -> float:
        """Of all flows."""
        return sum(self.goodput[way])

    def off(self, way: str) -> float:
        """How far the total is from the truth."""
        return self.total(way) / self.total("truth") - 1.0

    def flow_off(self, way: str) -> float:
        """How far flows are from the truth in the mean, over the mean of a flow."""
        truth, found = np.array(self.goodput["truth"]), np.array(self.goodput[way])
        return float(np.abs(found - truth).mean() / truth.mean())


#: Of the page: dense networks, and sparse ones with few ways from node to node.
DENSE = (*(World(seed=seed) for seed in (1, 2, 3)), World(seed=4, sigma_db=0.0), World(30, 500.0, 2.7, 5.0, 5))
SPARSE = tuple(World(40, 900.0, 3.0, 6.0, seed) for seed in (6, 7, 8))
WORLDS = DENSE + SPARSE
CLIENTS, SECONDS, SEEDS = 8, 20, 3


def powers(world: World) -> tuple[Floats, Floats]:
    """Places in metres, and received powers in dBm, the same both ways."""
    rng = np.random.default_rng(world.seed)
    places = np.round(rng.uniform(0.0, world.side_m, (world.nodes, 2)), 1)
    distance = np.maximum(np.hypot(*(places[:, None, :] - places[None, :, :]).transpose(2, 0, 1)), 1.0)
    shadow = np.triu(rng.normal(0.0, world.sigma_db, (world.nodes, world.nodes)), 1)
    path = TRANSMITTED_DBM - LOSS_AT_1M_DB - 10.0 * world.exponent * np.log10(distance)
    return places, path + shadow + shadow.T


def delivery(powers_dbm: Floats) -> Floats:
    """The share of frames of 1500 B at 11 Mb/s that arrive at these powers, by the engine's error model."""
    tail = np.geomspace(1e-9, 0.01, 50)
    shares = np.concatenate([tail, np.linspace(0.011, 0.989, 200), 1.0 - tail[::-1]])
    link = {"from": "a", "to": "b", "delivery": 1.0, "rssi": "-60 dBm", "reverse": 1.0, "reverse_rssi": "-60 dBm"}
    scenario = {
        "duration": "1 s",
        "medium": {"model": "matrix", "quantity": "delivery-and-rssi"},
        "topology": {"nodes": [{"name": "a"}, {"name": "b"}], "links": [link]},
        "flows": [{"from": "a", "to": "b", "scheme": "udp"}],
    }
    snr = np.array(_core.snr_of_delivery(tomli_w.dumps(scenario), "<probe>", shares.tolist()))
    return np.asarray(np.interp(powers_dbm - NOISE_DBM, snr, shares, left=0.0, right=1.0))


def meshviewer(world: World) -> dict[str, Any]:
    """What a map would show."""
    places, received = powers(world)
    rng = np.random.default_rng([world.seed, 1])
    counted = rng.binomial(255, delivery(received)) / 255.0
    nodes = [
        {
            "node_id": f"n{i}",
            "is_online": True,
            "location": {"latitude": y / DEGREE_M, "longitude": x / DEGREE_M},
        }
        for i, (x, y) in enumerate(places.tolist())
    ]
    pairs = [(a, b) for a in range(world.nodes) for b in range(a + 1, world.nodes)]
    links = [
        {"source": f"n{a}", "target": f"n{b}", "source_tq": float(counted[a, b]), "target_tq": float(counted[b, a])}
        for a, b in pairs
        if min(counted[a, b], counted[b, a]) >= SHOWN
    ]
    return {"nodes": nodes, "links": [{**link, "type": "wifi"} for link in links]}


def imported(world: World, sensing: str, clients: int, seconds: int) -> Scenario:
    """The scenario that the importer makes of the map, with its summary as `description`."""
    warmup = f"{seconds // 5} s"
    plan = Plan(traffic="gateway", clients=clients, sensing=sensing, duration=f"{seconds} s", warmup=warmup)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "meshviewer.json"
        file.write_text(json.dumps(meshviewer(world)))
        made = write(read(file, Options()), plan, "meshviewer.json")
    return tomllib.loads(made.text) | {"description": "\n".join(made.summary)}


def truth(world: World, like: Scenario) -> Scenario:
    """The network itself, with all its nodes, and times and PHY of an imported one."""
    _, received = powers(world)
    pairs = [(a, b) for a in range(world.nodes) for b in range(a + 1, world.nodes)]
    level = {pair: f"{received[pair]:.2f} dBm" for pair in pairs if received[pair] >= FLOOR_DBM}
    links = [{"from": f"n{a}", "to": f"n{b}", "rssi": p, "reverse_rssi": p} for (a, b), p in level.items()]
    return {key: like[key] for key in ("duration", "warmup", "phy", "routing")} | {
        "medium": {"model": "matrix", "quantity": "rssi"},
        "topology": {"nodes": [{"name": f"n{i}"} for i in range(world.nodes)], "links": links},
    }


def rows(
    world: World, schemes: Sequence[str] = SCHEMES, clients: int = CLIENTS, seconds: int = SECONDS, seeds: int = SEEDS
) -> list[Row]:
    """Each scheme in the truth and in the imported meshes, on the flows that the first import chose."""
    ways = {sensing: imported(world, sensing, clients, seconds) for sensing in ("inferred", "listed")}
    chosen = load(ways["inferred"]).check()["flows"]
    flows = [{"from": flow["source"], "to": flow["destination"], "start_jitter": "1 s"} for flow in chosen]
    real = truth(world, ways["inferred"])
    ways = {"truth": real, "again": real, **ways}
    goodput: dict[str, dict[str, list[float]]] = {scheme: {} for scheme in schemes}
    for way, scenario in ways.items():
        same = {key: value for key, value in scenario.items() if key != "traffic"} | {"flows": flows}
        first = 1001 if way == "again" else 1
        found = multihop.compare(same, list(schemes), seeds=range(first, first + seeds))
        means = found.flows.groupby(["scheme", "flow"], sort=False)["goodput_bps"].mean() / 1e6
        for scheme in schemes:
            goodput[scheme][way] = [float(value) for value in means[scheme]]
    return [Row(world, scheme, goodput[scheme]) for scheme in schemes]


def order_holds(of: list[Row], way: str) -> bool:
    """Are schemes of one world in the order of the truth, but for those that are as good as equal there?"""
    for one in of:
        for other in of:
            apart = one.total("truth") > 1.05 * other.total("truth")
            if apart and one.total(way) <= other.total(way):
                return False
    return True


def sensing_pairs(world: World, scenario: Scenario) -> tuple[int, int]:
    """Of pairs of its nodes that have no link, how many sense each other: in the truth, and in an imported scenario."""
    _, received = powers(world)
    links = scenario["topology"]["links"]
    linked = {frozenset((link["from"], link["to"])) for link in links if "delivery" in link}
    names = [node["name"] for node in scenario["topology"]["nodes"]]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[:i] if frozenset((a, b)) not in linked]
    true = sum(received[int(a[1:]), int(b[1:])] >= SENSITIVITY_DBM for a, b in pairs)
    found = sum("delivery" not in link and float(link["rssi"].split()[0]) >= SENSITIVITY_DBM for link in links)
    return true, found


def _fits(worlds: Sequence[World]) -> str:
    def cells(world: World) -> list[str]:
        scenario = imported(world, "inferred", CLIENTS, SECONDS)
        fitted = re.search(r"exponent ([0-9.]+) .*?shadowing of ([0-9.]+) dB", scenario["description"])
        assert fitted is not None
        true, found = sensing_pairs(world, scenario)
        exponents = [f"{world.exponent:.2f}", fitted[1], f"{world.sigma_db:.1f}", fitted[2]]
        return [world.name(), *exponents, str(true), str(found)]

    head = ["network", "exponent", "fitted", "shadowing [dB]", "fitted", "sensing pairs", "inferred"]
    return page.table(head, map(cells, worlds))


def _totals(worlds: dict[World, list[Row]]) -> str:
    lines = []
    for world, of in worlds.items():
        order = {way: "yes" if order_holds(of, way) else "no" for way in WAYS[1:]}
        for row in of:
            cells = [world.name(), row.scheme, f"{row.total('truth'):.2f}"]
            for way in WAYS[1:]:
                cells += [f"{row.total(way):.2f}", f"{row.off(way):+.0%}", f"{row.flow_off(way):.0%}", order[way]]
            lines.append(cells)
    columns = [f"{what}{way}" for way in WAYS[1:] for what in ("", "off, ", "flow off, ", "order, ")]
    return page.table(["network", "scheme", "truth", *columns], lines)


def _flows(worlds: dict[World, list[Row]]) -> str:
    lines = []
    for world, of in worlds.items():
        row = next(row for row in of if row.scheme == "tcp-cubic")
        flows = zip(*(row.goodput[way] for way in WAYS), strict=True)
        lines += [[world.name(), str(at), *(f"{value:.3f}" for value in flow)] for at, flow in enumerate(flows, 1)]
    return page.table(["network", "flow", *WAYS], lines)


def _seen(worlds: dict[World, list[Row]]) -> str:
    """What the tables say, counted."""
    lines = [_seen_in("dense", DENSE, worlds), _seen_in("sparse", SPARSE, worlds)]
    return "\n\n".join(lines)


def _seen_in(what: str, some: Sequence[World], worlds: dict[World, list[Row]]) -> str:
    worlds = {world: worlds[world] for world in some}
    every = [row for of in worlds.values() for row in of]
    lines = [f"In the {len(worlds)} {what} networks:", ""]
    for way in WAYS[1:]:
        near = sum(abs(row.off(way)) <= 0.15 for row in every)
        orders = sum(order_holds(of, way) for of in worlds.values())
        off = [abs(row.off(way)) for row in every]
        flow_off = float(np.mean([row.flow_off(way) for row in every]))
        within = f"within 15 % of the truth in {near} of {len(every)} cases"
        apart = f"{np.mean(off):.0%} off in the mean, {max(off):.0%} at most"
        held = f"schemes in the order of the truth in {orders} of {len(worlds)} networks"
        each = f"a flow's goodput off by {flow_off:.0%} of a mean flow's"
        lines.append(f"* **{way}**: total goodput {within}, {apart}; {held}; {each}.")
    return "\n".join(lines)


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(prog="python -m validation.imports", description=__doc__)
    parser.add_argument(
        "file", nargs="?", type=Path, default=Path("docs/results/imports.md"), help="where the page goes"
    )
    file = parser.parse_args().file
    worlds = {world: rows(world) for world in WORLDS}
    text = (Path(__file__).parent / "templates" / "imports.md").read_text()
    parts = {"seen": _seen(worlds), "fits": _fits(WORLDS), "totals": _totals(worlds), "flows": _flows(worlds)}
    parts |= {"version": multihop.__version__, "seconds": str(SECONDS), "seeds": str(SEEDS)}
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    file.write_text(text)
    print(f"wrote {file}")


if __name__ == "__main__":
    main()
