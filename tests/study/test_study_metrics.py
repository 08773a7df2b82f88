"""A number per run: every way of reducing a column, against values computed by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from multihop.base.errors import UserError
from multihop.experiments.metrics import matching, metric_of, per_seed, shown_unit
from multihop.experiments.parsers import validate
from multihop.experiments.specs import MetricSpec
from studies import study

NAN = float("nan")
#: Two runs of four flows.
FLOWS = pd.DataFrame(
    {
        "seed": np.array([1, 1, 1, 1, 2, 2, 2, 2], dtype=np.uint64),
        "name": ["a1", "a2", "b[1]", "c"] * 2,
        "scheme": ["recn", "recn", "udp", "udp"] * 2,
        "hops": [1, 2, 3, 4] * 2,
        "goodput_bps": [1.0, 3.0, 0.0, NAN, 2.0, 2.0, 2.0, 2.0],
        "packets_delivered": [10, 30, 0, 0, 1, 0, 1, 2],
        "packets_lost": [0, 10, 5, 0, 0, 0, 1, 3],
    }
)


def made(column="goodput_bps", table=FLOWS, **keys):
    series = per_seed(MetricSpec(column=f"flows.{column}", **keys), table)
    assert list(series.index) == list(pd.unique(table["seed"]))
    return series.tolist()


@pytest.mark.parametrize(
    ("reduce", "expected"),
    [
        ("sum", [4.0, 8.0]),
        ("mean", [4 / 3, 2.0]),
        ("min", [0.0, 2.0]),
        ("max", [3.0, 2.0]),
        ("median", [1.0, 2.0]),
        ("jain", [16 / 30, 1.0]),
        ("least-share", [0.0, 1.0]),
        ("zeros", [1.0, 0.0]),
    ],
)
def test_reducing(reduce, expected):
    assert made(reduce=reduce) == pytest.approx(expected)


@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max", "median", "jain", "least-share", "zeros"])
def test_where_no_row_has_a_value_there_is_none(reduce):
    assert np.isnan(made(reduce=reduce, where={"name": "nobody"})).all()
    assert np.isnan(made(reduce=reduce, where={"name": "c"})[0])


def test_fairness_of_nothing_is_no_number():
    assert np.isnan(made(reduce="jain", where={"name": "b*"})[0])
    assert np.isnan(made(reduce="least-share", where={"name": "b*"})[0])


def test_a_weighted_mean_leaves_out_the_weights_of_missing_values():
    assert made(weight="packets_delivered") == pytest.approx([(10 + 90) / 40, 2.0])
    heavy = FLOWS.assign(packets_delivered=[10, 30, 0, 1000, 0, 0, 0, 0])
    assert made(weight="packets_delivered", table=heavy)[0] == pytest.approx(2.5)
    assert math.isnan(made(weight="packets_delivered", table=heavy)[1]), "no weight at all"


def test_a_ratio_of_sums():
    assert made("packets_lost", per="packets_delivered") == pytest.approx([15 / 40, 4 / 4])
    assert made("packets_lost", per=["packets_lost", "packets_delivered"]) == pytest.approx([15 / 55, 4 / 8])
    assert np.isnan(made("packets_lost", per="packets_delivered", where={"name": "b*"})[0]), "over nothing"
    assert made("packets_lost", per="packets_delivered", where={"name": "b*"})[1] == 1.0


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ({}, "1111"),
        ({"name": "a1"}, "1000"),
        ({"name": "a*"}, "1100"),
        ({"name": "*1*"}, "1010"),
        ({"name": "*"}, "1111"),
        ({"name": "a?"}, "0000"),
        ({"name": "b[1]"}, "0010"),
        ({"name": "!a*"}, "0011"),
        ({"name": ["a1", "c"]}, "1001"),
        ({"name": ["!a1", "!c"]}, "0110"),
        ({"name": ["a*", "!a2"]}, "1000"),
        ({"hops": 3}, "0010"),
        ({"hops": [1, 4]}, "1001"),
        ({"hops": "!2"}, "1011"),
        ({"scheme": "recn", "hops": 2}, "0100"),
        ({"scheme": "udp", "name": "a*"}, "0000"),
    ],
)
def test_rows_that_count(where, rows):
    chosen = matching(FLOWS.iloc[:4], where)
    assert "".join(str(int(one)) for one in chosen) == rows


def metric(**keys):
    return metric_of(validate({"name": "s", "scenario": "x", "metrics": {"m": keys}}, "s"), "m", "here")


@pytest.mark.parametrize(
    ("keys", "unit", "shown"),
    [
        ({"column": "flows.goodput_bps"}, "bit/s", 2000.0),
        ({"column": "flows.goodput_bps", "unit": "kb/s"}, "kb/s", 2.0),
        ({"column": "flows.goodput_bps", "unit": "Mb/s"}, "Mb/s", 0.002),
        ({"column": "flows.delay_p95_s", "unit": "ms"}, "ms", 2e6),
        ({"column": "flows.delay_p95_s", "unit": "us"}, "us", 2e9),
        ({"column": "flows.loss_ratio", "unit": "%"}, "%", 2e5),
        ({"column": "flows.loss_ratio"}, "", 2000.0),
        ({"column": "flows.delivered_bytes", "unit": "kB"}, "kB", 2.0),
        ({"column": "flows.goodput_bps", "reduce": "jain"}, "", 2000.0),
        ({"column": "flows.goodput_bps", "reduce": "zeros"}, "", 2000.0),
        ({"column": "flows.packets_lost", "per": "packets_sent"}, "", 2000.0),
        ({"column": "flows.packets_lost", "per": "packets_sent", "unit": "%"}, "%", 2e5),
        ({"column": "links.given_up", "per": "acknowledged"}, "", 2000.0),
        ({"column": "flows.delivered_bytes", "per": "packets_delivered"}, "byte per packets", 2000.0),
        ({"column": "flows.delivered_bytes", "per": "hops"}, "byte", 2000.0),
    ],
)
def test_units(keys, unit, shown):
    found = metric(**keys)
    assert found.unit == unit
    assert found.shown(2000.0) == pytest.approx(shown)


def test_better_is_higher_lower_or_neither():
    found = [metric(column="flows.hops", **keys) for keys in ({"better": "higher"}, {"better": "lower"}, {})]
    assert [one.higher_is_better for one in found] == [True, False, None]


def test_metrics_that_every_study_has():
    spec = validate({"name": "s", "scenario": "x"}, "s")
    assert metric_of(spec, "goodput_total_bps", "here").unit == "Mb/s"
    assert metric_of(spec, "delivered", "here").unit == "packets"


def test_a_unit_that_the_column_does_not_have():
    with pytest.raises(UserError, match=r"here: 'kg' is no unit for a column in s; needs ms or us"):
        shown_unit("s", "kg", "here")


WRONG = {
    "no such table": ({"column": "frames.goodput_bps"}, ["metrics.m.column", "frames"]),
    "no such column": ({"column": "flows.speed"}, ["metrics.m.column", "'speed'", "goodput_bps"]),
    "a column that has another name now": (
        {"column": "flows.frames_late"},
        ["metrics.m.column", 'did you mean "video_frames_late"?'],
    ),
    "a name for a number": ({"column": "flows.name"}, ["metrics.m.column", "name, not a number"]),
    "no such condition": ({"column": "flows.hops", "where": {"speed": 1}}, ["metrics.m.where.speed", "'speed'"]),
    "a number for a name": ({"column": "flows.hops", "where": {"name": 5}}, ["where.name", "5", "is text"]),
    "an empty condition": ({"column": "flows.hops", "where": {"name": []}}, ["where.name", "no value"]),
    "weight of a sum": ({"column": "flows.hops", "reduce": "sum", "weight": "marked"}, ["metrics.m.weight", "mean"]),
    "weight by a name": ({"column": "flows.hops", "weight": "name"}, ["metrics.m.weight", "not a number"]),
    "per a stranger": ({"column": "flows.hops", "per": ["speed"]}, ["metrics.m.per", "'speed'"]),
    "per and reduce": ({"column": "flows.hops", "per": "marked", "reduce": "sum"}, ["metrics.m", "per", "reduce"]),
    "an unknown way": ({"column": "flows.hops", "reduce": "mode"}, ["metrics.m.reduce", "mode", "known: sum"]),
    "a unit of another kind": ({"column": "flows.hops", "unit": "ms"}, ["metrics.m.unit", "'ms'"]),
    "an unknown key": ({"column": "flows.hops", "wheer": {}}, ["metrics.m.wheer", "where"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_metric_is_reported(case):
    keys, words = WRONG[case]
    with pytest.raises(UserError) as caught:
        study(metrics={"m": keys})
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_values_of_runs_by_seed(tmp_path):
    asked = study(
        factors={},
        seeds=[7, 2**64 - 1, 3],
        metrics={"all": {"column": "flows.goodput_bps", "reduce": "sum"}, "steps": {"column": "series.goodput_bps"}},
    )
    result = asked.run(tmp_path / "s")
    values = result.values(0, "all")
    assert [int(seed) for seed in values.index] == [7, 2**64 - 1, 3]
    summary = result.values(0, "goodput_total_bps")
    assert values.to_numpy() == pytest.approx(summary.to_numpy())
    series = result.table("series")
    later = series[(series["seed"] == 3) & (series["time_s"] > 1.0)]
    assert 0 < len(later) < len(series[series["seed"] == 3]), "a second of warm-up does not count"
    assert result.values(0, "steps")[3] == pytest.approx(later["goodput_bps"].mean())
