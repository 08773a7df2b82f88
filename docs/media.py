"""Writes docs/results/media.md: a video under six schemes over four networks.

    python -m docs.media           about two minutes on two cores
    python -m docs.media --quick   two seeds, for a look; writes nothing unless --to names a page

The runs are made here, from the networks below. The page shows means over seeds with their 95 % intervals.
"""

from __future__ import annotations

import argparse
import os
import tomllib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import multihop
from multihop import Result
from multihop.results.statistics import Estimate, estimate
from multihop.results.words import markdown_table

DOCS = Path(__file__).parent
PAGE = DOCS / "results" / "media.md"
SEEDS, QUICK_SEEDS = 10, 2

Scenario = dict[str, Any]

#: Maximum rate of the video's encoder, and of the controllers that know one.
MOST = "2 Mb/s"
#: Scheme of the video -> its parameters.
SCHEMES: dict[str, dict[str, str]] = {
    "nada": {"max_rate": MOST},
    "gcc": {"max_rate": MOST},
    "scream": {"max_rate": MOST},
    "tfrc": {},
    "re-tfrc": {},
    "tcp-cubic": {},
}
#: The video: the application of scenarios/video.toml with an encoder that adapts.
VIDEO = {
    "kind": "video",
    "rate": MOST,
    "min_rate": "100 kb/s",
    "deadline": "400 ms",
    "frame_rate": 25,
    "gop": 12,
    "key_ratio": 4,
    "variation": 0.2,
}
#: Bulk data beside the video.
DOWNLOAD = {"scheme": "tcp-cubic", "start_jitter": "1 s", "app": {"kind": "saturated"}}


@dataclass(frozen=True)
class Network:
    """A network with its traffic, for any scheme of the video."""

    title: str
    about: str
    scenario: Callable[[], Scenario]


def chain() -> Scenario:
    """The shipped scenario, whose first flow is the video."""
    scenario = tomllib.loads((DOCS.parent / "scenarios" / "video.toml").read_text("utf-8"))
    scenario["flows"] = scenario["flows"][1:]
    return scenario


def wire() -> Scenario:
    """Two routers."""
    return {
        "topology": {
            "nodes": [{"name": name} for name in ("n0", "n1")],
            "wires": [{"between": ["n0", "n1"], "rate": "3 Mb/s", "delay": "25 ms", "queue": 50}],
        },
        "flows": [
            {
                "name": "datagrams",
                "from": "n0",
                "to": "n1",
                "scheme": "udp",
                "start": "60 s",
                "stop": "90 s",
                "app": {"kind": "cbr", "rate": "1.5 Mb/s", "packet": "1000 B"},
            },
            {
                "name": "pages",
                "from": "n0",
                "to": "n1",
                "scheme": "tcp-cubic",
                "app": {"kind": "transfers", "size": "200 kB", "pause": "5 s", "distribution": "exponential"},
            },
        ],
    }


def wlan() -> Scenario:
    """A base station, five clients n1 to n5, and a server n6 behind the base station."""
    return {
        "phy": {"standard": "802.11g", "data_rate": "24 Mb/s", "control_rate": "24 Mb/s"},
        "mac": {"rts_threshold": "off", "queue": 64},
        "medium": {"model": "ranges"},
        "topology": {
            "generator": "wlan",
            "clients": 5,
            "radius": "10 m",
            "server": {"rate": "100 Mb/s", "delay": "10 ms"},
        },
        "flows": [
            {"name": "download 1", "from": "n6", "to": "n2", **DOWNLOAD},
            {"name": "download 2", "from": "n6", "to": "n3", **DOWNLOAD},
            {"name": "upload", "from": "n4", "to": "n6", **DOWNLOAD},
        ],
    }


def mesh() -> Scenario:
    """The mesh of `make demo` with two flows of its own."""
    scenario = tomllib.loads((DOCS.parent / "scenarios" / "mesh-demo.toml").read_text("utf-8"))
    del scenario["traffic"]
    scenario["flows"] = [
        {"name": "download 1", "from": "r51", "to": "r34", **DOWNLOAD},
        {"name": "download 2", "from": "r15", "to": "r41", **DOWNLOAD},
    ]
    return scenario


NETWORKS = {
    "wire": Network(
        "Wire with cross traffic",
        "3 Mb/s, 25 ms, `drop-tail` of 50 packets. Datagrams of 1.5 Mb/s from 60 to 90 s, and pages of 200 kB over "
        "CUBIC with pauses of 5 s.",
        wire,
    ),
    "wlan": Network(
        "WLAN",
        "802.11g at 24 Mb/s, a queue of 64 packets. The video from a server to a client beside two downloads and an "
        "upload of CUBIC.",
        wlan,
    ),
    "mesh": Network(
        "Mesh",
        "`scenarios/mesh-demo.toml` with ETX routes. The video from `r11` to `r33` beside two downloads of CUBIC.",
        mesh,
    ),
    "chain": Network(
        "Chain",
        "`scenarios/video.toml`: three hops at 11 Mb/s beside a download of NewReno in the other direction.",
        chain,
    ),
}
#: Ends of the video.
ENDS = {"wire": ("n0", "n1"), "wlan": ("n6", "n1"), "mesh": ("r11", "r33"), "chain": ("n0", "n3")}


