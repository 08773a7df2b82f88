"""`run --pcap` with access categories: traffic identifiers and codepoints, as tshark and `measure` read them."""

import pytest

from multihop import measure, run

SCENARIO = """
name = "categories"
duration = "1 s"
warmup = "0 s"

[phy]
standard = "{standard}"

[mac]
queue = 100

[mac.edca]

[medium]
model = "ranges"
packet_error_rate = 0.1

[topology]
generator = "chain"
hops = {hops}
spacing = "200 m"

[routing]
protocol = "{routing}"

[[flows]]
from = "n0"
to = "n{hops}"
scheme = "udp"
app = {{ kind = "cbr", rate = "500 kb/s", packet = "200 B", dscp = "EF" }}

[[flows]]
from = "n0"
to = "n{hops}"
scheme = "tcp-sack"
app = {{ kind = "saturated", dscp = 34 }}

[[flows]]
from = "n0"
to = "n{hops}"
scheme = "tcp-sack"
"""

WRONG = "_ws.malformed || _ws.expert.severity == 0x800000"


def captured(path, standard="802.11n", hops=2, routing="static"):
    return run(SCENARIO.format(standard=standard, hops=hops, routing=routing), pcap=path)


@pytest.mark.parametrize("standard", [pytest.param("802.11n", marks=pytest.mark.long), "802.11a"])
def test_frames_have_the_identifier_of_their_codepoint_on_every_hop(tshark, tmp_path, standard):
    path = tmp_path / "run.pcapng"
    captured(path, standard)
    assert tshark(path, "frame.number", "_ws.expert.message", only=WRONG) == []
    for node in ("n0", "n1", "n2"):
        sent = f'wlan.fc.type_subtype == 0x28 && radiotap.txflags && frame.interface_name == "{node}"'
        pairs = {tuple(row) for row in tshark(path, "wlan.qos.tid", "ip.dsfield.dscp", only=sent)}
        # Datagrams have no acknowledgements.
        expected = {("6", "46"), ("4", "34"), ("0", "0")} if node != "n2" else {("4", "34"), ("0", "0")}
        assert pairs == expected, node


def test_aggregates_and_their_answers_are_of_one_identifier(tshark, tmp_path):
    path = tmp_path / "run.pcapng"
    captured(path)
    identifiers = {}
    sent = 'wlan.fc.type_subtype == 0x28 && radiotap.ampdu.reference && frame.interface_name == "n0"'
    for reference, tid in tshark(path, "radiotap.ampdu.reference", "wlan.qos.tid", only=sent):
        identifiers.setdefault(reference, set()).add(tid)
    assert len(identifiers) > 50
    assert all(len(tids) == 1 for tids in identifiers.values())
    answers = {tid for (tid,) in tshark(path, "wlan.ba.basic.tidinfo", only="wlan.fc.type_subtype == 0x19")}
    assert answers <= {"0x0000", "0x0004", "0x0006"}
    assert {"0x0000", "0x0004"} <= answers


def test_messages_of_routing_are_network_control(tshark, tmp_path):
    path = tmp_path / "run.pcapng"
    captured(path, routing="aodv")
    pairs = {tuple(row) for row in tshark(path, "wlan.qos.tid", "ip.dsfield.dscp", only="udp.port == 654")}
    assert pairs == {("7", "48")}


@pytest.mark.parametrize("standard", ["802.11n", "802.11a"])
def test_measure_gives_back_what_the_run_knew(tmp_path, standard):
    path = tmp_path / "run.pcapng"
    result = captured(path, standard, hops=1)
    link = result.links[result.links["sender"] == 0].iloc[0]
    found = measure(path)
    for sniffer in found.sniffers:
        seen = found.links[(found.links["interface"] == sniffer.interface) & (found.links["bytes"] > 1e6)].iloc[0]
        assert seen["acknowledged"] == link["acknowledged"]
        # Each identifier counts for itself. Of what an A-MPDU loses the air has nothing.
        assert standard == "802.11n" or sniffer.quality["missed"] == 0
