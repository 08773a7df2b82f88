"""Runs the commands and the Python of hand-written pages and notebooks, and compares the outputs that pages show.

python -m tools.pages                  every page, as the tests run them
python -m tools.pages --full           also what is marked as slow
python -m tools.pages --write          writes the outputs into the pages instead
python -m tools.pages --list           what is not run, and why
python -m tools.pages docs/how-to/pcap.md README.md     these pages only

What a page has, in its order, is run in a folder of its own with copies of `scenarios/` and `studies/`:

- A block ```toml whose first line is `# NAME.toml` is a file of that name.
- Each line of a block ```sh is a command, which has to succeed.
- In a block ```console, commands follow `$ `. The lines below one, if there are any, are its output, in which
  one line `...` stands for any number of lines. A command may fail if its output begins with `multihop: `.
- Blocks ```python share one namespace. A comment `# = VALUE` behind an expression is its value.
- A block ```output is what the block above it prints.
- Cells of a notebook share one namespace. The last value of each is displayed, and not compared.
- A command of `multihop` with arguments in prose or in a table is run as well. One with a placeholder in
  capitals, or without arguments, is a mention: its options have to exist.

`<!-- slow: REASON -->` above a block, or at the end of a line, leaves its commands to --full;
`<!-- not run: REASON -->` means never. Options of those have to exist, too.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tools.page_runs import Failure, Place, values_of
from tools.page_steps import Page, Shown, Step, read

ROOT = Path(__file__).parent.parent


def main() -> int:
    """Exit code 0 if all pages are right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--full", action="store_true", help="also what is slow")
    parser.add_argument("--write", action="store_true", help="write the outputs into the pages; implies --full")
    parser.add_argument("--list", action="store_true", help="print what is not run, and why")
    asked = parser.parse_args()
    wrong = 0
    for path in [page for given in asked.pages for page in (sorted(given.rglob("*.md")) or [given])] or written():
        page = read(path)
        if asked.list:
            print("\n".join(f"{name(path)}:{step.line}: {step.text}\n    {step.left_out}" for step in left_out(page)))
            continue
        failures = check(page, full=asked.full or asked.write, write=asked.write)
        wrong += len(failures)
        for failure in failures:
            print(f"{name(path)}:{failure.line}: {failure.what}", flush=True)
    if wrong:
        print(f"{wrong} wrong" + ("" if asked.write else "; --write writes the outputs anew"))
    return 1 if wrong else 0


def written() -> list[Path]:
    """The pages that people write, and the notebooks."""
    return [*hand_written(), *notebooks()]


def notebooks() -> list[Path]:
    """The notebooks."""
    return sorted((ROOT / "docs").rglob("*.ipynb"))


def hand_written() -> list[Path]:
    """The pages that people write."""
    pages = [path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name not in {"results", "generated"}]
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *pages]


def name(path: Path) -> str:
    """A page as messages show it."""
    path = path.resolve()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def left_out(page: Page) -> list[Step]:
    """The steps that are not run, or in the full form only."""
    return [step for step in page.steps if step.left_out and step.kind != "mention"]


def check(page: Page, *, full: bool = False, write: bool = False) -> list[Failure]:
    """What is wrong with a page; with `write` outputs are put into it, and are no failures."""
    failures, changes = [], []
    with tempfile.TemporaryDirectory(prefix="multihop-page-") as folder, Place(Path(folder), ROOT) as place:
        for step in page.steps:
            try:
                if step.kind == "mention" or not step.is_run(full=full):
                    place.parse(step)
                    continue
                printed = place.run(step)
            except Failure as failure:
                failures.append(failure)
                continue
            if step.shown is not None and not step.shown.fits(printed):
                changes.append((step.shown.first, step.shown.last, step.shown.written(printed)))
                if not write:
                    failures.append(_differs(step, step.shown, printed))
            for first, found, said in values_of(place, step):
                changes.append((first, first + 1, [found]))
                if not write:
                    failures.append(Failure(first + 1, f"the page says {said}\n    {found.strip()}"))
    if write and changes:
        page.write(changes)
    return failures


def _differs(step: Step, shown: Shown, printed: list[str]) -> Failure:
    line, what = (step.line, step.text) if step.kind == "command" else (shown.first, "the block above prints")
    return Failure(line, f"{what}\n{shown.difference(printed)}")


if __name__ == "__main__":
    sys.exit(main())
