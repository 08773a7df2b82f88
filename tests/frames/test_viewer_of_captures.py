"""The viewer of captures shows only what a sniffer receives."""

import struct

import pytest

import multihop
from conftest import SCENARIOS
from multihop.framelog import packed
from multihop.report.viewer import page
from pcap_files import write_pcap

#: pcapng: the kind of a block with a packet; pcap: the link type of bare 802.11; bytes of the check sequence.
PACKET, IEEE80211, FCS = 6, 105, 4
#: Returns for each lane the mean number of coloured pixels in its coloured columns.
COLOURED = """() => {
  const { viewer } = document.querySelector(".viewer-host");
  const copy = new OffscreenCanvas(viewer.canvas.width, viewer.canvas.height).getContext("2d");
  copy.drawImage(viewer.canvas, 0, 0);
  const { width, height, data } = copy.getImageData(0, 0, viewer.canvas.width, viewer.canvas.height);
  // Lines of the axis are grey.
  const isColoured = (at) => Math.max(...data.subarray(at, at + 3)) - Math.min(...data.subarray(at, at + 3)) > 20;
  return viewer.state.nodes.map((_, lane) => {
    let marks = 0;
    const columns = new Set();
    for (let y = 26 + 26 * lane; y < 43 + 26 * lane; y += 1) {
      for (let x = 112; x < width; x += 1) {
        if (!isColoured(4 * (y * width + x))) continue;
        marks += 1;
        columns.add(x);
      }
    }
    return columns.size && marks / columns.size;
  });
}"""
MODEL = "document.querySelector('.viewer-host').viewer.model"


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    """Returns the capture of a run."""
    path = tmp_path_factory.mktemp("captured") / "chain.pcapng"
    multihop.run(SCENARIOS / "chain.toml", duration="3 s", warmup="0 s", pcap=path)
    return path


@pytest.fixture
def opened(shown, tmp_path):
    """Opens the page of a capture."""

    def open_page(capture, fragment="", **options):
        log = tmp_path / "captured.frames"
        multihop.capture_frames(capture, log)
        file = log.with_suffix(".html")
        file.write_text(page(packed(log).data, "captured"), encoding="utf-8")
        tab = shown(file.as_uri() + fragment, **options)
        tab.wait_for_selector(".viewer > canvas")
        return tab

    return open_page


def test_neither_backoff_nor_queues_are_invented(opened, capture):
    tab = opened(capture, "#t=1&span=0.05")
    assert tab.evaluate(f"{MODEL}.count") > 500
    assert tab.evaluate(f"{MODEL}.contends.every((since) => since === -1)")
    tab.locator(".viewer > canvas").focus()
    said = tab.locator(".viewer-words")
    for _ in range(8):
        tab.keyboard.press("n")
        assert "sent" in said.inner_text()
        for word in ("contended", "backoff", "waited in the queue"):
            assert word not in said.inner_text()
    legend = tab.locator(".viewer-legend").all_inner_texts()
    assert len(legend) == 1
    assert legend[0].split() == ["RTS", "CTS", "DATA", "ACK"]
    assert tab.evaluate("document.querySelector('.viewer-host').viewer.state.tracks") == ["rate"]
    assert tab.get_by_role("button", name="next").count() == 0
    tab.keyboard.press("c")
    assert said.inner_text() == "A capture does not show collisions."


def without_rates(capture, out, limit):
    """Writes the first frames of a capture without radiotap headers, as some drivers do."""
    content, packets, at = capture.read_bytes(), [], 0
    while at < len(content) and len(packets) < limit:
        kind, length = struct.unpack_from("<II", content, at)
        if kind == PACKET:
            _, high, low, caught = struct.unpack_from("<IIII", content, at + 8)
            packet = content[at + 28 : at + 28 + caught]
            bare = packet[struct.unpack_from("<H", packet, 2)[0] : -FCS]
            stamp = ((high << 32) + low) // 1000
            packets.append((stamp, bare))
        at += length
    return write_pcap(out, IEEE80211, packets)


def test_without_rates_lanes_count_frames(opened, tmp_path):
    long = tmp_path / "long.pcapng"
    multihop.run(SCENARIOS / "chain.toml", duration="15 s", warmup="0 s", pcap=long)
    tab = opened(without_rates(long, tmp_path / "bare.pcap", 20_000))
    count = tab.evaluate(f"{MODEL}.count")
    assert count > 8_000, "more frames than are drawn one by one"
    assert f"The capture does not contain the rate of {count} of its {count} frames." in tab.inner_text(
        ".viewer-note >> nth=1"
    )
    tab.get_by_role("button", name="all").click()
    tab.evaluate("document.querySelector('.viewer-host').viewer.drawNow()")
    found = tab.evaluate(COLOURED)
    numbers = tab.evaluate(f"{MODEL}.lane.map((lane) => lane.order.length)")
    assert all(height >= 4 for height, number in zip(found, numbers, strict=True) if number > 100)
    assert max(found) > 6
    tab.evaluate("document.querySelector('.viewer-host').viewer.choose(7)")
    assert "at an unknown rate" in tab.inner_text(".viewer-words")
    assert "0 Mb/s" not in tab.inner_text("body")
    assert "0 ns" not in tab.inner_text("body")


def repeated(capture, out, delay):
    """Writes a capture twice, the second time `delay` seconds later, so that all sequence numbers are reused."""
    content = capture.read_bytes()
    again, at = bytearray(), 0
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        block = bytearray(content[at : at + length])
        at += length
        if kind == PACKET:
            _, high, low = struct.unpack_from("<III", block, 8)
            later = (high << 32) + low + delay * 1_000_000_000
            struct.pack_into("<II", block, 12, later >> 32, later & 0xFFFF_FFFF)
            (timer,) = struct.unpack_from("<Q", block, 28 + 8)
            struct.pack_into("<Q", block, 28 + 8, timer + delay * 1_000_000)
            again += block
    out.write_bytes(content + again)
    return out


def test_a_packet_of_a_capture_ends_before_its_number_is_reused(opened, capture, tmp_path):
    tab = opened(repeated(capture, tmp_path / "twice.pcapng", 60))
    first, second, tries = tab.evaluate(
        """() => {
      const { model } = document.querySelector(".viewer-host").viewer;
      const key = (i) => `${model.flow[i]} ${model.packet[i]}`;
      const seen = new Map();
      for (let i = 0; i < model.count && model.start[i] < 30e9; i += 1) {
        if (model.packet[i] > 0) seen.set(key(i), [...(seen.get(key(i)) || []), i]);
      }
      // A packet with several frames.
      const wanted = [...seen].find(([, frames]) => frames.length > 1)[0];
      const all = [...model.start.keys()].filter((i) => key(i) === wanted);
      const late = all.filter((i) => model.start[i] > 30e9);
      return [all[0], late[0], all.length - late.length];
    }"""
    )
    said = tab.locator(".viewer-words")
    lines = {}
    for i in (first, second):
        tab.evaluate(f"document.querySelector('.viewer-host').viewer.choose({i})")
        lines[i] = [float(line.split()[0]) for line in said.locator("li").all_inner_texts()]
        assert "1 other packet has this number: sequence numbers are reused." in said.inner_text()
    assert max(lines[first]) < 5
    assert min(lines[second]) > 55
    assert len(lines[first]) == len(lines[second]) >= tries > 1
    address = tab.evaluate("new Promise((done) => setTimeout(() => done(location.hash), 400))")
    again = opened(tmp_path / "twice.pcapng", address)
    assert again.locator(".viewer-words li").first.inner_text().startswith(f"{lines[second][0]:.6f}")
