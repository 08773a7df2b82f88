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


SOUND = """
duration = "20 s"
warmup = "2 s"
[phy]
standard = "802.11n"
[medium]
model = "sinr"
[routing]
protocol = "aodv"
local_repair = "rfc3561"
[topology]
generator = "chain"
hops = 3
spacing = "50 m"
[[flows]]
from = "n0"
to = "n2"
scheme = "tcp-newreno"
app = { kind = "saturated" }
[[flows]]
from = "n1"
to = "n3"
scheme = "mine"
[schemes.mine]
base = "tcp-sack"
window = 64
[[measure]]
estimator = "rt-winf"
"""

#: A key or a name, as it is misspelt, and the place in the message.
MISSPELT = [
    ("warmup", "warm_up", "3: warm_up"),
    ("[phy]", "[pyh]", "4: pyh"),
    ("standard", "standart", "5: phy.standart"),
    ("model", "modle", "7: medium.modle"),
    ('"sinr"', '"sinnr"', "7: medium.model"),
    ("protocol", "protocl", "9: routing.protocl"),
    ("local_repair", "local_repairs", "10: routing.local_repairs"),
    ("generator", "genertor", "12: topology.genertor"),
    ("[[flows]]", "[[flow]]", "15: flow"),
    ("from =", "form =", "16: flows[0].form"),
    ('"tcp-newreno"', '"tcp-newrno"', "18: flows[0].scheme"),
    ("kind", "knd", "19: flows[0].app.knd"),
    ('"mine"', '"mien"', "23: flows[1].scheme"),
    ("base =", "bas =", "25: schemes.mine.bas"),
    ("window", "windw", "26: schemes.mine.windw"),
    ("estimator", "estimater", "28: measure[0].estimater"),
]


@pytest.mark.parametrize(("right", "wrong", "place"), MISSPELT)
def test_a_misspelt_word_gives_one_message_with_the_nearest_one(inline, tmp_path, right, wrong, place):
    package.check(SOUND)
    (tmp_path / "s.toml").write_text(SOUND.replace(right, wrong, 1))
    done = inline("check", "s.toml")
    (line,) = done.err.splitlines()
    assert line.startswith(f"multihop: s.toml:{place}: ")
    nearest = right.strip('[]=" ')
    assert f'did you mean "{nearest}"?' in line
    assert done.code == 2


def test_a_second_mistake_beside_a_misspelt_key_is_told_as_well(inline, tmp_path):
    (tmp_path / "s.toml").write_text(SOUND.replace("generator", "genertor").replace("warmup", "warm_up"))
    places = [line.split(": ")[2] for line in inline("check", "s.toml").err.splitlines()]
    assert sorted(places) == ["topology.genertor", "warm_up"]


STUDY = """
name = "typo"
scenario = "s.toml"
seeds = 3
compare = "scheme"
[factors.scheme]
key = "flows[*].scheme"
values = ["tcp-newreno", "tcp-sack"]
[factors.hops]
key = "topology.hops"
values = [3, 4]
[metrics.goodput]
column = "flows.goodput_bps"
reduce = "sum"
[[claims]]
id = "a"
where = "Fig. 1"
says = "more"
kind = "order"
metric = "goodput"
at = { hops = 3 }
by = "scheme"
order = ["tcp-sack", "tcp-newreno"]
[[charts]]
x = "hops"
metric = "goodput"
title = "t"
"""


@pytest.mark.parametrize(
    ("sound", "broken", "nearest"),
    [
        ("seeds =", "seed =", "seeds"),
        ('compare = "scheme"', 'compare = "schem"', "scheme"),
        ("key = ", "kye = ", "key"),
        ("[*].scheme", "[*].sheme", "scheme"),
        ("topology.hops", "topology.hop", "hops"),
        ("column", "colum", "column"),
        ("flows.goodput_bps", "flow.goodput_bps", "flows"),
        ("goodput_bps", "goodput_bp", "goodput_bps"),
        ('"sum"', '"sun"', "sum"),
        ('"order"', '"oder"', "order"),
        ("hops = 3", "hop = 3", "hops"),
        ('by = "scheme"', 'by = "shceme"', "scheme"),
        ("by = ", "bye = ", "by"),
        ("id =", "idd =", "id"),
        ('x = "hops"', 'x = "hop"', "hops"),
        ("title", "titel", "title"),
        ("[[charts]]", "[[chart]]", "charts"),
    ],
)
def test_a_misspelt_word_of_a_study_gives_one_message_with_the_nearest_one(inline, tmp_path, sound, broken, nearest):
    (tmp_path / "s.toml").write_text(SOUND)
    (tmp_path / "study.toml").write_text(STUDY)
    assert inline("study", "status", "study.toml").code == 0
    assert sound in STUDY
    (tmp_path / "study.toml").write_text(STUDY.replace(sound, broken, 1))
    done = inline("study", "status", "study.toml")
    (line,) = done.err.splitlines()
    assert f'did you mean "{nearest}"?' in line
    assert done.code == 2
