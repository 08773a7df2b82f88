"""Verdicts, on data made so that the right one is known."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from multihop.base.errors import UserError
from multihop.experiments.claims.bars import Bar, Row, pairs, rows, whole
from multihop.experiments.claims.judging import NOT_ATTRIBUTED, Cell, State, Verdict, grade, judge
from multihop.experiments.studies import StudyResult
from multihop.simulation.store import Store
from studies import study

NAN = float("nan")
HOLDS, FAILS, UNDECIDED, MISSING = State.HOLDS, State.FAILS, State.UNDECIDED, State.MISSING

#: Around zero, with a 95 % interval of half-width 1.
ONE = np.array([-1.0, 1.0, -1.0, 1.0]) / 1.8373925
METRIC = {"m": {"column": "flows.goodput_bps", "unit": "kb/s"}}


class MadeUp(StudyResult):
    """A result whose values (kb/s) are given: labels of a point -> one value per seed."""

    def __init__(self, asked, data):
        seeds = dict.fromkeys(range(len(asked.plan.points)), asked.plan.seeds)
        super().__init__(asked, Path("nowhere"), Store(Path("nowhere")), seeds, [])
        self.data = data

    def of_seeds(self, point, metric, seeds):
        assert metric == "m"
        labels = tuple(self.points[point].labels.values())
        values = self.data.get(labels if len(labels) > 1 else labels[0], [])
        there = [(seed, value) for seed, value in zip(seeds, values, strict=False) if value is not None]
        index = np.array([seed for seed, _ in there], dtype=np.uint64)
        return pd.Series([1000.0 * value for _, value in there], index=index, dtype=float)


LOADS = {"load": {"key": "flows[*].start", "values": ["1 ms", "2 ms", "3 ms"], "labels": [1, 2, 3]}}
SCHEMES = {"scheme": {"values": ["udp", "recn", "tcp-newreno"], "labels": ["a", "b", "c"], "key": "scheme"}}


def judged(data, factors=None, seeds=4, **claim):
    asked = study(
        factors=factors or LOADS,
        seeds=seeds,
        metrics=METRIC,
        claims=[{"id": "c", "where": "Fig. 1", "says": "so it is", "metric": "m", **claim}],
    )
    return judge(MadeUp(asked, data), asked.spec.claims[0])


def states(judgement):
    return [cell.state for cell in judgement.cells]


def value(data, values=(100, 200, 300), **claim):
    return judged(data, kind="value", over="load", values=list(values), **claim)


@pytest.mark.parametrize(
    ("held", "failed", "open_", "missing", "verdict"),
    [
        (8, 0, 0, 0, Verdict.REPRODUCED),
        (47, 1, 0, 0, Verdict.MOSTLY_HOLDS),
        (47, 0, 1, 0, Verdict.MOSTLY_HOLDS),
        (7, 0, 0, 1, Verdict.MOSTLY_HOLDS),
        (3, 1, 0, 0, Verdict.MOSTLY_HOLDS),
        (5, 2, 0, 0, Verdict.MIXED),
        (2, 5, 0, 0, Verdict.MIXED),
        (1, 3, 0, 0, Verdict.MOSTLY_FAILS),
        (1, 31, 0, 0, Verdict.MOSTLY_FAILS),
        (0, 8, 0, 0, Verdict.NOT),
        (0, 18, 2, 0, Verdict.NOT),
        # Half of it has to be decided.
        (4, 0, 4, 0, Verdict.MOSTLY_HOLDS),
        (0, 4, 4, 0, Verdict.NOT),
        (3, 0, 4, 0, Verdict.UNDECIDED),
        (2, 0, 6, 0, Verdict.UNDECIDED),
        (0, 2, 6, 0, Verdict.UNDECIDED),
        (3, 0, 2, 2, Verdict.UNDECIDED),
        (0, 0, 5, 0, Verdict.UNDECIDED),
        (0, 0, 5, 5, Verdict.UNDECIDED),
        (0, 0, 0, 5, Verdict.UNKNOWN),
        (0, 0, 0, 0, Verdict.UNKNOWN),
    ],
)
def test_how_much_of_a_claim_holds(held, failed, open_, missing, verdict):
    counts = {HOLDS: held, FAILS: failed, UNDECIDED: open_, MISSING: missing}
    assert grade([Cell("", "", "", state) for state, count in counts.items() for _ in range(count)]) is verdict


def test_every_verdict_has_a_symbol_of_its_own():
    assert len({verdict.symbol for verdict in Verdict}) == len(Verdict)


class TestValues:
    def test_all_within_the_tolerance(self):
        found = value({1: 109 + ONE, 2: 181 + ONE, 3: 300 + ONE})
        assert states(found) == [HOLDS] * 3
        assert found.verdict is Verdict.REPRODUCED
        assert found.summary == "3 of 3 hold"

    def test_an_interval_that_reaches_in_leaves_it_open(self):
        found = value({1: 110.5 + ONE, 2: 221.5 + ONE, 3: 269.5 + ONE})
        assert states(found) == [UNDECIDED, FAILS, UNDECIDED]
        assert found.verdict is Verdict.UNDECIDED
        assert found.summary == "0 of 3 hold, 2 undecided"

    def test_an_interval_that_reaches_out_leaves_it_open(self):
        assert states(value({1: 100 + 30 * ONE, 2: 200 + 19 * ONE, 3: 300 + 31 * ONE})) == [UNDECIDED, HOLDS, UNDECIDED]

    def test_some(self):
        found = value({1: 100 + ONE, 2: 500 + ONE, 3: 700 + ONE})
        assert found.verdict is Verdict.MIXED

    @pytest.mark.parametrize(
        ("tolerance", "state"), [("1 %", FAILS), ("8 %", HOLDS), (4, FAILS), (8, HOLDS), (0, FAILS)]
    )
    def test_tolerances(self, tolerance, state):
        assert states(value({1: 107 + ONE}, tolerance=tolerance, at={"load": 1})) == [state]

    def test_gaps_of_the_paper_are_no_cells(self):
        found = value({1: 100 + ONE, 3: 300 + ONE}, values=(100, NAN, 300))
        assert states(found) == [HOLDS] * 2
        assert found.verdict is Verdict.REPRODUCED
        assert [cell.printed for cell in found.cells] == [100.0, 300.0]

    def test_numbers_belong_to_their_labels(self):
        found = value({1: 0 + ONE, 3: 300 + ONE}, at={"load": [3]})
        assert [(cell.printed, cell.state) for cell in found.cells] == [(300.0, HOLDS)]

    def test_what_is_missing_is_never_reproduced(self):
        found = value({1: 100 + ONE, 2: 200 + ONE})
        assert states(found) == [HOLDS, HOLDS, MISSING]
        assert found.verdict is Verdict.MOSTLY_HOLDS
        assert found.summary == "2 of 2 hold, 1 without a value"
        assert value({1: [NAN] * 4, 2: 0 + ONE, 3: 0 + ONE}).verdict is Verdict.NOT
        assert value({1: [NAN] * 4, 2: 0 + ONE}).verdict is Verdict.UNDECIDED

    def test_no_runs_no_verdict(self):
        found = value({})
        assert found.verdict is Verdict.UNKNOWN
        assert found.summary == "no data: no run has a value"

    def test_one_seed_cannot_tell(self):
        found = value({1: [100], 2: [900], 3: [300]})
        assert states(found) == [UNDECIDED] * 3
        assert found.verdict is Verdict.UNDECIDED

    def test_what_is_said_has_units(self):
        cell = value({1: 109 + ONE, 2: [], 3: []}).cells[0]
        assert cell.what == "load 1"
        assert cell.measured == "109.00 ± 1.00 kb/s"
        assert cell.expected == "100 kb/s within 10"


class TestTrends:
    def test_rises(self):
        found = judged({1: 10 + ONE, 2: 20 + ONE, 3: 30 + ONE}, kind="trend", over="load", direction="rises")
        assert states(found) == [HOLDS] * 3
        assert [cell.what for cell in found.cells] == ["load 1 to 2", "load 2 to 3", "load 1 to 3"]
        assert found.verdict is Verdict.REPRODUCED
        falls = judged({1: 10 + ONE, 2: 20 + ONE, 3: 30 + ONE}, kind="trend", over="load", direction="falls")
        assert falls.verdict is Verdict.NOT

    def test_a_step_against_it_weakens_it(self):
        found = judged({1: 30 + ONE, 2: 40 + ONE, 3: 10 + ONE}, kind="trend", over="load", direction="falls")
        assert states(found) == [FAILS, HOLDS, HOLDS]
        assert found.verdict is Verdict.MIXED

    def test_a_flat_step_leaves_it_open(self):
        found = judged({1: 30 + ONE, 2: 30 - ONE, 3: 10 + ONE}, kind="trend", over="load", direction="falls")
        assert states(found) == [UNDECIDED, HOLDS, HOLDS]
        assert found.verdict is Verdict.MOSTLY_HOLDS

    def test_a_missing_step_leaves_it_open(self):
        found = judged({1: 30 + ONE, 3: 10 + ONE}, kind="trend", over="load", direction="falls")
        assert states(found) == [MISSING, MISSING, HOLDS]
        assert found.verdict is Verdict.UNDECIDED

    def test_without_an_end_it_is_open(self):
        found = judged({1: 30 + ONE, 2: 20 - ONE}, kind="trend", over="load", direction="falls")
        assert found.verdict is Verdict.UNDECIDED

    def test_ends_that_seeds_cannot_tell_apart(self):
        found = judged({1: 30 + ONE, 2: 40 + ONE, 3: 30 - ONE}, kind="trend", over="load", direction="rises")
        assert states(found) == [HOLDS, FAILS, UNDECIDED]
        assert found.verdict is Verdict.MIXED

    def test_constant_is_within_the_tolerance_of_the_first(self):
        def constant(last, **claim):
            data = {1: 100 + ONE, 2: 100 - ONE, 3: last}
            return judged(data, kind="trend", over="load", direction="constant", **claim)

        assert constant(105 + ONE).verdict is Verdict.REPRODUCED
        assert states(constant(105 + ONE, tolerance="4 %")) == [HOLDS, UNDECIDED, FAILS]
        assert states(constant(120 + ONE))[-1] is FAILS
        wide = constant(120 + 90 * ONE)
        assert states(wide)[-1] is UNDECIDED
        assert wide.verdict is Verdict.UNDECIDED
        # Equal means whose seeds differ by more than the tolerance are not known to be equal.
        assert states(constant(100 + 60 * ONE))[-1] is UNDECIDED

    def test_seed_by_seed_a_small_rise_shows(self):
        noise = np.array([0.0, 500.0, -300.0, 80.0])
        found = judged({1: noise, 2: noise + 1 + ONE / 2, 3: noise + 3}, kind="trend", over="load", direction="rises")
        assert found.verdict is Verdict.REPRODUCED

    def test_each_line_of_the_other_factors_is_a_trend(self):
        data = {(1, "a"): 1 + ONE, (3, "a"): 9 + ONE, (1, "b"): 9 + ONE, (3, "b"): 1 + ONE}
        two = {"load": {**LOADS["load"], "values": ["1 ms", "3 ms"], "labels": [1, 3]}}
        schemes = {"scheme": {**SCHEMES["scheme"], "values": ["udp", "recn"], "labels": ["a", "b"]}}
        found = judged(data, {**two, **schemes}, kind="trend", over="load", direction="rises")
        assert [(cell.what, cell.state) for cell in found.cells] == [
            ("scheme a, load 1 to 3", HOLDS),
            ("scheme b, load 1 to 3", FAILS),
        ]
        assert found.verdict is Verdict.MIXED

    def test_factors_that_advance_together_are_one_line(self):
        asked = study(
            factors={**LOADS, "queue": {"key": "mac.queue", "values": [5, 6, 7]}},
            zip=[["load", "queue"]],
            seeds=4,
            metrics=METRIC,
            claims=[
                {
                    "id": "c",
                    "where": "",
                    "says": "",
                    "kind": "trend",
                    "metric": "m",
                    "over": "load",
                    "direction": "rises",
                }
            ],
        )
        result = MadeUp(asked, {(1, 5): 1 + ONE, (2, 6): 9 + ONE, (3, 7): 20 + ONE})
        assert judge(result, asked.spec.claims[0]).verdict is Verdict.REPRODUCED

    def test_one_seed_cannot_tell(self):
        found = judged({1: [1], 2: [2], 3: [3]}, kind="trend", over="load", direction="rises")
        assert found.verdict is Verdict.UNDECIDED
        assert states(found) == [UNDECIDED] * 3


def order(data, **claim):
    return judged(data, SCHEMES, kind="order", by="scheme", **{"order": ["a", "b", "c"], **claim})


class TestOrders:
    def test_in_order(self):
        found = order({"a": 30 + ONE, "b": 20 + ONE, "c": 10 + ONE})
        assert [cell.what for cell in found.cells] == ["a against b", "b against c"]
        assert found.verdict is Verdict.REPRODUCED

    def test_the_other_way_round(self):
        assert order({"a": 10 + ONE, "b": 20 + ONE, "c": 30 + ONE}).verdict is Verdict.NOT

    def test_what_seeds_cannot_tell_apart_is_a_tie_only_where_ties_will_do(self):
        data = {"a": 30 + ONE, "b": 30 - ONE, "c": 10 + ONE}
        assert states(order(data)) == [UNDECIDED, HOLDS]
        assert order(data).verdict is Verdict.MOSTLY_HOLDS
        assert order(data, ties=True).verdict is Verdict.REPRODUCED
        assert order({"a": 10 + ONE, "b": 20 + ONE, "c": 10 + ONE}, ties=True).verdict is Verdict.MIXED

    def test_everything_of_a_rank_against_everything_of_the_next(self):
        found = order({"a": 30 + ONE, "b": 20 + ONE, "c": 40 + ONE}, order=["a", ["b", "c"]])
        assert [(cell.what, cell.state) for cell in found.cells] == [("a against b", HOLDS), ("a against c", FAILS)]

    @pytest.mark.parametrize(("times", "state"), [(1.9, HOLDS), (2.0, UNDECIDED), (2.1, FAILS)])
    def test_so_many_times(self, times, state):
        found = order({"a": 200 + ONE, "b": 100 - ONE}, order=["a", "b"], times=times)
        assert states(found) == [state]

    def test_cells_of_several_points_are_distinguished(self):
        data = {(load, name): 10 * index + ONE for index, name in enumerate("abc") for load in (1, 2, 3)}
        asked = {"kind": "order", "by": "scheme", "order": ["b", "a"]}
        several = judged(data, {**LOADS, **SCHEMES}, **asked, at={"load": [2, 3]})
        assert [cell.what for cell in several.cells] == ["load 2, b against a", "load 3, b against a"]
        one = judged(data, {**LOADS, **SCHEMES}, **asked, at={"load": 2})
        assert [cell.what for cell in one.cells] == ["b against a"]

    def test_what_has_no_runs(self):
        found = order({"a": 30 + ONE, "b": 20 + ONE})
        assert states(found) == [HOLDS, MISSING]
        assert found.verdict is Verdict.MOSTLY_HOLDS

    def test_only_common_seeds_count(self):
        found = order({"a": [30, 31, None, None], "b": [None, None, 1, 1]}, order=["a", "b"])
        assert states(found) == [MISSING]
        assert found.verdict is Verdict.UNKNOWN

    def test_one_seed_cannot_tell_not_even_a_tie(self):
        assert states(order({"a": [30], "b": [20], "c": [10]}, ties=True)) == [UNDECIDED] * 2

    def test_equal_in_every_seed_is_a_tie(self):
        data = {"a": 30 + ONE, "b": 30 + ONE, "c": 10 + ONE}
        assert order(data, ties=True).verdict is Verdict.REPRODUCED
        assert order(data).verdict is Verdict.MOSTLY_HOLDS


class TestBounds:
    @pytest.mark.parametrize(
        ("limits", "state"),
        [
            ({"at_least": 98}, HOLDS),
            ({"at_least": 99.5}, UNDECIDED),
            ({"at_least": 102}, FAILS),
            ({"at_most": 102}, HOLDS),
            ({"at_most": 100.5}, UNDECIDED),
            ({"at_most": 98}, FAILS),
            ({"at_least": 98, "at_most": 102}, HOLDS),
            ({"at_least": 99.5, "at_most": 100.5}, UNDECIDED),
            ({"at_least": 50, "at_most": 60}, FAILS),
        ],
    )
    def test_inside_outside_and_straddling(self, limits, state):
        found = judged({1: 100 + ONE}, kind="bound", at={"load": 1}, **limits)
        assert states(found) == [state]
        verdicts = {HOLDS: Verdict.REPRODUCED, FAILS: Verdict.NOT, UNDECIDED: Verdict.UNDECIDED}
        assert found.verdict is verdicts[state]

    def test_missing_points(self):
        found = judged({1: 100 + ONE}, kind="bound", at_least=1)
        assert states(found) == [HOLDS, MISSING, MISSING]
        assert found.verdict is Verdict.UNDECIDED

    def test_one_seed_cannot_tell(self):
        assert states(judged({1: [100]}, kind="bound", at={"load": 1}, at_least=1)) == [UNDECIDED]


READINGS = {"reading": {"cases": {"x": {}, "y": {"mac.queue": 7}}}, **LOADS}
GOOD = dict.fromkeys((1, 2, 3), 10 + ONE)
BAD = dict.fromkeys((1, 2, 3), 1 + ONE)


class TestReadings:
    def judged(self, x, y, **claim):
        data = {("x", load): values for load, values in x.items()} | {("y", load): values for load, values in y.items()}
        return judged(data, READINGS, kind="bound", per="reading", at_least=5, **claim)

    def test_one_reading_does_not_make_up_for_another(self):
        found = self.judged(GOOD, BAD)
        assert list(found.readings) == [("x", Verdict.REPRODUCED), ("y", Verdict.NOT)]
        assert found.verdict is Verdict.MIXED

    def test_what_seeds_cannot_tell_is_no_evidence_against_it(self):
        unsure = dict.fromkeys((1, 2, 3), 5 + 9 * ONE)
        assert self.judged(unsure, unsure).verdict is Verdict.UNDECIDED
        assert self.judged(unsure, BAD).verdict is Verdict.NOT
        assert self.judged(unsure, GOOD).verdict is Verdict.MOSTLY_HOLDS

    def test_all_or_none(self):
        assert self.judged(GOOD, GOOD).verdict is Verdict.REPRODUCED
        assert self.judged(BAD, BAD).verdict is Verdict.NOT

    def test_a_reading_without_runs_counts_as_undecided(self):
        assert self.judged(GOOD, {}).verdict is Verdict.MOSTLY_HOLDS
        assert self.judged(BAD, {}).verdict is Verdict.NOT
        assert self.judged({}, {}).verdict is Verdict.UNKNOWN

    def test_readings_count_together(self):
        mixed = {**BAD, 1: GOOD[1]}
        assert self.judged(mixed, mixed).verdict is Verdict.MIXED
        assert self.judged(mixed, BAD).verdict is Verdict.MOSTLY_FAILS

    def test_only_the_readings_that_the_claim_is_about(self):
        found = self.judged(GOOD, BAD, at={"reading": ["x"]})
        assert list(found.readings) == [("x", Verdict.REPRODUCED)]
        assert found.verdict is Verdict.REPRODUCED

    def test_cells_name_their_reading(self):
        assert self.judged(GOOD, GOOD).cells[0].what == "reading x, load 1"


class TestWhose:
    def judged(self, data, **claim):
        return judged(dict.fromkeys((1, 2, 3), data), kind="bound", at_least=5, **claim)

    def test_what_does_not_hold_is_put_down_to_somebody(self):
        assert self.judged(1 + ONE, whose="paper", reason="It cannot be.").whose == "paper's"
        assert self.judged(1 + ONE, whose="ours", reason="We lack it.").whose == "ours"
        assert self.judged(1 + ONE, reason="Nobody knows.").whose == NOT_ATTRIBUTED

    def test_where_nothing_differs_nobody_is_named(self):
        assert self.judged(10 + ONE, whose="paper", reason="It cannot be.").whose == ""
        assert self.judged(5 + 9 * ONE, whose="paper", reason="It cannot be.").whose == ""

    @pytest.mark.parametrize(
        ("claim", "says"),
        [
            ({"whose": "paper"}, "has whose = 'paper' without reason; needs a reason"),
            ({"whose": "theirs"}, "known: paper, platform"),
        ],
    )
    def test_it_needs_a_reason(self, claim, says):
        with pytest.raises(UserError) as error:
            self.judged(10 + ONE, **claim)
        assert says in str(error.value)


class TestBars:
    def test_a_row_for_each_reading_and_a_bar_for_each_pair(self):
        readings = {"reading": READINGS["reading"], **SCHEMES}
        data = {("x", "a"): 30 + ONE, ("x", "b"): 20 + ONE, ("x", "c"): 30 - ONE}
        data |= {("y", "a"): 10 + ONE, ("y", "b"): 20 + ONE}
        found = judged(data, readings, kind="order", by="scheme", order=["a", ["b", "c"]], per="reading")
        assert pairs(found) == ["a against b", "a against c"]
        # Counts: holds, fails, undecided, missing.
        assert rows(found) == [
            Row(("x",), (Bar((1, 0, 0, 0)), Bar((0, 0, 1, 0)))),
            Row(("y",), (Bar((0, 1, 0, 0)), Bar((0, 0, 0, 1)))),
        ]
        assert whole(found) == Bar((1, 1, 1, 1))
        assert whole(found).words == "1 holds, 1 fails, 1 undecided, 1 missing"

    def test_readings_that_come_out_alike_share_a_row(self):
        def found(x, y):
            data = {("x", load): x for load in (1, 2, 3)} | {("y", load): y for load in (1, 2, 3)}
            return rows(judged(data, READINGS, kind="bound", per="reading", at_least=5))

        assert found(10 + ONE, 10 - ONE) == [Row((), (Bar((3, 0, 0, 0)),))]
        assert found(10 + ONE, 1 + ONE) == [Row(("x",), (Bar((3, 0, 0, 0)),)), Row(("y",), (Bar((0, 3, 0, 0)),))]

    @pytest.mark.parametrize(
        ("counts", "width", "parts"),
        [
            ((3, 1, 0, 0), 10, {HOLDS: 3, FAILS: 1}),
            ((15, 5, 0, 0), 8, {HOLDS: 6, FAILS: 2}),
            ((1, 199, 0, 0), 10, {HOLDS: 1, FAILS: 9}),
            ((100, 1, 1, 1), 6, {HOLDS: 3, FAILS: 1, UNDECIDED: 1, MISSING: 1}),
            ((0, 0, 0, 0), 6, {}),
        ],
    )
    def test_many_cells_are_drawn_in_proportion(self, counts, width, parts):
        assert dict(Bar(counts).parts(width)) == parts


def test_a_printed_number_above_what_the_channel_carries_is_reported():
    found = value({1: 100 + ONE, 2: 200 + ONE, 3: 300 + ONE}, values=(100, 200, 90_000), channel=True)
    assert [cell.printed for cell in found.impossible] == [90_000]
    assert all(cell.possible is not None and cell.possible > 0 for cell in found.cells)


WRONG = {
    "an unknown metric": ({"kind": "bound", "at_least": 1, "metric": "speed"}, ["metric", "'speed'", "needs m"]),
    "an unknown factor": ({"kind": "bound", "at_least": 1, "at": {"speed": 1}}, ["at", "'speed' is not a factor"]),
    "an unknown value": ({"kind": "bound", "at_least": 1, "at": {"load": 9}}, ["load has no value 9"]),
    "a bound without bounds": ({"kind": "bound"}, ["needs at_least or at_most"]),
    "bounds that exclude each other": ({"kind": "bound", "at_least": 2, "at_most": 1}, ["at_least = 2", "at_most = 1"]),
    "values without a factor": ({"kind": "value", "values": [1]}, ["needs over"]),
    "too few values": ({"kind": "value", "over": "load", "values": [1]}, ["1 values for 3 of load"]),
    "a tolerance without a unit": (
        {"kind": "value", "over": "load", "values": [1, 2, 3], "tolerance": "10"},
        ["tolerance '10'", "10 %"],
    ),
    "a tolerance below zero": (
        {"kind": "value", "over": "load", "values": [1, 2, 3], "tolerance": -1},
        ["tolerance -1", "below zero"],
    ),
    "a trend without direction": ({"kind": "trend", "over": "load"}, ["needs direction"]),
    "a trend along one value": (
        {"kind": "trend", "over": "load", "direction": "rises", "at": {"load": [2]}},
        ["load has one value"],
    ),
    "an order of one": ({"kind": "order", "by": "load", "order": [1]}, ["fewer than two"]),
    "an order with a stranger": ({"kind": "order", "by": "load", "order": [1, 9]}, ["order", "no value 9"]),
    "an order with one twice": ({"kind": "order", "by": "load", "order": [1, [1, 2]]}, ["each value once"]),
    "an order with an empty rank": ({"kind": "order", "by": "load", "order": [1, []]}, ["at least one value"]),
    "an order of what is left out": (
        {"kind": "order", "by": "load", "order": [1, 2], "at": {"load": [1]}},
        ["order", "2", "leaves out"],
    ),
    "an unknown kind": ({"kind": "guess"}, ["claims[0].kind", "'guess'"]),
    "an unknown key": ({"kind": "bound", "at_least": 1, "atmost": 2}, ["claims[0].atmost", "at_most"]),
    "the channel and no rate": (
        {"kind": "value", "metric": "jain", "over": "load", "values": [1, 1, 1], "channel": True},
        ["channel", "bit/s"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_claims_that_make_no_sense(case):
    keys, words = WRONG[case]
    with pytest.raises(UserError) as caught:
        judged({}, **keys)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_two_claims_of_one_name():
    claim = {"id": "same", "where": "", "says": "", "kind": "bound", "metric": "jain", "at_least": 1}
    with pytest.raises(UserError, match="same is given more than once"):
        study(claims=[claim, claim])
