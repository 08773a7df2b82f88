"""The page of a paper's results that `docs/results.py` writes, and the claims and numbers beside it."""

import csv
import io
import json
import re
import subprocess
import sys
from dataclasses import fields

import pytest
from docs import numbers, result_records
from docs import results as page_of_results
from docs.result_records import ClaimRecord, NumberRecord

from conftest import ROOT
from multihop.experiments.claims.bars import rows
from multihop.experiments.studies import Study
from multihop.papers import Headline, Paper, papers
from multihop.papers.verdicts import Extent, Verdicts, read_shipped, shipped_file, write_shipped

CLAIMS = [
    {
        "id": "mine/value",
        "where": "Table 9",
        "says": "six hops carry a quarter",
        "kind": "value",
        "metric": "end_to_end",
        "per": "rate",
        "over": "hops",
        "values": [10.0, 820.0],
        "reason": "Because.",
    },
    {
        "id": "mine/bound",
        "where": "Fig. 9",
        "says": "much crosses",
        "kind": "bound",
        "metric": "end_to_end",
        "per": "rate",
        "at": {"hops": 1},
        "at_least": 1000.0,
    },
    {
        "id": "mine/no",
        "where": "Fig. 9",
        "says": "everything crosses",
        "kind": "bound",
        "metric": "end_to_end",
        "at_least": 1e9,
    },
]
HEADLINE = Headline("hops cost", "Fig. 9", ["mine/bound", "mine/no"], "item", "A chart", "They share the air.")
STUDY = {
    "name": "mine",
    "title": "Mine",
    "model": "chain-capacity",
    "factors": {"hops": [3, 1], "rate": ["1 Mb/s", "2 Mb/s"]},
    "charts": [{"title": title, "metric": "end_to_end", "x": "hops"} for title in ("Another", "A third", "A chart")],
    "claims": CLAIMS,
    "discussion": "As by Kim et al. (2003) and Eq. 3, one hop is\nbest. Three are not.",
}


class MyPaper(Paper):
    """A paper whose study is no file."""

    def study(self, item):
        assert item == "item"
        return Study(**STUDY)


PAPER = MyPaper("mine", "A title", "An author", "A journal, 2026", ["item"], headlines=[HEADLINE])
CHARTS = {"item": [f"images/mine/item/{name}.svg" for name in ("another", "a-third", "a-chart")]}
DATA = ROOT / "docs" / "results" / "data"


@pytest.fixture
def result(tmp_path):
    return PAPER.study("item").run(tmp_path / "mine")


@pytest.fixture
def records(result):
    return page_of_results.records(PAPER, [result], CHARTS)


@pytest.fixture
def page(records, result):
    headlines = page_of_results.headline_records(PAPER, [result], CHARTS)
    return result_records.page(PAPER, "0.1.0, commit 0123", Extent.FULL, headlines, records)


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def tables(records, tmp_path):
    result_records.write_tables(tmp_path / "data", "mine", records)
    return [read((tmp_path / "data" / name).read_text("utf-8")) for name in ("mine-claims.csv", "mine/item.csv")]


def test_headlines_come_first_with_verdict_sentence_and_picture(page):
    first = page.index("### hops cost")
    assert first < page.index("## All claims") < page.index("## Mine")
    # Of `mine/bound` one cell holds and one fails; of `mine/no` all four fail.
    block = page[first : page.index("## All claims")].split("\n\n")
    assert block[1:4] == [
        "**◔ mostly fails** (Fig. 9). They share the air.",
        "![A chart](images/mine/item/a-chart.svg)",
        "Decided by ◑ `mine/bound`, ○ `mine/no`.",
    ]


def test_a_paper_without_headlines_begins_with_its_claims(records):
    page = result_records.page(PAPER, "0.1.0", Extent.FULL, [], records)
    assert "Main claims" not in page
    assert "## All claims" in page


