"""Writes the page of the league, docs/results/league.md, from what `multihop league` left.

    multihop league --mesh meshviewer.json
    python docs/league.py results/league

It runs nothing, and adds to the page of numbers what the rest of the documentation has to say about it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

PAGE = Path(__file__).parent / "results" / "league.md"

_ABOUT = """
Papers compare their scheme with a few others, on networks of their own. Here every scheme of `multihop` runs on one
common set of networks, under the same terms; no paper did so. [The optimum](../explanation/optimum.md) says what runs
are held against, and [what a verdict means](../explanation/claims.md) how seeds decide. To reproduce this page, or
one with your own mesh, or with your own scheme, which takes part once [it is registered](../tutorials/own-scheme.md):

```sh
make league LEAGUE_MESH=meshviewer.json
multihop league --mesh meshviewer.json --schemes recn,ewccp,tcp-cubic    # only some, for a look
```

Networks of radios that aggregate take 1.9 (802.11n), 2.5 (two radios), 1.9 (mesh) and 2.4 times (802.11ac) the CPU of
the legacy networks beside which they stand; but they are simulated for 60, 30, 100 and 15 s, and those for 60 (mesh:
100). Per simulated second it is 1.9, 5.0, 1.9 and 9.7 times, as they carry up to fifty times as many packets. With
NewReno alone, which fills queues, the WLAN of 802.11ac takes 3.0 times, 12 per simulated second. User CPU of whole
runs of all 28 schemes, two seeds, and of twenty of NewReno, by `python benches/league.py`, with other load present.
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


def page(made: str) -> str:
    """The page of numbers, with what it is below its heading."""
    heading, _, rest = made.partition("\n")
    return f"{heading}\n{_ABOUT}{rest}"


if __name__ == "__main__":
    main()
