"""Benchmark cases: scenarios, their duration in each simulator, and the file format that peers read."""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import tomli_w
from motion import setdest

from multihop import _core

SCENARIOS = Path(__file__).parent / "scenarios"
#: Folder of generated files: scripts of motion, and compiled programs of peers; `make clean` removes it.
BUILT = Path(__file__).parent.parent / "target" / "bench"

#: Total load of saturated stations as a share of the data rate: more than RTS/CTS can deliver.
SATURATING_SHARE = 0.6

_UNITS = {"": 1.0, "B": 1.0, "s": 1.0, "b/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6}


@dataclass(frozen=True)
class Window:
    """Simulated seconds of a run from the start of its traffic, and initial seconds that are not counted."""

    seconds: float
    warmup: float


@dataclass(frozen=True)
class Case:
    """Scenario, and seconds of traffic that each peer simulates: enough for one to a few seconds of CPU.

    0 s leaves a peer out. What a peer needs is held against what we need for as many seconds: routes that are found
    on the way, and queues that fill, make the first seconds of a run others than the rest.
    """

    name: str
    ns2_seconds: float
    ns3_seconds: float
    #: ns-2: when traffic may begin, because starting it later no longer changes goodput; DSDV is frozen at 120 s. The
    #: grid of 256 nodes delivers 1.8 Mb/s from 145 s on, 1.1 from 245 s, and 1.0 to 1.1 from 545, 1045 and 2045 s.
    #: 0 for a single cell, which needs no routes.
    converged: float = 145.0

    @cached_property
    def file(self) -> Path:
        """Path of the scenario; with moving nodes, of a copy next to their script of motion."""
        scenario = SCENARIOS / f"{self.name}.toml"
        mobility = tomllib.loads(scenario.read_text()).get("mobility")
        if mobility is None:
            return scenario
        BUILT.mkdir(parents=True, exist_ok=True)
        (BUILT / mobility["file"]).write_text(setdest(mobility["count"], self.duration))
        copy = BUILT / scenario.name
        copy.write_text(scenario.read_text())
        return copy

    @property
    def motion(self) -> Path | None:
        """Path of the script of motion, if nodes move."""
        mobility = self.document.get("mobility")
        return None if mobility is None else self.file.parent / mobility["file"]

    @cached_property
    def document(self) -> dict[str, Any]:
        """Scenario as data."""
        return tomllib.loads((SCENARIOS / f"{self.name}.toml").read_text())

    @property
    def duration(self) -> float:
        """Simulated seconds of a run with multihop."""
        return number(self.document["duration"])

    def window(self, seconds: float) -> Window:
        """Window of a run of this many seconds. The warm-up is the scenario's, or a fifth of a short run."""
        return Window(seconds, min(number(self.document["warmup"]), seconds / 5))


#: ns-3 has no TFRC. ns-3 passes each frame to all nodes, and ns-2's DSDV would advertise 10,000 nodes: the grid of
#: 10,000 nodes is run with multihop alone.
CASES = [
    Case("chain", 1000, 300),
    Case("chain-11", 2500, 100),
    Case("chain-udp", 6000, 6000),
    Case("chain-tfrc", 2500, 0),
    Case("saturation", 100, 15, converged=0),
    Case("grid-5", 100, 20),
    Case("grid-7", 80, 15),
    Case("grid-10", 60, 10),
    Case("grid-16", 25, 2, converged=545),
    Case("grid-100", 0, 0),
    Case("mobile-50", 300, 0, converged=0),
    Case("mobile-256", 30, 0, converged=0),
]


def number(quantity: str) -> float:
    """Converts a quantity to its base unit.

    >>> number("64 kb/s")
    64000.0
    """
    value, _, unit = quantity.partition(" ")
    return float(value) * _UNITS[unit]


def for_peers(case: Case) -> str:
    """Converts the scenario to lines that Tcl and C++ read without a parser.

    `node X Y` in metres; `flow FROM TO tcp|tfrc|udp PAYLOAD RATE START` with nodes as indices, bytes, b/s (0 for as
    much as goes) and seconds after the beginning of traffic; `route NODE DESTINATION NEXT` for every hop that a flow
    takes, there and back, unless nodes move; and single values by name, of which `motion` is setdest's script.
    Positions, pairs and routes are those that our own engine resolves.
    """
    document = case.document
    there = _core.check(tomli_w.dumps(document), str(case.file))
    back = _core.check(tomli_w.dumps(_reversed(document, there["flows"])), str(case.file))
    index = {node["name"]: at for at, node in enumerate(there["nodes"])}
    moves = case.motion is not None
    cell = case.converged == 0 and not moves
    scheme, parameters = next(iter(document["schemes"].items()))
    mac, phy = document["mac"], document["phy"]
    data_bps = number(phy["data_rate"])

    lines = [
        f"data_bps {data_bps:.0f}",
        f"control_bps {number(phy['control_rate']):.0f}",
        f"rts {int(mac['rts_threshold'] == '0 B')}",
        f"queue {mac['queue']}",
        f"window {parameters.get('window', 1)}",
        f"routes {'direct' if cell else 'dsdv' if moves else 'static'}",
    ]
    if case.motion is not None:
        lines.append(f"motion {case.motion.resolve()}")
    # ns-2 requires all nodes on its map, which begins at 0.
    left, bottom = (min(node[axis] or 0.0 for node in there["nodes"]) for axis in ("x", "y"))
    places = [((node["x"] or 0.0) - left + 10, (node["y"] or 0.0) - bottom + 10) for node in there["nodes"]]
    lines += [f"node {x:.3f} {y:.3f}" for x, y in places]
    starts = random.Random(1)
    app = (document.get("traffic") or document["flows"][0])["app"]
    kind = scheme if scheme in ("udp", "tfrc") else "tcp"
    payload = number(parameters["segment_size"])
    rate = number(app.get("rate", "0"))
    if kind == "udp" and app["kind"] == "saturated":
        rate = SATURATING_SHARE * data_bps / len(there["flows"])
    for flow in there["flows"]:
        ends = f"{index[flow['source']]} {index[flow['destination']]}"
        lines.append(f"flow {ends} {kind} {payload:.0f} {rate:.0f} {starts.random():.6f}")
    if not (cell or moves):
        paths = [flow["path"] for view in (there, back) for flow in view["flows"]]
        hops = {(node, path[-1], following) for path in paths for node, following in pairwise(path)}
        lines += [f"route {node} {destination} {following}" for node, destination, following in sorted(hops)]
    return "\n".join(lines) + "\n"


def _reversed(document: dict[str, Any], flows: list[_core.FlowView]) -> dict[str, Any]:
    """Reverses the flows of a scenario: their paths are those of acknowledgements."""
    backwards = [{"from": flow["destination"], "to": flow["source"], "scheme": flow["scheme"]} for flow in flows]
    rest = {key: value for key, value in document.items() if key not in ("traffic", "flows")}
    return {**rest, "flows": backwards}
