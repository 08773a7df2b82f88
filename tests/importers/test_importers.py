"""Importers, on small files written here and on real ones."""

import json
import math
import tomllib
from pathlib import Path

import pytest

import multihop
from meshes import links_of, meshviewer, names_of, scenario
from multihop.base.errors import UserError
from multihop.importers import Options, read, to_scenario
from multihop.importers.to_scenario import Plan, write


class TestMeshviewer:
    def test_each_direction_keeps_its_own_quality(self, tmp_path):
        imported = scenario(tmp_path, meshviewer([("a", "b", 0.9, 0.7, "wifi")]))
        assert links_of(imported) == {("a", "b"): 0.9, ("b", "a"): 0.7}

    def test_only_wireless_links_count(self, tmp_path):
        imported = scenario(tmp_path, meshviewer([("a", "b", 1, 1, "wifi"), ("b", "c", 1, 1, "vpn")]))
        assert names_of(imported) == ["a", "b"]
        assert imported.left_out["links of type vpn"] == 1

    def test_the_largest_component_is_kept_and_the_rest_is_counted(self, tmp_path):
        links = [("a", "b", 1, 1, "wifi"), ("b", "c", 1, 1, "wifi"), ("d", "e", 1, 1, "wifi")]
        content = meshviewer(links, "abcdef")
        imported = scenario(tmp_path, content)
        assert names_of(imported) == ["a", "b", "c"]
        assert "kept 3 of 6 nodes" in imported.summary[0]
        assert len(names_of(scenario(tmp_path, content, Plan(component="all", traffic="random-pairs")))) == 6

    def test_a_one_way_link_interferes_but_does_not_connect(self, tmp_path):
        links = [("a", "b", 1, 1, "wifi"), ("b", "c", 0.5, 0, "wifi")]
        assert names_of(scenario(tmp_path, meshviewer(links))) == ["a", "b"]
        ring = [*links, ("a", "c", 0.8, 0.8, "wifi")]
        imported = scenario(tmp_path, meshviewer(ring))
        assert ("c", "b") not in links_of(imported)
        assert links_of(imported)["b", "c"] == 0.5
        assert "1 directions are one-way" in imported.summary[1]

    def test_parallel_links_are_merged_and_self_loops_left_out(self, tmp_path):
        links = [("a", "b", 0.5, 0.9, "wifi"), ("a", "b", 0.8, 0.4, "wifi"), ("a", "a", 1, 1, "wifi")]
        imported = scenario(tmp_path, meshviewer(links))
        assert links_of(imported) == {("a", "b"): 0.8, ("b", "a"): 0.9}
        assert imported.left_out["links from a node to itself"] == 1
        assert imported.left_out["parallel or repeated directions (the best one stays)"] == 2

    def test_nodes_that_are_offline_are_left_out(self, tmp_path):
        links = [("a", "b", 1, 1, "wifi"), ("b", "c", 1, 1, "wifi")]
        imported = scenario(tmp_path, meshviewer(links, c={"is_online": False}))
        assert names_of(imported) == ["a", "b"]
        assert imported.left_out["nodes that are offline"] == 1

    def test_bad_values_are_left_out_and_counted(self, tmp_path):
        content = json.dumps(
            meshviewer([("a", "b", 1, 1, "wifi"), ("b", "c", "x", 2, "wifi"), ("c", "d", 7, 1, "wifi")])
        )
        imported = scenario(tmp_path, content.replace("7", "NaN"))
        assert names_of(imported) == ["a", "b"]
        assert imported.left_out["directions without a usable quality"] == 2
        assert imported.left_out["directions with a delivery outside of 0 to 1"] == 1

    def test_positions_are_projected_to_metres(self, tmp_path):
        places = {
            "a": {"location": {"latitude": 51.0, "longitude": 12.0}},
            "b": {"location": {"latitude": 51.0, "longitude": 12.01}},
            "c": {"location": {"latitude": 51.01, "longitude": 12.0}},
            "d": {"location": {"latitude": 951.0, "longitude": 12.0}},
        }
        links = [("a", "b", 1, 1, "wifi"), ("b", "c", 1, 1, "wifi"), ("c", "d", 1, 1, "wifi")]
        imported = scenario(tmp_path, meshviewer(links, **places))
        nodes = {n["name"]: n.get("position") for n in tomllib.loads(imported.text)["topology"]["nodes"]}
        east = float(nodes["b"][0].removesuffix(" m"))
        north = float(nodes["c"][1].removesuffix(" m"))
        # A hundredth of a degree: 1112 m of latitude, and at 51 degrees cos(51) times that of longitude.
        assert north == pytest.approx(1112, abs=1)
        assert east == pytest.approx(1112 * math.cos(math.radians(51.0033)), abs=2)
        assert nodes["d"] is None
        assert imported.left_out["positions that are not on Earth"] == 1

    def test_x_and_y_of_meshnet_lab_are_degrees_where_they_can_be(self, tmp_path):
        links = [("a", "b", 1, 1, "wifi"), ("b", "c", 1, 1, "wifi")]

        def placed(**places):
            imported = scenario(tmp_path, meshviewer(links, "abc", **places))
            nodes = tomllib.loads(imported.text)["topology"]["nodes"]
            return {
                n["name"]: tuple(float(v.removesuffix(" m")) for v in n["position"]) for n in nodes if "position" in n
            }

        a = {"x": 51.0, "y": 12.0}
        assert placed(a=a, b={"x": 51.01, "y": 12.0})["b"] == (0.0, 1111.9), "x is the latitude"
        assert placed(a=a, b={"x": 51.0, "y": 400.0}) == {"a": (51.0, 12.0), "b": (51.0, 400.0)}, "metres"

    def test_gateways(self, tmp_path):
        links = [("a", "b", 1, 1, "wifi"), ("b", "c", 1, 1, "wifi"), ("b", "d", 1, 1, "wifi")]
        assert scenario(tmp_path, meshviewer(links)).gateway == "b", "best connected"
        assert scenario(tmp_path, meshviewer(links, d={"is_gateway": True})).gateway == "d"
        assert scenario(tmp_path, meshviewer(links), Plan(gateway="c")).gateway == "c"
        with pytest.raises(UserError, match="'x' is not among"):
            scenario(tmp_path, meshviewer(links), Plan(gateway="x"))

    def test_odd_names_survive(self, tmp_path):
        odd = 'x "quoted" \\ \u00e4\u2028 \x7f'
        links = [("a", "b", 1, 1, "wifi")]
        imported = scenario(tmp_path, meshviewer(links, "ab", a={"hostname": odd}))
        assert odd in names_of(imported)

    def test_min_delivery_leaves_weak_links_out(self, tmp_path):
        links = [("a", "b", 1, 0.9, "wifi"), ("b", "c", 0.9, 0.05, "wifi")]
        imported = scenario(tmp_path, meshviewer(links), Plan(min_delivery=0.1))
        assert names_of(imported) == ["a", "b"]


