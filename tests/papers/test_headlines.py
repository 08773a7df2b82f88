"""Headlines: main claims of a paper as data, their verdicts, and where `multihop reproduce` prints them."""

import json
import re
from dataclasses import replace

import pytest

from multihop import UserError
from multihop.experiments.claims.judging import Cell, Judgement, State, Verdict, grade
from multihop.experiments.studies import Study
from multihop.papers import Headline, find, headlines, papers
from multihop.papers.verdicts import read_shipped
from multihop.results.provenance import build

FIVE = ("ewccp", "recn", "retfrc", "varcap", "winf")
HEADLINE = find("recn").headlines[0]


# As data


@pytest.mark.parametrize("name", FIVE)
def test_each_paper_has_a_few(name):
    paper = find(name)
    assert 3 <= len(paper.headlines) <= 6
    assert len({headline.says for headline in paper.headlines}) == len(paper.headlines)
    for headline in paper.headlines:
        assert re.search(r"\b(Figs?|Tables?|Sec)\b|beyond the paper", headline.where)
        # Numbers of runs go out of date; the verdict comes from the runs.
        assert not re.search(r"%|\d\.\d", headline.found)
        assert headline.found.endswith(".")
        assert "\n" not in headline.found


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.name)
def test_all_name_what_is_there(paper):
    headlines.check(paper)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"item": "fig33"}, ['headlines[0].item: found "fig33"', "fig3"]),
        ({"chart": "Figure 3: FTE over tau"}, ['headlines[0].chart: found "Figure 3: FTE over tau"', "R_FTE over tau"]),
        ({"claims": ["recn/fig3-tau", "recn/fig3-m"]}, ['headlines[0].claims: found "recn/fig3-m"', "recn/fig3-n"]),
        ({"claims": []}, ["headlines[0].claims: empty; needs at least one claim"]),
    ],
)
def test_a_name_that_is_unknown_is_an_error(change, says):
    paper = replace(find("recn"), headlines=[replace(HEADLINE, **change)])
    with pytest.raises(UserError) as raised:
        headlines.check(paper)
    assert str(raised.value).startswith("recn.toml: ")
    for words in says:
        assert words in str(raised.value)


# Verdicts


def judgement(claim, states):
    cells = [Cell("", "", "", state) for state in states]
    return Judgement(claim, grade(cells), cells)


def test_the_cells_of_all_claims_decide():
    claims = {claim.id: claim for claim in find("recn").study("fig3").spec.claims}
    found = [
        judgement(claims["recn/fig3-tau"], [State.HOLDS]),
        judgement(claims["recn/fig3-n"], [State.FAILS] * 3 + [State.UNDECIDED]),
    ]
    (judged,) = headlines.judged([HEADLINE], found)
    assert judged.verdict is Verdict.MOSTLY_FAILS, "one of four decided cells holds"
    assert judged.judgements == found
    assert headlines.judged([HEADLINE], found[:1]) == [], "a claim is not judged"
    assert headlines.judged([Headline("", "", ["recn/fig3-n"], "", "", "")], found)[0].verdict is Verdict.NOT


# In the terminal


def test_reproduce_ends_with_them(inline):
    made = inline("reproduce", "recn/fig3", "--out", "out")
    assert made.code == 0, made.err
    lines = made.out.rstrip().splitlines()
    assert re.match(r"verdict +main claim +where", lines[-2])
    assert re.match(rf"◕ mostly holds +{re.escape(HEADLINE.says)} +Fig\. 3", lines[-1])
    (record,) = json.loads(inline("reproduce", "recn/fig3", "--out", "out", "--json").out)
    assert (record["paper"], record["build"]) == ("recn", build())
    assert [each["verdict"] for each in record["headlines"]] == ["mostly holds"]
    assert record["headlines"][0]["claims"] == HEADLINE.claims
    assert [claim["id"] for claim in record["claims"]] == HEADLINE.claims


