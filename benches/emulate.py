"""Transports of the Linux kernel over the emulated air, beside the simulated ones: goodput and round-trip time.

    python benches/emulate.py                 a table as Markdown
    python benches/emulate.py --seconds 20 --times 5

Needs Linux, /dev/net/tun, iperf3, and root or user namespaces. The kernel's timestamps are off, so that its headers are
as long as those of the simulated TCP. The first 3 seconds do not count.
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomli_w

import multihop

#: What does not count of each run.
WARMUP_S = 3
PHYS = {
    "11 Mb/s": {"standard": "802.11b", "data_rate": "11 Mb/s", "control_rate": "1 Mb/s"},
    "54 Mb/s": {"standard": "802.11g", "data_rate": "54 Mb/s", "control_rate": "6 Mb/s"},
}
QUEUES = {"drop-tail": {"queue": 100}, "fq-codel, ECN": {"queue": 10240, "discipline": "fq-codel"}}
SYSCTLS = ["net.ipv4.tcp_timestamps=0", "net.ipv4.tcp_slow_start_after_idle=0"]


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--hops", default="1,2,3,4")
    parser.add_argument("--transports", default="cubic,reno")
    options = parser.parse_args()
    print(
        "| PHY | queue | transport | hops | kernel Mb/s | `run` Mb/s | difference "
        "| kernel RTT ms | `run` RTT ms | lag p99 ms |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for phy, queue, transport, hops in cases(options.hops.split(","), options.transports.split(",")):
        scenario = network(PHYS[phy], QUEUES[queue], transport, hops, options.seconds, ecn="ECN" in queue)
        kernel = [emulated(scenario, transport, hops, "ECN" in queue, seed) for seed in range(options.times)]
        runs = [simulated(scenario, seed) for seed in range(options.times)]
        (rate, rtt), (own_rate, own_rtt) = mean([(a, b) for a, b, _ in kernel]), mean(runs)
        cells = [phy, queue, transport, str(hops), f"{rate:.2f}", f"{own_rate:.2f}", f"{rate / own_rate - 1:+.1%}"]
        cells += [f"{rtt:.1f}", f"{own_rtt:.1f}", f"{max(lag for *_, lag in kernel):.2f}"]
        print(f"| {' | '.join(cells)} |", flush=True)
    return 0


def cases(hops: list[str], transports: list[str]) -> Iterator[tuple[str, str, str, int]]:
    """Every row: PHY, queue, transport, hops."""
    for phy in PHYS:
        for queue in QUEUES:
            for transport in transports:
                for count in hops:
                    yield phy, queue, transport, int(count)


def network(
    phy: dict[str, str], queue: dict[str, Any], transport: str, hops: int, seconds: int, *, ecn: bool
) -> dict[str, Any]:
    """A chain with one connection from end to end."""
    scheme = {"cubic": "tcp-cubic", "reno": "tcp-sack", "bbr": "tcp-bbr"}[transport]
    return {
        "name": "beside-the-kernel",
        "duration": f"{WARMUP_S + seconds} s",
        "warmup": f"{WARMUP_S} s",
        "phy": phy,
        "mac": {"rts_threshold": "off", **queue},
        "topology": {"generator": "chain", "hops": hops, "spacing": "200 m"},
        "schemes": {scheme: {"ecn": ecn}},
        "flows": [{"from": "n0", "to": f"n{hops}", "scheme": scheme}],
    }


def emulated(scenario: dict[str, Any], transport: str, hops: int, ecn: bool, seed: int) -> tuple[float, float, float]:
    """Mb/s and milliseconds as iperf3 reports them, and the p99 of the lag in milliseconds."""
    seconds = scenario["duration"].split()[0]
    with tempfile.TemporaryDirectory() as folder:
        file, answer = Path(folder, "scenario.toml"), Path(folder, "iperf3.json")
        # Time for the server to start, and for both ends to say goodbye.
        file.write_text(tomli_w.dumps({**scenario, "duration": f"{int(seconds) + 10} s"}), encoding="utf-8")
        client = f"sleep 0.5; iperf3 -c n{hops} -J -C {transport} -O {WARMUP_S} -t {int(seconds) - WARMUP_S}"
        words = [
            sys.executable,
            "-m",
            "multihop",
            "emulate",
            str(file),
            "--json",
            "--seed",
            str(seed),
            "--max-lag",
            "off",
        ]
        for setting in (*SYSCTLS, f"net.ipv4.tcp_ecn={int(ecn)}"):
            words += ["--sysctl", setting]
        words += ["--at", f"n{hops}:iperf3 -s -1", "--", "sh", "-c", f"{client} > {shlex.quote(str(answer))}"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{shlex.join(words)}: exit code {done.returncode}\n{done.stderr}")
        found, live = json.loads(answer.read_text(encoding="utf-8")), json.loads(done.stdout)["live"]
    rtt_ms = found["end"]["streams"][0]["sender"]["mean_rtt"] / 1e3
    return found["end"]["sum_received"]["bits_per_second"] / 1e6, rtt_ms, live["lateness_p99_s"] * 1e3


def simulated(scenario: dict[str, Any], seed: int) -> tuple[float, float]:
    """Mb/s and milliseconds of the simulated transport."""
    flow = multihop.run(scenario, seed=seed).flows.to_dict("records")[0]
    return flow["goodput_bps"] / 1e6, flow["rtt_mean_s"] * 1e3


def mean(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    """Of each of the two."""
    return statistics.mean(a for a, _ in pairs), statistics.mean(b for _, b in pairs)


if __name__ == "__main__":
    sys.exit(main())
