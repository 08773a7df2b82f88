"""Building blocks of HTML reports. Text from users is escaped here."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterable, Sequence
from importlib import resources

from multihop.base.escaping import visible
from multihop.results.statistics import Estimate


def document(title: str, body: str) -> str:
    """Returns a whole page around `body`, with its style and script inline."""
    return visible(
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)} - multihop</title>\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<style>\n{_resource('style.css')}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n"
        '<div id="tooltip" role="status" hidden></div>\n'
        f"<script>\n{_resource('script.js')}{_resource('linked.js')}</script>\n</body>\n</html>\n"
    )


def section(title: str, content: str, note: str = "") -> str:
    """Returns a section with a heading and a remark below it."""
    return f"<section><h2>{escape(title)}</h2>{content}{remark(note)}</section>"


def paragraphs(text: str) -> str:
    """Returns text as paragraphs, separated by blank lines."""
    return "".join(f"<p>{escape(part.strip())}</p>" for part in text.split("\n\n") if part.strip())


def remark(text: str) -> str:
    """Returns a remark in small print; nothing for empty text."""
    return f'<p class="note">{escape(text.strip())}</p>' if text.strip() else ""


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Returns a table of names and values."""
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in pairs)
    return f'<table class="facts">{rows}</table>'


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    kind: str = "",
    names: int = 1,
    significant: Collection[int] = (),
) -> str:
    """Returns a scrollable table of plain text.

    Args:
        heads: heads of the columns.
        rows: texts of each row.
        kind: classes of the table.
        names: number of first columns that are names; others are numbers.
        significant: indices of emphasised rows.
    """
    head = "".join(f'<th scope="col"{_is_name(i, names)}>{escape(text)}</th>' for i, text in enumerate(heads))
    body = "".join(
        f"<tr{' class=significant' if number in significant else ''}>"
        + "".join(f"<td{_is_name(i, names)}>{escape(text)}</td>" for i, text in enumerate(row))
        + "</tr>"
        for number, row in enumerate(rows)
    )
    return (
        f'<div class="scroll {escape(kind)}" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def disclosure(summary: str, content: str, kind: str = "") -> str:
    """Returns content that is shown on demand, without a script."""
    return f'<details class="{escape(kind)}"><summary>{escape(summary)}</summary>{content}</details>'


def estimate_words(found: Estimate, unit: str) -> str:
    """Returns a mean with its interval and number of seeds for a tooltip. The estimate is in `unit`."""
    text = f"{found.mean:.4g} {unit}".rstrip()
    if found.low is None or found.high is None:
        return text
    return f"{text}, 95 % interval {found.low:.4g} to {found.high:.4g}, {found.n} seeds"


def escape(text: str) -> str:
    """Escapes text for HTML elements and quoted attributes."""
    return html.escape(text, quote=True)


def _is_name(index: int, names: int) -> str:
    return ' class="name"' if index < names else ""


def _resource(name: str) -> str:
    return resources.files("multihop.report").joinpath(name).read_text(encoding="utf-8")
