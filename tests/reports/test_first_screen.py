"""The first screen of `run`, `compare` and `explain`: short, in plain words, and about what matters."""

import re
from types import SimpleNamespace

import pytest

import multihop
from multihop.experiments import verdicts
from multihop.experiments.flow_kinds import counts_by_kind, flow_words, flows_by_kind
from multihop.experiments.services import Status, Yardstick
from multihop.results.columns import METRIC
from multihop.results.statistics import Estimate
from multihop.results.words import SCREEN_DIGITS, percent, rate, signed, with_interval

#: A first screen has no more lines than these, and sentences no longer ones.
MOST_LINES, MOST_WIDTH = 12, 120

ROUTER = """
name = "router"
duration = "20 s"
warmup = "5 s"
[phy]
standard = "802.11g"
data_rate = "54 Mb/s"
[topology]
nodes = [
  { name = "router", position = ["0 m", "0 m"] },
  { name = "laptop", position = ["20 m", "0 m"] },
  { name = "phone", position = ["0 m", "20 m"] },
  { name = "server" },
]
[[topology.wires]]
between = ["server", "router"]
rate = "5 Mb/s"
delay = "20 ms"
queue = 1000
[[flows]]
name = "download"
from = "server"
to = "laptop"
scheme = "tcp-cubic"
app = { kind = "saturated" }
[[flows]]
name = "call"
from = "server"
to = "phone"
scheme = "udp"
app = { kind = "cbr", rate = "64 kb/s", packet = "160 B" }
"""

LOSSY = """
name = "lossy"
duration = "12 s"
warmup = "2 s"
[topology]
nodes = [{ name = "office" }, { name = "wan" }, { name = "cloud" }]
[[topology.wires]]
between = ["office", "wan"]
rate = "100 Mb/s"
delay = "1 ms"
[[topology.wires]]
between = ["wan", "cloud"]
rate = "20 Mb/s"
delay = "40 ms"
loss = 0.02
[[flows]]
name = "backup"
from = "office"
to = "cloud"
scheme = "tcp-newreno"
app = { kind = "saturated" }
"""


def classroom(stations):
    """Calls, videos and downloads of so many stations, a third of each, of one access point."""
    apps = [
        ('app = { kind = "cbr", rate = "64 kb/s", packet = "160 B" }', "udp", "call"),
        ('app = { kind = "video", rate = "2 Mb/s", deadline = "400 ms" }', "udp", "video"),
        ('app = { kind = "saturated" }', "tcp-cubic", "download"),
    ]
    nodes = [f'  {{ name = "s{i}", position = ["{5 + i} m", "{3 * (i % 5)} m"] }},' for i in range(stations)]
    flows = []
    for i in range(stations):
        app, scheme, name = apps[i % 3]
        flows.append(
            f'[[flows]]\nname = "{name}{i}"\nfrom = "server"\nto = "s{i}"\nscheme = "{scheme}"\n{app}\n'
            'start_jitter = "1 s"'
        )
    return "\n".join(
        [
            'name = "classroom"\nduration = "5 s"\nwarmup = "2 s"\n[phy]\nstandard = "802.11g"\ndata_rate = "54 Mb/s"',
            '[topology]\nnodes = [\n  { name = "ap", position = ["0 m", "0 m"] },\n  { name = "server" },',
            *nodes,
            ']\n[[topology.wires]]\nbetween = ["ap", "server"]\nrate = "100 Mb/s"\ndelay = "5 ms"',
            *flows,
            "",
        ]
    )


@pytest.fixture(scope="module")
def room():
    return classroom(30)


def first_screen(out):
    """Lines before the first empty one."""
    return out.partition("\n\n")[0].splitlines()


def check_screen(lines):
    assert len(lines) <= MOST_LINES, "\n".join(lines)
    for line in lines:
        assert len(line) <= MOST_WIDTH, line
        assert "kb/s" not in line
        assert not re.search(r"-0(\.0+)? %|\bp [<=] 0\.(?!05, table)|\d\.\d{5}", line), line


@pytest.fixture
def narrow(monkeypatch, inline):
    def run(*words):
        monkeypatch.setenv("COLUMNS", str(MOST_WIDTH))
        return inline(*words)

    return run


