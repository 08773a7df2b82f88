"""Which flows a comparison replaces the scheme of."""

import pytest

import multihop
from multihop.base.errors import UserError

CALL_AND_DOWNLOADS = """
duration = "1 s"
[topology]
generator = "chain"
hops = 2
[[flows]]
name = "call"
from = "n0"
to = "n2"
scheme = "udp"
app = { kind = "cbr", rate = "64 kb/s", packet = "160 B" }
[[flows]]
name = "first"
from = "n2"
to = "n0"
scheme = "tcp-cubic"
[[flows]]
name = "second"
from = "n1"
to = "n0"
scheme = "tcp-newreno"
"""


def schemes(names, text=CALL_AND_DOWNLOADS, **arguments):
    """The schemes of all flows under the last of the compared ones."""
    found = multihop.compare(text, names, seeds=1, **arguments)
    return {flow["name"]: flow["scheme"] for flow in found.results[names[-1]][0].view["flows"]}, found.varied


def test_flows_without_congestion_control_keep_their_scheme_beside_schemes_that_have_it():
    found, said = schemes(["tcp-cubic", "recn"])
    assert found == {"call": "udp", "first": "recn", "second": "recn"}
    assert said == "The compared scheme is that of first, second. As in the scenario: call (udp)."


def test_schemes_of_both_kinds_are_compared_on_flows_like_the_first():
    found, _ = schemes(["udp", "tfrc", "recn"])
    assert found == {"call": "recn", "first": "tcp-cubic", "second": "tcp-newreno"}


def test_vary_names_the_flows():
    assert schemes(["recn"], vary="s*, call")[0] == {"call": "recn", "first": "tcp-cubic", "second": "recn"}
    found, said = schemes(["recn"], vary="all")
    assert (set(found.values()), said) == ({"recn"}, None)
    with pytest.raises(UserError, match="found 'third', which is no flow of this scenario; known: all, call, first"):
        schemes(["recn"], vary="first, third")


def test_a_scheme_that_is_set_for_one_flow_stays():
    found, _ = schemes(["recn"], set={"flows[2].scheme": "tcp-vegas"})
    assert found == {"call": "udp", "first": "recn", "second": "tcp-vegas"}
    with pytest.raises(UserError, match=r"flows\[\*\].scheme sets the scheme of every flow"):
        schemes(["recn"], set={"flows[*].scheme": "tcp-vegas"})


def test_flows_of_one_scheme_all_vary_and_so_do_those_without_any():
    same = CALL_AND_DOWNLOADS.replace('"tcp-cubic"', '"udp"').replace('"tcp-newreno"', '"udp"')
    assert schemes(["recn"], same)[1] is None
    absent = CALL_AND_DOWNLOADS.replace('scheme = "tcp-cubic"\n', "")
    assert set(schemes(["recn"], absent)[0].values()) == {"recn"}


def test_the_command_of_results_repeats_which_flows_vary(tmp_path):
    found = multihop.compare(CALL_AND_DOWNLOADS, ["tcp-cubic", "recn"], seeds=1)
    assert "--vary first,second" in found.command
    found.save(tmp_path)
    from multihop.explanation.source import read

    kept = read(tmp_path, "recn")
    assert {flow["scheme"] for flow in kept.scenario.check(kept.overrides)["flows"]} == {"udp", "recn"}