def test_positions_that_no_mesh_has_are_left_out(tmp_path):
    nodes = [{"id": "a", "x": 1.34e154, "y": 12.0}, {"id": "b", "x": 51.0, "y": 12.0}, {"id": "c", "x": 90.0, "y": 0.0}]
    links = [{"type": "wifi", "source": x, "target": y, "source_tq": 0.9, "target_tq": 0.8} for x, y in ("ab", "bc")]
    imported = scenario(tmp_path, {"nodes": nodes, "links": links})
    assert imported.left_out["positions that are not on Earth"] == 1


GRAPH = {
    "type": "NetworkGraph",
    "metric": "ETX",
    "nodes": [{"id": n} for n in "abc"],
    "links": [{"source": "a", "target": "b", "cost": 1.0}, {"source": "b", "target": "c", "cost": 4.0}],
}


class TestNetJson:
    def test_etx_is_split_evenly(self, tmp_path):
        assert links_of(scenario(tmp_path, GRAPH)) == {
            ("a", "b"): 1.0,
            ("b", "a"): 1.0,
            ("b", "c"): 0.5,
            ("c", "b"): 0.5,
        }

    def test_olsrd_writes_etx_times_1024(self, tmp_path):
        links = [{"source": "a", "target": "b", "cost": 1024}, {"source": "b", "target": "c", "cost": 4096}]
        assert links_of(scenario(tmp_path, {**GRAPH, "links": links}))["b", "c"] == 0.5

    @pytest.mark.parametrize("metric", ["none", None, ""])
    def test_without_a_metric_the_option_is_named(self, tmp_path, metric):
        with pytest.raises(UserError, match=r"metric: found 'none'.*use --assume-delivery 0\.9"):
            scenario(tmp_path, {**GRAPH, "metric": metric})

    def test_other_metrics_are_refused_or_assumed(self, tmp_path):
        graph = {**GRAPH, "metric": "hopcount_metric"}
        with pytest.raises(UserError, match=r"'hopcount_metric'.*--assume-delivery"):
            scenario(tmp_path, graph)
        assert set(links_of(scenario(tmp_path, graph, assume_delivery=0.8)).values()) == {0.8}

    def test_useless_costs_are_left_out(self, tmp_path):
        links = [*GRAPH["links"], *({"source": "a", "target": "c", "cost": cost} for cost in (0, -1, "x"))]
        imported = scenario(tmp_path, {**GRAPH, "links": links})
        assert imported.left_out["directions without a usable quality"] == 6


