"""The viewer in a browser, without errors on the console."""

import itertools
import re

import pytest

import multihop
from conftest import SCENARIOS
from multihop.framelog import packed, read
from multihop.report.viewer import page

#: A chain of thirty nodes.
ROW = """
duration = "1 s"
warmup = "0 s"
[topology]
generator = "chain"
hops = 29
spacing = "200 m"
[[flows]]
from = "n0"
to = "n2"
scheme = "udp"
"""


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("viewer") / "hidden.frames"
    multihop.run(SCENARIOS / "hidden-terminal.toml", duration="5 s", warmup="0 s", frames=path)
    return path


def opened(browser, tmp_path, data, *, fragment="", width=1280, dark=False):
    file = tmp_path / "page.html"
    file.write_text(page(data, "hidden <b>terminal</b>"), encoding="utf-8")
    tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light")
    tab.said = []
    tab.on("console", lambda message: tab.said.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: tab.said.append(str(error)))
    tab.goto(file.as_uri() + fragment)
    return tab


#: Returns the columns of all tables, with one row per packet of an aggregate.
TABLES = """() => {
  const { tables, aggregates } = document.querySelector(".viewer-host").viewer.model;
  const mapped = (object, to) => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, to(value)]));
  const { start, from } = tables.transmissions.columns;
  const mpdus = { start: [], from: [], flow: [], carries: [], packet: [], outcome: [] };
  start.forEach((at, row) => aggregates.of(row).forEach((packet) => {
    const all = { start: at, from: from[row], ...packet };
    Object.entries(all).forEach(([column, value]) => mpdus[column].push(value));
  }));
  return { ...mapped(tables, (table) => mapped(table.columns, (values) => Array.from(values))), mpdus };
}"""

#: Returns controls without an accessible name.
NAMELESS = """() => [...document.querySelectorAll("button, select, input, canvas")]
    .filter((each) => !(each.labels?.length || each.getAttribute("aria-label") || each.textContent.trim()))
    .map((each) => each.outerHTML.slice(0, 80))"""


def shown(tab):
    """Returns the visible interval in seconds."""
    tab.wait_for_timeout(300)
    return [float(text) for text in re.findall(r"([\d.]+) s(?= to| \()", tab.locator(".viewer-status").inner_text())]


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (400, False), (1280, True)])
def test_it_opens_zooms_and_follows_a_packet(browser, tmp_path, log, width, dark):
    tab = opened(browser, tmp_path, packed(log).data, width=width, dark=dark)
    tab.wait_for_selector(".viewer canvas")
    opened_at = shown(tab)
    assert opened_at[1] - opened_at[0] < 0.5
    tab.keyboard.press("0")
    assert shown(tab) == [0, 5]
    tab.keyboard.press("c")
    assert shown(tab) != [0, 5], "the viewer has the keyboard focus without a click"
    tab.keyboard.press("0")
    tab.get_by_role("button", name="next collision").click()
    first, last = shown(tab)
    assert last - first < 0.1
    tab.locator(".viewer > canvas").focus()
    tab.keyboard.press("n")
    tab.keyboard.press("+")
    assert sum(shown(tab)) > 0
    words = tab.locator(".viewer-words")
    assert "hidden terminal" in words.inner_text()
    assert words.locator("li").count() > 1
    assert "packet=" in tab.evaluate("location.hash"), "the address contains the packet"
    tab.keyboard.press("0")
    assert shown(tab) == [0, 5]
    search = tab.get_by_role("searchbox")
    found = {"right": "flow === 1", "n2": "node === 2", "1.25 s": "at === 1.25e9", "left#7": "packet.packet === 7"}
    for text, state in found.items():
        search.fill(text)
        search.press("Enter")
        assert tab.evaluate(f"document.querySelector('.viewer-host').viewer.state.{state}"), text
    search.fill("nobody")
    search.press("Enter")
    assert "Found no flow, node, packet or time nobody." in words.inner_text()
    assert tab.evaluate(NAMELESS) == []
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (
        "no element is wider than the page"
    )
    assert tab.locator("h1").inner_text() == "hidden <b>terminal</b>"
    assert tab.said == []


#: Returns the visible interval, the cursor, tracks, lanes and the number of visible transmissions.
STATE = """() => {
  const { viewer } = document.querySelector(".viewer-host");
  const { from, to, at, tracks, nodes } = viewer.state;
  const [first, last] = viewer.model.range(from, to);
  return { from, to, at, tracks, nodes: nodes.map((node) => viewer.model.name(node)), count: last - first };
}"""

