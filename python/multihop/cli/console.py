"""What goes to the terminal: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

from rich.console import Console
from rich.table import Table


def out() -> Console:
    """Standard output. Not a terminal: no colours, and lines as long as they need to be."""
    return Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 200)


def note(text: str, *, quiet: bool = False) -> None:
    """A remark for a person, on standard error."""
    if not quiet:
        print(text, file=sys.stderr)


def print_json(value: Any) -> None:  # noqa: ANN401 - any JSON value
    """JSON to standard output; what is not a finite number becomes null."""
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(json.dumps(_finite(value), indent=2, ensure_ascii=not is_unicode))


def table(columns: list[str], rows: list[list[str]], *, title: str | None = None) -> Table:
    """A table whose first column is text and whose others are numbers."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        made.add_column(column, justify="left" if index == 0 else "right", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def _finite(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