class TestPlaces:
    METRES = "name,x,y\na,0,0\nb,200,0\nc,200,251\nd,,\n"

    def test_nodes_within_the_range_hear_each_other(self, tmp_path):
        imported = scenario(tmp_path, self.METRES, name="nodes.csv")
        assert names_of(imported) == ["a", "b"]
        assert imported.left_out["nodes without a position"] == 1
        imported = scenario(tmp_path, self.METRES, name="nodes.csv", range_m=251.0)
        assert names_of(imported) == ["a", "b", "c"]
        medium = tomllib.loads(imported.text)["medium"]
        assert medium == {"model": "ranges", "receive_range": "251 m", "carrier_sense_range": "552.2 m"}
        view = multihop.check(imported.text)
        assert all(flow["path"] for flow in view["flows"])

    def test_degrees_are_projected_and_semicolons_will_do(self, tmp_path):
        text = "id;lat;lon\n1;51.0;12.0\n2;51.002;12.0\n3;51.002;12.003\n"
        imported = scenario(tmp_path, text, name="nodes.csv")
        assert names_of(imported) == ["1", "2", "3"], "222 m and 210 m apart"
        assert imported.links == 4

    def test_nodes_on_one_mast_are_set_apart(self, tmp_path):
        imported = scenario(tmp_path, "name,x,y\na,5,5\nb,5,5\nc,5,5\n", name="nodes.csv")
        nodes = tomllib.loads(imported.text)["topology"]["nodes"]
        assert [node["position"][0] for node in nodes] == ["5 m", "6 m", "7 m"]
        assert multihop.check(imported.text)["nodes"]

    def test_pairs_are_those_of_every_pair(self, tmp_path):
        places = [((37 * i * i) % 1009, (53 * i * i * i) % 997) for i in range(120)]
        text = "name,x,y\n" + "".join(f"n{i},{x - 500},{y - 500}\n" for i, (x, y) in enumerate(places))
        (tmp_path / "nodes.csv").write_text(text)
        mesh = read(tmp_path / "nodes.csv", Options(range_m=100.0))
        near = {
            (f"n{i}", f"n{j}")
            for i, a in enumerate(places)
            for j, b in enumerate(places)
            if i != j and math.dist(a, b) <= 100.0
        }
        assert set(mesh.links) == near

    def test_a_range_is_for_places_only_and_must_be_one(self, tmp_path):
        with pytest.raises(UserError, match="--range: found 0; needs more than 0 m"):
            scenario(tmp_path, self.METRES, name="nodes.csv", range_m=0.0)
        with pytest.raises(UserError, match="--range: does not apply to meshviewer; it is for places"):
            scenario(tmp_path, meshviewer([("a", "b", 1, 1, "wifi")]), range_m=100.0)


