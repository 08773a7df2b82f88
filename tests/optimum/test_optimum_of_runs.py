"""Runs beside their optimum: comparisons, reports, and metrics of studies."""

import tomllib

import numpy as np
import pytest

import multihop
from conftest import CHAIN, SCENARIOS
from multihop import Study, UserError

#: Two flows of one hop and one of two, all near each other.
BAR = """
name = "bar"
duration = "4 s"
warmup = "1 s"
[topology]
generator = "chain"
hops = 2
[schemes.udp]
segment_size = "1000 B"
[[flows]]
name = "one"
from = "n1"
to = "n2"
[[flows]]
name = "two"
from = "n0"
to = "n2"
"""

METRICS = {
    "distance": {"optimum": "distance"},
    "gap": {"optimum": "gap"},
    "share": {"optimum": "share", "reduce": "min", "unit": "%"},
    "two": {"optimum": "rate", "where": {"name": "two"}, "unit": "kb/s"},
    "most": {"optimum": "rate", "utility": "max-min", "constraints": "interference-sets", "reduce": "max"},
    "goodput": {"column": "flows.goodput_bps", "where": {"name": "two"}},
    "of_best": {"metric": "goodput", "over": "two"},
}


@pytest.fixture(scope="module")
def comparison():
    return multihop.compare(BAR, ["udp", "tcp-newreno"], seeds=2)


def test_a_comparison_says_how_far_each_scheme_is_from_its_own_optimum(comparison):
    assert comparison.not_comparable is None
    assert [m.name for m in comparison.metrics][-2:] == ["optimum_distance", "optimum_gap"]
    for scheme in comparison.variants:
        best = multihop.optimum(BAR, scheme=scheme).rates_bps
        assert comparison.optima[scheme].rates_bps == pytest.approx(best)
        for index, result in enumerate(comparison.results[scheme]):
            got = result.flows["goodput_bps"].to_numpy()
            wrong = np.linalg.norm(got - best) / np.linalg.norm(best)
            assert comparison.values(scheme, "optimum_distance")[index] == pytest.approx(wrong)
            missing = 1 - np.sqrt(np.prod(got / best))
            assert comparison.values(scheme, "optimum_gap")[index] == pytest.approx(missing)
    statistics = comparison.statistics()
    assert statistics["metrics"]["optimum_distance"]["udp"]["n"] == 2
    assert {pair["metric"] for pair in statistics["paired"]} >= {"optimum_gap"}
    assert statistics["optimum"]["flows_bps"]["udp"] == pytest.approx(comparison.optima["udp"].rates_bps.tolist())


def test_the_report_draws_the_optimum(comparison, tmp_path):
    page = comparison.report(tmp_path / "report.html").read_text()
    assert "one, udp: proportionally fair optimum" in page
    assert "Distance to the optimum" in page


def test_where_nodes_or_flows_come_and_go_there_is_no_optimum_and_it_is_said_so(inline, tmp_path):
    (tmp_path / "s.toml").write_text(CHAIN)
    shown = inline("compare", "s.toml", "--schemes", "udp,tcp-newreno", "--seeds", "1", "-q")
    assert "Distance to the optimum" in shown.out
    late = ["--set", "flows[0].stop=3 s"]
    shown = inline("compare", "s.toml", "--schemes", "udp,tcp-newreno", "--seeds", "1", "-q", *late)
    assert "Distance to the optimum" not in shown.out
    assert "flow long does not send during all" in shown.out
    moving = multihop.compare(SCENARIOS / "mobile-mesh.toml", ["udp"], seeds=1, duration="12 s", warmup="2 s")
    assert "nodes move" in moving.not_comparable
    assert "optimum_gap" not in moving.statistics()["metrics"]
    assert "No optimum is drawn" in moving.report(tmp_path / "r.html").read_text()


def test_studies_have_the_optimum_as_metrics(comparison, tmp_path):
    claim = {
        "id": "mine",
        "where": "Fig. 1",
        "says": "the optimum starves no flow",
        "kind": "bound",
        "metric": "two",
        "at_least": 1,
    }
    study = Study(
        name="s",
        scenario=tomllib.loads(BAR),
        factors={"scheme": ["udp", "tcp-newreno"]},
        seeds=2,
        metrics=METRICS,
        claims=[claim],
    )
    result = study.run(tmp_path / "study")
    table = result.table("metrics")
    for scheme in ("udp", "tcp-newreno"):
        mine = table[table["scheme"] == scheme]
        assert mine["distance"].to_numpy() == pytest.approx(comparison.values(scheme, "optimum_distance"))
        assert mine["gap"].to_numpy() == pytest.approx(comparison.values(scheme, "optimum_gap"))
        best = comparison.optima[scheme].rates_bps
        assert mine["two"].to_numpy() == pytest.approx([best[1]] * 2)
        got = np.array([run.flows["goodput_bps"].to_numpy() for run in comparison.results[scheme]])
        assert mine["share"].to_numpy() == pytest.approx((got / best).min(axis=1))
        assert mine["of_best"].to_numpy() == pytest.approx(got[:, 1] / best[1])
        fair = multihop.optimum(BAR, scheme=scheme, utility="max-min", constraints="interference-sets").rates_bps
        assert mine["most"].to_numpy() == pytest.approx([fair.max()] * 2)
    assert [str(judgement.verdict) for judgement in result.judgements] == ["reproduced"]
    units = {name: result.metric(name).unit for name in METRICS}
    assert units | {"share": "%", "two": "kb/s", "most": "bit/s", "distance": ""} == units


def test_metrics_of_studies_are_missing_where_flows_come_and_go(tmp_path):
    factors = {"stop": {"key": "flows[0].stop", "values": ["2 s", "9 s"]}}
    study = Study(
        name="s", scenario=tomllib.loads(BAR), set={"flows[*].scheme": "udp"}, factors=factors, seeds=1, metrics=METRICS
    )
    table = study.run(tmp_path / "study").table("metrics").set_index("stop")
    for name in ("distance", "gap", "share", "two"):
        assert np.isnan(table.loc["2 s", name])
        assert np.isfinite(table.loc["9 s", name])


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        ({"optimum": "distance", "utility": "linear"}, "log, max-min, or alpha=A"),
        ({"optimum": "distance", "reduce": "min"}, "all flows together"),
        ({"optimum": "share", "per": "flows.hops"}, "per"),
        ({"optimum": "share", "where": {"nothing": 1}}, "no column 'nothing'"),
        ({"optimum": "share", "column": "flows.hops"}, "one of column, model, optimum and metric"),
        ({"column": "flows.hops", "utility": "log"}, "needs optimum"),
    ],
)
def test_metrics_of_the_optimum_that_make_no_sense_are_refused(metric, says):
    with pytest.raises(UserError, match=says):
        Study(name="s", scenario=tomllib.loads(BAR), metrics={"m": metric})
