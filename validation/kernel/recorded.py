"""Figures of the kernel's TCP, a line of JSON for each run: facts about that kernel on the air of a cell.

Figures that are 0 or empty in nearly all runs are left out: completion times, missed packets, and other counters.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

from multihop.base.errors import UserError
from validation.kernel.cells import MEASURED_S, Cell
from validation.kernel.emulated import OTHERS, emulated
from validation.kernel.measured import Emulated, Measured

FILE = Path(__file__).parent / "recorded.jsonl"

#: Most lag for a comparison: p99 over the packets of a run [ms]. The default limit of `multihop.emulate`.
MOST_LAG_MS = 2.0

#: Runs by the cell's description and seed.
Runs = dict[str, dict[int, Emulated]]


def read(path: Path) -> Runs:
    """Runs of a file; the last one where there are several of a cell and seed.

    Raises:
        UserError: naming a line that is no run.
    """
    found: Runs = {}
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            counters = {**dict.fromkeys(OTHERS, 0), **row["run"].pop("counters", {})}
            times = row["run"]["measured"].pop("completions_ms", [])
            times = [math.inf if time is None else time for time in times]
            measured = Measured(**row["run"].pop("measured"), completions_ms=times)
            run = {"overflowed": 0, **row["run"], "measured": measured, "counters": counters}
            if row["seconds"] == MEASURED_S:
                found.setdefault(row["cell"], {})[row["seed"]] = Emulated(**run)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UserError(
                f"{path}: line {number} is no run of the kernel; remove it, and measure again ({error!r})"
            ) from error
    return found


def line_of(cell: Cell, seed: int, run: Emulated) -> str:
    """A run as a line of the file."""
    row = asdict(run)
    measured: dict[str, Any] = row["measured"]
    measured["completions_ms"] = [None if math.isinf(time) else round(time) for time in measured["completions_ms"]]
    for key in ("goodput_mbps", "rtt_ms"):
        measured[key] = None if measured[key] is None else round(measured[key], 3)
    row["lag_p99_ms"] = round(row["lag_p99_ms"], 2)
    row["counters"] = {key: count for key, count in row["counters"].items() if count}
    for part, key in ((measured, "completions_ms"), (row, "overflowed"), (row, "counters")):
        if not part[key]:
            del part[key]
    line = {"cell": cell.label, "seconds": MEASURED_S, "seed": seed, "run": row}
    return json.dumps(line, separators=(",", ":"))


def due(cells: Iterable[Cell], seeds: int, runs: Runs) -> list[tuple[Cell, int]]:
    """Runs that are missing or were too late: every cell once, then every cell a second time, and so on."""
    listed = list(cells)

    def is_missing(cell: Cell, seed: int) -> bool:
        run = runs.get(cell.label, {}).get(seed)
        return run is None or not run.is_timely(MOST_LAG_MS)

    return [(cell, seed) for seed in range(1, seeds + 1) for cell in listed if is_missing(cell, seed)]


def measure(path: Path, asked: list[tuple[Cell, int]], jobs: int) -> None:
    """Runs the kernel, and appends each run to the file as soon as it has ended.

    Raises:
        UserError: if this machine cannot emulate, or a program fails.
    """
    with ThreadPoolExecutor(jobs) as pool, path.open("a", encoding="utf-8") as file:
        running = {pool.submit(emulated, cell, seed): (cell, seed) for cell, seed in asked}
        try:
            for number, ended in enumerate(as_completed(running), 1):
                cell, seed = running[ended]
                run = ended.result()
                file.write(line_of(cell, seed, run) + "\n")
                file.flush()
                late = "" if run.is_timely(MOST_LAG_MS) else ", too late for a comparison"
                lag = f"lag p99 {run.lag_p99_ms:.2f} ms{late}"
                print(f"{number} of {len(asked)}: {cell.label}, seed {seed}: {lag}", flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
