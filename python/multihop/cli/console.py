"""What goes to the terminal: results to standard output, everything else to standard error.

Nothing else in the package writes to either. What acts on a terminal is made visible here; colours are Rich's
own.
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

from multihop.base.finite import finite
from multihop.base.visible import visible, visible_json


class Terminal(Console):
    """A console that takes text for text: no markup, no codes of emoji (`:cd:`), no control characters."""

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:  # noqa: ANN401 - Rich's own
        """Plain text for Rich; made visible before the width of anything is decided."""
        return super().render_str(visible(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The pieces of something, of which only Rich's own may control the terminal."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(visible(piece.text), piece.style)


def out() -> Terminal:
    """Standard output. Not a terminal: no colours, and lines as long as they need to be."""
    return Terminal(width=None if sys.stdout.isatty() else 200)


def say(text: str = "") -> None:
    """A line of a result, on standard output, however long."""
    print(visible(text))


def paragraph(text: str, indent: str = "") -> None:
    """A sentence of a result on lines that fit a screen, the following ones further in."""
    say("\n".join(lines(text, indent)))


def lines(text: str, indent: str = "") -> list[str]:
    """The lines of a sentence."""
    width = min(120, out().width)
    wrapper = textwrap.TextWrapper(width, indent, f"{indent}  ", break_long_words=False, break_on_hyphens=False)
    return wrapper.wrap(text)


def note(text: str, *, quiet: bool = False) -> None:
    """A remark for a person, on standard error."""
    if not quiet:
        print(visible(text), file=sys.stderr)


def print_json(value: Any) -> None:  # noqa: ANN401 - any JSON value
    """JSON to standard output; what is not a finite number becomes null."""
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(visible_json(json.dumps(finite(value), indent=2, ensure_ascii=not is_unicode)))


def table(columns: list[str], rows: list[list[str]], *, title: str | None = None) -> Table:
    """A table whose first column is text and whose others are numbers."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        made.add_column(column, justify="left" if index == 0 else "right", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made
