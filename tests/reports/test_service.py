"""Dead, starving, slow, late, lossy and fine: one meaning in verdicts, explanations and data."""

import json
import math
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import multihop
from multihop.cli.app import app
from multihop.experiments.services import Service, Status, Yardstick

BLOATED = """
name = "bloated"
duration = "12 s"
warmup = "4 s"
[phy]
standard = "802.11n"
[topology]
nodes = [
  { name = "server" },
  { name = "router", position = ["0 m", "0 m"] },
  { name = "phone", position = ["5 m", "0 m"] },
]
wires = [{ between = ["server", "router"], rate = "5 Mb/s", delay = "10 ms", queue = 1000 }]
[[flows]]
name = "call"
from = "server"
to = "phone"
scheme = "udp"
app = { kind = "cbr", rate = "64 kb/s", packet = "160 B" }
[[flows]]
name = "download"
from = "server"
to = "phone"
scheme = "tcp-cubic"
"""


def service(goodput, fair=1.0, *, is_call=False, delay=0.01, loss=0.0, missed=math.nan, lost=math.nan):
    """A flow with these goodputs by seed."""
    return Service(0, "a", np.array(goodput, dtype=float), fair, Yardstick.FAIR, delay, loss, missed, lost, is_call)


@pytest.mark.parametrize(
    ("found", "status"),
    [
        (service([0, 0]), Status.DEAD),
        (service([0, 2]), Status.STARVING),
        (service([0.09, 2]), Status.STARVING),
        (service([0.4, 0.5]), Status.SLOW),
        (service([0.9, 1.0]), Status.FINE),
        (service([1, 1], is_call=True, delay=0.5), Status.LATE),
        (service([1, 1], is_call=False, delay=0.5), Status.FINE),
        (service([1, 1], is_call=True, loss=0.04), Status.LOSSY),
        (service([1, 1], missed=0.02), Status.LATE),
    ],
)
def test_each_status(found, status):
    assert found.status == status
    assert not found.loses_most or status == Status.LOSSY
    assert bool(found.sentence()) == (status != Status.FINE)


def test_what_a_fine_flow_keeps_is_of_its_own_kind():
    assert service([1]).met() == "at least 50 % of the fair share"
    assert "frames" in service([1], missed=0.0).met()
    assert "delay at most 400 ms" in service([1], is_call=True).met()


def test_a_video_that_loses_frames_is_not_held_back_by_delay():
    assert service([1, 1], missed=0.02, lost=0.02).loses_most
    assert not service([1, 1], missed=0.02, lost=0.001).loses_most


@pytest.fixture(scope="module")
def bloated(tmp_path_factory):
    """Results of a call behind a download, over a wire with a long queue."""
    folder = tmp_path_factory.mktemp("bloated")
    (folder / "bloated.toml").write_text(BLOATED)
    words = ["compare", str(folder / "bloated.toml"), "--schemes", "tcp-cubic,tcp-bbr", "--seeds", "2", "--json"]
    found = CliRunner().invoke(app, [*words, "--out", str(folder / "out"), "-j", "1"])
    assert found.exit_code == 0, found.output
    return folder / "out", json.loads(found.stdout)


def test_a_call_behind_a_full_queue_is_late_everywhere(bloated):
    folder, said = bloated
    statuses = {
        variant: {each["name"]: each["status"] for each in found}
        for variant, found in said["statistics"]["services"].items()
    }
    assert statuses == {
        "tcp-cubic": {"call": "late", "download": "fine"},
        "tcp-bbr": {"call": "fine", "download": "fine"},
    }
    assert said["verdict"][0].startswith("Late: with tcp-cubic call (delay ")
    explained = json.loads(CliRunner().invoke(app, ["explain", str(folder), "--json", "--seeds", "2"]).stdout)
    assert [flow["status"] for flow in explained["flows"]] == ["late", "fine"]


def test_the_wire_where_it_waits_is_named_and_what_helps_is_judged_by_its_delay(bloated):
    folder, _ = bloated
    said = CliRunner().invoke(app, ["explain", str(folder), "call", "--seeds", "2"]).output
    assert "What matters most: waiting in front of the wire server to router" in said
    assert "in front of the wire server to router" in said
    helps = " ".join(said[said.index("What helps") :].split())
    assert (
        'discipline "fq-codel" instead of "drop-tail" in front of the wire server to router (setting): call ' in helps
    )
    assert re.search(r"call from \d+ % to 0 % of its packets late or lost, delay from \d+ to [\d.]+ ms", helps), helps


def test_random_loss_on_a_wire_is_what_limits_a_window_and_the_better_scheme_is_named(tmp_path):
    words = ["scenarios/lossy-wire.toml", "--schemes", "tcp-sack,tcp-bbr", "--seeds", "2", "--duration", "10 s"]
    compared = CliRunner().invoke(app, ["compare", *words, "--warmup", "2 s", "--out", str(tmp_path / "out"), "-q"])
    assert compared.exit_code == 0, compared.output
    explained = json.loads(CliRunner().invoke(app, ["explain", str(tmp_path / "out"), "--no-try", "--json"]).stdout)
    (flow,) = explained["explained"]
    assert (flow["causes"][0]["kind"], flow["status"]) == ("wire-loss", "slow")
    assert flow["causes"][0]["score"] > 0.6
    assert any(part["heading"] == "Other schemes of these results" for part in flow["sentences"])


def test_fairness_is_between_flows_that_want_the_same():
    """A call of 64 kb/s beside two equal downloads is not what makes them unequal."""
    text = BLOATED + '[[flows]]\nname = "more"\nfrom = "server"\nto = "phone"\nscheme = "tcp-cubic"\n'
    found = multihop.run(text)
    shares = found.flows["goodput_bps"].to_numpy()[1:]
    assert found.summary["jain"] == pytest.approx(shares.sum() ** 2 / (2 * (shares**2).sum()))
    alone = multihop.compare(BLOATED, ["tcp-cubic"], seeds=1)
    assert "jain" not in {metric.name for metric in alone.metrics}


def test_a_chart_of_fairness_is_left_out_where_no_two_flows_want_the_same():
    from multihop.report import charts

    drawn = charts.bars.metrics(multihop.compare(BLOATED, ["tcp-cubic", "tcp-bbr"], seeds=1))
    titles = [facet.title for facet in drawn.facets]
    assert "Total goodput [Mb/s]" in titles
    assert not any("Fairness" in title for title in titles)
