"""The viewer with many transmissions: the cost of drawing is bounded, and sums agree with the log."""

import statistics

import pytest

import multihop
from conftest import SCENARIOS
from multihop.framelog import packed, read
from multihop.report.viewer import page

#: Height of the axis and of a lane, rows of its blocks, left edge of the lanes, in pixels.
AXIS, LANE, BLOCKS, LEFT = 22, 26, (4, 21), 110

#: Counts canvas operations of a drawing and measures its time; a first drawing fills the caches.
COUNTED = """([from, to]) => {
  const { viewer } = document.querySelector(".viewer-host");
  viewer.show(from, to);
  viewer.drawNow();
  const canvas = CanvasRenderingContext2D.prototype;
  let calls = 0;
  const names = ["fillRect", "lineTo", "moveTo", "stroke", "fill", "fillText", "measureText", "arc", "drawImage"];
  const known = names.map((name) => canvas[name]);
  const counted = (call) => function (...given) { calls += 1; return call.apply(this, given); };
  names.forEach((name, at) => { canvas[name] = counted(known[at]); });
  const times = Array.from({ length: 15 }, () => {
    const start = performance.now();
    viewer.drawNow();
    return performance.now() - start;
  });
  names.forEach((name, at) => { canvas[name] = known[at]; });
  return { calls: calls / times.length, times };
}"""

#: Returns the share of coloured pixels in the blocks of each lane.
COLOURED = f"""() => {{
  const {{ viewer }} = document.querySelector(".viewer-host");
  viewer.show(0, viewer.model.duration);
  viewer.drawNow();
  const {{ width, height }} = viewer.canvas;
  const {{ data }} = viewer.canvas.getContext("2d").getImageData(0, 0, width, height);
  // Lines of the axis are grey.
  const isColoured = (at) => Math.max(...data.subarray(at, at + 3)) - Math.min(...data.subarray(at, at + 3)) > 20;
  return viewer.state.nodes.slice(0, viewer.state.lanesInSight).map((_, lane) => {{
    let coloured = 0;
    for (let y = {AXIS} + lane * {LANE} + {BLOCKS[0]}; y < {AXIS} + lane * {LANE} + {BLOCKS[1]}; y += 1) {{
      for (let x = {LEFT}; x < width; x += 1) if (isColoured(4 * (y * width + x))) coloured += 1;
    }}
    return coloured / (width - {LEFT}) / {BLOCKS[1] - BLOCKS[0]};
  }});
}}"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Returns a short and a long log of one network."""
    folder = tmp_path_factory.mktemp("many")
    # TCP that sends segment by segment.
    scenario = (SCENARIOS / "mesh-demo.toml").read_text("utf-8") + '\n[schemes.tcp-newreno]\nflavour = "rfc"\n'
    paths = {}
    for seconds in (6, 60):
        paths[seconds] = folder / f"{seconds}.frames"
        multihop.run(scenario, duration=f"{seconds} s", warmup="0 s", frames=paths[seconds])
    return paths


@pytest.fixture
def opened(shown, tmp_path):
    def open_page(log):
        file = tmp_path / f"{log.stem}.html"
        file.write_text(page(packed(log).data, "many"), encoding="utf-8")
        tab = shown(file.as_uri())
        tab.wait_for_selector(".viewer > canvas")
        return tab

    return open_page


def test_the_cost_of_drawing_is_bounded(logs, opened):
    few, many = opened(logs[6]), opened(logs[60])
    transmissions = many.evaluate("document.querySelector('.viewer-host').viewer.model.count")
    assert transmissions > 80_000
    whole = few.evaluate(COUNTED, [0, 6e9]), many.evaluate(COUNTED, [0, 60e9])
    # Lines with fewer points than columns are drawn point by point.
    assert 1_000 < whole[0]["calls"] < 20_000
    assert whole[1]["calls"] < 20_000 < transmissions / 4
    for part in (1, 1e-1, 1e-2, 1e-3, 1e-6):
        found = many.evaluate(COUNTED, [20e9, 20e9 + part * 60e9])
        # Single frames are drawn up to a few thousand, with backoff and NAV.
        assert found["calls"] < 60_000, part
        # An idle machine needs 2 to 12 ms; 30 drawings per second allow 33 ms.
        assert statistics.median(found["times"]) < 150, part


@pytest.mark.parametrize("seconds", [6, 60])
def test_sums_fill_lanes_by_airtime(logs, opened, seconds):
    tab = opened(logs[seconds])
    shares = tab.evaluate(COLOURED)
    frames = multihop.frames(logs[seconds])
    names = [node["name"] for node in read(logs[seconds]).head["nodes"]][: len(shares)]
    airtimes = [frames.loc[frames["from"] == name, "airtime"].sum() / (seconds * 1e9) for name in names]
    # A column shows at least one of 17 pixels.
    assert shares == pytest.approx(airtimes, abs=0.03)
    assert max(airtimes) > 0.1


def test_columns_contain_the_airtime_of_their_interval(logs, opened):
    """Sums between any two times equal the airtime between them."""
    tab = opened(logs[60])
    log = read(logs[60])
    frames = log.transmissions
    instants = [0, 1_234_567_891, 17_000_000_000, 17_000_300_000, 59_999_999_999]
    found = tab.evaluate(
        """(instants) => {
      const { model } = document.querySelector(".viewer-host").viewer;
      return model.lane.map((lane) => instants.map((time) => {
        const sums = new Float64Array(5);
        lane.until(time, lane.start.filter((start) => start < time).length, sums);
        return sums.reduce((one, other) => one + other, 0);
      }));
    }""",
        instants,
    )
    for node, sums in zip(log.head["nodes"], found, strict=True):
        own = frames[frames["from"] == node["name"]]
        for instant, total in zip(instants, sums, strict=True):
            before = (instant - own["start"]).clip(lower=0)
            assert total == before.clip(upper=own["airtime"]).sum(), node["name"]
