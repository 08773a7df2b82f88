"""The page of claims at a glance that `docs/claims.py` writes, its picture, and the same in the terminal."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
from docs import claims as page_of_claims
from docs import claims_picture

from multihop import UserError
from multihop.cli.summary import print_summary
from multihop.experiments.studies import Study
from multihop.papers import Headline, Paper, find, headlines
from multihop.papers.verdicts import Extent, Verdicts, read_verdicts, write_verdicts

BOUND = {"kind": "bound", "metric": "end_to_end", "per": "rate", "at_least": 500.0}
CLAIMS = [
    {"id": "mine/one", "where": "Fig. 9(a)", "says": "one hop carries much", **BOUND, "at": {"hops": 1}},
    {"id": "mine/all", "where": "Fig. 9(a)", "says": "any number does", **BOUND, "whose": "paper", "reason": "No."},
    {
        "id": "mine/order",
        "where": "Sec. 4",
        "says": "fewer are better",
        "kind": "order",
        "metric": "end_to_end",
        "by": "hops",
        "order": [1, [3, 6]],
        "per": "rate",
    },
]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    factors = {"hops": [1, 3, 6], "rate": ["1 Mb/s", "2 Mb/s"]}
    study = Study(name="mine", model="chain-capacity", factors=factors, claims=CLAIMS)
    found = study.run(tmp_path_factory.mktemp("claims") / "mine")
    return [(Paper("mine", "A title", "An author", "A journal, 2026", ["item"]), found.judgements)]


def test_the_page_counts_verdicts_and_differences(judged):
    verdicts = [Verdicts(paper, judgements, "0.1.0, commit 0123", Extent.FULL) for paper, judgements in judged]
    page = page_of_claims.page(verdicts, "images/claims.svg")
    assert "Runs of multihop 0.1.0, commit 0123." in page
    assert "seeds here than they define" not in page
    assert "| [mine](#mine) | 3 | 2 |  |" in page
    assert "| mine | 1 |  |  |  |  |" in page, "one difference, which is the paper's"
    assert "[Results](mine.md), [claims with reasons](data/mine-claims.csv)" in page


def test_the_picture_has_a_column_for_each_claim_as_high_as_its_cells(judged):
    tree = ElementTree.fromstring(claims_picture.svg(judged))
    columns = tree.findall(f"{SVG}g")
    assert [column.find(f"{SVG}title").text.split(":")[0] for column in columns] == ["Fig. 9(a)", "Fig. 9(a)", "Sec. 4"]
    boxes = [[box.get("d") for box in column.findall(f"{SVG}path")] for column in columns]
    heights = [[float(re.search(r"v([0-9.]+)h", box)[1]) for box in parts] for parts in boxes]
    assert heights[0] == [max(heights[0])]
    assert len(heights[1]) == 2
    assert all(sum(parts) == pytest.approx(heights[0][0], abs=0.2) for parts in heights)
    words = [text.text for text in tree.findall(f"{SVG}text")]
    assert words.count("F9") == 1
    assert words.count("§4") == 1


def test_the_terminal_says_the_same(judged, capsys):
    headline = Headline("few hops are better", "Fig. 9", ["mine/all", "mine/order"], "item", "A chart", "They share.")
    print_summary("Mine", "Of runs.", headlines.judged([headline], judged[0][1]), judged[0][1])
    out = capsys.readouterr().out
    assert out.startswith("Mine\nOf runs.\n")
    assert re.search(r"◕ mostly holds +few hops are better +Fig\. 9", out[: out.index("mine/one")])
    assert re.search(r"Fig\. 9\(a\) +mine/one +● reproduced +■", out)
    assert re.search(r"mine/all +\S \S.* +■x", out)
    assert "1 against 3 | 1 against 6" in out
    assert "Differences: 1 paper's." in out


def test_papers_without_runs_are_one_message(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["claims.py", str(tmp_path), "--papers", "recn", "--to", str(tmp_path / "page.md")])
    with pytest.raises(SystemExit) as ended:
        page_of_claims.main()
    assert "multihop reproduce recn" in str(ended.value)
    assert not (tmp_path / "page.md").exists()


@pytest.fixture
def written(tmp_path):
    """The verdicts of a paper whose claims have no runs, as `reproduce` leaves them."""
    paper = find("recn")
    results = [paper.study(item).quick().result(tmp_path / "nothing" / item) for item in paper.items]
    write_verdicts(tmp_path, results)
    return paper, tmp_path, [judged for result in results for judged in result.judgements]


def test_verdicts_come_back_from_their_file(written):
    paper, folder, found = written
    verdicts = read_verdicts(paper, folder)
    assert verdicts.extent is Extent.QUICK
    assert "commit" in verdicts.build
    assert [(j.claim.id, j.verdict, list(j.cells), j.whose) for j in verdicts.judgements] == [
        (j.claim.id, j.verdict, list(j.cells), j.whose) for j in found
    ]
    page = page_of_claims.page([verdicts], "images/claims.svg")
    assert "**recn**: A quick run (`--quick`): fewer seeds, shorter runs and fewer values" in page


@pytest.mark.parametrize("change", ["less", "more", "torn", "none"])
def test_verdicts_that_do_not_fit_the_claims_are_refused(written, change):
    paper, folder, _ = written
    path = folder / "verdicts.json"
    content = json.loads(path.read_text("utf-8"))
    if change == "less":
        del content["claims"][0]
    elif change == "more":
        content["claims"].append({**content["claims"][0], "id": "recn/new"})
    path.write_text(json.dumps(content)[: -20 if change == "torn" else None], encoding="utf-8")
    if change == "none":
        path.unlink()
    with pytest.raises(UserError, match=r"verdicts.json: .*make it with multihop reproduce recn"):
        read_verdicts(paper, folder)
