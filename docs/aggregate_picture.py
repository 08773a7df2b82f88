"""The picture of an aggregate that loses packets, of the next one, and of the packets that wait."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from docs.aggregate_run import Mpdu, Story

from multihop.report.svg import FAINT, INK, PALETTE, Chart, style

_DATA, _AGAIN, _ANSWER, _LOST, _HELD, _PREAMBLE, _CONTENDS, _ = PALETTE
#: Of what waits for nothing but the end of its aggregate.
_COMES = FAINT
_PAPER = "#ffffff"

#: In inches: narrow, so that its text is legible on a phone.
_WIDTH, _HEIGHT = 5.8, 5.6

#: Lanes of the upper part, from below, and how tall boxes are in each part, where lanes and rows are 1 apart.
_BITS, _RECEIVER, _SENDER = range(3)
_LANE, _ROW = 0.66, 0.74
#: Of a box of what was lost.
_STRIPES = 4


def svg(found: Story) -> str:
    """The picture, dark on white."""
    with style():
        chart = Chart("aggregate", "An aggregate that loses two packets, and the next one", _WIDTH, _HEIGHT)
        air, packets = chart.figure.subplots(2, 1, sharex=True, height_ratios=[3, 6])
        drawing = _Drawing(found)
        drawing.on_air(air)
        drawing.of_packets(packets)
        return chart.file()


class _Drawing:
    def __init__(self, found: Story) -> None:
        self.found = found
        self.exchanges = (found.first, found.second)
        mpdus = chain.from_iterable(exchange.mpdus for exchange in self.exchanges)
        #: The row of each packet.
        self.rows = {packet: row for row, packet in enumerate(sorted({mpdu.packet for mpdu in mpdus}))}

    def on_air(self, axis: Any) -> None:  # noqa: ANN401 - an Axes
        """What the two stations send, in a lane each, and what the receiver says of each MPDU, below it."""
        for exchange in self.exchanges:
            self._box(axis, _SENDER, (exchange.contends, exchange.begins), _CONTENDS, _LANE / 2)
            self._box(axis, _SENDER, (exchange.begins, exchange.mpdus[0].begins), _PREAMBLE, _LANE)
            for mpdu in exchange.mpdus:
                self._mpdu(axis, _SENDER, mpdu, _LANE)
                if not mpdu.arrived:
                    # Between the number and the stripes.
                    self._box(axis, _SENDER, (mpdu.begins, mpdu.ends), _LOST, 0.6 * _LANE)
                self._text(axis, _SENDER, mpdu, str(mpdu.packet), INK if self._is_again(mpdu) else _PAPER)
                self._text(axis, _BITS, mpdu, f"{mpdu.arrived:d}", INK)
            self._box(axis, _RECEIVER, (exchange.answer_begins, exchange.answer_ends), _ANSWER, _LANE)
            axis.text(self._ms(exchange.ends) - 0.02, _RECEIVER, "SIFS, BlockAck", ha="right", va="center")
        axis.set_yticks([_BITS, _RECEIVER, _SENDER], ["bitmap", "receiver", "sender"])
        axis.set_ylim(_BITS - 0.5, _SENDER + 0.5)
        axis.grid(visible=False)
        axis.tick_params(labelbottom=False)
        axis.spines["bottom"].set_visible(False)
        mpdus = {"MPDU": _DATA, "lost": _LOST, "sent again": _AGAIN}
        _key(axis, {"DIFS, back-off": _CONTENDS, "preamble": _PREAMBLE, **mpdus})

    def of_packets(self, axis: Any) -> None:  # noqa: ANN401 - an Axes
        """A row for each packet: when it is on the air, waits at the receiver, and is passed up."""
        for exchange in self.exchanges:
            for mpdu in exchange.mpdus:
                row = self.rows[mpdu.packet]
                self._mpdu(axis, row, mpdu, _ROW)
                if mpdu.arrived:
                    self._box(axis, row, (mpdu.ends, exchange.ends), _COMES, _ROW / 3)
                    self._box(axis, row, (exchange.ends, self.found.passed_up[mpdu.packet]), _HELD, _ROW / 3)
        times = [self._ms(self.found.passed_up[packet]) for packet in self.rows]
        passed = axis.plot(times, list(self.rows.values()), "o", color=INK, markersize=5, label="passed up")
        axis.set_yticks(list(self.rows.values()), list(self.rows))
        axis.set_ylim(len(self.rows) - 0.4, -0.6)
        axis.set_ylabel("packet")
        axis.set_xlabel("time (ms)")
        axis.set_xlim(0, self._ms(self.found.second.answer_ends) + 0.03)
        _key(axis, {"the rest of its aggregate comes": _COMES, "waits for what was lost": _HELD}, passed)

    def _mpdu(self, axis: Any, y: float, mpdu: Mpdu, tall: float) -> None:  # noqa: ANN401 - an Axes
        colour = _AGAIN if self._is_again(mpdu) else _DATA if mpdu.arrived else _LOST
        self._box(axis, y, (mpdu.begins, mpdu.ends), colour, tall)
        left, right, bottom, top = self._ms(mpdu.begins), self._ms(mpdu.ends), y - tall / 2, y + tall / 2
        axis.plot([right, right], [bottom, top], color=_PAPER, linewidth=0.8)
        if not mpdu.arrived:
            for stripe in range(_STRIPES):
                at, step = left + (right - left) * stripe / _STRIPES, (right - left) / _STRIPES
                # Where boxes are, so that the next one is drawn over it.
                axis.plot([at, at + step], [bottom, top], color=_PAPER, linewidth=1.5, zorder=1)

    def _is_again(self, mpdu: Mpdu) -> bool:
        return mpdu.arrived and mpdu.packet in self.found.first.lost

    def _text(self, axis: Any, y: float, mpdu: Mpdu, text: str, colour: str) -> None:  # noqa: ANN401 - an Axes
        axis.text(self._ms((mpdu.begins + mpdu.ends) // 2), y, text, ha="center", va="center_baseline", color=colour)

    def _box(self, axis: Any, y: float, of: tuple[int, int], colour: str, tall: float) -> None:  # noqa: ANN401 - an Axes
        left, right = map(self._ms, of)
        bottom, top = y - tall / 2, y + tall / 2
        axis.fill([left, right, right, left], [bottom, bottom, top, top], color=colour, linewidth=0)

    def _ms(self, time: int) -> float:
        """Since the picture begins."""
        return (time - self.found.first.contends) / 1e6


def _key(axis: Any, colours: dict[str, str], more: Sequence[Any] = ()) -> None:  # noqa: ANN401 - an Axes
    """What colours mean, and other artists, above an axis."""
    boxes = [axis.fill([], [], color=colour, linewidth=0, label=said)[0] for said, colour in colours.items()]
    handles = [*boxes, *more]
    axis.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(-0.14, 1.0),
        ncols=len(handles),
        borderaxespad=0,
        handlelength=1,
        handletextpad=0.4,
        columnspacing=1,
    )
