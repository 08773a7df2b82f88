"""The searchable tables of all claims and numbers of papers, as HTML: the files of docs/results/data in one page."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path

DOCS = Path(__file__).parent
TEMPLATE = DOCS / "numbers.html"


def tables(data: Path = DOCS / "results" / "data") -> str:
    """Markup, rows and script: needs neither a server nor a network."""
    content = {"claims": _rows(data.glob("*-claims.csv")), "numbers": _rows(data.glob("*/*.csv"))}
    # A row may hold text of any kind, but must not end the script that it stands in.
    rows = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return TEMPLATE.read_text("utf-8").replace("@rows@", rows)


def _rows(files: Iterable[Path]) -> dict[str, list[str] | list[list[str]]]:
    """Heads and rows of files that have the same columns."""
    heads: list[str] = []
    rows: list[list[str]] = []
    for path in sorted(files):
        with path.open(encoding="utf-8", newline="") as file:
            heads, *found = csv.reader(file)
        rows += found
    return {"heads": heads, "rows": rows}
