"""Receive windows that bind: the verdict says so, since the result is then the window's and not the scheme's."""

import multihop
from multihop.experiments.remarks import windows

#: One connection over a wire of 100 Mb/s and a round trip of 50 ms: 600 kB of data in flight fill it.
WIRE = {
    "duration": "4 s",
    "warmup": "1 s",
    "topology": {"generator": "dumbbell", "pairs": 1, "rate": "100 Mb/s", "delay": "25 ms", "queue": 400},
    "schemes": {"tested": {"base": "tcp-sack", "window": 20}},
    "traffic": {"pattern": "canonical", "scheme": "tested"},
}


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
