"""`run --pcap` of 802.11n, ac and ax: aggregates and block acknowledgements, as tshark and `measure` read them."""

from collections import Counter, defaultdict

import pytest

from multihop import measure, run

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


def test_the_durations_of_802_11n_are_those_of_tshark(tshark, tmp_path):
    path = tmp_path / "run.pcapng"
    run(scenario(), pcap=path)
    fields = ("wlan_radio.duration", "wlan_radio.aggregate.duration", "frame.time_epoch", "radiotap.mactime")
    # Alone, and the last of an A-MPDU; both stamps are those of the whole PPDU, behind and after 36 us of preamble.
    ends = "wlan.fc.type_subtype == 0x28 && radiotap.txflags && (!radiotap.ampdu || radiotap.ampdu.flags.last == 1)"
    off = Counter(
        round(float(end) * 1e6 - float(tsft)) + 36 - int(whole or alone)
        for alone, whole, end, tsft in tshark(path, *fields, only=ends)
    )
    # tshark leaves the delimiter of the last MPDU out: sometimes that is a symbol.
    assert off.keys() <= {0, 4}, off
    assert off[0] >= 0.9 * off.total()
    assert off.total() > 80


def test_the_durations_of_802_11ac_are_near_those_of_tshark(tshark, tmp_path):
    path = tmp_path / "run.pcapng"
    run(scenario("802.11ac"), pcap=path)
    fields = ("wlan_radio.aggregate.duration", "frame.time_epoch", "radiotap.mactime")
    ends = tshark(path, *fields, only="radiotap.txflags && radiotap.ampdu.flags.last == 1")
    assert len(ends) > 80
    for whole, end, tsft in ends:
        # tshark has no signal field B in the preamble (4 us, 21.3.4), and does not round up to whole symbols.
        assert 4 <= float(end) * 1e6 - float(tsft) + 40 - int(whole) <= 9


def test_fields_of_schemes_say_what_the_scenario_does(tshark, tmp_path):
    path = tmp_path / "run.pcapng"
    text = scenario("802.11ac").replace("[mac.agg", 'channel_width = "80 MHz"\ndata_rate = "MCS 9 NSS 2"\n[mac.agg')
    run(text, pcap=path, duration="100 ms")
    names = ("mcs.0", "nss.0", "bw", "gi", "coding.0")
    said = {tuple(row) for row in tshark(path, *(f"radiotap.vht.{name}" for name in names), only="radiotap.vht")}
    assert said == {("9", "2", "4", "0", "0")}
    # 2 streams in 80 MHz: 780 Mb/s. 351 bits of each in 5/6 code, 4 us.
    assert {float(rate) for (rate,) in tshark(path, "wlan_radio.data_rate", only="radiotap.vht")} == {780.0}


