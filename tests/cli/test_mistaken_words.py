"""Words that users mix up: each is answered with what to type instead."""

import pytest

import multihop as package
from conftest import SCENARIOS

STUDIES = SCENARIOS.parent / "studies"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", STUDIES / "queue-and-hops.toml"], "this is a study, not a scenario; run it: multihop study run"),
        (["check", STUDIES / "queue-and-hops.toml"], "this is a study, not a scenario"),
        (["explain", SCENARIOS / "chain.toml"], "this is no result; run it first: multihop run"),
        (["measure", SCENARIOS], "this is a directory; name a capture (pcap or pcapng)"),
        (["compare", SCENARIOS / "chain.toml", "--schemes", "udp", "recn"], "as in --schemes tcp-newreno,recn"),
        (["run", SCENARIOS / "chain.toml", "--vary", "n0->n7"], "--vary: names the flows that --scheme replaces"),
    ],
)
def test_what_is_mixed_up_is_answered_with_what_would_do(multihop, words, said):
    assert said in multihop(*words).fails_cleanly()


def test_an_estimate_of_what_is_not_there_names_what_is():
    found = package.compare(SCENARIOS / "chain.toml", ["udp"], seeds=1, duration="21 s")
    with pytest.raises(package.UserError, match="variant: found 'goodput_total_bps'; there are: udp"):
        found.estimate("goodput_total_bps", "udp")
    with pytest.raises(package.UserError, match=r"metric: found 'goodput'; there are: .*goodput_total_bps"):
        found.estimate("udp", "goodput")