class TestOlsr:
    def test_nlq_is_the_way_there_and_lq_the_way_back(self, tmp_path):
        row = {"lastHopIP": "10.0.0.1", "destinationIP": "10.0.0.2", "linkQuality": 0.6, "neighborLinkQuality": 0.9}
        assert links_of(scenario(tmp_path, {"topology": [row]})) == {
            ("10.0.0.1", "10.0.0.2"): 0.9,
            ("10.0.0.2", "10.0.0.1"): 0.6,
        }

    def test_aliases_are_one_node(self, tmp_path):
        row = {"lastHopIP": "10.0.0.1", "destinationIP": "192.168.0.2", "linkQuality": 1, "neighborLinkQuality": 1}
        content = {
            "topology": [row],
            "mid": [{"main": {"ipAddress": "10.0.0.2"}, "aliases": [{"ipAddress": "192.168.0.2"}]}],
        }
        assert names_of(scenario(tmp_path, content)) == ["10.0.0.1", "10.0.0.2"]

    def test_csv_takes_wireless_interfaces(self, tmp_path):
        content = "src,dst,ifname,lq,nlq\n1,2,wlan0-adhoc-2,0.5,0.7\n2,3,eth0,1,1\n3,4,,1,1\n"
        imported = scenario(tmp_path, content, name="links.csv")
        assert links_of(imported) == {("1", "2"): 0.7, ("2", "1"): 0.5}
        assert imported.left_out["links over wires, bridges or tunnels"] == 1
        assert imported.left_out["links over an interface without a name"] == 1


class TestCsv:
    def test_links_and_nodes(self, tmp_path):
        (tmp_path / "nodes.csv").write_text("name,x,y,gateway\na,0,0,\nb,100,0,\nc,200,50,yes\n")
        content = "source;target;delivery;reverse_delivery\na;b;0.9;0.8\nb;c;0.7;0.6\n"
        imported = scenario(tmp_path, content, name="links.csv", nodes=tmp_path / "nodes.csv")
        assert links_of(imported)["c", "b"] == 0.6
        assert imported.gateway == "c"
        assert 'position = ["200 m", "50 m"]' in imported.text

    def test_rssi(self, tmp_path):
        content = "source,target,rssi_dbm,reverse_rssi_dbm\na,b,-60,-62\nb,c,-70,-71\n"
        imported = scenario(tmp_path, content, name="links.csv")
        assert 'quantity = "rssi"' in imported.text
        assert 'rssi = "-60 dBm", reverse_rssi = "-62 dBm"' in imported.text
        assert multihop.check(imported.text)["links"]

    def test_links_without_quality(self, tmp_path):
        content = "source,target\na,b\n"
        with pytest.raises(UserError, match="no quality"):
            scenario(tmp_path, content, name="links.csv")
        assert set(links_of(scenario(tmp_path, content, name="links.csv", assume_delivery=0.9)).values()) == {0.9}


def test_orbit_noise_levels(tmp_path):
    head = "noise_dbm,tx_x,tx_y,rx_x,rx_y,received,sent\n"
    rows = "-20,1,1,1,2,300,300\n-20,1,2,1,1,150,300\n0,1,1,1,2,30,300\n0,1,2,1,1,30,300\n"
    assert links_of(scenario(tmp_path, head + rows, name="o.csv")) == {("1-1", "1-2"): 1.0, ("1-2", "1-1"): 0.5}
    assert links_of(scenario(tmp_path, head + rows, name="o.csv", noise_level=0.0))["1-1", "1-2"] == 0.1
    with pytest.raises(UserError, match="found -7; needs one of -20, 0"):
        scenario(tmp_path, head + rows, name="o.csv", noise_level=-7.0)


