"""`run --pcap`: what each radio saw, as tshark reads it."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

import multihop
from conftest import ROOT, SCENARIOS
from multihop import run

# Traffic is over before the run is, so that no exchange is cut off: the tables count whole ones.
SCENARIO = """
name = "captured"
duration = "30 s"

[phy]
standard = "{standard}"

[mac]
rules = "{rules}"
rts_threshold = "{rts}"

[medium]
model = "ranges"
packet_error_rate = 0.05

[topology]
generator = "chain"
hops = 3
spacing = "200 m"

[[flows]]
from = "n0"
to = "n3"
scheme = "{scheme}"
app = {{ kind = "bulk", size = "80 kB" }}

[[flows]]
from = "n3"
to = "n1"
scheme = "udp"
app = {{ kind = "cbr", rate = "200 kb/s", packet = "700 B" }}
stop = "20 s"
"""

FRAMES = {"0x001b": "rts", "0x001c": "cts", "0x001d": "ack", "0x0020": "data"}


@pytest.mark.parametrize(
    ("standard", "rules", "rts", "scheme"),
    [
        ("802.11b", "ieee", "500 B", "tcp-newreno"),
        ("802.11a", "ieee", "off", "recn"),
        ("dsss", "ns2", "0 B", "tcp-sack"),
    ],
)
def test_tshark_decodes_and_counts_what_the_run_counted(tshark, tmp_path, standard, rules, rts, scheme):
    path = tmp_path / "run.pcapng"
    text = SCENARIO.format(standard=standard, rules=rules, rts=rts, scheme=scheme)
    result = multihop.run(text, pcap=path)
    errors = tshark(path, "frame.number", "_ws.expert.message", only="_ws.malformed || _ws.expert.severity == 0x800000")
    assert errors == []
    sent = Counter(
        (name, FRAMES[kind])
        for name, kind in tshark(path, "frame.interface_name", "wlan.fc.type_subtype", only="radiotap.txflags")
    )
    names = list(result.nodes["name"])
    links = result.links.groupby("sender")[["rts", "data"]].sum()
    for node, counts in links.iterrows():
        assert sent[names[node], "rts"] == counts["rts"]
        assert sent[names[node], "data"] == counts["data"]
    heard_by_addressee = "!radiotap.txflags && wlan.fc.type_subtype == 29"
    acks = Counter(
        int(address[-2:], 16)
        for name, address in tshark(path, "frame.interface_name", "wlan.ra", only=heard_by_addressee)
        if name == names[int(address[-2:], 16)]
    )
    acknowledged = result.links.groupby("sender")["acknowledged"].sum()
    assert dict(acks) == acknowledged.to_dict()


@pytest.mark.parametrize(("standard", "preamble_us"), [("802.11b", 192), ("802.11a", 20)])
def test_tshark_has_the_same_airtimes(tshark, tmp_path, standard, preamble_us):
    path = tmp_path / "run.pcapng"
    text = SCENARIO.format(standard=standard, rules="ieee", rts="0 B", scheme="tcp-newreno")
    multihop.run(text, pcap=path)
    fields = ("frame.time_epoch", "radiotap.mactime", "wlan_radio.duration")
    rows = tshark(path, *fields)
    assert len(rows) > 1000
    for end, tsft, duration in rows:
        # TSFT is after the preamble, and has no fractions.
        assert float(end) * 1e6 - float(tsft) + preamble_us == pytest.approx(float(duration), abs=1.01)


def test_tshark_finds_every_check_sequence_right(tshark, tmp_path):
    path = tmp_path / "run.pcapng"
    multihop.run(SCENARIO.format(standard="802.11b", rules="ieee", rts="0 B", scheme="tcp-newreno"), pcap=path)
    checked = Counter(status for status, _ in tshark(path, "wlan.fcs.status", "frame.number", only="frame.len < 100"))
    assert checked.keys() == {"1"}, "1 is good"
    cut = Counter(status for status, _ in tshark(path, "wlan.fcs.status", "frame.number", only="frame.len > 400"))
    assert sum(cut.values()) > 100
    assert "0" not in cut, "0 is bad; cut frames have lost theirs"


def test_what_routing_sends_is_counted(tshark, tmp_path):
    path = tmp_path / "run.pcapng"
    result = multihop.run(SCENARIOS / "dsdv-chain.toml", pcap=path, duration="60 s", warmup="0 s")
    updates = tshark(path, "frame.interface_name", "ip.len", only="radiotap.txflags && ip.proto == 114")
    by_node = Counter(name for name, _ in updates)
    assert by_node == dict(zip(result.nodes["name"], result.nodes["routing_sent"], strict=True))
    assert sum(int(length) for _, length in updates) == result.nodes["routing_bytes"].sum()
    assert tshark(path, "frame.number", only="_ws.malformed || _ws.expert.severity == 0x800000") == []


@pytest.mark.parametrize(
    ("rules", "scheme", "changed"),
    [
        ("ieee", "tcp-sack", {"mac.override.llc_header": "0 B"}),
        ("ieee", "tcp-sack", {"schemes.tcp-sack.header": "0 B"}),
        ("ieee", "tcp-sack", {"mac.override.data_header": "256 B", "mac.override.llc_header": "100 B"}),
        ("ieee", "udp", {"mac.override.llc_header": "0 B", "schemes.udp": {"segment_size": "1 B", "header": "0 B"}}),
        ("ieee", "recn", {"phy.preamble": "short", "network.extra_header": "60 B"}),
        ("ns2", "tcp-newreno", {"schemes.tcp-newreno.timestamps": True}),
        ("ns2", "udp", {"schemes.udp.segment_size": "65507 B"}),
    ],
)
def test_whatever_headers_a_scenario_counts_tshark_has_nothing_to_complain_of(tshark, tmp_path, rules, scheme, changed):
    path = tmp_path / "run.pcapng"
    text = SCENARIO.format(standard="802.11b", rules=rules, rts="500 B", scheme=scheme)
    multihop.run(text, pcap=path, set=changed, duration="3 s")
    assert len(tshark(path, "frame.number", only="wlan.fc.type == 2")) > 100
    assert tshark(path, "frame.number", only="_ws.malformed || _ws.expert.severity == 0x800000") == []


def test_a_capture_changes_nothing_and_is_reported(multihop, chain, tmp_path):
    plain = multihop("run", chain, "--json").json()
    done = multihop("run", chain, "--json", "--pcap", "air/run.pcapng")
    assert done.code == 0, done.err
    assert done.json() == plain
    first = (tmp_path / "air" / "run.pcapng").read_bytes()
    assert first[:4] == b"\x0a\x0d\x0d\x0a"
    again = multihop("run", chain, "--pcap", "air/run.pcapng")
    assert "capture: air/run.pcapng" in again.err
    assert (tmp_path / "air" / "run.pcapng").read_bytes() == first, "one seed is one capture, to the last bit"
    assert [path.name for path in (tmp_path / "air").iterdir()] == ["run.pcapng"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--pcap", "chain.toml"), "this is the input file"),
        (("--pcap", "."), "this is a directory"),
        (("--pcap", "chain.toml/x.pcapng"), "a file is in the way"),
        (("--pcap", "x.pcapng", "--seeds", "2"), "one file holds one run"),
        (("--pcap", "x", "--report", "./x"), "which --report writes as well"),
        (("--pcap", "o/series.csv", "--out", "o"), "which --out writes as well"),
        (("--pcap", "x.pcapng", "--set", "mac.override.data_header=20 B"), "mac.override.data_header: 20 B"),
    ],
)
def test_what_cannot_be_done_is_one_message(multihop, chain, tmp_path, arguments, expected):
    reported = multihop("run", chain, *arguments).fails_cleanly()
    assert expected in reported
    assert not list(tmp_path.glob("*x*.p*")), "nothing half is left"


def test_a_path_in_python_is_checked(chain):
    with pytest.raises(multihop.UserError, match="pcap: found 5"):
        multihop.run(chain, pcap=5)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX limits")
def test_a_full_disk_leaves_nothing_under_the_name(chain, tmp_path):
    folder = tmp_path / "air"
    folder.mkdir()
    (folder / "run.pcapng").write_text("what was there before")
    done = subprocess.run(
        [sys.executable, "-m", "multihop", "run", chain, "--pcap", folder / "run.pcapng", "--quiet"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
    )
    assert done.returncode == 1, done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert "run.pcapng: cannot be written: " in lines[0]
    assert [path.name for path in folder.iterdir()] == ["run.pcapng"]
    assert (folder / "run.pcapng").read_text() == "what was there before"


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_leaves_nothing(chain, tmp_path):
    folder = tmp_path / "air"
    process = subprocess.Popen(
        [sys.executable, "-m", "multihop", "run", chain, "--pcap", folder / "run.pcapng", "--duration", "10000 s"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: (
            signal.signal(signal.SIGINT, signal.default_int_handler),
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30)),
        ),
    )
    deadline = time.monotonic() + 60
    while not list(folder.glob(".run.pcapng.*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted; nothing was written" in err
    assert not folder.exists(), "nor an empty folder"


HEADERS = {
    "xcp": ("xcp.delta < 0", "tcp"),
    "xcp-winf": ("xcp.reverse > 0", "tcp"),
    "rcp": ("rcp.rate < 4294967295", "tcp"),
    "ewccp": ("ewccp.link_known == 1", "tcp"),
    "wcp": ("wcp.congested == 1", "tcp"),
    "wcp-cap": ("wcp_cap.assigned < 4294967295", "tcp"),
    "maxnet": ("maxnet.returned == 1", "tcp"),
    "bmcc": ("bmcc.load > 0", "tcp"),
    "tfrc": ("tfrc_report.receive_rate > 0", "udp"),
    "scream": ("media_report.count > 0", "udp"),
    "quick-and-plenty": ("plenty_report.aggregates > 0", "udp"),
}


@pytest.fixture(scope="module")
def dissector(tmp_path_factory):
    """The arguments of tshark for our dissector."""
    if shutil.which("tshark") is None or "with Lua" not in subprocess.check_output(["tshark", "-v"], text=True):
        pytest.skip("needs tshark with Lua to read captures")
    script = tmp_path_factory.mktemp("dissector") / "multihop.lua"
    script.write_bytes(subprocess.check_output([sys.executable, "-m", "multihop", "dissector"]))

    def read(path, *arguments):
        made = subprocess.run(
            ["tshark", "-X", f"lua_script:{script}", "-r", path, *arguments], capture_output=True, text=True, check=True
        )
        assert "Lua:" not in made.stderr, made.stderr
        return made.stdout.splitlines()

    return read


def counts(read, path, *filters):
    """How many packets each display filter leaves."""
    table = read(path, "-q", "-z", ",".join(("io,stat,0", *filters)))
    (row,) = (line for line in table if "<>" in line)
    # Frames and bytes of each filter, behind the interval.
    return [int(cell) for cell in row.strip("| ").split("|")[1::2]]


#: Bytes with the headers of IP and UDP that ns-2 does not count.
RFC_SIZES = {"rreq_size": "52 B", "rrep_size": "48 B", "rerr_size": "32 B"}
TYPES = {"1": "RREQ", "2": "RREP", "3": "RERR"}


def moving(path, protocol, **parameters):
    """Runs little traffic among nodes whose links break."""
    replaced = {
        "routing": {"protocol": protocol, **parameters},
        "flows[*].scheme": "udp",
        "flows[*].app": {"kind": "cbr", "rate": "8 kb/s", "packet": "200 B"},
        "flows[*].start": "0 s",
    }
    return multihop.run(SCENARIOS / "mobile-mesh.toml", pcap=path, duration="150 s", warmup="0 s", set=replaced)


@pytest.mark.long
def test_tshark_names_the_messages_of_aodv(tshark, tmp_path):
    path = tmp_path / "run.pcapng"
    result = moving(path, "aodv", **RFC_SIZES)
    assert tshark(path, "frame.number", only="_ws.malformed || _ws.expert.severity == 0x800000") == []
    sent = tshark(path, "aodv.type", "udp.port", only="radiotap.txflags && wlan.fc.retry == 0 && aodv")
    counted = Counter(TYPES[kind] for kind, _ in sent)
    assert all(counted[name] > 0 for name in TYPES.values()), counted
    assert {ports for _, ports in sent} == {"654,654"}
    assert 0 <= int(result.nodes["routing_sent"].sum()) - len(sent) <= 2, "what waits at the end is not captured"
    asked = tshark(path, "aodv.orig_ip", "ip.src", "aodv.hopcount", "ip.ttl", only="radiotap.txflags && aodv.type == 1")
    for originator, sender, hops, ttl in asked:
        assert (int(hops) == 0) == (originator == sender)
        assert 0 < int(ttl) <= 30 - int(hops), "the network's diameter is the most"
    for target, sender, hops in tshark(path, "aodv.dest_ip", "ip.src", "aodv.hopcount", only="aodv.type == 2"):
        assert int(hops) > 0 or target == sender


def test_a_message_that_ns2_counts_without_udp_is_cut_at_its_end(tshark, tmp_path):
    path = tmp_path / "run.pcapng"
    multihop.run(SCENARIOS / "aodv-chain.toml", pcap=path, duration="5 s", warmup="0 s")
    kinds = Counter(TYPES[kind] for (kind,) in tshark(path, "aodv.type", only="radiotap.txflags && aodv"))
    assert kinds["RREQ"] > 3
    assert kinds["RREP"] > 3
    asked = tshark(path, "aodv.dest_ip", "aodv.orig_ip", only="aodv.type == 1")
    assert ["10.0.0.8", "10.0.0.1"] in asked


@pytest.mark.long
def test_tshark_names_the_options_of_dsr(tshark, tmp_path):
    path = tmp_path / "run.pcapng"
    moving(path, "dsr")
    assert tshark(path, "frame.number", only="_ws.malformed || _ws.expert.severity == 0x800000") == []
    options = Counter(kind for (kinds,) in tshark(path, "dsr.option.type", only="dsr") for kind in kinds.split(","))
    assert {"1", "2", "3", "96"} <= options.keys(), "RREQ, RREP, RERR and source routes"
    assert tshark(path, "frame.number", only="udp && !dsr") == []
    assert len(tshark(path, "frame.number", only="udp && dsr.option.type == 96")) > 100


def test_the_dissector_names_the_fields_of_dsdv(dissector, tmp_path):
    path = tmp_path / "flow.pcapng"
    run(SCENARIOS / "dsdv-chain.toml", pcap=path, duration="60 s", warmup="0 s")
    fields = ["ip.src", *(f"multihop.dsdv.{name}" for name in ("destination", "metric", "sequence"))]
    printed = ["-T", "fields", *(f"-e{field}" for field in fields)]
    updates = dissector(path, "-Y", "ip.proto == 114 && radiotap.txflags", *printed)
    assert len(updates) > 20
    for line in updates:
        source, destinations, metrics, numbers = line.split("\t")
        rows = list(zip(destinations.split(","), metrics.split(","), numbers.split(","), strict=True))
        own = [row for row in rows if row[0] == source]
        assert all(metric == "0" and int(number) % 2 == 0 for _, metric, number in own)
    two_hops, broken = counts(
        dissector, path, "multihop.dsdv.metric == 2 && ip.src == 10.0.0.2", "_ws.malformed || _ws.lua.error"
    )
    assert two_hops > 0
    assert broken == 0


@pytest.mark.parametrize("scheme", HEADERS)
def test_the_dissector_names_the_fields_of_congestion_headers(dissector, tmp_path, scheme):
    path = tmp_path / "flow.pcapng"
    condition, transport = HEADERS[scheme]
    text = f"""
