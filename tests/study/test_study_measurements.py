"""Metrics over the time series of estimators, of closed forms, and of other metrics: by hand, and in runs."""

import numpy as np
import pandas as pd
import pytest

from multihop.base.errors import UserError
from multihop.experiments.metrics import fits, per_seed, reference_values
from multihop.experiments.specs import Chart, MetricSpec
from multihop.models import evaluate
from multihop.report.charts.study_data import plot
from studies import NETWORK, study

#: One run; an estimator at two nodes, four steps of a second, of which the first is warm-up.
STEPS = pd.DataFrame(
    {
        "seed": np.array([1] * 8, dtype=np.uint64),
        "time_s": [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0],
        "estimator": ["rt-winf"] * 8,
        "name": ["a", "b"] * 4,
        "capacity_bps": [9.0, 8.0, 1.0, 8.0, 3.0, 8.0, 5.0, 8.0],
        "available_bps": [9.0, 8.0, 0.5, 4.0, 1.5, 2.0, 4.0, 0.0],
    }
)

MEASURED = {
    **NETWORK,
    "schemes": {"tcp-newreno": {"flavour": "rfc"}},
    "measure": [
        {"estimator": "rt-winf", "at": ["n0", "n1"]},
        {"estimator": "busy-ratio", "name": "busy", "at": ["n0"], "window": "1 s"},
    ],
}


def made(column="capacity_bps", warmup=1.0, **keys):
    spec = MetricSpec(column=f"measurements.{column}", **keys)
    return per_seed(spec, STEPS, warmup).tolist()[0]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"where": {"name": "a"}}, 3.0),
        ({"where": {"name": "a"}, "reduce": "std"}, 2.0),
        ({"where": {"name": "a"}, "reduce": "cv"}, 2 / 3),
        ({"where": {"name": "b"}, "reduce": "cv"}, 0.0),
        ({"where": {"name": "a"}, "reduce": "p25"}, 2.0),
        ({"where": {"name": "a"}, "reduce": "p75"}, 4.0),
        ({"where": {"name": "a"}, "reduce": "p5"}, 1.2),
        ({"where": {"name": "a"}, "reduce": "p95"}, 4.8),
        ({}, 5.5),
        ({"where": {"name": "a"}, "between": (0, 4)}, 4.5),
        ({"where": {"name": "a"}, "between": (2, 3)}, 3.0),
        ({"column": "available_bps", "where": {"name": "a"}, "per": "capacity_bps"}, 6 / 9),
    ],
)
def test_steps_after_the_warm_up_or_in_a_window_count(keys, expected):
    assert made(**keys) == pytest.approx(expected)


#: The truth at the same times but the last one, in two parts, of which the mean counts; another seed has other truth.
TRUTH = pd.DataFrame(
    {
        "seed": np.array([1, 1, 1, 1, 2], dtype=np.uint64),
        "time_s": [1.0, 2.0, 3.0, 3.0, 3.0],
        "name": ["f", "f", "f", "g", "f"],
        "goodput_bps": [9.0, 2.0, 1.0, 3.0, 7.0],
    }
)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, 0.5),
        ({"signed": True}, 0.0),
        ({"reduce": "max"}, 0.5),
        ({"reduce": "min", "signed": True}, -0.5),
        ({"against_where": {"name": "f"}}, (0.5 + 2.0) / 2),
        ({"between": (2, 3)}, 0.5),
    ],
)
def test_how_far_steps_are_off_from_those_of_another_table(keys, expected):
    """Estimates of 1, 3 and 5 against 2, the mean of 1 and 3, and nothing."""
    spec = MetricSpec(column="measurements.capacity_bps", where={"name": "a"}, against="series.goodput_bps", **keys)
    truth = reference_values(spec, STEPS, TRUTH)
    assert per_seed(spec, STEPS, 1.0, truth).tolist() == [pytest.approx(expected)]


