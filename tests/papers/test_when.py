"""When which scheme helps: who wins on numbers whose winner is known, and the page of all regimes."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import multihop
from multihop.leagues import study, words
from multihop.leagues.when import compared, regimes
from multihop.results.columns import METRIC

NAMES = {"goodput": "goodput_total_bps", "delay": "delay_p95_s", "jain": "jain"}

#: Of ten seeds, with a 95 % interval of half-width 1.
ONE = np.tile([-1.0, 1.0], 5) / 0.75408


class MadeUp:
    """A result whose values are given, in the unit that is shown: metric -> scheme -> one per seed."""

    def __init__(self, data, flows=2):
        self.data = data
        self.points = [SimpleNamespace(labels={"scheme": scheme}) for scheme in data["goodput"]]
        self.study = SimpleNamespace(plan=SimpleNamespace(views=[{"flows": [{}] * flows}]))

    def metric(self, name):
        return METRIC[NAMES[name]]

    def values(self, point, name):
        scheme = self.points[point].labels["scheme"]
        values = np.asarray(self.data[name][scheme], dtype=float)
        return pd.Series(values / self.metric(name).shown(1.0), index=range(len(values)))


def found(goodput, delay=None, jain=None, flows=2):
    same = {scheme: 50 + 0 * values for scheme, values in goodput.items()}
    even = {scheme: 1 + 0 * values for scheme, values in goodput.items()}
    return MadeUp({"goodput": goodput, "delay": delay or same, "jain": jain or even}, flows)


def test_who_leads_and_by_how_much():
    result = found({"a": 1000 + 0 * ONE, "b": 900 + 10 * ONE, "tcp-cubic": 500 + 10 * ONE})
    assert [point.labels["scheme"] for point in result.points] == ["a", "b", "tcp-cubic"]
    assert words.sentences(result, ["a", "b", "tcp-cubic"])[0].startswith("Goodput: a leads with 1")
    said = words.wins(result, ["a", "b", "tcp-cubic"])["goodput"].sentence
    assert said.endswith("next is b, 10.0 ± 1.0 % less; tcp-cubic, 50.0 ± 1.0 % less")


def test_what_seeds_cannot_tell_or_is_small_is_no_difference():
    unsure = found({"a": 1000 + 0 * ONE, "b": 900 + 300 * ONE})
    assert words.wins(unsure, ["a", "b"])["goodput"].leaders == ["a", "b"]
    # Sure, but 1 %.
    small = found({"a": 1000 + 0 * ONE, "b": 990 + ONE})
    assert words.wins(small, ["a", "b"])["goodput"].behind == {}
    assert "none differs" in words.sentences(small, ["a", "b"])[0]
    many = found({**dict.fromkeys("abcd", 1000 + ONE), "e": 500 + ONE})
    assert "none differs" in (said := words.sentences(many, [*"abcde"])[0])
    assert "but e, 50" in said


def test_who_sends_little_is_no_rival_in_delay():
    delay = {"a": 100 + ONE, "b": 200 + ONE, "idle": 5 + ONE}
    result = found({"a": 1000 + ONE, "b": 950 + ONE, "idle": 100 + ONE}, delay)
    win = words.wins(result, ["a", "b", "idle"])["delay"]
    assert win.leaders == ["a"]
    assert win.left_out == 1
    assert "next is b, 2.0 ± 0.0 times as much" in win.sentence
    alone = found({"a": 1000 + ONE, "idle": 100 + ONE}, {"a": 100 + ONE, "idle": 5 + ONE})
    assert words.wins(alone, ["a", "idle"])["delay"].sentence == "a alone carries 90 % of the best goodput (100 ms)"


def test_fairness_is_of_several_flows():
    jain = {"a": 0.9 + 0.01 * ONE, "b": 0.5 + 0.01 * ONE}
    goodput = {"a": 1000 + ONE, "b": 1000 + ONE}
    assert words.sentences(found(goodput, jain=jain), ["a", "b"])[-1] == (
        "Fairness: a leads with 0.9; next is b, 0.40 ± 0.00 less."
    )
    assert not any("Fairness" in said for said in words.sentences(found(goodput, jain=jain, flows=1), ["a", "b"]))


def test_one_seed_tells_nothing():
    assert words.wins(found({"a": np.array([2.0]), "b": np.array([1.0])}), ["a", "b"]) == {}


def test_datagrams_are_compared_apart():
    assert words.classes(["tcp-cubic", "recn", "tfrc", "re-tfrc"]) == {
        "Reliable transports": ["tcp-cubic", "recn"],
        "Datagrams": ["tfrc", "re-tfrc"],
    }
    assert words.classes(["tcp-cubic", "recn", "tfrc"]) == {"Reliable transports": ["tcp-cubic", "recn"]}


def test_every_regime_changes_something_of_its_own():
    asked = regimes()
    assert {network.title.partition(":")[0] for network in asked} >= {
        "Hops",
        "Flows",
        "Rate",
        "Load",
        "Loss",
        "Mobility",
    }
    assert len({str((network.scenario, network.set)) for network in asked}) == len(asked)
    assert {network.name for network in regimes(quick=True)} < {network.name for network in asked}
    assert len(compared()) > 8


def test_networks_of_the_league_without_a_common_path_are_regimes():
    networks = {
        network.title.partition(":")[2].strip() for network in regimes() if network.title.startswith("Network:")
    }
    assert len(networks) == 3
    hashes = {view["hash"] for network in regimes() for view in study(network, ["udp"], 1).plan.views}
    assert len(hashes) == len(regimes())


def test_acknowledgements_are_alike_in_regimes_too(tmp_path):
    found = multihop.when(schemes=["tcp-newreno", "tcp-ap"], seeds=1, quick=True, out=tmp_path / "out", jobs=1)
    points = found.results[0].points
    assert [point.labels["scheme"] for point in points] == ["tcp-newreno", "tcp-ap", "tcp-ap (own ACKs)"]
    keys = [[path.rpartition(".")[2] for path in point.settings] for point in points]
    assert [{"ack_every", "delayed_ack"} <= set(each) for each in keys] == [True, True, False]


def test_no_regime_says_anything_to_a_scheme():
    def made(network):
        return [view["hash"] for view in study(network, ["tcp-ap", "ewccp"], 1).plan.views]

    for network in regimes():
        bare, changes = ({k: v for k, v in keys.items() if k != "schemes"} for keys in (network.scenario, network.set))
        assert made(network) == made(replace(network, scenario=bare, set=changes)), network.name


def test_the_page_has_every_regime(tmp_path, inline):
    command = ("when", "--quick", "--schemes", "tcp-newreno,tcp-cubic", "--seeds", "2", "--out", "out", "-q")
    made = inline(*command)
    assert made.code == 0, made.err
    page = (tmp_path / "out" / "when.md").read_text(encoding="utf-8")
    for network in regimes(quick=True):
        assert f"| {network.title} |" in page
        assert network.title in made.out
    assert "multihop when --schemes tcp-newreno,tcp-cubic --seeds 2 --quick" in page
    assert "Datagrams\n" not in page
    assert not any(word in page for word in ("SHARE", "INDEX", "CARRIES", "REFERENCE"))
    again = inline(*command)
    assert (again.code, again.out) == (0, made.out), again.err
    assert (tmp_path / "out" / "when.md").read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--schemes", "recnn"], 'recnn is not a scheme; did you mean "recn"?'),
        (["--schemes", "recn,tfrc"], "needs two reliable schemes, or two of datagrams, to compare"),
        (["--seeds", "0"], "--seeds: found 0"),
        (["--jobs", "0"], "--jobs: found 0"),
    ],
)
def test_options_that_cannot_be(inline, options, says):
    assert says in inline("when", "--quick", *options).fails_cleanly()
