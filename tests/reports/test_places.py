"""What is said of a flow is linked to a place in the frame log that shows just that."""

from urllib.parse import parse_qs

import pytest

import multihop
from conftest import SCENARIOS
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
    places = Shown(tmp_path / "x.frames").places()
    assert places.of("nobody", ("flow", None, None, None)) is None
    assert places.of("x & y", ("hop", 0, 2, None)) is None, "a sends nothing to c"


def test_a_comparison_links_to_the_pages_of_its_logs(multihop, tmp_path):
    (tmp_path / "hidden.toml").write_text(HIDDEN)
    made = multihop("compare", "hidden.toml", "--schemes", "udp,recn", "--seeds", "2", "--frames", "1", "--out", "out")
    assert made.code == 0, made.err
    report = (tmp_path / "out" / "report.html").read_text()
    for scheme in ("udp", "recn"):
        assert f'href="frames/{scheme}.html"' in report
        assert "viewer-host" not in report
        assert (tmp_path / "out" / "frames" / f"{scheme}.html").is_file()
    assert 'class="seen" href="frames/udp.html#t=' in report


#: a sends to b, and c to d, all of which hear each other; what is said of the hop from c is of c's flow alone.
TWO = (
    f"{RADIO}[topology]\nnodes = [{NODES}, "
    '{ name = "c", position = ["0 m", "100 m"] }, { name = "d", position = ["200 m", "100 m"] }]\n'
    f'{FLOW}[[flows]]\nname = "other"\nfrom = "c"\nto = "d"\nscheme = "udp"\n'
)


def test_what_other_flows_sent_shows_nothing_of_a_flow(tmp_path):
    multihop.run(TWO, frames=tmp_path / "x.frames")
    places = Places(read(tmp_path / "x.frames"))
    for kind in ("hop", "contention", "together", "channel", "unanswered"):
        assert places.of("x & y", (kind, 2, 3, 0)) is None, "c sends to d for the other flow alone"
    assert places.of("x & y", ("hop", 0, 1, None)) is not None
    assert places.of("x & y", ("contention", 0, 1, None)) is not None
    assert places.of("x & y", ("channel", 0, 1, None)) is None, "nothing was lost so: another frame does not show it"
    assert places.of("x & y", ("transport", None, None, None)) is None


def test_every_link_of_a_report_goes_to_a_frame_or_a_drop_of_its_flow(tmp_path):
    run = multihop.run(SCENARIOS / "mesh-demo.toml", duration="12 s", frames=tmp_path / "x.frames")
    log = read(tmp_path / "x.frames")
    sent, drops = log.transmissions, log.in_words(log.tables["drops"])
    found, places = of_runs((run,), "scenario"), Places(log)
    assert found is not None
    linked = 0
    for index in found.explained:
        name = found.flows[index].name
        for _, sentences in found.paragraphs(index):
            shown = [address for each in sentences if each.place and (address := places.of(name, each.place))]
            for address in shown:
                place = {key: values[0] for key, values in parse_qs(address.partition("#")[2]).items()}
                time = round(float(place["t"]) * 1e9)
                assert place["flow"] == name
                own = sent[(sent["start"] == time) & (sent["from"] == place["node"])]
                lost = drops[(drops["time"] == time) & (drops["node"] == place["node"])]
                assert name in {*own["flow"], *lost["flow"]} or own["kind"].isin(["cts", "ack"]).any()
                linked += 1
    assert linked > 10


def test_an_answer_that_collided_is_one_to_the_flow(tmp_path):
    # The ACKs of b to a are lost by c, which a cannot hear through.
    run = multihop.run(HIDDEN, frames=tmp_path / "x.frames")
    log = read(tmp_path / "x.frames")
    places = Places(log)
    answers = places._answers_to(places._there("x & y", "a", "b"))
    assert len(answers) > 10
    assert set(zip(answers["from"], answers["to"], strict=True)) == {("b", "a")}
    assert set(answers["flow"]) == {"x & y"}
    assert (answers["start"] - answers["asked"] > 0).all()
    assert run.flows is not None
