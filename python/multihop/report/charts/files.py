"""Figures as files for papers and slides, and on axes of a script."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from multihop.base.errors import UserError
from multihop.base.files import whole_file
from multihop.experiments.comparisons import VariantRuns
from multihop.report.charts import chosen, every, require_measures
from multihop.report.charts.figures import HANDLE, LETTER, Figure, legend_names, wrap_labels
from multihop.report.notes import Notes
from multihop.report.svg import paper_style, without_controls

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Name = TypeVar("_Name")

KINDS = ("pdf", "svg", "png")

_INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72}
_POINTS_PER_INCH = 72
_NARROWEST, _WIDEST = 1.5, 40.0
_SMALLEST_PT, _LARGEST_PT = 4.0, 40.0

#: Dots per inch of PNG.
_RESOLUTION = 300

_LEGEND_ROW, _TITLE = 1.4, 1.5

#: Share of the width that a legend on axes may take, since it begins at the axes.
_LEGEND_ROOM = 0.85


@dataclass(frozen=True)
class Paper:
    """Format of figures as files: kind, width in inches, size of text in points."""

    kind: str = "svg"
    width: float = 3.5
    font: float = 8.0

    @classmethod
    def of(cls, kind: str, width: str | float | None, font_size: float | None) -> Paper:
        """Returns the requested format; a `width` without unit is in inches.

        Raises:
            UserError: naming the value found and what is needed.
        """
        if kind not in KINDS:
            raise UserError(f"figures: found {kind!r}; needs {', '.join(KINDS[:-1])} or {KINDS[-1]}")
        inches = cls.width if width is None else _inches(width)
        font = cls.font if font_size is None else font_size
        if isinstance(font, bool) or not isinstance(font, int | float) or not _SMALLEST_PT <= font <= _LARGEST_PT:
            raise UserError(f"font size: found {font!r}; needs {_SMALLEST_PT:g} to {_LARGEST_PT:g} points")
        return cls(kind, inches, float(font))


def _inches(width: str | float) -> float:
    found = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?|\.\d{1,9})\s*([a-z]*)\s*", str(width), re.ASCII)
    inches = float(found[1]) * _INCHES.get(found[2] or "in", math.nan) if found else math.nan
    if not _NARROWEST <= inches <= _WIDEST:
        shown = repr(width) if isinstance(width, str) else f"{width}"
        raise UserError(
            f"width: found {shown}; needs a length of {_NARROWEST:g} to {_WIDEST:g} in, as in 3.5in, 8.9cm, 89mm or "
            "252pt"
        )
    return inches


def write(runs: VariantRuns, directory: Path, paper: Paper, metrics: Sequence[str] | None = None) -> list[Path]:
    """Writes each figure as a file, or only those that show these metrics.

    Raises:
        UserError: if the directory cannot be written, or no figure shows one of the metrics.
    """
    if metrics is not None:
        require_measures(metrics)
    figures = every(runs) if metrics is None else chosen(every(runs), metrics)
    written = []
    with paper_style(paper.font):
        for figure in figures:
            data = drawn(figure, paper)
            path = directory / f"{figure.name}.{paper.kind}"
            with whole_file(path, runs.scenario.file) as part:
                part.write_bytes(data)
            written.append(path)
    return written


def drawn(figure: Figure, paper: Paper) -> bytes:
    """Draws all facets and the legend in one picture."""
    from matplotlib.figure import Figure as Canvas

    em = paper.font / _POINTS_PER_INCH
    count = len(figure.facets)
    across = max(1, min(count, int(paper.width / (figure.least * em))))
    down = math.ceil(count / across)
    names = legend_names(figure.keys, paper.width / em)
    per_row = legend_columns(names, paper.width / em)
    titles = any(facet.title for facet in figure.facets)
    rows = _legend_lines(names, per_row) + bool(figure.keys_title)
    legend = _LEGEND_ROW * rows + 0.6 if figure.keys else 0.0
    height = em * (down * (figure.height + figure.depth + (_TITLE if titles else 0.0)) + legend)
    picture = Canvas(figsize=(paper.width, height), layout="constrained")
    for number, facet in enumerate(figure.facets):
        axis = picture.add_subplot(down, across, number + 1)
        facet.draw(Notes(), axis)
        # The title is omitted if the label of the axis says the same.
        is_named = facet.title and facet.title != axis.get_ylabel()
        axis.set_title(facet.title if is_named else "")
        if figure.shares_y and number % across:
            axis.set_ylabel("")
        wrap_labels(axis, paper.width / em / across, figure.height)
    if figure.keys:
        # Matplotlib fills columns, from the top of the first; readers read rows.
        rows_first = [number for part in _columns(range(len(names)), per_row) for number in part]
        handles = [figure.keys[number].handle() for number in rows_first]
        shown = [names[number] for number in rows_first]
        named = {"title": figure.keys_title, "alignment": "left"} if figure.keys_title else {}
        picture.legend(handles, shown, loc="outside upper left", ncols=per_row, **named)
    buffer = io.BytesIO()
    about = {"pdf": ("CreationDate", "Creator", "Producer"), "svg": ("Date", "Creator"), "png": ("Software",)}
    picture.savefig(buffer, format=paper.kind, dpi=_RESOLUTION, metadata=dict.fromkeys(about[paper.kind]))
    data = buffer.getvalue()
    return without_controls(data.decode()).encode() if paper.kind == "svg" else data


def legend_columns(names: Sequence[str], width: float) -> int:
    """Returns the most columns of a legend of these names within this width in heights of its text."""
    for columns in range(len(names), 1, -1):
        letters = [max(len(line) for name in part for line in name.split("\n")) for part in _columns(names, columns)]
        if sum(LETTER * most + HANDLE for most in letters) <= width:
            return columns
    return 1


def _columns(names: Sequence[_Name], columns: int) -> list[Sequence[_Name]]:
    """Returns the names of each column of a legend that is read row by row."""
    return [names[column::columns] for column in range(columns)]


def _legend_lines(names: Sequence[str], columns: int) -> int:
    """Returns the number of lines of the highest column of a legend."""
    return max((sum(name.count("\n") + 1 for name in part) for part in _columns(names, columns)), default=0)


def on_axes(figure: Figure, ax: Axes | None, facet: int = 0) -> Axes:
    """Draws a facet with the legend on the given axes, or on those of a new figure as wide as a file's."""
    drawing = figure.facets[facet]
    if ax is not None:
        drawing.draw(Notes(), ax)
        if figure.keys:
            ax.legend([key.handle() for key in figure.keys], legend_names(figure.keys), title=figure.keys_title or None)
        return ax
    from matplotlib import pyplot as plt

    paper = Paper()
    em = paper.font / _POINTS_PER_INCH
    room = _LEGEND_ROOM * paper.width / em
    names = legend_names(figure.keys, room)
    columns = legend_columns(names, room)
    # The legend is above the axes, so that its title is also that of one of several facets.
    titles = [*([drawing.title] if len(figure.facets) > 1 else []), *([figure.keys_title] if figure.keys_title else [])]
    height = figure.height + figure.depth + _LEGEND_ROW * (_legend_lines(names, columns) + len(titles))
    # A notebook's backend turns interactive mode on with the first figure. Within the style, the end of the
    # style would turn it off again.
    canvas = plt.figure(figsize=(paper.width, em * height))
    with paper_style(paper.font):
        canvas.set_layout_engine("constrained")
        made: Axes = canvas.add_subplot()
        drawing.draw(Notes(), made)
        wrap_labels(made, paper.width / em, figure.height)
        if figure.keys or titles:
            handles = [key.handle() for key in figure.keys]
            places = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0, "alignment": "left"}
            made.legend(handles, names, ncols=columns, title="\n".join(titles) or None, **places)
    return made
