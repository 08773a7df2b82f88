"""Speed and memory of multihop, alone or compared with ns-2 and ns-3.

    python benches/run.py                     events per second, CPU per simulated second, memory
    python benches/run.py --peers             and the same scenarios on ns-2 and ns-3, in the same minutes
    python benches/run.py --quick --only chain --json speed.json

The cost is user CPU time of the run without set-up; every run is a separate process. Simulators take turns, so that
other load of the machine affects all of them. Each run of a peer is followed by a run of multihop with the same
simulated seconds, to which it is compared. The tables have the median, minimum and maximum of several runs; each
repetition has another seed, the same for all simulators. Files are rewritten after each scenario. A simulator that
fails is omitted from the scenario, and the exit code is 1.
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
from report import OURS, markdown, print_tables
from rich.console import Console
from simulators import MeasurementError, Multihop, Ns2, Ns3, Sample, Simulator

from multihop.base.files import write_text

REPETITIONS = 5
#: --quick: one run of a quarter of the simulated time.
QUICK_SHRINK = 4.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures as the command line requests; returns the exit code."""
    options = parse(arguments)
    # Tables are wider than the default width without a terminal.
    console = Console(width=None if sys.stdout.isatty() else 150, soft_wrap=not sys.stdout.isatty())
    notes = Console(stderr=True)
    try:
        ours = Multihop()
        versions, peers = installed(options.peers, notes)
        results: dict[str, Any] = {
            "machine": machine(),
            "versions": {ours.name: ours.version(), **versions},
            "repetitions": options.repetitions,
            "cases": [],
        }
        for case in options.only or CASES:
            results["cases"].append(measure(case, ours, peers, options, notes))
            # Written after each row, so that a failure does not lose hours of measurements.
            write(results, options)
    except (MeasurementError, OSError) as error:
        fault(notes, str(error))
        return 2
    print_tables(results, console)
    return 1 if any(case["failed"] for case in results["cases"]) else 0


def write(results: dict[str, Any], options: argparse.Namespace) -> None:
    """Writes the results so far to the requested files, each completely."""
    if options.json:
        write_text(options.json, json.dumps(results, indent=2) + "\n")
    if options.markdown:
        write_text(options.markdown, markdown(results))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parses the command line."""
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


def installed(wanted: bool, notes: Console) -> tuple[dict[str, str], list[Simulator]]:
    """Versions of the peers to measure, and the peers, ready to run; reports omitted ones."""
    versions: dict[str, str] = {}
    peers: list[Simulator] = []
    for peer in (Ns2(), Ns3()) if wanted else ():
        if not peer.available():
            notes.print(f"{peer.name} is left out: not installed. On Debian: {peer.remedy}", highlight=False)
            continue
        try:
            version = peer.version()
            peer.prepare()
        except MeasurementError as error:
            fault(notes, f"{peer.name} is left out: {error}")
            continue
        versions[peer.name] = version
        peers.append(peer)
    return versions, peers


def measure(
    case: Case, ours: Simulator, peers: Sequence[Simulator], options: argparse.Namespace, notes: Console
) -> dict[str, Any]:
    """Runs a case on all simulators in turn, several times; a simulator that fails is reported and then omitted.

    Each run of a peer is followed by one of ours of as many simulated seconds and the same seed.
    """
    shrink = QUICK_SHRINK if options.quick else 1.0
    runs: dict[str, list[Sample]] = {}
    pairs: dict[str, list[tuple[Sample, Sample]]] = {}
    failed: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        described = Path(folder) / "case.txt"
        if peers:
            described.write_text(for_peers(case))
        for repetition in range(options.repetitions):
            # ns-2's routes depend on the seed, and its goodput on the routes: one seed would not suffice.
            seed = repetition + 1
            for simulator in (ours, *peers):
                seconds = simulator.seconds(case) / shrink
                if seconds == 0 or simulator.name in failed:
                    continue
                notes.print(f"{case.name}: {simulator.name}, {seed} of {options.repetitions}", highlight=False)
                window = case.window(seconds)
                try:
                    sample = simulator.measure(case, described, window, seed)
                    if simulator is ours:
                        runs.setdefault(ours.name, []).append(sample)
                    else:
                        own = ours.measure(case, described, window, seed)
                        pairs.setdefault(simulator.name, []).append((own, sample))
                except MeasurementError as error:
                    failed[simulator.name] = str(error)
                    fault(notes, f"{case.name}: {error}")
    return {
        "name": case.name,
        "description": case.document["description"],
        "simulators": {name: summary(samples) for name, samples in runs.items()},
        "peers": {name: cost_ratio(both) for name, both in pairs.items()},
        "failed": failed,
    }


def cost_ratio(pairs: list[tuple[Sample, Sample]]) -> dict[str, Any]:
    """Ratio of a peer's cost to ours, over pairs of consecutive runs with the same seconds and seed."""
    per_second = [peer.cpu_s / max(own.cpu_s, 1e-6) for own, peer in pairs]
    return {
        "simulated_s": pairs[0][0].simulated_s,
        "multiple": {"median": median(per_second), "min": min(per_second), "max": max(per_second)},
        "multiple_per_bit": median(peer.ns_per_bit / max(own.ns_per_bit, 1e-6) for own, peer in pairs),
        OURS: summary([own for own, _ in pairs]),
        "peer": summary([peer for _, peer in pairs]),
    }


def summary(runs: list[Sample]) -> dict[str, Any]:
    """Cost of a case in a simulator."""
    cost = [run.ms_per_second for run in runs]
    first = runs[0]
    found: dict[str, Any] = {
        "cpu_ms_per_simulated_s": {"median": median(cost), "min": min(cost), "max": max(cost)},
        "setup_cpu_ms": median(run.setup_s for run in runs) * 1e3,
        "simulated_s": first.simulated_s,
        "cpu_ns_per_bit": median(run.ns_per_bit for run in runs),
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


def fault(notes: Console, what: str) -> None:
    """Reports a failure."""
    notes.print(f"bench: {what}", style="red", markup=False, highlight=False)


def machine() -> str:
    """Model of the processor."""
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    sys.exit(main())
