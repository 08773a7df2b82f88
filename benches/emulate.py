"""Linux kernel transports over the emulated network compared with simulated ones: goodput, round-trip time, delay.

    python benches/emulate.py --store kernel.jsonl                           5 runs of 20 s of 72 networks: 150 minutes
    python benches/emulate.py --store kernel.jsonl --jobs 3                  three at a time
    python benches/emulate.py --store kernel.jsonl --transports bbr --times 1
    python benches/emulate.py --store kernel.jsonl --times 0                 only the table of what is there

What the kernel did is kept, a line of JSON for each run as soon as it has ended; the same command goes on. Then comes
the table as Markdown. Needs Linux, /dev/net/tun, iperf3, and root or user namespaces. Both have timestamps, so that
both have a round-trip sample of each acknowledgement. The simulated TCP has the kernel's parameters. The first 3
seconds do not count.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

import multihop

#: Seconds of each run that are not measured: slow start, and for the kernel the start of the server.
WARMUP_S = 3
SERVER_S = 0.5
#: PHY, medium, and distance of neighbours in metres, of a chain.
PHYS: dict[str, tuple[dict[str, str], str, int]] = {
    "11 Mb/s": ({"standard": "802.11b", "data_rate": "11 Mb/s", "control_rate": "1 Mb/s"}, "ranges", 200),
    "54 Mb/s": ({"standard": "802.11g", "data_rate": "54 Mb/s", "control_rate": "6 Mb/s"}, "ranges", 200),
    "802.11n": ({"standard": "802.11n", "data_rate": "MCS 7"}, "sinr", 30),
}
QUEUES: dict[str, dict[str, Any]] = {
    "drop-tail": {"queue": 100},
    "fq-codel, ECN": {"queue": 10240, "discipline": "fq-codel"},
}
#: Schemes by congestion control of the kernel, each with `flavour = "linux"`.
SCHEMES = {"cubic": "tcp-cubic", "reno": "tcp-sack", "bbr": "tcp-bbr"}
SYSCTLS = {"net.ipv4.tcp_slow_start_after_idle": "0"}


@dataclass(frozen=True)
class Cell:
    """Configuration of one row of the table."""

    phy: str
    queue: str
    transport: str
    hops: int

    @property
    def ecn(self) -> bool:
        """Whether queues mark packets."""
        return "ECN" in self.queue

    def scenario(self, seconds: float) -> dict[str, Any]:
        """Scenario of a chain with one connection from end to end, with this many measured seconds."""
        (phy, medium, spacing), scheme = PHYS[self.phy], SCHEMES[self.transport]
        return {
            "name": "beside-the-kernel",
            "duration": f"{WARMUP_S + seconds} s",
            "warmup": f"{WARMUP_S} s",
            "phy": phy,
            "medium": {"model": medium},
            "mac": {"rts_threshold": "off", **QUEUES[self.queue]},
            "topology": {"generator": "chain", "hops": self.hops, "spacing": f"{spacing} m"},
            "schemes": {scheme: {"flavour": "linux", "ecn": self.ecn}},
            "flows": [{"from": "n0", "to": f"n{self.hops}", "scheme": scheme}],
        }


@dataclass(frozen=True)
class Found:
    """Results of a run in Mb/s and milliseconds."""

    rate: float
    #: Round-trip time, mean over time, sampled ten times a second: the kernel's smoothed value, or the mean of a
    #: simulation's samples in each interval. A mean of all samples would weight busy periods more.
    rtt: float
    #: One-way delay of data, as the engine measures it for both.
    delay: float
    #: 99th percentile of the lag.
    lag: float = 0.0


def main() -> int:
    """Measures missing rows, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--phys", default=";".join(PHYS))
    parser.add_argument("--queues", default=";".join(QUEUES))
    parser.add_argument("--transports", default=";".join(SCHEMES))
    parser.add_argument("--hops", default="1;2;3;4")
    options = parser.parse_args()
    lists = [getattr(options, name).split(";") for name in ("phys", "queues", "transports", "hops")]
    cells = list(product(*lists))
    measure(options.store, cells, options.seconds, options.times, options.jobs)
    table(cells, stored(options.store, options.seconds), options.seconds)
    return 0


def product(phys: list[str], queues: list[str], transports: list[str], hops: list[str]) -> Iterator[Cell]:
    """All rows of the table."""
    for phy in phys:
        for queue in queues:
            for transport in transports:
                for count in hops:
                    yield Cell(phy, queue, transport, int(count))


def stored(store: Path, seconds: int) -> dict[Cell, dict[int, Found]]:
    """Stored kernel runs of this length, by row and seed."""
    found: dict[Cell, dict[int, Found]] = {}
    for line in store.read_text(encoding="utf-8").splitlines() if store.exists() else []:
        row = json.loads(line)
        if row["seconds"] == seconds:
            found.setdefault(Cell(**row["cell"]), {})[row["seed"]] = Found(**row["found"])
    return found


