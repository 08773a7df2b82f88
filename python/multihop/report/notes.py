"""Notes that a drawing leaves on its parts: tooltips, and the numbers of its panels. Only pages keep them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from multihop.report.numbers import Panel


class Notes:
    """Receives the notes of a drawing and keeps none: for axes that go into no page."""

    def tip(self, artist: Any, text: str, of: Sequence[str] = ()) -> None:  # noqa: ANN401 - any artist
        """Says `text` when the pointer is on the artist, and what it is of: see `part`."""
        self.part(artist, text, of=of)

    def part(
        self,
        artist: Any,  # noqa: ANN401 - any artist
        tip: str = "",
        series: Sequence[str] = (),
        of: Sequence[str] = (),
    ) -> None:
        """Gives the artist a tooltip; the artist is shown only while all of these series are.

        `of` names variants, flows and nodes by number, as in `v0`, `f1`, `n2`: it is lit while these are
        picked.
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
        """The panel for an axis' numbers; `cursor`: places are rising numbers; `zooms`: a time series."""
        return Panel(axis, title, x, y, cursor, zooms)
