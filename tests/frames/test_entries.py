"""Entries of packets into nodes: from their source, over a wire, from another radio of the node."""

import pytest

import multihop
from multihop.framelog import read

BASE = 'duration = "2 s"\nwarmup = "0 s"\n'
#: A server that a wire of 5 ms connects to an access point.
WIRED = (
    f'{BASE}[topology]\nnodes = [{{ name = "ap", position = ["0 m", "0 m"] }}, '
    '{ name = "client", position = ["50 m", "0 m"] }, { name = "server" }]\n'
    'wires = [{ between = ["server", "ap"], rate = "10 Mb/s", delay = "5 ms" }]\n'
    '[[flows]]\nname = "down"\nfrom = "server"\nto = "client"\nscheme = "tcp-newreno"\n'
)
#: b receives on one channel and sends on the other.
RADIOS = (
    f"{BASE}[topology]\nnodes = ["
    '{ name = "a", position = ["0 m", "0 m"], radios = [{ channel = 1 }, { channel = 6 }] }, '
    '{ name = "b", position = ["200 m", "0 m"], radios = [{ channel = 1 }, { channel = 6 }] }, '
    '{ name = "c", position = ["400 m", "0 m"], radios = [{ channel = 6 }] }]\n'
    '[[flows]]\nname = "over"\nfrom = "a"\nto = "c"\nscheme = "tcp-newreno"\n'
)


def entries(log):
    """Returns the entries of a log with names."""
    ingress = log.in_words(log.tables["ingress"])
    rows = log.tables["entries"]
    return rows.assign(**{name: ingress[name].to_numpy()[rows["ingress"]] for name in ingress.columns})


@pytest.fixture(scope="module")
def wired(tmp_path_factory):
    path = tmp_path_factory.mktemp("entries") / "wired.frames"
    return multihop.run(WIRED, frames=path), read(path)


def test_every_packet_enters_its_source(wired):
    result, log = wired
    all_of_them = entries(log)
    own = all_of_them[all_of_them["node"] == all_of_them["from"]]
    assert set(own["node"]) == {"server", "client"}
    data = own[own["carries"] == "data"]
    assert list(data["packet"]) == list(range(1, len(data) + 1))
    # The SYN carries no data.
    assert len(data) - 1 == result.flows["packets_sent"].sum() > 100
    sent = log.transmissions
    first = sent[(sent["kind"] == "data") & (sent["from"] == "client")].drop_duplicates("packet")
    queued = first.merge(own[own["node"] == "client"], on=["flow", "carries", "packet"])
    assert len(queued) == len(first) > 10
    assert (queued["time"] <= queued["start"]).all()


def test_hops_over_wires_are_logged(wired):
    _, log = wired
    all_of_them = entries(log)
    keys = ["flow", "carries", "packet"]
    for sender, receiver, carries in (("server", "ap", "data"), ("ap", "server", "feedback")):
        over = all_of_them[(all_of_them["from"] == sender) & (all_of_them["node"] == receiver)]
        assert set(over["carries"]) == {carries}
        if sender == "server":
            left = all_of_them[(all_of_them["from"] == "server") & (all_of_them["node"] == "server")]
            left = left.assign(at=left["time"])
        else:
            sent = log.transmissions
            arrived = sent[(sent["to"] == "ap") & (sent["kind"] == "data") & (sent["outcome"] == "arrived")]
            left = arrived.assign(at=arrived["start"] + arrived["airtime"]).drop_duplicates(keys)
        crossed = over.merge(left[[*keys, "at"]], on=keys)
        assert len(crossed) == len(over) > 50
        assert (crossed["time"] - crossed["at"] >= 5_000_000).all(), "the delay of the wire"
        assert len(left) - len(over) < 20, "only packets on the wire have no entry yet"


def test_moves_between_radios_are_logged(tmp_path):
    path = tmp_path / "radios.frames"
    multihop.run(RADIOS, frames=path)
    log = read(path)
    nodes = log.head["nodes"]
    ingress = log.tables["ingress"]
    moved = ingress[ingress["node"] != ingress["from"]]
    assert len(moved) > 0
    for row in moved.to_dict("records"):
        node, other = (nodes[row[end]].get("radio_of") for end in ("node", "from"))
        first = [row[end] if of is None else of for end, of in (("node", node), ("from", other))]
        assert first[0] == first[1], "radios of one node"
    found = entries(log)
    data = found[(found["carries"] == "data") & (found["from"] != found["node"])]
    assert len(data) > 50
    sent = log.transmissions
    arrived = sent[(sent["outcome"] == "arrived") & (sent["kind"] == "data")]
    ends = arrived.assign(end=arrived["start"] + arrived["airtime"])
    both = data.merge(ends[ends["carries"] == "data"], on=["flow", "carries", "packet"])
    assert ((both["time"] - both["end"]).abs() <= 1_000).sum() >= 50, "at the end of the frame"


def test_an_interval_contains_only_its_entries(tmp_path):
    path = tmp_path / "part.frames"
    multihop.run(WIRED, frames=path)
    part = read(path, (500_000_000, 600_000_000))
    assert part.tables["entries"]["time"].between(500_000_000, 600_000_000).all()
    assert 0 < len(part.tables["entries"]) < len(read(path).tables["entries"])