def test_an_imported_scenario_runs(tmp_path):
    links = [("a", "b", 1, 0.9, "wifi"), ("b", "c", 0.9, 0.8, "wifi"), ("b", "d", 0.7, 0.8, "wifi")]
    for traffic in ("to-gateway", "random-pairs"):
        imported = scenario(tmp_path, meshviewer(links), Plan(traffic=traffic, flows=2))
        result = multihop.run(imported.text, duration="12 s")
        assert len(result.flows) == 2
        assert result.summary["goodput_total_bps"] > 0


# Real meshes: file, options, nodes kept.
REAL = [
    ("freifunk-leipzig-meshviewer.stripped.json", {}, 87),
    ("meshnetlab-freifunk-leipzig.json", {}, 87),
    ("freifunk-bremen-meshviewer.stripped.json", {}, 27),
    ("freifunk-berlin-olsr-links.csv", {"nodes": "freifunk-berlin-olsr-nodes.csv"}, 28),
    ("orbit-rutgers-links.csv", {}, 28),
    ("orbit-rutgers-links.csv", {"noise_level": -10.0}, None),
    ("nycmesh-links.json", {"assume_delivery": 0.9, "nodes": "nycmesh-nodes.min.json"}, None),
    ("olsr2_netjson.json", {}, 8),
    ("olsr_jsoninfo.json", {}, 36),
    ("netdiff-netjson-2-links.json", {}, 3),
    ("netdiff-olsr-2-links-newformat.json", {}, 3),
    ("netdiff-olsr-5-links.json", {}, 5),
    ("netjson-network-graph.json", {}, 2),
    ("netdiff-batman.json", {}, 5),
    ("netdiff-batman-1+1.json", {}, 5),
    ("netdiff-batman-duplicated.json", {}, 5),
    ("netdiff-bmx6.json", {}, 7),
]


@pytest.mark.parametrize(("name", "options", "kept"), REAL)
def test_real_meshes(data, name, options, kept):
    if "nodes" in options:
        options = {**options, "nodes": data / options["nodes"]}
    imported = write(read(data / name, Options(**options)), Plan(), name)
    if kept is not None:
        assert imported.nodes == kept
    view = multihop.check(imported.text)
    assert len({radio["node"] for radio in view["nodes"]}) == imported.nodes
    assert all(flow["path"] for flow in view["flows"])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nycmesh-links.json", "--assume-delivery"),
        ("nycmesh-nodes.min.json", "no known mesh format"),
        ("netjson-network-graph.schema.json", "no known mesh format"),
        ("openmesh-nyc-README.txt", "found columns"),
        ("openmesh-nyc-links_metadata.csv", "found columns"),
    ],
)
def test_real_files_that_are_refused(data, name, says):
    with pytest.raises(UserError, match=says):
        read(data / name, Options())


@pytest.mark.parametrize(
    ("option", "value"), [("nodes", Path("absent.csv")), ("assume_delivery", 0.5), ("noise_level", -90.0)]
)
def test_options_that_do_not_apply_are_refused(tmp_path: Path, option: str, value: object) -> None:
    path = tmp_path / "meshviewer.json"
    node = {"node_id": "a", "is_online": True}
    link = {"type": "wifi", "source": "a", "target": "b", "source_tq": 1.0, "target_tq": 1.0}
    path.write_text(json.dumps({"nodes": [node, {**node, "node_id": "b"}], "links": [link]}))
    with pytest.raises(UserError, match=f"--{option.replace('_', '-')}: does not apply to meshviewer"):
        read(path, Options(**{option: value}))


def test_a_cell_that_is_no_number_is_named_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text("source,target,delivery\na,b,0.9\nb,c,oops\n")
    with pytest.raises(UserError, match=r"links\.csv:3: delivery: found 'oops'; needs a number"):
        read(path, Options())
    path.write_text("source,target,delivery,reverse\na,b,0.9,0.8\nb,c,nan,\n")
    assert read(path, Options()).links


