"""Names of stations in `measure`, its first screen, and digits that the number of values carries."""

import sys
import types

import pytest

import multihop
from conftest import CHAIN
from multihop import UserError, stations
from multihop.base import extras
from multihop.measurement import ENOUGH
from multihop.report.measurement import page, summarised
from multihop.stations import read_names, vendor
from pcap_files import write_pcap


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    path = tmp_path_factory.mktemp("capture") / "run.pcapng"
    multihop.run(CHAIN, pcap=path)
    return path


@pytest.fixture
def busiest(capture):
    found = multihop.measure(capture)
    return str(found.busiest(found.sniffers[0])["station"].iloc[0])


@pytest.mark.parametrize("line", ["{} roof of the house", "{},roof of the house", '"{}","roof of the house"'])
def test_names_are_lines_of_an_address_and_a_name(tmp_path, line):
    file = tmp_path / "names"
    file.write_text(f"address,name\n# mine\n\n{line.format('00-11-22-AA-BB-CC')}\n")
    assert read_names(file).label("00:11:22:aa:bb:cc") == "roof of the house 00:11:22:aa:bb:cc"


@pytest.mark.parametrize(("text", "says"), [("x\nroof 1\n", ":1: found 'x'"), ("00:11:22:33:44:55\n", "has no name")])
def test_a_file_without_names_is_refused(tmp_path, inline, capture, text, says):
    (tmp_path / "names").write_text(text)
    assert says in inline("measure", capture, "--names", "names").fails_cleanly()
    with pytest.raises(UserError, match="no such file"):
        multihop.measure(capture, names=tmp_path / "none")


def test_names_are_shown_in_terminal_page_and_repr(tmp_path, inline, capture, busiest):
    (tmp_path / "names").write_text(f"{busiest} roof<1>\n")
    shown = inline("measure", capture, "--names", "names", "--all").out
    assert f"roof<1> {busiest}" in shown
    assert "roof<1> > " in shown
    found = multihop.measure(capture, names=tmp_path / "names")
    assert f"roof&lt;1&gt; {busiest}" in page(found)
    assert f"roof<1> {busiest}" in "".join(found.summary(found.sniffers[0]))


def test_addresses_without_a_vendor(monkeypatch):
    assert vendor("02:00:00:00:00:01") == "(random)"
    assert vendor("no address") == ""
    monkeypatch.setattr(extras, "has", lambda _: False)
    stations.vendor.cache_clear()
    assert vendor("00:11:22:33:44:55") == ""
    stations.vendor.cache_clear()


def test_vendors_are_those_of_the_registry(monkeypatch):
    class NotRegisteredError(Exception):
        pass

    def eui(address):
        if address.startswith("00:00:01"):
            raise NotRegisteredError
        registered = types.SimpleNamespace(org="A very long name of a vendor, Ltd.")
        return types.SimpleNamespace(oui=types.SimpleNamespace(registration=lambda: registered))

    monkeypatch.setitem(sys.modules, "netaddr", types.SimpleNamespace(EUI=eui, NotRegisteredError=NotRegisteredError))
    monkeypatch.setattr(extras, "has", lambda _: True)
    stations.vendor.cache_clear()
    assert vendor("00:11:22:33:44:55") == "(A very long name of)"
    assert vendor("00:00:01:33:44:55") == ""
    stations.vendor.cache_clear()


def test_the_page_begins_with_channel_use_stations_and_quality(capture, busiest):
    found = multihop.measure(capture)
    text = page(found)
    first = text.partition("<h2>Overview</h2>")[2].partition("</section>")[0]
    assert "The channel was busy" in first
    assert busiest in first or "At " in first
    assert "Capture quality: " in first
    assert text.index("busiest stations") < text.index("Airtime over time")


def test_few_values_have_three_digits_and_no_quantiles():
    few = {"count": 3, "mean": 135.0004, "q05": 135.0, "q95": 135.0}
    assert summarised(few, 1.0, 3) == ["135", "", ""]
    assert summarised({**few, "count": ENOUGH}, 1.0, 3) == ["135.000", "135.000", "135.000"]


def beacon(address, elements):
    """A beacon at 6 Mb/s."""
    header = bytes([0x80, 0, 0, 0, *[0xFF] * 6, *address, *address, 0, 0])
    return bytes([0, 0, 9, 0, 4, 0, 0, 0, 12]) + header + bytes(12) + elements


def test_stations_without_a_name_have_that_of_the_network_that_they_announce(tmp_path, inline):
    ap, mesh, hidden = (bytes([2, 0, 0, 0, 0, last]) for last in (1, 2, 3))
    frames = [
        beacon(ap, b"\x00\x09roof\n\x1b[2J"),
        beacon(mesh, b"\x00\x00\x01\x01\x82\x72\x07village"),
        beacon(hidden, b"\x00\x04\x00\x00\x00\x00"),
    ]
    records = [(100_000 * number, frame) for number, frame in enumerate(frames)]
    path = write_pcap(tmp_path / "beacons.pcap", 127, records)
    found = multihop.measure(path)
    assert list(found.stations["network"]) == ["roof\n\x1b[2J", "village", ""]
    labels = [found.names.label(address) for address in found.stations["station"]]
    assert labels == ["roof\\n\\x1b[2J 02:00:00:00:00:01", "village 02:00:00:00:00:02", "02:00:00:00:00:03 (random)"]
    assert [found.names.short(address) for address in found.stations["station"]][1:] == ["village", "02:00:00:00:00:03"]
    twice = found.names.before({"02:00:00:00:00:03": "village"})
    assert twice.short("02:00:00:00:00:02") == "02:00:00:00:00:02", "two stations announce it"
    (tmp_path / "names").write_text("02:00:00:00:00:02 church\n")
    shown = inline("measure", path, "--names", "names").out
    assert "church 02:00:00:00:00:02" in shown
    assert "roof\\n\\x1b[2J 02:00:00:00:00:01" in shown
