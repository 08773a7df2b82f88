"""Nodes with several radios, where a file distinguishes them."""

import tomllib

import pytest

import multihop
from meshes import meshviewer, scenario
from multihop.base.errors import UserError
from multihop.importers import Options, read
from multihop.importers.to_scenario import Plan, write

#: b has a radio in each band; a and c have one. Both ends list each link.
OLSR = (
    "src,dst,ifname,lq,nlq,tx_rate_kbps,tx_mcs\n"
    "a,b,wlan0-adhoc-2,0.9,0.8,26000,3\nb,a,wlan0-adhoc-2,0.8,0.9,26000,3\n"
    "b,c,wlan1-mesh-5,1,0.7,130000,15\n"
)

#: Two links between the same nodes, on two channels.
PARALLEL = "source,target,delivery,reverse_delivery,channel\na,b,0.9,0.8,36\na,b,0.6,0.7,149\nb,c,1,1,149\n"


def topology(imported):
    """Radios by node, and delivery of each direction by the names of radios."""
    made = tomllib.loads(imported.text)["topology"]
    radios = {node["name"]: [radio["channel"] for radio in node.get("radios", [])] for node in made["nodes"]}
    links = {}
    for link in made["links"]:
        for ends, key in (((link["from"], link["to"]), "delivery"), ((link["to"], link["from"]), "reverse")):
            if key in link:
                links[ends] = link[key]
    return radios, links


def test_bands_of_interfaces_are_radios(tmp_path):
    imported = scenario(tmp_path, OLSR, name="links.csv")
    radios, links = topology(imported)
    assert radios == {"a": [36], "b": [36, 149], "c": [149]}
    assert links == {("a", "b"): 0.8, ("b", "a"): 0.9, ("b/1", "c"): 0.7, ("c", "b/1"): 1.0}
    assert imported.parallel == 0
    assert any("radios: 1 of 3 nodes have several; 2 directions (2.4 GHz) on channel 36" in s for s in imported.summary)


def test_a_file_with_schemes_is_of_802_11n(tmp_path):
    made = tomllib.loads(scenario(tmp_path, OLSR, name="links.csv").text)
    assert made["phy"]["standard"] == "802.11n"
    # 26 Mb/s is below the 65 Mb/s of the PHY, 130 Mb/s is not.
    assert [link.get("data_rate") for link in made["topology"]["links"] if "delivery" in link] == ["MCS 3", None]
    made = tomllib.loads(scenario(tmp_path, OLSR, Plan(standard="802.11a"), name="links.csv").text)
    assert made["phy"]["standard"] == "802.11a"
    assert made["topology"]["links"][0]["data_rate"] == "24 Mb/s"


def test_channels_of_a_file_are_those_of_the_scenario(tmp_path):
    imported = scenario(tmp_path, PARALLEL, Plan(standard="802.11n"), name="links.csv")
    radios, links = topology(imported)
    assert radios == {"a": [36, 149], "b": [36, 149], "c": [149]}
    assert (links["a", "b"], links["a/1", "b/1"]) == (0.9, 0.6)
    assert links["b/1", "c"] == 1.0
    assert imported.parallel == 2
    assert imported.links == 6
    assert "parallel or repeated directions (the best one stays)" not in imported.left_out
    # Of another band: channels that are apart stand for them.
    radios, _ = topology(scenario(tmp_path, PARALLEL, Plan(standard="802.11g"), name="links.csv"))
    assert radios == {"a": [1, 6], "b": [1, 6], "c": [6]}


def test_one_radio_has_the_best_of_parallel_links(tmp_path):
    radios, links = topology(scenario(tmp_path, PARALLEL, Plan(radios="one"), name="links.csv"))
    assert radios == {"a": [], "b": [], "c": []}
    assert links == {("a", "b"): 0.9, ("b", "a"): 0.8, ("b", "c"): 1, ("c", "b"): 1}


def test_parallel_links_without_a_name_are_radios_if_asked(tmp_path):
    links = [("a", "b", 0.5, 0.9, "wifi"), ("b", "a", 0.4, 0.8, "wifi"), ("b", "c", 1, 1, "wifi")]
    assert topology(scenario(tmp_path, meshviewer(links)))[0] == {"a": [], "b": [], "c": []}
    imported = scenario(tmp_path, meshviewer(links), Plan(radios="several", standard="802.11a"))
    radios, made = topology(imported)
    assert radios == {"a": [36, 149], "b": [36, 149], "c": [36]}
    assert made["a", "b"] == 0.5
    assert made["b/1", "a/1"] == 0.4
    assert imported.parallel == 2