def test_nothing_is_off_from_zero_or_from_what_is_missing():
    spec = MetricSpec(column="measurements.capacity_bps", against="series.goodput_bps")
    assert np.isnan(per_seed(spec, STEPS, 1.0, reference_values(spec, STEPS, TRUTH.assign(goodput_bps=0.0))).iloc[0])
    assert np.isnan(per_seed(spec, STEPS, 1.0, reference_values(spec, STEPS, TRUTH[TRUTH["seed"] == 2])).iloc[0])


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"against": "later"}, "'later' is no metric above this one; there are nominal"),
        ({"against": "series.rtt_s"}, "series.rtt_s is in s, measurements.capacity_bps in bit/s"),
        ({"against": "series.nothing"}, "no column 'nothing'"),
        ({"against": "series.name"}, "a name, not a number"),
        ({"against": "flows.goodput_bps"}, "the table flows has no time steps"),
        (
            {"against": "nominal", "against_where": {"name": "n0"}},
            "against_where: has no effect, since nominal is a metric",
        ),
        ({"against": "series.goodput_bps", "against_where": {"node": 1}}, "no column 'node'"),
        ({"signed": True}, "has signed, which needs against"),
        ({"against": "nominal", "per": "available_bps"}, "has per, which makes a ratio of sums, and against"),
    ],
)
def test_what_nothing_can_be_held_against_is_reported(keys, says):
    nominal = {"model": "wlan-capacity", "result": "goodput_bps"}
    with pytest.raises(UserError, match=says):
        study(
            scenario=MEASURED,
            metrics={
                "nominal": nominal,
                "off": {"column": "measurements.capacity_bps", **keys},
                "later": nominal,
            },
        )


def test_one_step_does_not_vary_and_a_mean_of_zero_has_no_variation():
    assert np.isnan(made(where={"name": "a"}, reduce="cv", between=(2, 3)))
    assert np.isnan(made("available_bps", where={"name": "b"}, reduce="cv", between=(3, 4)))


@pytest.mark.parametrize(
    ("wanted", "expected"), [([], True), ("a*", True), ("!a*", False), (["b", "ab"], True), ("b", False)]
)
def test_a_text_fulfils_a_condition(wanted, expected):
    assert fits("ab", wanted) is expected


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    asked = study(
        scenario=MEASURED,
        factors={"size": {"key": "schemes.tcp-newreno.segment_size", "values": ["500 B", "1000 B"]}},
        seeds=2,
        metrics={
            "capacity": {"column": "measurements.capacity_bps", "where": {"estimator": "rt-winf", "name": "n0"}},
            "maximum": {
                "model": "maximum-throughput",
                "result": "throughput_bps",
                "arguments": {"rts": False, "packet": 1000},
                "cases": {"size": {"500 B": {"packet": 540}}},
                "unit": "Mb/s",
            },
            "share": {"metric": "capacity", "over": "maximum"},
            "off": {
                "column": "measurements.capacity_bps",
                "where": {"estimator": "rt-winf", "name": "n0"},
                "against": "maximum",
                "signed": True,
            },
            "apart": {
                "column": "measurements.capacity_bps",
                "where": {"estimator": "rt-winf", "name": "n0"},
                "against": "measurements.capacity_bps",
                "against_where": {"estimator": "rt-winf", "name": "n1"},
            },
            "busy": {"column": "measurements.implied_busy_ratio", "where": {"estimator": "busy"}},
            "truth": {"column": "measurements.true_busy_ratio", "where": {"estimator": "busy"}},
            "bias": {"metric": "busy", "less": "truth", "unit": "%"},
            "growth": {"metric": "maximum", "over": "maximum", "at": {"size": "500 B"}, "unit": "%"},
            "more": {"metric": "capacity", "less": "maximum", "at": {"size": "500 B"}},
            "called_busy": {"column": "measurements.implied_busy_ratio", "where": {"estimator": "rt*", "name": "n0"}},
        },
    )
    return asked.run(tmp_path_factory.mktemp("measured") / "s")


def test_metrics_of_runs_are_those_of_their_tables(result):
    rows = result.table("measurements")
    rows = rows[(rows["size"] == "1000 B") & (rows["time_s"] > 1.0) & (rows["name"] == "n0") & (rows["seed"] == 2)]
    rows = rows[rows["estimator"] == "rt-winf"]
    assert result.values(1, "capacity")[2] == pytest.approx(rows["capacity_bps"].mean())
    busy = 1 - rows["available_bps"] / rows["capacity_bps"]
    assert result.values(1, "called_busy")[2] == pytest.approx(busy.mean())


