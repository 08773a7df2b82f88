"""The viewer on a touch screen, with gestures of Chromium."""

import pytest

import multihop
from conftest import SCENARIOS
from multihop.framelog import packed
from multihop.report.viewer import page

#: Left edge of the lanes, height of the axis and of a lane, at a width of 400 pixels.
LEFT, AXIS, LANE = 70, 22, 26

#: More nodes than visible lanes.
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


class Fingers:
    """Page on a touch screen of 400 pixels, with gestures."""

    def __init__(self, tab):
        self.tab = tab
        self.devtools = tab.context.new_cdp_session(tab)
        tab.wait_for_selector(".viewer > canvas")
        self.settle()

    def settle(self):
        self.tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def box(self):
        box = self.tab.locator(".viewer > canvas").bounding_box()
        return box["x"], box["y"], box["width"]

    def state(self, name):
        return self.tab.evaluate(f"document.querySelector('.viewer-host').viewer.state.{name}")

    def time_at(self, px):
        """Returns the time in nanoseconds at a horizontal position on the canvas."""
        _, _, width = self.box()
        first, last = self.state("from"), self.state("to")
        return first + (px - LEFT) / (width - LEFT) * (last - first)

    def move(self, *paths, steps=10):
        """Moves fingers along straight lines of page coordinates; they go down together and up one by one."""

        def at(share):
            return [
                {"x": x1 + share * (x2 - x1), "y": y1 + share * (y2 - y1), "id": finger}
                for finger, ((x1, y1), (x2, y2)) in enumerate(paths)
            ]

        self.send("touchStart", at(0))
        for step in range(1, steps + 1):
            self.send("touchMove", at(step / steps))
        for remaining in range(len(paths) - 1, -1, -1):
            self.send("touchEnd", at(1)[:remaining])
        self.settle()

    def send(self, kind, points):
        self.devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def tap(self, x, y):
        self.move(((x, y), (x, y)), steps=0)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("touch") / "hidden.frames"
    multihop.run(SCENARIOS / "hidden-terminal.toml", duration="5 s", warmup="0 s", frames=path)
    return path


@pytest.fixture
def touched(shown, tmp_path):
    def open_page(log, fragment="", height=800):
        file = tmp_path / "page.html"
        file.write_text(page(packed(log).data, "touched"), encoding="utf-8")
        screen = {"width": 400, "height": height}
        return Fingers(shown(file.as_uri() + fragment, viewport=screen, has_touch=True, is_mobile=True))

    return open_page


def test_two_fingers_zoom_and_the_times_under_them_stay(log, touched):
    fingers = touched(log, "#t=2.5&span=1")
    x, y, _ = fingers.box()
    before = [fingers.time_at(px) for px in (180, 240)]
    fingers.move(((x + 180, y + 60), (x + 120, y + 60)), ((x + 240, y + 60), (x + 330, y + 60)))
    assert [fingers.time_at(px) for px in (120, 330)] == pytest.approx(before, abs=2e6)
    # The distance of the fingers grows from 60 to 210 pixels.
    assert fingers.state("to") - fingers.state("from") == pytest.approx(1e9 * 60 / 210, rel=0.05)
    assert fingers.state("picked") == -1, "no finger was a tap"
    fingers.move(((x + 120, y + 60), (x + 180, y + 60)), ((x + 330, y + 60), (x + 240, y + 60)))
    assert fingers.state("to") - fingers.state("from") == pytest.approx(1e9, rel=0.1)
    assert fingers.tab.evaluate("window.visualViewport.scale") == 1, "the page is not zoomed"


def test_two_fingers_zoom_while_one_rests(log, touched):
    fingers = touched(log, "#t=2.5&span=0.02")
    x, y, _ = fingers.box()
    anchor = fingers.time_at(150)
    fingers.move(((x + 150, y + 40), (x + 150, y + 40)), ((x + 250, y + 40), (x + 350, y + 40)))
    assert fingers.time_at(150) == pytest.approx(anchor, abs=1e5)
    assert fingers.state("to") - fingers.state("from") == pytest.approx(1e7, rel=0.1)
    assert (fingers.state("picked"), fingers.state("packet")) == (-1, None)