def test_meshes_that_no_scenario_holds_are_refused_before_the_engine_reads_them(tmp_path, monkeypatch):
    mesh = meshviewer([("a", "b", 1, 1, "wifi"), ("b", "c", 1, 1, "wifi"), ("c", "d", 1, 1, "wifi")])
    monkeypatch.setattr("multihop.importers.to_scenario.NODES_MAX", 3)
    with pytest.raises(UserError, match=r"mesh\.json: 4 nodes would be kept; needs at most 3: .*--min-delivery"):
        scenario(tmp_path, mesh)
    monkeypatch.setattr("multihop.importers.to_scenario.NODES_MAX", 4)
    size = len(scenario(tmp_path, mesh).text)
    monkeypatch.setattr("multihop.simulation.scenario.MAX_BYTES", size)
    assert scenario(tmp_path, mesh).nodes == 4
    monkeypatch.setattr("multihop.simulation.scenario.MAX_BYTES", size - 1)
    with pytest.raises(
        UserError, match=r"the scenario would have 0 MB, with 4 nodes and 6 directed links; needs at most 0 MB"
    ):
        scenario(tmp_path, mesh)


def test_the_most_nodes_are_those_that_the_engine_takes():
    chain = f'duration = "1 s"\n[topology]\ngenerator = "chain"\nhops = {to_scenario.NODES_MAX}\n'
    with pytest.raises(multihop.ScenarioError, match=f"give a value from 1 to {to_scenario.NODES_MAX - 1}"):
        multihop.check(chain)


def test_what_fuzzing_found(tmp_path):
    path = tmp_path / "mesh"
    path.write_text('[{"from": "\\ud800", "to": 2}]')
    with pytest.raises(UserError, match="half of a surrogate pair"):
        read(path, Options(assume_delivery=0.9))
    path.write_text('[{"from": "\\ud83d\\ude00", "to": 2}]')
    assert "\U0001f600" in read(path, Options(assume_delivery=0.9)).nodes, "a whole pair is a character"
    path.write_text('{"\\ntopology": []}')
    with pytest.raises(UserError, match=r"found an object with topology, which is no known mesh format"):
        read(path, Options())
    path.write_text('{"nodes": [{"id": "a"}], "links": [{"source": 0, "target": 0, "quality": "1", "type": "x\\ny"}]}')
    with pytest.raises(UserError, match="no usable wireless link; left out: 1 links of type x y"):
        read(path, Options())
    path.write_text('source,target,"deli\nvery"\na,b,0.9\n')
    with pytest.raises(UserError, match=r"found columns source, target, deli very; needs"):
        read(path, Options())


def test_a_label_that_is_the_id_of_another_node_is_no_name(inline, tmp_path):
    nodes = '{"node_id": "a", "hostname": "c"}, {"node_id": "b", "hostname": "b"}, {"node_id": "c"}'
    link = '{{"source": "{}", "target": "{}", "source_tq": 1, "target_tq": 1, "type": "wifi"}}'
    links = ", ".join([link.format("a", "b"), link.format("b", "c")])
    (tmp_path / "mesh").write_text(f'{{"nodes": [{nodes}], "links": [{links}]}}')
    assert inline("import", "mesh", "--out", "mesh.toml").code == 0
    assert inline("check", "mesh.toml").code == 0


def test_a_mesh_whose_scenario_would_be_refused_names_the_mesh(inline, tmp_path):
    places = {"a": (0, 0), "b": (0.001, 0), "c": (60, 120), "d": (60.001, 120)}
    node = '{{"node_id": "{}", "location": {{"latitude": {}, "longitude": {}}}}}'
    nodes = ", ".join(node.format(name, *place) for name, place in places.items())
    link = '{{"source": "{}", "target": "{}", "source_tq": 1, "target_tq": 1, "type": "wifi"}}'
    links = ", ".join(link.format(*ends) for ends in ("ab", "bc", "cd"))
    (tmp_path / "mesh").write_text(f'{{"nodes": [{nodes}], "links": [{links}]}}')
    message = inline("import", "mesh", "--out", "mesh.toml").fails_cleanly()
    assert message.startswith("mesh: the scenario of this mesh is invalid: ")
    assert "out of range" in message
    assert not (tmp_path / "mesh.toml").exists()