def test_a_closed_form_stands_beside_the_runs(result):
    for point, packet in ((0, 540), (1, 1000)):
        expected = evaluate("maximum-throughput", {"rts": False, "packet": packet})["throughput_bps"]
        assert result.values(point, "maximum").tolist() == [expected, expected]
        shares = result.values(point, "capacity") / expected
        assert result.values(point, "share").tolist() == pytest.approx(shares.tolist())
    assert result.metric("maximum").unit == "Mb/s"
    assert result.metric("share").unit == ""


def test_a_metric_is_held_against_that_of_another_point(result):
    """Seed by seed, and against itself at that point."""
    for point in (0, 1):
        ratio = result.values(point, "maximum") / result.values(0, "maximum")
        assert result.values(point, "growth").tolist() == pytest.approx(ratio.tolist())
        excess = result.values(point, "capacity") - result.values(0, "maximum")
        assert result.values(point, "more").tolist() == pytest.approx(excess.tolist())
    assert result.values(1, "growth").min() > 1.2
    assert result.estimate(0, "growth").half_width == 0


def test_the_bias_of_an_estimator_is_its_mean_less_the_truth(result):
    for point in (0, 1):
        difference = result.values(point, "busy") - result.values(point, "truth")
        assert result.values(point, "bias").tolist() == pytest.approx(difference.tolist())
        assert abs(difference.mean()) < 0.01, "this estimator knows it"
    assert result.metric("bias").unit == "%"


def test_steps_are_held_against_a_closed_form_and_against_those_of_another_node(result):
    for point in (0, 1):
        expected = result.values(point, "share") - 1
        assert result.values(point, "off").tolist() == pytest.approx(expected.tolist())
        rows = result.point_table(point, "measurements")
        rows = rows[(rows["estimator"] == "rt-winf") & (rows["time_s"] > 1.0) & (rows["seed"] == 2)]
        wide = rows.pivot_table(index="time_s", columns="name", values="capacity_bps")
        assert result.values(point, "apart")[2] == pytest.approx((wide["n0"] / wide["n1"] - 1).abs().mean())
    assert result.metric("off").unit == ""


def test_an_export_says_how_metrics_are_made(result, tmp_path):
    import pyarrow.parquet

    from multihop.experiments.exports import export

    export(result, tmp_path / "tables")
    schema = pyarrow.parquet.read_schema(tmp_path / "tables" / "metrics.parquet")
    meaning = {
        name: schema.field(name).metadata[b"meaning"].decode() for name in ("share", "bias", "maximum", "off", "growth")
    }
    assert meaning == {
        "share": "capacity over maximum",
        "bias": "busy less truth",
        "maximum": "throughput_bps of maximum-throughput",
        "off": "mean of measurements.capacity_bps against maximum",
        "growth": "maximum over maximum at size = 500 B",
    }


def test_a_chart_over_time_has_a_line_for_each_estimator_and_node(result):
    keys = {"kind": "time", "column": "measurements.capacity_bps", "title": "t", "unit": "Mb/s"}
    made = plot(result, Chart(**keys, where={"estimator": "rt-winf"}, panels="size"), "k")
    assert made.names == ["n0", "n1"]
    assert [panel.shaded for panel in made.panels] == [1.0, 1.0]
    values = result.table("measurements").query("estimator == 'rt-winf' and name == 'n1' and time_s == 2.0")
    line = made.panels[0].series[1]
    at_two = next(mark for mark in line.marks if mark.x == 2.0)
    assert at_two.y.mean == pytest.approx(values[values["size"] == "500 B"]["capacity_bps"].mean() * 1e-6)
    alone = plot(result, Chart(**keys, where={"estimator": "rt-winf", "name": "n0"}), "k")
    assert alone.names == ["500 B", "1000 B"]
    both = plot(
        result, Chart(**keys | {"column": "measurements.true_busy_ratio", "unit": "%"}, at={"size": "500 B"}), "k"
    )
    assert both.names == ["rt-winf at n0", "busy at n0", "rt-winf at n1"]


