"""What is said of a flow is linked to a place in the frame log that shows just that."""

from urllib.parse import parse_qs

import pytest

import multihop
from multihop.explanation.explain import of_runs
from multihop.framelog.reading import read
from multihop.report.places import Places, Shown

RADIO = """
duration = "4 s"
warmup = "1 s"
[phy]
data_rate = "2 Mb/s"
[medium]
model = "ranges"
receive_range = "250 m"
carrier_sense_range = "250 m"
capture = "off"
"""
NODES = '{ name = "a", position = ["0 m", "0 m"] }, { name = "b", position = ["200 m", "0 m"] }'
FLOW = '[[flows]]\nname = "x & y"\nfrom = "a"\nto = "b"\nscheme = "udp"\n'

HIDDEN = (
    f'{RADIO}[topology]\nnodes = [{NODES}, {{ name = "c", position = ["400 m", "0 m"] }}]\n{FLOW}'
    '[[flows]]\nfrom = "c"\nto = "b"\nscheme = "udp"\n'
)
#: Half of the frames from a to b are lost.
LOSSY = (
    f'{RADIO}[[medium.errors]]\nbetween = ["a", "b"]\npacket_error_rate = 0.6\n[mac]\nshort_retry_limit = 3\n'
    f"[topology]\nnodes = [{NODES}]\n{FLOW}"
)
#: d sends to the relay by wire what its radio cannot carry further.
FULL = (
    f'{RADIO}[topology]\nnodes = [{NODES}, {{ name = "d" }}]\n'
    'wires = [{ between = ["d", "a"], rate = "10 Mb/s", delay = "1 ms" }]\n'
    '[[flows]]\nname = "x & y"\nfrom = "d"\nto = "b"\nscheme = "udp"\n'
    'app = { kind = "cbr", rate = "5 Mb/s", packet = "1000 B" }\n'
)


@pytest.fixture(params=["hidden", "channel", "queue"])
def seen(request, tmp_path):
    """The kind of a cause, its place, the log, and where the link to it goes."""
    text = {"hidden": HIDDEN, "channel": LOSSY, "queue": FULL}[request.param]
    run = multihop.run(text, frames=tmp_path / "x.frames")
    found = of_runs((run,), "scenario")
    assert found is not None
    causes = [cause for cause in found.flows[0].causes if cause.kind == request.param]
    assert causes, [cause.kind for cause in found.flows[0].causes]
    log = read(tmp_path / "x.frames")
    address = Places(log, "odd name.html").of("x & y", causes[0].place)
    assert address is not None
    page, _, fragment = address.partition("#")
    assert page == "odd%20name.html"
    return request.param, log, {name: values[0] for name, values in parse_qs(fragment).items()}


def test_a_cause_has_a_link_to_an_example_of_it(seen):
    kind, log, place = seen
    time = round(float(place["t"]) * 1e9)
    assert time >= 1e9, "it is after the warm-up"
    assert place["flow"] == "x & y"
    if kind == "queue":
        drops = log.in_words(log.tables["drops"])
        there = drops[(drops["time"] == time) & (drops["packet"] == int(place["packet"]))].iloc[0]
        assert (there["node"], there["cause"]) == (place["node"], "queue-full") == ("a", "queue-full")
        return
    sent = log.transmissions
    there = sent[(sent["start"] == time) & (sent["from"] == place["node"])].iloc[0]
    assert (there["from"], there["to"], there["packet"]) == ("a", "b", int(place["packet"]))
    assert there["outcome"] == {"hidden": "collision", "channel": "channel"}[kind]
    assert there["collided"] == {"hidden": "c", "channel": None}[kind]
    assert there["start"] - float(place["span"]) * 1e9 / 2 < there["start"] + there["airtime"]


def test_what_a_log_does_not_have_is_not_linked(tmp_path):
    multihop.run(HIDDEN, frames=tmp_path / "x.frames")
    places = Shown((tmp_path / "x.frames").read_bytes()).places()
    assert places.of("nobody", ("flow", None, None, None)) is None
    assert places.of("x & y", ("hop", 0, 2, None)) is None, "a sends nothing to c"


def test_a_comparison_links_to_the_pages_of_its_logs(multihop, tmp_path):
    (tmp_path / "hidden.toml").write_text(HIDDEN)
    made = multihop("compare", "hidden.toml", "--schemes", "udp,recn", "--seeds", "2", "--frames", "1", "--out", "out")
    assert made.code == 0, made.err
    report = (tmp_path / "out" / "report.html").read_text()
    for scheme in ("udp", "recn"):
        assert f'href="frames/{scheme}.html"' in report
        assert "mhframes" not in report
        assert (tmp_path / "out" / "frames" / f"{scheme}.html").is_file()
    assert 'class="seen" href="frames/udp.html#t=' in report