#: A wired host that sends datagrams to a station; the first second is warm-up.
WIRED = """
duration = "4 s"
warmup = "1 s"
[topology]
nodes = [
    { name = "host" },
    { name = "station", position = ["100 m", "0 m"] },
    { name = "router", position = ["0 m", "0 m"] },
]
[[topology.wires]]
between = ["host", "router"]
rate = "1 Mb/s"
delay = "1 ms"
[[flows]]
from = "host"
to = "station"
scheme = "udp"
app = { kind = "cbr", rate = "200 kb/s", packet = "1000 B" }
"""


def test_the_page_opens_at_the_first_event_after_the_warm_up(browser, tmp_path):
    path = tmp_path / "hidden.frames"
    multihop.run(SCENARIOS / "hidden-terminal.toml", duration="5 s", warmup="2 s", frames=path)
    tab = opened(browser, tmp_path, packed(path).data)
    tab.wait_for_selector(".viewer canvas")
    state = tab.evaluate(STATE)
    sent = multihop.frames(path)
    first = sent[(sent["start"] >= 2e9) & (sent["outcome"] == "collision")].iloc[0]
    assert state["at"] == first["start"]
    assert state["from"] < first["start"] < state["to"]
    assert 30 <= state["count"] <= 60
    words = tab.locator(".viewer-words")
    assert "the first collision after the warm-up" in words.inner_text()
    assert state["tracks"] == ["queue", "rate"], "UDP has neither windows nor round-trip times"
    assert tab.locator(".viewer-legend", has_text="windows").count() == 0
    tab.get_by_role("button", name="all").click()
    assert shown(tab) == [0, 5]


def test_without_events_the_page_opens_after_the_warm_up_and_omits_empty_tracks(browser, tmp_path):
    path = tmp_path / "wired.frames"
    multihop.run(WIRED, frames=path)
    tab = opened(browser, tmp_path, packed(path).data)
    tab.wait_for_selector(".viewer canvas")
    state = tab.evaluate(STATE)
    sent = multihop.frames(path)
    assert state["at"] == sent.loc[sent["start"] >= 1e9, "start"].iloc[0]
    assert 30 <= state["count"] <= 60
    assert state["nodes"] == ["station", "router"], "the host has no radio"
    assert state["tracks"] == ["rate"]
    assert "the first transmission after the warm-up" in tab.locator(".viewer-words").inner_text()
    tab.select_option("select[aria-label='all nodes']", label="host")
    assert tab.evaluate("document.querySelector('.viewer-host').viewer.state.scroll") == 0
    assert tab.said == []


def test_a_short_log_is_shown_whole(browser, tmp_path):
    path = tmp_path / "short.frames"
    multihop.run(WIRED, duration="1 s", warmup="0 s", set={"flows[0].app.rate": "40 kb/s"}, frames=path)
    tab = opened(browser, tmp_path, packed(path).data)
    tab.wait_for_selector(".viewer canvas")
    assert shown(tab) == [0, 1]


def test_a_click_on_a_frame_follows_its_packet(browser, tmp_path, log):
    frame = multihop.frames(log).query("kind == 'data' and outcome == 'arrived'").iloc[3]
    middle = (frame.start + frame.airtime / 2) / 1e9
    tab = opened(browser, tmp_path, packed(log).data, fragment=f"#t={middle}&span=0.02")
    tab.wait_for_selector(".viewer canvas")
    shown(tab)
    canvas = tab.locator(".viewer > canvas")
    box = canvas.bounding_box()
    lane = [
        node["name"] for node in tab.evaluate("document.querySelector('.viewer-host').viewer.model.head.nodes")
    ].index(frame["from"])
    canvas.click(position={"x": 110 + (box["width"] - 110) / 2, "y": 22 + lane * 26 + 12})
    words = tab.locator(".viewer-words").inner_text()
    assert f"Packet {frame.packet} of {frame.flow}" in words
    assert "The packet was delivered to n1." in words


def test_a_link_contains_the_position_and_the_flow(browser, tmp_path, log):
    tab = opened(browser, tmp_path, packed(log).data, fragment="#t=2.5&span=0.1&flow=right")
    tab.wait_for_selector(".viewer canvas")
    assert shown(tab) == pytest.approx([2.45, 2.55], abs=1e-3)
    assert tab.evaluate("location.hash").endswith("flow=right")
    assert tab.evaluate("document.querySelector('.viewer-host').viewer.state.flow") == 1


