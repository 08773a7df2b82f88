"""Charts of a report in a browser: one cursor, one zoom, picks that are lit everywhere, files; links to the viewer."""

import csv
import json
import re
import xml.etree.ElementTree as ET
from contextlib import contextmanager
from urllib.parse import parse_qs

import pytest

import multihop
from browser import LOCAL
from conftest import CHAIN, SCENARIOS
from multihop.report import page as report_page

#: Names that HTML would take for markup.
ODD = CHAIN.replace('name = "long"', 'name = "<b>long</b>, a"').replace('duration = "5 s"', 'duration = "8 s"')


@pytest.fixture(scope="module")
def comparison():
    return multihop.compare(ODD, ["tcp-newreno", "recn"], seeds=2)


@pytest.fixture(scope="module")
def hidden(tmp_path_factory):
    """The report of a run with its frame log, and the log."""
    folder = tmp_path_factory.mktemp("hidden")
    log = folder / "hidden.frames"
    run = multihop.run(SCENARIOS / "hidden-terminal.toml", duration="6 s", warmup="1 s", frames=log)
    comparison = multihop.Comparison(run.scenario, {"scenario": (run,)})
    return comparison.report(folder / "report.html", log), multihop.frames(log)


@pytest.fixture(scope="module")
def tab(browser, tmp_path_factory, comparison):
    """The open report; in the end nothing may have been written to the console, or asked of a network."""
    path = comparison.report(tmp_path_factory.mktemp("linked") / "report.html")
    with opened(browser, path.as_uri()) as page:
        yield page


@contextmanager
def opened(browser, address):
    made = browser.new_page(viewport={"width": 1280, "height": 900})
    wrong = []
    made.on("console", lambda message: wrong.append(message.text))
    made.on("pageerror", lambda error: wrong.append(str(error)))
    made.on("request", lambda asked: None if asked.url.startswith(LOCAL) else wrong.append(asked.url))
    made.goto(address)
    yield made
    made.close()
    assert not wrong


def over_time(tab):
    """The chart over time, in sight, and where it is."""
    chart = tab.locator('svg[aria-label="Goodput over time: all flows"]')
    chart.scroll_into_view_if_needed()
    return chart, chart.bounding_box()


def said(tab):
    return tab.locator("#figure-goodput-time .readout").first.inner_text()


def ticks(chart):
    """The numbers at the axis that are shown."""
    shown = "(axis) => [...axis.querySelectorAll('text')].filter((text) => text.style.display !== 'none')"
    shown += ".map((text) => text.textContent)"
    texts = chart.locator("[id$='panel0-x']").evaluate(shown)
    return [float(text) for text in texts if text != "time [s]"]


def test_a_cursor_says_what_series_have_and_zoom_stretches_them(tab, comparison):
    chart, box = over_time(tab)
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.2)
    lines = said(tab).splitlines()
    time = float(re.search(r"time ([\d.]+) s", lines[0])[1])
    assert time == pytest.approx(4, abs=0.5)
    series = comparison.series
    there = series[(series["variant"] == "recn") & ((series["time_s"] - time).abs() < 1e-9)]
    total = there.groupby("seed")["goodput_bps"].sum().mean() / 1e6
    assert f"recn {total:.4g}".rstrip("0") in lines[1]
    assert "goodput [Mb/s]:" in lines[1]
    cursors = tab.locator("#figure-window-time line.cursor[visibility=visible]")
    assert cursors.count() == 2, "the windows of both flows have it"

    before = ticks(chart)
    tab.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.2)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.25, steps=3)
    tab.mouse.up()
    after = ticks(chart)
    assert len(after) > 3
    assert 0.3 < max(after) - min(after) < 1.0, "a tenth of eight seconds"
    assert chart.locator("g[transform*='scale']").count() > 4
    chart.focus()
    tab.keyboard.press("ArrowRight")
    assert "time" in said(tab)
    tab.keyboard.press("0")
    assert ticks(chart) == before
    tab.keyboard.press("Escape")
    assert said(tab) == ""


def test_what_is_picked_is_lit_everywhere(tab):
    tab.select_option("select[aria-label='Light up a flow']", label="<b>long</b>, a")
    dim = "[...document.querySelectorAll('[data-of].dim')].map((part) => part.dataset.of)"
    dimmed = tab.evaluate(dim)
    assert any("f1" in of.split() for of in dimmed)
    assert not any("f0" in of.split() for of in dimmed)
    assert tab.evaluate("location.hash") == "#flow=%3Cb%3Elong%3C%2Fb%3E%2C+a"
    tab.select_option("select[aria-label='Light up a scheme']", label="recn")
    tab.select_option("select[aria-label='Light up a node']", label="n1")
    dimmed = [set(of.split()) for of in tab.evaluate(dim)]
    assert {"v0"} in dimmed
    assert {"n0"} in dimmed
    assert {"v1"} not in dimmed
    assert {"v1", "n1"} not in dimmed
    tab.get_by_role("button", name="clear").click()
    assert tab.evaluate(dim) == []
    # A click on a bar picks its flow, a second one lets it go.
    bar = tab.locator("[data-of='v1 f1'].tip").first
    bar.click()
    assert tab.evaluate("document.querySelector(\"select[aria-label='Light up a flow']\").value") == "1"
    bar.click()
    assert tab.evaluate(dim) == []


