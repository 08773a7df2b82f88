"""Captures of several clocks, and logs with more, or other, in them than a page was made for."""

import itertools
import shutil
import struct

import numpy as np
import pytest
from typer.testing import CliRunner

import multihop
from conftest import SCENARIOS
from multihop import UserError
from multihop.cli.app import app
from multihop.framelog import packed, read
from multihop.report.viewer import page

HOUR = 3_600_000_000_000
#: pcapng: kinds of blocks, where a packet has its stamp and the radio's timer, and an interface's option of resolution.
INTERFACE, PACKET = 1, 6
STAMP, TIMER = 12, 28 + 8
NANOSECONDS, MICROSECONDS = bytes.fromhex("0900010009"), bytes.fromhex("0900010006")


@pytest.fixture(scope="module")
def pcap(tmp_path_factory):
    path = tmp_path_factory.mktemp("clocks") / "run.pcapng"
    multihop.run(SCENARIOS / "chain.toml", duration="3 s", warmup="0 s", pcap=path)
    return path


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("bad") / "hidden.frames"
    multihop.run(SCENARIOS / "hidden-terminal.toml", duration="2 s", warmup="0 s", frames=path)
    return path


def with_clocks(pcap, out, clock, interfaces=lambda _, block: block):
    """The capture, with the stamps (ns) and timers (us) that `clock` makes, and other blocks of interfaces."""
    content, made, at = pcap.read_bytes(), bytearray(), 0
    numbers, packets = itertools.count(), itertools.count()
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        block = bytearray(content[at : at + length])
        at += length
        if kind == INTERFACE:
            block = interfaces(next(numbers), block)
        if kind == PACKET:
            interface, high, low = struct.unpack_from("<III", block, 8)
            (timer,) = struct.unpack_from("<Q", block, TIMER)
            stamp, timer = clock(interface, next(packets), (high << 32) + low, timer)
            struct.pack_into("<II", block, STAMP, stamp >> 32, stamp & 0xFFFF_FFFF)
            struct.pack_into("<Q", block, TIMER, timer)
        made += block
    out.write_bytes(made)
    return out


