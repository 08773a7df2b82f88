"""How many cells of a claim hold, fail or are undecided: a bar for each reading and each pair compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from multihop.claims.judging import Cell, Judgement, State


@dataclass(frozen=True)
class Bar:
    """Cells by state: one count for each `State`, in its order."""

    counts: tuple[int, ...]

    @property
    def words(self) -> str:
        """The same as text."""
        return ", ".join(f"{count} {state}" for state, count in zip(State, self.counts, strict=True) if count)

    def parts(self, width: int) -> list[tuple[State, int]]:
        """How many of `width` symbols each state has: one a cell if they fit, otherwise in proportion.

        A state that any cell has is given one at least.
        """
        total = sum(self.counts)
        if total <= width:
            return [(state, count) for state, count in zip(State, self.counts, strict=True) if count]
        exact = {state: count * width / total for state, count in zip(State, self.counts, strict=True) if count}
        given = {state: max(1, int(share)) for state, share in exact.items()}
        while sum(given.values()) != width:
            step = 1 if sum(given.values()) < width else -1
            state = max(
                (state for state in given if step > 0 or given[state] > 1),
                key=lambda state: step * (exact[state] - given[state]),
            )
            given[state] += step
        return list(given.items())


@dataclass(frozen=True)
class Row:
    """The bars of a reading.

    Attributes:
        readings: that came out so; none of a claim that has one only.
        bars: one for each pair that the claim compares.
    """

    readings: tuple[str, ...]
    bars: tuple[Bar, ...]


def pairs(judgement: Judgement) -> list[str]:
    """What a claim compares, in its order; a single one without a name if that is one thing."""
    found = list(dict.fromkeys(cell.pair for cell in judgement.cells))
    return found if len(found) > 1 else [""]


def rows(judgement: Judgement) -> list[Row]:
    """The bars of a claim, a row for each reading; readings that came out alike share one."""
    compared = pairs(judgement)
    cells: dict[str, list[Cell]] = {}
    for cell in judgement.cells:
        cells.setdefault(cell.reading, []).append(cell)
    alike: dict[tuple[Bar, ...], list[str]] = {}
    for reading, own in cells.items():
        bars = tuple(_bar([cell for cell in own if pair in ("", cell.pair)]) for pair in compared)
        alike.setdefault(bars, []).append(reading)
    named = len(alike) > 1
    return [Row(tuple(readings) if named else (), bars) for bars, readings in alike.items()]


def whole(judgement: Judgement) -> Bar:
    """All cells of a claim."""
    return _bar(judgement.cells)


def _bar(cells: Sequence[Cell]) -> Bar:
    return Bar(tuple(sum(cell.state is state for cell in cells) for state in State))