def test_many_nodes_can_be_scrolled_and_print_on_white(browser, tmp_path):
    path = tmp_path / "row.frames"
    multihop.run(ROW, frames=path)
    tab = opened(browser, tmp_path, packed(path).data, dark=True)
    tab.wait_for_selector(".viewer canvas")
    shown(tab)
    status = tab.locator(".viewer-status")
    assert "nodes 1 to 24 of 30" in status.inner_text()
    tab.get_by_role("button", name="\u2193").click()
    box = tab.locator(".viewer > canvas").bounding_box()
    tab.mouse.move(box["x"] + 400, box["y"] + 300)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 400, box["y"] + 272, steps=4)
    tab.mouse.up()
    shown(tab)
    assert "nodes 7 to 30 of 30" in status.inner_text(), "five by the button, one by dragging"
    corner = (
        "[...document.querySelector('.viewer > canvas').getContext('2d').getImageData(1, 1, 1, 1).data.slice(0, 3)]"
    )
    assert max(tab.evaluate(corner)) < 50
    tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate(corner) == [255, 255, 255]
    assert tab.said == []


@pytest.mark.parametrize("width", [1280, 400])
def test_labels_of_the_axis_do_not_overlap(browser, tmp_path, log, width):
    tab = opened(browser, tmp_path, packed(log).data, width=width)
    tab.wait_for_selector(".viewer canvas")
    for length in (5e9, 1.3e8, 2e4, 1e3):
        labels = tab.evaluate(
            """(length) => {
          const { viewer } = document.querySelector(".viewer-host");
          viewer.show(1.1e9, 1.1e9 + length);
          const canvas = CanvasRenderingContext2D.prototype;
          const { fillText } = canvas;
          const found = [];
          canvas.fillText = function (text, x, y) {
            const half = this.measureText(text).width / 2;
            const isLabel = this.canvas === viewer.canvas && this.textAlign === "center";
            if (isLabel) found.push([Number(text), x - half, x + half]);
            fillText.call(this, text, x, y);
          };
          viewer.drawNow();
          canvas.fillText = fillText;
          return found;
        }""",
            length,
        )
        assert (1 if width == 400 else 8) <= len(labels) <= 30
        for (one, _, right), (other, left, _) in itertools.pairwise(labels):
            assert one < other
            assert left - right > 20


#: Returns the texts on the canvas.
WRITTEN = """() => {
  const canvas = CanvasRenderingContext2D.prototype;
  const { fillText } = canvas;
  const found = [];
  canvas.fillText = function (text, x, y) {
    found.push(text);
    fillText.call(this, text, x, y);
  };
  document.querySelector(".viewer-host").viewer.drawNow();
  canvas.fillText = fillText;
  return found;
}"""


def test_no_number_of_a_scale_is_truncated(browser, tmp_path):
    """A truncated number is wrong: at 400 px the rate of 802.11ax, 1080 Mb/s, was shown as `10...`."""
    path = tmp_path / "ax.frames"
    multihop.run(SCENARIOS / "wlan-11ax.toml", duration="2 s", warmup="0 s", frames=path)
    tab = opened(browser, tmp_path, packed(path).data, width=400)
    tab.wait_for_selector(".viewer canvas")
    written = tab.evaluate(WRITTEN)
    assert "\u2264 1080" in written
    assert not [text for text in written if re.match(r"(max|\u2264) .*\u2026", text)]
    assert tab.said == []


def test_airtimes_of_lanes_equal_those_of_the_log(browser, tmp_path, log):
    tab = opened(browser, tmp_path, packed(log).data)
    tab.wait_for_selector(".viewer canvas")
    sums = tab.evaluate("document.querySelector('.viewer-host').viewer.model.lane.map((lane) => lane.airtime)")
    frames = multihop.frames(log)
    assert sums == [frames.loc[frames["from"] == name, "airtime"].sum() for name in ("n0", "n1", "n2")]


def test_a_packet_of_an_aggregate_has_its_own_outcome(browser, tmp_path):
    path = tmp_path / "ax.frames"
    multihop.run(SCENARIOS / "wlan-11ax.toml", duration="2 s", warmup="0 s", frames=path)
    log = read(path)
    packets = log.in_words(log.tables["mpdus"])
    lost = packets[(packets["outcome"] == "channel") & (packets["carries"] == "data")].iloc[0]
    again = packets[
        (packets["packet"] == lost.packet) & (packets["flow"] == lost.flow) & (packets["carries"] == "data")
    ]
    arrived = again[again["outcome"] == "arrived"].iloc[0]
    together = (packets["start"] == lost.start).sum()
    assert arrived.start > lost.start
    tab = opened(browser, tmp_path, packed(path).data)
    tab.wait_for_selector(".viewer canvas")
    search = tab.get_by_role("searchbox")
    search.fill(f"{lost.flow}#{lost.packet}")
    search.press("Enter")
    lines = tab.locator(".viewer-words li").all_inner_texts()
    first = next(line for line in lines if line.startswith(f"{lost.start / 1e9:.6f} s"))
    assert f"DATA of packet {lost.packet} of {lost.flow} and {together - 1} more" in first
    assert "but this packet was lost to noise" in first
    delivered = next(line for line in lines if "was delivered" in line)
    assert float(delivered.split()[0]) > arrived.start / 1e9


