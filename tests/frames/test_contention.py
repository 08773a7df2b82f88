"""Backoff in the viewer: slots and deferrals are located where they follow from the log."""

import pytest
from typer.testing import CliRunner

import multihop
from conftest import SCENARIOS
from multihop.cli.app import app
from multihop.framelog import packed
from multihop.report.viewer import page

#: Eight saturated stations that hear each other.
SATURATED = (
    """
duration = "2 s"
warmup = "0 s"
[phy]
standard = "802.11a"
data_rate = "24 Mb/s"
[medium]
model = "ranges"
receive_range = "250 m"
carrier_sense_range = "550 m"
[topology]
nodes = [
  {}
]
""".format(",\n  ".join(f'{{ name = "s{n}", position = ["{10 * n} m", "{n % 3 * 5} m"] }}' for n in range(8)))
    + "".join(f'[[flows]]\nfrom = "s{n}"\nto = "s0"\nscheme = "udp"\n' for n in range(1, 8))
)
#: Two hidden senders with RTS.
RESERVED = """
duration = "1 s"
warmup = "0 s"
[phy]
data_rate = "2 Mb/s"
[mac]
rts_threshold = "0 B"
[medium]
model = "ranges"
receive_range = "250 m"
carrier_sense_range = "250 m"
[topology]
generator = "chain"
hops = 2
spacing = "200 m"
[[flows]]
name = "left"
from = "n0"
to = "n1"
scheme = "udp"
[[flows]]
name = "right"
from = "n2"
to = "n1"
scheme = "udp"
"""
VIEWER = "document.querySelector('.viewer-host').viewer"
#: Vertical positions of backoff and NAV in a lane.
BACKOFF, NAV = 18, 22

#: Counts all contentions with slots, those whose slots are located, those with a wrong total duration, and those whose
#: slots overlap a frame of a node within a distance (`wrong`) or beyond (`hidden`) that began more than a slot earlier.
LOCATED = """(sensed) => {
  const { model } = document.querySelector(".viewer-host").viewer;
  const { head } = model;
  const counts = { all: 0, located: 0, odd: 0, wrong: 0, hidden: 0, deferred: 0 };
  const apart = (one, other) => {
    const [a, b] = [head.nodes[one].position, head.nodes[other].position];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };
  for (let i = 0; i < model.count; i += 1) {
    if (model.contends[i] < 0 || !model.slots[i]) continue;
    const { counted, busy, since, until } = model.contentions.of(i);
    counts.all += 1;
    if (!counted.length) continue;
    counts.located += 1;
    counts.deferred += busy.length > 0;
    const within = (list) => list.every(([from, to]) => from >= since - 1 && to <= until + 1 && to > from);
    const length = counted.reduce((sum, [from, to]) => sum + to - from, 0);
    if (Math.abs(length - model.slots[i] * head.slot_ns) > 1 || !within(counted) || !within(busy)) counts.odd += 1;
    const [first, last] = model.range(since, until);
    const over = { true: false, false: false };
    for (let other = first; other < last; other += 1) {
      if (model.from[other] === model.from[i]) continue;
      const start = model.start[other] + head.slot_ns + 3000;
      const isOver = counted.some(([from, to]) => Math.min(to, model.end[other]) > Math.max(from, start));
      if (isOver) over[apart(model.from[i], model.from[other]) <= sensed] = true;
    }
    counts.wrong += over.true;
    counts.hidden += over.false;
  }
  return counts;
}"""

#: Returns the name of the colour of a pixel in a lane.
PIXEL = """([node, row, share]) => {
  const { viewer } = document.querySelector(".viewer-host");
  viewer.drawNow();
  const x = Math.round(110 + share * (viewer.canvas.clientWidth - 110));
  const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  pixel.drawImage(viewer.canvas, -x, -(22 + 26 * node + row));
  const hex = [...pixel.getImageData(0, 0, 1, 1).data.slice(0, 3)]
    .map((value) => value.toString(16).padStart(2, "0")).join("");
  const style = getComputedStyle(viewer.root);
  const names = ["contends", "backoff", "soft", "nav", "paper"];
  return names.find((name) => style.getPropertyValue(`--viewer-${name}`).trim() === `#${hex}`) || hex;
}"""


@pytest.fixture
def opened(shown, tmp_path):
    """Opens the viewer of a run, or of the part that options of the command select."""

    def open_page(scenario, *part, **options):
        log = tmp_path / "run.frames"
        if part:
            words = [
                "run",
                scenario,
                *part,
                "--frames",
                log,
                *(word for name in options for word in ("--" + name, options[name])),
            ]
            assert CliRunner().invoke(app, [str(word) for word in words]).exit_code == 0
        else:
            multihop.run(scenario, frames=log, **options)
        file = log.with_suffix(".html")
        file.write_text(page(packed(log).data, "run"), encoding="utf-8")
        tab = shown(file.as_uri())
        tab.wait_for_selector(".viewer > canvas")
        return tab

    return open_page


