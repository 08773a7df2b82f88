"""Speed and memory of `multihop measure` on large captures, compared with tshark where it is installed.

    python benches/capture.py                       captures of 250 MB, 500 MB and 1 GB
    python benches/capture.py --quick               of a fiftieth of that: a check, not a measurement
    python benches/capture.py --json capture.json --markdown capture.md

The capture is one that `multihop run --pcap` writes of the chain, with eight radios, repeated with its times moved on.
Every command is a process of its own, from start to exit, so that start-up counts; tshark does the least that it can do
per frame. Commands take turns, so that whatever else the machine does meets all of them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from report import as_markdown, digits
from rich.console import Console
from run import machine

import multihop

HERE = Path(__file__).parent
SIZES_MB = (250, 500, 1000)
QUICK_SHRINK = 50
#: Simulated seconds of the capture that is repeated: 12 MB, or a quarter of that.
REPEATED_S = 40
QUICK_REPEATED_S = 10

#: A block of pcapng with a packet (draft-ietf-opsawg-pcapng, 4.3): where its stamp is, and the radio's timer in
#: the radiotap header.
PACKET_BLOCK = 6
STAMP = 12
TIMER = 28 + 8
#: The packet time once more, in radiotap's timestamp field: 16 bytes behind TSFT.
TIMESTAMP = TIMER + 16

NOTE = (
    "Each command from its start to its exit: user CPU, and the largest resident set. `measure` is `multihop measure "
    "FILE`, `fields` is `tshark -r FILE -T fields -e frame.len`, `io` is `tshark -r FILE -q -z io,stat,1`. Of a frame "
    "the capture holds up to 112 bytes, as the simulator keeps no payloads: frames per second say more than bytes."
)


@dataclass(frozen=True)
class Sample:
    """Measurement of one run of a command."""

    command: str
    bytes: int
    frames: int
    wall_s: float
    cpu_s: float
    peak_kb: int


class BenchError(Exception):
    """A command that failed."""


class Repeated:
    """Capture by `multihop run --pcap`, repeated any number of times with increasing times."""

    def __init__(self, folder: Path, seconds: int) -> None:
        path = folder / "once.pcapng"
        scenario = HERE / "scenarios" / "chain.toml"
        multihop.run(scenario, duration=f"{seconds} s", warmup="1 s", pcap=path)
        content = path.read_bytes()
        blocks = list(_blocks(content))
        packets = [start for kind, start in blocks if kind == PACKET_BLOCK]
        first = packets[0]
        self.head = content[:first]
        self.frames = len(packets)
        self._seconds = seconds
        self._body = np.frombuffer(content[first:], dtype=np.uint8).copy()
        self._starts = np.array(packets) - first
        high, low = self._words(STAMP), self._words(STAMP + 4)
        self._stamps = (high.astype(np.uint64) << np.uint64(32)) | low
        self._timers = self._words(TIMER).astype(np.uint64) | (
            self._words(TIMER + 4).astype(np.uint64) << np.uint64(32)
        )

    def write(self, path: Path, size: int) -> int:
        """Writes whole repetitions until the file has this size; returns the number of frames in it.

        A file that is there already is a shorter one of the same kind, and goes on.
        """
        with path.open("ab") as file:
            if file.tell() == 0:
                file.write(self.head)
            done = (file.tell() - len(self.head)) // len(self._body)
            while file.tell() < size:
                file.write(self._moved(done))
                done += 1
        return done * self.frames

    def _moved(self, times: int) -> bytes:
        seconds = np.uint64(times * self._seconds)
        stamps = self._stamps + seconds * np.uint64(1_000_000_000)
        timers = self._timers + seconds * np.uint64(1_000_000)
        for at, words in (
            (STAMP, stamps >> np.uint64(32)),
            (STAMP + 4, stamps),
            (TIMER, timers),
            (TIMER + 4, timers >> np.uint64(32)),
            (TIMESTAMP, stamps),
            (TIMESTAMP + 4, stamps >> np.uint64(32)),
        ):
            bytes_ = (words & np.uint64(0xFFFF_FFFF)).astype("<u4").view(np.uint8).reshape(-1, 4)
            self._body[self._starts[:, None] + (at + np.arange(4))] = bytes_
        return self._body.tobytes()

    def _words(self, at: int) -> np.ndarray:
        return self._body[self._starts[:, None] + (at + np.arange(4))].reshape(-1).view("<u4")


def _blocks(content: bytes) -> Iterator[tuple[int, int]]:
    """Type and offset of each block of a little-endian pcapng file."""
    at = 0
    while at < len(content):
        yield int.from_bytes(content[at : at + 4], "little"), at
        at += int.from_bytes(content[at + 4 : at + 8], "little")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures as the command line requests; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small captures: a check, not a measurement")
    parser.add_argument("--json", type=Path, metavar="FILE", help="all samples, for programs")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="the table, for a page")
    options = parser.parse_args(arguments)
    console, notes = Console(soft_wrap=True), Console(stderr=True)
    try:
        tshark = tshark_version()
        if tshark is None:
            notes.print("tshark is left out: not installed. On Debian: apt-get install tshark", highlight=False)
        samples = measure_all(options.quick, tshark is not None, notes)
    except (BenchError, OSError) as error:
        notes.print(f"bench: {error}", style="red", markup=False, highlight=False)
        return 2
    results: dict[str, Any] = {
        "machine": machine(),
        "multihop": multihop.version(),
        "tshark": tshark,
        "samples": [asdict(sample) for sample in samples],
    }
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    peer = "" if tshark is None else f", tshark {tshark}"
    page = f"{results['machine']}; multihop {results['multihop']}{peer}; one run each.\n\n{table(samples)}\n\n{NOTE}\n"
    if options.markdown:
        options.markdown.write_text(page)
    console.print(page, markup=False, highlight=False)
    return 0


def measure_all(quick: bool, with_tshark: bool, notes: Console) -> list[Sample]:
    """Measures each command on each size of the capture."""
    samples = []
    with tempfile.TemporaryDirectory(prefix="multihop-capture-") as place:
        repeated = Repeated(Path(place), QUICK_REPEATED_S if quick else REPEATED_S)
        capture = Path(place) / "capture.pcapng"
        for megabytes in SIZES_MB:
            size = megabytes * 1_000_000 // (QUICK_SHRINK if quick else 1)
            frames = repeated.write(capture, size)
            for name, command in commands(capture, with_tshark).items():
                notes.print(f"{capture.stat().st_size / 1e6:.0f} MB: {name}", highlight=False)
                samples.append(Sample(name, capture.stat().st_size, frames, **metered(command)))
    return samples


def commands(capture: Path, with_tshark: bool) -> dict[str, list[str]]:
    """Commands to measure, by name."""
    ours = {"measure": [sys.executable, "-m", "multihop", "measure", str(capture)]}
    theirs = {
        "fields": ["tshark", "-r", str(capture), "-T", "fields", "-e", "frame.len"],
        "io": ["tshark", "-r", str(capture), "-q", "-z", "io,stat,1"],
    }
    return ours | theirs if with_tshark else ours


def metered(command: list[str]) -> dict[str, Any]:
    """Measures the time and memory of a command.

    Raises:
        BenchError: if it fails.
    """
    done = subprocess.run(
        [sys.executable, "-S", str(HERE / "metered.py"), *command], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()[-500:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def tshark_version() -> str | None:
    """Version of tshark, if it is installed."""
    if shutil.which("tshark") is None:
        return None
    said = subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=False).stdout
    return said.split("(Wireshark) ")[-1].split()[0].rstrip(".") if said else "of an unknown version"


def table(samples: list[Sample]) -> str:
    """Table with a row for each run. The factor is the ratio of frames per second of CPU, ours to theirs."""
    header = ["capture MB", "command", "frames", "CPU s", "wall s", "MB/s", "frames/s", "of our CPU", "memory MB"]
    rows = []
    for sample in samples:
        ours = next(one for one in samples if one.bytes == sample.bytes and one.command == "measure")
        cpu_s = max(sample.cpu_s, 1e-3)
        rows.append(
            [
                f"{sample.bytes / 1e6:.0f}",
                sample.command,
                f"{sample.frames:,}",
                digits(sample.cpu_s),
                digits(sample.wall_s),
                digits(sample.bytes / 1e6 / cpu_s),
                f"{sample.frames / cpu_s:,.0f}",
                "" if sample is ours else f"{digits(cpu_s / max(ours.cpu_s, 1e-3))} times",
                f"{sample.peak_kb / 1e3:.0f}",
            ]
        )
    return as_markdown(header, rows)


if __name__ == "__main__":
    sys.exit(main())
