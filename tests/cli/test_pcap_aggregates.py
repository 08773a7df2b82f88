"""`run --pcap` of 802.11n, ac and ax: MPDUs of aggregates and block acknowledgements, as tshark and `measure` read them."""

from collections import Counter

import pytest

from multihop import run

SCENARIO = """
name = "aggregates"
duration = "{duration}"
warmup = "0 s"

[phy]
standard = "{standard}"

[mac.aggregation]
{aggregation}

[medium]
model = "ranges"
packet_error_rate = {loss}

[topology]
generator = "chain"
hops = {hops}
spacing = "200 m"

[[flows]]
from = "n0"
to = "n{hops}"
scheme = "{scheme}"
app = {{ kind = "saturated" }}

[[measure]]
estimator = "busy-ratio"
"""

WRONG = "_ws.malformed || _ws.expert.severity == 0x800000"
QOS_DATA, REQUEST, BLOCK_ACK = "0x0028", "0x0018", "0x0019"


def scenario(standard="802.11n", aggregation="", *, loss=0.1, hops=1, scheme="udp", duration="500 ms"):
    return SCENARIO.format(
        standard=standard, aggregation=aggregation, loss=loss, hops=hops, scheme=scheme, duration=duration
    )


@pytest.mark.parametrize(
    ("standard", "aggregation"),
    [
        ("802.11n", ""),
        ("802.11n", 'a_msdu = "3839 B"'),
        ("802.11n", 'a_msdu = "7935 B"\na_mpdu = "off"'),
        ("802.11n", 'a_mpdu = "off"'),
        ("802.11ac", 'a_msdu = "11398 B"\nrts = true'),
        ("802.11ax", ""),
        ("802.11ax", "window = 64"),
    ],
)
def test_tshark_has_nothing_to_complain_of(tshark, tmp_path, standard, aggregation):
    path = tmp_path / "run.pcapng"
    run(scenario(standard, aggregation, hops=3, scheme="tcp-sack", duration="1 s"), pcap=path)
    assert tshark(path, "frame.number", "_ws.expert.message", only=WRONG) == []
    kinds = Counter(kind for (kind,) in tshark(path, "wlan.fc.type_subtype"))
    assert kinds[QOS_DATA] > 500
    # Hidden stations destroy some block acknowledgements.
    assert (kinds[BLOCK_ACK] > 100) == ("a_mpdu" not in aggregation)
    packets = tshark(path, "wlan.qos.amsdupresent", "tcp.checksum.status", only="wlan.fc.type_subtype == 0x28")
    assert any("1" in a_msdu for a_msdu, _ in packets) == ("a_msdu" in aggregation)
