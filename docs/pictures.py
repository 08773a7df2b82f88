"""Makes the SVG files of charts small: pictures of result pages have to fit into the repository.

Matplotlib writes a group for each artist, a whole style for each text, and six decimals. Here styles become classes,
coordinates have one decimal, lines keep the points that matter at 1280 pixels, and parts of one look become one path.
A picture has a seventh of the bytes and looks the same.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby, pairwise

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"

#: How far a thinned line may be from the whole one, in points: less than half a pixel of a page of 1280.
_TOLERANCE = 0.25

_FONTS = "'DejaVu Sans',Verdana,'Bitstream Vera Sans',sans-serif"

#: Of all pictures, before the classes.
_STYLE = f"*{{stroke-linejoin:round}}marker{{overflow:visible}}text{{font-family:{_FONTS};white-space:pre}}"

Point = tuple[float, float]


@dataclass
class _Run:
    """Parts of one look: subpaths, or the places of a marker."""

    look: str
    clip: str | None
    marker: str | None
    parts: list[str] = field(default_factory=list)


def compact(text: str) -> str:
    """The same picture in fewer bytes.

    Args:
        text: what Matplotlib writes for a chart of `multihop.report`, with text as text (`svg.fonttype` is "none").

    Raises:
        ValueError: if there is a path of other curves than the circles of markers.
    """
    return _Picture(ElementTree.fromstring(text)).written()


class _Picture:
    def __init__(self, root: ElementTree.Element) -> None:
        self.root = root
        self.shapes = {part.get("id", ""): part for part in root.iter(f"{_SVG}path")}
        self.clips = {part.get("id", ""): f"c{number}" for number, part in enumerate(root.iter(f"{_SVG}clipPath"))}
        #: Style -> class.
        self.classes: dict[str, str] = {}
        #: Marker -> its name.
        self.markers: dict[str, str] = {}
        #: Class -> texts. They are drawn last, because nothing is drawn over them.
        self.texts: dict[str, list[str]] = {}
        self.runs: list[_Run] = []
        #: The last runs, which may still grow: of one opaque colour, so that their order does not show.
        self.open: dict[tuple[str, str | None, str | None], _Run] = {}
        #: The colour of the open runs.
        self.paint: str | None = None
        self._walk(root, None)

    def written(self) -> str:
        """The file."""
        body = [
            f'<g clip-path="url(#{clip})">{"".join(drawn)}</g>' if clip else "".join(drawn)
            for clip, drawn in (
                (clip, [self._element(run) for run in runs]) for clip, runs in groupby(self.runs, lambda run: run.clip)
            )
        ]
        body += ["\n".join([f'<g class="{look}">', *texts, "</g>"]) for look, texts in self.texts.items()]
        defined = [
            f'<clipPath id="{self.clips[part.get("id", "")]}">{"".join(map(_rect, part))}</clipPath>'
            for part in self.root.iter(f"{_SVG}clipPath")
        ]
        defined += [
            f'<marker id="{name}" markerUnits="userSpaceOnUse">{marker}</marker>'
            for marker, name in self.markers.items()
        ]
        style = _STYLE + "".join(f".{name}{{{declared}}}" for declared, name in self.classes.items())
        sizes = " ".join(f'{name}="{self.root.get(name)}"' for name in ("width", "height", "viewBox"))
        head = [f'<svg xmlns="http://www.w3.org/2000/svg" {sizes}>', f"<style>{style}</style>"]
        return "\n".join([*head, f"<defs>{''.join(defined)}</defs>", *body, "</svg>\n"])

    def _walk(self, group: ElementTree.Element, clip: str | None) -> None:
        """Takes over what is drawn, in its order."""
        for part in group:
            kind = part.tag.removeprefix(_SVG)
            within = self.clips[part.get("clip-path", "")[len("url(#") : -1]] if part.get("clip-path") else clip
            if kind == "g":
                self._walk(part, within)
            elif kind == "text":
                self._text(part)
            elif kind == "path":
                self._add(_declared(part.get("style", "")), within, None, _path(_lines(part.get("d", ""))))
            elif kind == "use":
                self._use(part, within)

    def _use(self, part: ElementTree.Element, clip: str | None) -> None:
        """A marker at its place, or what is drawn once and not a marker."""
        shape = self.shapes[part.get(_HREF, "").removeprefix("#")]
        x, y, data = float(part.get("x", 0)), float(part.get("y", 0)), shape.get("d", "")
        style = _declared(f"{shape.get('style', '')};{part.get('style', '')}")
        if "z" not in data:
            # Has no inside, such as the cap of a whisker.
            self._add({**style, "fill": "none"}, clip, None, _path(_lines(data, (x, y))))
        elif x == 0:
            # Matplotlib's collections, such as bands, have their coordinates in the shape.
            self._add(style, clip, None, _path(_lines(data, (x, y))))
        else:
            drawn = _marker(data, self._look(style))
            name = self.markers.setdefault(drawn, f"m{len(self.markers)}")
            self._add(style, clip, name, f"{_number(x)} {_number(y)}")

    def _add(self, style: dict[str, str], clip: str | None, marker: str | None, part: str) -> None:
        """Adds a part to the run of its look, or begins one."""
        if not part:
            return
        look, paint = self._look(style), _paint(style)
        key = look, clip, marker
        if paint is None or paint != self.paint:
            last = self.runs[-1] if self.runs else None
            self.open = {each: run for each, run in self.open.items() if run is last and each == key}
            self.paint = paint
        if key not in self.open:
            self.runs.append(_Run(*key))
            self.open[key] = self.runs[-1]
        self.open[key].parts.append(part)

    def _element(self, run: _Run) -> str:
        if run.marker is None:
            return f'<path class="{run.look}" d="{"".join(run.parts)}"/>'
        # A marker stands at each vertex of a path that is not painted itself.
        look = self._look({"fill": "none", "marker": f"url(#{run.marker})"})
        return f'<path class="{look}" d="M{" ".join(run.parts)}"/>'

    def _text(self, part: ElementTree.Element) -> None:
        style = _declared(part.get("style", ""))
        style.pop("font-family", None)
        # Of several lines or tilted, a text is moved; otherwise it has its place, and most are turned by nothing.
        turn = re.sub(r"-?[\d.]+", lambda number: _number(float(number[0])), part.get("transform", ""))
        place: dict[str, str] = {name: _number(float(part.get(name, 0))) for name in ("x", "y") if name in part.attrib}
        place |= {} if not turn or turn.startswith("rotate(0 ") else {"transform": turn}
        shown = " ".join(f'{name}="{value}"' for name, value in place.items())
        text = f"<text {shown}>{escape(part.text or '', quote=False)}</text>"
        self.texts.setdefault(self._look(style), []).append(text)

    def _look(self, style: dict[str, str]) -> str:
        """The class of a style."""
        declared = ";".join(f"{key}:{value}" for key, value in style.items())
        return self.classes.setdefault(declared, f"s{len(self.classes)}")


def _declared(style: str) -> dict[str, str]:
    found = (entry.split(":", 1) for entry in style.split(";") if ":" in entry)
    return {key.strip(): value.strip() for key, value in found}


def _paint(style: dict[str, str]) -> str | None:
    """The only colour that a style paints with, if it is opaque."""
    if any("opacity" in key for key in style):
        return None
    used = {style.get("fill", "black"), style.get("stroke", "none")} - {"none"}
    return used.pop() if len(used) == 1 else None


def _rect(part: ElementTree.Element) -> str:
    sizes = " ".join(f'{name}="{_number(float(part.get(name, 0)))}"' for name in ("x", "y", "width", "height"))
    return f"<rect {sizes}/>"


def _marker(data: str, look: str) -> str:
    """What a marker shows. Those with curves are circles around their place."""
    if "C" in data:
        return f'<circle class="{look}" r="{_number(abs(float(data.split()[2])), 2)}"/>'
    return f'<path class="{look}" d="{_path(_lines(data), decimals=2)}"/>'


def _lines(data: str, by: Point = (0.0, 0.0)) -> Iterator[tuple[list[Point], bool]]:
    """Polylines, and whether each is closed."""
    points = list[Point]()
    for command, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", data):
        values = [float(number) for number in numbers.split()]
        found = [(x + by[0], y + by[1]) for x, y in zip(values[::2], values[1::2], strict=True)]
        if command == "M":
            yield points, False
            points = found
        elif command == "L":
            points += found
        elif command == "z":
            yield [*points, points[0]], True
            points = []
        else:
            raise ValueError(f"path command {command!r} is none that charts are made of")
    yield points, False


def _path(lines: Iterable[tuple[list[Point], bool]], decimals: int = 1) -> str:
    """Path data in relative steps; nothing for lines that are shorter than a step."""
    made = []
    for points, is_closed in lines:
        kept = [(round(x, decimals), round(y, decimals)) for x, y in _thinned(points)]
        steps = [(after[0] - before[0], after[1] - before[1]) for before, after in pairwise(kept)]
        # A closed line ends where it began.
        drawn = [_step(dx, dy, decimals) for dx, dy in (steps[:-1] if is_closed else steps) if dx or dy]
        if drawn:
            start = f"M{_number(kept[0][0], decimals)} {_number(kept[0][1], decimals)}"
            made.append(f"{start}{''.join(drawn)}{'z' if is_closed else ''}")
    return "".join(made)


def _step(dx: float, dy: float, decimals: int) -> str:
    x, y = _number(dx, decimals), _number(dy, decimals)
    if y == "0":
        return f"h{x}"
    if x == "0":
        return f"v{y}"
    return f"l{x}{y}" if y.startswith("-") else f"l{x} {y}"


def _thinned(points: Sequence[Point]) -> Sequence[Point]:
    """The points of a line that is nowhere farther from the whole one than the tolerance (Douglas and Peucker)."""
    if len(points) < 3:
        return points
    keep = {0, len(points) - 1}
    spans = [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        off, at = max(
            ((_distance(points[k], points[first], points[last]), k) for k in range(first + 1, last)), default=(0.0, 0)
        )
        if off > _TOLERANCE:
            keep.add(at)
            spans += [(first, at), (at, last)]
    return [points[k] for k in sorted(keep)]


def _distance(point: Point, start: Point, end: Point) -> float:
    """Of a point from a segment."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = dx * dx + dy * dy
    along = ((point[0] - start[0]) * dx + (point[1] - start[1]) * dy) / length if length else 0.0
    along = min(max(along, 0.0), 1.0)
    return math.hypot(point[0] - start[0] - along * dx, point[1] - start[1] - along * dy)


def _number(value: float, decimals: int = 1) -> str:
    """Without zeros that say nothing."""
    text = f"{round(value, decimals) + 0.0:.{decimals}f}".rstrip("0").rstrip(".")
    return re.sub(r"^(-?)0\.", r"\1.", text)
