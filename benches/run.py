"""Speed: events per second, user CPU per simulated second, and memory, each case in a process of its own.

`--peers` runs ns-2 on the chains as well, where `ns` is installed. Each number is the best of three.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SECONDS = 600
REPEATS = 3

CHAIN = """
duration = "{seconds} s"
[phy]
data_rate = "{rate} Mb/s"
control_rate = "1 Mb/s"
[mac]
rules = "{rules}"
rts_threshold = "0 B"
[topology]
generator = "chain"
hops = {hops}
spacing = "200 m"
[[flows]]
from = "n0"
to = "n{hops}"
scheme = "tcp-newreno"
app = {{ kind = "saturated" }}
start = "1 s"
[schemes.tcp-newreno]
segment_size = "1460 B"
"""

GRID = """
duration = "{seconds} s"
[topology]
generator = "grid"
rows = {side}
columns = {side}
spacing = "200 m"
[traffic]
pattern = "random-pairs"
flows = 10
scheme = "tcp-newreno"
app = {{ kind = "saturated" }}
"""

Measured = dict[str, float]


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", action="store_true", help="run ns-2 as well, where it is installed")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps(_work(json.loads(options.case))))
        return
    rows = {name: _best(lambda text=text: _multihop(text)) for name, text in _cases().items()}
    if options.peers:
        rows |= _peers()
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{'case':<38} {'ms CPU per simulated s':>23} {'M events/s':>11} {'memory MB':>10}")
    for name, row in rows.items():
        events = f"{row['events_per_s'] / 1e6:.2f}" if "events_per_s" in row else ""
        print(f"{name:<38} {1e3 * row['cpu_per_simulated_s']:>23.4f} {events:>11} {row['memory_mb']:>10.1f}")


def _cases() -> dict[str, str]:
    chain = {"seconds": SECONDS, "hops": 7}
    return {
        "7-hop chain, 2 Mb/s, ns2 rules": CHAIN.format(**chain, rate=2, rules="ns2"),
        "7-hop chain, 11 Mb/s, ns2 rules": CHAIN.format(**chain, rate=11, rules="ns2"),
        "7-hop chain, 2 Mb/s, ieee rules": CHAIN.format(**chain, rate=2, rules="ieee"),
        "25 nodes, 10 flows": GRID.format(seconds=SECONDS // 6, side=5),
        "1024 nodes, 10 flows": GRID.format(seconds=10, side=32),
    }


def _peers() -> dict[str, Measured]:
    ns = shutil.which("ns")
    if ns is None:
        print("ns-2 is not installed (Debian: apt install ns2); it is left out", file=sys.stderr)
        return {}
    return {f"ns-2: 7-hop chain, {rate} Mb/s": _best(lambda rate=rate: _ns2(ns, rate)) for rate in (2, 11)}


def _best(measure: Callable[[], Measured]) -> Measured:
    return min((measure() for _ in range(REPEATS)), key=lambda row: row["cpu_per_simulated_s"])


def _multihop(text: str) -> Measured:
    command = [sys.executable, __file__, "--case", json.dumps(text)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    row: Measured = json.loads(done.stdout)
    return row


def _work(text: str) -> Measured:
    """One run in this process: CPU of the run alone, and memory on top of what the imports take."""
    from multihop import _core

    seconds = _core.check(text, "<bench>")["duration"]
    before = resource.getrusage(resource.RUSAGE_SELF)
    output: dict[str, Any] = dict(_core.run(text, "<bench>"))
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime - before.ru_utime
    return {
        "cpu_per_simulated_s": cpu / seconds,
        "events_per_s": output["summary"]["events"] / cpu,
        "memory_mb": (after.ru_maxrss - before.ru_maxrss) / 1024,
    }


def _ns2(ns: str, rate: int) -> Measured:
    """A whole process, start-up included, as ns-2 has it no other way; it is small beside the run."""
    command = [ns, str(HERE / "chain.tcl"), "7", f"{rate}Mb", str(SECONDS), "1"]
    code = (
        "import resource, subprocess, sys, json\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([used.ru_utime, used.ru_maxrss]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    cpu, memory_kb = json.loads(done.stdout)
    return {"cpu_per_simulated_s": cpu / SECONDS, "memory_mb": memory_kb / 1024}


if __name__ == "__main__":
    main()
