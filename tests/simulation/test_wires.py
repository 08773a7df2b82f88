"""Wires, from the scenario to the tables."""

import tomllib

import pandas as pd
import pytest

import multihop
from conftest import CHAIN, SCENARIOS
from multihop.results.columns import TABLES
from studies import study

#: One hop by radio, one by wire, to a node that has nothing else.
MIXED = """
name = "mixed"
duration = "5 s"
warmup = "1 s"
[topology]
nodes = [
    { name = "mesh", position = ["0 m", "0 m"] },
    { name = "gateway", position = ["200 m", "0 m"] },
    { name = "server" },
]
[[topology.wires]]
between = ["gateway", "server"]
rate = "10 Mb/s"
delay = "20 ms"
rate_back = "1 Mb/s"
[[flows]]
from = "mesh"
to = "server"
scheme = "tcp-newreno"
"""


def test_wires_have_a_table_with_a_row_per_direction(tmp_path):
    result = multihop.run(MIXED)
    df = result.wires
    assert list(df.columns) == list(TABLES["wires"])
    assert df[["sender_name", "receiver_name", "rate_bps"]].to_numpy().tolist() == [
        ["gateway", "server", 10e6],
        ["server", "gateway", 1e6],
    ]
    assert df["delay_s"].tolist() == [0.02, 0.02]
    there = df.iloc[0]
    assert there["delivered"] == result.flows["packets_delivered"].item() > 100
    assert there["utilisation"] == pytest.approx(there["sent_bytes"] * 8 / 10e6 / 4, rel=0.01)
    assert set(zip(result.links["sender_name"], result.links["receiver_name"], strict=True)) == {
        ("mesh", "gateway"),
        ("gateway", "mesh"),
    }
    folder = multihop.compare(MIXED, ["tcp-newreno", "udp"], seeds=2).save(tmp_path / "results")
    assert len(pd.read_parquet(folder / "wires.parquet")) == 2 * 2 * 2


def test_without_wires_the_table_is_empty(tmp_path):
    assert multihop.run(CHAIN).wires.empty
    folder = multihop.run(CHAIN).save(tmp_path / "results")
    assert list(pd.read_parquet(folder / "wires.parquet").columns) == ["variant", "seed", *TABLES["wires"]]


def test_check_counts_wires_among_the_links(inline, tmp_path):
    (tmp_path / "mixed.toml").write_text(MIXED)
    done = inline("check", "mixed.toml")
    assert done.code == 0, done.err
    assert "3 nodes, 4 directed links (2 by wire), 1 flow" in done.out
    view = inline("check", "mixed.toml", "--json").json()
    assert view["wires"][1] == {
        "sender": 2,
        "receiver": 1,
        "rate_bps": 1_000_000,
        "delay": 0.02,
        "queue": 50,
        "loss": 0,
    }
    assert [1, 2, 1.0] in view["links"]
    assert "by wire" not in inline("check", SCENARIOS / "chain.toml").out


def test_a_report_shows_nodes_without_a_place(inline, tmp_path):
    (tmp_path / "mixed.toml").write_text(MIXED)
    done = inline("run", "mixed.toml", "--out", "results")
    assert done.code == 0, done.err
    assert "1 node without a position" in (tmp_path / "results" / "report.html").read_text()


def test_captures_are_of_radios(tmp_path):
    multihop.run(MIXED, pcap=tmp_path / "run.pcapng")
    heard = multihop.measure(tmp_path / "run.pcapng").links
    assert len(heard) > 0
    wired = "02:00:00:00:00:02"
    assert wired not in {*heard["sender"], *heard["receiver"]}


def test_a_wire_bounds_goodput_by_its_rate():
    bound = multihop.bound(SCENARIOS / "dumbbell.toml")
    totals = bound.totals.set_index("level")
    # Two flows share the bottleneck's 10 Mb/s, and their acknowledgements go the other way.
    assert totals["total_bps"].tolist() == pytest.approx([10e6 * 1460 / 1500] * 3)
    assert totals["total_with_feedback_bps"].tolist() == pytest.approx([10e6 * 1460 / 1500] * 3)
    assert bound.flows["bottleneck"].tolist() == [["n2>n3"]] * 6
    mixed = multihop.bound(MIXED, set={"topology.wires[0].rate": "100 kb/s"})
    # Timestamps take 12 bytes of a segment.
    assert mixed.totals["total_bps"].tolist() == pytest.approx([100e3 * 1448 / 1500] * 3)
    free = multihop.bound(MIXED, set={"topology.wires[0].rate": "1 Gb/s"})
    assert free.totals["total_bps"].max() < 11e6, "then the radio is the limit"


def test_the_dumbbell_shares_its_bottleneck():
    result = multihop.run(SCENARIOS / "dumbbell.toml", seed=1)
    assert result.flows["hops"].tolist() == [3, 3]
    near, far = result.flows["goodput_bps"]
    bottleneck = result.wires.query("sender_name == 'n2' and receiver_name == 'n3'").iloc[0]
    assert near > far > 0
    assert near + far <= 10e6 * 1460 / 1500
    assert bottleneck["utilisation"] > 0.95
    assert result.flows["packets_lost"].sum() == bottleneck["dropped"] > 0


def test_metrics_of_studies_read_wires(tmp_path):
    asked = study(
        scenario=tomllib.loads(MIXED),
        factors={"rate": {"key": "topology.wires[0].rate", "values": ["1 Mb/s", "10 Mb/s"]}},
        seeds=2,
        metrics={"busy": {"column": "wires.utilisation", "where": {"sender_name": "gateway"}}},
    )
    for _ in range(2):  # the second time from the store
        result = asked.run(tmp_path / "s")
        busy = result.table("metrics").groupby("rate")["busy"].mean()
        assert busy["1 Mb/s"] > 0.95 > 0.7 > busy["10 Mb/s"] > 0.1
    rows = result.table("wires").query("sender_name == 'gateway'")
    assert len(rows) == 4
    assert rows["rate_bps"].unique().tolist() == [1e6, 10e6]
