"""The Python API."""

import itertools
import json
import math
import shlex
import threading
import tomllib

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import multihop
from conftest import CHAIN, SCENARIOS
from multihop import _core
from multihop.cli.settings import read as read_settings
from multihop.results.columns import METRICS, OPTIMUM_METRICS, RUN_COLUMNS, TABLES

TABLE_NAMES = list(TABLES)


def test_a_run_has_all_tables_with_all_columns():
    result = multihop.run(CHAIN, seed=3)
    assert result.seed == 3
    for name in TABLE_NAMES:
        assert list(result.table(name).columns) == list(TABLES[name]), name
    assert len(result.flows) == 2
    assert len(result.nodes) == 4
    assert set(result.flows["name"]) == {"long", "short"}


def test_numbers_are_consistent():
    result = multihop.run(CHAIN)
    assert result.summary["measured_s"] == pytest.approx(4.0)
    expected = result.flows["delivered_bytes"] * 8 / 4.0
    assert result.flows["goodput_bps"].tolist() == pytest.approx(expected.tolist())
    assert result.summary["goodput_total_bps"] == pytest.approx(result.flows["goodput_bps"].sum())
    shares = result.nodes[["transmitting", "receiving", "sensing", "idle"]].sum(axis=1)
    assert shares.tolist() == pytest.approx([1.0] * 4)
    s = result.summary
    lost = sum(v for k, v in s.items() if k.startswith("dropped_"))
    assert s["sent"] == s["delivered"] + lost + s["queued"], "packets are conserved"
    ordered = result.flows[["delay_p50_s", "delay_p90_s", "delay_p95_s", "delay_p99_s", "delay_max_s"]]
    assert all(row == sorted(row) for row in ordered.to_numpy().tolist())


def test_series_add_up_to_what_was_delivered():
    result = multihop.run(CHAIN.replace('warmup = "1 s"', 'warmup = "0 s"'))
    per_flow = result.series.groupby("flow")["delivered_bytes"].sum()
    assert per_flow.tolist() == result.flows["delivered_bytes"].tolist()


def test_measurements_have_a_row_for_each_step_node_and_estimator():
    asked = '[[measure]]\nestimator = "rt-winf"\nat = ["n1"]\n[[measure]]\nestimator = "busy-ratio"\nname = "R_b"\n'
    plain, result = multihop.run(CHAIN), multihop.run(f"{CHAIN}\n{asked}")
    df = result.measurements
    assert list(df.columns) == list(TABLES["measurements"])
    steps = result.series["time_s"].nunique()
    assert df.groupby(["estimator", "name"]).size().to_dict() == {
        ("rt-winf", "n1"): steps,
        **{("R_b", f"n{node}"): steps for node in range(4)},
    }
    winf, busy = df[df["estimator"] == "rt-winf"], df[df["estimator"] == "R_b"]
    assert winf["capacity_bps"].notna().all()
    assert (winf["available_bps"] <= winf["capacity_bps"]).all()
    assert winf["busy_ratio"].isna().all()
    assert busy["capacity_bps"].isna().all()
    assert df["true_busy_ratio"].between(0, 1).all()
    # Who measures changes nothing, and who does not has an empty table.
    assert result.summary == plain.summary
    assert plain.measurements.empty


def test_measurements_of_many_runs_are_kept(tmp_path):
    text = f'{CHAIN}\n[[measure]]\nestimator = "fsd"\n'
    comparison = multihop.compare(text, ["tcp-newreno", "recn"], seeds=2)
    folder = comparison.save(tmp_path / "results")
    kept = pd.read_parquet(folder / "measurements.parquet")
    assert len(kept) == 4 * len(multihop.run(text).measurements)
    assert kept["service_delay_s"].notna().any()


def test_a_scenario_is_a_path_a_text_or_a_dictionary(chain):
    by_path = multihop.run(chain)
    by_text = multihop.run(CHAIN)
    by_dict = multihop.run(tomllib.loads(CHAIN))
    assert by_path.summary == by_text.summary == by_dict.summary
    assert by_path.view["hash"] == by_text.view["hash"] == by_dict.view["hash"]


def test_overrides():
    result = multihop.run(CHAIN, duration="3 s", scheme="tcp-sack")
    assert result.summary["measured_s"] == pytest.approx(2.0)
    assert set(result.flows["scheme"]) == {"tcp-sack"}
    with pytest.raises(multihop.UserError, match="cannot be overridden"):
        multihop.run(CHAIN, speed="3 s")
    with pytest.raises(multihop.UserError, match="2\\^64"):
        multihop.run(CHAIN, seed=-1)


