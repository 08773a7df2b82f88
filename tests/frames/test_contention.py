"""Back-off in the viewer: where it happened, as far as a log tells, also beyond the edges of what is in sight."""

import pytest
from typer.testing import CliRunner

import multihop
from conftest import SCENARIOS
from multihop.cli.app import app
from multihop.framelog import packed
from multihop.report.viewer import page

#: Eight stations that hear each other, all of which have something to send.
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
#: Senders that do not hear each other, with RTS.
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
#: Where in a lane back-off and NAV are.
BACKOFF, NAV = 18, 22

#: Of all contentions with slots: how many have their slots in a place; whether these are as long as what counted; in
#: how many a place is over a frame of a node within this distance that began earlier than a slot before.
PLACED = """(sensed) => {
  const { model } = document.querySelector(".viewer-host").viewer;
  const { head } = model;
  const made = { all: 0, placed: 0, odd: 0, wrong: 0, hidden: 0, deferred: 0 };
  const apart = (one, other) => {
    const [a, b] = [head.nodes[one].position, head.nodes[other].position];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };
  for (let i = 0; i < model.count; i += 1) {
    if (model.contends[i] < 0 || !model.slots[i]) continue;
    const { counted, busy, since, until } = model.contentions.of(i);
    made.all += 1;
    if (!counted.length) continue;
    made.placed += 1;
    made.deferred += busy.length > 0;
    const within = (list) => list.every(([from, to]) => from >= since - 1 && to <= until + 1 && to > from);
    const length = counted.reduce((sum, [from, to]) => sum + to - from, 0);
    if (Math.abs(length - model.slots[i] * head.slot_ns) > 1 || !within(counted) || !within(busy)) made.odd += 1;
    const [first, last] = model.range(since, until);
    const over = { true: false, false: false };
    for (let other = first; other < last; other += 1) {
      if (model.from[other] === model.from[i]) continue;
      const begins = model.start[other] + head.slot_ns + 3000;
      const isOver = counted.some(([from, to]) => Math.min(to, model.end[other]) > Math.max(from, begins));
      if (isOver) over[apart(model.from[i], model.from[other]) <= sensed] = true;
    }
    made.wrong += over.true;
    made.hidden += over.false;
  }
  return made;
}"""

#: The colour that a pixel of a lane has, and those that lines below the lanes have.
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
    """Opens the viewer of a run, or of a part of it as the command's options say."""

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
    ("scenario", "sensed", "least", "hides"),
    [
        (SATURATED, 550, 0.6, False),
        (RESERVED, 250, 0.95, True),
        (SCENARIOS / "hidden-terminal.toml", 250, 0.95, True),
        (SCENARIOS / "chain.toml", 550, 0.2, True),
    ],
    ids=["saturated", "reserved", "hidden", "chain"],
)
def test_slots_are_where_the_medium_was_idle_for_their_node(opened, scenario, sensed, least, hides):
    """By the geometry, which the viewer does not use: no slot is over a frame that its node senses."""
    tab = opened(scenario, duration="3 s", warmup="0 s")
    found = tab.evaluate(PLACED, sensed)
    assert found["all"] > 300
    assert found["placed"] >= least * found["all"], "of the others the log does not tell"
    assert found["deferred"] > 10
    assert (found["odd"], found["wrong"]) == (0, 0)
    assert (found["hidden"] > 10) == hides, "hidden senders are counted through, and nothing else is"


def test_what_overlaps_with_the_edges_is_there(opened):
    """The frame of a contention comes after what is in sight, or a NAV was set before."""
    tab = opened(RESERVED)
    i, begins, ends = tab.evaluate(
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
    middle = (begins + ends) / 2
    for length in (2e7, 1e6, 1e4):
        tab.evaluate(f"{VIEWER}.show({middle - length / 2}, {middle + length / 2})")
        assert tab.evaluate(PIXEL, [node, BACKOFF, 0.51]) == "backoff", length
        assert tab.evaluate(PIXEL, [node, NAV, 0.51]) == "nav", length
    counted = tab.evaluate(f"{VIEWER}.model.contentions.of({i}).counted")
    middle = sum(max(counted, key=lambda period: period[1] - period[0])) / 2
    tab.evaluate(f"{VIEWER}.show({middle - 1000}, {middle + 1000})")
    assert tab.evaluate(PIXEL, [node, BACKOFF, 0.51]) == "soft"


def test_words_tell_slots_deferring_and_spaces_apart(opened):
    tab = opened(SCENARIOS / "hidden-terminal.toml", duration="3 s", warmup="0 s")
    frames = multihop.frames(tab.evaluate("location.pathname").replace(".html", ".frames"))
    # A retry after no answer, with nothing on the air of whom it hears: a timeout is no deferring.
    said = tab.evaluate(
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
    row = frames.iloc[said[0]]
    assert "try 2" in said[1]
    assert row["try"] == 2
    lines = [line for line in said[1].splitlines() if "try 2" in line]
    assert "of back-off counted" in lines[0]
    assert "inter-frame spaces and timeouts took" in lines[0]
    assert "deferred" not in lines[0]
    deferred = tab.evaluate(
        """() => {
      const { model } = document.querySelector(".viewer-host").viewer;
      const all = [...model.start.keys()].filter((i) => model.contends[i] >= 0);
      return all.flatMap((i) => model.contentions.of(i).busy.map(([from, to]) => to - from));
    }"""
    )
    assert min(deferred) > 1000, "the end of an ACK, a propagation delay later, is none"


@pytest.mark.parametrize("part", [("--nodes", "n0"), ("--between", "1 s, 2 s")], ids=["nodes", "between"])
def test_of_a_part_of_a_run_no_contention_is_made_up(opened, part):
    """What is not in the log may have ended an exchange, or been heard."""
    tab = opened(SCENARIOS / "hidden-terminal.toml", *part, duration="3 s", warmup="0 s")
    found = tab.evaluate(
        """() => {
      const { model } = document.querySelector(".viewer-host").viewer;
      const all = [...model.start.keys()].filter((i) => model.contends[i] >= 0);
      return {
        longest: Math.max(...all.map((i) => model.start[i] - model.contends[i])),
        nodes: [...new Set(all.filter((i) => model.waited[i] < 0).map((i) => model.from[i]))].sort(),
        placed: all.filter((i) => model.contentions.of(i).counted.length).length,
      };
    }"""
    )
    assert found["longest"] < 0.2e9
    if "--nodes" in part:
        assert found["nodes"] == [0]
        assert found["placed"] == 0
    else:
        assert found["nodes"] == [0, 2]
        assert found["placed"] > 50


def test_words_say_where_the_log_does_not_tell(opened):
    tab = opened(SATURATED)
    said = tab.evaluate(
        """() => {
      const { viewer } = document.querySelector(".viewer-host");
      const { model } = viewer;
      const open = (i) => model.contends[i] >= 0 && model.slots[i] > 1 && !model.contentions.of(i).isLocated;
      const i = [...model.start.keys()].find((at) => open(at) && model.contentions.of(at).busy.length);
      viewer.choose(i);
      return viewer.words.querySelector(`li[data-time="${model.start[i]}"]`).innerText;
    }"""
    )
    assert "slots of back-off counted" in said
    assert "it deferred to what it heard for" in said
    assert said.count("when the slots counted, the log does not tell") == 1