def test_more_links_than_channels_apart_are_counted(tmp_path):
    links = [("a", "b", share / 10, 1, "wifi") for share in range(4, 9)]
    imported = scenario(tmp_path, meshviewer(links), Plan(radios="several", standard="802.11b"))
    assert topology(imported)[0] == {"a": [1, 6, 11], "b": [1, 6, 11]}
    assert imported.left_out["directions (link 5 of a pair), for want of channels apart"] == 2


def test_what_one_radio_hears_and_another_does_not_connects_nobody(tmp_path):
    rows = "source,target,delivery,reverse_delivery,channel\na,b,1,1,36\nb,c,1,0,36\nb,c,0,1,149\n"
    imported = scenario(tmp_path, rows, Plan(standard="802.11n"), name="links.csv")
    assert set(topology(imported)[0]) == {"a", "b"}


def test_what_is_left_out_is_said_where_one_channel_is_left(tmp_path):
    # The other channel is another network: of the one that is kept, both ends list their link.
    rows = OLSR.replace("b,c,", "d,e,") + "b,f,wlan0-adhoc-2,1,1,26000,3\n"
    imported = scenario(tmp_path, rows, name="links.csv")
    assert topology(imported)[0] == {"a": [], "b": [], "f": []}
    assert imported.left_out["parallel or repeated directions (the best one stays)"] == 2


def test_links_are_weak_by_radio(tmp_path):
    imported = scenario(tmp_path, PARALLEL, Plan(standard="802.11n", min_delivery=0.75), name="links.csv")
    assert topology(imported)[0] == {"a": [36], "b": [36, 149], "c": [149]}


def test_channels_do_not_contend(tmp_path):
    rows = "source,target,delivery,reverse_delivery,channel\na,b,1,1,36\nb,c,1,1,{}\n"
    goodput = {}
    for second in (36, 149):
        plan = Plan(standard="802.11n", traffic="to-gateway", gateway="c", flows=2, duration="3 s", warmup="1 s")
        text = scenario(tmp_path, rows.format(second), plan, name="links.csv").text
        text = text.replace('scheme = "tcp-newreno"', 'scheme = "udp"')
        goodput[second] = multihop.run(text, seed=1).summary["goodput_total_bps"]
    assert goodput[149] > 1.2 * goodput[36]


@pytest.mark.parametrize(
    ("content", "name", "plan", "says"),
    [
        (PARALLEL, "links.csv", Plan(radios="two"), "--radios: found 'two'; needs one or several"),
        ("source,target,delivery\na,b,1\nb,a,1\n", "links.csv", Plan(radios="several"), "--radios several: the file"),
        (
            PARALLEL.replace("36", "").replace("149", ""),
            "links.csv",
            Plan(),
            r"links.csv:2: channel: found nothing; needs the number",
        ),
        (
            PARALLEL.replace("36", "5G").replace("149", "5G"),
            "links.csv",
            Plan(),
            r"links.csv:2: channel: found 5G; needs the number",
        ),
    ],
)
def test_bad_radios(tmp_path, content, name, plan, says):
    with pytest.raises(UserError, match=says):
        scenario(tmp_path, content, plan, name=name)


@pytest.mark.parametrize(
    ("name", "options", "standard", "channels", "component"),
    [
        (
            "freifunk-berlin-olsr-links.csv",
            {"nodes": "freifunk-berlin-olsr-nodes.csv"},
            "802.11n",
            {36, 149},
            "largest",
        ),
        ("freifunk-leipzig-meshviewer.stripped.json", {}, "802.11b", {1, 6}, "all"),
    ],
)
def test_real_radios(data, name, options, standard, channels, component):
    paths = {option: data / file for option, file in options.items()}
    plan = Plan(radios="several", component=component, traffic="random-pairs", flows=3)
    imported = write(read(data / name, Options(**paths)), plan, name)
    assert tomllib.loads(imported.text)["phy"]["standard"] == standard
    radios, links = topology(imported)
    assert {channel for of_node in radios.values() for channel in of_node} == channels
    assert any(len(of_node) == 2 for of_node in radios.values())
    assert any(end.endswith("/1") for pair in links for end in pair)
    assert all(flow["path"] for flow in multihop.check(imported.text)["flows"])
