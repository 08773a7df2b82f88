"""Captures with several clocks, and logs that are damaged, cut short, empty or too large."""

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
#: pcapng: types of blocks, offsets of time stamp and radio timer, options of the time resolution.
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
    """Writes a copy of a capture with time stamps (ns) and timers (us) of `clock`, and changed interface blocks."""
    content, written, at = pcap.read_bytes(), bytearray(), 0
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
        written += block
    out.write_bytes(written)
    return out


def lanes(capture, tmp_path, interface=0):
    """Returns the transmissions of an interface, and the description of their log."""
    out = tmp_path / "lanes.frames"
    multihop.capture_frames(capture, out, interface=interface)
    found = read(out)
    return found.transmissions, found.head


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_each_interface_has_its_own_clock(pcap, tmp_path):
    """The clock of one interface is an hour ahead; the lanes of all interfaces remain."""
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


def test_interfaces_may_have_different_time_resolutions(pcap, tmp_path):
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
def test_lanes_are_ordered_after_a_clock_jumps_back(pcap, tmp_path, browser, has_timer):
    """The clock of the host, or also that of the radio, jumps back by 10 s in the middle."""
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
    assert list(after["kind"]) == list(before["kind"]), "no frame is lost"
    assert list(after["airtime"]) == list(before["airtime"])
    starts = after["start"].to_numpy()
    assert (np.diff(starts) >= 0).all()
    assert starts[0] >= 0
    assert head["duration_ns"] < 4e9
    if not has_timer:
        assert np.abs(starts - before["start"].to_numpy()).max() <= 1_000, "the radio's timer measures the gap"
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
    """Copies a log and returns it with the file of its transmissions."""
    copy = folder / "copy.frames"
    shutil.copytree(log, copy)
    return copy, copy / "transmissions.parquet"


def test_too_many_transmissions_for_a_page_are_refused(browser, tmp_path, log, monkeypatch):
    monkeypatch.setattr("multihop.cli.view._MAX_TRANSMISSIONS", 100)
    done = call("view", log, "--out", tmp_path / "x.html")
    assert isinstance(done.exception, UserError)
    assert "transmissions, at most 100 can be read; name an interval" in str(done.exception)
    assert not (tmp_path / "x.html").exists()
    data = packed(log).data
    at = data.index(b'"name":"transmissions","rows":') + len(b'"name":"transmissions","rows":')
    # The header is padded to a multiple of eight bytes, which leaves room for the number.
    length = int.from_bytes(data[:4], "little")
    rows = len(data[at : at + 20].split(b"}")[0])
    huge = data[:at] + b"5000001".ljust(rows) + data[at + rows :]
    tab = shown(browser, tmp_path, (length + len(huge) - len(data)).to_bytes(4, "little") + huge[4:])
    message = tab.get_by_role("alert").inner_text()
    assert "5000001 transmissions; a page holds at most 5000000. Name an interval" in message


def test_a_flipped_bit_is_located_and_other_intervals_are_read(tmp_path, log):
    copy, file = copied(log, tmp_path)
    data = bytearray(file.read_bytes())
    at = data.index(b"PAR1", 4) + 4
    data[at + 1000] ^= 1
    file.write_bytes(data)
    fault = f"batch 1 at byte {at} does not match its checksum"
    message = f"copy.frames: transmissions.parquet is damaged: {fault}; write the log again"
    with pytest.raises(UserError, match=message):
        multihop.frames(copy)
    assert message in str(call("view", copy).exception)
    assert len(multihop.frames(copy, (100, 200))) == 0, "intervals outside the batch can be read"


def test_a_missing_file_is_reported(tmp_path, log):
    copy, _ = copied(log, tmp_path)
    (copy / "windows.parquet").unlink()
    with pytest.raises(UserError, match=r"windows\.parquet is damaged: the file is missing; write the log again"):
        multihop.frames(copy)


def test_a_log_that_is_cut_short_is_read_with_a_warning(tmp_path, log):
    copy, file = copied(log, tmp_path)
    file.write_bytes(file.read_bytes()[:-10])
    message = r"copy\.frames: transmissions\.parquet is cut short at byte \d+, after \d+ rows"
    with pytest.warns(UserWarning, match=message):
        found = multihop.frames(copy)
    assert found.equals(multihop.frames(log))
    done = call("view", copy)
    assert done.exit_code == 0
    assert "transmissions.parquet is cut short at byte" in " ".join(done.output.split())


def test_a_log_of_a_process_that_was_killed_is_read(tmp_path):
    """A killed run leaves files without an end."""
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


def test_an_empty_log_is_shown_with_a_note(browser, tmp_path):
    path = tmp_path / "none.frames"
    options = ["--duration", "2 s", "--warmup", "0 s", "-q", "--between", "1.9999999 s, 1.99999991 s"]
    assert call("run", SCENARIOS / "hidden-terminal.toml", "--frames", path, *options).exit_code == 0
    assert len(multihop.frames(path)) == 0
    tab = shown(browser, tmp_path, packed(path).data)
    assert "The log contains no transmission." in tab.locator(".viewer").inner_text()
    for name in ("next collision", "next drop", "all"):
        tab.get_by_role("button", name=name).click()
    assert tab.said == []


def test_a_thousand_nodes_can_be_scrolled(browser, tmp_path):
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


def test_names_are_never_markup(browser, tmp_path):
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
def test_an_invalid_link_shows_the_log(browser, tmp_path, log, fragment):
    tab = shown(browser, tmp_path, packed(log).data, fragment)
    state = tab.evaluate("(({ from, to, at }) => [from, to, at])(document.querySelector('.viewer-host').viewer.state)")
    assert all(np.isfinite(state)), state
    assert 0 <= state[0] < state[1] <= 2e9
    assert 0 <= state[2] <= 2e9
    tab.get_by_role("button", name="all").click()
    tab.wait_for_timeout(300)
    assert "0.000 s to 2.000 s" in tab.locator(".viewer-status").inner_text()
    assert tab.said == []