def test_a_chart_is_a_file_of_numbers_and_a_picture(tab, comparison, tmp_path):
    def saved(kind, name):
        with tab.expect_download() as waiting:
            tab.locator(f"button[aria-label*='{name}'][aria-label$='{kind}']").click()
        waiting.value.save_as(tmp_path / waiting.value.suggested_filename)
        return (tmp_path / waiting.value.suggested_filename).read_text("utf-8")

    rows = list(csv.DictReader(saved("CSV", "Goodput of each flow").splitlines()))
    flows = comparison.flows
    assert (rows[0]["series"], rows[0]["place"]) == ("tcp-newreno", "<b>long</b>, a")
    for row in rows:
        mine = flows[(flows["variant"] == row["series"]) & (flows["name"] == row["place"])]["goodput_bps"]
        assert float(row["value"]) == pytest.approx(mine.mean() / 1e6, rel=1e-6)
        assert float(row["low"]) < float(row["value"]) < float(row["high"])
    picture = ET.fromstring(saved("SVG", "Congestion window over time"))
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    text = ET.tostring(picture, "unicode")
    assert not re.search(r"currentcolor|var\(", text, re.IGNORECASE)
    words = [part.text for part in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert words[:4] == ["tcp-newreno", "recn", "95 % interval", "warm-up"], "the legend is in it"
    assert words.count("window [kB]") == 2, "a picture for each flow"


def test_without_scripts_it_is_whole(browser, tmp_path, comparison):
    path = comparison.report(tmp_path / "report.html")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator("svg.chart").count() > 15
    assert page.locator(".picks, .readout, .below button").count() == 0
    context.close()


def test_numbers_in_the_page_end_no_element():
    text = CHAIN.replace('"long"', '"</script><script>alert(1)</script>"')
    html = report_page(multihop.compare(text, ["udp"], seeds=1))
    assert "<script>alert" not in html
    for holder in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', html, re.DOTALL):
        json.loads(holder)


def test_why_a_flow_starves_is_seen_from_its_sentence(browser, hidden):
    path, frames = hidden
    with opened(browser, path.as_uri()) as tab:
        tab.wait_for_function("document.querySelector('[data-frames]').viewer")
        tab.click("summary >> text=/^left/")
        sentence = tab.locator("li", has_text="were destroyed at n1 by n2")
        link = sentence.locator("a")
        place = {name: values[0] for name, values in parse_qs(link.get_attribute("href")[1:]).items()}
        frame = frames[frames["start"] == round(float(place["t"]) * 1e9)].iloc[0]
        assert (frame["from"], frame["to"], frame["collided"], frame["overlap"]) == ("n0", "n1", "n2", "hidden")
        assert frame["start"] >= 1e9, "it is after the warm-up"
        link.click()
        words = tab.locator(".viewer-words")
        words.get_by_role("heading", name=f"Packet {frame['packet']} of left").wait_for()
        current = words.locator("li[aria-current]")
        current.wait_for()
        assert float(current.get_attribute("data-time")) == frame["start"]
        assert "collided with a frame of n2, which its sender does not sense: a hidden terminal" in current.inner_text()
        assert 0 <= tab.evaluate("document.querySelector('[data-frames]').getBoundingClientRect().top") < 200
        # The charts follow the viewer, and the viewer the charts.
        assert tab.evaluate("document.querySelector(\"select[aria-label='Light up a flow']\").value") == "0"
        tab.select_option("select[aria-label='Light up a flow']", label="right")
        assert tab.evaluate("document.querySelector('[data-frames]').viewer.state.flow") == 1
        # What no frame shows, such as how long links are busy together, leads nowhere.
        assert 3 < tab.locator(".explained li a.seen").count() < tab.locator(".explained li").count()


#: Whether tables that are wider than the page say so, and no others.
WIDE = """(isWide) => {
  const places = [...document.querySelectorAll(".scroll")].filter((place) => place.checkVisibility());
  const wide = places.filter((place) => place.scrollWidth > place.clientWidth + 1);
  const said = places.filter((place) => getComputedStyle(place, "::before").content.includes("scroll sideways"));
  return wide.length > 0 === isWide && wide.length === said.length && wide.every((place) => said.includes(place));
}"""

#: Of each chart its right edge, and the height of its smallest text, in pixels.
CHARTS = """() => [...document.querySelectorAll("svg.chart")].map((chart) => {
  const box = chart.getBoundingClientRect();
  const scale = box.width / chart.viewBox.baseVal.width;
  const sizes = [...chart.querySelectorAll("text")].map((text) => scale * parseFloat(getComputedStyle(text).fontSize));
  return [box.right, Math.min(...sizes)];
})"""


def test_on_a_phone_charts_wrap_and_tables_that_are_wider_say_so(browser, tmp_path, comparison):
    path = comparison.report(tmp_path / "report.html")
    with opened(browser, path.as_uri()) as page:
        for width in (400, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_function(WIDE, arg=width == 400, timeout=5000)
            charts = page.evaluate(CHARTS)
            assert len(charts) > 15
            assert max(right for right, _ in charts) <= width, "no chart is wider than the page"
            assert min(size for _, size in charts) >= 9
