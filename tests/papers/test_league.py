"""The league: every scheme on every network, and numbers that are those of the same runs made alone."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
import tomli_w
from docs import league as page_of_league

import multihop
import multihop.leagues as leagues
from conftest import DATA, ROOT
from multihop import _core
from multihop.leagues import (
    configured,
    entrants,
    headers,
    kind_of,
    networks,
    rules,
    scheme_of,
    schemes,
    settings,
    study,
)
from multihop.results.words import percent
from multihop.simulation.scenario import load

NETWORKS = [
    "chain-4",
    "chain-7",
    "exposed",
    "bar",
    "parking-lot",
    "parallel-links",
    "stack",
    "crossing",
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
    # `python` is the scheme of users' classes.
    registry = [scheme["name"] for scheme in json.loads(_core.registry())["schemes"] if scheme["name"] != "python"]
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
    assert set(said["form"]) <= set(schemes())
    assert {name for name in schemes() if name.endswith("-published")} <= set(said["form"])
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
    pair = PAIR.replace("[[flows]]", phy)
    assert given["schemes.ewccp.psi"] * 24e6 == pytest.approx(carried_alone(pair), rel=2e-3)


def carried_alone(scenario):
    """Payload in bit/s that a hop carries without contention, with the league's packets and acknowledgements."""
    terms = {key: value for key, value in settings("ewccp").items() if key != "scheme"}
    demand = load(scenario).capacity({"scheme": "ewccp", "set": terms})["demands"][0]
    busy = sum(way[0]["exchange_s"] + way[0]["access_s"] for way in (demand["forward"], demand["feedback"]))
    return demand["payload_bytes"] * 8 / busy


def test_acknowledgements_are_alike_for_all_over_tcp():
    said = rules()["acknowledgements"]
    registry = {
        scheme["name"]: scheme["parameters"]["properties"] for scheme in json.loads(_core.registry())["schemes"]
    }
    for scheme in schemes():
        made = {key: settings(scheme).get(f"schemes.{scheme}.{key}") for key in ("ack_every", "delayed_ack")}
        is_over_tcp = registry[scheme].get("window", {}).get("x-role") == "receive-window"
        assert made == (said if is_over_tcp else {"ack_every": None, "delayed_ack": None})
    # Those of a host are not changed: a run of CUBIC is the same without these terms.
    text = networks()[0].scenario
    small = {**text, "duration": "10 s", "warmup": "1 s"}
    keys = {path: value for path, value in settings("tcp-cubic").items() if path != "scheme"}
    bare = {path: value for path, value in keys.items() if path.rpartition(".")[2] not in said}
    assert len(bare) == len(keys) - 2
    runs = [multihop.run(tomli_w.dumps(small), scheme="tcp-cubic", set=each) for each in (keys, bare)]
    assert runs[0].summary["goodput_total_bps"] == runs[1].summary["goodput_total_bps"]


def test_a_scheme_that_acknowledges_otherwise_by_itself_is_also_in_it_as_it_is():
    assert entrants(["tcp-newreno", "tcp-ap", "udp"]) == ["tcp-newreno", "tcp-ap", "tcp-ap (own ACKs)", "udp"]
    own = "tcp-ap (own ACKs)"
    assert (scheme_of(own), kind_of(own), headers(own)) == ("tcp-ap", "reliable", headers("tcp-ap"))
    assert settings(own) == {
        path: value
        for path, value in settings("tcp-ap").items()
        if path.rpartition(".")[2] not in ("ack_every", "delayed_ack")
    }
    # Published forms run over TCP of ns-2, whose receivers acknowledge each segment.
    assert entrants(["recn", "recn-published"]) == ["recn", "recn-published", "recn-published (own ACKs)"]
    # Each acknowledgement costs airtime, so that a neighbourhood carries less.
    with_psi = [name for name in schemes() if name.startswith("ewccp")]
    for name in with_psi:
        assert configured(networks()[0], f"{name} (own ACKs)")[f"schemes.{name}.psi"] <= 0.3


def test_a_published_form_is_configured_as_its_scheme(monkeypatch):
    entry = next(scheme for scheme in json.loads(_core.registry())["schemes"] if scheme["name"] == "ewccp")
    known = {"ewccp": entry, "ewccp-published": {**entry, "name": "ewccp-published"}}
    monkeypatch.setattr(leagues, "_schemes", lambda: known)
    assert leagues.base_form("ewccp-published (own ACKs)") == "ewccp"
    assert configured(networks()[0], "ewccp-published") == {"schemes.ewccp-published.psi": 0.3}
    assert configured(networks()[0], "ewccp") == {}
    bare = replace(networks()[0], set={"schemes": {}})
    assert configured(bare, "ewccp-published") == {}


def test_the_middle_of_parallel_links_has_half_of_what_the_others_have_at_the_optimum():
    network = next(network for network in networks() if network.name == "parallel-links")
    text = tomli_w.dumps(network.scenario)
    best = multihop.optimum(text, scheme="udp", feedback=False).flows
    shares = best["optimum_bps"] / best["alone_bps"]
    assert shares.to_list() == pytest.approx([2 / 3, 1 / 3, 2 / 3], rel=0.02)


