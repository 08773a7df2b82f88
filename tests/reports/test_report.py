"""The report: complete, self-contained, and without errors in a browser."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

import multihop
from conftest import CHAIN, SCENARIOS
from multihop.experiments import comparisons
from multihop.explanation import explain
from multihop.optima.optimum import optimum
from multihop.report import page, topology

CHROMIUM = next((p for name in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(name))), None)
CHROMIUM_OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--virtual-time-budget=2000",
]


@pytest.fixture(scope="module")
def comparison():
    return multihop.compare(CHAIN, ["tcp-newreno", "tcp-sack", "recn"], seeds=3)


@pytest.fixture(scope="module")
def html(comparison):
    return page(comparison)


class Outline(HTMLParser):
    """Tags, and those that are left open."""

    VOID = frozenset({"meta", "link", "br"})

    def __init__(self):
        super().__init__()
        self.open = []
        self.ids = []
        self.tips = []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.tips += [attributes["data-tip"]] if "data-tip" in attributes else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        pass


def test_nothing_is_fetched(html):
    assert not re.findall(r"""(?:src|href|action|data)\s*=\s*["'](?!#|data:)[^"']""", html)
    assert not re.findall(r"url\((?!#)", html)
    assert not re.findall(r"@import|fetch\(|XMLHttpRequest|WebSocket|import\(", html)
    assert "http://" not in html
    assert "https://" not in html


def test_the_page_is_well_formed_and_ids_are_distinct(html):
    outline = Outline()
    outline.feed(html)
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))


def test_every_chart_is_valid_xml_without_fixed_colours_of_text(html):
    charts = re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL)
    assert len([chart for chart in charts if 'class="chart' in chart]) > 20
    for chart in charts:
        ET.fromstring(chart)
        assert "#010203" not in chart
        assert "DejaVu" not in chart


def test_it_says_what_was_found(html, comparison):
    for sentence in comparison.verdict():
        head, _, rest = sentence.partition(":")
        assert head in html
        assert rest.strip()[:40] in html
    for words in ("tcp-newreno", "tcp-sack", "recn", "95 % interval", "Jain", "queue", "multihop compare"):
        assert words in html
    assert CHAIN.strip().splitlines()[0].replace('"', "&quot;") in html
    assert comparison.results["recn"][0].view["hash"] in html or len(
        {r[0].view["hash"] for r in comparison.results.values()}
    ) == len(comparison.variants)


def test_tooltips_carry_numbers(html):
    outline = Outline()
    outline.feed(html)
    assert any("long" in tip and "Mb/s" in tip for tip in outline.tips)
    assert any("transmitting" in tip and "%" in tip for tip in outline.tips)
    assert any(tip.startswith("flow long (3 hops): n0 > n1 > n2 > n3") for tip in outline.tips)


def test_names_cannot_inject_markup():
    text = CHAIN.replace('"small-chain"', '"<script>alert(1)</script>"').replace('"long"', '"<b>&x</b>"')
    html = page(multihop.compare(text, ["tcp-newreno"], seeds=1))
    assert "<script>alert" not in html
    assert "<b>&x" not in html


def test_the_same_runs_make_the_same_report(html):
    again = multihop.compare(CHAIN, ["tcp-newreno", "tcp-sack", "recn"], seeds=3, jobs=1)
    assert page(again) == html


@pytest.mark.parametrize("schemes", [["udp"], ["udp", "tcp-newreno"]])
def test_reports_of_flows_without_a_window(schemes):
    assert "<svg" in page(multihop.compare(CHAIN, schemes, seeds=1))


def test_a_run_has_a_report(tmp_path):
    path = multihop.run(CHAIN).report(tmp_path / "run.html")
    assert "one seed, so no interval" in path.read_text()


def test_charts_as_files_of_their_own(comparison, tmp_path):
    paths = comparison.figures(tmp_path / "figures")
    names = ["goodput-delay", "goodput-flows", "delay-cdf", "metrics", "losses", "goodput-time", "rtt-time"]
    assert [path.name for path in paths] == [f"{name}.svg" for name in (*names, "window-time", "airtime")]
    for path in paths:
        text = path.read_text()
        assert ET.fromstring(text.encode()).tag == "{http://www.w3.org/2000/svg}svg"
        assert "currentColor" not in text
        assert "var(" not in text


def test_a_report_computes_the_optimum_of_each_variant_once(monkeypatch):
    asked = []
    monkeypatch.setattr(comparisons, "optimum", lambda *args: asked.append(args) or optimum(*args))
    monkeypatch.setattr(explain, "optimum", comparisons.optimum)
    assert "What holds flows back" in page(
        multihop.compare(SCENARIOS / "hidden-terminal.toml", ["tcp-newreno"], seeds=1)
    )
    assert len(asked) == 1


def test_nodes_without_positions_are_laid_out():
    links = [(i, j, 1.0) for i in range(30) for j in range(30) if abs(i - j) == 1]
    nodes = [{"name": f"w{i}", "x": None, "y": None, "moves": False} for i in range(30)]
    view = {"nodes": nodes, "links": links, "flows": []}
    drawing = ET.fromstring(topology.Topology(view).picture())
    places = {(c.get("cx"), c.get("cy")) for c in drawing.iter("circle")}
    assert len(places) == 30, "no two nodes on one spot"
    assert "no positions" in topology.Topology(view).caption()


def test_a_browser_shows_it_without_errors(html, tmp_path):
    if CHROMIUM is None:
        pytest.skip("needs chromium to open the report")
    path = tmp_path / "report.html"
    # Errors of the page reach the document's title, where the dumped page shows them.
    watch = "<script>window.addEventListener('error', (e) => { document.title = 'ERROR ' + e.message; });</script>"
    path.write_text(html.replace("<head>", "<head>" + watch))
    shot = tmp_path / "report.png"
    base = [CHROMIUM, *CHROMIUM_OPTIONS, f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1200,4000"]
    dumped = subprocess.run(
        [*base, "--dump-dom", path.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    assert "<title>small-chain - multihop</title>" in dumped.stdout
    assert not [line for line in dumped.stderr.splitlines() if "CONSOLE" in line]
    assert 'class="tip" data-tip' in dumped.stdout
    assert "<title>flow" not in dumped.stdout, "the script took over the tooltips"
    subprocess.run([*base, f"--screenshot={shot}", path.as_uri()], capture_output=True, timeout=120, check=True)
    assert shot.stat().st_size > 50_000