@pytest.mark.parametrize("scenario", ["wlan-11ac", "mesh-demo", "aodv-chain", "wlan-rates"])
def test_the_page_reads_what_python_reads(browser, tmp_path, scenario):
    path = tmp_path / f"{scenario}.frames"
    multihop.run(SCENARIOS / f"{scenario}.toml", duration="3 s", warmup="0 s", frames=path)
    tab = opened(browser, tmp_path, packed(path).data)
    tab.wait_for_selector(".viewer canvas")
    tables = tab.evaluate(TABLES)
    log = read(path)
    assert len(log.tables["transmissions"]) > 1000
    for name, table in log.tables.items():
        for column in table:
            assert tables[name][column] == table[column].tolist(), f"{name}.{column}"


@pytest.mark.parametrize("data", [lambda whole: whole[:500], lambda _: b"something else entirely", lambda _: b""])
def test_a_page_without_a_log_shows_an_error(browser, tmp_path, log, data):
    tab = opened(browser, tmp_path, data(packed(log).data))
    tab.wait_for_selector(".viewer-error")
    assert "The page contains no readable frame log." in tab.locator("body").inner_text()
    assert tab.said == []


def test_a_truncated_log_shows_an_error(browser, tmp_path, log):
    tab = opened(browser, tmp_path, packed(log).data[:-500])
    tab.wait_for_selector(".viewer-error")
    assert "The frame log is damaged: column " in tab.locator("body").inner_text()
    assert tab.said == []


#: Returns all rows that "next" visits, from the first transmission on.
VISITED = """(event) => {
  const { viewer } = document.querySelector(".viewer-host");
  const { model, state } = viewer;
  Object.assign(state, { at: model.start[0], picked: -1 });
  viewer.last = undefined;
  const rows = [];
  for (;;) {
    const before = viewer.last;
    viewer.next(event);
    if (viewer.last === before) return rows;
    rows.push(viewer.last.row);
  }
}"""


def test_next_visits_every_event(browser, tmp_path):
    path = tmp_path / "mesh.frames"
    multihop.run(SCENARIOS / "mesh-demo.toml", duration="4 s", warmup="0 s", frames=path)
    log = read(path)
    tab = opened(browser, tmp_path, packed(path).data)
    tab.wait_for_selector(".viewer canvas")
    words = log.transmissions
    lost = [row for row, outcome in enumerate(words["outcome"]) if outcome == "collision"]
    starts = words["start"].iloc[lost]
    assert starts.duplicated().sum() > 10, "some collisions are simultaneous"
    assert tab.evaluate(VISITED, "collision") == lost
    drops = log.tables["drops"]["time"]
    assert len(drops) > 3
    assert drops.is_monotonic_increasing
    assert tab.evaluate(VISITED, "drop") == list(range(len(drops)))
    windows = log.tables["windows"]
    grown = windows.groupby("flow")["timeouts"].diff().fillna(windows["timeouts"]) > 0
    assert windows["time"].is_monotonic_increasing
    assert tab.evaluate(VISITED, "timeout") == [row for row, is_one in enumerate(grown) if is_one]
    tab.evaluate(f"document.querySelector('.viewer-host').viewer.go({{ t: {starts.iloc[0] / 1e9} }})")
    tab.get_by_role("button", name="next collision").click()
    assert tab.evaluate("document.querySelector('.viewer-host').viewer.state.picked") == lost[0], "the cursor is on it"
    assert tab.said == []


def test_a_browser_without_decompression_shows_an_error(shown, tmp_path, log):
    file = tmp_path / "old.html"
    file.write_text(page(packed(log).data, "old"), encoding="utf-8")
    tab = shown(file.as_uri(), before="delete globalThis.DecompressionStream")
    tab.wait_for_selector(".viewer-error")
    assert tab.inner_text(".viewer-error").startswith("This browser has no DecompressionStream, which is needed")


def test_the_title_prints_dark_in_dark_mode(browser, tmp_path, log):
    tab = opened(browser, tmp_path, packed(log).data, dark=True)
    tab.emulate_media(media="print", color_scheme="dark")
    brightness = """(element) => {
      const [red, green, blue] = getComputedStyle(document.querySelector(element)).color.match(/[\\d.]+/g).map(Number);
      return red + green + blue;
    }"""
    assert tab.evaluate(brightness, "h1") < 150
    tab.emulate_media(media="screen", color_scheme="dark")
    assert tab.evaluate(brightness, "h1") > 600
