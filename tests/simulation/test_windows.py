"""Receive windows that bind: the verdict says so, since the result is then the window's and not the scheme's."""

import pytest
from typer.testing import CliRunner

import multihop
from multihop.cli.app import app
from multihop.experiments.remarks import windows

#: One connection over a wire of 100 Mb/s and a round trip of 50 ms: 600 kB of data in flight fill it.
WIRE = {
    "duration": "4 s",
    "warmup": "1 s",
    "topology": {"generator": "dumbbell", "pairs": 1, "rate": "100 Mb/s", "delay": "25 ms", "queue": 400},
    "schemes": {"tested": {"base": "tcp-sack", "window": 20}},
    "traffic": {"pattern": "canonical", "scheme": "tested"},
}

#: The same over another wire, from the command line.
SLOW = """
duration = "4 s"
warmup = "1 s"
[topology]
nodes = [{{ name = "a", position = ["0 m", "0 m"] }}, {{ name = "b", position = ["900 m", "0 m"] }}]
[[topology.wires]]
between = ["a", "b"]
rate = "100 Mb/s"
delay = "50 ms"
queue = 1000
[schemes.tested]
base = "{}"
window = 100
[[flows]]
name = "d"
from = "a"
to = "b"
scheme = "tested"
"""


def test_a_window_that_binds_is_named_with_its_share_of_time():
    comparison = multihop.compare(WIRE, ["tested"], seeds=1)
    [said] = windows.sentences(comparison)
    assert comparison.by_flow("tested", "receive_limited")[0] > 0.8
    assert said.startswith("The receive window holds back n0->n3, up to ")
    assert said in comparison.verdict()


def test_a_window_beyond_the_path_is_not_named():
    comparison = multihop.compare(WIRE, ["tested"], seeds=1, set={"schemes.tested.window": 4096})
    assert comparison.by_flow("tested", "receive_limited")[0] < 0.01
    assert windows.sentences(comparison) == []


@pytest.mark.parametrize("scheme", ["tcp-cubic", "tcp-bbr", "tcp-prague"])
def test_run_says_that_a_window_binds(tmp_path, scheme):
    """Also of schemes with a pace, which holds data back between the acknowledgements."""
    file = tmp_path / "wire.toml"
    file.write_text(SLOW.format(scheme))
    done = CliRunner().invoke(app, ["run", str(file), "-q"])
    assert done.exit_code == 0
    assert "The receive window holds back d, up to " in " ".join(done.output.split())


@pytest.mark.parametrize("late_s", [0.0, 0.1])
def test_receivers_tune_their_windows_on_a_path_that_is_full_both_ways(late_s):
    """The queue of acknowledgements fills after the handshake, and belongs to the round trip."""
    flow = {"from": "a", "to": "b", "scheme": "tcp-cubic"}
    flows = [flow, {**flow, "from": "b", "to": "a", "start": f"{late_s} s"}]
    wire = {"between": ["a", "b"], "rate": "20 Mb/s", "delay": "20 ms", "queue": 1000}
    nodes = [{"name": name, "position": [f"{place} m", "0 m"]} for name, place in (("a", 0), ("b", 1000))]
    timing = {"duration": "40 s", "warmup": "20 s"}
    found = multihop.run({**timing, "topology": {"nodes": nodes, "wires": [wire]}, "flows": flows}).flows
    assert found["receive_limited"].max() < 0.05
    assert found["goodput_bps"].min() > 15e6
