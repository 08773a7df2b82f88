"""How results show themselves: at a prompt (`repr`), in a terminal (Rich), and in a notebook (HTML).

A result says once what there is to show, as an `Overview`, from which all three are made.
"""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from multihop.base.visible import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

#: Lines of a `repr`, and characters of each.
MOST_LINES, MOST_CHARACTERS = 10, 110

#: Rows of a table in a terminal or a notebook.
_MOST_ROWS = 30


@dataclass(frozen=True)
class Overview:
    """A title, a table whose first column has names and whose others have numbers, and sentences.

    `more` counts rows that are left out of the table.
    """

    title: str
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    sentences: Sequence[str] = ()
    more: int = 0

    def text(self, kind: str) -> str:
        """At most ten lines of plain text, of which the first begins with the kind of result."""
        lines = [f"{kind}: {self.title}", *self.sentences]
        room = MOST_LINES - len(lines) - 1
        if self.rows and room > 1:
            shown = self.rows if len(self.rows) <= room and not self.more else self.rows[: room - 1]
            lines += _aligned([self.heads, *shown])
            left = len(self.rows) + self.more - len(shown)
            lines += [f"... and {left} more rows"] if left else []
        return "\n".join(_cut(line) for line in lines[:MOST_LINES])

    def html(self) -> str:
        """A fragment of HTML."""
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
        """What Rich prints."""
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
    """A result that shows itself."""

    @abstractmethod
    def overview(self, *, whole: bool = True) -> Overview:
        """What the result shows of itself; `whole` includes what takes time to compute."""

    def __repr__(self) -> str:
        return self.overview(whole=False).text(type(self).__name__)

    def _repr_html_(self) -> str:
        return self.overview().html()

    def __rich__(self) -> RenderableType:
        return self.overview().rich()


class Plain(Displayed, dict[str, Any]):
    """A dictionary of plain data that shows its keys instead of all it holds."""

    def __init__(self, content: dict[str, Any], title: str) -> None:
        super().__init__(content)
        self._title = title

    def overview(self, *, whole: bool = True) -> Overview:
        """The title, and what each key holds."""
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
    # A cell of several lines would take the lines of other rows.
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
