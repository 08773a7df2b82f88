"""Words that users mix up: each is answered with what to type instead."""

import pytest

import multihop as package
from conftest import SCENARIOS

STUDIES = SCENARIOS.parent / "studies"
CHAIN = SCENARIOS / "chain.toml"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", STUDIES / "queue-and-hops.toml"], "this is a study, not a scenario; run it: multihop study run"),
        (["check", STUDIES / "queue-and-hops.toml"], "this is a study, not a scenario"),
        (["explain", SCENARIOS / "chain.toml"], "this is no result; run it first: multihop run"),
        (["measure", SCENARIOS], "this is a directory; name a capture (pcap or pcapng)"),
        (["compare", SCENARIOS / "chain.toml", "--schemes", "udp", "recn"], "as in --schemes tcp-newreno,recn"),
        (["view", "absent.pcap", "--interface", "-1"], "absent.pcap: no such file; name a frame log"),
        (["run", SCENARIOS / "chain.toml", "--seed", "-1"], "--seed: found -1; needs 0 to"),
        (
            ["run", SCENARIOS / "chain.toml", "--duration", "1_0 s"],
            '--duration: "1_0 s" has no number that can be read',
        ),
        (
            ["run", SCENARIOS / "chain.toml", "--duration", "10.1 s", "--warmup", "10.2 s"],
            "the duration of 10.1 s (--duration)",
        ),
        (["run", SCENARIOS / "chain.toml", "--vary", "n0->n7"], "--vary: found without --scheme"),
    ],
)
def test_what_is_mixed_up_is_answered_with_what_would_do(multihop, words, said):
    assert said in multihop(*words).fails_cleanly()


MISTAKES = """
duratoin = "20 s"
warmup = "2 x"
[topology]
generator = "chain"
hops = 2
spacing = "200 q"
[mac]
queu = 3
[[flows]]
from = "n0"
to = "n2"
scheme = "udp"
startt = "1 s"
app = { kind = "cbr", rate = "1 Mb", packet = "100 B" }
"""


def test_several_mistakes_are_named_at_once_each_on_a_line(inline, tmp_path):
    (tmp_path / "many.toml").write_text(MISTAKES)
    for command in ("check", "run"):
        done = inline(command, "many.toml")
        lines = done.err.splitlines()
        assert done.code == 2
        assert len(lines) == 5, done.err
        assert all(line.startswith("multihop: many.toml:") for line in lines)
        assert len({line.split(":")[2] for line in lines}) == 5, "each is of another line"
        for key in ("duratoin", "warmup", "queu", "startt"):
            assert any(f": {key}" in line or f".{key}: " in line for line in lines), done.err


def test_what_only_follows_from_a_mistake_is_not_named(inline, tmp_path):
    text = MISTAKES.replace("duratoin", "duration").replace('"2 x"', '"2 s"').replace("200 q", "200 m")
    text = text.replace("queu ", "queue ").replace('startt = "1 s"', "").replace("1 Mb", "1 Mb/s")
    (tmp_path / "one.toml").write_text(text.replace('from = "n0"', "from = 3").replace('to = "n2"', 'to = "n9"'))
    assert "flows[0].from" in inline("check", "one.toml").fails_cleanly()


def test_an_estimate_of_what_is_not_there_names_what_is():
    found = package.compare(SCENARIOS / "chain.toml", ["udp"], seeds=1, duration="21 s")
    with pytest.raises(package.UserError, match="variant: found 'goodput_total_bps'; needs one of udp"):
        found.estimate("goodput_total_bps", "udp")
    with pytest.raises(package.UserError, match=r"metric: found 'goodput'; needs one of .*goodput_total_bps"):
        found.estimate("udp", "goodput")