def measure(store: Path, cells: list[Cell], seconds: int, times: int, jobs: int) -> None:
    """Runs the kernel for rows missing in the store: each row once, then each a second time, and so on."""
    there = stored(store, seconds)
    due = [(cell, seed) for seed in range(times) for cell in cells if seed not in there.get(cell, {})]
    with ThreadPoolExecutor(jobs) as pool, store.open("a", encoding="utf-8") as file:
        runs = {pool.submit(emulated, cell, seconds, seed): (cell, seed) for cell, seed in due}
        for run in as_completed(runs):
            cell, seed = runs[run]
            row = {"cell": asdict(cell), "seconds": seconds, "seed": seed, "found": asdict(run.result())}
            file.write(json.dumps(row) + "\n")
            file.flush()


def emulated(cell: Cell, seconds: int, seed: int) -> Found:
    """Runs iperf3 over the emulated network, and returns its results."""
    # Longer than needed; the emulation ends with the client.
    scenario = {**cell.scenario(seconds + 20), "warmup": f"{SERVER_S + WARMUP_S} s"}
    sysctls = {**SYSCTLS, "net.ipv4.tcp_ecn": str(int(cell.ecn))}
    client = ["iperf3", "-c", f"n{cell.hops}", "-J", "-C", cell.transport, "-i", "0.1"]
    client += ["-O", str(WARMUP_S), "-t", str(seconds)]
    with multihop.emulate(scenario, seed=seed, scheme="udp", sysctls=sysctls, max_lag="1 s") as emulation:
        emulation.node(f"n{cell.hops}").start(["iperf3", "-s", "-1"])
        emulation.node("n0").run(["sleep", str(SERVER_S)])
        said = emulation.node("n0").run(client).stdout
    report, flows = json.loads(said), emulation.outcome.result.flows.to_dict("records")
    if "error" in report:
        raise SystemExit(f"{cell}: {report['error']}")
    streams = [interval["streams"][0] for interval in report["intervals"] if not interval["sum"]["omitted"]]
    rtt_ms = statistics.mean(stream["rtt"] for stream in streams) / 1e3
    delay_ms = next(float(flow["delay_mean_s"]) for flow in flows if flow["name"] == f"n0->n{cell.hops}") * 1e3
    rate = report["end"]["sum_received"]["bits_per_second"] / 1e6
    return Found(rate, rtt_ms, delay_ms, emulation.outcome.live["lateness_p99_s"] * 1e3)


def simulated(cell: Cell, seconds: int, seed: int) -> Found:
    """Runs the simulated transport, and returns its results."""
    result = multihop.run(cell.scenario(seconds), seed=seed, record_interval="100 ms")
    flow, series = result.flows.iloc[0], result.series
    rtt_s = series.loc[series["time_s"] > WARMUP_S, "srtt_s"].mean()
    return Found(flow["goodput_bps"] / 1e6, rtt_s * 1e3, flow["delay_mean_s"] * 1e3)


def table(cells: list[Cell], kernel: dict[Cell, dict[int, Found]], seconds: int) -> None:
    """Prints means over kernel runs and over simulated runs with the same seeds, and their differences.

    A difference is followed by twice its standard error, if there is more than one run.
    """
    heads = ["PHY", "queue", "transport", "hops", "runs", "kernel Mb/s", "`run` Mb/s", "difference"]
    heads += ["kernel RTT ms", "`run` RTT ms", "difference", "kernel delay ms", "`run` delay ms", "lag p99 ms"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for cell in cells:
        if cell not in kernel:
            continue
        theirs = [kernel[cell][seed] for seed in sorted(kernel[cell])]
        ours = [simulated(cell, seconds, seed) for seed in sorted(kernel[cell])]
        rate, rtt, delay, lag = (mean(theirs, at) for at in range(4))
        own_rate, own_rtt, own_delay = (mean(ours, at) for at in range(3))
        cells_of = [cell.phy, cell.queue, cell.transport, str(cell.hops), str(len(theirs))]
        cells_of += [f"{rate:.2f}", f"{own_rate:.2f}", difference(theirs, ours, 0)]
        cells_of += [f"{rtt:.1f}", f"{own_rtt:.1f}", difference(theirs, ours, 1), f"{delay:.1f}", f"{own_delay:.1f}"]
        print(f"| {' | '.join([*cells_of, f'{lag:.2f}'])} |", flush=True)


def mean(runs: list[Found], at: int) -> float:
    """Mean of one quantity over runs."""
    return statistics.mean(float(astuple(run)[at]) for run in runs)


def difference(theirs: list[Found], ours: list[Found], at: int) -> str:
    """Difference of the means in per cent of ours."""
    own = mean(ours, at)
    text = f"{mean(theirs, at) / own - 1:+.1%}"
    if len(theirs) < 2:
        return text
    variances = [statistics.variance(astuple(run)[at] for run in runs) / len(runs) for runs in (theirs, ours)]
    return f"{text} ± {2 * sum(variances) ** 0.5 / own:.1%}"


if __name__ == "__main__":
    sys.exit(main())
