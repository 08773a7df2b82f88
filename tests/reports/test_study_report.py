"""The report of a study: what was asked for is drawn, and it works in a browser and without scripts."""

import base64
import gzip
import html as markup
import json
import re
import subprocess
import xml.etree.ElementTree as ET

import pytest

from conftest import CHAIN
from multihop.base.errors import UserError
from multihop.claims.study import Study
from multihop.models import MODELS
from multihop.report.study import write_study
from multihop.report.study.plots import charts_of, plot
from multihop.report.study.provenance import spans
from multihop.study.spec import Chart
from test_report import CHROMIUM, CHROMIUM_OPTIONS, Outline

SCENARIO = (
    CHAIN.replace('duration = "5 s"', 'duration = "3 s"').replace('scheme = "tcp-newreno"', 'scheme = "tested"')
    + '\n[schemes.tested]\nbase = "tcp-newreno"\n'
)

STUDY = """
name = "small"
title = "Two schemes on chains"
description = '''First paragraph.

Second <b>paragraph</b>.'''
scenario = "chain.toml"
seeds = 3
compare = "scheme"

[factors.distance]
title = "spacing <m>"
key = "topology.spacing"
values = ["150 m", "200 m"]
labels = [150, 200]

[factors.loads]
key = "schemes.tested.window"
title = "window"
values = [4, 8]
labels = ["four", "eight & <i>more</i>"]

[factors.scheme]
key = "schemes.tested.base"
values = ["tcp-newreno", "recn"]
labels = ["<b>none</b>", "RECN"]

[metrics.goodput]
column = "flows.goodput_bps"
reduce = "sum"
title = "Goodput <total>"
unit = "kb/s"

[metrics.jain]
column = "flows.goodput_bps"
reduce = "jain"

[metrics.delay]
column = "flows.delay_mean_s"
unit = "ms"

[metrics.nothing]
column = "flows.delay_mean_s"
where = { name = "no such flow" }

[[charts]]
title = "Goodput <over> distance"
note = "A note & more."
metric = "goodput"
x = "distance"
panels = "loads"

[[charts]]
title = "Bars"
kind = "bars"
metric = "jain"
x = "loads"
at = { distance = 200 }

[[charts]]
title = "Flows"
kind = "flows"
column = "flows.goodput_bps"
unit = "kb/s"
at = { loads = "four" }

[[charts]]
title = "Flows"
kind = "time"
column = "series.goodput_bps"
unit = "kb/s"
where = { name = "long" }
panels = "distance"

[[charts]]
title = "Delay against goodput"
metric = "delay"
x = "distance"
x_metric = "goodput"
by = "loads"
at = { scheme = "RECN" }
log_x = true
log_y = true

[[charts]]
title = "Nothing"
metric = "nothing"
x = "distance"
log_y = true

[[claims]]
id = "c/value"
where = "Table <1>"
says = "so & so much"
kind = "value"
metric = "goodput"
per = "loads"
at = { scheme = "RECN" }
over = "distance"
values = [123.5, 456.25]
reason = "Because <of> this."

[[claims]]
id = "c/order"
where = "Fig. 2"
says = "RECN is first"
kind = "order"
metric = "goodput"
by = "scheme"
order = ["RECN", "<b>none</b>"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("study")
    (made / "chain.toml").write_text(SCENARIO)
    (made / "small.toml").write_text(STUDY)
    return made


@pytest.fixture(scope="module")
def result(folder):
    made = Study.load(folder / "small.toml").run(folder / "runs")
    assert not made.failures
    assert made.missing == 0
    return made


@pytest.fixture(scope="module")
def written(result, tmp_path_factory):
    return write_study([result], tmp_path_factory.mktemp("page") / "report.html", about="Somebody: A <paper>. 2017.")


@pytest.fixture(scope="module")
def html(written):
    return written[0].read_text()


def outline(html):
    made = Outline()
    made.feed(html)
    assert made.open == []
    return made


def content(result, title):
    chart = next(chart for chart in charts_of(result) if chart.title == title)
    return plot(result, chart, "k")


def browse(html, tmp_path, act):
    """What `act`, a body of a JavaScript function, returns in the open page. Complaints of the browser are failures."""
    if CHROMIUM is None:
        pytest.skip("needs chromium to open the report")
    path = tmp_path / "page.html"
    watch = "<script>window.addEventListener('error', (e) => { document.title = 'ERROR ' + e.message; });</script>"
    run = f"<script>document.documentElement.dataset.found = JSON.stringify((() => {{ {act} }})());</script>"
    path.write_text(html.replace("<head>", "<head>" + watch).replace("</body>", run + "</body>"))
    options = [*CHROMIUM_OPTIONS, f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1200,4000"]
    done = subprocess.run(
        [CHROMIUM, *options, "--dump-dom", path.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line], done.stderr
    assert "<title>ERROR" not in done.stdout
    found = re.search(r'data-found="([^"]*)"', done.stdout)
    assert found is not None
    return json.loads(markup.unescape(found[1]))


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
    assert html.count('data-tip="RECN, spacing &lt;m&gt; 150: claimed 123.5 kb/s"') == 2
    assert html.count('data-series="1 printed"') == 4
    assert "number of a claim</button>" in html
    assert "(claimed 123.5)" in html


def test_the_channels_bound_is_drawn_where_it_is_known(result, tmp_path, monkeypatch):
    monkeypatch.setattr("multihop.claims.judging._possible", lambda *_: 200.0)
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
    words = ("Because <of> this.", "Somebody: A <paper>. 2017.", "Second <b>paragraph</b>.", "no run has a value")
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
    assert "quick look" in page
    assert "multihop study run study.toml --quick" in page
    page = write_study([study.result(tmp_path / "runs")], tmp_path / "partial.html")[0].read_text()
    assert "16 runs are still missing" in page
    assert "study.toml --quick" not in page


def test_the_page_never_replaces_what_it_is_made_from(result, folder):
    for name in ("small.toml", "chain.toml"):
        with pytest.raises(UserError, match="which would be lost"):
            write_study([result], folder / name)
    assert (folder / "small.toml").read_text() == STUDY


def test_the_same_runs_make_the_same_page(result, written, tmp_path):
    about = "Somebody: A <paper>. 2017."
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
        ({"metric": "goodput", "x": "distance", "x_metric": "speed"}, "no metric 'speed'"),
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


def test_a_browser_draws_every_chart(html, result, tmp_path):
    found = browse(
        html,
        tmp_path,
        """
        const charts = [...document.querySelectorAll("figure.chart-box")];
        const wide = (chart) => chart.getBBox().width > 100;
        return {
          drawn: charts.filter((f) => [...f.querySelectorAll("svg.chart")].every(wide)).length,
          titles: document.querySelectorAll(".tip > title").length,
          wide: document.documentElement.scrollWidth <= window.innerWidth,
        };
        """,
    )
    assert found == {"drawn": len(result.study.spec.charts), "titles": 0, "wide": True}


def test_a_legend_entry_hides_its_series_in_all_panels(html, tmp_path):
    found = browse(
        html,
        tmp_path,
        """
        const figure = document.querySelector("figure.chart-box");
        const parts = (name) => [...figure.querySelectorAll(`svg.chart [data-series~="${name}"]`)];
        const shown = (name) => parts(name).filter((p) => getComputedStyle(p).display !== "none").length;
        const other = document.querySelectorAll("figure.chart-box")[1];
        const button = figure.querySelector('[data-switch="1"]');
        const counts = [shown(0), shown(1), shown("printed")];
        button.focus();
        const dimmed = parts(0).every((p) => p.classList.contains("dim"));
        button.click();
        const after = [shown(0), shown(1), shown("printed"), button.getAttribute("aria-pressed")];
        button.click();
        const again = [shown(0), shown(1), shown("printed"), button.getAttribute("aria-pressed")];
        return { counts, dimmed, after, again, elsewhere: other.querySelectorAll(".off").length, tag: button.tagName };
        """,
    )
    zero, one, printed = found["counts"]
    assert zero > 0
    assert one > printed == 4
    assert found["dimmed"]
    # The paper's numbers for a series are hidden with it.
    assert found["after"] == [zero, 0, 0, "false"]
    assert found["again"] == [zero, one, printed, "true"]
    assert found["elsewhere"] == 0
    assert found["tag"] == "BUTTON"


def test_arrow_keys_go_through_points(html, tmp_path):
    found = browse(
        html,
        tmp_path,
        """
        const chart = document.querySelector("svg.chart");
        const press = (key) => {
          chart.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
          const box = document.getElementById("tooltip");
          return box.hidden ? null : box.textContent;
        };
        chart.focus();
        const reported = [press("ArrowRight"), press("ArrowRight"), press("ArrowLeft"), press("Escape")];
        return { reported, focus: document.activeElement === chart };
        """,
    )
    assert found["focus"]
    first, second, back, closed = found["reported"]
    assert "spacing <m> 150" in first
    assert second not in (None, first)
    assert back == first
    assert closed is None


def test_a_phone_shows_it_without_scrolling_sideways(html, tmp_path):
    # Windows have a least width in headless Chromium, frames have not.
    frame = f'<!DOCTYPE html><body><iframe width="360" height="900" srcdoc="{markup.escape(html)}"></iframe>'
    if CHROMIUM is None:
        pytest.skip("needs chromium to open the report")
    path = tmp_path / "phone.html"
    act = (
        "<script>window.addEventListener('load', () => { const d = document.querySelector('iframe').contentDocument;"
        "document.documentElement.dataset.found = d.documentElement.scrollWidth; });</script>"
    )
    path.write_text(frame + act)
    options = [*CHROMIUM_OPTIONS, f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run(
        [CHROMIUM, *options, "--dump-dom", path.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    found = re.search(r'data-found="(\d+)"', done.stdout)
    assert found is not None
    assert int(found[1]) <= 360


def test_panels_share_a_cursor_and_a_name_is_lifted_in_every_chart(html, tmp_path):
    act = """
        const figures = [...document.querySelectorAll("figure.chart-box")];
        const title = (each) => each.querySelector("figcaption b").textContent;
        const figure = (begins) => figures.find((each) => title(each).startsWith(begins));
        const first = figure("Goodput <over>");
        const chart = first.querySelector("svg.chart");
        const box = chart.getBoundingClientRect();
        const at = { clientX: box.left + 0.95 * box.width, clientY: box.top + box.height / 2, bubbles: true };
        chart.dispatchEvent(new PointerEvent("pointermove", at));
        const said = [...first.querySelectorAll(".readout")].map((each) => each.textContent);
        const elsewhere = figure("Nothing").querySelector(".readout").textContent;
        const button = [...first.querySelectorAll("[data-switch]")].find((each) => each.textContent === "RECN");
        button.dispatchEvent(new PointerEvent("pointerenter"));
        const dim = (begins) => figure(begins).querySelectorAll(".dim").length;
        const lifted = [dim("Goodput"), dim("Bars"), dim("Delay")];
        button.dispatchEvent(new PointerEvent("pointerleave"));
        const files = figures.map((each) => each.querySelectorAll(".below button[aria-label$=CSV]").length);
        const zooms = figures.filter((each) => each.querySelector(".below button[aria-label^=Zoom]")).length;
        return { said, elsewhere, lifted, left: document.querySelectorAll(".dim").length, files, zooms };
    """
    found = browse(html, tmp_path, act)
    assert len(found["said"]) == 2
    for said in found["said"]:
        assert said.startswith("spacing <m> 200")
        assert "<b>none</b>" in said
        assert "RECN" in said
    assert found["elsewhere"] == "", "no run has a value there"
    assert found["lifted"][0] > 0
    assert found["lifted"][1] > 0
    assert found["lifted"][2] == 0, "it has no series of that name"
    assert found["left"] == 0
    assert found["files"] == [1] * 6
    assert found["zooms"] == 1
