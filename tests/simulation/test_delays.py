"""Distributions of delay: the table, and the quantiles over packets of all flows that are made of it."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

import multihop
from conftest import CHAIN
from multihop.results.columns import TABLES
from multihop.simulation.store import RunId, decode, encode

#: Two flows that want the same, of which one has many packets and the other few with long delays, and a call.
UNEQUAL = """
name = "unequal"
duration = "6 s"
warmup = "1 s"
[topology]
nodes = [{ name = "a" }, { name = "b" }, { name = "c" }]
[[topology.wires]]
between = ["a", "b"]
rate = "50 Mb/s"
delay = "1 ms"
[[topology.wires]]
between = ["b", "c"]
rate = "1 Mb/s"
delay = "200 ms"
[[flows]]
name = "near"
from = "a"
to = "b"
scheme = "tcp-cubic"
app = { kind = "saturated" }
[[flows]]
name = "far"
from = "a"
to = "c"
scheme = "tcp-cubic"
app = { kind = "saturated" }
[[flows]]
name = "call"
from = "b"
to = "c"
scheme = "udp"
app = { kind = "cbr", rate = "64 kb/s", packet = "160 B" }
"""


def quantile(table, share):
    """The smallest edge that at least this share of the packets of a table does not exceed."""
    ordered = table.sort_values("delay_s")
    counted = ordered["packets"].cumsum()
    return ordered.loc[counted >= share * counted.iloc[-1], "delay_s"].iloc[0]


def test_bins_hold_every_packet_that_arrived_and_agree_with_the_quantiles():
    result = multihop.run(CHAIN)
    df = result.delays
    assert list(df.columns) == list(TABLES["delays"]) == ["flow", "name", "delay_s", "packets"]
    assert (df["packets"] > 0).all()
    for _, flow in result.flows.iterrows():
        own = df[df["flow"] == flow["flow"]]
        assert set(own["name"]) == {flow["name"]}
        assert own["packets"].sum() == flow["packets_delivered"]
        assert own["delay_s"].is_monotonic_increasing
        assert own["delay_s"].is_unique
        for name, share in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("max", 1.0)):
            exact = flow[f"delay_{name}_s"]
            assert exact <= quantile(own, share) * (1 + 1e-12)
            assert exact > quantile(own, share) * 0.97
    assert all(len(f"{edge:.15g}".replace(".", "").strip("0")) <= 3 for edge in df["delay_s"]), "edges are short"


def test_a_flow_that_delivers_nothing_has_no_bins():
    result = multihop.run(CHAIN.replace('warmup = "1 s"', 'warmup = "4999 ms"'))
    dead = result.flows.loc[result.flows["packets_delivered"] == 0, "name"]
    assert not set(result.delays["name"]) & set(dead)


def test_comparisons_have_the_table_and_write_it(tmp_path):
    comparison = multihop.compare(CHAIN, ["tcp-newreno", "udp"], seeds=2)
    df = comparison.delays
    assert list(df.columns) == ["variant", "seed", *TABLES["delays"]]
    delivered = comparison.flows.set_index(["variant", "seed", "flow"])["packets_delivered"]
    counted = df.groupby(["variant", "seed", "flow"])["packets"].sum()
    assert counted.to_dict() == delivered[delivered > 0].to_dict()
    folder = comparison.save(tmp_path / "results")
    written = pd.read_csv(folder / "delays.csv")
    pd.testing.assert_frame_equal(written, df, check_dtype=False, check_exact=False, rtol=1e-15)


def test_quantiles_of_a_run_count_each_packet_of_flows_that_want_the_same():
    result = multihop.run(UNEQUAL)
    flows = result.flows.set_index("name")
    alike = result.delays[result.delays["name"] != "call"]
    assert flows.loc["far", "delay_p50_s"] > 0.2 > 10 * flows.loc["near", "delay_p50_s"]
    assert flows.loc["near", "packets_delivered"] > 20 * flows.loc["far", "packets_delivered"]
    assert result.summary["delay_p50_s"] == pytest.approx(quantile(alike, 0.5), rel=0.03)
    assert result.summary["delay_p50_s"] < 0.1 * flows["delay_p50_s"].mean(), "few slow packets hardly count"
    assert flows.loc["near", "delay_p95_s"] <= result.summary["delay_p95_s"] <= flows.loc["far", "delay_p95_s"]


def test_a_lone_flow_has_its_exact_quantiles():
    lone = UNEQUAL.split('[[flows]]\nname = "far"')[0]
    result = multihop.run(lone)
    for name in ("delay_p50_s", "delay_p95_s"):
        assert result.summary[name] == result.flows[name].item()


def test_a_run_that_was_kept_without_the_table_still_opens():
    result = multihop.run(CHAIN)
    run = RunId(result.view["hash"], result.seed, "engine")
    plain = json.loads(gzip.decompress(encode(result.output, run)))
    del plain["delays"]
    older = decode(gzip.compress(json.dumps(plain).encode()), run)
    assert "delays" not in older
    opened = multihop.experiments.runs.FinishedRun(result.scenario, result.view, result.overrides, older)
    assert opened.delays.empty
    assert opened.flows.equals(result.flows)
    assert np.isnan(opened.summary["delay_p50_s"])
    assert opened.summary["goodput_total_bps"] == result.summary["goodput_total_bps"]
