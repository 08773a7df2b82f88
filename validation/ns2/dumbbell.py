"""`python -m validation.ns2.dumbbell`: runs ns-2 on a wired bottleneck, and writes down what it said.

The facts are in `dumbbell.toml` beside this file, so that pages can be made where ns-2 is not installed.
"""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("dumbbell.tcl")
FACTS = Path(__file__).with_name("dumbbell.toml")

#: Of the bottleneck, in bits per second.
RATE = 10e6


@dataclass(frozen=True)
class Setup:
    """What is run: saturated connections of one protocol, `xcp`, `newreno` or `sack1`, over the bottleneck.

    `queue` and `window` are in packets, `payload` in bytes, `round_trips` in milliseconds of propagation.
    """

    protocol: str
    round_trips: tuple[int, ...]
    queue: int = 100
    window: int = 500
    payload: int = 1460
    seconds: int = 30
    seed: int = 1

    def command(self) -> list[str]:
        """What is to be typed."""
        numbers = (self.queue, self.window, self.payload, self.seconds, self.seed, *self.round_trips)
        return ["ns", PROGRAM.name, self.protocol, *map(str, numbers)]

    @property
    def headers(self) -> int:
        """Bytes of headers in each packet."""
        return 72 if self.protocol == "xcp" else 40


@dataclass(frozen=True)
class Course:
    """What happened, of each half second, and in all."""

    #: Mean number of packets that waited at the bottleneck.
    waiting: list[float]
    #: Bytes that it sent.
    sent: list[int]
    #: Segments of each connection that were acknowledged.
    acknowledged: list[list[int]]
    dropped: int
    timeouts: list[int]


#: What is written down.
SETUPS = [
    *(Setup("xcp", (40, 80), seed=seed) for seed in range(1, 6)),
    *(Setup("xcp", (30, 60, 120, 240), seed=seed) for seed in range(1, 6)),
    *(Setup("xcp", (40, 80), queue=500, payload=payload) for payload in (1000, 536, 200)),
    *(
        Setup(protocol, round_trips, queue=50, window=1000, seconds=60)
        for protocol in ("newreno", "sack1")
        for round_trips in ((40,), (40, 80))
    ),
]


def installed() -> bool:
    """Is there an ns-2?"""
    return shutil.which("ns") is not None


def run(setup: Setup) -> Course:
    """Runs ns-2."""
    done = subprocess.run(setup.command(), cwd=PROGRAM.parent, capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    halves = [line[2:] for line in lines if line[0] == "half"]
    dropped, *timeouts = (int(word) for word in lines[-1][1:])
    waiting, sent, *acknowledged = zip(*halves, strict=True)
    return Course(
        waiting=[float(word) for word in waiting],
        sent=[int(word) for word in sent],
        acknowledged=[[int(word) for word in flow] for flow in acknowledged],
        dropped=dropped,
        timeouts=timeouts,
    )


def version() -> str:
    """What was run when it was written down."""
    return str(_facts()["version"])


def recorded() -> dict[Setup, Course]:
    """What was written down."""
    found = {}
    for row in _facts()["run"]:
        word, _, protocol, *numbers = row.pop("command").split()
        assert word == "ns"
        queue, window, payload, seconds, seed, *round_trips = map(int, numbers)
        found[Setup(protocol, tuple(round_trips), queue, window, payload, seconds, seed)] = Course(**row)
    return found


def _facts() -> dict[str, Any]:
    return tomllib.loads(FACTS.read_text())


def main() -> None:
    """Runs everything, and writes it down."""
    ns = subprocess.run(["ns"], input="puts [ns-version]", capture_output=True, text=True, check=True)
    text = [
        "# What ns-2 says of `dumbbell.tcl`, which says what the numbers are; `python -m validation.ns2.dumbbell`",
        "# writes it down.",
        f'version = "ns-{ns.stdout.strip()} (Debian\'s package ns2)"',
    ]
    for setup in SETUPS:
        course = run(setup)
        text += ["", "[[run]]", f'command = "{" ".join(setup.command())}"']
        text += [f"{name} = {value}" for name, value in vars(course).items()]
    FACTS.write_text("\n".join(text) + "\n")
    print(f"wrote {FACTS}")


if __name__ == "__main__":
    main()
