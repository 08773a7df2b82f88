"""What a build with profile-guided optimisation is trained on: `maturin build --release --pgo` runs it.

The scenarios that are shipped, which have every medium, routing protocol and queue discipline, and not those of
`benches/`: a build must not be trained on what it is measured by. Each runs until it has had about as many events as
the others; of as many seconds, those of WLANs with long aggregates were six sevenths of all that was counted. One of
them leaves a capture, which is measured.

Every run is a process of its own. Where several runs were in one process, one of LLVM's counters, in `before_nodes` of
the scenario's crate, had a number like an address, 99.99 % of all counts: beside it nothing of the engine is hot. Why
is not known.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

SCENARIOS = Path(__file__).parent.parent / "scenarios"
#: A mesh, run with schemes of every family, and captured.
BASE = SCENARIOS / "mesh-demo.toml"
SCHEMES = ("tcp-sack", "tcp-cubic", "tcp-bbr", "tfrc", "xcp-winf", "rcp-winf", "ewccp", "bmcc", "recn")
#: Of each run, about.
EVENTS = 200_000
#: Simulated seconds from which events are foreseen, which are the fewest, and the most.
TRIAL_S, MOST_S = 10, 3600
#: Short enough for a trial, and long enough for routes.
WARMUP_S = 5


def main(arguments: Sequence[str]) -> None:
    """Runs all of them, or, in a process of its own, the one that arguments describe."""
    if arguments:
        file, seconds, scheme, capture = arguments
        print(run(Path(file), int(seconds), scheme or None, Path(capture) if capture else None))
        return
    for scenario in sorted(SCENARIOS.glob("*.toml")):
        train(scenario)
    for scheme in SCHEMES:
        train(BASE, scheme)
    with tempfile.TemporaryDirectory() as folder:
        train(BASE, capture=f"{folder}/air.pcapng")


def train(file: Path, scheme: str = "", capture: str = "") -> None:
    """A scenario, after a trial that says how long it takes."""
    events = apart(file, TRIAL_S, scheme, "")
    apart(file, min(max(TRIAL_S * EVENTS // max(events, 1), TRIAL_S), MOST_S), scheme, capture)


def apart(file: Path, seconds: int, scheme: str, capture: str) -> int:
    """How many events a run has, which is a process of its own."""
    command = [sys.executable, __file__, str(file), str(seconds), scheme, capture]
    return int(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def run(file: Path, seconds: int, scheme: str | None, capture: Path | None) -> int:
    """How many events a run has. If it leaves a capture, that is measured."""
    # The process that starts all runs leaves no counts, so that it must not load what counts.
    from multihop import _core

    overrides = {"duration": f"{seconds} s", "warmup": f"{WARMUP_S} s", "record_interval": "1 s"}
    if scheme is not None:
        overrides["scheme"] = scheme
    output = _core.run(file.read_text(), str(file), overrides, pcap=capture)
    if capture is not None:
        _core.measure(str(capture), 1.0)
    return int(output["summary"]["events"])


if __name__ == "__main__":
    main(sys.argv[1:])
