"""Instruction budget per simulated second: a table that a later change cannot exceed unnoticed.

    python benches/budget.py             counts, and compares with the table
    python benches/budget.py --write     writes the table anew; the commit says why

callgrind counts the instructions of the event loop alone. Unlike seconds they are the same on a busy machine, and
nearly the same on another one; they do depend on the compiler, which the table names, and on how the engine was built:
`make build`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cases import SCENARIOS, Case

from multihop import _core

TABLE = Path(__file__).parent / "budget.toml"
#: Relative deviation from the table that is accepted.
TOLERANCE = 0.02


@dataclass(frozen=True)
class Counted:
    """Run whose instructions are counted: its scenario, simulated seconds, and the scheme of all flows."""

    seconds: float
    scenario: str
    scheme: str | None = None

    @property
    def file(self) -> Path:
        """Path of the scenario, of a bench or of those that ship."""
        shipped = SCENARIOS.parents[1] / "scenarios" / f"{self.scenario}.toml"
        return Case(self.scenario, 0, 0).file if (SCENARIOS / shipped.name).exists() else shipped


#: Runs by their name in the table: 20,000 to 150,000 events, so that all take about a minute. Half of a short
#: run is warm-up, which is counted like the rest. Of grid-50 it is the burst with which its flows begin.
RUNS = {
    **{
        name: Counted(seconds, name)
        for name, seconds in {
            "chain": 20.0,
            "chain-11": 5.0,
            "saturation": 4.0,
            "grid-10": 4.0,
            "grid-16": 1.2,
            "grid-50": 0.2,
            "mobile-50": 25.0,
            "lone-11n": 2.0,
            "cell-11n": 2.0,
            "chain-11n": 20.0,
            "mesh-demo": 6.0,
            "wlan-11ac": 2.0,
        }.items()
    },
    "grid-10 recn": Counted(4.0, "grid-10", "recn"),
    "chain xcp-winf": Counted(20.0, "chain", "xcp-winf"),
}

#: Pattern of the engine function whose instructions are counted, callees included.
_EVENT_LOOP = "*World*process*"
#: The engine without its package and without NumPy, which take ten times as long to import under valgrind as the run.
#: It misses NumPy when the run is over, and its results are to be handed on.
_CHILD = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("_core", sys.argv[1])
core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)
options = {"duration": sys.argv[3], "warmup": sys.argv[4], "record_interval": sys.argv[4], "seed": 1}
if sys.argv[5:]:
    options["scheme"] = sys.argv[5]
try:
    with open(sys.argv[2]) as file:
        core.run(file.read(), sys.argv[2], options)
except BaseException as error:
    if "NumPy" not in str(error):
        raise
"""


class BudgetError(Exception):
    """Obstacle to counting instructions."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Counts instructions, and compares them with the table or writes it; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table anew")
    options = parser.parse_args(arguments)
    try:
        found = {name: instructions(name) / run.seconds for name, run in RUNS.items()}
    except BudgetError as error:
        print(f"budget: {error}", file=sys.stderr)
        return 2
    if options.write:
        write(found)
        return 0
    table = tomllib.loads(TABLE.read_text())
    for name, count in found.items():
        budget = f"the table has {allowed(table, name)}"
        print(f"{name:<16}{count / 1e6:10.2f} million instructions per simulated second; {budget}")
    wrong = differences(table, found)
    for sentence in wrong:
        print(f"budget: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


def missing() -> str | None:
    """Message about a missing tool; none if all are installed."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed, so that no instructions can be counted"
    return None


def instructions(name: str) -> int:
    """Instructions of the event loop in a run of `RUNS`.

    Raises BudgetError if they cannot be counted.
    """
    if sentence := missing():
        raise BudgetError(sentence)
    with tempfile.TemporaryDirectory() as folder:
        profile = f"--callgrind-out-file={folder}/profile"
        count = ["valgrind", "--tool=callgrind", f"--toggle-collect={_EVENT_LOOP}", profile]
        python = [os.path.realpath(sys.executable), "-I", "-S", "-c", _CHILD]
        counted = RUNS[name]
        warmup = min(1.0, counted.seconds / 2)
        run = [str(_core.__file__), str(counted.file), f"{counted.seconds} s", f"{warmup} s"]
        scheme = [] if counted.scheme is None else [counted.scheme]
        done = subprocess.run([*count, *python, *run, *scheme], capture_output=True, text=True, check=False)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or collected is None or int(collected[1]) == 0:
        raise BudgetError(f"{name}: callgrind counted nothing; it says:\n{done.stderr}")
    return int(collected[1])


def differences(table: Mapping[str, object], found: Mapping[str, float]) -> list[str]:
    """Messages about scenarios whose cost differs from the table."""
    sentences = []
    for name, count in found.items():
        share = count / 1e6 / allowed(table, name) - 1.0
        if abs(share) > TOLERANCE:
            what = f"costs {abs(share):.1%} {'more' if share > 0 else 'less'} than the table says"
            sentences.append(
                f"{name} {what}; if that is meant, run benches/budget.py --write, and say why in the commit"
            )
    if sentences and table["compiler"] != compiler():
        sentences.append(f"the table was made with {table['compiler']}, this is {compiler()}")
    return sentences


def allowed(table: Mapping[str, object], name: str) -> float:
    """Budget of a scenario in the table, in million instructions per simulated second."""
    counts = table["million_instructions_per_simulated_second"]
    assert isinstance(counts, dict)
    return float(counts[name])


def write(found: Mapping[str, float]) -> None:
    """Overwrites the table."""
    lines = [
        "# Written by `benches/budget.py --write`, which says what this is.",
        f'compiler = "{compiler()}"',
        "",
        "[million_instructions_per_simulated_second]",
        *(f"{json.dumps(name)} = {count / 1e6:.2f}" for name, count in found.items()),
    ]
    TABLE.write_text("\n".join(lines) + "\n")


def compiler() -> str:
    """Name and version of the compiler."""
    done = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False)
    return " ".join(done.stdout.split()[:2])


if __name__ == "__main__":
    sys.exit(main())