def lanes(capture, tmp_path, interface=0):
    """The transmissions of an interface, and the description of their log."""
    out = tmp_path / "lanes.frames"
    multihop.capture_frames(capture, out, interface=interface)
    found = read(out)
    return found.transmissions, found.head


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_each_interface_has_a_clock_of_its_own(pcap, tmp_path):
    """One is an hour ahead; its lanes are what they were, and those of the others as well."""
    ahead = with_clocks(
        pcap,
        tmp_path / "ahead.pcapng",
        lambda interface, _, stamp, timer: (stamp + HOUR * (interface == 1), timer + HOUR // 1000 * (interface == 1)),
    )
    for interface in (0, 1):
        before, head = lanes(pcap, tmp_path, interface)
        after, moved = lanes(ahead, tmp_path, interface)
        assert len(before) > 300
        assert after.equals(before)
        assert moved["duration_ns"] == head["duration_ns"] < 4e9


def test_interfaces_may_have_stamps_of_different_resolution(pcap, tmp_path):
    def coarse(number, block):
        assert NANOSECONDS in block
        return block.replace(NANOSECONDS, MICROSECONDS) if number == 1 else block

    mixed = with_clocks(
        pcap,
        tmp_path / "mixed.pcapng",
        lambda interface, _, stamp, timer: (stamp // 1000 if interface == 1 else stamp, timer),
        coarse,
    )
    for interface in (0, 1):
        before, _ = lanes(pcap, tmp_path, interface)
        after, _ = lanes(mixed, tmp_path, interface)
        assert list(after["kind"]) == list(before["kind"])
        assert list(after["airtime"]) == list(before["airtime"])
        assert np.abs(after["start"] - before["start"]).max() <= 1_000


@pytest.mark.parametrize("has_timer", [False, True])
def test_a_clock_that_jumps_back_leaves_lanes_in_order(pcap, tmp_path, browser, has_timer):
    """By 10 s, in the middle: the host's alone, or the radio's with it."""
    back = with_clocks(
        pcap,
        tmp_path / "back.pcapng",
        lambda _, number, stamp, timer: (
            stamp + (10**10 if number < 2000 else 0),
            timer + (10**7 if number < 2000 and has_timer else 0),
        ),
    )
    before, _ = lanes(pcap, tmp_path)
    after, head = lanes(back, tmp_path)
    assert list(after["kind"]) == list(before["kind"]), "nothing is lost"
    assert list(after["airtime"]) == list(before["airtime"])
    starts = after["start"].to_numpy()
    assert (np.diff(starts) >= 0).all()
    assert starts[0] >= 0
    assert head["duration_ns"] < 4e9
    if not has_timer:
        assert np.abs(starts - before["start"].to_numpy()).max() <= 1_000, "the radio's timer says how long it was"
    done = call("view", back)
    assert done.exit_code == 0, done.output
    tab = opened(browser, tmp_path / "back.pcapng.html")
    sums = tab.evaluate("document.querySelector('.viewer-host').viewer.model.lane.map((lane) => lane.airtime)")
    assert sum(sums) > 0
    assert tab.said == []


def opened(browser, file, fragment=""):
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.said = []
    tab.on("console", lambda message: tab.said.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: tab.said.append(str(error)))
    tab.goto(file.as_uri() + fragment)
    tab.wait_for_selector(".viewer > canvas, .viewer-error")
    tab.wait_for_timeout(300)
    return tab


def shown(browser, tmp_path, data, fragment=""):
    file = tmp_path / "page.html"
    file.write_text(page(data, "bad"), encoding="utf-8")
    return opened(browser, file, fragment)


def copied(log, folder):
    """A copy of a log, and the file of its transmissions."""
    copy = folder / "copy.frames"
    shutil.copytree(log, copy)
    return copy, copy / "transmissions.parquet"


def test_more_transmissions_than_a_page_holds_ask_for_a_window(browser, tmp_path, log, monkeypatch):
    monkeypatch.setattr("multihop.cli.view._MOST", 100)
    done = call("view", log, "--out", tmp_path / "x.html")
    assert isinstance(done.exception, UserError)
    assert "transmissions are more than 100; name a window of time" in str(done.exception)
    assert not (tmp_path / "x.html").exists()
    data = packed(log).data
    at = data.index(b'"name":"transmissions","rows":') + len(b'"name":"transmissions","rows":')
    # The page adds spaces up to a multiple of eight, in which the number has room.
    length = int.from_bytes(data[:4], "little")
    rows = len(data[at : at + 20].split(b"}")[0])
    huge = data[:at] + b"5000001".ljust(rows) + data[at + rows :]
    tab = shown(browser, tmp_path, (length + len(huge) - len(data)).to_bytes(4, "little") + huge[4:])
    said = tab.get_by_role("alert").inner_text()
    assert "5000001 transmissions, more than the 5000000 that a page holds. Name a window" in said


def test_a_flipped_byte_says_where_and_what_can_still_be_read(tmp_path, log):
    copy, file = copied(log, tmp_path)
    data = bytearray(file.read_bytes())
    at = data.index(b"PAR1", 4) + 4
    data[at + 1000] ^= 1
    file.write_bytes(data)
    place = f"transmissions.parquet, batch 1, at byte {at}, has another check sum than it says"
    said = f"copy.frames: damaged: {place}; write the log again"
    with pytest.raises(UserError, match=said):
        multihop.frames(copy)
    assert said in str(call("view", copy).exception)
    assert len(multihop.frames(copy, (100, 200))) == 0, "what does not overlap the batch can be read"


def test_a_file_that_is_missing_is_said(tmp_path, log):
    copy, _ = copied(log, tmp_path)
    (copy / "windows.parquet").unlink()
    with pytest.raises(UserError, match=r"damaged: windows\.parquet, which is missing; write the log again"):
        multihop.frames(copy)


def test_a_log_that_is_cut_short_says_where(tmp_path, log):
    copy, file = copied(log, tmp_path)
    file.write_bytes(file.read_bytes()[:-10])
    said = r"copy\.frames: transmissions\.parquet is cut short at byte \d+, after \d+ rows"
    with pytest.warns(UserWarning, match=said):
        found = multihop.frames(copy)
    assert found.equals(multihop.frames(log))
    done = call("view", copy)
    assert done.exit_code == 0
    assert "transmissions.parquet is cut short at byte" in " ".join(done.output.split())


def test_a_log_of_a_process_that_was_killed_is_read(tmp_path):
    """Without the end of any file, as a run leaves its folder when it is killed."""
    path = tmp_path / "chain.frames"
    multihop.run(SCENARIOS / "chain.toml", duration="100 s", warmup="0 s", frames=path)
    whole = multihop.frames(path)
    rows = 1 << 16
    assert len(whole) > rows, "there are two batches"
    file = path / "transmissions.parquet"
    data = file.read_bytes()
    ends = [at for at in range(len(data)) if data.startswith(b"PAR1", at)]
    file.write_bytes(data[: ends[3] - 1000])
    with pytest.warns(UserWarning, match=f"is cut short at byte .*, after {rows} rows"):
        found = multihop.frames(path)
    assert found.equals(whole[:rows])


def test_a_log_without_transmissions_says_so(browser, tmp_path):
    path = tmp_path / "none.frames"
    options = ["--duration", "2 s", "--warmup", "0 s", "-q", "--between", "1.9999999 s, 1.99999991 s"]
    assert call("run", SCENARIOS / "hidden-terminal.toml", "--frames", path, *options).exit_code == 0
    assert len(multihop.frames(path)) == 0
    tab = shown(browser, tmp_path, packed(path).data)
    assert "There is no transmission in this log." in tab.locator(".viewer").inner_text()
    for name in ("next collision", "next drop", "all"):
        tab.get_by_role("button", name=name).click()
    assert tab.said == []


def test_a_thousand_nodes_are_scrolled_through(browser, tmp_path):
    path = tmp_path / "row.frames"
    multihop.run(
        """
duration = "300 ms"
warmup = "0 s"
record_interval = "100 ms"
[topology]
generator = "grid"
columns = 40
rows = 25
spacing = "200 m"
[[flows]]
from = "n0"
to = "n2"
scheme = "udp"
""",
        frames=path,
    )
    tab = shown(browser, tmp_path, packed(path).data, "#node=n999&t=0.1&span=0.01")
    assert "nodes 977 to 1000 of 1000" in tab.locator(".viewer-status").inner_text()
    assert tab.evaluate("document.querySelector('.viewer > canvas').height") < 1_000
    assert tab.said == []


def test_names_are_text_wherever_they_are_shown(browser, tmp_path):
    path = tmp_path / "names.frames"
    name = "<img src=x onerror=alert(1)>"
    text = (SCENARIOS / "hidden-terminal.toml").read_text().replace('"left"', f'"{name}"')
    multihop.run(text, duration="1 s", warmup="0 s", frames=path)
    tab = shown(browser, tmp_path, packed(path).data)
    tab.get_by_role("button", name="next collision").click()
    tab.wait_for_timeout(300)
    assert name in tab.locator(".viewer").inner_text()
    assert tab.locator("img").count() == 0
    tab.get_by_role("searchbox").fill("<b>nobody</b>")
    tab.get_by_role("searchbox").press("Enter")
    assert "or time <b>nobody</b>." in tab.locator(".viewer-words").inner_text()
    assert tab.said == []


@pytest.mark.parametrize(
    "fragment",
    [
        "#t=nonsense&span=-1&flow=nobody&node=99&packet=x",
        "#t=1e300&span=1e300",
        "#t=Infinity&span=0",
        "#flow=" + "A" * 1_000_000,
        "#%E0%A4%A",
    ],
    ids=["words", "far", "infinite", "megabyte", "broken"],
)
def test_a_link_that_means_nothing_shows_the_log(browser, tmp_path, log, fragment):
    tab = shown(browser, tmp_path, packed(log).data, fragment)
    state = tab.evaluate("(({ from, to, at }) => [from, to, at])(document.querySelector('.viewer-host').viewer.state)")
    assert all(np.isfinite(state)), state
    assert 0 <= state[0] < state[1] <= 2e9
    assert 0 <= state[2] <= 2e9
    tab.get_by_role("button", name="all").click()
    tab.wait_for_timeout(300)
    assert "0.000 s to 2.000 s" in tab.locator(".viewer-status").inner_text()
    assert tab.said == []
