"""Coexistence: shares beside another scheme, verdicts on them, the picture, and the numbers of the league's folder."""

import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import multihop
from multihop.leagues import coexistence, picture, schemes
from multihop.leagues.coexistence import Pair, networks, pairs, rules, study, verdicts
from multihop.results.statistics import Estimate, estimate

NETWORKS = ["1 hop", "3 hops", "5 hops", "WLAN", "wire"]


def pair(scheme, shares, rival="tcp-cubic", network="1 hop"):
    return Pair(network, scheme, rival, estimate(shares), 1e6, 1e6)


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """Some schemes on the first network and on the wire."""
    folder = tmp_path_factory.mktemp("beside")
    compared = ["udp", "tcp-cubic", "rcp"]
    asked = [network for network in networks() if network.title in ("1 hop", "wire")]
    return (
        asked,
        compared,
        [study(network, compared, 3).quick().run(folder / network.name, jobs=1) for network in asked],
    )


# Networks and studies


def test_every_scheme_of_the_engine_runs_beside_every_rival_on_every_network():
    assert [network.title for network in networks()] == NETWORKS
    for network in networks():
        made = study(network, schemes()).plan
        assert len(made.points) == len(schemes()) * len(rules()["rivals"])
        assert len(made.seeds) == 10
        for point, view in zip(made.points, made.views, strict=True):
            assert view["duration"] == pytest.approx(60)
            scheme, _, rival = point.labels["pair"].partition(" beside ")
            assert [flow["scheme"] for flow in view["flows"]] == [scheme, rival]
    assert len(study(networks()[0], ["recn"]).quick().plan.seeds) < 10


def test_networks_are_what_their_titles_say():
    hops = [len(study(network, ["recn"], 1).plan.views[0]["flows"][0]["path"]) - 1 for network in networks()]
    assert hops == [1, 3, 5, 1, 3]
    wlan = study(networks()[3], ["recn"], 1).plan.views[0]
    assert len(wlan["nodes"]) == 3
    assert len({flow["path"][0] for flow in wlan["flows"]}) == 1


# Shares and verdicts


def test_a_scheme_beside_itself_has_half(beside):
    _, compared, results = beside
    point = compared.index("tcp-cubic") * 2
    got = [results[0].values(point, name).to_numpy() for name in ("tested", "rival")]
    assert np.mean(got[0] / (got[0] + got[1])) == pytest.approx(0.5, abs=0.15)


def test_shares_are_those_of_the_runs(beside, monkeypatch):
    asked, compared, results = beside
    monkeypatch.setattr(coexistence, "networks", lambda: asked)
    found = {(one.network, one.scheme, one.rival): one for one in pairs(results, compared)}
    assert len(found) == 2 * 3 * 2
    for one in found.values():
        point = compared.index(one.scheme) * 2 + rules()["rivals"].index(one.rival)
        got = [results[[n.title for n in asked].index(one.network)].values(point, name) for name in ("tested", "rival")]
        expected = estimate((got[0] / (got[0] + got[1])).to_numpy())
        assert one.share.mean == pytest.approx(expected.mean)
        assert one.share.low == pytest.approx(max(expected.low, 0))
        assert one.share.high == pytest.approx(min(expected.high, 1))
        assert one.goodput_bps == pytest.approx(got[0].mean())
        assert one.rival_bps == pytest.approx(got[1].mean())
    # Datagrams without congestion control starve TCP, and RCP yields to CUBIC.
    assert found["1 hop", "udp", "tcp-cubic"].verdict == "starves"
    assert found["wire", "udp", "tcp-bbr"].verdict == "starves"
    assert found["1 hop", "rcp", "tcp-cubic"].verdict == "is starved"
    assert found["1 hop", "tcp-cubic", "tcp-cubic"].verdict == ""


@pytest.mark.parametrize(
    ("share", "verdict"),
    [
        (Estimate(0.95, 0.91, 0.99, 10), "starves"),
        (Estimate(0.95, 0.89, 1.0, 10), ""),
        (Estimate(0.05, 0.01, 0.09, 10), "is starved"),
        (Estimate(0.05, 0.0, 0.11, 10), ""),
        (Estimate(0.01, None, None, 1), ""),
        (None, ""),
    ],
)
def test_a_verdict_needs_the_whole_interval(share, verdict):
    assert Pair("wire", "recn", "tcp-cubic", share, 1e6, 1e6).verdict == verdict


def test_two_flows_without_goodput_have_no_share():
    made = coexistence._pair("wire", "recn", "tcp-cubic", np.zeros((3, 2)))
    assert (made.share, made.verdict) == (None, "")
    some = coexistence._pair("wire", "recn", "tcp-cubic", np.array([[0.0, 0.0], [1.0, 3.0], [2.0, 2.0]]))
    assert (some.share.mean, some.share.n) == (0.375, 2)


