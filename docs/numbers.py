"""The searchable tables of all claims and numbers of papers, as HTML: the files of docs/results/data in one page."""

from __future__ import annotations

import csv
import json
from pathlib import Path

DOCS = Path(__file__).parent
TEMPLATE = DOCS / "numbers.html"


def tables(data: Path = DOCS / "results" / "data") -> str:
    """Markup, rows and script: needs neither a server nor a network."""
    content = {kind: _rows(data, kind) for kind in ("claims", "numbers")}
    # A row may hold text of any kind, but must not end the script that it stands in.
    rows = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return TEMPLATE.read_text("utf-8").replace("@rows@", rows)


def _rows(data: Path, kind: str) -> dict[str, list[str] | list[list[str]]]:
    """Heads and rows of the files of a kind, of all papers."""
    heads: list[str] = []
    rows: list[list[str]] = []
    for path in sorted(data.glob(f"*-{kind}.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            heads, *found = csv.reader(file)
        rows += found
    return {"heads": heads, "rows": rows}
