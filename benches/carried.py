"""Real-time capacity of one core: CPU per packet, and lag, by nodes and packets.

    python benches/carried.py                      pairs of nodes that do not hear each other; 10 s each
    python benches/carried.py --cases 10:15000     10 nodes, 15,000 packets per second

Half of the nodes send datagrams of 100 bytes to the other half, over 802.11g at 54 Mb/s. Needs Linux, /dev/net/tun,
iperf3, and root or user namespaces; without the right to real-time priority lag is longer.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from typing import Any

import multihop

CASES = "2:3000,4:6000,10:15000,20:25000,64:15000"
PAYLOAD_BYTES = 100


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=CASES, help="NODES:PACKETS_PER_S,...")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--times", type=int, default=1)
    options = parser.parse_args()
    print("| nodes | packets/s | CPU us per packet | share of a core | lag p50 ms | lag p99 ms | real-time priority |")
    print("|---|---|---|---|---|---|---|")
    for case in options.cases.split(","):
        nodes, rate = (int(number) for number in case.split(":"))
        runs = [carried(nodes, rate, options.seconds) for _ in range(options.times)]
        read, cpu_us, share, p50, p99 = (statistics.median(column) for column in list(zip(*runs, strict=True))[:5])
        prompt = "yes" if runs[0][5] else "no"
        print(f"| {nodes} | {read:,.0f} | {cpu_us:.1f} | {share:.0%} | {p50:.3f} | {p99:.3f} | {prompt} |", flush=True)
    return 0


def carried(nodes: int, rate: int, seconds: int) -> tuple[float, float, float, float, float, bool]:
    """Measures packets per second, CPU per packet in us, share of a core, lag quantiles in ms, and priority."""
    pairs = nodes // 2
    bps = 8 * PAYLOAD_BYTES * rate / pairs
    with multihop.emulate(network(pairs, seconds + 30), max_lag="1 s") as emulation:
        for pair in range(pairs):
            emulation.node(f"b{pair}").start(["iperf3", "-s", "-1"])
        emulation.node("a0").run(["sleep", "1"])
        before = emulation.status
        words = ["-u", "-b", f"{bps:.0f}", "-l", str(PAYLOAD_BYTES), "-t", str(seconds + 5)]
        for pair in range(pairs):
            emulation.node(f"a{pair}").start(["iperf3", "-c", f"b{pair}", *words])
        time.sleep(seconds)
        after = emulation.status
    found = emulation.outcome
    read, spent = after["read"] - before["read"], after["real_s"] - before["real_s"]
    each = found.cpu_s / found.live["read"]
    p50, p99 = (found.live[key] * 1e3 for key in ("lateness_p50_s", "lateness_p99_s"))
    return read / spent, each * 1e6, each * read / spent, p50, p99, found.prompt


def network(pairs: int, seconds: int) -> dict[str, Any]:
    """Scenario of pairs a kilometre from each other, the nodes of a pair 10 m apart."""
    nodes = [
        {"name": f"{side}{pair}", "position": [f"{1000 * pair} m", f"{10 * (side == 'b')} m"]}
        for pair in range(pairs)
        for side in "ab"
    ]
    return {
        "name": "carried",
        "duration": f"{seconds} s",
        "phy": {"standard": "802.11g", "data_rate": "54 Mb/s", "control_rate": "6 Mb/s"},
        "mac": {"rts_threshold": "off", "queue": 100},
        "topology": {"nodes": nodes},
    }


if __name__ == "__main__":
    sys.exit(main())
