"""`multihop measure` on captures of radios that hop, of remote sniffers, and on files with nothing to read."""

import json
import re
import struct

import pandas as pd
import pytest

from multihop import UserError, capture_frames, frames, measure
from multihop.measurement import channel_number
from pcap_files import write_pcap

DATA = bytes([8, 0, 0, 0, 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, *[0xFF] * 6])


def radiotap(at_us, mhz, number):
    """200 bytes of data at 6 Mb/s, with timer, flags, rate and channel."""
    header = struct.pack("<QBBHH", at_us, 0, 12, mhz, 0x140)
    frame = DATA + struct.pack("<H", number % 4096 << 4) + bytes(176)
    return struct.pack("<BBHI", 0, 0, 8 + len(header), 0b1111) + header + frame


@pytest.fixture
def hopping(tmp_path):
    """Half a second on each of two channels in turn, four times; a frame each 10 ms, and on the second each 50."""
    records = []
    for number in range(400):
        at_us = 10_000 * number
        second = number // 50 % 2 == 1
        if not second or number % 5 == 0:
            records.append((at_us, radiotap(at_us, 5200 if second else 5180, number)))
    return write_pcap(tmp_path / "hop.pcap", 127, records)


def test_a_hopping_radio_is_measured_channel_by_channel(hopping, tmp_path, inline):
    found = measure(hopping)
    assert [(sniffer.channel_mhz, sniffer.title) for sniffer in found.sniffers] == [
        (5180, "interface 0 at 5180 MHz"),
        (5200, "interface 0 at 5200 MHz"),
    ]
    first, second = found.channels.to_dict("records")
    assert (first["channel"], second["channel"], first["frames"], second["frames"]) == (36, 40, 200, 40)
    # Each is known to half a gap at each of seven changes.
    assert first["length_s"] == pytest.approx(2.0, abs=0.15)
    assert first["share"] + second["share"] == pytest.approx(1.0)
    # 204 bytes with the check sequence: 1654 bits in 69 symbols, behind 20 us.
    for row in (first, second):
        assert row["busy_ratio"] == pytest.approx(row["frames"] * 296e-6 / row["length_s"], rel=1e-6)
    for table in (found.airtime, found.busy, found.stations, found.links, found.rates):
        assert list(table.columns[:2]) == ["interface", "channel_mhz"]
    for sniffer in found.sniffers:
        airtime = found.of(found.airtime, sniffer)
        assert airtime["time_s"].max() < sniffer.length_s
        assert any(reason.startswith("the radio changed its channel 7 times") for reason in sniffer.reasons)
    out = inline("measure", hopping, "--out", tmp_path / "out").out
    assert re.search(r"interface 0 at 5180 MHz +200 ", out)
    assert "Channels" in (tmp_path / "out" / "report.html").read_text()
    written = pd.read_csv(tmp_path / "out" / "channels.csv")
    assert list(written["channel_mhz"]) == [5180, 5200]
    record = json.loads(inline("measure", hopping, "--json").out)
    assert [row["channel"] for row in record["channels"]] == [36, 40]


def test_a_frame_log_is_of_one_channel(hopping, tmp_path, inline):
    made = capture_frames(hopping, tmp_path / "most.frames")
    assert (made.channel_mhz, made.transmissions) == (5180, 200)
    assert len(frames(tmp_path / "most.frames")) == 200
    assert inline("measure", hopping, "--frames", tmp_path / "other.frames", "--channel", "5200").code == 0
    assert len(frames(tmp_path / "other.frames")) == 40
    with pytest.raises(UserError, match="no such interface or channel"):
        capture_frames(hopping, tmp_path / "none.frames", channel=2412)


def test_numbers_of_channels():
    numbers = {2412: 1, 2472: 13, 2484: 14, 5180: 36, 5825: 165, 4920: 184, 5955: 1, 6115: 33, 0: 0, 2413: 0}
    assert {mhz: channel_number(mhz) for mhz in numbers} == numbers


def test_frames_of_a_remote_sniffer_are_measured(tmp_path):
    def tzsp(number):
        tags = bytes([10, 1, 0xC4, 12, 1, 12, 18, 1, 36, 1])
        payload = bytes([1, 0, 0, 18]) + tags + DATA + struct.pack("<H", number << 4) + bytes(176)
        udp = struct.pack(">HHHH", 1000, 37008, 8 + len(payload), 0) + payload
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes(4), bytes(4)) + udp
        return bytes(12) + b"\x08\x00" + ip

    found = measure(write_pcap(tmp_path / "tzsp.pcap", 1, [(10_000 * n, tzsp(n)) for n in range(20)]))
    (sniffer,) = found.sniffers
    assert (sniffer.channel_mhz, sniffer.quality["unreadable"]) == (5180, 0)
    assert found.kinds(sniffer)["frames"].sum() == 20
    assert found.stations["signal_mean_dbm"].iloc[0] == -60


@pytest.mark.parametrize("as_json", [False, True])
def test_nothing_that_can_be_read_is_an_error_with_the_reason(tmp_path, inline, as_json):
    path = write_pcap(tmp_path / "ethernet.pcap", 1, [(1000 * n, bytes(60)) for n in range(5)])
    done = inline("measure", path, *(["--json"] if as_json else []), "--out", tmp_path / "out")
    assert done.code != 0
    assert "nothing could be measured: 5 of 5 records have no readable frame" in done.err
    assert "link type 1 (Ethernet) has no 802.11 headers" in done.err
    assert not (tmp_path / "out").exists()
