"""`multihop reproduce`: papers as data, reproduced figures and tables, and what is said of a name that is none."""

import json
import re
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from multihop.experiments.claims.judging import Verdict
from multihop.papers import find, papers
from studies import tree

ITEMS = [(paper.name, item) for paper in papers() for item in paper.items]


# What does not go


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("recnn", ["recnn: no such paper", 'did you mean "recn"?', "known: ewccp, recn, retfrc, varcap"]),
        ("../recn", ["no such paper"]),
        ("recn/tabel3", ["recn/tabel3: no such item", 'did you mean "table3"?', "fig3"]),
        ("recn/paper", ["recn/paper: no such item", "table3"]),
        ("recn/network", ["recn/network: no such item"]),
        ("recn/table3/x", ["recn/table3/x: no such item", "table3"]),
    ],
)
def test_an_unknown_name_is_answered_with_those_that_are_known(tmp_path, inline, name, says):
    message = inline("reproduce", name, "--quick").fails_cleanly()
    for words in says:
        assert words in message, message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "says"),
    [(["--jobs", "0"], ["--jobs", "found 0"]), (["--out", "mine"], ["mine", "a file is in the way"])],
)
def test_options_that_cannot_be(tmp_path, inline, options, says):
    (tmp_path / "mine").write_text("mine")
    message = inline("reproduce", "recn/channel", *options).fails_cleanly()
    for words in says:
        assert words in message, message
    assert (tmp_path / "mine").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_folder_of_somebody_else_is_left_alone(tmp_path, inline):
    (tmp_path / "out" / "recn" / "channel").mkdir(parents=True)
    (tmp_path / "out" / "recn" / "channel" / "study.toml").write_text("mine")
    message = inline("reproduce", "recn/channel", "--out", "out").fails_cleanly()
    assert "not a study folder of multihop, and not empty" in message
    assert (tmp_path / "out" / "recn" / "channel" / "study.toml").read_text() == "mine"


# Papers as data


def test_papers_say_what_they_are():
    assert "recn" in {paper.name for paper in papers()}
    for paper in papers():
        assert paper.title
        assert paper.authors
        assert re.search(r"\b(19|20)\d\d\b", paper.published)
        assert len(set(paper.items)) == len(paper.items) > 0
        assert find(paper.name) == paper


def test_every_file_of_a_paper_is_part_of_it():
    """Each is an item, or a scenario that an item is about; a study that is not listed would never be run."""
    for paper in papers():
        folder = resources.files("multihop.papers") / paper.name
        with resources.as_file(folder) as on_disk:
            there = {path.relative_to(on_disk).as_posix() for path in on_disk.rglob("*.toml")}
        used = {f"{item}.toml" for item in paper.items}
        scenarios = {str(paper.study(item).spec.scenario) for item in paper.items if paper.study(item).spec.scenario}
        # A study may put the scenario of another paper on other radios.
        used |= {name for name in scenarios if not name.startswith("../")}
        assert there == used


@pytest.mark.parametrize(("paper", "item"), ITEMS)
def test_every_study_of_a_paper_can_be_run(paper, item):
    asked = find(paper).study(item)
    quick = asked.quick()
    for study in (asked, quick):
        plan = study.plan
        assert len(plan.points) > 0
        assert len(plan.seeds) > 0
        if study.spec.model is not None:
            continue
        assert len(plan.views) == len(plan.points)
        assert all(view["warmup"] < view["duration"] for view in plan.views)
    runs = [len(study.plan.points) * len(study.plan.seeds) for study in (asked, quick)]
    assert runs[1] < runs[0] or asked.spec.model is not None


@pytest.mark.parametrize(("paper", "item"), ITEMS)
def test_claims_say_where_and_what(paper, item):
    asked = find(paper).study(item)
    for claim in asked.spec.claims:
        # `source/what`: a paper is held against its own words, or against another simulator's figures.
        assert re.fullmatch(r"[a-z0-9-]+/[a-z0-9-]+", claim.id)
        assert claim.where
        assert claim.says
        # A claim that no point can bear on would be a verdict about nothing.
        assert any(point.matches(claim.at) for point in asked.plan.points)


def test_claims_of_a_paper_have_names_of_their_own():
    for paper in papers():
        ids = [claim.id for item in paper.items for claim in paper.study(item).spec.claims]
        assert len(set(ids)) == len(ids)


# One item from beginning to end


