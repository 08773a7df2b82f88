"""Number of cells of a claim that hold, fail or are undecided: a bar for each reading and compared pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from multihop.experiments.claims.judging import Cell, Judgement, State


@dataclass(frozen=True)
class Bar:
    """Cells by state: one count for each `State`, in its order."""

    counts: tuple[int, ...]

    @property
    def words(self) -> str:
        """Counts as text."""
        return ", ".join(f"{count} {state}" for state, count in zip(State, self.counts, strict=True) if count)

    def parts(self, width: int) -> list[tuple[State, int]]:
        """Returns how many of `width` symbols each state has: one per cell if they fit, else in proportion.

        A state with any cell has at least one symbol.
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
    """Bars of a reading.

    Attributes:
        readings: readings with these bars; empty for a claim with a single reading.
        bars: one bar for each pair that the claim compares.
    """

    readings: tuple[str, ...]
    bars: tuple[Bar, ...]


def pairs(judgement: Judgement) -> list[str]:
    """Returns the pairs that a claim compares, in its order; a single empty name without several."""
    found = list(dict.fromkeys(cell.pair for cell in judgement.cells))
    return found if len(found) > 1 else [""]


def rows(judgement: Judgement) -> list[Row]:
    """Returns the bars of a claim, a row for each reading; readings with equal bars share one."""
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
    """Returns the bar of all cells of a claim."""
    return _bar(judgement.cells)


def _bar(cells: Sequence[Cell]) -> Bar:
    return Bar(tuple(sum(cell.state is state for cell in cells) for state in State))
