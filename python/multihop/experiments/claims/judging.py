"""Verdicts: tests the claims of a paper against the runs of a study.

Every claim is divided into cells, one for each number or comparison. A cell *holds*, *fails*, or is
*undecided* if the seeds do not decide, as with a single seed. The verdict depends on the number of cells that
hold: `grade` has the rule, which applies to a claim and to one reading of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise

from multihop.experiments.outcomes import StudyRuns
from multihop.experiments.points import advancing_with, as_list
from multihop.experiments.specs import Claim, Label, Whose, tolerance
from multihop.optima.capacity import bound
from multihop.results.columns import Metric
from multihop.results.statistics import Estimate, PairedDifference
from multihop.results.words import with_interval


class State(StrEnum):
    """State of a cell."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"
    MISSING = "missing"


class Verdict(StrEnum):
    """Verdict on a claim, the best first."""

    REPRODUCED = "reproduced"
    MOSTLY_HOLDS = "mostly holds"
    MIXED = "mixed"
    MOSTLY_FAILS = "mostly fails"
    NOT = "not reproduced"
    UNDECIDED = "undecided"
    UNKNOWN = "no runs"

    @property
    def symbol(self) -> str:
        """Symbol of the verdict for displays without colour: the fuller, the more cells hold."""
        return "●◕◑◔○?-"[list(Verdict).index(self)]


#: Least share of decided cells of a claim, below which the claim is undecided.
DECIDED_SHARE = 1 / 2

#: Share of decided cells from which a claim *mostly* holds; one minus this for *mostly* fails.
MOST = 3 / 4


#: Cause of a claim that does not hold and gives none.
NOT_ATTRIBUTED = "not attributed"

_WHOSE: dict[Whose, str] = {"paper": "paper's", "platform": "platform's", "reading": "reading's", "ours": "ours"}

#: All causes of differences.
WHOSE = (*_WHOSE.values(), NOT_ATTRIBUTED)


@dataclass(frozen=True)
class Cell:
    """One number or comparison of a claim.

    Attributes:
        what: points of the cell.
        measured: value of the runs, with interval and unit.
        expected: value of the claim.
        state: whether the claim holds here.
        printed: the paper's number in the metric's unit, if there is one.
        possible: upper bound of the channel in the metric's unit, if the claim asks for it.
        reading: reading of the paper, if the claim has several.
        pair: pair that an order compares.
        point: index of the point of a printed number or a bound.
    """

    what: str
    measured: str
    expected: str
    state: State
    printed: float | None = None
    possible: float | None = None
    reading: str = ""
    pair: str = ""
    point: int | None = None


@dataclass(frozen=True)
class Judgement:
    """Verdict on a claim with its cells; `readings` has the verdict on each reading of the paper."""

    claim: Claim
    verdict: Verdict
    cells: Sequence[Cell]
    readings: Sequence[tuple[Label, Verdict]] = field(default_factory=tuple)

    @property
    def summary(self) -> str:
        """Number of cells that hold, are undecided, or have no value."""
        decided = [cell for cell in self.cells if cell.state is not State.MISSING]
        if not decided:
            return "no data: no run has a value"
        held = sum(cell.state is State.HOLDS for cell in decided)
        unsure = sum(cell.state is State.UNDECIDED for cell in decided)
        absent = len(self.cells) - len(decided)
        parts = [f"{held} of {len(decided)} hold"]
        parts += [f"{unsure} undecided"] if unsure else []
        parts += [f"{absent} without a value"] if absent else []
        return ", ".join(parts)

    @property
    def whose(self) -> str:
        """Cause of the difference; empty if the claim holds or the runs do not decide."""
        if self.verdict in {Verdict.REPRODUCED, Verdict.UNDECIDED, Verdict.UNKNOWN}:
            return ""
        return _WHOSE[self.claim.whose] if self.claim.whose is not None else NOT_ATTRIBUTED

    @property
    def impossible(self) -> list[Cell]:
        """Cells whose printed number exceeds the channel's upper bound."""
        return [c for c in self.cells if c.printed is not None and c.possible is not None and c.printed > c.possible]


def judge(result: StudyRuns, claim: Claim) -> Judgement:
    """Returns the verdict on a claim."""
    if claim.per is None:
        cells = _cells(result, claim, result.select(claim.at), "")
        return Judgement(claim, grade(cells), cells)
    readings, every = [], []
    for label in result.study.spec.factors[claim.per].names:
        chosen = [index for index in result.select(claim.at) if result.points[index].labels[claim.per] == label]
        if chosen:
            cells = _cells(result, claim, chosen, f"{claim.per} {label}")
            readings.append((label, grade(cells)))
            every += [replace(cell, reading=str(label)) for cell in cells]
    # All readings count: one that reproduces does not outweigh the others.
    return Judgement(claim, grade(every), every, readings)


