"""Simulators, each of which measures a case once."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from cases import BUILT, Case, Window

HERE = Path(__file__).parent

#: Timeout of a run, in seconds.
PATIENCE = 900.0


class MeasurementError(Exception):
    """Failure of a measurement."""


@dataclass(frozen=True)
class Sample:
    """Measurement of one run."""

    #: User CPU time without set-up.
    cpu_s: float
    #: User CPU time of reading the scenario, building the network and, with ns-2, of route convergence.
    setup_s: float
    #: Simulated time with traffic.
    simulated_s: float
    goodput_kbps: float
    peak_kb: int
    #: Resident set size of an idle process; none for peers.
    empty_kb: int | None = None
    #: Number of events; none for ns-2, which does not count them.
    events: int | None = None
    nodes: int | None = None
    flows: int | None = None
    fingerprint: str | None = None

    @property
    def ms_per_second(self) -> float:
        """Milliseconds of user CPU per simulated second."""
        return 1e3 * self.cpu_s / self.simulated_s

    @property
    def ns_per_bit(self) -> float:
        """Nanoseconds of user CPU per bit delivered, because simulators deliver different amounts."""
        return 1e6 * self.ms_per_second / (self.goodput_kbps * 1e3) if self.goodput_kbps > 0 else float("nan")


class Simulator(ABC):
    """Simulator that runs cases."""

    #: Name in tables.
    name: str
    #: Installation instructions.
    remedy = ""

    @abstractmethod
    def available(self) -> bool:
        """Whether the simulator is installed."""

    @abstractmethod
    def version(self) -> str:
        """Version of the simulator."""

    def prepare(self) -> None:
        """Prepares the simulator before the first run."""
        return

    def seconds(self, case: Case) -> float:
        """Simulated seconds of a case; 0 if the simulator omits the case."""
        return case.duration

    @abstractmethod
    def measure(self, case: Case, described: Path, window: Window, seed: int) -> Sample:
        """Runs a case once. `described` is the case as peers read it.

        Raises:
            MeasurementError: if the run fails.
        """


class Multihop(Simulator):
    """Simulator multihop."""

    name = "multihop"

    def available(self) -> bool:
        """Always true."""
        return True

    def version(self) -> str:
        """Version of the package."""
        return run([sys.executable, "-c", "import multihop; print(multihop.version())"])[0].strip()

    def measure(self, case: Case, described: Path, window: Window, seed: int) -> Sample:  # noqa: ARG002 - for peers
        """Runs the case in a separate process, which measures itself."""
        lasting = [str(window.seconds), str(window.warmup)]
        out, _ = run([sys.executable, str(HERE / "child.py"), str(case.file), *lasting, str(seed)])
        found = json.loads(out)
        found["cpu_s"] = max(found["cpu_s"] - found["setup_s"], 0.0)
        return Sample(**found)


class Peer(Simulator):
    """Program that takes CASE SEED BEGIN WARM END and prints the delivered bits."""

    @abstractmethod
    def command(self) -> list[str]:
        """Command that starts the program."""

    @abstractmethod
    def begins(self, case: Case) -> float:
        """Start of the traffic, in simulated seconds."""

    def measure(self, case: Case, described: Path, window: Window, seed: int) -> Sample:
        """Runs the case twice: to the end, and until traffic begins, which is the set-up."""
        begin = self.begins(case)
        warm, end = begin + window.warmup, begin + window.seconds
        command = [*self.command(), str(described), str(seed), str(begin)]
        out, cpu_s = run([*command, str(warm), str(end)])
        _, setup_s = run([*command, str(begin), str(begin)])
        found = dict(line.split() for line in out.splitlines() if len(line.split()) == 2)
        if "delivered" not in found:
            raise MeasurementError(f"{self.name}: no result in its output:\n{out[-500:]}")
        return Sample(
            cpu_s=max(cpu_s - setup_s, 0.0),
            setup_s=setup_s,
            simulated_s=window.seconds,
            goodput_kbps=float(found["delivered"]) * 8e-3 / (end - warm),
            peak_kb=int(found["peak_kb"]),
            events=int(found["events"]) if "events" in found else None,
        )


class Ns2(Peer):
    """ns-2.35 with DSDV, frozen once it has converged."""

    name = "ns-2"
    remedy = "apt-get install ns2"

    def available(self) -> bool:
        """Whether `ns` is on the path."""
        return shutil.which("ns") is not None

    def version(self) -> str:
        """Version that ns-2 prints."""
        BUILT.mkdir(parents=True, exist_ok=True)
        asks = BUILT / "version.tcl"
        asks.write_text("puts [ns-version]\nexit 0\n")
        return run(["ns", str(asks)])[0].strip()

    def seconds(self, case: Case) -> float:
        """Simulated seconds of the case: fewer than with multihop, because the simulator is slower."""
        return case.ns2_seconds

    def command(self) -> list[str]:
        """Interpreter and script."""
        return ["ns", str(HERE / "peers" / "ns2" / "run.tcl")]

    def begins(self, case: Case) -> float:
        """Time at which routes have converged."""
        return case.converged


class Ns3(Peer):
    """ns-3 with static routes, as its package compiles it."""

    name = "ns-3"
    remedy = "apt-get install ns3 libns3-dev g++ pkg-config"

    modules = ("applications", "internet", "mobility", "network", "propagation", "traffic-control", "wifi")

    def available(self) -> bool:
        """Whether the libraries of ns-3 and a compiler are installed."""
        if not (shutil.which("pkg-config") and shutil.which("g++")):
            return False
        return subprocess.run(["pkg-config", "--exists", "ns3-wifi"], check=False, capture_output=True).returncode == 0

    def version(self) -> str:
        """Version of the Wi-Fi module."""
        return run(["pkg-config", "--modversion", "ns3-wifi"])[0].strip()

    def prepare(self) -> None:
        """Compiles the program, if it has changed."""
        source, binary = HERE / "peers" / "ns3" / "run.cc", BUILT / "ns3"
        if binary.exists() and binary.stat().st_mtime > source.stat().st_mtime:
            return
        BUILT.mkdir(parents=True, exist_ok=True)
        packages = [f"ns3-{module}" for module in self.modules]
        # Debian's files name a folder `/usr;`, and libraries by paths that only other development packages install.
        flags = [
            flag for flag in run(["pkg-config", "--cflags", *packages])[0].split() if not flag.startswith("-I/usr\\;")
        ]
        libraries = dict.fromkeys(run(["pkg-config", "--libs", *packages])[0].split())
        linked = [flag for flag in libraries if flag.startswith("-l")]
        run(["g++", "-O2", "-std=c++17", *flags, str(source), "-o", str(binary), "-Wl,--start-group", *linked])

    def seconds(self, case: Case) -> float:
        """Simulated seconds of the case: fewer than with multihop, because the simulator is slower."""
        return case.ns3_seconds

    def command(self) -> list[str]:
        """Compiled program."""
        return [str(BUILT / "ns3")]

    def begins(self, case: Case) -> float:  # noqa: ARG002 - the same for all cases
        """One second, in which nothing happens."""
        return 1.0


def run(command: list[str]) -> tuple[str, float]:
    """Runs a command; returns its output, and its user CPU time in seconds.

    Raises:
        MeasurementError: if it fails or takes too long.
    """
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise MeasurementError(f"{Path(command[0]).name}: given up after {PATIENCE:.0f} s") from None
    if process.returncode:
        raise MeasurementError(f"{Path(command[0]).name}: exit code {process.returncode}: {err.strip()[-500:]}")
    return out, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
