"""The report of a study: what was asked for is drawn, and what it is made from is said."""

import base64
import gzip
import html as markup
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from multihop.base.errors import UserError
from multihop.experiments.metrics import metric_of
from multihop.experiments.specs import Chart
from multihop.experiments.studies import Study
from multihop.models import MODELS
from multihop.papers import __file__ as papers
from multihop.report.charts.study_data import charts_of, plot
from multihop.report.study import write_study
from multihop.report.study.provenance import spans
from multihop.report.svg import sides
from multihop.results.statistics import Estimate
from small_study import STUDY, outline, write_small_study

PAPERS = Path(papers).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_small_study(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def result(folder):
    made = Study.load(folder / "small.toml").run(folder / "runs")
    assert not made.failures
    assert made.missing == 0
    return made


@pytest.fixture(scope="module")
def written(result, tmp_path_factory):
    return write_study([result], tmp_path_factory.mktemp("page") / "report.html", about="Author: A <paper>. 2017.")


@pytest.fixture(scope="module")
def html(written):
    return written[0].read_text()


def content(result, title):
    chart = next(chart for chart in charts_of(result) if chart.title == title)
    return plot(result, chart, "k")


def test_nothing_is_fetched(html):
    assert "http://" not in html
    assert "https://" not in html
    assert not re.findall(r"""(?:src|href|action)\s*=\s*["'](?!#|data:)[^"']""", html)
    assert not re.findall(r"url\((?!#)|@import|fetch\(|XMLHttpRequest|import\(", html)


def test_the_page_is_well_formed_and_has_a_figure_per_chart(html, result):
    made = outline(html)
    assert len(made.ids) == len(set(made.ids))
    assert html.count("<figure ") == len(result.study.spec.charts) == 6
    panels = re.findall(r'<svg class="chart".*?</svg>', html, flags=re.DOTALL)
    assert len(panels) == 2 + 1 + 1 + 2 + 1 + 1
    for panel in panels:
        ET.fromstring(panel)
        assert "mathdefault" not in panel


def test_links_within_the_page_lead_somewhere(html):
    targets = re.findall(r'<a href="#([^"]+)"', html)
    assert targets
    assert set(targets) <= set(outline(html).ids)


def test_every_chart_is_a_file_of_its_own_and_the_page_holds_the_same(written, html):
    files = written[1:]
    assert [path.name for path in files] == [
        "goodput-over-distance.svg",
        "bars.svg",
        "flows.svg",
        "flows-2.svg",
        "delay-against-goodput.svg",
        "nothing.svg",
    ]
    held = re.findall(r'download="([^"]+)" data-file="([^"]+)"', html)
    for path, (name, packed) in zip(files, held, strict=True):
        text = path.read_text()
        assert path.parent == written[0].parent / "figures"
        assert name == path.name
        assert gzip.decompress(base64.b64decode(packed)).decode() == text
        assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
        assert "currentColor" not in text
        assert "var(" not in text


def test_names_cannot_inject_markup(html, written):
    for raw in ("<b>none", "<i>more", "<m>", "<total>", "<over>", "<paper>", "<of>", "Table <1>", "<b>paragraph"):
        assert raw not in html
        assert markup.escape(raw) in html
    assert "&lt;b&gt;none" in written[1].read_text()


def test_points_lines_and_panels_are_those_that_were_asked_for(result):
    made = content(result, "Goodput <over> distance")
    assert [panel.title for panel in made.panels] == ["four", "eight & <i>more</i>"]
    assert made.names == ["<b>none</b>", "RECN"]
    assert (made.x_label, made.y_label) == ("spacing <m>", "Goodput <total> [kb/s]")
    recn = made.panels[1].series[1]
    assert [mark.x for mark in recn.marks] == [150, 200]
    (point,) = result.select({"distance": 200, "loads": "eight & <i>more</i>", "scheme": "RECN"})
    found = result.estimate(point, "goodput")
    assert recn.marks[1].y.mean == pytest.approx(found.mean / 1e3)
    assert recn.marks[1].y.low == pytest.approx(found.low / 1e3)
    assert recn.marks[1].y.n == 3


def test_factors_that_are_nowhere_else_tell_series_apart(result):
    made = plot(result, Chart(title="all", metric="goodput", x="distance"), "k")
    assert made.names == [
        "<b>none</b>, four",
        "RECN, four",
        "<b>none</b>, eight & <i>more</i>",
        "RECN, eight & <i>more</i>",
    ]
    places = [[mark.x for mark in series.marks] for series in made.panels[0].series]
    assert places == [[150, 200]] * 4


def test_flows_and_time_are_means_over_seeds(result):
    flows = content(result, "Flows")
    assert flows.categories == ["long", "short"]
    # Distances are not on the axis, so they are distinguished.
    assert len(flows.names) == 4
    (point,) = result.select({"distance": 150, "loads": "four", "scheme": "RECN"})
    table = result.point_table(point, "flows")
    series = next(s for s in flows.panels[0].series if flows.names[s.number] == "RECN, spacing <m> 150")
    short = table.loc[table["name"] == "short", "goodput_bps"]
    assert len(short) == 3
    assert series.marks[1].y.mean == pytest.approx(short.mean() / 1e3)

    time = plot(result, result.study.spec.charts[3], "k")
    steps = result.point_table(point, "series")
    at = steps[(steps["name"] == "long") & (steps["time_s"] == 2.0)]
    line = next(s for s in time.panels[0].series if time.names[s.number] == "RECN, four")
    mark = next(mark for mark in line.marks if mark.x == 2.0)
    assert mark.y.mean == pytest.approx(at["goodput_bps"].mean() / 1e3)
    assert time.panels[0].shaded == 1.0


def test_an_axis_may_be_another_metric(result):
    made = content(result, "Delay against goodput")
    assert made.x_label == "Goodput <total> [kb/s]"
    (point,) = result.select({"distance": 200, "loads": "four", "scheme": "RECN"})
    mark = made.panels[0].series[0].marks[1]
    assert mark.label == "200"
    assert mark.x == pytest.approx(result.estimate(point, "goodput").mean / 1e3)
    assert mark.y.mean == pytest.approx(1e3 * result.estimate(point, "delay").mean)


def test_the_papers_numbers_are_beside_the_points_that_they_are_about(result, html):
    made = content(result, "Goodput <over> distance")
    for panel in made.panels:
        printed = {made.names[s.number]: [mark.printed for mark in s.marks] for s in panel.series}
        assert printed == {"<b>none</b>": [(), ()], "RECN": [(123.5,), (456.25,)]}
    assert html.count('data-tip="RECN, spacing &lt;m&gt; 150: paper 123.5 kb/s"') == 2
    assert html.count('data-series="1 printed"') == 4
    assert "paper</button>" in html
    assert "(paper 123.5)" in html


def test_the_channels_bound_is_drawn_where_it_is_known(result, tmp_path, monkeypatch):
    monkeypatch.setattr("multihop.experiments.claims.judging._possible", lambda *_: 200.0)
    study = Study.load(result.study.origin)
    claim = study.spec.claims[0].model_copy(update={"channel": True})
    study.spec = study.spec.model_copy(update={"claims": [claim]})
    page = write_study([study.result(result.directory)], tmp_path / "report.html")[0].read_text()
    assert 'data-tip="most that the channel can carry: 200 kb/s"' in page
    assert "The claimed number is more than the channel can carry</b> in 2 of 4 cells" in page
    assert "most that the channel can carry</button>" in page


def test_verdicts_numbers_and_sources_are_there(html, result):
    for judgement in result.judgements:
        assert markup.escape(judgement.claim.id) in html
        assert markup.escape(judgement.summary) in html
    text = markup.unescape(re.sub(r"<[^>]+>", " ", html))
    words = ("Because <of> this.", "Author: A <paper>. 2017.", "Second <b>paragraph</b>.", "no run has a value")
    words += ("24 finished, 0 missing, 0 failed", "1 to 3", "multihop study run study.toml", "study export study.toml")
    words += (result.study.plan.views[0]["hash"], 'name = "small-chain"', "chain.toml", STUDY.strip()[:200])
    for word in words:
        assert word in text, word
    # Two schemes at four points by four metrics, one of which has no values.
    assert text.count("<b>none</b> - RECN") == 4 * 3


def test_factors_may_be_called_as_columns_of_tables_are(folder, tmp_path):
    keys = {"n": {"key": "topology.hops", "values": [3, 4]}, "metric": {"key": "topology.spacing", "values": ["150 m"]}}
    study = Study(
        name="names",
        scenario=str(folder / "chain.toml"),
        factors={**keys, "a": {"key": "schemes.tested.base", "values": ["tcp-newreno", "recn"]}},
        compare="a",
        seeds=2,
    )
    page = write_study([study.run(tmp_path / "runs")], tmp_path / "report.html")[0].read_text()
    paired = page[page.index("paired differences") :]
    row = '<td class="name">4</td><td class="name">150 m</td><td class="name">tcp-newreno - recn</td>'
    assert row in paired


def test_without_charts_there_is_one_per_metric(folder, result, tmp_path):
    study = Study.load(folder / "small.toml")
    study.spec = study.spec.model_copy(update={"charts": [], "claims": []})
    bare = study.result(result.directory)
    made = charts_of(bare)
    assert [chart.metric for chart in made] == ["goodput", "jain", "delay", "nothing"]
    assert {(chart.kind, chart.x, chart.panels) for chart in made} == {("lines", "distance", "loads")}
    assert len(write_study([bare], tmp_path / "report.html")) == 5


def test_without_metrics_charts_and_numbers_there_are_bars_of_what_every_run_has(folder, tmp_path):
    schemes = {"scheme": ["tcp-newreno", "udp"]}
    study = Study(name="plain", scenario=str(folder / "chain.toml"), factors=schemes, seeds=1)
    single = study.run(tmp_path / "runs")
    assert [(chart.kind, chart.metric) for chart in charts_of(single)] == [
        ("bars", "goodput_total_bps"),
        ("bars", "jain"),
        ("bars", "delay_p95_s"),
    ]
    page = write_study([single], tmp_path / "report.html")[0].read_text()
    outline(page)
    assert "one value each, so no interval" in page
    assert "95 % interval 0" not in page
    assert "paired differences" not in page


def test_a_closed_form_has_a_report(tmp_path, monkeypatch):
    monkeypatch.setitem(MODELS, "square", lambda side: {"area": side * side})
    study = Study(name="forms", model="square", factors={"side": [2, 5, 10]})
    page = write_study([study.run(tmp_path / "forms")], tmp_path / "report.html")[0].read_text()
    outline(page)
    assert "closed form" in page
    assert 'data-tip="side 5: 25"' in page


def test_several_studies_have_contents_and_folders(result, tmp_path):
    other = Study.load(result.study.origin)
    other.spec = other.spec.model_copy(update={"name": "again", "title": "Once more"})
    results = [result, other.result(result.directory)]
    written = write_study(results, tmp_path / "all.html", title="A paper", command="multihop reproduce it")
    page = written[0].read_text()
    made = outline(page)
    assert len(made.ids) == len(set(made.ids))
    assert '<nav aria-label="Contents">' in page
    assert "multihop reproduce it" in page
    assert {path.parent.relative_to(tmp_path).as_posix() for path in written[1:]} == {"figures/small", "figures/again"}
    assert set(re.findall(r'<a href="#([^"]+)"', page)) <= set(made.ids)


def test_missing_runs_and_quick_looks_are_said(folder, tmp_path):
    (folder / "partial.toml").write_text(
        STUDY.replace("[factors.distance]", "[quick]\nseeds = 1\n\n[factors.distance]")
    )
    study = Study.load(folder / "partial.toml")
    quick = study.quick().run(tmp_path / "runs")
    page = write_study([quick], tmp_path / "quick.html")[0].read_text()
    assert "quick run" in page
    assert "multihop study run study.toml --quick" in page
    page = write_study([study.result(tmp_path / "runs")], tmp_path / "partial.html")[0].read_text()
    assert "16 runs are missing" in page
    assert "study.toml --quick" not in page


def test_the_page_never_replaces_what_it_is_made_from(result, folder):
    for name in ("small.toml", "chain.toml"):
        with pytest.raises(UserError, match="which would be lost"):
            write_study([result], folder / name)
    assert (folder / "small.toml").read_text() == STUDY


def test_the_same_runs_make_the_same_page(result, written, tmp_path):
    about = "Author: A <paper>. 2017."
    again = write_study(
        [Study.load(result.study.origin).result(result.directory)], tmp_path / "report.html", about=about
    )
    assert again[0].read_text() == written[0].read_text()


@pytest.mark.parametrize(
    ("chart", "said"),
    [
        ({"metric": "goodput", "x": "distance", "unit": "kb/s"}, "unit: has no effect"),
        ({"metric": "goodput", "x": "loads", "log_x": True}, "needs numbers above zero"),
        ({"kind": "bars", "metric": "goodput", "x": "distance", "x_metric": "delay"}, "x_metric: has no effect"),
        ({"metric": "goodput", "x": "distance", "x_metric": "speed"}, "no metric is named 'speed'"),
        ({"kind": "time", "column": "series.goodput_bps", "x": "loads"}, "x: has no effect"),
    ],
)
def test_charts_that_make_no_sense_are_refused(folder, chart, said):
    base = Study.load(folder / "small.toml")
    keys = base.spec.model_dump(exclude_defaults=True) | {"charts": [{"title": "t", **chart}]}
    keys["scenario"] = str(folder / "chain.toml")
    with pytest.raises(UserError, match=said):
        Study(**keys)


def test_spans():
    assert spans([1, 2, 3, 7, 9, 10]) == "1 to 3, 7, 9, 10"


def test_intervals_end_at_zero_unless_a_difference_is_in_the_metric():
    spec = Study.load(PAPERS / "retfrc" / "cap.toml").spec
    least = {name: metric_of(spec, name, "").least for name in spec.metrics}
    differences = {name for name, metric in spec.metrics.items() if metric.less is not None}
    assert differences
    for name, metric in spec.metrics.items():
        parts = {name, metric.metric, metric.over}
        assert (least[name] < 0) == bool(parts & differences), name


def test_whiskers_reach_as_far_as_the_interval():
    assert sides(Estimate(1.0, -2.0, 4.0, 3).within(0.0)) == [[1.0], [3.0]]
    assert sides(Estimate(1.0, None, None, 1)) is None