@pytest.mark.parametrize(
    ("scenario", "seconds", "sensed", "minimum", "has_hidden"),
    [
        (SATURATED, 3, 550, 0.6, False),
        (RESERVED, 3, 250, 0.95, True),
        (SCENARIOS / "hidden-terminal.toml", 3, 250, 0.95, True),
        (SCENARIOS / "chain.toml", 8, 550, 0.2, True),
    ],
    ids=["saturated", "reserved", "hidden", "chain"],
)
def test_slots_are_located_where_their_node_senses_an_idle_medium(
    opened, scenario, seconds, sensed, minimum, has_hidden
):
    """The check uses positions of nodes, which the viewer does not."""
    tab = opened(scenario, duration=f"{seconds} s", warmup="0 s")
    found = tab.evaluate(LOCATED, sensed)
    assert found["all"] > 300
    assert found["located"] >= minimum * found["all"], "the other slots do not follow from the log"
    assert found["deferred"] > 10
    assert (found["odd"], found["wrong"]) == (0, 0)
    assert (found["hidden"] > 10) == has_hidden, "slots overlap only frames of hidden senders"


def test_backoff_and_nav_are_drawn_across_the_edges_of_the_view(opened):
    """The frame of the contention follows the visible interval, or the NAV was set before it."""
    tab = opened(RESERVED)
    i, start, end = tab.evaluate(
        """() => {
      const { model } = document.querySelector(".viewer-host").viewer;
      const isOne = (i) => model.contends[i] > 5e7 && model.start[i] - model.contends[i] > 5e6;
      for (let i = 0; i < model.count; i += 1) {
        const found = isOne(i) && model.contentions.of(i).busy.find(([from, to]) => to - from > 4e6);
        if (found) return [i, ...found];
      }
      return null;
    }"""
    )
    node = tab.evaluate(f"{VIEWER}.model.from[{i}]")
    middle = (start + end) / 2
    for length in (2e7, 1e6, 1e4):
        tab.evaluate(f"{VIEWER}.show({middle - length / 2}, {middle + length / 2})")
        assert tab.evaluate(PIXEL, [node, BACKOFF, 0.51]) == "backoff", length
        assert tab.evaluate(PIXEL, [node, NAV, 0.51]) == "nav", length
    counted = tab.evaluate(f"{VIEWER}.model.contentions.of({i}).counted")
    middle = sum(max(counted, key=lambda period: period[1] - period[0])) / 2
    tab.evaluate(f"{VIEWER}.show({middle - 1000}, {middle + 1000})")
    assert tab.evaluate(PIXEL, [node, BACKOFF, 0.51]) == "soft"


def test_the_text_separates_slots_deferrals_and_spaces(opened):
    tab = opened(SCENARIOS / "hidden-terminal.toml", duration="3 s", warmup="0 s")
    frames = multihop.frames(tab.evaluate("location.pathname").replace(".html", ".frames"))
    # A retry after a timeout, during which the node hears nothing, contains no deferral.
    i, text = tab.evaluate(
        """() => {
      const { viewer } = document.querySelector(".viewer-host");
      const { model } = viewer;
      for (let i = 0; i < model.count; i += 1) {
        if (model.try[i] === 2 && model.contends[i] >= 0 && !model.contentions.of(i).busy.length) {
          viewer.choose(i);
          return [i, viewer.words.querySelector("[aria-current], li:last-child") && viewer.words.innerText];
        }
      }
      return null;
    }"""
    )
    row = frames.iloc[i]
    assert "attempt 2" in text
    assert row["try"] == 2
    lines = [line for line in text.splitlines() if "attempt 2" in line]
    assert "of backoff counted" in lines[0]
    assert "inter-frame spaces and timeouts took" in lines[0]
    assert "deferred" not in lines[0]
    deferred = tab.evaluate(
        """() => {
      const { model } = document.querySelector(".viewer-host").viewer;
      const all = [...model.start.keys()].filter((i) => model.contends[i] >= 0);
      return all.flatMap((i) => model.contentions.of(i).busy.map(([from, to]) => to - from));
    }"""
    )
    assert min(deferred) > 1000, "the propagation delay of an ACK's end is no deferral"


@pytest.mark.parametrize("part", [("--nodes", "n0"), ("--between", "1 s, 2 s")], ids=["nodes", "between"])
def test_a_partial_log_invents_no_contention(opened, part):
    """Frames outside the log may have ended an exchange or been heard."""
    tab = opened(SCENARIOS / "hidden-terminal.toml", *part, duration="3 s", warmup="0 s")
    found = tab.evaluate(
        """() => {
      const { model } = document.querySelector(".viewer-host").viewer;
      const all = [...model.start.keys()].filter((i) => model.contends[i] >= 0);
      return {
        longest: Math.max(...all.map((i) => model.start[i] - model.contends[i])),
        nodes: [...new Set(all.filter((i) => model.waited[i] < 0).map((i) => model.from[i]))].sort(),
        located: all.filter((i) => model.contentions.of(i).counted.length).length,
      };
    }"""
    )
    assert found["longest"] < 0.2e9
    if "--nodes" in part:
        assert found["nodes"] == [0]
        assert found["located"] == 0
    else:
        assert found["nodes"] == [0, 2]
        assert found["located"] > 50


def test_the_text_states_that_slots_are_not_located(opened):
    tab = opened(SATURATED)
    text = tab.evaluate(
        """() => {
      const { viewer } = document.querySelector(".viewer-host");
      const { model } = viewer;
      const open = (i) => model.contends[i] >= 0 && model.slots[i] > 1 && !model.contentions.of(i).isLocated;
      const i = [...model.start.keys()].find((at) => open(at) && model.contentions.of(at).busy.length);
      viewer.choose(i);
      return viewer.words.querySelector(`li[data-time="${model.start[i]}"]`).innerText;
    }"""
    )
    assert "slots of backoff counted" in text
    assert "the sender deferred for" in text
    assert text.count("the log does not show when the slots counted") == 1