WRONG = {
    "nothing is measured": (
        {"scenario": NETWORK, "metrics": {"m": {"column": "measurements.capacity_bps"}}},
        ["metrics.m", "nothing is measured", "[[measure]]"],
    ),
    "no such measurement": (
        {"metrics": {"m": {"column": "measurements.capacity_bps", "where": {"estimator": "rtwinf"}}}},
        ["metrics.m.where.estimator", "'rtwinf'", "needs rt-winf, busy"],
    ),
    "not at this node": (
        {"metrics": {"m": {"column": "measurements.busy_ratio", "where": {"estimator": "busy", "name": "n1"}}}},
        ["metrics.m.where.name", "'n1'", "needs n0"],
    ),
    "a chart of what is not measured": (
        {
            "charts": [
                {
                    "kind": "time",
                    "title": "t",
                    "column": "measurements.busy_ratio",
                    "where": {"estimator": ["fsd", "fte"]},
                }
            ]
        },
        ["charts[0].where.estimator", "'fsd' or 'fte'", "rt-winf"],
    ),
    "after the end": (
        {"metrics": {"m": {"column": "measurements.busy_ratio", "between": [3, 5]}}},
        ["metrics.m.between", "begins at 3 s", "ends at 3 s"],
    ),
    "an empty window": (
        {"metrics": {"m": {"column": "measurements.busy_ratio", "between": [2, 2]}}},
        ["metrics.m", "empty"],
    ),
    "a window of no time": (
        {"metrics": {"m": {"column": "flows.goodput_bps", "between": [1, 2]}}},
        ["metrics.m.between", "flows", "no time steps"],
    ),
    "two sources": (
        {"metrics": {"m": {"column": "flows.goodput_bps", "model": "chain-capacity"}}},
        ["metrics.m", "one of column, model, optimum and metric"],
    ),
    "a key of another source": (
        {"metrics": {"m": {"column": "flows.goodput_bps", "result": "end_to_end"}}},
        ["metrics.m", "has result, which needs model"],
    ),
    "no such model": (
        {"metrics": {"m": {"model": "eq14", "result": "x"}}},
        ["metrics.m.model", "'eq14'", "maximum-throughput"],
    ),
    "no such result": (
        {"metrics": {"m": {"model": "maximum-throughput", "result": "speed"}}},
        ["metrics.m.result", "'speed'", "throughput_bps"],
    ),
    "no such argument": (
        {"metrics": {"m": {"model": "maximum-throughput", "result": "time_s", "arguments": {"hops": 1}}}},
        ["metrics.m", "'hops'", "packet"],
    ),
    "an argument that cannot be": (
        {"metrics": {"m": {"model": "maximum-throughput", "result": "time_s", "arguments": {"packet": 20}}}},
        ["metrics.m", "packet is 20", "29"],
    ),
    "cases of no factor": (
        {"metrics": {"m": {"model": "maximum-throughput", "result": "time_s", "cases": {"size": {"a": {}}}}}},
        ["metrics.m.cases", "size"],
    ),
    "a metric below": (
        {
            "metrics": {
                "m": {"metric": "a", "over": "b"},
                "a": {"column": "flows.goodput_bps"},
                "b": {"column": "flows.hops"},
            }
        },
        ["metrics.m.metric", "'a'", "above"],
    ),
    "units that differ": (
        {
            "metrics": {
                "a": {"column": "flows.goodput_bps"},
                "b": {"column": "flows.delay_mean_s"},
                "m": {"metric": "a", "less": "b"},
            }
        },
        ["metrics.m.less", "b is in s", "a in bit/s"],
    ),
    "a point that is none": (
        {
            "metrics": {
                "a": {"column": "flows.goodput_bps"},
                "m": {"metric": "a", "over": "a", "at": {"scheme": "tahoe"}},
            }
        },
        ["metrics.m.at", "scheme has no value 'tahoe'"],
    ),
    "another point for a column": (
        {"metrics": {"a": {"column": "flows.goodput_bps", "at": {"scheme": "recn"}}}},
        ["metrics.a", "at, which needs metric"],
    ),
    "neither over nor less": (
        {"metrics": {"a": {"column": "flows.goodput_bps"}, "m": {"metric": "a"}}},
        ["metrics.m", "either over or less"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_reported_before_anything_runs(case):
    keys, words = WRONG[case]
    with pytest.raises(UserError) as caught:
        study(**{"scenario": MEASURED, **keys}).plan  # noqa: B018 - resolving is what is tested
    for word in words:
        assert word in str(caught.value), str(caught.value)
