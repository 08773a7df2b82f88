"""CSV tables with a header, by column name, with line numbers for messages."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from multihop.base.errors import UserError
from multihop.importers.parsing.records import BrokenRecordError, number

#: Texts for a missing number.
_MISSING = {"-", "na", "n/a", "nan", "none", "null"}


@dataclass(frozen=True)
class Row:
    """Row of a table; `where` is `file:line`."""

    where: str
    cells: dict[str, str]
    columns: tuple[str, ...]
    length: int

    def text(self, column: str) -> str | None:
        """Returns a cell, or `None` if it is empty or the column is missing.

        Raises:
            BrokenRecordError: if the row has more cells than the header.
        """
        if self.length > len(self.columns):
            needed = f"the header has {len(self.columns)} columns"
            raise BrokenRecordError(self.where, f"found {self.length} cells; {needed}")
        return self.cells.get(column, "").strip() or None

    def number(self, column: str) -> float | None:
        """Returns a cell as a number, or `None` if it is empty.

        Raises:
            BrokenRecordError: if the cell has other content.
        """
        text = self.text(column)
        if text is None or text.lower() in _MISSING:
            return None
        value = number(text)
        if value is None:
            raise BrokenRecordError(self.where, f"{column}: found {text[:40]!r}; needs a number, or nothing")
        return value


@dataclass(frozen=True)
class Table:
    """CSV table. Column names are in lower case, without surrounding blanks."""

    origin: str
    columns: tuple[str, ...]
    rows: list[Row]


def header(text: str) -> tuple[tuple[str, ...], str]:
    """Returns column names in the first line with text, and the delimiter: comma, semicolon or tab."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(",;\t", key=line.count)
    return tuple(cell.strip().lower() for cell in line.split(delimiter)), delimiter


def parse(text: str, origin: str) -> Table:
    """Reads CSV with a header line.

    Raises:
        UserError: if the text is empty, or a column name is repeated.
    """
    _, delimiter = header(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    columns: tuple[str, ...] = ()
    rows: list[Row] = []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if not columns:
                columns = tuple(" ".join(cell.split()).lower() for cell in cells)  # a cell may hold line breaks
                _require_distinct(columns, f"{origin}:{reader.line_num}")
                continue
            where = f"{origin}:{reader.line_num}"
            # Spreadsheets may write blank cells after the last column.
            length = max((at for at, cell in enumerate(cells, 1) if cell.strip()), default=0)
            rows.append(Row(where, dict(zip(columns, cells, strict=False)), columns, length))
    except csv.Error as error:
        raise UserError(f"{origin}:{reader.line_num}: not CSV: {error}") from error
    if not columns:
        raise UserError(f"{origin}: the file is empty; needs a header line and rows")
    return Table(origin, columns, rows)


def _require_distinct(columns: tuple[str, ...], where: str) -> None:
    repeated = sorted({name for name in columns if name and columns.count(name) > 1})
    if repeated:
        raise UserError(f"{where}: column {repeated[0]!r} is given more than once; needs distinct columns")
