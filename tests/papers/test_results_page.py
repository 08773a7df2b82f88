"""The page of a paper's results that `docs/results.py` writes."""

import subprocess
import sys

import pytest
from docs import results as page_of_results

from conftest import ROOT
from multihop.claims.study import Study
from multihop.papers import Paper

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
]


@pytest.fixture
def page(tmp_path):
    study = Study(
        name="mine",
        title="Mine",
        model="chain-capacity",
        factors={"hops": [3, 1], "rate": ["1 Mb/s", "2 Mb/s"]},
        claims=CLAIMS,
    )
    result = study.run(tmp_path / "mine")
    paper = Paper("mine", "A title", "An author", "A journal, 2026", ["item"])
    return page_of_results.page(paper, [result], {"item": ["images/mine/item/a-chart.svg"]})


def test_every_claim_has_its_verdict(page):
    assert "2 claims: 1 mixed, 1 mostly fails." in page
    row = next(line for line in page.splitlines() if line.startswith("| `mine/value`"))
    assert "six hops carry a quarter | **mostly fails** | 1 of 4 hold | not attributed" in row
    assert "Because." in page
    assert "![a chart](images/mine/item/a-chart.svg)" in page


def test_a_study_without_claims_has_all_its_numbers_and_what_was_found(tmp_path):
    study = Study(
        name="mine",
        title="Mine",
        model="chain-capacity",
        factors={"hops": [3, 1], "rate": ["1 Mb/s", "2 Mb/s"]},
        discussion="One hop is\nbest.\n\nThree are not.",
    )
    paper = Paper("mine", "A title", "An author", "A journal, 2026", ["item"])
    page = page_of_results.page(paper, [study.run(tmp_path / "mine")], {})
    rows = [line for line in page.splitlines() if line.startswith(("| 1 |", "| 3 |"))]
    assert [row.split(" | ")[:2] for row in rows] == [
        ["| 3", "1 Mb/s"],
        ["| 3", "2 Mb/s"],
        ["| 1", "1 Mb/s"],
        ["| 1", "2 Mb/s"],
    ]
    assert "One hop is best.\n\nThree are not.\n" in page


def test_printed_numbers_stand_beside_ours(page):
    lines = page.splitlines()
    start = lines.index("| hops | paper | 1 Mb/s | 2 Mb/s |")
    small, large = lines[start + 2], lines[start + 3]
    assert small.startswith("| 3 | 10 | ")
    assert "**" not in small
    assert large.startswith("| 1 | 820 | **"), "one hop at 1 Mb/s carries about that"
    assert large.count("**") == 2
    assert "within 10 % of the paper's. Bold where" in page


def test_fewer_seeds_than_asked_for_are_said(tmp_path):
    scenario = {
        "topology": {"generator": "chain", "hops": 1},
        "flows": [{"from": "n0", "to": "n1", "scheme": "udp", "app": {"kind": "saturated"}}],
        "duration": "1 s",
    }
    study = Study(name="mine", scenario=scenario, factors={"topology.hops": [1, 2]}, seeds=3)
    study = study.with_seeds(2)
    study.run(tmp_path / "mine")
    paper = Paper("mine", "A title", "An author", "A journal, 2026", ["item"])
    page = page_of_results.page(paper, [study.result(tmp_path / "mine")], {})
    assert "**Some studies have fewer seeds here than they define" in page
    assert "2 of 3, 4 runs; `multihop reproduce mine/item`" in page


def test_readings_that_differ_are_reported(page):
    assert "| 1 Mb/s | not reproduced |" in page
    assert "| 2 Mb/s | reproduced |" in page


def test_numbers_stand_beside_a_bound(page):
    lines = page.splitlines()
    about = next(index for index, line in enumerate(lines) if "at least 1000" in line and "Bold" in line)
    assert lines[about + 2] == "| 1 Mb/s | 2 Mb/s |"
    small, large = lines[about + 4].strip("| ").split(" | ")
    assert float(small) < 1000, "one hop at 1 Mb/s"
    assert large.startswith("**")
    assert float(large.strip("*")) > 1000


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