def scenario_of(name: str, scheme: str) -> Scenario:
    """The scenario of a network with this scheme of the video."""
    scenario = NETWORKS[name].scenario()
    source, sink = ENDS[name]
    video = {"name": "video", "from": source, "to": sink, "scheme": "of-video", "start_jitter": "1 s", "app": VIDEO}
    return {
        **scenario,
        "name": f"media-{name}",
        "duration": "120 s",
        "warmup": "30 s",
        "record_interval": "1 s",
        "schemes": {"of-video": {"base": scheme, **SCHEMES[scheme]}},
        "flows": [video, *scenario["flows"]],
    }


def received_variation(run: Result) -> float:
    """Coefficient of variation of the payload received in each second after the warm-up."""
    series = run.series
    rows = series[(series["name"] == "video") & (series["time_s"] > float(run.view["warmup"]) + 0.5)]["goodput_bps"]
    return float(rows.std(ddof=0) / rows.mean())


def _column(name: str, scale: float = 1.0) -> Callable[[Result], float]:
    return lambda run: scale * float(run.flows.iloc[0][name])


#: Column of the table, its digits, and its value in a run.
COLUMNS: list[tuple[str, int, Callable[[Result], float]]] = [
    ("late frames, %", 1, _column("late_ratio", 100.0)),
    ("stalls", 1, _column("stalls")),
    ("stalled, s of 90", 1, _column("stall_time_s")),
    ("rate, Mb/s", 2, _column("goodput_bps", 1e-6)),
    ("variation of the rate", 2, received_variation),
    ("delay of frames (p95), ms", 0, _column("video_frame_delay_p95_s", 1e3)),
]


def main() -> None:
    """Reads the arguments, runs, writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two seeds")
    parser.add_argument("--to", type=Path, help="the page; docs/results/media.md by default")
    given = parser.parse_args()
    seeds = QUICK_SEEDS if given.quick else SEEDS
    text = page(seeds)
    target = given.to or (None if given.quick else PAGE)
    if target is None:
        print(text)
    else:
        target.write_text(text, encoding="utf-8")


def page(seeds: int) -> str:
    """The page, from runs with this many seeds."""
    parts = [ABOUT.format(seeds=seeds)]
    for name, network in NETWORKS.items():
        rows = [[f"`{scheme}`", *cells(runs(name, scheme, seeds))] for scheme in SCHEMES]
        head = ["scheme of the video", *(column for column, _, _ in COLUMNS)]
        table = "\n".join(markdown_table(head, rows))
        parts.append(f"## {network.title}\n\n{network.about}\n\n{table}")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def runs(name: str, scheme: str, seeds: int) -> list[Result]:
    """Runs of a network with this scheme of the video."""
    scenario = scenario_of(name, scheme)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda seed: multihop.run(scenario, seed=seed), range(1, seeds + 1)))


def cells(results: Sequence[Result]) -> Iterable[str]:
    """A cell for each column."""
    for _, digits, value in COLUMNS:
        yield _shown(estimate([value(run) for run in results]), digits)


def _shown(found: Estimate | None, digits: int) -> str:
    if found is None:
        return "none"
    half = found.half_width
    return f"{found.mean:.{digits}f}" + ("" if half is None else f" ± {half:.{digits}f}")


ABOUT = """
# Results: video under congestion control

`python -m docs.media` makes this page. Six schemes carry the same video over four networks, beside other traffic.
[Real-time media](../explanation/schemes/media.md) describes the schemes and discusses the numbers.

- **Video**: an encoder of 100 kb/s to 2 Mb/s, 25 frames per second, a key frame of four times the size each 12
  frames, sizes that vary by 20 %, and a deadline of 400 ms. The encoder follows the rate that the sender's congestion
  control asks for. TCP asks for none: its encoder makes 2 Mb/s, and skips frames when more than 400 ms wait.
- **Runs**: 120 s, of which 30 s are not counted; {seeds} seeds; means with 95 % intervals. `max_rate` is 2 Mb/s, all
  other parameters have their defaults.
- **Late frames** are skipped, lost or late. A **stall** is an interruption of a player that waits for frames. The
  **variation of the rate** is the coefficient of variation of the payload received in each second.
"""


if __name__ == "__main__":
    main()