def sequences_in(bitmap, start):
    return {(start + at) % 4096 for at in range(4 * len(bitmap)) if int(bitmap[at // 8 * 2 :][:2], 16) >> at % 8 & 1}


@pytest.mark.parametrize(("standard", "bits"), [("802.11n", 64), ("802.11ax", 256)])
def test_a_bitmap_has_what_the_recipient_received(tshark, tmp_path, standard, bits):
    path = tmp_path / "run.pcapng"
    run(scenario(standard, loss=0.3), pcap=path)
    fields = ("wlan.fc.type_subtype", "wlan.seq", "wlan.fixed.ssc.sequence", "wlan.ba.bm", "radiotap.ampdu.reference")
    received, answered = defaultdict(set), 0
    reference = None
    for kind, number, start, bitmap, aggregate in tshark(path, *fields, only='frame.interface_name == "n1"'):
        if kind == QOS_DATA:
            received[aggregate].add(int(number))
            reference = aggregate
        elif kind == BLOCK_ACK:
            assert len(bitmap) * 4 == bits
            window = {(int(start) + at) % 4096 for at in range(bits)}
            acknowledged = sequences_in(bitmap, int(start))
            assert received[reference] & window <= acknowledged
            assert acknowledged <= set().union(*received.values()), "nothing else has ever arrived"
            answered += 1
    assert answered > 80
    sent = tshark(path, "wlan.seq", "wlan.fc.retry", only="radiotap.txflags && wlan.fc.type_subtype == 0x28")
    first = [int(number) for number, retry in sent if retry == "0"]
    assert first == [at % 4096 for at in range(len(first))], "each number is sent for the first time once, in order"
    share = sum(retry == "1" for _, retry in sent) / len(sent)
    assert share == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize("loss", [0.0, 0.1])
@pytest.mark.parametrize(
    ("standard", "aggregation"),
    [
        ("802.11n", ""),
        ("802.11n", 'a_msdu = "3839 B"'),
        ("802.11n", 'a_mpdu = "off"'),
        ("802.11ac", ""),
        ("802.11ax", ""),
    ],
)
def test_measure_gives_back_what_the_run_knew(tmp_path, standard, aggregation, loss):
    path = tmp_path / "run.pcapng"
    result = run(scenario(standard, aggregation, loss=loss, duration="1 s"), pcap=path)
    found = measure(path, bin="500 ms")
    (link,) = result.links[result.links["acknowledged"] > 0].to_dict("records")
    several = 1 if "off" in aggregation else 10
    packets = 2 if "a_msdu" in aggregation else 1
    for sniffer in found.sniffers:
        seen = found.links[found.links["interface"] == sniffer.interface].iloc[0]
        assert seen["acknowledged"] == link["acknowledged"]
        assert seen["bytes"] == link["acknowledged"] * packets * 1500
        assert seen["frames"] > several * seen["exchanges"] * (1 - loss) * 0.9
        sent = sniffer.name == "n0"
        # What waits in the window at the end counts in no result of the run.
        assert int(seen["frames"]) == pytest.approx(int(link["data"] if sent else link["acknowledged"]), abs=256)
        assert sniffer.quality["aggregates"] == (0 if several == 1 else pytest.approx(seen["exchanges"], rel=0.05))
        assert sniffer.quality["partial_aggregates"] == 0, "preambles say how long they were"
        # Whole PPDUs, of which a listener decodes a part; one that the end of the run cuts off is not captured.
        busy = result.measurements.loc[result.measurements["name"] == sniffer.name, "true_busy_ratio"].mean()
        if sent or several > 1 or loss == 0:
            assert found.busy_ratio(sniffer) * sniffer.length_s == pytest.approx(busy, abs=0.0056)
    shares = found.airtime.groupby(["interface", "kind"])["airtime_s"].sum()
    assert ("retry" in shares[0]) == (loss > 0)


def test_block_acknowledgements_that_are_asked_for_again_count(tmp_path, tshark):
    """Hidden stations destroy some. What answers a request is about data of an earlier exchange."""
    path = tmp_path / "run.pcapng"
    result = run(scenario(hops=3, duration="1 s"), pcap=path)
    assert len(tshark(path, "frame.number", only="radiotap.txflags && wlan.fc.type_subtype == 0x18")) > 10
    found = measure(path)
    names = list(result.nodes["name"])
    for link in result.links[result.links["acknowledged"] > 0].to_dict("records"):
        own = next(sniffer for sniffer in found.sniffers if sniffer.name == names[link["sender"]])
        mine = found.links[(found.links["interface"] == own.interface) & (found.links["sender"] == own.own)]
        (seen,) = mine[mine["receiver"].str.endswith(f"{link['receiver']:02x}")].to_dict("records")
        assert seen["acknowledged"] == link["acknowledged"]
        assert seen["answered"] < seen["exchanges"], "an answer to a request is none to data"
    assert found.sniffers[0].quality["orphan_block_acks"] == 0


TWO_RADIOS = """
[topology]
nodes = [
  { name = "n0", position = ["0 m", "0 m"], channel = 36 },
  { name = "n1", position = ["200 m", "0 m"], radios = [{ channel = 36 }, { channel = 149 }] },
  { name = "n2", position = ["400 m", "0 m"], channel = 149 },
]
"""


def test_each_radio_has_an_interface_and_its_channel(tshark, tmp_path):
    path = tmp_path / "run.pcapng"
    before, behind = scenario(hops=2).split('[topology]\ngenerator = "chain"\nhops = 2\nspacing = "200 m"\n')
    result = run(before + TWO_RADIOS + behind, pcap=path)
    fields = ("frame.interface_name", "radiotap.channel.freq", "wlan_radio.channel")
    said = {tuple(row) for row in tshark(path, *fields)}
    channels = {"n0": ("5180", "36"), "n1": ("5180", "36"), "n1/1": ("5745", "149"), "n2": ("5745", "149")}
    assert said == {(name, *channel) for name, channel in channels.items()}
    assert tshark(path, "frame.number", only=WRONG) == []
    found = measure(path)
    assert [sniffer.name for sniffer in found.sniffers] == ["n0", "n1", "n2", "n1/1"]
    acknowledged = result.links[result.links["acknowledged"] > 0]["acknowledged"].tolist()
    for sniffer in found.sniffers:
        # Each hears one channel alone, on which there is one link.
        seen = found.links[found.links["interface"] == sniffer.interface]
        assert len(seen) == 1
        assert int(seen["acknowledged"].iloc[0]) == acknowledged[0 if sniffer.name in ("n0", "n1") else 1]