def test_one_finger_pans_without_scrolling_the_page(log, touched):
    fingers = touched(log, "#t=2.5&span=1")
    x, y, _ = fingers.box()
    anchor = fingers.time_at(150)
    fingers.move(((x + 150, y + 60), (x + 350, y + 64)))
    assert fingers.time_at(350) == pytest.approx(anchor, abs=3e7)
    assert fingers.state("to") - fingers.state("from") == pytest.approx(1e9)
    assert fingers.tab.evaluate("window.scrollY") == 0
    assert fingers.state("picked") == -1


def test_a_vertical_finger_scrolls_the_page(log, touched):
    fingers = touched(log, "#t=2.5&span=1", height=500)
    x, y, _ = fingers.box()
    assert fingers.tab.evaluate("document.documentElement.scrollHeight - window.innerHeight") > 100
    first = fingers.state("from")
    fingers.move(((x + 200, y + 200), (x + 200, y + 40)), steps=20)
    fingers.tab.wait_for_function("window.scrollY > 50")
    assert fingers.state("from") == pytest.approx(first, abs=2e7)


def test_a_tap_follows_a_packet(log, touched):
    frames = multihop.frames(log).query("kind == 'data' and outcome == 'arrived'")
    frame = frames.iloc[3]
    middle = (frame.start + frame.airtime / 2) / 1e9
    fingers = touched(log, f"#t={middle}&span=0.2")
    x, y, width = fingers.box()
    lane = ["n0", "n1", "n2"].index(frame["from"])
    per = 0.2e9 / (width - LEFT)
    assert frame.airtime / per < 24, "the frame is narrower than a finger"
    fingers.tap(x + LEFT + (width - LEFT) / 2 + 4, y + AXIS + lane * LANE + 12)
    words = fingers.tab.locator(".viewer-words").inner_text()
    assert f"Packet {frame.packet} of {frame.flow}" in words
    time = fingers.tab.locator(".viewer-words .viewer-time").first
    box = time.bounding_box()
    fingers.tab.evaluate("window.scrollTo(0, 0)")
    assert box["height"] >= 30, "the button is large enough for a finger"
    time.tap()
    assert fingers.state("at") / 1e9 == pytest.approx(float(time.inner_text().split()[0]), abs=1e-6)


def test_the_scrubber_follows_a_finger(log, touched):
    fingers = touched(log, "#t=0.5&span=0.1")
    scrubber = fingers.tab.get_by_role("slider", name="Time")
    scrubber.scroll_into_view_if_needed()
    box = scrubber.bounding_box()
    y = box["y"] + box["height"] / 2
    fingers.move(((box["x"] + 0.1 * box["width"], y), (box["x"] + 0.8 * box["width"], y)))
    assert fingers.state("at") / 5e9 == pytest.approx(0.8, abs=0.05)
    assert fingers.state("from") < fingers.state("at") < fingers.state("to")
    assert fingers.state("to") - fingers.state("from") == pytest.approx(1e8)


def test_a_finger_scrolls_the_lanes_and_then_the_page(touched, tmp_path):
    path = tmp_path / "row.frames"
    multihop.run(ROW, frames=path)
    fingers = touched(path)
    x, y, _ = fingers.box()
    fingers.move(((x + 200, y + 300), (x + 200, y + 300 - 3 * LANE)))
    assert fingers.state("scroll") in (2, 3)
    fingers.move(((x + 200, y + 400), (x + 200, y + 400 - 12 * LANE)), steps=30)
    assert fingers.state("scroll") == 6
    assert fingers.tab.evaluate("window.scrollY") > 2 * LANE
