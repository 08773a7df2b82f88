"""`multihop measure`: captures of runs, in which the truth is known, and files that are none."""

import gzip
import re

import pytest

from multihop import UserError, measure, run
from pcap_files import write_pcap

ONE_HOP = """
name = "one hop"
duration = "4 s"
warmup = "1 s"

[phy]
standard = "802.11b"
data_rate = "11 Mb/s"
control_rate = "1 Mb/s"

[mac]
rules = "ieee"
rts_threshold = "0 B"

[topology]
generator = "chain"
hops = 1
spacing = "100 m"

[[flows]]
from = "n0"
to = "n1"
scheme = "udp"
app = { kind = "saturated" }

"""


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    path = tmp_path_factory.mktemp("capture") / "one-hop.pcapng"
    result = run(ONE_HOP, pcap=path)
    return path, result


def test_one_saturated_hop_measured_back(capture):
    path, result = capture
    found = measure(path)
    assert [sniffer.name for sniffer in found.sniffers] == ["n0", "n1"]
    assert {sniffer.grade for sniffer in found.sniffers} == {"good"}
    for sniffer in found.sniffers:
        link = found.links[found.links["interface"] == sniffer.interface].iloc[0]
        assert link["exchanges"] == pytest.approx(link["answered"], abs=1)
        # Eq. 6 as printed: 1500 bytes over DATA with LLC (1310 us), ACK (304), and 2 us of propagation.
        assert link["capacity_bps"] == pytest.approx(12_000 / 1616e-6, rel=1e-6)
        assert link["capacity_low_bps"] <= link["capacity_bps"] <= link["capacity_high_bps"]
        assert 0 < link["available_low_bps"] < link["available_bps"] < link["available_high_bps"]
        # The payload is 1472 of the 1500 bytes of each packet.
        goodput = result.summary["goodput_total_bps"]
        assert link["goodput_bps"] * 1472 / 1500 == pytest.approx(goodput, rel=2e-2)
        assert 0.7 < found.busy_ratio(sniffer) < 0.95


def test_airtime_adds_up(capture):
    found = measure(capture[0], bin="500 ms")
    for sniffer in found.sniffers:
        mine = found.airtime[found.airtime["interface"] == sniffer.interface]
        # One hop has no collisions, so that nothing overlaps.
        busy = found.busy_ratio(sniffer) * sniffer.length_s
        assert mine["airtime_s"].sum() == pytest.approx(busy, rel=1e-9)
        assert mine["frames"].sum() == sniffer.quality["records"]
        assert mine.groupby("time_s")["share"].sum().max() <= 1.01
        by_kind = mine.groupby("kind")[["frames", "bytes", "airtime_s"]].sum()
        totals = found.kinds(sniffer).set_index("kind")
        assert set(totals.index) == {"reservation", "acknowledgement", "data"}
        assert (totals.sort_index() - by_kind).abs().to_numpy().max() < 1e-9


def test_the_command_prints_writes_and_is_json(inline, capture, tmp_path):
    path, _ = capture
    said = inline("measure", path, "--all", "--out", tmp_path / "m").out
    assert "capture quality: good" in said
    assert "02:00:00:00:00:00 > 02:00:00:00:00:01" in said
    written = {one.name for one in (tmp_path / "m").iterdir()}
    assert {"airtime.parquet", "links.csv", "rates.csv", "report.html", "manifest.json"} <= written
    assert "<svg" in (tmp_path / "m" / "report.html").read_text()
    record = inline("measure", path, "--json").json()
    assert record["links"][0]["sender"] == "02:00:00:00:00:00"
    # Again into the same folder, but not over what is not ours.
    assert inline("measure", path, "--out", tmp_path / "m").code == 0
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "links.csv").write_text("mine")
    assert "not a results folder" in inline("measure", path, "--json", "--out", tmp_path / "other").err
    assert (tmp_path / "other" / "links.csv").read_text() == "mine"


def test_a_cut_capture_gives_what_came_before_and_says_so(inline, capture, tmp_path):
    content = capture[0].read_bytes()
    cut = tmp_path / "cut.pcapng.gz"
    cut.write_bytes(gzip.compress(content[: len(content) // 2 + 1]))
    done = inline("measure", cut, "--all")
    assert done.code == 2
    assert "capture quality" in done.out
    assert "what was read before that is above" in done.err
    assert measure(cut).broken is not None


@pytest.mark.parametrize("content", [b"", b"hello, this is no capture", b"\x0a\x0d\x0d\x0a"])
def test_files_that_are_no_captures(inline, tmp_path, content):
    path = tmp_path / "x.pcap"
    path.write_bytes(content)
    assert str(path) in inline("measure", path).fails_cleanly()


def test_bad_arguments(inline, capture, tmp_path):
    path, _ = capture
    assert "begin, mpdu or end" in inline("measure", path, "--stamps", "middle").fails_cleanly()
    for bin in ("0 s", "-1 s", "soon", "1 parsec", "nan"):
        assert "bin" in inline("measure", path, "--bin", bin).fails_cleanly()
    with pytest.raises(UserError, match="No such file"):
        measure(tmp_path / "nowhere.pcap")


def test_damaged_frames_are_a_kind_of_their_own_everywhere(inline, tmp_path):
    def record(at_us, flags, frame):
        # Radiotap with flags (0x40: bad FCS) and a rate of 2 Mb/s.
        return at_us, bytes([0, 0, 10, 0, 6, 0, 0, 0, flags, 4]) + frame

    cts = bytes([0xC4, 0, 0, 0, 2, 0, 0, 0, 0, 1])
    records = [record(1_000, 0, cts), record(9_000, 0x40, bytes(range(196))), record(500_000, 0, cts)]
    path = write_pcap(tmp_path / "damaged.pcap", 127, records)
    found = measure(path)
    (row,) = found.airtime[found.airtime["kind"] == "damaged"].to_dict("records")
    # 192 us of long preamble, and 200 bytes at 2 Mb/s.
    assert (row["station"], row["frames"], row["bytes"]) == ("", 1, 200)
    assert row["airtime_s"] == pytest.approx(992e-6, abs=1e-9)
    assert found.sniffers[0].quality["damaged"] == 1
    assert "1 of 3 frames are damaged (33.3 %)" in found.sniffers[0].reasons
    said = inline("measure", path, "--out", tmp_path / "out").out
    assert re.search(r"damaged +1 +200 +0.2 %", said)
    # In the picture, with the colour of its kind.
    assert "#999999" in (tmp_path / "out" / "report.html").read_text()
    assert "damaged" in (tmp_path / "out" / "airtime.csv").read_text()


def test_five_sniffers_of_one_chain_agree(data):
    """ns-3's captures of a 4-hop chain at 2 Mb/s with RTS/CTS: a link has the same capacity in all captures."""
    seen = {}
    for node in range(5):
        found = measure(data.parent / "pcap" / f"gen-ns3-chain4-rts-node{node}.pcap")
        assert found.sniffers[0].own is not None
        for link in found.links.to_dict("records"):
            if link["capacity_batches"] >= 4:
                seen.setdefault((link["sender"], link["receiver"]), []).append(link["capacity_bps"])
    down = [values for (sender, receiver), values in seen.items() if sender < receiver]
    assert len(down) == 4
    for values in down:
        assert max(values) - min(values) < 0.02 * max(values)