@pytest.mark.parametrize("to", [None, "elsewhere"])
def test_verdicts_of_the_package_are_written_with_the_page(tmp_path, monkeypatch, to):
    """A page elsewhere is a look, and leaves what is shipped."""
    PAPER.study("item").run(tmp_path / "mine" / "item")
    monkeypatch.setattr(page_of_results, "find", lambda _: PAPER)
    monkeypatch.setattr(page_of_results, "DOCS", tmp_path)
    monkeypatch.setattr(page_of_results, "shipped_file", lambda _: tmp_path / "shipped.json")
    target = tmp_path / (to or "results") / "mine.md"
    target.parent.mkdir()
    where = ["--to", str(target)] if to else []
    monkeypatch.setattr("sys.argv", ["results.py", "mine", str(tmp_path / "mine"), *where])
    page_of_results.main()
    assert "### hops cost" in target.read_text("utf-8")
    shipped = tmp_path / "shipped.json"
    assert shipped.exists() == (to is None)
    if to is None:
        claims = json.loads(shipped.read_text("utf-8"))["claims"]
        assert claims["mine/bound"] == {"1 Mb/s": [0, 1, 0, 0], "2 Mb/s": [1, 0, 0, 0]}
        assert claims["mine/no"] == {"": [0, 4, 0, 0]}


def test_shipped_verdicts_come_back(result, tmp_path, monkeypatch):
    path = tmp_path / "mine.json"
    write_shipped(path, Verdicts(PAPER, result.judgements, "0.1.0, commit 0123", Extent.QUICK))
    monkeypatch.setattr("multihop.papers.verdicts.shipped_file", lambda _: path)
    found = read_shipped(PAPER)
    assert (found.build, found.extent, found.is_shipped) == ("0.1.0, commit 0123", Extent.QUICK, True)
    assert [(j.verdict, j.summary, j.whose, rows(j)) for j in found.judgements] == [
        (j.verdict, j.summary, j.whose, rows(j)) for j in result.judgements
    ]


def test_the_page_counts_verdicts_by_study(page):
    assert "3 claims: 1 mixed, 1 mostly fails, 1 not reproduced." in page
    assert "| `mine/item` | 3 | 1 | 1 | 1 |" in page
    assert "- everything crosses (Fig. 9; difference: not attributed)" in page
    assert "mine/value" not in page, "claims that hold in part are in the data"


def test_a_study_has_its_first_sentence_and_its_charts(page):
    study = "`mine/item`: closed form, 4 points; [numbers](data/mine/item.csv)."
    assert f"{study} As by Kim et al. (2003) and Eq. 3, one hop is best.\n" in page
    assert "![a third](images/mine/item/a-third.svg)" in page
    charts = page[page.index("## Mine") :]
    assert charts.index("another.svg") < charts.index("More charts") < charts.index("a-third.svg")
    assert page.count("a-chart.svg") == 1, "its headline shows it"


def test_every_claim_has_its_verdict_and_its_reason(tables):
    value, bound, no = tables[0]
    assert (value["claim"], value["verdict"], value["cells"]) == ("mine/value", "mostly fails", "1 of 4 hold")
    assert (value["where"], value["reason"], value["difference"]) == ("Table 9", "Because.", "not attributed")
    assert bound["readings"] == "1 Mb/s: not reproduced; 2 Mb/s: reproduced"
    assert no["readings"] == ""


def test_printed_numbers_stand_beside_ours(tables):
    found = [row for row in tables[1] if row["claim"] == "mine/value" and row["paper"] == "820"]
    assert {row["at"]: row["state"] for row in found} == {
        "hops = 1; rate = 1 Mb/s": "holds",
        "hops = 1; rate = 2 Mb/s": "fails",
    }
    assert {row["unit"] for row in found} == {found[0]["unit"]}


def test_means_of_all_metrics_are_at_all_points(tables):
    means = [row for row in tables[1] if not row["claim"]]
    assert len({row["at"] for row in means}) == 4
    assert all(re.match(r"[0-9.]+", row["ours"]) and not row["state"] for row in means)