@pytest.fixture
def no_runs(monkeypatch):
    def run(*_, **__):
        raise AssertionError("a summary ran a study")

    monkeypatch.setattr(Study, "run", run)


@pytest.mark.usefixtures("no_runs")
@pytest.mark.parametrize("what", [["winf"], ["recn/fig3"], []])
def test_a_summary_without_runs_prints_shipped_verdicts_and_their_build(tmp_path, inline, what):
    made = inline("reproduce", *what, "--summary", "--out", "out")
    assert made.code == 0, made.err
    assert list(tmp_path.iterdir()) == []
    shown = papers() if not what else [find(what[0].split("/")[0])]
    for paper in shown:
        assert f"out/{paper.name} has no verdicts of this build. Shipped verdicts" in made.out
        assert f"by multihop {read_shipped(paper).build}" in made.out
    for headline in shown[0].headlines if what != ["recn/fig3"] else [HEADLINE]:
        assert made.out.index(headline.says) < made.out.index(headline.claims[0])
    (record, *_) = json.loads(inline("reproduce", *what, "--summary", "--out", "out", "--json").out)
    assert record["build"] == read_shipped(find(record["paper"])).build
    assert record["claims"]


@pytest.mark.usefixtures("no_runs")
@pytest.mark.parametrize("of", ["this build", "another build"])
def test_a_summary_takes_the_verdicts_of_this_build(tmp_path, inline, of):
    paper = find("recn")
    folder = tmp_path / "out" / "recn"
    folder.mkdir(parents=True)
    claims = [claim for item in paper.items for claim in paper.study(item).spec.claims]
    cell = {"what": "", "measured": "", "expected": "", "state": "fails"}
    records = [{"id": claim.id, "verdict": "not reproduced", "cells": [cell], "readings": {}} for claim in claims]
    content = {"build": build() if of == "this build" else "0.0.1", "extent": "quick", "claims": records}
    (folder / "verdicts.json").write_text(json.dumps(content), encoding="utf-8")
    made = inline("reproduce", "recn", "--summary", "--out", "out")
    assert made.code == 0, made.err
    if of == "this build":
        assert f"Verdicts of the runs in out/recn, by multihop {build()}. A quick run" in made.out
        assert re.search(rf"○ not reproduced +{re.escape(HEADLINE.says)}", made.out)
    else:
        assert "Shipped verdicts" in made.out
        assert re.search(rf"◕ mostly holds +{re.escape(HEADLINE.says)}", made.out)


@pytest.mark.usefixtures("no_runs")
def test_a_summary_refuses_options_of_runs(inline):
    message = inline("reproduce", "recn", "--summary", "--quick", "--seeds", "2").fails_cleanly()
    assert "--summary: found --quick, --seeds; a summary runs nothing, so leave out --quick, --seeds" in message


# Claims that hid something


def test_friendliness_to_tcp_has_a_claim_for_each_scheme_and_the_default_reading():
    """A scheme that starves in one reading would be one cell of many."""
    claims = [claim for claim in find("winf").study("fig15").spec.claims if claim.metric == "ratio_late"]
    assert all(isinstance(claim.at["scheme"], str) for claim in claims)
    alone = {claim.at["scheme"] for claim in claims if claim.at["reading"] == "whole"}
    assert alone == {"XCP-Winf", "RCP-Winf"}
    assert all("whole" not in claim.at["reading"] for claim in claims if claim.at["reading"] != "whole")


def test_signalling_is_judged_without_the_overhead_of_the_mac():
    claims = {claim.id: claim for claim in find("ewccp").study("overhead").spec.claims}
    share = claims["ewccp/overhead-share"]
    assert share.metric == "bytes"
    # 1 % of 11 Mb/s is 412.5 kB in 30 s.
    assert (share.at_least, share.at_most) == pytest.approx((0.9 * 412.5, 1.1 * 412.5))
    assert claims["ewccp/overhead-airtime"].where.startswith("beyond")