def test_run_begins_with_who_is_late_why_and_what_to_do(narrow, tmp_path):
    (tmp_path / "router.toml").write_text(ROUTER)
    done = narrow("run", "router.toml", "-q")
    lines = first_screen(done.out)
    check_screen(lines)
    assert lines[0] == "router: 2 flows, 1 seed."
    assert re.fullmatch(r"Late: call \(delay \d+ ms \(95th percentile\); limit 400 ms\)\.", lines[1])
    assert any(line == "Why call is late: waiting in front of the wire server to router." for line in lines)
    assert lines[-1].startswith("What to do: `multihop explain`")
    assert done.out.index("What to do") < done.out.index("delay p50 ms")


def test_run_says_so_where_all_flows_are_fine(narrow, tmp_path):
    (tmp_path / "router.toml").write_text(ROUTER.replace("queue = 1000", "queue = 20"))
    assert first_screen(narrow("run", "router.toml", "-q").out)[-1] == "All flows are fine."


def test_compare_says_what_differs_how_sure_and_what_to_take(narrow, tmp_path):
    (tmp_path / "router.toml").write_text(ROUTER)
    done = narrow("compare", "router.toml", "--schemes", "tcp-cubic,tcp-bbr", "--seeds", "3", "-q")
    lines = first_screen(done.out)
    check_screen(lines)
    assert lines[0].startswith("router: tcp-cubic, tcp-bbr; 2 flows, 3 seeds; better means beyond chance (p < 0.05")
    assert lines[-1].startswith("What to do: take tcp-bbr: all flows are fine.")
    head, _, table = done.out.partition("p (Holm)")
    assert "Total goodput [Mb/s]  tcp-cubic - tcp-bbr" in re.sub(r" {3,}", "  ", table)
    assert "p (Holm)" not in head


def test_delay_is_said_by_kind_of_flow(narrow, tmp_path):
    (tmp_path / "router.toml").write_text(ROUTER)
    said = [line for line in first_screen(narrow("run", "router.toml", "-q").out) if line.startswith("Delay")]
    found = re.fullmatch(r"Delay \(95th percentile\) by kind of flow: download (\d+) ms; call (\d+) ms\.", said[0])
    flows = multihop.run(ROUTER).flows.set_index("name")["delay_p95_s"]
    assert [float(found[1]), float(found[2])] == pytest.approx((1e3 * flows[["download", "call"]]).tolist(), rel=0.01)


def test_flows_are_counted_by_kind_in_the_word_of_their_names(narrow, tmp_path, room):
    result = multihop.run(room)
    flows = result.view["flows"]
    of = flows_by_kind(flows)
    assert list(of) == ["10 calls", "10 videos", "10 downloads"]
    assert counts_by_kind(flows, [*of["10 calls"], of["10 downloads"][0]]) == ["all 10 calls", "1 of 10 downloads"]
    assert flow_words(flows, of["10 calls"][:2], 2) == "call0 and call3"
    titles = {metric.name: metric.title for metric in multihop.compare(room, ["tcp-cubic"], seeds=1).metrics}
    assert titles["delay_p95_s"].startswith("95th percentile of delay of call0, call3, 8 more")
    (tmp_path / "room.toml").write_text(room)
    said = " ".join(first_screen(narrow("run", "room.toml", "-q").out))
    assert "transfers" not in said
    assert "fairness of goodput among 10 calls: " in said
    delays = result.flows["delay_p95_s"].to_numpy()[of["10 calls"]] * 1e3
    shown = re.search(r"by kind of flow: 10 calls ([\d.]+)(?: to ([\d.]+))? ms;", said)
    assert float(shown[1]) == pytest.approx(delays.min(), rel=0.01)
    assert float(shown[2] or shown[1]) == pytest.approx(delays.max(), rel=0.01)


@pytest.mark.parametrize(
    ("names", "word"),
    [
        (["download 1", "download 22"], "downloads"),
        (["relay-1", "relay-2"], "relays"),
        (["query1", "query2"], "queries"),
        (["flow 1", "flow 2"], "flows"),
        (["n0->n1", "n0->n2"], "flows"),
        (["download", "backup"], "flows"),
    ],
)
def test_the_word_for_several_flows_is_of_their_names(names, word):
    def flows(*apps):
        return [{"name": name, "app": app, "offered_bps": None, "path": [0, 1]} for name in names for app in apps]

    assert counts_by_kind(flows("saturated"), [0]) == [f"1 of 2 {word}" if word == "flows" else "1 of 2 flows"]
    mixed = [*flows("saturated"), {"name": "call", "app": "cbr"}]
    assert list(flows_by_kind(mixed)) == [f"2 {'transfers' if word == 'flows' else word}", "call"]


