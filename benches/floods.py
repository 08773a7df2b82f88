"""UDP floods, emulated and simulated: one sender, three senders, hidden terminals, an exposed pair, two hops.

    python benches/floods.py                          means of 3 runs of 20 s each, as Markdown
    python benches/floods.py --networks hidden --times 1

Programs send datagrams as large as those of the simulated source, faster than the air takes them; sockets of Python
count them, so that the kernel's and the engine's count can be held against each other. Needs Linux, /dev/net/tun, and
root or user namespaces. The first 4 seconds do not count.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from typing import Any

import multihop

WARMUP_S = 4
#: Payload of a UDP datagram of 1500 bytes.
PAYLOAD_BYTES = 1472
#: Node positions in metres and flows (sender, receiver) of each network.
NETWORKS: dict[str, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {
    "one sender": ([(0, 0), (200, 0)], [(0, 1)]),
    "three senders": ([(0, 0), (100, 0), (0, 100), (100, 100)], [(0, 3), (1, 3), (2, 3)]),
    "hidden": ([(0, 0), (200, 0), (400, 0)], [(0, 1), (2, 1)]),
    "exposed": ([(0, 0), (200, 0), (400, 0), (600, 0)], [(1, 0), (2, 3)]),
    "two hops": ([(0, 0), (200, 0), (400, 0)], [(0, 2)]),
}
FLOOD_BPS = 40e6
#: Sender script: a burst every millisecond.
SENDER_SCRIPT = f"""
import socket, sys, time
talk = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
talk.connect((sys.argv[1], 7000))
data, sent, began = bytes({PAYLOAD_BYTES}), 0, time.monotonic()
while True:
    due = (time.monotonic() - began) * {FLOOD_BPS / 8 / PAYLOAD_BYTES}
    while sent < due:
        sent += 1
        try:
            talk.send(data)
        except OSError:
            pass
    time.sleep(.001)
"""
#: Receiver script: discards datagrams.
RECEIVER_SCRIPT = """
import socket
take = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
take.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
take.bind(("", 7000))
while True:
    take.recv(2000)
"""


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--networks", default=";".join(NETWORKS))
    options = parser.parse_args()
    heads = ["network", "emulated Mb/s", "`run` Mb/s", "difference", "of flows", "lag p99 ms"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for name in options.networks.split(";"):
        scenario = network(name, options.seconds)
        found = [emulated(scenario, seed) for seed in range(options.times)]
        theirs = columns([rates for rates, _ in found])
        ours = columns([simulated(scenario, seed) for seed in range(options.times)])
        flows = ", ".join(f"{a:.2f} of {b:.2f}" for a, b in zip(theirs, ours, strict=True))
        cells = [name, f"{sum(theirs):.2f}", f"{sum(ours):.2f}", f"{sum(theirs) / sum(ours) - 1:+.1%}", flows]
        print(f"| {' | '.join(cells)} | {max(lag for _, lag in found):.2f} |", flush=True)
    return 0


def columns(runs: list[list[float]]) -> list[float]:
    """Mean of each flow over runs."""
    return [statistics.mean(column) for column in zip(*runs, strict=True)]


def network(name: str, seconds: int) -> dict[str, Any]:
    """Scenario of the network with this name."""
    places, flows = NETWORKS[name]
    return {
        "name": name.replace(" ", "-"),
        "duration": f"{WARMUP_S + seconds} s",
        "warmup": f"{WARMUP_S} s",
        "phy": {"standard": "802.11g", "data_rate": "54 Mb/s", "control_rate": "6 Mb/s"},
        # Long enough for the time that a sender may wait for a processor.
        "mac": {"rts_threshold": "off", "queue": 1000},
        "medium": {
            "model": "ranges",
            "receive_range": "250 m",
            "carrier_sense_range": "250 m",
            "capture": "off",
        },
        "topology": {
            "nodes": [{"name": f"n{number}", "position": [f"{x} m", f"{y} m"]} for number, (x, y) in enumerate(places)]
        },
        "flows": [{"from": f"n{source}", "to": f"n{to}", "scheme": "udp"} for source, to in flows],
    }


def emulated(scenario: dict[str, Any], seed: int) -> tuple[list[float], float]:
    """Goodput of each emulated flow in Mb/s, and 99th percentile of the lag in ms."""
    with multihop.emulate(scenario, seed=seed, warmup=f"{WARMUP_S} s", max_lag="1 s") as emulation:
        for to in sorted({flow["to"] for flow in scenario["flows"]}):
            emulation.node(to).start([sys.executable, "-c", RECEIVER_SCRIPT])
        for flow in scenario["flows"]:
            emulation.node(flow["from"]).start([sys.executable, "-c", SENDER_SCRIPT, flow["to"]])
        while not emulation.is_over:
            time.sleep(0.1)
    rates = emulation.outcome.result.flows.set_index("name")["goodput_bps"] / 1e6
    found = [float(rates.get(f"{flow['from']}->{flow['to']}", 0.0)) for flow in scenario["flows"]]
    return found, emulation.outcome.live["lateness_p99_s"] * 1e3


def simulated(scenario: dict[str, Any], seed: int) -> list[float]:
    """Goodput of each simulated flow in Mb/s."""
    return [rate / 1e6 for rate in multihop.run(scenario, seed=seed).flows["goodput_bps"]]


if __name__ == "__main__":
    sys.exit(main())
