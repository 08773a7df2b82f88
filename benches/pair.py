"""Comparison of two engines: speed ratio, and whether the same events happen in both.

    python benches/pair.py before.so after.so                        the chain of 7 hops
    python benches/pair.py before.so after.so chain:300 grid-10:60   so many simulated seconds of each

An engine is a built `_core.abi3.so`, as it lies in `python/multihop/`. Both are loaded into one process and run in
turn, in random order, so that what else goes on in the machine meets both: medians of 31 pairs are good to half a per
cent, where processes of their own scatter by five. Where code and data lie in memory differs as well, and takes up to
3 %: less than that says nothing of an edit. What counts is CPU of the thread that runs, with set-up.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import sys
import time
from pathlib import Path
from statistics import median
from types import ModuleType

# Worker threads busy-wait for their first 50 ms.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

SCENARIOS = Path(__file__).parent / "scenarios"
REPETITIONS = 31


def load(path: Path) -> ModuleType:
    """Loads the extension module in this file."""
    spec = importlib.util.spec_from_file_location("_core", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path}: no extension module; give a built _core.abi3.so")
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as error:
        raise SystemExit(f"{path}: {error}; give a built _core.abi3.so") from None
    return module


def case(text: str) -> tuple[str, float]:
    """Parses a scenario and the simulated seconds of its runs from the command line."""
    name, _, seconds = text.partition(":")
    if not (SCENARIOS / f"{name}.toml").exists():
        raise argparse.ArgumentTypeError(f"{name!r} is not a scenario; give a file of {SCENARIOS} by name")
    try:
        return name, float(seconds)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} does not say how long; give NAME:SECONDS") from None


def pairs(text: str) -> int:
    """Parses a number of pairs from the command line."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of pairs; give 1 or more")
    return int(text)


def run(engine: ModuleType, file: Path, seconds: float, seed: int) -> tuple[float, str]:
    """CPU time of a run in milliseconds, and the fingerprint of its events."""
    lasting = {"duration": f"{seconds} s", "warmup": "0 s", "record_interval": f"{seconds} s", "seed": seed}
    text = file.read_text()
    before = time.thread_time_ns()
    try:
        outcome = engine.run(text, str(file), lasting)
    except ValueError as error:
        raise SystemExit(str(error)) from None
    return (time.thread_time_ns() - before) / 1e6, outcome["summary"]["fingerprint"]


def compare(engines: list[ModuleType], name: str, seconds: float, repetitions: int) -> bool:
    """Prints the CPU time of both for a scenario; returns whether the same events happen in both."""
    file = SCENARIOS / f"{name}.toml"
    taken: list[list[float]] = [[], []]
    same = True
    for seed in range(1, repetitions + 1):
        prints: dict[int, str] = {}
        for which in random.sample((0, 1), 2):
            ms, prints[which] = run(engines[which], file, seconds, seed)
            taken[which].append(ms)
        same &= prints[0] == prints[1]
    change = median(after / before for before, after in zip(*taken, strict=True)) - 1
    verdict = "same events" if same else "OTHER EVENTS"
    print(f"{name}: {median(taken[0]):.2f} and {median(taken[1]):.2f} ms, {100 * change:+.1f} %, {verdict}", flush=True)
    return same


def main() -> int:
    """Compares the engines; returns 1 if events differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="an engine")
    parser.add_argument("after", type=Path, help="another one")
    parser.add_argument("cases", nargs="*", type=case, metavar="NAME:SECONDS", help="scenarios of benches/scenarios/")
    parser.add_argument("--repetitions", type=pairs, default=REPETITIONS, metavar="N", help=f"pairs ({REPETITIONS})")
    options = parser.parse_args()
    engines = [load(options.before), load(options.after)]
    cases = options.cases or [("chain", 300.0)]
    same = [compare(engines, name, seconds, options.repetitions) for name, seconds in cases]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
