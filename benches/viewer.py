"""Speed of the viewer with a million transmissions: loading, panning and zooming.

    python benches/viewer.py                        a million transmissions of each network
    python benches/viewer.py --quick                a twentieth of that: a check, not a measurement
    python benches/viewer.py --only grid-10 --markdown viewer.md

Each log is written as by `multihop run --frames`, its page as by `multihop view`, and opened in headless Chromium, in
a window of 1280 by 900 pixels: seconds from navigation to the end of the first complete drawing, by the clock and in
CPU time of the page's thread, which other load changes less. Then a wheel event per frame of the display pans or
zooms, with everything in sight and less and less of it: frames per second by the clock, and the CPU time of a drawing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from report import as_markdown, digits
from rich.console import Console
from run import machine

import multihop
from multihop.cli.view import write_page

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "tests"))
from browser import chromium  # noqa: E402

#: Networks, and simulated seconds in which they have a million transmissions.
NETWORKS = {
    "chain": ("scenarios/chain.toml", 900),
    "mesh-demo": ("scenarios/mesh-demo.toml", 680),
    "grid-10": ("benches/scenarios/grid-10.toml", 400),
    "wlan-11ax": ("scenarios/wlan-11ax.toml", 400),
}
QUICK_SHRINK = 20
#: Share of the log in view; none for the whole log.
SIGHTS = {"all": None, "a tenth": 0.1, "a hundredth": 0.01, "a thousandth": 0.001, "ten": 1e-5}
FRAMES = 90
OPENINGS = 3

#: Script for the loading time: from the first line of the page to the end of the first frame with the viewer.
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"
#: Script that sends a wheel event per display frame; returns the milliseconds between frames.
MOVED = """async ([share, pans, frames]) => {
  const { viewer } = document.querySelector(".viewer-host");
  const length = share === null ? viewer.model.duration : share * viewer.model.duration;
  viewer.show(0.4 * viewer.model.duration, 0.4 * viewer.model.duration + length);
  const frame = () => new Promise(requestAnimationFrame);
  await frame();
  await frame();
  const times = [];
  let before = performance.now();
  for (let at = 0; at < frames; at += 1) {
    const delta = Math.floor(at / 5) % 2 ? -20 : 20;
    const by = pans ? { deltaX: delta } : { deltaY: -delta };
    viewer.canvas.dispatchEvent(new WheelEvent("wheel", { ...by, cancelable: true }));
    await frame();
    times.push(performance.now() - before);
    before += times[at];
  }
  return times;
}"""

NOTE = (
    "To open: from navigation to the end of the first complete drawing, median of three; CPU is that of the page's "
    "thread, and what it would be by the clock on an idle machine. Frames per second: the least of panning and "
    "zooming, a wheel event per frame, where the display allows 60; the slowest frame is the 95th percentile; CPU per "
    "frame is all that the page's thread does for it."
)


@dataclass(frozen=True)
class Moved:
    """Measurement of panning or zooming with a share of the log in view."""

    sight: str
    pans: bool
    frames_per_s: float
    slow_ms: float
    cpu_ms: float


@dataclass(frozen=True)
class Sample:
    """Measurement of one log. Times in seconds."""

    network: str
    transmissions: int
    log_bytes: int
    page_bytes: int
    open_s: float
    open_cpu_s: float
    moved: list[Moved]


class BenchError(Exception):
    """Failure of a measurement."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures as the command line requests; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="short logs: a check, not a measurement")
    parser.add_argument("--only", choices=NETWORKS, action="append", help="this network; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="all samples, for programs")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="the tables, for a page")
    options = parser.parse_args(arguments)
    console, notes = Console(soft_wrap=True), Console(stderr=True)
    try:
        samples, browser = measure_all(options.only or list(NETWORKS), options.quick, notes)
    except (BenchError, multihop.UserError, OSError) as error:
        notes.print(f"bench: {error}", style="red", markup=False, highlight=False)
        return 2
    about = {"machine": machine(), "multihop": multihop.version(), "browser": browser, "load": os.getloadavg()[0]}
    if options.json:
        results = {**about, "samples": [asdict(sample) for sample in samples]}
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    page = (
        f"{about['machine']}; multihop {about['multihop']}, Chromium {browser}, load {about['load']:.1f}.\n\n"
        f"{opening(samples)}\n\n{moving(samples)}\n\n{NOTE}\n"
    )
    if options.markdown:
        options.markdown.write_text(page)
    console.print(page, markup=False, highlight=False)
    return 0


def measure_all(names: Sequence[str], quick: bool, notes: Console) -> tuple[list[Sample], str]:
    """Measures the networks; returns samples, and the version of the browser.

    Raises:
        BenchError: if there is no browser.
    """
    with tempfile.TemporaryDirectory(prefix="multihop-viewer-") as place, chromium() as browser:
        if browser is None:
            raise BenchError("there is no Chromium, or no playwright; on Debian: apt-get install chromium")
        samples = []
        for name in names:
            notes.print(name, highlight=False)
            scenario, seconds = NETWORKS[name]
            log = Path(place) / f"{name}.frames"
            seconds = max(seconds // (QUICK_SHRINK if quick else 1), 2)
            multihop.run(ROOT / scenario, duration=f"{seconds} s", warmup="1 s", frames=log)
            write_page(log, log.with_suffix(".html"))
            samples.append(measure(name, log, browser))
        return samples, browser.version


def measure(name: str, log: Path, browser: Any) -> Sample:  # noqa: ANN401
    """Opens the page of a log in a browser, and pans and zooms."""
    page = log.with_suffix(".html")
    openings = [opened(page, browser) for _ in range(OPENINGS)]
    tab, devtools = openings[-1][:2]
    moved = [move(tab, devtools, sight, share, pans) for sight, share in SIGHTS.items() for pans in (True, False)]
    transmissions = tab.evaluate("document.querySelector('.viewer-host').viewer.model.count")
    for opening_ in openings:
        opening_[0].close()
    return Sample(
        network=name,
        transmissions=transmissions,
        log_bytes=sum(file.stat().st_size for file in log.iterdir()),
        page_bytes=page.stat().st_size,
        open_s=statistics.median(wall for _, _, wall, _ in openings),
        open_cpu_s=statistics.median(cpu for _, _, _, cpu in openings),
        moved=moved,
    )


def opened(page: Path, browser: Any) -> tuple[Any, Any, float, float]:  # noqa: ANN401
    """Opens a tab with the page; returns tab, devtools, wall time, and CPU time of the page's thread."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    devtools = tab.context.new_cdp_session(tab)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    tab.goto(page.as_uri(), wait_until="commit")
    tab.wait_for_selector(".viewer > canvas", timeout=300_000)
    wall_ms = tab.evaluate(DRAWN)
    return tab, devtools, wall_ms / 1e3, cpu_s(devtools)


def cpu_s(devtools: Any) -> float:  # noqa: ANN401
    """CPU time of the page's thread, in seconds."""
    found = devtools.send("Performance.getMetrics")["metrics"]
    return next(float(metric["value"]) for metric in found if metric["name"] == "ThreadTime")


def move(tab: Any, devtools: Any, sight: str, share: float | None, pans: bool) -> Moved:  # noqa: ANN401
    """Pans or zooms with this share of the log in view."""
    before = cpu_s(devtools)
    times = tab.evaluate(MOVED, [share, pans, FRAMES])
    cpu_ms = (cpu_s(devtools) - before) * 1e3 / FRAMES
    return Moved(sight, pans, 1e3 * FRAMES / sum(times), sorted(times)[int(0.95 * FRAMES)], cpu_ms)


def opening(samples: list[Sample]) -> str:
    """Table with a row for each log."""
    header = ["log", "transmissions", "MB", "page MB", "opens in s", "CPU s"]
    rows = [
        [
            sample.network,
            f"{sample.transmissions:,}",
            digits(sample.log_bytes / 1e6),
            digits(sample.page_bytes / 1e6),
            digits(sample.open_s),
            digits(sample.open_cpu_s),
        ]
        for sample in samples
    ]
    return as_markdown(header, rows)


def moving(samples: list[Sample]) -> str:
    """Table with a row for each log and view: the slower of panning and zooming."""
    header = ["log", "in sight", "frames/s", "slow frame ms", "CPU ms per frame"]
    rows = []
    for sample in samples:
        for sight in SIGHTS:
            both = [moved for moved in sample.moved if moved.sight == sight]
            least = min(both, key=lambda moved: moved.frames_per_s)
            most_cpu_ms = max(moved.cpu_ms for moved in both)
            rows.append([sample.network, sight, digits(least.frames_per_s), digits(least.slow_ms), digits(most_cpu_ms)])
    return as_markdown(header, rows)


if __name__ == "__main__":
    sys.exit(main())