def test_settings_replace_and_add_keys():
    written = CHAIN.replace("hops = 3", "hops = 4") + "[mac]\nqueue = 7\n"
    given = {"topology.hops": np.int64(4), "mac": {"queue": 7}}
    changed = multihop.run(CHAIN, set=given)
    assert changed.summary == multihop.run(written).summary
    assert changed.view["hash"] == multihop.check(written)["hash"] == multihop.check(CHAIN, set=given)["hash"]
    assert changed.overrides == {"set": {"topology.hops": 4, "mac": {"queue": 7}}}
    every = multihop.check(CHAIN, set={"flows[*].scheme": "udp", "flows.length": 1})
    assert [flow["scheme"] for flow in every["flows"]] == ["udp"]
    with pytest.raises(multihop.ScenarioError, match=r"^--set topology\.hops: 0 is out of range"):
        multihop.run(CHAIN, set={"topology.hops": 0})


def test_an_error_of_a_scenario_has_what_it_consists_of():
    def raised(text, **given):
        with pytest.raises(multihop.ScenarioError) as caught:
            multihop.check(text, **given)
        error = caught.value
        return error.key, error.found, error.remedy, error.line, error.setting

    wrong = CHAIN + "[schemes.recn]\nthreshold = 2\n"
    key, remedy = "schemes.recn.threshold", "give a value from 0 to 1"
    assert raised(wrong) == (key, "2 is out of range", remedy, wrong.count("\n"), None)
    assert raised(CHAIN, set={key: 2}) == (key, "2 is out of range", remedy, None, key)
    assert raised(CHAIN, scheme="recm")[3:] == (None, "scheme")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["topology.hops"], "needs paths of keys with values"),
        ({1: 2}, "needs paths of keys with values"),
        ({"topology.hops": None}, "topology.hops: found None"),
        ({"name": object()}, "name: found <object"),
        ({"name": "\udc80"}, "surrogate"),
        ({"\udc80": 1}, "surrogate"),
    ],
)
def test_settings_are_toml_values(given, named):
    with pytest.raises(multihop.UserError, match=named):
        multihop.check(CHAIN, set=given)