def grade(cells: Sequence[Cell]) -> Verdict:
    """Returns the verdict on cells: first whether enough are decided, then how many of these hold."""
    states = [cell.state for cell in cells]
    held, failed = states.count(State.HOLDS), states.count(State.FAILS)
    if states.count(State.MISSING) == len(states):
        return Verdict.UNKNOWN
    if held + failed < DECIDED_SHARE * len(states):
        return Verdict.UNDECIDED
    if held == len(states):
        return Verdict.REPRODUCED
    if held == 0:
        return Verdict.NOT
    share = held / (held + failed)
    if share >= MOST:
        return Verdict.MOSTLY_HOLDS
    return Verdict.MOSTLY_FAILS if share <= 1 - MOST else Verdict.MIXED


def _cells(result: StudyRuns, claim: Claim, points: Sequence[int], prefix: str) -> list[Cell]:
    maker: dict[str, Callable[[StudyRuns, Claim, Sequence[int], str], Iterator[Cell]]] = {
        "value": _value_cells,
        "trend": _trend_cells,
        "order": _order_cells,
        "bound": _bound_cells,
    }
    return list(maker[claim.kind](result, claim, points, prefix))


def _value_cells(result: StudyRuns, claim: Claim, points: Sequence[int], prefix: str) -> Iterator[Cell]:
    """Yields a cell per printed number, which holds if the whole interval is within tolerance."""
    metric = result.metric(claim.metric)
    over = claim.over or ""
    printed_at = dict(zip(result.study.spec.factors[over].names, claim.values or [], strict=False))
    for index in points:
        printed = printed_at.get(result.points[index].labels[over])
        if printed is None:
            continue
        allowed = tolerance(claim.tolerance, printed)
        found = result.estimate(index, claim.metric)
        what = _what(result, index, prefix)
        expected = f"{printed:g}{_unit(metric)} within {allowed:.3g}"
        possible = _possible(result, index, metric) if claim.channel else None
        if found is None:
            yield Cell(what, "none", expected, State.MISSING, printed, possible, point=index)
            continue
        mean, half = metric.shown(found.mean), metric.shown(_half_width(result, found))
        apart = abs(mean - printed)
        is_within, is_outside = apart + half <= allowed, apart - half > allowed
        state = State.HOLDS if is_within else State.FAILS if is_outside else State.UNDECIDED
        yield Cell(what, _shown(found, metric), expected, state, printed, possible, point=index)


def _trend_cells(result: StudyRuns, claim: Claim, points: Sequence[int], prefix: str) -> Iterator[Cell]:
    """Yields a cell for each step along the factor, and one from its first to its last value."""
    over = claim.over or ""
    lines: dict[object, list[int]] = {}
    moving = advancing_with(result.study.spec, over)
    for index in points:
        others = result.points[index].without(*moving)
        lines.setdefault(others, []).append(index)
    for line in lines.values():
        if len(line) < 2:
            continue
        steps = list(pairwise(line)) if len(line) > 2 else []
        for a, b in [*steps, (line[0], line[-1])]:
            labels = f"{over} {result.points[a].labels[over]} to {result.points[b].labels[over]}"
            context = _what(result, a, prefix, leave_out=(*moving, *_fixed(claim)))
            what = ", ".join(part for part in (context, labels) if part)
            yield _trend_cell(result, claim, a, b, what)


def _trend_cell(result: StudyRuns, claim: Claim, a: int, b: int, what: str) -> Cell:
    metric = result.metric(claim.metric)
    expected = str(claim.direction)
    difference = result.difference(b, a, claim.metric)
    if difference is None:
        return Cell(what, "none", expected, State.MISSING)
    if claim.direction == "constant":
        first = result.estimate(a, claim.metric)
        allowed = tolerance(claim.tolerance, metric.shown(first.mean)) if first else 0.0
        apart = abs(metric.shown(difference.mean))
        half = metric.shown(_half_of_difference(result, difference))
        state = State.HOLDS if apart + half <= allowed else State.FAILS if apart - half > allowed else State.UNDECIDED
    else:
        sign = _sign(result, difference)
        wanted = 1 if claim.direction == "rises" else -1
        state = State.HOLDS if sign == wanted else State.UNDECIDED if sign == 0 else State.FAILS
    return Cell(what, _shown_difference(difference, metric), expected, state)