def test_a_classroom_fits_on_first_screens_and_is_explained_by_groups(narrow, tmp_path, room):
    (tmp_path / "room.toml").write_text(room)
    compared = narrow(
        "compare", "room.toml", "--schemes", "tcp-cubic,tcp-bbr", "--seeds", "2", "--out", "results", "-q"
    )
    check_screen(first_screen(compared.out))
    check_screen(first_screen(narrow("run", "room.toml", "-q").out))
    done = narrow("explain", "results", "--no-try")
    check_screen(first_screen(done.out))
    found = narrow("explain", "results", "--no-try", "--json").json()
    assert sum(len(group["flows"]) for group in found["groups"]) == len(found["explained"]) > 8
    assert len(found["groups"]) < len(found["explained"]) / 2
    for group in found["groups"]:
        named = [name for name in group["flows"] if re.search(rf"\b{name}\b", group["sentence"])]
        assert len(named) == len(group["flows"]) <= 8 or re.search("(of|all) 10 videos", group["sentence"])
    assert len(done.out.splitlines()) < 20 + 30 * len(found["groups"]) < 200


def test_the_headline_gives_the_place_its_own_share_and_the_kind_its_sum(narrow, tmp_path):
    (tmp_path / "wan.toml").write_text(LOSSY)
    assert narrow("run", "wan.toml", "--seeds", "2", "--out", "results", "-q").code == 0
    found = narrow("explain", "results", "--no-try", "--json").json()
    causes = found["explained"][0]["causes"]
    lost = [cause for cause in causes if cause["kind"] == "wire-loss"]
    assert {(cause["sender"], cause["receiver"]) for cause in lost} == {("wan", "cloud"), ("cloud", "wan")}
    own, whole = lost[0]["score"], sum(cause["score"] for cause in lost)
    assert found["headline"] == (
        f"What matters most: random losses on the wire wan to cloud: {percent(own)} of what holds backup back, "
        f"{percent(whole)} with the other places where it occurs."
    )
    (part,) = [part for part in found["explained"][0]["sentences"] if part["heading"] == "What holds it back"]
    assert any("acknowledgements per run were lost at random on the wire cloud to wan" in s for s in part["sentences"])


def test_wires_take_no_airtime(narrow, tmp_path):
    (tmp_path / "wan.toml").write_text(LOSSY)
    assert narrow("run", "wan.toml", "--out", "results", "-q").code == 0
    said = narrow("explain", "results", "--no-try").out
    assert "of the time, without back-off" not in said
    assert "excludes" not in said


#: A protocol's table of routes leads around a link that loses most frames.
AROUND = """
name = "around"
duration = "40 s"
warmup = "20 s"
[medium]
model = "ranges"
receive_range = "250 m"
[routing]
protocol = "dsdv"
[topology]
nodes = [
  { name = "a", position = ["0 m", "0 m"] },
  { name = "b", position = ["150 m", "0 m"] },
  { name = "c", position = ["150 m", "150 m"] },
  { name = "d", position = ["300 m", "0 m"] },
]
[[outages]]
node = "b"
from = "15 s"
to = "40 s"
[[flows]]
name = "flow"
from = "a"
to = "d"
scheme = "udp"
app = { kind = "cbr", rate = "200 kb/s", packet = "1000 B" }
"""


def test_the_path_that_packets_took_is_said_where_it_is_another(narrow, tmp_path):
    (tmp_path / "around.toml").write_text(AROUND)
    assert narrow("run", "around.toml", "--out", "results", "-q").code == 0
    said = " ".join(narrow("explain", "results", "flow", "--no-try").out.split())
    assert "Shortest path" in said
    assert re.search(r"packets went over .*a to c \d+ %, c to d \d+ % of the busiest hop's frames", said), said
    assert "no frame of the flow ended here" not in said
    (tmp_path / "wan.toml").write_text(LOSSY)
    assert narrow("run", "wan.toml", "--out", "wan", "-q").code == 0
    assert "Path: office > wan > cloud; scheme tcp-newreno." in narrow("explain", "wan", "--no-try").out