def test_settings_are_part_of_the_command_and_the_manifest(tmp_path):
    given = {
        "topology.spacing": "190 m",
        "flows[0].app": {"kind": "cbr", "rate": "1 Mb/s", "packet": "900 B"},
        "name": "a=b'",
    }
    comparison = multihop.compare(CHAIN, ["udp", "recn"], seeds=1, set=given)
    words = shlex.split(comparison.command)
    typed = [word for before, word in itertools.pairwise(words) if before == "--set"]
    assert read_settings(typed) == given
    comparison.save(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["command"] == comparison.command
    assert [variant["overrides"]["set"] for variant in manifest["variants"]] == [given, given]


def test_keys_of_any_toml_are_located():
    text = "a = 1\n[[b]]\nc = 2\n[[b]]\nc = 3\n"
    assert _core.locate(text, ["b", 1, "c"]) == 5
    assert _core.locate(text, ["b", 1, "absent"]) == 4
    assert _core.locate("a = ", ["a"]) is None


def test_errors_name_what_is_wrong(tmp_path):
    with pytest.raises(multihop.ScenarioError, match="recm"):
        multihop.run(CHAIN, scheme="recm")
    with pytest.raises(multihop.UserError, match="no such file"):
        multihop.run(tmp_path / "absent.toml")
    with pytest.raises(multihop.UserError, match="more than once"):
        multihop.compare(CHAIN, ["recn", "recn"])
    with pytest.raises(multihop.UserError, match="none given"):
        multihop.compare(CHAIN, [])
    with pytest.raises(multihop.UserError, match="repeated seeds"):
        multihop.compare(CHAIN, ["recn"], seeds=[1, 1])
    with pytest.raises(multihop.UserError, match="seeds: found 0"):
        multihop.compare(CHAIN, ["recn"], seeds=0)


def test_results_do_not_depend_on_the_number_of_threads():
    one, many = (multihop.compare(CHAIN, ["tcp-newreno", "recn"], seeds=4, jobs=jobs) for jobs in (1, 7))
    for name in TABLE_NAMES:
        pd.testing.assert_frame_equal(one.table(name), many.table(name), check_exact=True)


def test_the_same_seed_is_the_same_run_and_another_is_not():
    a, b, c = (multihop.run(CHAIN, seed=seed).summary for seed in (5, 5, 6))
    assert a == b
    assert a["fingerprint"] != c["fingerprint"]


def test_the_gil_is_released_while_running():
    ticks = 0
    finished = threading.Event()

    def work():
        multihop.run(CHAIN, duration="60 s")
        finished.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not finished.is_set() and ticks < 1_000_000:
        ticks += 1
    thread.join()
    assert ticks > 100, "this thread could count while the other one was simulating"


def test_comparison_statistics():
    comparison = multihop.compare(CHAIN, ["tcp-newreno", "udp"], seeds=[4, 9, 2])
    assert comparison.variants == ["tcp-newreno", "udp"]
    assert comparison.seeds == [4, 9, 2]
    assert len(comparison.summary) == 6
    assert list(comparison.flows.columns)[:2] == list(RUN_COLUMNS)
    statistics = comparison.statistics()
    assert set(statistics["metrics"]) == {m.name for m in (*METRICS, *OPTIMUM_METRICS)}
    goodput = statistics["metrics"]["goodput_total_bps"]["tcp-newreno"]
    assert goodput["n"] == 3
    assert goodput["low"] < goodput["mean"] < goodput["high"]
    assert goodput["values"] == [r.summary["goodput_total_bps"] for r in comparison.results["tcp-newreno"]]
    # Datagrams have no round-trip time, so there is nothing to compare; null, never a made-up number.
    assert statistics["metrics"]["rtt_mean_s"]["udp"]["mean"] is None
    assert not [p for p in statistics["paired"] if p["metric"] == "rtt_mean_s"]
    json.dumps(statistics, allow_nan=False)


def test_one_seed_makes_no_claims():
    comparison = multihop.compare(CHAIN, ["tcp-newreno", "tcp-sack"], seeds=1)
    assert [sentence for sentence in comparison.verdict() if "chance" in sentence] == comparison.verdict()[:1]
    assert all(p["p_value"] is None and not p["significant"] for p in comparison.statistics()["paired"])


def test_the_same_scheme_twice_is_no_difference():
    text = CHAIN + '\n[schemes.twin]\nbase = "tcp-newreno"\n'
    comparison = multihop.compare(text, ["tcp-newreno", "twin"], seeds=3)
    assert comparison.verdict()[0].startswith("No significant difference: goodput ")
    assert not any("is better" in sentence for sentence in comparison.verdict())


def test_saved_results_describe_themselves(tmp_path):
    comparison = multihop.compare(CHAIN, ["tcp-newreno", "recn"], seeds=2)
    folder = comparison.save(tmp_path / "results")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["seeds"] == [1, 2]
    assert [v["name"] for v in manifest["variants"]] == ["tcp-newreno", "recn"]
    assert all(len(v["scenario_hash"]) >= 16 for v in manifest["variants"])
    assert (folder / "scenario.toml").read_text() == CHAIN
    for name in TABLE_NAMES:
        table = pq.read_table(folder / f"{name}.parquet")
        assert json.loads(table.schema.metadata[b"multihop"]) == manifest
        for column in table.schema:
            meta = (RUN_COLUMNS | TABLES[name])[column.name]
            assert column.metadata == {b"unit": meta.unit.encode(), b"meaning": meta.meaning.encode()}
        pd.testing.assert_frame_equal(table.to_pandas(), comparison.table(name), check_dtype=False)
        assert len(pd.read_csv(folder / f"{name}.csv")) == table.num_rows
    assert not list(folder.glob(".*")), "no half-written files are left"


def test_a_flow_that_delivers_nothing_has_no_delay():
    # The flow starts when the run is over.
    text = CHAIN.replace('name = "long"', 'name = "long"\nstart = "4.9999 s"')
    flow = multihop.run(text).flows.iloc[0]
    assert flow["packets_delivered"] == 0
    assert flow["goodput_bps"] == 0
    assert math.isnan(flow["delay_mean_s"])


def test_rich_display():
    assert "small-chain" in multihop.run(CHAIN)._repr_html_()
    assert "Total goodput" in multihop.compare(CHAIN, ["recn"], seeds=2)._repr_html_()


def test_check_shows_paths():
    view = multihop.check(CHAIN)
    assert view["flows"][0]["path"] == [0, 1, 2, 3]
    assert [node["name"] for node in view["nodes"]] == ["n0", "n1", "n2", "n3"]
    assert all(0 < quality <= 1 for _, _, quality in view["links"])


@pytest.mark.parametrize("path", sorted(SCENARIOS.rglob("*.toml")), ids=lambda p: p.stem)
def test_scenarios_that_people_start_from_run(path):
    result = multihop.run(path, duration="3 s", warmup="1 s")
    assert result.summary["events"] > 0


def test_the_verdict_says_no_more_than_the_numbers():
    comparison = multihop.compare(CHAIN, ["tcp-newreno", "udp"], seeds=5)
    said = {sentence.partition(":")[0]: sentence for sentence in comparison.verdict()}
    labels = {"goodput_total_bps": "Goodput", "jain": "Fairness of goodput", "delay_p95_s": "Delay (95th percentile)"}
    for metric, label in labels.items():
        (contrast,) = comparison.contrasts(next(m for m in METRICS if m.name == metric))
        better = contrast.a if (contrast.difference.mean > 0) == contrast.metric.higher_is_better else contrast.b
        assert (f"{better} is better" in said.get(label, "")) == contrast.significant, said
        assert (label.lower() in said.get("No significant difference", "").lower()) != contrast.significant, said


def test_starved_flows_are_mentioned():
    text = CHAIN.replace('name = "long"', 'name = "long"\nstart = "4.9999 s"')
    assert multihop.compare(text, ["udp"], seeds=2).verdict()[0].startswith("Dead: long (1 of 2 flows in all 2 seeds)")
    assert not any("Dead" in s or "Starving" in s for s in multihop.compare(CHAIN, ["udp"], seeds=2).verdict())


@pytest.mark.parametrize("seed", [1.0, True, "1", [1]])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(multihop.UserError, match=r"seed: found .*whole number"):
        multihop.run(CHAIN, seed=seed)
    with pytest.raises(multihop.UserError, match=r"seed: found .*whole number"):
        multihop.compare(CHAIN, ["udp"], seeds=[seed])


@pytest.mark.parametrize("seeds", [2.0, True, "12"])
def test_the_number_of_seeds_is_a_whole_number(seeds):
    with pytest.raises(multihop.UserError, match=r"seeds: found .*whole number"):
        multihop.compare(CHAIN, ["udp"], seeds=seeds)


def test_seeds_of_numpy_are_whole_numbers():
    assert multihop.compare(CHAIN, ["udp"], seeds=np.arange(2)).seeds == [0, 1]
    assert multihop.compare(CHAIN, ["udp"], seeds=np.int64(2)).seeds == [1, 2]


def test_arguments_of_another_type():
    with pytest.raises(multihop.UserError, match=r"needs a list, as in \['recn'\]"):
        multihop.compare(CHAIN, "recn")
    with pytest.raises(multihop.UserError, match="schemes: found 3"):
        multihop.compare(CHAIN, [3])
    with pytest.raises(multihop.UserError, match="jobs: found 0"):
        multihop.compare(CHAIN, ["udp"], jobs=0)
    with pytest.raises(multihop.UserError, match="scheme: found 5; needs the name of a scheme"):
        multihop.run(CHAIN, scheme=5)
    with pytest.raises(multihop.UserError, match="scenario: found int"):
        multihop.run(3)


def test_scenarios_that_are_not_text():
    cyclic = {}
    cyclic["topology"] = cyclic
    with pytest.raises(multihop.UserError, match="contains itself"):
        multihop.run(cyclic)
    for broken in ({"name": "\ud800"}, 'name = "\ud800"'):
        with pytest.raises(multihop.UserError, match="surrogate"):
            multihop.run(broken)
    with pytest.raises(multihop.UserError, match=r"scheme: .*surrogate"):
        multihop.run(CHAIN, scheme="\udcff")
    with pytest.raises(multihop.UserError, match="TOML"):
        multihop.run({"name": object()})


def test_losses_are_a_share_of_packets_whose_fate_was_decided():
    # All is emitted during the warm-up, at a rate that fills the queue; most is lost or arrives after it.
    app = 'app = { kind = "cbr", rate = "20 Mb/s", packet = "1000 B" }\nstop = "1.01 s"\n'
    for result in (multihop.run(CHAIN), multihop.run(CHAIN.replace("tcp-newreno", "udp") + app)):
        lost = result.flows[[name for name in result.flows.columns if name.startswith("dropped_")]].sum(axis=1)
        decided = lost + result.flows["packets_delivered"]
        assert result.flows["loss_ratio"].tolist() == pytest.approx((lost / decided).tolist(), nan_ok=True)
        assert result.summary["loss_ratio"] == pytest.approx(lost.sum() / decided.sum())
        assert result.summary["feedback_dropped"] == result.flows["feedback_dropped"].sum()
        assert 0 <= result.summary["loss_ratio"] <= 1
