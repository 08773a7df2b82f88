"""Writes the page of the league, docs/results/league.md, from what `multihop league` left.

    multihop league --mesh meshviewer.json
    python docs/league.py results/league

The program runs nothing. To the page of numbers it adds links into the rest of the documentation, and it copies the
picture and the numbers of coexistence, `images/coexistence.svg` and `data/coexistence.csv` beside the page.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

#: Files of a league that the page links to, and their folders beside the page.
FILES = {"coexistence.svg": "images", "coexistence.csv": "data"}

PAGE = Path(__file__).parent / "results" / "league.md"

_ABOUT = """
Papers compare their scheme with a few others, on networks of their own. Here every scheme of `multihop` runs on one
common set of networks, under the same terms; no paper did so. [The optimum](../explanation/optimum.md) says what runs
are held against, and [what a verdict means](../explanation/claims.md) how seeds decide. To reproduce this page, or
one with your own mesh, or with [your own scheme in Python](../tutorials/python-scheme.md):

```sh
make league LEAGUE_MESH=meshviewer.json
multihop league --mesh meshviewer.json --schemes recn,tcp-cubic,own.py:MyScheme    # only some, for a look
```
"""


def main() -> None:
    """Reads the arguments, writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where multihop league put its results")
    parser.add_argument("--to", type=Path, default=PAGE, help="the page; docs/results/league.md by default")
    given = parser.parse_args()
    source = given.folder / "league.md"
    try:
        made = source.read_text("utf-8")
    except OSError as error:
        sys.exit(f"league.py: {source}: cannot be read: {error.strerror}; make it with multihop league")
    given.to.write_text(page(made), encoding="utf-8")
    for name, folder in FILES.items():
        target = given.to.parent / folder
        target.mkdir(exist_ok=True)
        shutil.copyfile(given.folder / name, target / name)


def page(made: str) -> str:
    """Returns the page of numbers with an introduction below its heading, and links to files beside it."""
    for name, folder in FILES.items():
        made = made.replace(f"]({name})", f"]({folder}/{name})")
    heading, _, rest = made.partition("\n")
    return f"{heading}\n{_ABOUT}{rest}"


if __name__ == "__main__":
    main()