def test_a_flow_that_is_alone_is_not_held_against_itself():
    """Flows that stop have no optimum to be held against."""
    stops = ROUTER.replace('scheme = "tcp-cubic"', 'scheme = "tcp-cubic"\nstop = "19 s"').replace(
        "queue = 1000", "queue = 20"
    )
    compared = multihop.compare(stops, ["tcp-cubic"], seeds=2)
    assert compared.not_comparable is not None
    download, call = compared.services["tcp-cubic"]
    assert (download.yardstick, call.yardstick) == (Yardstick.BEST, Yardstick.OFFERED)
    assert download.fair_bps == download.goodput_bps.max()
    assert call.fair_bps == 64_000
    assert (download.status, call.status) == (Status.FINE, Status.FINE)
    for each in (download, call):
        assert each.starved_seeds == 0 or each.share < 1
    said = compared.statistics()["services"]["tcp-cubic"]
    assert [each["fair_is"] for each in said] == ["its best seed", "what it offers"]


def test_numbers_on_a_screen_have_few_digits_and_one_unit():
    metric = METRIC["goodput_total_bps"]
    assert with_interval(Estimate(4_921_060.0, 4_920_950.0, 4_921_170.0, 5), metric, SCREEN_DIGITS) == "4.921 ± 0"
    assert with_interval(Estimate(4_921_060.0, 4_900_000.0, 4_942_120.0, 5), metric, SCREEN_DIGITS) == "4.921 ± 0.021"
    shown = [rate(bps) for bps in (0.0, 1.0, 444.0, 63_999.0, 1_737_000.0, 54e6)]
    assert shown == ["0 Mb/s", "< 0.0001 Mb/s", "0.0004 Mb/s", "0.064 Mb/s", "1.74 Mb/s", "54 Mb/s"]
    assert [percent(share) for share in (0.0, -0.0, 0.00001, 0.0018, 0.0995, 1.0)] == [
        "0 %",
        "0 %",
        "< 0.01 %",
        "0.18 %",
        "10 %",
        "100 %",
    ]
    assert signed(metric, -0.0) == "0"


def test_the_advice_names_all_schemes_that_tie_with_the_best(monkeypatch):
    means = {"one": 1.40, "two": 1.39, "slow": 1.0}
    monkeypatch.setattr(verdicts, "_ranked", lambda *_: means)
    monkeypatch.setattr(verdicts, "_matters", lambda *_: True)

    def leaders(*apart):
        contrasts = [SimpleNamespace(a=a, b=b, significant=True) for a, b in apart]
        return verdicts._leaders(SimpleNamespace(contrasts=lambda _: contrasts), METRIC["goodput_total_bps"])

    assert leaders(("one", "slow"), ("two", "slow")) == ["one", "two"]
    assert leaders(("one", "slow"), ("one", "two")) == ["one"]
    assert leaders() == []
    assert leaders(("two", "slow")) == [], "the best cannot be told from any"


def test_details_that_tables_have_are_left_out_of_a_screen_that_is_full():
    said = ["Late: a.", "No significant difference: goodput.", "Packets lost: 1 %.", "What to do: wait."]
    assert verdicts.shortened(said, 4, lambda _: 1) == said
    assert verdicts.shortened(said, 3, lambda _: 1) == [said[0], said[1], said[3]]
    assert verdicts.shortened(said, 2, lambda _: 1) == [said[0], said[3]]


def test_delay_of_flows_of_one_kind_lies_between_those_of_the_flows(narrow, tmp_path):
    """What is late at worst is not beside a delay of all that is larger."""
    calls = "".join(
        f'[[flows]]\nname = "call {i}"\nfrom = "server"\nto = "phone"\nscheme = "udp"\n'
        f'app = {{ kind = "cbr", rate = "2 Mb/s", packet = "500 B", jitter = 0.1 }}\nstart_jitter = "1 s"\n'
        for i in range(3)
    )
    (tmp_path / "calls.toml").write_text(ROUTER.partition("[[flows]]")[0] + calls)
    said = first_screen(narrow("run", "calls.toml", "--seeds", "2", "-q").out)
    assert any(
        re.fullmatch(r"Delay \(95th percentile\) by flow: 3 calls [\d.]+( to [\d.]+)? ms\.", line) for line in said
    )
    assert not any("Goodput" in line and "delay" in line for line in said)
