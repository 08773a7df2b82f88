"""Picture of coexistence: a row per scheme, a column per network and rival, the share as colour and number.

The picture is drawn without Matplotlib, narrow, so that its numbers are legible on a phone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from multihop.leagues import kind_of
from multihop.leagues import rules as league_rules
from multihop.leagues.coexistence import Pair
from multihop.results.statistics import Estimate

#: Width of the picture in its own units, and on a wide screen in pixels.
_WIDTH, _SHOWN = 400, 600

#: Width of the names, height of a row, of the legend, and of the heads of columns.
_NAMES, _ROW, _LEGEND, _HEADS = 116, 18, 44, 34

#: Gap between networks and between kinds of schemes.
_GAP, _KIND = 3, 18

#: Colours of a share of 0, 1/2 and 1: both ends are distinguishable with any common colour blindness.
_ENDS = ((0x7F, 0xB8, 0xDE), (0xFF, 0xFF, 0xFF), (0xF2, 0xA2, 0x5C))

#: Number of colours of each half.
_STEPS = 10

#: Colour of cells without a share.
_NONE = "#eceff1"

_STYLE = (
    ".cx text{fill:#1c2126;font:10.5px Helvetica,Arial,sans-serif}.cx .mid{text-anchor:middle}"
    ".cx .bold{font-weight:bold}.cx .small{font-size:9.5px}"
)


def svg(found: Sequence[Pair]) -> str:
    """Returns the picture as an SVG file, dark on white."""
    columns = list(dict.fromkeys((pair.network, pair.rival) for pair in found))
    places = _places(columns)
    wide = places[columns[1]] - places[columns[0]] if len(columns) > 1 else 28.0
    parts, rows, y = [*_legend(), *_heads(columns, places, wide)], [], float(_LEGEND + _HEADS)
    for kind, about in league_rules()["kinds"].items():
        schemes = list(dict.fromkeys(pair.scheme for pair in found if kind_of(pair.scheme) == kind))
        if not schemes:
            continue
        parts.append(f'<text class="bold" x="2" y="{y + 13:g}">{escape(about["title"])}</text>')
        y += _KIND
        for scheme in schemes:
            rows.append((scheme, y))
            y += _ROW
    parts += _cells(found, dict(rows), places, wide)
    label = escape("Share of the goodput of each scheme beside another one, in percent, by network")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="cx" viewBox="0 0 {_WIDTH} {y + 4:g}" width="{_SHOWN}" '
        f'height="{(y + 4) * _SHOWN / _WIDTH:.0f}" role="img" aria-label="{label}">\n<style>{_STYLE}</style>\n'
        '<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _places(columns: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Returns the left edge of each column; networks are set apart."""
    networks = list(dict.fromkeys(network for network, _ in columns))
    wide = (_WIDTH - 2 - _NAMES - _GAP * (len(networks) - 1)) / max(len(columns), 1)
    return {column: _NAMES + index * wide + _GAP * networks.index(column[0]) for index, column in enumerate(columns)}


def _legend() -> Iterator[str]:
    """Yields what colours, lines and frames mean."""
    x = 2
    for share, said in ((0.0, "all is the rival's"), (0.5, "equal"), (1.0, "all is the scheme's")):
        yield f'<path d="M{x} 5h14v12h-14z" fill="{_colour(share)}" stroke="#9aa4ad" stroke-width=".6"/>'
        yield f'<text x="{x + 18}" y="15">{escape(said)}</text>'
        x += 24 + round(5.6 * len(said))
    yield '<path d="M2 31h14" stroke="#1c2126" stroke-width="1.6"/>'
    yield '<text x="20" y="34">95 % interval, from 0 to 100 %</text>'
    yield '<path d="M194 24h14v12h-14z" fill="none" stroke="#1c2126" stroke-width="1.4"/>'
    yield '<text x="212" y="34">starves, or is starved</text>'


def _heads(columns: Sequence[tuple[str, str]], places: dict[tuple[str, str], float], wide: float) -> Iterator[str]:
    """Yields the networks, and below them the rivals."""
    for network in dict.fromkeys(network for network, _ in columns):
        own = [places[column] for column in columns if column[0] == network]
        middle = (own[0] + own[-1] + wide) / 2
        yield f'<text class="mid bold" x="{middle:.1f}" y="{_LEGEND + 14}">{escape(network)}</text>'
    yield f'<text class="small" x="2" y="{_LEGEND + 28}">share in %, beside</text>'
    for column in columns:
        rival = escape(column[1].removeprefix("tcp-"))
        yield f'<text class="mid small" x="{places[column] + wide / 2:.1f}" y="{_LEGEND + 28}">{rival}</text>'


def _cells(
    found: Sequence[Pair], rows: dict[str, float], places: dict[tuple[str, str], float], wide: float
) -> Iterator[str]:
    """Yields cells by colour, intervals, frames of verdicts, and a line of text per scheme."""
    boxes: dict[str, list[str]] = {}
    lines, frames = [], []
    texts: dict[str, list[str]] = {scheme: [] for scheme in rows}
    for pair in found:
        x, y = places[pair.network, pair.rival], rows[pair.scheme]
        box = f"M{x:.1f} {y:g}h{wide:.1f}v{_ROW}h-{wide:.1f}z"
        boxes.setdefault(_NONE if pair.share is None else _colour(pair.share.mean), []).append(box)
        if pair.share is not None:
            lines += _interval(pair.share, x, y, wide)
        if pair.verdict:
            frames.append(f"M{x + 0.8:.1f} {y + 0.8:g}h{wide - 1.6:.1f}v{_ROW - 1.6:g}h-{wide - 1.6:.1f}z")
        number = "none" if pair.share is None else f"{100 * pair.share.mean:.0f}"
        bold = ' class="bold"' if pair.verdict else ""
        texts[pair.scheme].append(f'<tspan x="{x + wide / 2:.1f}"{bold}>{number}</tspan>')
    for colour, paths in boxes.items():
        yield f'<path fill="{colour}" stroke="#ffffff" stroke-width=".7" d="{"".join(paths)}"/>'
    yield f'<path stroke="#1c2126" stroke-width="1.4" d="{"".join(lines)}"/>'
    yield f'<path fill="none" stroke="#1c2126" stroke-width="1.3" d="{"".join(frames)}"/>'
    for scheme, y in rows.items():
        yield f'<text x="2" y="{y + 12.5:g}">{escape(scheme)}</text>'
        yield f'<text class="mid" y="{y + 11.5:g}">{"".join(texts[scheme])}</text>'


def _interval(share: Estimate, x: float, y: float, wide: float) -> list[str]:
    """Returns the line of an interval, at least a dot, on the scale of its cell from 0 to 1."""
    if share.low is None or share.high is None:
        return []
    inside = wide - 6
    low, high = x + 3 + inside * share.low, x + 3 + inside * share.high
    return [f"M{low:.1f} {y + _ROW - 3:g}h{max(high - low, 1.2):.1f}"]


def _colour(share: float) -> str:
    """Returns the colour of a share, in steps."""
    step = round((2 * min(max(share, 0.0), 1.0) - 1) * _STEPS) / _STEPS
    end, middle = _ENDS[2 if step > 0 else 0], _ENDS[1]
    mixed = [round(a + abs(step) * (b - a)) for a, b in zip(middle, end, strict=True)]
    return "#{:02x}{:02x}{:02x}".format(*mixed)
