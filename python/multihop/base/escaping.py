"""Escapes untrusted text, so that it cannot act on a terminal, a page or a spreadsheet.

Names of nodes and interfaces in captures and meshes are untrusted. Each output escapes them in one place: the
console and HTML documents with `visible`, CSV tables with `write_csv`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

# Control characters except line breaks and tabs: C0, DEL, C1, line and paragraph separators, and Unicode's
# bidirectional controls.
_ACTING = "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069"
_CONTROL = re.compile(f"[{_ACTING}]|\\r(?!\\n)")

# Spreadsheets treat text with these first characters as a formula, unless it is a number.
_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+\-]?(\d+\.?\d*|\.\d+)([eE][+\-]?\d+)?$"


def visible(text: str) -> str:
    r"""Returns text with control characters escaped as in Python: `\x1b` for ESC."""
    return _CONTROL.sub(lambda found: _escape(found[0], short=True), text)


def visible_json(text: str) -> str:
    r"""Returns equivalent JSON without control characters in its strings: `\u009b`."""
    return _CONTROL.sub(lambda found: _escape(found[0], short=False), text)


def write_csv(table: pa.Table, path: Path) -> None:
    """Writes a table as CSV, with an apostrophe before text that a spreadsheet would treat as a formula.

    Such text begins with `=`, `+`, `-`, `@`, a tab or a carriage return, and is no number.
    """
    import pyarrow as pa
    import pyarrow.csv

    for index, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            table = table.set_column(index, field, _no_formulas(table.column(index)))
    pa.csv.write_csv(table, path)


def no_formula(text: object) -> object:
    """Returns the value as `write_csv` writes it: with an apostrophe before a formula."""
    is_formula = isinstance(text, str) and re.match(_FORMULA, text) and not re.match(_NUMBER, text)
    return f"'{text}" if is_formula else text


def _no_formulas(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa
    from pyarrow import compute

    number = compute.match_substring_regex(column, _NUMBER)
    formula = compute.and_not(compute.match_substring_regex(column, _FORMULA), number)
    quoted = compute.binary_join_element_wise(pa.scalar("'", column.type), column, pa.scalar("", column.type))
    return compute.if_else(formula, quoted, column)


def _escape(character: str, *, short: bool) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if short and code < 0x100 else f"\\u{code:04x}"
