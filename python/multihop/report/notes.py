"""Notes on the parts of a drawing: tooltips, and the numbers of panels. Only pages keep them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from multihop.report.numbers import Panel


class Notes:
    """Receiver of notes that keeps none, for axes outside of a page."""

    def tip(self, artist: Any, text: str, of: Sequence[str] = ()) -> None:  # noqa: ANN401 - any artist
        """Adds a tooltip to an artist, and its subjects; see `part`."""
        self.part(artist, text, of=of)

    def part(
        self,
        artist: Any,  # noqa: ANN401 - any artist
        tip: str = "",
        series: Sequence[str] = (),
        of: Sequence[str] = (),
    ) -> None:
        """Adds a tooltip to an artist, which is shown only while all of these series are.

        `of` names variants, flows and nodes by number, such as `v0`, `f1`, `n2`; the artist is highlighted
        while they are selected.
        """

    def panel(
        self,
        axis: Any,  # noqa: ANN401 - an Axes
        x: str,
        y: str,
        title: str = "",
        *,
        cursor: bool = False,
        zooms: bool = False,
    ) -> Panel:
        """Returns the panel of an axis; `cursor`: x values are rising numbers; `zooms`: a time series."""
        return Panel(axis, title, x, y, cursor, zooms)
