"""Displays of results: at a prompt (`repr`), in a terminal (Rich), and in a notebook (HTML).

A result describes itself once as an `Overview`, from which the three displays are made.
"""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from multihop.base.escaping import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

#: Most lines of a `repr`, and most characters of each.
MOST_LINES, MOST_CHARACTERS = 10, 110

#: Most rows of a table in a terminal or a notebook.
_MOST_ROWS = 30


@dataclass(frozen=True)
class Overview:
    """Content of a display: a title, a table of names and numbers, and sentences.

    Attributes:
        title: first line.
        heads: column heads of the table; the first column has names, the others numbers.
        rows: rows of the table.
        sentences: lines below the table.
        more: number of rows that the table omits.
    """

    title: str
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    sentences: Sequence[str] = ()
    more: int = 0

    def text(self, kind: str) -> str:
        """Returns at most ten lines of plain text, which begin with the kind of result."""
        lines = [f"{kind}: {self.title}", *self.sentences]
        room = MOST_LINES - len(lines) - 1
        if self.rows and room > 1:
            shown = self.rows if len(self.rows) <= room and not self.more else self.rows[: room - 1]
            lines += _aligned([self.heads, *shown])
            left = len(self.rows) + self.more - len(shown)
            lines += [f"... and {left} more rows"] if left else []
        return "\n".join(_cut(line) for line in lines[:MOST_LINES])

    def html(self) -> str:
        """Returns an HTML fragment."""
        parts = [f"<b>{_escape(self.title)}</b>"]
        if self.rows:
            head = "".join(f"<th>{_escape(text)}</th>" for text in self.heads)
            body = "".join(
                f"<tr>{''.join(f'<td>{_escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows[:_MOST_ROWS]
            )
            parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
            parts += [f"<p>{self._left()}</p>"] if self._left() else []
        if self.sentences:
            parts.append(f"<ul>{''.join(f'<li>{_escape(each)}</li>' for each in self.sentences)}</ul>")
        return f"<div>{''.join(parts)}</div>"

    def rich(self) -> RenderableType:
        """Returns a renderable for Rich."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        parts: list[RenderableType] = [Text(visible(self.title), style="bold")]
        if self.rows:
            table = Table(box=None, pad_edge=False, header_style="bold")
            for index, head in enumerate(self.heads):
                table.add_column(Text(visible(head)), justify="right" if index else "left", overflow="fold")
            for row in self.rows[:_MOST_ROWS]:
                table.add_row(*(Text(visible(cell)) for cell in row))
            parts.append(table)
            parts += [Text(self._left())] if self._left() else []
        return Group(*parts, *(Text(visible(each)) for each in self.sentences))

    def _left(self) -> str:
        left = len(self.rows) - len(self.rows[:_MOST_ROWS]) + self.more
        return f"... and {left} more rows" if left else ""


class Displayed(ABC):
    """Base class of results with displays."""

    @abstractmethod
    def overview(self, *, whole: bool = True) -> Overview:
        """Returns the content of the displays; with `whole`, including values that take time to compute."""

    def __repr__(self) -> str:
        return self.overview(whole=False).text(type(self).__name__)

    def _repr_html_(self) -> str:
        return self.overview().html()

    def __rich__(self) -> RenderableType:
        return self.overview().rich()


class Plain(Displayed, dict[str, Any]):
    """Dictionary of plain data that displays its keys and the sizes of its values."""

    def __init__(self, content: dict[str, Any], title: str) -> None:
        super().__init__(content)
        self._title = title

    def overview(self, *, whole: bool = True) -> Overview:
        """Returns the title, and the size or text of each value."""
        del whole
        rows = [[repr(key), _held(value)] for key, value in self.items()]
        return Overview(f"{self._title}; a dictionary, all of which dict(...) shows", ["key", "value"], rows)

    def __reduce__(self) -> tuple[type[Plain], tuple[dict[str, Any], str]]:
        return Plain, (dict(self), self._title)


def _held(value: object) -> str:
    if isinstance(value, list | tuple | dict):
        return f"{len(value)} entries"
    return _cut(repr(value), 60)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    # Line breaks within a cell would break the alignment of rows.
    cells = [[visible(" ".join(cell.split())) for cell in row] for row in rows]
    widths = [max(len(row[index]) for row in cells) for index in range(len(cells[0]))]
    return [
        "  ".join(
            cell.rjust(width) if index else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def _cut(line: str, most: int = MOST_CHARACTERS) -> str:
    line = visible(" ".join(line.split("\n")))
    return line if len(line) <= most else f"{line[: most - 3]}..."


def _escape(text: str) -> str:
    return html.escape(visible(text), quote=True)
