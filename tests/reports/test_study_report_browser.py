"""The report of a study in a browser: charts, legends, keys and cursors work, on a phone too."""

import html as markup
import json
import re
import subprocess

import pytest

from multihop.experiments.studies import Study
from multihop.report.study import write_study
from small_study import write_small_study
from test_report import CHROMIUM, CHROMIUM_OPTIONS


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = write_small_study(tmp_path_factory.mktemp("study"))
    return Study.load(folder / "small.toml").run(folder / "runs")


@pytest.fixture(scope="module")
def html(result, tmp_path_factory):
    return write_study([result], tmp_path_factory.mktemp("page") / "report.html")[0].read_text()


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
