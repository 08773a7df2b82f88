"""The league: every scheme on every network, and numbers that are those of the same runs made alone."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from docs import league as page_of_league

import multihop
from conftest import DATA, ROOT
from multihop import _core
from multihop.leagues import headers, kind_of, networks, rules, schemes, settings, study
from multihop.simulation.scenario import load

NETWORKS = [
    "chain-4",
    "chain-7",
    "exposed",
    "bar",
    "parking-lot",
    "wlan",
    "mobile-mesh",
    "chain-11n",
    "chain-two-radios",
    "mesh-11n",
    "wlan-11ac",
]
#: Where nodes move there is no one optimum, and schemes are ranked by the sum of what is useful.
MOVING = {"mobile-mesh", "mesh-11n"}
MAIN = {"reliable": ("gap", "goodput"), "datagrams": ("timely_gap", "timely")}
LEIPZIG = DATA / "freifunk-leipzig-meshviewer.stripped.json"

#: Two nodes that hear each other: the least that is a mesh.
PAIR = """
name = "pair"
duration = "4 s"
warmup = "1 s"

[topology]
generator = "chain"
hops = 1
spacing = "100 m"

[[flows]]
from = "n0"
to = "n1"
scheme = "tcp-newreno"
start_jitter = "100 ms"
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A quick look at two schemes of each kind, without a mesh."""
    folder = tmp_path_factory.mktemp("league")
    compared = "recn,udp,rcp,tfrc"
    command = [sys.executable, "-m", "multihop", "league", "--quick", "--seeds", "2", "--schemes", compared]
    command += ["--out", "out"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=True)
    return folder / "out", done


# What is in it


def test_all_schemes_of_the_engine_take_part():
    registry = [scheme["name"] for scheme in json.loads(_core.registry())["schemes"]]
    assert schemes() == registry
    assert len(registry) >= 24
    for network in networks():
        assert [point.labels["scheme"] for point in study(network, schemes()).plan.points] == registry


def test_every_network_and_scheme_has_its_row(found):
    folder, done = found
    table = pd.read_csv(folder / "standings.csv")
    assert list(table["network"].unique()) == NETWORKS
    for network in NETWORKS:
        rows = table[(table["network"] == network) & (table["metric"] == "goodput")]
        assert list(rows["scheme"]) == ["udp", "tfrc", "recn", "rcp"]
        assert (rows["n"] == 2).all()
        assert rows["mean"].between(1e4, 351e6).all()
    runs = pd.read_parquet(folder / "runs.parquet")
    assert len(runs) == len(NETWORKS) * 4 * 2
    text = (folder / "league.md").read_text()
    for title in (network.title for network in networks()):
        assert f"## {title}" in text
        assert title.split()[0] in done.stdout
    report = (folder / "report.html").read_text()
    assert "<svg" in report
    assert report.index("Which scheme is better where") < report.index("<svg")


def test_packets_are_alike_whatever_their_headers():
    said = rules()
    for scheme in schemes():
        made = settings(scheme)
        assert made["scheme"] == scheme
        payload = int(made[f"schemes.{scheme}.segment_size"].removesuffix(" B"))
        assert payload + headers(scheme) == said["packet"]
        assert 20 <= headers(scheme) <= 100
    assert headers("udp") == 28
    assert "schemes.udp.window" not in settings("udp")
    assert settings("tcp-newreno")["schemes.tcp-newreno.window"] == said["receive_window"]


def test_nothing_is_said_of_networks_and_schemes_that_are_not_there():
    said = rules()
    assert set(said["knowledge"]) <= set(schemes())
    for network in networks():
        given = network.scenario.get("schemes", {})
        assert set(given) <= set(schemes())
        # What schemes are configured with of the network is so.
        text = (files("multihop.leagues") / "scenarios" / f"{network.name}.toml").read_text()
        sent = multihop.run(text, set={"duration": "5 s", "warmup": "0 s"})
        rate_bps = sent.links["rate_mean_bps"].max()
        assert given["tcp-ap"]["rate"] == f"{rate_bps / 1e6:g} Mb/s"
        assert given["ewccp"]["psi"] * rate_bps == pytest.approx(carried_alone(text), rel=2e-3)
    given, plan = said["community"]["set"], said["community"]["plan"]
    assert given["schemes.tcp-ap.rate"] == plan["data_rate"] == "24 Mb/s"
    phy = f'[phy]\nstandard = "{plan["standard"]}"\ndata_rate = "24 Mb/s"\n[[flows]]'
    assert given["schemes.ewccp.psi"] * 24e6 == pytest.approx(carried_alone(PAIR.replace("[[flows]]", phy)), rel=2e-3)


def carried_alone(scenario):
    """Payload in bit/s that a hop carries without contention, with an acknowledgement for each packet."""
    demand = load(scenario).capacity({"scheme": "ewccp"})["demands"][0]
    busy = sum(way[0]["exchange_s"] + way[0]["access_s"] for way in (demand["forward"], demand["feedback"]))
    return demand["payload_bytes"] * 8 / busy


def test_what_is_ranked_apart_is_what_the_engine_calls_unreliable():
    datagrams = ["udp", "tfrc", "tfrc-capped", "re-tfrc", "nada", "gcc", "scream", "quick-and-plenty"]
    registry = json.loads(_core.registry())["schemes"]
    assert [scheme["name"] for scheme in registry if not scheme["reliable"]] == datagrams
    assert [name for name in schemes() if kind_of(name) == "datagrams"] == datagrams


def test_schemes_are_compared_with_those_of_their_kind(found):
    folder, _ = found
    pairs = pd.read_csv(folder / "differences.csv")
    assert set(zip(pairs["a"], pairs["b"], strict=True)) == {("recn", "rcp"), ("udp", "tfrc")}
    table = pd.read_csv(folder / "standings.csv")
    assert dict(zip(table["scheme"], table["kind"], strict=True)) == {
        "udp": "datagrams",
        "tfrc": "datagrams",
        "recn": "reliable",
        "rcp": "reliable",
    }
    # Two of each: no rank is beyond the second.
    assert set(table["rank"]) == {1, 2}
    assert (table["better_than"] <= 1).all()
    text = (folder / "league.md").read_text()
    chain = text.partition("## Chain of 4 hops\n")[2].partition("\n## ")[0]
    reliable, _, datagrams = chain.partition("### Chain of 4 hops: datagrams")
    assert "### Chain of 4 hops: reliable transports" in reliable
    assert "| recn |" in reliable
    assert "| udp |" not in reliable
    assert "| udp |" in datagrams
    assert "| recn |" not in datagrams


def test_reliable_transports_rank_by_goodput_and_datagrams_by_what_comes_in_time(found):
    folder, _ = found
    table = pd.read_csv(folder / "standings.csv")
    text = (folder / "league.md").read_text()
    summary = text.partition("## Which scheme is better where")[2].partition("\n## ")[0]
    cells = [line.strip("| ").split(" | ") for line in summary.splitlines() if line.startswith("|")][2:]
    assert [row[0] for row in cells] == ["reliable"] * 2 + ["datagrams"] * 2
    for kind, scheme, *places in (row[:-2] for row in cells):
        for network, place in zip(NETWORKS, places, strict=True):
            main = MAIN[kind][network in MOVING]
            of = (table["network"] == network) & (table["metric"] == main)
            assert list(table.loc[of & (table["scheme"] == scheme), "rank"]) == [int(place)]


def test_networks_stand_beside_the_same_ones_with_radios_that_aggregate(found):
    folder, _ = found
    table = pd.read_csv(folder / "standings.csv")
    text = (folder / "league.md").read_text()
    section = text.partition("## What aggregation changes")[2].partition("\n## ")[0]
    heads, _, *rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    beside = [network for network in networks() if network.base_network]
    assert [head.rpartition(" → ")[2] for head in heads[2:]] == [network.title for network in beside]
    assert len(rows) == 4
    for kind, scheme, *places in rows:
        of = table[table["scheme"] == scheme].set_index(["network", "metric"])["rank"]
        main = {network.name: MAIN[kind][network.name in MOVING] for network in networks()}
        ranks = {name: of.get((name, metric)) for name, metric in main.items()}
        assert [place.partition(" (")[0] for place in places] == [
            f"{ranks[network.base_network]} → {ranks[network.name]}" for network in beside
        ]
        # Of two schemes one has overtaken the other where both have changed places.
        other = next(one for one in ("udp", "tfrc", "recn", "rcp") if one != scheme and kind_of(one) == kind)
        against = table[table["scheme"] == other].set_index(["network", "metric"])["rank"]
        order = {name: (ranks[name], against.get((name, metric))) for name, metric in main.items()}
        for network, place in zip(beside, places, strict=True):
            change = order[network.base_network], order[network.name]
            rises, falls = change == ((2, 1), (1, 2)), change == ((1, 2), (2, 1))
            assert place.partition(" (")[2] == f"+{int(rises)} -{int(falls)})"
    for network in beside:
        legacy = next(other for other in networks() if other.name == network.base_network)
        for key in ("traffic", "flows"):
            assert network.scenario.get(key) == legacy.scenario.get(key)


# Numbers


def test_numbers_are_those_of_the_run_made_alone(found, inline):
    folder, _ = found
    runs = pd.read_parquet(folder / "runs.parquet")
    quick = rules()["quick"]["set"]
    for network, scheme in (("bar", "recn"), ("wlan", "udp")):
        keys = {**{key: value for key, value in settings(scheme).items() if key != "scheme"}, **quick}
        sets = [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]
        scenario = folder / network / "scenario.toml"
        alone = inline("run", scenario, "--scheme", scheme, "--seed", "2", "--json", *sets).json()["runs"][0]
        ours = runs[(runs["network"] == network) & (runs["scheme"] == scheme) & (runs["seed"] == 2)].iloc[0]
        rates = [flow["goodput_bps"] for flow in alone["flows"]]
        assert ours["goodput"] == pytest.approx(sum(rates), rel=1e-12)
        assert ours["loss"] == pytest.approx(alone["summary"]["loss_ratio"], abs=1e-15)
        best = multihop.optimum(scenario, scheme=scheme, feedback=False, set=keys)
        assert ours["gap"] == pytest.approx(float(best.gap(np.array(rates))), rel=1e-9)


def test_there_is_no_optimum_where_nodes_move(found):
    folder, _ = found
    table = pd.read_csv(folder / "standings.csv")
    metrics = {name: set(table.loc[table["network"] == name, "metric"]) for name in NETWORKS}
    for name in NETWORKS:
        assert ({"gap", "timely_gap", "distance", "own_gap"} <= metrics[name]) == (name not in MOVING)
    assert {"goodput", "timely", "jain", "delay", "loss", "overhead"} <= metrics["mobile-mesh"]
    text = (folder / "league.md").read_text()
    assert (
        "No single optimum exists for: Mesh with mobile nodes, Mesh with mobile nodes, 802.11n. Ranks there are" in text
    )
    assert "Runs cannot be compared with an optimum: nodes move" in text


def test_ranks_count_what_the_pairs_say(found):
    folder, _ = found
    table = pd.read_csv(folder / "standings.csv")
    pairs = pd.read_csv(folder / "differences.csv")
    for row in table[table["metric"].isin(["goodput", "overhead", "starved"])].itertuples():
        of = pairs[(pairs["network"] == row.network) & (pairs["metric"] == row.metric) & (pairs["p_adjusted"] < 0.05)]
        own = pd.concat([of.loc[of["a"] == row.scheme, "difference"], -of.loc[of["b"] == row.scheme, "difference"]])
        lower = own if row.metric == "goodput" else -own
        assert (row.better_than, row.worse_than) == ((lower > 0).sum(), (lower < 0).sum())
        assert row.rank == row.worse_than + 1
    assert table["better_than"].sum() == table["worse_than"].sum() > 0


def test_overhead_is_what_of_the_airtime_is_not_payload_that_arrived():
    text = """
    duration = "20 s"
    warmup = "1 s"
    [phy]
    standard = "802.11b"
    data_rate = "11 Mb/s"
    control_rate = "1 Mb/s"
    [mac]
    rts_threshold = "off"
    [topology]
    generator = "chain"
    hops = 1
    spacing = "100 m"
    [[flows]]
    from = "n0"
    to = "n1"
    scheme = "udp"
    app = { kind = "saturated" }
    """
    alone = multihop.run(text)
    # 28 bytes of IP and UDP, 8 of LLC and SNAP, 28 of the MAC; airtimes are rounded up to a microsecond.
    times = _core.airtimes(text, "<text>", 1472 + 28 + 8 + 28)
    expected = 1 - 1472 * 8 / 11e6 / (times["data"] + times["ack"])
    assert alone.summary["overhead"] == pytest.approx(expected, abs=1e-3)
    lost = multihop.run(text, set={"medium": {"model": "ranges", "packet_error_rate": 0.5}})
    assert lost.summary["overhead"] > expected + 0.2


# How much is decided


def test_a_quick_look_has_as_many_seeds_as_can_decide():
    assert study(networks()[0], ["recn", "udp"]).quick().plan.seeds == [1, 2, 3, 4, 5]


def test_seeds_that_decide_nothing_are_said_to(inline, tmp_path, monkeypatch):
    monkeypatch.setattr("multihop.leagues.networks", lambda mesh: networks(mesh)[:1])
    pair = ["league", "--quick", "--schemes", "tcp-sack,tcp-elfn", "--out"]
    shown = inline(*pair, "two", "--seeds", "2")
    nothing = "Nothing is decided: 2 seeds separate no two schemes on any network; use --seeds 10 or more."
    assert shown.out.splitlines()[-1] == nothing
    for name in ("league.md", "report.html"):
        assert nothing in (tmp_path / "two" / name).read_text()
    shown = inline("league", "--quick", "--schemes", "tcp-newreno,recn,xcp-winf", "--out", "five")
    assert re.fullmatch(
        r"5 seeds separate [1-3] of 3 pairs of schemes, over all networks\.", shown.out.splitlines()[-1]
    )
    assert "Nothing is decided" not in (tmp_path / "five" / "league.md").read_text()
    assert "decide" not in inline("league", "--quick", "--schemes", "udp", "--seeds", "2", "--out", "one").out


# The reader's own mesh


@pytest.mark.long
def test_a_scenario_of_the_reader_is_one_more_network(inline, tmp_path):
    (tmp_path / "pair.toml").write_text(PAIR)
    options = ["--schemes", "ecn-rts,tcp-newreno", "--seeds", "1", "--quick", "--json", "--out", "out"]
    rows = inline("league", "--mesh", "pair.toml", *options).json()
    assert {row["network"] for row in rows} == {*NETWORKS, "community-mesh"}
    assert all(row["rank"] == 1 and row["low"] is None for row in rows)
    text = (tmp_path / "out" / "league.md").read_text()
    assert "The scenario pair.toml, as it is." in text
    assert "One seed cannot separate schemes" in text
    # Without RTS there are none that go unanswered.
    wlan = text.partition("## WLAN")[2].partition("\n## ")[0]
    assert "Runs are equal to the last number for tcp-newreno, ecn-rts." in wlan
    assert "The same runs" not in text.partition("## Chain of 7")[2].partition("\n## ")[0]
    assert str(tmp_path) not in text + (tmp_path / "out" / "manifest.json").read_text()
    assert not (tmp_path / "out" / "differences.csv").exists() or len(pd.read_csv("out/differences.csv"))


def test_a_mesh_is_imported_as_the_command_does_that_is_named(inline, tmp_path, monkeypatch):
    grid = [{"node_id": name, "is_online": True} for name in "abcd"]
    pairs = [("a", "b"), ("b", "c"), ("c", "d")]
    links = [{"source": a, "target": b, "source_tq": 0.9, "target_tq": 0.9, "type": "wifi"} for a, b in pairs]
    (tmp_path / "my mesh.json").write_text(json.dumps({"nodes": grid, "links": links}))
    monkeypatch.setattr("multihop.leagues.networks", lambda mesh: networks(mesh)[-1:])
    options = ["--schemes", "udp", "--seeds", "1", "--quick", "--out", "out"]
    said = inline("league", "--mesh", "my mesh.json", *options).err
    assert "radios and traffic are those of the league" in said
    assert "multihop league --mesh SCENARIO.toml" in said
    command = re.search(r": multihop (import .*)\n", said)[1]
    assert "--standard 802.11g" in command
    assert inline(*shlex.split(command)).code == 0
    made, imported = (
        tomllib.loads((tmp_path / name).read_text())
        for name in ("out/community-mesh/scenario.toml", "community-mesh.toml")
    )
    assert made == imported


def test_without_a_mesh_it_is_said_how_to_get_one(found):
    folder, done = found
    for text in (done.stderr, (folder / "league.md").read_text()):
        assert "The community mesh is left out" in text
        assert "--mesh FILE" in text
    assert not (folder / "community-mesh").exists()


@pytest.mark.long
@pytest.mark.skipif(not LEIPZIG.exists(), reason="needs the mesh of Freifunk Leipzig, which is not part of the project")
def test_a_community_mesh_is_imported(inline, tmp_path):
    options = ["--schemes", "tcp-vegas", "--seeds", "1", "--quick", "--json", "--out", "out"]
    rows = inline("league", "--mesh", LEIPZIG, *options).json()
    found = {row["metric"]: row["mean"] for row in rows if row["network"] == "community-mesh"}
    assert 0 < found["goodput"] < 24e6
    assert 0 < found["gap"] < 1
    view = load(tmp_path / "out" / "community-mesh" / "scenario.toml").check()
    assert (len(view["nodes"]), len(view["flows"])) == (87, 10)


# What does not go


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--schemes", "recnn"], ["--schemes", "recnn", 'did you mean "recn"?', "tcp-newreno"]),
        (["--schemes", ","], ["--schemes", "names none", "recn"]),
        (["--seeds", "0"], ["--seeds", "found 0", "at least 1"]),
        (["--seeds", "many"], ["--seeds", "many"]),
        (["--jobs", "0"], ["--jobs", "found 0"]),
        (["--mesh", "none.json"], ["none.json", "no such file"]),
        (["--mesh", "none.toml"], ["none.toml", "no such file"]),
        (["--mesh", "list.json"], ["list.json", "no known mesh format"]),
        (["--mesh", "half.toml"], ["half.toml", "topology", "missing"]),
        (["--out", "list.json"], ["list.json", "a file is in the way"]),
        (["--out", "mine"], ["mine", "league.md", "would be replaced"]),
    ],
)
def test_options_that_cannot_be(inline, tmp_path, options, says):
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "half.toml").write_text('name = "half"\n')
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "league.md").write_text("mine")
    message = inline("league", *options).fails_cleanly()
    for words in says:
        assert words in message, message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["half.toml", "list.json", "mine"]
    assert (tmp_path / "mine" / "league.md").read_text() == "mine"


# The page


def test_the_page_of_the_documentation_is_made_of_the_league(found):
    folder, _ = found
    text = page_of_league.page((folder / "league.md").read_text())
    assert text.startswith("# The league of schemes\n\n")
    assert text.count("\n# ") == 0
    assert "(../explanation/optimum.md)" in text
    assert (ROOT / "docs" / "explanation" / "optimum.md").exists()
    assert "| rank | scheme |" in text