def test_flows_of_crossing_chains_share_a_node():
    network = next(network for network in networks() if network.name == "crossing")
    one, other = (set(flow["path"]) for flow in load(tomli_w.dumps(network.scenario)).check()["flows"])
    assert (len(one), len(other), len(one & other)) == (7, 7, 1)


def test_what_is_ranked_apart_is_what_the_engine_calls_unreliable():
    datagrams = ["udp", "tfrc", "tfrc-capped", "re-tfrc", "nada", "gcc", "scream", "quick-and-plenty"]
    registry = json.loads(_core.registry())["schemes"]
    unreliable = [scheme["name"] for scheme in registry if not scheme["reliable"]]
    assert [name for name in unreliable if not name.endswith("-published")] == datagrams
    assert [name for name in schemes() if kind_of(name) == "datagrams"] == unreliable


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


def test_the_page_says_which_form_is_ranked(found):
    folder, _ = found
    text = (folder / "league.md").read_text()
    section = text.partition("### Ranked forms")[2].partition("\n##")[0]
    assert "Defaults of flavour `rfc`: recn, rcp." in section
    assert f"| recn | {rules()['form']['recn']} |" in section
    assert "| rcp |" not in section


def test_the_worst_network_of_each_scheme_has_a_cause(found):
    folder, _ = found
    worst = pd.read_csv(folder / "worst.csv")
    assert list(worst["scheme"]) == ["recn", "rcp", "udp", "tfrc"]
    table = pd.read_csv(folder / "standings.csv")
    text = (folder / "league.md").read_text()
    section = text.partition("### Where each scheme is worst, and why")[2].partition("\n##")[0]
    titles = {network.name: network.title for network in networks()}
    for row in worst.itertuples():
        behind = {}
        for network in NETWORKS:
            main = MAIN[row.kind][network in MOVING]
            of = table[(table["network"] == network) & (table["metric"] == main) & (table["kind"] == row.kind)]
            means = of.set_index("scheme")["mean"]
            results = means if network in MOVING else 1 - means
            behind[network] = 1 - results[row.scheme] / results.max()
        assert row.network == max(behind, key=lambda network: behind[network])
        assert row.behind == pytest.approx(behind[row.network])
        assert row.cause
        assert 0.05 < row.share <= 1
        assert f"| {row.scheme} | {titles[row.network]} | {percent(row.behind)} | {row.cause}: " in section
    assert len(list((folder / "causes").iterdir())) == 4


def test_causes_are_those_that_explain_finds(found, inline):
    folder, _ = found
    worst = pd.read_csv(folder / "worst.csv").set_index("scheme")
    row = worst.loc["rcp"]
    keys = {key: value for key, value in settings("rcp").items() if key != "scheme"} | rules()["quick"]["set"]
    sets = [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]
    scenario = folder / row["network"] / "scenario.toml"
    assert inline("run", scenario, "--scheme", "rcp", "--seeds", "2", *sets, "--out", "alone").code == 0
    said = multihop.explain("alone", no_try=True)
    kinds = said.causes[said.causes["score"] >= 0.05]
    assert len(kinds) > 0
    assert row["cause"] in said.headline() or said.headline().startswith("All"), said.headline()


def test_causes_that_were_found_are_not_searched_again(found, monkeypatch):
    folder, _ = found
    monkeypatch.setattr("multihop.leagues.worst.run_all", lambda *_: pytest.fail("a run was repeated"))
    options = {"schemes": ["recn", "udp", "rcp", "tfrc"], "seeds": 2, "quick": True, "out": folder}
    assert list(multihop.league(**options).worst["scheme"]) == ["recn", "rcp", "udp", "tfrc"]


def test_reliable_transports_rank_by_goodput_and_datagrams_by_what_comes_in_time(found):
    folder, _ = found
    table = pd.read_csv(folder / "standings.csv")
    text = (folder / "league.md").read_text()
    summary = text.partition("## Which scheme is better where")[2].partition("\n##")[0]
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
    options = ["--schemes", "ecn-rts,tcp-elfn", "--seeds", "1", "--quick", "--json", "--out", "out"]
    rows = inline("league", "--mesh", "pair.toml", *options).json()
    assert {row["network"] for row in rows} == {*NETWORKS, "community-mesh"}
    assert all(row["rank"] == 1 and row["low"] is None for row in rows)
    text = (tmp_path / "out" / "league.md").read_text()
    assert "The scenario pair.toml, as it is." in text
    assert "One seed cannot separate schemes" in text
    # Without RTS there are none that go unanswered.
    wlan = text.partition("## WLAN")[2].partition("\n## ")[0]
    assert "Runs are equal to the last number for tcp-elfn, ecn-rts." in wlan
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
    assert "](images/coexistence.svg)" in text
    assert "](data/coexistence.csv)" in text


def test_files_that_the_page_links_to_are_copied_beside_it(found, tmp_path, monkeypatch):
    folder, _ = found
    monkeypatch.setattr(sys, "argv", ["league.py", str(folder), "--to", str(tmp_path / "league.md")])
    page_of_league.main()
    text = (tmp_path / "league.md").read_text()
    for link in re.findall(r"\]\(((?:images|data)/[^)]*)\)", text):
        assert (tmp_path / link).read_bytes() == (folder / link.rpartition("/")[2]).read_bytes()
    assert (tmp_path / "images" / "coexistence.svg").exists()