duration = "4 s"
[topology]
generator = "chain"
hops = 2
spacing = "200 m"
[[flows]]
from = "n0"
to = "n2"
scheme = "{scheme}"
"""
    run(text, pcap=path)
    there, carried, fulfilled, broken = counts(
        dissector, path, "multihop.type", transport, f"multihop.{condition}", "_ws.malformed || _ws.lua.error"
    )
    # Each packet of the flow has a header, behind which its transport is found; sizes on the air are as before.
    if scheme == "bmcc":
        assert 0 < there < carried, "data carries marks alone"
    else:
        assert there == carried > 100
    assert fulfilled > 0
    assert broken == 0


#: A chain whose routers broadcast.
SIGNALLED = """
duration = "10 s"
[mac]
rules = "{rules}"
[topology]
generator = "chain"
hops = 4
spacing = "200 m"
[[flows]]
from = "n0"
to = "n4"
scheme = "{scheme}"
"""


def broadcasts(read, path, carrier, layout, *names):
    """Of each notice that was sent: the last octet of its node, the bytes of its datagram, the values of each field."""
    fields = ["ip.src", "ip.len", *(f"multihop.{layout}.{name}" for name in names)]
    printed = ["-T", "fields", *(f"-e{field}" for field in fields)]
    for line in read(path, "-Y", f"{carrier} && radiotap.txflags", *printed):
        source, length, *values = line.split("\t")
        yield int(source.split(".")[-1]), int(length), [[int(one) for one in value.split(",")] for value in values]


@pytest.mark.parametrize("rules", ["ieee", "ns2"])
def test_the_dissector_names_the_fields_of_broadcasts_of_ewccp(dissector, tmp_path, rules):
    path = tmp_path / "run.pcapng"
    result = run(SIGNALLED.format(rules=rules, scheme="ewccp"), pcap=path)
    names = ("from", "to", "queue", "sequence", "hops")
    sent = list(broadcasts(dissector, path, "udp.port == 1021", "ewccp_entry", *names))
    assert len(sent) == result.nodes["signalling_sent"].sum() > 300
    assert sum(length for _, length, _ in sent) == result.nodes["signalling_bytes"].sum(), "as long as in the run"
    assert any(queue for _, _, (_, _, queues, _, _) in sent for queue in queues)
    numbers = {}
    for node, length, values in sent:
        assert length == 20 + 8 + 6 * len(values[0])
        for from_, to, _, sequence, hops in zip(*values, strict=True):
            assert abs(from_ - to) == 1, "a link of the chain"
            assert node in (from_, to), "of one hop, from or to the node"
            assert hops == 0
            if node == from_:
                ahead = (sequence - numbers.get((from_, to), sequence)) % 256
                assert ahead < 128, "rounds are counted up by the link's sender"
                numbers[from_, to] = sequence
    assert len(numbers) == 2 * 4, "each link, in both ways"
    assert counts(dissector, path, "_ws.malformed || _ws.lua.error || _ws.expert.severity == 0x800000") == [0]


@pytest.mark.parametrize("rules", ["ieee", "ns2"])
def test_the_dissector_names_the_fields_of_notices_of_nred(dissector, tmp_path, rules):
    path = tmp_path / "run.pcapng"
    lifetime = {"schemes.nred.lifetime": "150 ms"}
    result = run(SIGNALLED.format(rules=rules, scheme="nred"), pcap=path, set=lifetime)
    names = ("kind", "probability", "duration", "lifetime")
    sent = list(broadcasts(dissector, path, "ip.proto == 63", "nred", *names))
    assert len(sent) == result.nodes["signalling_sent"].sum() > 50
    for _, length, ((kind,), (probability,), (duration,), (lasts,)) in sent:
        assert (length, kind, duration, lasts) == (36, 1, 0, 150_000)
        # Up to `max_probability`, 0.14, over an index between the two thresholds.
        assert 0 < probability / 2**32 < 0.14 / 100
    assert len({values[1][0] for *_, values in sent}) > 20
    assert counts(dissector, path, "_ws.malformed || _ws.lua.error || _ws.expert.severity == 0x800000") == [0]


@pytest.mark.parametrize("size", [9, 3])
def test_entries_of_another_size_are_padded_or_missing(dissector, tmp_path, size):
    path = tmp_path / "run.pcapng"
    result = run(
        SIGNALLED.format(rules="ieee", scheme="ewccp"), pcap=path, set={"schemes.ewccp.entry_size": f"{size} B"}
    )
    sent = list(broadcasts(dissector, path, "multihop_ewccp_entry", "ewccp_entry", "from"))
    counted = (result.nodes["signalling_bytes"].sum() - 28 * result.nodes["signalling_sent"].sum()) / size
    assert all(len(senders) == (length - 28) // 6 for _, length, (senders,) in sent)
    entries = sum(len(senders) for _, _, (senders,) in sent)
    # Besides half of the bytes there are the five that a shorter header of LLC leaves.
    assert entries == counted if size == 9 else 0.4 < entries / counted < 0.6
    assert counts(dissector, path, "_ws.malformed || _ws.lua.error || _ws.expert.severity == 0x800000") == [0]
