"""Multicast flows through the package: one row per receiver, and what commands say of them."""

import numpy as np
import pytest

import multihop
from conftest import SCENARIOS
from multihop.experiments.remarks.phases import in_phase
from multihop.framelog.reading import read

CELL = {
    "name": "cell",
    "duration": "2 s",
    "topology": {
        "nodes": [
            {"name": "ap", "position": ["0 m", "0 m"]},
            {"name": "near", "position": ["20 m", "0 m"]},
            {"name": "side", "position": ["0 m", "20 m"]},
            {"name": "far", "position": ["9 km", "0 m"]},
        ]
    },
    "flows": [
        {
            "name": "news",
            "from": "ap",
            "to": ["near", "far"],
            "scheme": "udp",
            "app": {"kind": "cbr", "rate": "400 kb/s", "packet": "500 B"},
            "stop": "1900 ms",
        },
        {"from": "near", "to": "side", "scheme": "tcp-newreno"},
    ],
}

TEXT = """
duration = "2 s"
[topology]
nodes = [
  { name = "ap", position = ["0 m", "0 m"] },
  { name = "near", position = ["20 m", "0 m"] },
  { name = "far", position = ["9 km", "0 m"] },
]
[[flows]]
name = "news"
from = "ap"
to = ["near", "far"]
scheme = "udp"
app = { kind = "cbr", rate = "400 kb/s", packet = "500 B" }
stop = "1900 ms"
"""


def test_each_receiver_has_a_row():
    flows = multihop.run(CELL).flows.set_index("name")
    assert flows.loc[["news->near", "news->far"], "packets_sent"].tolist() == [190, 190]
    delivered, lost = flows.loc["news->near", ["packets_delivered", "dropped_multicast"]]
    assert delivered + lost == 190
    assert 0 < lost < 60, "it loses what it collides with while it sends itself"
    assert (flows.loc["news->far", "dropped_multicast"], flows.loc["news->far", "loss_ratio"]) == (190, 1.0)
    assert flows["multicast_group"].tolist()[:2] == [0, 0]
    assert np.isnan(flows.loc["near->side", "multicast_group"])


def test_the_view_has_the_reach_of_a_group():
    flows = {flow["name"]: flow for flow in multihop.check(CELL)["flows"]}
    assert (flows["news->near"]["path"], flows["news->far"]["path"]) == ([0, 1], [])
    assert flows["news->far"]["group"] == 0
    assert "group" not in flows["near->side"]


def test_check_names_receivers_out_of_reach(inline, tmp_path):
    (tmp_path / "cell.toml").write_text(TEXT)
    checked = inline("check", "cell.toml")
    assert checked.code == 0, checked
    assert "out of reach" in checked.out
    assert "remark: news->far: no frame of the flow reaches far" in checked.err
    assert "news->near:" not in checked.err


@pytest.mark.parametrize("command", ["bound", "optimum"])
def test_what_is_of_unicast_flows_refuses_the_scenario(inline, tmp_path, command):
    (tmp_path / "cell.toml").write_text(TEXT)
    refused = inline(command, "cell.toml")
    assert refused.code == 2
    assert refused.out == ""
    assert f"{command}: found the multicast flow 'news->near'" in refused.err


def test_explain_leaves_out_multicast_flows_and_explains_the_others(inline, tmp_path):
    (tmp_path / "cell.toml").write_text(TEXT)
    assert inline("run", "cell.toml", "--out", "results").code == 0
    done = inline("explain", "results", "--no-try")
    assert done.code == 0, done.err
    assert "Not explained, since multicast frames are not acknowledged: " in done.out
    found = inline("explain", "results", "--no-try", "--json").json()
    assert found["not_explained"] == [flow["name"] for flow in found["flows"] if flow["name"].startswith("news->")]
    assert not {flow["name"] for flow in found["explained"]} & set(found["not_explained"])
    assert "news->near: a multicast flow" in inline("explain", "results", "news->near").fails_cleanly()
    report = (tmp_path / "results" / "report.html").read_text()
    assert "No optimum is drawn: flow news-&gt;near is multicast" in report.replace("news->near", "news-&gt;near")
    assert "Receivers out of reach of multicast flows: news->far." in report.replace("&gt;", ">")


def test_schemes_are_compared_beside_a_multicast_flow():
    compared = multihop.compare(CELL, ["tcp-newreno", "tcp-sack"], seeds=1)
    named = compared.flows.groupby("variant")["scheme"].agg(list)
    assert named.to_dict() == {"tcp-newreno": ["udp", "udp", "tcp-newreno"], "tcp-sack": ["udp", "udp", "tcp-sack"]}
    assert compared.verdict()


def test_flows_of_a_group_are_not_taken_for_flows_in_phase():
    assert in_phase(multihop.check(CELL)) == []


def test_a_capture_has_group_addresses(tshark, tmp_path):
    path = tmp_path / "cell.pcapng"
    multihop.run(CELL, pcap=path)
    fields = ("frame.interface_name", "wlan.ra", "ip.dst", "ip.ttl")
    rows = tshark(path, *fields, only="udp")
    senders = [row[1:] for row in rows if row[0] == "ap"]
    assert len(senders) == 190
    assert {tuple(row) for row in senders} == {("01:00:5e:40:00:00", "239.192.0.0", "1")}
    assert {row[0] for row in rows} == {"ap", "near", "side"}, "all in reach decode it"


def test_a_frame_log_has_one_transmission_and_each_loss(tmp_path):
    path = tmp_path / "cell.frames"
    run = multihop.run(CELL, frames=path)
    log = read(path)
    sent = log.transmissions.query("flow == 'news->near'")
    assert len(sent) == 190
    assert sent["outcome"].unique().tolist() == ["broadcast"]
    lost = log.in_words(log.tables["drops"]).query("cause == 'multicast'")
    counted = run.flows.set_index("name")["dropped_multicast"]
    assert counted["news->far"] == 190
    assert lost["flow"].value_counts().to_dict() == counted[counted > 0].to_dict()


def test_the_example_reaches_its_stations():
    flows = multihop.run(SCENARIOS / "multicast.toml", duration="30 s").flows.set_index("name")
    groups = flows["multicast_group"].dropna()
    assert groups.index.tolist() == ["video->tv 1", "video->tv 2", "video->tv 3"]
    near, far = flows.loc["video->tv 1", "loss_ratio"], flows.loc["video->tv 3", "loss_ratio"]
    assert far - near == pytest.approx(0.05, abs=0.03), "its link has errors"
    assert flows.loc["download", "goodput_bps"] > 1e6
