"""Escapes untrusted text, so that it cannot act on a terminal, a page or a spreadsheet.

Names of nodes and interfaces come from captures and meshes of strangers. There is one place for each way out:
the console and the document pass all that they show through `visible`, and tables in CSV are written by
`write_csv`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

# C0 but for line breaks and tabs, DEL, C1, separators of lines and paragraphs, and what reorders letters
# (Unicode's bidirectional controls).
_ACTING = "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069"
_CONTROL = re.compile(f"[{_ACTING}]|\\r(?!\\n)")

# Of a text that begins so a spreadsheet makes a formula; that of a number is none.
_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+\-]?(\d+\.?\d*|\.\d+)([eE][+\-]?\d+)?$"


def visible(text: str) -> str:
    r"""The text with control characters escaped as in Python: `\x1b` for ESC."""
    return _CONTROL.sub(lambda found: _escape(found[0], short=True), text)


def visible_json(text: str) -> str:
    r"""JSON that means the same, without control characters in its strings: `\u009b`."""
    return _CONTROL.sub(lambda found: _escape(found[0], short=False), text)


def write_csv(table: pa.Table, path: Path) -> None:
    """Writes a table as CSV. Text that a spreadsheet would take for a formula has an apostrophe put in front.

    That is text which begins with `=`, `+`, `-`, `@`, a tab or a carriage return, and is no number.
    """
    import pyarrow as pa
    import pyarrow.csv

    for index, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            table = table.set_column(index, field, _no_formulas(table.column(index)))
    pa.csv.write_csv(table, path)


def no_formula(text: object) -> object:
    """The value as `write_csv` writes it: an apostrophe precedes what a spreadsheet takes for a formula."""
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
