"""Speed and memory of multihop, by itself or beside ns-2 and ns-3.

    python benches/run.py                     events per second, CPU per simulated second, memory
    python benches/run.py --peers             and the same scenarios on ns-2 and ns-3, in the same minutes
    python benches/run.py --quick --only chain --json speed.json

What counts is user CPU of the run, without set-up; every run is a process of its own. Simulators take turns, so that
whatever else the machine does meets all of them. The median of several runs is shown, with the least and the most;
each run has a seed of its own, the same for all simulators.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean, median
from typing import Any

from cases import CASES, Case, for_peers
from report import markdown, print_tables
from rich.console import Console
from simulators import MeasurementError, Multihop, Ns2, Ns3, Sample, Simulator

REPETITIONS = 5
#: --quick: one run, of a quarter of the simulated time.
QUICK_SHRINK = 4.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures what the command line asks for; the exit code."""
    options = parse(arguments)
    # Tables are wider than what counts as a terminal's width where there is none.
    console = Console(width=None if sys.stdout.isatty() else 150, soft_wrap=not sys.stdout.isatty())
    notes = Console(stderr=True)
    try:
        simulators = installed(options.peers, notes)
        results = {
            "machine": machine(),
            "versions": {simulator.name: simulator.version() for simulator in simulators},
            "repetitions": options.repetitions,
            "cases": [measure(case, simulators, options, notes) for case in options.only or CASES],
        }
        if options.json:
            options.json.write_text(json.dumps(results, indent=2) + "\n")
        if options.markdown:
            options.markdown.write_text(markdown(results))
    except (MeasurementError, OSError) as error:
        notes.print(f"bench: {error}", style="red", markup=False, highlight=False)
        return 2
    print_tables(results, console)
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", action="store_true", help="also run ns-2 and ns-3, where they are installed")
    parser.add_argument("--quick", action="store_true", help="one short run of each: a check, not a measurement")
    names = [case.name for case in CASES]
    parser.add_argument("--only", action="append", metavar="NAME", help=f"one of {', '.join(names)}; repeatable")
    parser.add_argument("--repetitions", type=int, default=None, metavar="N", help=f"runs of each ({REPETITIONS})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="all samples, for programs")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="the tables, for a page")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.only or [] if name not in names]
    if unknown:
        parser.error(f"--only: {unknown[0]} is not a scenario; give one of {', '.join(names)}")
    options.only = [case for case in CASES if case.name in options.only] if options.only else None
    if options.repetitions is None:
        options.repetitions = 1 if options.quick else REPETITIONS
    if options.repetitions < 1:
        parser.error(f"--repetitions: found {options.repetitions}; needs at least 1")
    return options


def installed(peers: bool, notes: Console) -> list[Simulator]:
    """The simulators to measure, ready to run; says which peers are left out."""
    simulators: list[Simulator] = [Multihop()]
    for peer in (Ns2(), Ns3()) if peers else ():
        if not peer.available():
            notes.print(f"{peer.name} is left out: not installed. On Debian: {peer.remedy}", highlight=False)
            continue
        peer.prepare()
        simulators.append(peer)
    return simulators


def measure(case: Case, simulators: list[Simulator], options: argparse.Namespace, notes: Console) -> dict[str, Any]:
    """Runs a case on all simulators in turn, several times."""
    samples: dict[str, list[Sample]] = {}
    shrink = QUICK_SHRINK if options.quick else 1.0
    with tempfile.TemporaryDirectory() as folder:
        described = Path(folder) / "case.txt"
        if len(simulators) > 1:
            described.write_text(for_peers(case))
        for repetition in range(options.repetitions):
            for simulator in simulators:
                if simulator.seconds(case) == 0:
                    continue
                notes.print(
                    f"{case.name}: {simulator.name}, {repetition + 1} of {options.repetitions}", highlight=False
                )
                # ns-2's routes depend on the seed, and its goodput on the routes: one seed would not do.
                sample = simulator.measure(case, described, shrink, seed=repetition + 1)
                samples.setdefault(simulator.name, []).append(sample)
    return {
        "name": case.name,
        "description": case.document["description"],
        "simulators": {name: summary(runs) for name, runs in samples.items()},
    }


def summary(runs: list[Sample]) -> dict[str, Any]:
    """What a simulator needed for a case."""
    cost = [run.ms_per_second for run in runs]
    first = runs[0]
    found: dict[str, Any] = {
        "cpu_ms_per_simulated_s": {"median": median(cost), "min": min(cost), "max": max(cost)},
        "setup_cpu_ms": median(run.setup_s for run in runs) * 1e3,
        "simulated_s": first.simulated_s,
        "goodput_kbps": fmean(run.goodput_kbps for run in runs),
        "peak_kb": max(run.peak_kb for run in runs),
        "samples": [asdict(run) for run in runs],
    }
    if first.events is not None:
        found["events"] = first.events
        found["events_per_cpu_s"] = median((run.events or 0) / max(run.cpu_s, 1e-6) for run in runs)
    if first.nodes is not None and first.empty_kb is not None:
        grown = median(run.peak_kb - (run.empty_kb or 0) for run in runs)
        found |= {"nodes": first.nodes, "flows": first.flows, "run_kb": grown, "run_kb_per_node": grown / first.nodes}
    return found


def machine() -> str:
    """The model of the processor."""
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    sys.exit(main())
