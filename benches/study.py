"""Cost of a study, and recovery after a kill.

    python benches/study.py                  1000 runs of 300 s: unbroken, killed three times, and on a cluster
    python benches/study.py --quick          20 runs
    python benches/study.py --json study.json

Wall time, the share of the cores that it kept busy, and bytes on disk. The study is run three times, each into an empty
folder: to its end; with `kill -9` at three random instants, each time started again by the same command; and on a Dask
cluster, a scheduler and two workers that are processes of their own, one of which is killed on the way. All three must
keep the same of each run, byte by byte.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from multihop.simulation.shards import Shards

STUDY = Path(__file__).parent / "scenarios" / "loads-study.toml"
KILLS = 3
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class Measured:
    """Measurement of one way to run the study. Times in seconds; CPU time of all processes, user and system."""

    way: str
    runs: int
    wall_s: float
    cpu_s: float
    disk_bytes: int
    kills: list[float]
    digest: str

    @property
    def busy(self) -> float:
        """CPU time as a share of the time of all cores."""
        return self.cpu_s / (self.wall_s * CORES)


def main() -> int:
    """Runs the study in each way and compares; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="the study's quick form")
    parser.add_argument("--seed", type=int, default=1, help="of the instants to kill at")
    parser.add_argument("--json", type=Path, help="write what was measured to this file")
    options = parser.parse_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory(prefix="multihop-study-") as place:
        folder = Path(place)
        unbroken = measure("unbroken", folder / "a", quick=options.quick)
        show(unbroken)
        instants = [random.uniform(0.05, 0.6) * unbroken.wall_s for _ in range(KILLS)]
        killed = measure("killed", folder / "b", quick=options.quick, kill_after=instants)
        show(killed)
        on_cluster = cluster(folder / "c", quick=options.quick, kill_after=0.3 * unbroken.wall_s)
        show(on_cluster)
    same = unbroken.digest == killed.digest == on_cluster.digest
    print("the same runs, byte by byte" if same else "RUNS DIFFER")
    if options.json:
        found = [{**asdict(one), "busy": one.busy, "cores": CORES} for one in (unbroken, killed, on_cluster)]
        options.json.write_text(json.dumps(found, indent=2) + "\n")
    return 0 if same else 1


def show(measured: Measured) -> None:
    """Prints one line."""
    kills = f", killed at {', '.join(f'{at:.1f}' for at in measured.kills)} s" if measured.kills else ""
    print(
        f"{measured.way}: {measured.runs} runs, {measured.wall_s:.1f} s, {measured.cpu_s:.1f} s of CPU, "
        f"{100 * measured.busy:.1f} % of {CORES} cores, {measured.disk_bytes / 1e6:.2f} MB{kills}",
        flush=True,
    )


def measure(way: str, folder: Path, *, quick: bool, kill_after: list[float] | None = None) -> Measured:
    """Runs the command line, again after each kill, until it ends by itself."""
    before, began = cpu(), time.monotonic()
    for seconds in kill_after or []:
        child = start(folder, quick=quick)
        try:
            child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.wait()
    finish(start(folder, quick=quick))
    return taken(way, folder, time.monotonic() - began, cpu() - before, kill_after or [])


def cluster(folder: Path, *, quick: bool, kill_after: float) -> Measured:
    """Runs on a scheduler and two workers, one of which is killed."""
    before, began = cpu(), time.monotonic()
    with ExitStack() as stack:
        address_file = folder.with_suffix(".scheduler.json")
        stack.enter_context(daemon("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", address_file))
        while not address_file.exists() or not address_file.read_text():
            time.sleep(0.05)
        address = json.loads(address_file.read_text())["address"]
        options = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", str(folder.parent))
        workers = [stack.enter_context(daemon("worker", address, *options)) for _ in range(2)]
        child = start(folder, "--dask", address, quick=quick)
        try:
            child.wait(timeout=kill_after)
        except subprocess.TimeoutExpired:
            workers[0].kill()
        finish(child)
        wall = time.monotonic() - began
    return taken("Dask, a worker killed", folder, wall, cpu() - before, [kill_after])


def start(folder: Path, *more: str, quick: bool) -> subprocess.Popen[str]:
    """Starts `multihop study run` into a folder."""
    command = [sys.executable, "-m", "multihop", "study", "run", str(STUDY), "--out", str(folder), "--quiet", *more]
    return subprocess.Popen([*command, *(["--quick"] if quick else [])], stdout=subprocess.DEVNULL, text=True)


def finish(child: subprocess.Popen[str]) -> None:
    """Waits for the process, which must succeed."""
    if child.wait() != 0:
        raise SystemExit(f"the study ended with {child.returncode}")


@contextmanager
def daemon(kind: str, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a process of the cluster until the context ends."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def cpu() -> float:
    """CPU time of ended child processes, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def taken(way: str, folder: Path, wall_s: float, cpu_s: float, kills: list[float]) -> Measured:
    """Measurement of a finished study folder."""
    shards = Shards(folder / "runs")
    shards.scan()
    digest = hashlib.sha256()
    for key, place in sorted(shards.places.items()):
        digest.update(key.encode() + place.read())
    disk_bytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return Measured(way, len(shards.places), wall_s, cpu_s, disk_bytes, kills, digest.hexdigest())


if __name__ == "__main__":
    sys.exit(main())