# The table and the picture


def test_the_table_names_those_who_starve_or_are_starved():
    found = [
        pair("udp", [0.99, 0.98, 0.99]),
        pair("udp", [0.97, 0.97, 0.98], rival="tcp-bbr"),
        pair("recn", [0.02, 0.03, 0.02]),
        pair("recn", [0.02, 0.03, 0.02], network="wire"),
        pair("tcp-sack", [0.5, 0.4, 0.6]),
    ]
    heads, rows = verdicts(found)
    assert heads == ["scheme", "starves", "is starved"]
    assert rows == [
        ["udp", "tcp-cubic: 1 hop (98.7 %); tcp-bbr: 1 hop (97.3 %)", "nowhere"],
        ["recn", "nowhere", "tcp-cubic: 1 hop (2.3 %), wire (2.3 %)"],
    ]
    assert coexistence.summary(found).endswith("1 of 3 schemes starve a rival somewhere, 1 are starved somewhere.")
    text = "\n".join(coexistence.markdown(found))
    assert "over 3 seeds" in text
    assert "above 90 %" in text
    assert "below 10 %" in text
    assert not re.search("RIVALS|SEEDS|STARVES|STARVED", text)
    assert "No scheme starves a rival" in "\n".join(coexistence.markdown(found[-1:]))


def test_the_picture_has_every_share_and_frames_verdicts():
    found = [
        pair(scheme, [share, share + 0.004], rival, network)
        for scheme, share in (("udp", 0.99), ("recn", 0.02), ("tcp-sack", 0.5))
        for network in NETWORKS
        for rival in ("tcp-cubic", "tcp-bbr")
    ]
    tree = ElementTree.fromstring(picture.svg(found))
    names = {"svg": "http://www.w3.org/2000/svg"}
    texts = ["".join(text.itertext()) for text in tree.iterfind(".//svg:text", names)]
    assert {"udp", "recn", "tcp-sack", "reliable transports", "datagrams", *NETWORKS} <= set(texts)
    assert texts.count("cubic") == texts.count("bbr") == 5
    numbers = [text.text for text in tree.iterfind(".//svg:tspan", names)]
    assert (numbers.count("99"), numbers.count("2"), numbers.count("50")) == (10, 10, 10)
    bold = [text.text for text in tree.iterfind(".//svg:tspan", names) if text.get("class") == "bold"]
    assert bold.count("99") + bold.count("2") == len(bold) == 20
    # Everything is within the picture, and what is read on a phone of 400 pixels is at least nine of them tall.
    wide, tall = (float(part) for part in tree.get("viewBox").split()[2:])
    assert wide == 400
    for text in tree.iterfind(".//svg:text", names):
        assert 0 < float(text.get("y")) < tall
        assert all(0 <= float(part.get("x")) < wide for part in (text, *text) if part.get("x"))
    sizes = [float(size) for size in re.findall(r"([\d.]+)px", tree.find("svg:style", names).text)]
    assert min(sizes) >= 9


def test_a_picture_of_few_and_of_unknown_shares_is_drawn():
    one = picture.svg([Pair("wire", "recn", "tcp-cubic", None, 0.0, 0.0)])
    assert ">none<" in one
    ElementTree.fromstring(one)


# The league's folder


def test_the_league_keeps_shares_and_picture(tmp_path, monkeypatch):
    monkeypatch.setattr("multihop.leagues.networks", lambda mesh, made=multihop.leagues.networks: made(mesh)[:1])
    monkeypatch.setattr(coexistence, "networks", lambda made=networks: made()[:1])
    options = {"schemes": ["tcp-ap"], "seeds": 2, "quick": True, "out": tmp_path / "out", "jobs": 1}
    league = multihop.league(**options)
    assert league.schemes == ["tcp-ap", "tcp-ap (own ACKs)"]
    folder = league.save()
    table = pd.read_csv(folder / "coexistence.csv")
    assert list(table["scheme"]) == ["tcp-ap", "tcp-ap"]
    assert list(table["rival"]) == ["tcp-cubic", "tcp-bbr"]
    assert (folder / "coexistence.svg").read_text() == picture.svg(league._pairs)
    assert "![Share of each scheme" in (folder / "league.md").read_text()
    again = []
    monkeypatch.setattr("multihop.experiments.studies.run_missing", lambda groups, *_, **__: again.extend(groups))
    assert multihop.league(**options).shares.equals(league.shares)
    assert all(group.next_jobs() for group in again)
