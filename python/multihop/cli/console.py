"""Output to the terminal: results on standard output, everything else on standard error.

No other module writes to these streams. Control characters in text are escaped here; colours come from Rich.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from multihop.base.escaping import visible, visible_json
from multihop.base.finite import finite


class Terminal(Console):
    """Console that prints text literally: no markup, no emoji codes (`:cd:`), no control characters."""

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:  # noqa: ANN401 - options of Rich
        """Returns plain text for Rich, escaped before Rich computes any width."""
        return super().render_str(visible(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yields the segments of a renderable. Only Rich's own control segments keep control characters."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(visible(piece.text), piece.style)


def out() -> Terminal:
    """Returns standard output without colours, and with lines of 200 characters where it is no terminal."""
    return Terminal(width=None if sys.stdout.isatty() else 200)


def say(text: str = "") -> None:
    """Prints a line of a result on standard output, without wrapping."""
    print(visible(text))


def paragraph(text: str, indent: str = "") -> None:
    """Prints a sentence of a result on standard output, wrapped to the screen with a hanging indent."""
    say("\n".join(lines(text, indent)))


def lines(text: str, indent: str = "") -> list[str]:
    """Returns the lines of a sentence, wrapped to the screen with a hanging indent."""
    width = min(120, out().width)
    wrapper = textwrap.TextWrapper(width, indent, f"{indent}  ", break_long_words=False, break_on_hyphens=False)
    return wrapper.wrap(text)


def note(text: str, *, quiet: bool = False) -> None:
    """Prints a remark on standard error."""
    if not quiet:
        print(visible(text), file=sys.stderr)


def print_json(value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Prints JSON on standard output; NaN and infinities become null."""
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(visible_json(json.dumps(finite(value), indent=2, ensure_ascii=not is_unicode)))


def table(columns: list[str], rows: list[list[str]], *, title: str | None = None) -> Table:
    """Returns a table with text in the first column and numbers in the others."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        made.add_column(column, justify="left" if index == 0 else "right", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made
