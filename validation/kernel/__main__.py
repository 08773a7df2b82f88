"""`python -m validation.kernel [FILE]`: TCP of the Linux kernel beside ours, over the same air.

Writes the page from recorded figures of the kernel and new runs of ours. With --measure, missing runs of the kernel
are emulated first, in real time.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from multihop.base.errors import UserError
from validation.kernel import cells, emulated, recorded
from validation.kernel.cells import Cell
from validation.kernel.measured import Emulated, Measured
from validation.kernel.pages import page
from validation.kernel.recorded import Runs
from validation.kernel.simulated import simulated
from validation.kernel.verdicts import Row, judged

#: Runs of a cell that are measured.
RUNS = 8


def main() -> int:
    """Does what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m validation.kernel", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "file", nargs="?", type=Path, default=Path("docs/results/kernel.md"), help="where the page goes"
    )
    parser.add_argument("--cells", type=Path, default=cells.FILE, help="file of the cells")
    parser.add_argument("--quick", action="store_true", help="eight cells")
    parser.add_argument("--only", default="", metavar="TEXT", help="cells whose description contains this text")
    parser.add_argument("--measure", action="store_true", help="run the kernel where runs are missing")
    parser.add_argument(
        "--runs",
        type=_positive,
        help=f"runs of a cell, with seeds 1 to this ({RUNS}); without --measure, all by default",
    )
    parser.add_argument("--jobs", type=_positive, default=1, help="emulations at a time")
    parser.add_argument("--store", type=Path, default=recorded.FILE, help="file of the kernel's figures")
    options = parser.parse_args()
    try:
        chosen = asked(options.cells, options.only, quick=options.quick)
        runs = recorded.read(options.store)
        if options.measure:
            recorded.measure(options.store, due(chosen, options.runs or RUNS, runs), options.jobs)
            runs = recorded.read(options.store)
        found = {cell: kept(runs, cell, options.runs) for cell in chosen}
        write(options.file, {cell: kernel for cell, kernel in found.items() if kernel})
    except (UserError, OSError) as error:
        print(f"validation.kernel: {error}", file=sys.stderr)
        return 2
    missing = sum(not kernel for kernel in found.values())
    print(f"wrote {options.file}" + (f"; {missing} cells have no run of the kernel (--measure)" if missing else ""))
    return 0


def asked(file: Path, text: str, *, quick: bool) -> list[Cell]:
    """Cells of a file whose description contains a text.

    Raises:
        UserError: if there is none.
    """
    listed = [each for each in cells.read(file) if each.quick or not quick]
    if found := [each.cell for each in listed if text in each.cell.label]:
        return found
    raise UserError(f"--only: no cell has {text!r} in its description; the first is {listed[0].cell.label!r}")


def due(chosen: list[Cell], runs: int, known: Runs) -> list[tuple[Cell, int]]:
    """Missing runs of transports that this kernel has."""
    there = emulated.available()
    lacking = sorted({cell.transport for cell in chosen} - set(there))
    if lacking:
        print(f"left out, as this kernel does not have it: {', '.join(lacking)} (try modprobe tcp_{lacking[0]})")
    return recorded.due([cell for cell in chosen if cell.transport in there], runs, known)


def kept(runs: Runs, cell: Cell, count: int | None) -> dict[int, Emulated]:
    """Recorded runs of a cell with seeds up to `count`, or all."""
    return {seed: run for seed, run in runs.get(cell.label, {}).items() if count is None or seed <= count}


def write(file: Path, kernel: dict[Cell, dict[int, Emulated]]) -> None:
    """Runs ours with the kernel's seeds, and writes the page."""
    if not kernel:
        raise UserError("no cell has a run of the kernel; measure some with --measure")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page(compared(kernel), sorted({run.release for runs in kernel.values() for run in runs.values()})))


def compared(kernel: dict[Cell, dict[int, Emulated]]) -> list[Row]:
    """Rows of the page."""
    wanted = [(cell, seed) for cell, runs in kernel.items() for seed in runs]
    ours: dict[Cell, dict[int, Measured]] = {cell: {} for cell in kernel}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (cell, seed), run in zip(wanted, pool.map(lambda each: simulated(*each), wanted), strict=True):
            ours[cell][seed] = run
    return [judged(cell, runs, ours[cell]) for cell, runs in kernel.items()]


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"found {text!r}; needs a whole number from 1")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
