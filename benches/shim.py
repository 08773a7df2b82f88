"""Kernel TCP with and without EWCCP below it, compared with simulated transports, on EWCCP's four topologies.

    python benches/shim.py                 a table as Markdown
    python benches/shim.py --seconds 60 --times 5

The paper proposes the layer (Tan, Jiang, Zhang and Shen, section VII) and does not measure it. Needs Linux,
/dev/net/tun, iperf3, and root or user namespaces. The first 5 seconds do not count.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import tomllib
from importlib.resources import files
from typing import Any

import multihop
from multihop import _core

#: Seconds of each run that are not measured.
WARMUP_S = 5
TOPOLOGIES = ("chain", "exposed", "bar", "parking-lot")
SYSCTLS = {"net.ipv4.tcp_timestamps": "0", "net.ipv4.tcp_slow_start_after_idle": "0"}
#: Scheme of each row, and whether it runs below the kernel's TCP.
KERNEL = {"kernel cubic": ("udp", False), "kernel cubic over EWCCP": ("tested", True)}
SIMULATED = {"simulated SACK": "tcp-sack", "simulated EWCCP": "ewccp"}


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--topologies", default=",".join(TOPOLOGIES))
    options = parser.parse_args()
    print("| topology | transport | Mb/s of each flow | Jain index | lag p99 ms |")
    print("|---|---|---|---|---|")
    for topology in options.topologies.split(","):
        scenario = scenario_of(topology, options.seconds)
        for name, (scheme, shim) in KERNEL.items():
            found = [emulated(scenario, scheme, seed, shim=shim) for seed in range(options.times)]
            show(topology, name, [rates for rates, _ in found], max(lag for _, lag in found))
        for name, base in SIMULATED.items():
            show(topology, name, [simulated(scenario, base, seed) for seed in range(options.times)], None)
    return 0


def scenario_of(topology: str, seconds: int) -> dict[str, Any]:
    """Scenario of the paper's topology, with this many measured seconds."""
    text = (files("multihop.papers") / "ewccp" / f"{topology}.toml").read_text(encoding="utf-8")
    return {**tomllib.loads(text), "duration": f"{WARMUP_S + seconds} s", "warmup": f"{WARMUP_S} s"}


def emulated(scenario: dict[str, Any], scheme: str, seed: int, *, shim: bool) -> tuple[list[float], float]:
    """Goodput of each emulated flow in Mb/s, and 99th percentile of the lag in ms."""
    nodes = [node["name"] for node in scenario["topology"]["nodes"]]
    with multihop.emulate(scenario, seed=seed, scheme=scheme, shim=shim, sysctls=SYSCTLS, max_lag="1 s") as emulation:
        for number, flow in enumerate(scenario["flows"]):
            emulation.node(flow["to"]).start(["iperf3", "-s", "-p", str(5201 + number)])
        emulation.node(nodes[0]).run(["sleep", "0.5"])
        for number, flow in enumerate(scenario["flows"]):
            server = _core.node_address(nodes.index(flow["to"]))
            # Until the emulation is over: starved connections would not end by themselves.
            words = ["iperf3", "-c", server, "-p", str(5201 + number), "-C", "cubic", "-M", "1000", "-t", "3600"]
            emulation.node(flow["from"]).start(words)
        while not emulation.is_over:
            time.sleep(0.1)
    flows = emulation.outcome.result.flows.set_index("name")["goodput_bps"]
    # A pair that starves from the start has no row.
    rates = [float(flows.get(f"{flow['from']}->{flow['to']}", 0.0)) / 1e6 for flow in scenario["flows"]]
    return rates, emulation.outcome.live["lateness_p99_s"] * 1e3


def simulated(scenario: dict[str, Any], base: str, seed: int) -> list[float]:
    """Goodput of each simulated flow in Mb/s."""
    run = multihop.run(scenario, seed=seed, set={"schemes.tested.base": base})
    return [rate / 1e6 for rate in run.flows["goodput_bps"]]


def show(topology: str, transport: str, runs: list[list[float]], lag_ms: float | None) -> None:
    """Prints a row: means over runs."""
    means = [statistics.mean(run[flow] for run in runs) for flow in range(len(runs[0]))]
    jain = statistics.mean(sum(run) ** 2 / (len(run) * sum(x * x for x in run)) if any(run) else 0.0 for run in runs)
    rates = ", ".join(f"{rate:.2f}" for rate in means)
    lag = "" if lag_ms is None else f"{lag_ms:.2f}"
    print(f"| {topology} | {transport} | {rates} | {jain:.2f} | {lag} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
