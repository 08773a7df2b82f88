"""Figures in a page: a picture per facet, so that pictures wrap on narrow pages."""

from __future__ import annotations

from multihop.report.charts import figures
from multihop.report.charts.figures import Figure, Key, wrap_labels
from multihop.report.markup import escape, paragraphs
from multihop.report.svg import Chart

_POINTS_PER_INCH = 72
#: Size of text in pictures of a page, and the share of it below which text does not shrink.
_FONT_PT, _SMALLEST = 10.0, 0.8
#: Largest size of a wide picture in pixels per point.
_PIXELS_PER_POINT = 1.36


def html(shown: Figure, *, captioned: bool = True, below: str = "") -> str:
    """Returns a `<figure>` of the page: caption, legend, pictures, and content below them."""
    least = int(shown.width * _POINTS_PER_INCH * _SMALLEST)
    several = len(shown.facets) > 1
    pictures = "".join(f"<div>{_picture(shown, number)}</div>" for number in range(len(shown.facets)))
    grid = f' style="--least: {least}px; --columns: {shown.columns}"' if several else ""
    caption = (f"<b>{escape(shown.title)}</b>" if captioned else "") + paragraphs(shown.note)
    return (
        f'<figure class="chart-box{"" if several or shown.is_wide else " half"}" '
        f'id="figure-{escape(shown.key or shown.name)}">'
        + (f"<figcaption>{caption}</figcaption>" if caption else "")
        + f'{_legend(shown)}<div class="panels{" several" if several else ""}"{grid}>{pictures}</div>'
        f'<div class="below">{below}</div></figure>'
    )


def _picture(shown: Figure, number: int) -> str:
    facet, points = shown.facets[number], shown.width * _POINTS_PER_INCH
    label = f"{shown.title}: {facet.title}" if facet.title else shown.title
    height = (shown.height + shown.depth) * _FONT_PT / _POINTS_PER_INCH + (0.2 if facet.title else 0.0)
    chart = Chart(f"{shown.key or shown.name}{number}", label, shown.width, height)
    axis = chart.figure.subplots()
    facet.draw(chart, axis)
    axis.set_title("" if facet.title == axis.get_ylabel() else facet.title)
    wrap_labels(axis, points / _FONT_PT, shown.height)
    most = f"{_PIXELS_PER_POINT * points:.0f}px" if shown.is_wide else "100%"
    return chart.svg(f"min-width: {_SMALLEST * points:.0f}px; max-width: {most}")


def _legend(shown: Figure) -> str:
    """Returns the legend: switches of series, which the script enables, or subjects to select."""
    if any(key.switch for key in shown.keys):
        title = f'<span class="title">{escape(shown.keys_title)}</span>' if shown.keys_title else ""
        entries = "".join(
            f'<button type="button" aria-pressed="true" data-switch="{key.switch}" disabled>'
            f"{_swatch(key)}{escape(key.name)}</button>"
            if key.switch
            else f"<span>{_swatch(key)}{escape(key.name)}</span>"
            for key in shown.keys
        )
        return f'<div class="legend" role="group" aria-label="Series of this chart">{title}{entries}</div>'
    entries = "".join(
        f"<span{f' data-of={key.of}' if key.of else ''}>{_swatch(key)}{escape(key.name)}</span>" for key in shown.keys
    )
    return f'<div class="keys">{entries}</div>' if entries else ""


def _swatch(key: Key) -> str:
    colour = key.colour or "currentColor"
    dash = {"-": "", "--": ' stroke-dasharray="6 3"', ":": ' stroke-dasharray="2 2"'}[key.dash]
    line = f'<path d="M1 6H25" stroke="{colour}" stroke-width="2"{dash}/>'
    match key.mark:
        case "bar":
            return _drawing(_box(colour, key.hatch))
        case "band":
            return _drawing(f'<rect x="4" width="18" height="12" fill="{colour}" opacity=".25"/>')
        case "shade":
            return _drawing('<rect x="4" width="18" height="12" fill="var(--grid)" opacity=".5"/>')
        case "line" if key.marker:
            return _drawing(line + _marker(key.marker, colour))
        case "line":
            return _drawing(line)
        case "thin":
            return _drawing(f'<path d="M1 6H25" stroke="{colour}" stroke-width=".7" opacity=".7"/>')
        case "interval":
            return _drawing(f'<path d="M3 6H23M3 2V10M23 2V10" stroke="{colour}" stroke-width="1.2"/>')
        case figures.CLAIMED:
            return _drawing('<path d="M13 1 18 6 13 11 8 6Z" fill="none" stroke="currentColor" stroke-width="1.4"/>')
        case figures.SEED:
            return _drawing('<circle cx="13" cy="6" r="2.2" fill="#ffffff" stroke="currentColor" stroke-width=".8"/>')
    return _drawing(_marker(key.mark, colour))


def _marker(marker: str, colour: str) -> str:
    return f'<g transform="translate(7)" fill="{colour}">{_SHAPES[marker]}</g>'


def _box(colour: str, hatch: str) -> str:
    edge = ' stroke="currentColor" stroke-width=".6"'
    marks = {"": "", "/": "M7 11 18 1M7 6 13 1M11 11.5 19 5", ".": "M9 3h1M13 3h1M17 3h1M9 7h1M13 7h1M17 7h1"}[
        hatch[:1]
    ]
    drawn_over = f'<path d="{marks}" stroke="currentColor" stroke-width="1"/>' if marks else ""
    return f'<rect x="7" width="12" height="12" fill="{colour}"{edge}/>{drawn_over}'


def _drawing(content: str) -> str:
    return f'<svg class="swatch" viewBox="0 0 26 12" width="26" height="12" aria-hidden="true">{content}</svg>'


#: Shapes of markers in a box of 12 by 12, as in Matplotlib.
_SHAPES = {
    "o": '<circle cx="6" cy="6" r="4"/>',
    "s": '<rect x="2.3" y="2.3" width="7.4" height="7.4"/>',
    "^": '<path d="M6 1.8 10.2 10H1.8Z"/>',
    "v": '<path d="M6 10.2 10.2 2H1.8Z"/>',
    "<": '<path d="M1.8 6 10 1.8V10.2Z"/>',
    ">": '<path d="M10.2 6 2 1.8V10.2Z"/>',
    "D": '<path d="M6 1 11 6 6 11 1 6Z"/>',
    "P": '<path d="M4.5 1.8h3v2.7h2.7v3H7.5v2.7h-3V7.5H1.8v-3h2.7Z"/>',
    "X": '<path d="M3.7 1.6 6 3.9 8.3 1.6 10.4 3.7 8.1 6 10.4 8.3 8.3 10.4 6 8.1 3.7 10.4 1.6 8.3 3.9 6 1.6 3.7Z"/>',
    "*": '<path d="M6 1 7.3 4.6 11 4.6 8.1 6.9 9.2 10.5 6 8.3 2.8 10.5 3.9 6.9 1 4.6 4.7 4.6Z"/>',
}