def test_a_figure_is_made_again(tmp_path, inline):
    claims = find("recn").study("fig6").spec.claims
    assert claims
    made = inline("reproduce", "recn/fig6", "--quick", "--out", "out")
    assert made.code == 0, made.err
    folder = tmp_path / "out" / "recn"
    heads, *lines = made.out.splitlines()
    assert "Sensors 17(7), 1637, 2017" in heads
    table = [line.split()[0] for line in lines[1 : 1 + len(claims)]]
    assert table == [claim.id for claim in claims]
    verdicts = {str(verdict) for verdict in Verdict}
    assert all(any(verdict in line for verdict in verdicts) for line in lines[1 : 1 + len(claims)])
    assert "12 runs made, 0 were there" in made.err
    assert len(tree(folder / "store")) == 12
    page = (folder / "fig6" / "report.html").read_text(encoding="utf-8")
    assert all(claim.id in page for claim in claims)
    assert list((folder / "fig6" / "figures").glob("*.svg"))
    copy = tomllib.loads((folder / "fig6" / "study.toml").read_text(encoding="utf-8"))
    assert copy["name"] == "recn-fig6"

    # The runs are there now: the same again as JSON, and by the commands of studies.
    as_json = inline("reproduce", "recn/fig6", "--quick", "--out", "out", "--json")
    assert as_json.err == ""
    (paper,) = json.loads(as_json.out)
    assert (paper["paper"], paper["extent"], paper["headlines"]) == ("recn", "quick", [])
    records = paper["claims"]
    assert [record["id"] for record in records] == table
    assert {record["verdict"] for record in records} <= verdicts
    for record in records:
        assert record["cells"]
    status = inline("study", "status", folder / "fig6", "--quick", "--json").json()
    assert (status["finished"], status["missing"]) == (12, 0)
    assert inline("study", "export", folder / "fig6", "--quick", "-q").code == 0


@pytest.mark.long
def test_a_paper_on_estimators_is_made_again(tmp_path, inline):
    paper = find("winf")
    made = inline("reproduce", "winf", "--quick", "--out", "out", "--json")
    assert made.code == 0, made.err
    (found,) = json.loads(made.out)
    assert [headline["says"] for headline in found["headlines"]] == [headline.says for headline in paper.headlines]
    records = {record["id"]: record for record in found["claims"]}
    assert list(records) == [claim.id for item in paper.items for claim in paper.study(item).spec.claims]
    # What follows from the equations, whatever the seeds.
    assert records["winf/fig2-below"]["verdict"] == "not reproduced"
    assert records["winf/fig2-steady"]["verdict"] == "reproduced"
    assert records["winf/fig6-probes"]["verdict"] == "reproduced"
    at_1500 = next(c for c in records["winf/fig2-below"]["cells"] if c["what"] == "packet 1500, estimator rt-Winf")
    assert at_1500["measured"].startswith("1.649 ±"), "2664 over 1616 us"
    folder = tmp_path / "out" / "winf"
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert all(name in page for name in records)
    # Over time, a line for each estimator.
    over_time = (folder / "figures" / "winf-fig2" / "figure-2-path-capacity-over-time.svg").read_text(encoding="utf-8")
    assert all(label in over_time for label in ("rt-Winf, strict", "AdHoc Probe, 4 pairs"))


def test_a_closed_form_needs_no_runs(tmp_path, inline):
    made = inline("reproduce", "recn/channel", "--out", "out")
    assert made.code == 0, made.err
    assert "recn/table3-possible" in made.out
    assert (tmp_path / "out" / "recn" / "channel" / "report.html").exists()
    assert not Path("out/recn/store/runs").exists()


def test_a_summary_shows_claims_as_bars(inline):
    made = inline("reproduce", "recn/channel", "--summary", "--out", "out")
    assert made.code == 0, made.err
    assert re.search(r"Table 3 +recn/table3-possible +◑ mixed +[■x]", made.out)
    assert "Differences: 1 paper's." in made.out
    assert "Cells: ■ holds  x fails  ? undecided" in made.out


def test_failures_are_reported_once_and_the_exit_code_says_so(inline, monkeypatch):
    from multihop import _core

    def fail(*_):
        raise _core.InternalError("the queue is upside down")

    monkeypatch.setattr(_core, "run", fail)
    made = inline("reproduce", "recn/fig6", "--quick", "--out", "out", "-q")
    assert made.code == 1
    assert made.err.count("the queue is upside down") == 12
    assert made.err.count("repeat it: multihop run out/recn/fig6/scenario.toml ") == 12