def test_fewer_seeds_than_asked_for_are_said(tmp_path):
    scenario = {
        "topology": {"generator": "chain", "hops": 1},
        "flows": [{"from": "n0", "to": "n1", "scheme": "udp", "app": {"kind": "saturated"}}],
        "duration": "1 s",
    }
    study = Study(name="mine", scenario=scenario, factors={"topology.hops": [1, 2]}, seeds=3)
    study = study.with_seeds(2)
    study.run(tmp_path / "mine")
    results = [study.result(tmp_path / "mine")]
    records = page_of_results.records(PAPER, results, {})
    page = result_records.page(PAPER, "0.1.0", Extent.of(results), [], records)
    assert "**Some studies have fewer seeds here than they define" in page
    assert "`mine/item`: 2 points, seeds 1, 2 of 3, 4 runs; [numbers]" in page


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.name)
def test_stored_results_have_the_layout_of_the_program(paper):
    studies = [f"{paper.name}/{item}" for item in paper.items]
    claims = [claim.id for item in paper.items for claim in paper.study(item).spec.claims]
    judged = read((DATA / f"{paper.name}-claims.csv").read_text("utf-8"))
    assert list(judged[0]) == [each.name for each in fields(ClaimRecord)]
    assert {row["study"] for row in judged} <= set(studies)
    assert [row["claim"] for row in judged] == claims
    shipped = read_shipped(paper)
    assert [row["verdict"] for row in judged] == [str(judgement.verdict) for judgement in shipped.judgements]
    assert json.loads(shipped_file(paper).read_text("utf-8"))["claims"].keys() == set(claims)
    measured = [row for study in (DATA / paper.name).glob("*.csv") for row in read(study.read_text("utf-8"))]
    assert list(measured[0]) == [each.name for each in fields(NumberRecord)]
    assert {row["study"] for row in measured} <= set(studies)
    assert {row["claim"] for row in measured} <= {"", *claims}

    page = (ROOT / "docs" / "results" / f"{paper.name}.md").read_text("utf-8")
    assert f"with multihop {shipped.build}." in page
    assert [f"### {headline.says}" in page for headline in paper.headlines] == [True] * len(paper.headlines)
    assert re.findall(r"^`([\w/-]+)`: ", page, re.MULTILINE) == studies
    assert f"{len(claims)} claims: " in page
    assert sum(bool(re.search(r"\w", word)) for word in page.split()) <= 1500
    assert all((ROOT / "docs" / "results" / chart).is_file() for chart in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page))


def test_one_page_has_every_row():
    html = numbers.tables(DATA)
    assert "@rows@" not in html
    assert html.count("</script>") == 1
    for path in DATA.glob("*-claims.csv"):
        assert all(row["claim"] in html for row in read(path.read_text("utf-8")))
    page = (ROOT / "docs" / "results" / "numbers.md").read_text("utf-8")
    assert all(f"data/{paper.name}-claims.csv" in page for paper in papers())


def test_a_search_shows_rows_with_all_its_words(shown, tmp_path):
    (tmp_path / "mine-claims.csv").write_text("claim,says\none,Delay falls\ntwo,delay <b>rises</b>\n", "utf-8")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "item.csv").write_text("at,ours\nhops = 1,3\n", encoding="utf-8")
    file = tmp_path / "page.html"
    file.write_text(f'<!doctype html><meta charset="utf-8">{numbers.tables(tmp_path)}', encoding="utf-8")
    page = shown(file.as_uri())
    assert page.inner_text("output") == "2 of 2 rows"
    page.fill("input", "RISES  delay")
    assert page.inner_text("output") == "1 of 2 rows"
    assert page.inner_text("tbody") == "two\tdelay <b>rises</b>"
    page.select_option("select", "numbers")
    assert page.inner_text("output") == "0 of 1 rows"
    page.fill("input", "hops")
    assert page.inner_text("tbody") == "hops = 1\t3"


def test_text_of_a_row_does_not_end_the_script(tmp_path):
    (tmp_path / "mine-claims.csv").write_text("says\n</script><b>\n", encoding="utf-8")
    html = numbers.tables(tmp_path)
    assert html.count("</script>") == 1
    assert "<\\/script><b>" in html


def test_without_runs_there_is_one_message(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "docs.results", "recn", tmp_path, "--to", tmp_path / "page.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert "multihop reproduce recn" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "page.md").exists()