def _order_cells(result: StudyRuns, claim: Claim, points: Sequence[int], prefix: str) -> Iterator[Cell]:
    """Yields a cell for each value of a rank against each of the next rank, at every other point."""
    by = claim.by or ""
    metric = result.metric(claim.metric)
    lines: dict[object, dict[Label, int]] = {}
    moving = advancing_with(result.study.spec, by)
    for index in points:
        others = result.points[index].without(*moving)
        lines.setdefault(others, {})[result.points[index].labels[by]] = index
    for line in lines.values():
        for higher, lower in pairwise(claim.order or []):
            for a in as_list(higher):
                for b in as_list(lower):
                    if a not in line or b not in line:
                        continue
                    relation = "at least" if claim.ties else "more than"
                    times = f"{claim.times:g} times " if claim.times != 1.0 else ""
                    context = _what(result, line[a], prefix, leave_out=(*moving, *_fixed(claim)))
                    pair = f"{a} against {b}"
                    what = ", ".join(part for part in (context, pair) if part)
                    expected = f"{a} {relation} {times}{b}"
                    difference = result.difference(line[a], line[b], claim.metric, claim.times)
                    if difference is None:
                        yield Cell(what, "none", expected, State.MISSING, pair=pair)
                        continue
                    sign = _sign(result, difference)
                    held = sign > 0 or (claim.ties and sign == 0 and not _is_single(result, difference))
                    state = State.HOLDS if held else State.UNDECIDED if sign == 0 else State.FAILS
                    measured = f"{_mean(result, line[a], metric)} against {_mean(result, line[b], metric)}"
                    shown = f"{measured} ({_shown_difference(difference, metric)})"
                    yield Cell(what, shown, expected, state, pair=pair)


def _bound_cells(result: StudyRuns, claim: Claim, points: Sequence[int], prefix: str) -> Iterator[Cell]:
    """Yields a cell per point, which holds if the whole interval is within the bound."""
    metric = result.metric(claim.metric)
    low = claim.at_least if claim.at_least is not None else float("-inf")
    high = claim.at_most if claim.at_most is not None else float("inf")
    words = [
        f"at least {low:g}" if claim.at_least is not None else "",
        f"at most {high:g}" if claim.at_most is not None else "",
    ]
    expected = " and ".join(word for word in words if word) + _unit(metric)
    for index in points:
        what = _what(result, index, prefix)
        found = result.estimate(index, claim.metric)
        if found is None:
            yield Cell(what, "none", expected, State.MISSING, point=index)
            continue
        mean, half = metric.shown(found.mean), metric.shown(_half_width(result, found))
        inside = low <= mean - half and mean + half <= high
        outside = mean + half < low or mean - half > high
        state = State.HOLDS if inside else State.FAILS if outside else State.UNDECIDED
        yield Cell(what, _shown(found, metric), expected, state, point=index)


def _sign(result: StudyRuns, difference: PairedDifference) -> int:
    """Sign of a difference whose interval excludes zero, else 0; a closed form is exact."""
    if _is_single(result, difference):
        return 0
    if difference.low is None or difference.high is None:
        return (difference.mean > 0) - (difference.mean < 0)
    return (difference.low > 0) - (difference.high < 0)


def _is_single(result: StudyRuns, difference: PairedDifference) -> bool:
    """Whether a difference is of one seed, which shows no significance."""
    return difference.low is None and result.study.spec.model is None


def _half_of_difference(result: StudyRuns, difference: PairedDifference) -> float:
    if difference.low is None or difference.high is None:
        return float("inf") if _is_single(result, difference) else 0.0
    return (difference.high - difference.low) / 2


def _half_width(result: StudyRuns, found: Estimate) -> float:
    """Half-width of the interval: infinite with one seed, zero for a closed form, which is exact."""
    if found.half_width is not None:
        return found.half_width
    return 0.0 if result.study.spec.model is not None else float("inf")


def _possible(result: StudyRuns, index: int, metric: Metric) -> float | None:
    if result.study.spec.model is not None:
        return None
    made = bound(result.study.scenario, result.study.overrides(index))
    return metric.shown(made.shares("hard").total_bps)


def _what(result: StudyRuns, index: int, prefix: str, leave_out: Sequence[str] = ()) -> str:
    varying = {f for f, factor in result.study.spec.factors.items() if len(factor.names) > 1}
    labels = result.points[index].labels
    mine = [f"{f} {label}" for f, label in labels.items() if f in varying and f not in leave_out]
    if prefix:
        mine = [prefix, *(text for text in mine if text != prefix)]
    return ", ".join(mine)


def _fixed(claim: Claim) -> list[str]:
    """Returns the factors with one value for the whole claim, which cells need not name."""
    return [factor for factor, labels in claim.at.items() if len(as_list(labels)) == 1]


def _mean(result: StudyRuns, index: int, metric: Metric) -> str:
    found = result.estimate(index, metric.name)
    return "none" if found is None else f"{metric.shown(found.mean):.4g}"


def _shown(found: Estimate, metric: Metric) -> str:
    return with_interval(found, metric) + _unit(metric)


def _shown_difference(difference: PairedDifference, metric: Metric) -> str:
    mean = metric.shown(difference.mean)
    if difference.low is None or difference.high is None:
        return f"{mean:+.3g}{_unit(metric)}"
    half = metric.shown((difference.high - difference.low) / 2)
    # Two significant digits, without an exponent.
    shown = f"{half:.2g}" if half < 100 else f"{half:.0f}"
    return f"{mean:+.3g} ± {shown}{_unit(metric)}"


def _unit(metric: Metric) -> str:
    return f" {metric.unit}" if metric.unit else ""
