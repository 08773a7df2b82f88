"""Formats that mesh software writes, on small files written here: what each number becomes."""

import json
import tomllib

import pytest

from meshes import links_of, names_of, scenario
from multihop.base.errors import UserError
from multihop.importers import Options, read
from multihop.importers.mesh import NOISE_DBM
from sound_meshes import (
    AREDN,
    AREDN_LQM,
    BABEL,
    CNML,
    DOT,
    FFMAP,
    FFMAP_D3,
    FRR,
    GRAPHML,
    IW,
    OLSR_DOT,
    TXTINFO,
    WMEDIUMD,
    WMEDIUMD_MATRIX,
    WMEDIUMD_PATH_LOSS,
    WMEDIUMD_PROB,
    A,
    B,
)


def mesh_of(tmp_path, content, **options):
    path = tmp_path / "mesh.txt"
    path.write_text(content if isinstance(content, str) else json.dumps(content), newline="")
    return read(path, Options(**options))


def powers_of(imported):
    """(from, to) -> power in dBm, both directions of what is listed."""
    found = {}
    for link in tomllib.loads(imported.text)["topology"]["links"]:
        found[link["from"], link["to"]] = float(link["rssi"].removesuffix(" dBm"))
        if "reverse_rssi" in link:
            found[link["to"], link["from"]] = float(link["reverse_rssi"].removesuffix(" dBm"))
    return found


def positions_of(imported):
    nodes = tomllib.loads(imported.text)["topology"]["nodes"]
    return {
        node["name"]: tuple(float(v.removesuffix(" m")) for v in node["position"])
        for node in nodes
        if "position" in node
    }


class TestOlsrText:
    def test_topology_counts_as_in_jsoninfo_and_aliases_are_one_node(self, tmp_path):
        mesh = mesh_of(tmp_path, TXTINFO)
        assert mesh.links == {
            ("192.0.2.1", "192.0.2.2"): 0.8,
            ("192.0.2.2", "192.0.2.1"): 0.9,
            ("192.0.2.2", "192.0.2.3"): 0.5,
            ("192.0.2.3", "192.0.2.2"): 1.0,
            # The last row is of an alias of 192.0.2.3, and one of its directions delivers nothing.
            ("192.0.2.1", "192.0.2.3"): 0.972,
        }
        assert mesh.left_out == {"directions that deliver nothing": 1}

    def test_own_links_where_there_is_no_topology_and_wires_are_left_out(self, tmp_path):
        text = TXTINFO.replace("Table: Topology", "Table: Other").replace(
            "eth0\tDOWN", "eth0\tUP\t1500\tNo\t198.51.100.1\t\t"
        )
        row = "192.0.2.1\t192.0.2.2\t0.000\t0.900\t0.800\t1.388\n"
        mesh = mesh_of(tmp_path, text.replace(row, row + "198.51.100.1\t198.51.100.2\t0.000\t1.000\t1.000\t0.100\n"))
        assert mesh.links == {("192.0.2.1", "192.0.2.2"): 0.8, ("192.0.2.2", "192.0.2.1"): 0.9}
        assert mesh.left_out == {"links over wires, bridges or tunnels": 1}

    def test_blanks_for_tabs_and_validity_times(self, tmp_path):
        text = TXTINFO.replace("\t\t198.51.100.3", "\t\t198.51.100.3:12.345").replace("\t", "   ")
        assert mesh_of(tmp_path, text).links == mesh_of(tmp_path, TXTINFO).links
        older = TXTINFO.replace("(Alias)+", "Aliases").replace("\t\t198.51.100.3", "\t198.51.100.9;198.51.100.3")
        assert mesh_of(tmp_path, older).links == mesh_of(tmp_path, TXTINFO).links

    def test_tables_without_qualities_are_refused(self, tmp_path):
        with pytest.raises(UserError, match="found the tables Routes; needs rows of Topology or Links with LQ and NLQ"):
            mesh_of(tmp_path, "Table: Routes\nDestination\tGateway IP\n192.0.2.0/24\t192.0.2.1\n")


class TestBabel:
    def test_costs_are_of_the_receiving_end(self, tmp_path):
        mesh = mesh_of(tmp_path, BABEL)
        assert mesh.links == {
            ("fe80::2", "one"): 1.0,
            ("one", "fe80::2"): 256 / 300,
            ("fe80::3", "one"): 0.5,
            ("one", "fe80::3"): 0.64,
        }
        assert mesh.left_out == {"neighbours over interfaces without an estimate of quality (cost below 256)": 1}

    def test_dumps_of_several_nodes_are_one_mesh(self, tmp_path):
        other = (
            "BABEL 1.0\nhost two\nok\nadd interface wlan0 up true ipv6 fe80::2%wlan0\n"
            "add neighbour a address fe80::1 if wlan0 reach ffff rxcost 320 txcost 999 cost 400\n"
        )
        links = mesh_of(tmp_path, BABEL + other).links
        assert links["one", "two"] == 0.8, "as two measures it, not as one was told"
        assert links["two", "one"] == 1.0

    def test_later_events_count(self, tmp_path):
        text = BABEL + "change neighbour 1f address fe80::2 if wlan0 reach ffff rxcost 65535 txcost 512 cost 65535\n"
        mesh = mesh_of(tmp_path, text + "flush neighbour 20\n")
        assert mesh.links == {("one", "fe80::2"): 0.5}
        assert mesh.left_out["directions that deliver nothing"] == 1

    def test_frr(self, tmp_path):
        assert mesh_of(tmp_path, FRR).links == {("fe80::2", "this node"): 1.0, ("this node", "fe80::2"): 0.8}
        none = "Neighbour fe80::1 dev wlan0 reach 0002 rxcost 65535 txcost 65535 rtt 0.000 rttcost 0.\n"
        zero = "Neighbour fe80::3 dev wlan0 reach ffff rxcost 256 txcost 0 rtt 0.000 rttcost 0.\n"
        wrapped = "Neighbour fe80::4 dev wlan0 reach 3ff8 rxcost 65535\ntxcost 292 rtt 0.000 rttcost 0.\n"
        mesh = mesh_of(tmp_path, FRR + none + zero + wrapped)
        assert mesh.links == mesh_of(tmp_path, FRR).links
        assert mesh.tally.broken == 1
        assert mesh.left_out["directions that deliver nothing"] == 2


class TestIw:
    def test_power_and_rates_of_a_station(self, tmp_path):
        mesh = mesh_of(tmp_path, IW)
        assert mesh.quantity == "rssi"
        assert mesh.links == {(B, A): -62.0, (A, B): -62.0}, "the average, and both ways"
        assert mesh.rates == {(A, B): 65e6, (B, A): 58.5e6}
        assert mesh.standard == "802.11n"
        assert mesh.left_out == {"stations whose peering is LISTEN": 1}

    def test_a_dump_without_its_own_address(self, tmp_path):
        text = f"Station {B} (on wlan0)\n\tsignal:  \t-70 dBm\n\ttx bitrate:\t866.7 MBit/s VHT-MCS 9 80MHz VHT-NSS 2\n"
        mesh = mesh_of(tmp_path, text)
        assert mesh.links == {(B, "this node"): -70.0, ("this node", B): -70.0}
        assert mesh.standard == "802.11ac"

    def test_dumps_of_both_ends(self, tmp_path):
        other = f"Interface mesh0\n\taddr {B}\nStation {A} (on mesh0)\n\tsignal:\t-58 dBm\n"
        assert mesh_of(tmp_path, IW + other).links == {(B, A): -62.0, (A, B): -58.0}

    def test_two_interfaces_are_two_radios(self, tmp_path):
        more = "Interface mesh1\n\taddr 02:00:00:00:01:0a\n\tchannel 149 (5745 MHz), width: 20 MHz\n"
        imported = scenario(tmp_path, IW + more + f"Station {B} (on mesh1)\n\tsignal:\t-80 dBm\n")
        radios = {node["name"]: node["radios"] for node in tomllib.loads(imported.text)["topology"]["nodes"]}
        assert radios == {name: [{"channel": 36}, {"channel": 149}] for name in (A, B)}


class TestAredn:
    def test_links_by_radio_as_of_olsr(self, tmp_path):
        mesh = mesh_of(tmp_path, AREDN)
        assert mesh.links == {("EXAMPLE-2", "EXAMPLE-1"): 0.9, ("EXAMPLE-1", "EXAMPLE-2"): 0.85}
        assert mesh.powers == {("EXAMPLE-2", "EXAMPLE-1"): NOISE_DBM + 23}
        assert mesh.rates == {("EXAMPLE-1", "EXAMPLE-2"): 26e6, ("EXAMPLE-2", "EXAMPLE-1"): 13e6}
        assert mesh.left_out == {"links of type DTD": 1}
        assert "channels of 10 MHz are simulated as 20 MHz" in mesh.reading
        assert (mesh.nodes["EXAMPLE-1"].latitude, mesh.nodes["EXAMPLE-1"].longitude) == (51.01, 12.02)

    def test_shares_of_the_link_quality_manager(self, tmp_path):
        mesh = mesh_of(tmp_path, AREDN_LQM)
        assert mesh.links == {("EXAMPLE-2", "EXAMPLE-1"): 0.94, ("EXAMPLE-1", "EXAMPLE-2"): 0.75}
        assert mesh.nodes["EXAMPLE-2"].latitude == 51.02
        assert "EXAMPLE-3" not in mesh.nodes
        alone = {key: value for key, value in AREDN_LQM.items() if key != "link_info"}
        assert mesh_of(tmp_path, alone).links == mesh.links

    def test_signals_alone(self, tmp_path):
        mesh = mesh_of(tmp_path, {key: value for key, value in AREDN_LQM.items() if key != "lqm"})
        assert mesh.quantity == "rssi"
        assert set(mesh.links.values()) == {NOISE_DBM + 25}

    def test_several_nodes(self, tmp_path):
        back = {"hostname": "example-1", "linkType": "RF", "linkQuality": 0.7, "neighborLinkQuality": 0.1}
        other = {"node": "EXAMPLE-2", "location": {"lat": "51.03", "lon": "12.02"}, "link_info": {"192.0.2.1": back}}
        mesh = mesh_of(tmp_path, [AREDN, {**other, "api_version": "1.0"}])
        assert mesh.links == {("EXAMPLE-2", "EXAMPLE-1"): 0.9, ("EXAMPLE-1", "EXAMPLE-2"): 0.7}
        assert mesh.nodes["EXAMPLE-2"].latitude == 51.03

    def test_places_of_older_firmware(self, tmp_path):
        content = {key: value for key, value in AREDN.items() if key not in {"lat", "lon"}}
        content["location"] = {"lat": "51.5", "lon": "12.25", "grid_square": "JO61"}
        assert mesh_of(tmp_path, content).nodes["EXAMPLE-1"].longitude == 12.25

    def test_the_request_that_has_links_is_named(self, tmp_path):
        with pytest.raises(UserError, match=r"has no link_info; fetch it with \?link_info=1&lqm=1"):
            mesh_of(tmp_path, {"node": "EXAMPLE-1", "api_version": "1.11", "meshrf": {"status": "off"}})


class TestCnml:
    def test_working_nodes_and_links(self, tmp_path):
        imported = scenario(tmp_path, CNML, assume_delivery=0.9)
        assert links_of(imported) == {("ten", "eleven"): 0.9, ("eleven", "ten"): 0.9}
        assert imported.left_out == {"nodes of status Planned": 1, "links of type cable": 1}
        assert positions_of(imported)["eleven"][1] == pytest.approx(111.2, abs=0.1)
        assert 'standard = "802.11n"' in imported.text

    def test_a_link_that_does_not_work_at_one_end(self, tmp_path):
        content = CNML.replace('linked_status="Working"', 'linked_status="Testing"')
        with pytest.raises(UserError, match=r"no usable wireless link; left out: .*1 links of status Testing"):
            scenario(tmp_path, content, assume_delivery=0.9)

    def test_without_a_delivery_the_option_is_named(self, tmp_path):
        with pytest.raises(UserError, match=r"no quality in CNML; use --assume-delivery 0\.9"):
            scenario(tmp_path, CNML)


class TestWmediumd:
    def test_ratios_are_powers_over_the_noise_of_the_engine(self, tmp_path):
        imported = scenario(tmp_path, WMEDIUMD)
        ids = names_of(imported)
        powers = powers_of(imported)
        assert powers[ids[0], ids[1]] == powers[ids[1], ids[0]] == NOISE_DBM + 20
        assert powers[ids[1], ids[2]] == NOISE_DBM + 15
        assert imported.links == 4, "0 dB is no link, and its power is known"
        assert powers[ids[0], ids[2]] == NOISE_DBM
        assert imported.sensed["known"] == 1
        assert imported.sensed["sensing"] == 0

    def test_pairs_that_are_not_listed_have_30_db(self, tmp_path):
        mesh = mesh_of(tmp_path, WMEDIUMD.replace(", (0, 2, 0)", ", (2, 0, 7)"))
        ids = list(mesh.nodes)
        assert mesh.links[ids[0], ids[2]] == mesh.links[ids[2], ids[0]] == NOISE_DBM + 7
        mesh = mesh_of(tmp_path, WMEDIUMD.replace(", (0, 2, 0)", ""))
        assert mesh.links[ids[0], ids[2]] == NOISE_DBM + 30

    def test_error_probabilities(self, tmp_path):
        mesh = mesh_of(tmp_path, WMEDIUMD_PROB)
        a, b, c = mesh.nodes
        assert mesh.links == {(a, b): 0.9, (b, a): 0.75, (b, c): 0.5, (c, b): 0.5}
        assert mesh.heard == {frozenset((a, c))}, "they sense each other, and lose every frame"

    def test_path_loss(self, tmp_path):
        imported = scenario(tmp_path, WMEDIUMD_PATH_LOSS)
        # 40.05 dB at a metre and 3.5 decades of 50 m: 99.5 dB, cut to 99; 15 dBm over -91 dBm of noise.
        assert set(powers_of(imported).values()) == {NOISE_DBM + 15 - 99 + 91}
        assert sorted(positions_of(imported).values()) == [(0.0, 0.0), (50.0, 0.0)]
        assert imported.left_out == {"settings of the model that are not taken over (directions)": 1}

    def test_older_matrices(self, tmp_path):
        mesh = mesh_of(tmp_path, WMEDIUMD_MATRIX)
        a, b = mesh.nodes
        assert mesh.links == {(a, b): 0.9, (b, a): pytest.approx(0.7)}

    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [
            ("(0, 1, 20)", "(0, 7, 20), (0, 8, 20), (0, 9, 20)", "needs indexes from 0 to 2 .3 of 5 records"),
            (
                "};",
                "",
                r"mesh\.txt:5: found 'the end of the file'; needs the name of a setting; the file may have been cut",
            ),
            ("ids = [", "ids = ", "needs ':' or '='|needs the name of a setting"),
            (
                'ids = ["02:00:00:00:00:00", "02:00:00:00:01:00", "02:00:00:00:02:00" ]',
                "count = 3",
                "ifaces.ids: found nothing",
            ),
            ("# three", '@include "more.cfg"\n# three', r"mesh\.txt:1: includes another file"),
        ],
    )
    def test_what_is_no_such_file(self, tmp_path, old, new, says):
        with pytest.raises(UserError, match=says):
            mesh_of(tmp_path, WMEDIUMD.replace(old, new))


class TestFfmap:
    def test_the_metric_counts_both_ways(self, tmp_path):
        mesh = mesh_of(tmp_path, FFMAP)
        assert mesh.links == {("00a", "00b"): 0.8, ("00b", "00a"): 0.8}
        assert mesh.left_out == {"links of type vpn": 1}

    def test_a_link_that_one_end_reports_is_one_way(self, tmp_path):
        batadv = FFMAP["batadv"]
        links = [{**batadv["links"][0], "bidirect": False}]
        assert mesh_of(tmp_path, {"batadv": {**batadv, "links": links}}).links == {("00a", "00b"): 0.8}

    def test_edges_of_a_directed_graph_have_their_own_metric(self, tmp_path):
        batadv = FFMAP["batadv"]
        back = {"source": 1, "target": 0, "vpn": False, "tq": 2.0, "bidirect": True}
        content = {"batadv": {**batadv, "directed": True, "links": [*batadv["links"], back]}}
        assert mesh_of(tmp_path, content).links == {("00a", "00b"): 0.8, ("00b", "00a"): 0.5}

    @pytest.mark.parametrize("version", [1, 2])
    def test_nodes_json_has_names_and_places(self, tmp_path, version):
        info = {"hostname": "first", "node_id": "00a", "location": {"latitude": 51.0, "longitude": 12.0}}
        first = {"nodeinfo": info, "flags": {"online": True, "gateway": True}}
        nodes = {"version": version, "nodes": [first] if version == 2 else {"00a": first}}
        (tmp_path / "nodes.json").write_text(json.dumps(nodes))
        node = mesh_of(tmp_path, FFMAP, nodes=tmp_path / "nodes.json").nodes["00a"]
        assert (node.label, node.latitude, node.gateway) == ("first", 51.0, True)
        with pytest.raises(UserError, match=r"nodes\.json of ffmap, which has no links; import graph\.json, with this"):
            mesh_of(tmp_path, nodes)

    def test_ffmap_d3(self, tmp_path):
        mesh = mesh_of(tmp_path, FFMAP_D3)
        assert mesh.links == {("a", "b"): 0.8, ("b", "a"): 0.5}
        assert (mesh.nodes["a"].latitude, mesh.nodes["a"].longitude) == (51.0, 12.0)

    def test_links_that_are_null_are_named(self, tmp_path):
        with pytest.raises(UserError, match="batadv: links: found nothing; needs a list of objects"):
            mesh_of(tmp_path, {"batadv": {"nodes": [], "links": None}})


class TestGraphMl:
    def test_weights_from_1_up_are_etx(self, tmp_path):
        mesh = mesh_of(tmp_path, GRAPHML)
        assert mesh.links["b", "c"] == mesh.links["c", "b"] == 0.5
        assert mesh.nodes["b"].latitude == 51.001
        assert "taken for ETX" in mesh.reading

    def test_without_namespace_and_with_defaults(self, tmp_path):
        # As Cytoscape writes it; the second edge has no weight of its own.
        content = GRAPHML.replace(' xmlns="http://graphml.graphdrawing.org/xmlns"', "").replace(
            '<data key="d0">4</data>', ""
        )
        content = content.replace('attr.type="double"/>', 'attr.type="double"><default>9</default></key>', 1)
        assert mesh_of(tmp_path, content).links["b", "c"] == pytest.approx(1 / 3)

    def test_keys_without_type_or_declaration_and_drawings_of_yed(self, tmp_path):
        content = GRAPHML.replace(' attr.type="double"', "").replace(' key="d0"', ' key="etx"')
        drawing = '<data key="d9"><ShapeNode><Geometry x="133.0" y="509.9"/></ShapeNode></data>'
        mesh = mesh_of(tmp_path, content.replace('<node id="c"/>', f'<node id="c">{drawing}</node>'))
        assert mesh.links["b", "c"] == 0.5
        assert mesh.nodes["c"].x is None

    @pytest.mark.parametrize(
        ("name", "value", "there", "back"),
        [
            ("delivery", "0.5", 0.5, None),
            ("etx", "4", 0.5, 0.5),
            ("weight", "0.5", 0.5, None),
            ("rssi", "-70", -70.0, None),
            ("snr", "20", NOISE_DBM + 20, None),
        ],
    )
    def test_attributes_of_directed_edges(self, tmp_path, name, value, there, back):
        content = GRAPHML.replace('"weight"', f'"{name}"').replace("undirected", "directed")
        mesh = mesh_of(tmp_path, content.replace(">4<", f">{value}<").replace(">1.2<", f">{value}<"))
        assert mesh.links.get(("b", "c")) == there
        assert mesh.links.get(("c", "b")) == back

    def test_link_qualities_of_netdiff(self, tmp_path):
        names = {"l": "link_quality", "n": "neighbor_link_quality"}
        keys = "".join(f'<key id="{id}" for="edge" attr.name="{name}"/>' for id, name in names.items())
        content = GRAPHML.replace("<graph ", keys + "<graph ", 1)
        content = content.replace(
            '<data key="d0">4</data>', '<data key="d0">4</data><data key="l">0.3</data><data key="n">0.6</data>'
        )
        mesh = mesh_of(tmp_path, content)
        assert (mesh.links["b", "c"], mesh.links["c", "b"]) == (0.6, 0.3)

    def test_numbers_that_are_neither_are_refused(self, tmp_path):
        with pytest.raises(UserError, match=r"weight: found 4 to 800, which is neither delivery .* nor ETX"):
            mesh_of(tmp_path, GRAPHML.replace(">1.2<", ">800<"))
        with pytest.raises(
            UserError, match=r"edges have no quality: found colour; needs delivery, etx, snr, rssi or weight"
        ):
            mesh_of(tmp_path, GRAPHML.replace('"weight"', '"colour"'))
        assert set(mesh_of(tmp_path, GRAPHML.replace(">1.2<", ">800<"), assume_delivery=0.7).links.values()) == {0.7}

    def test_drawings_are_no_places(self, tmp_path):
        content = GRAPHML.replace('"lat"', '"x"').replace('"lon"', '"y"')
        assert mesh_of(tmp_path, content).nodes["a"].x == 51.0
        drawn = content.replace('<node id="c"/>', '<node id="c"><data key="size">10</data></node>')
        mesh = mesh_of(tmp_path, drawn)
        assert mesh.nodes["a"].x is None
        assert mesh.left_out["positions that are those of a drawing"] == 2

    def test_entities_are_not_expanded(self, tmp_path):
        with pytest.raises(UserError, match=r"mesh\.txt:1: declares an entity"):
            mesh_of(tmp_path, '<!DOCTYPE graphml [<!ENTITY a "b">]><graphml><graph>&a;</graph></graphml>')


class TestDot:
    def test_chains_and_names(self, tmp_path):
        mesh = mesh_of(tmp_path, DOT)
        assert mesh.links["a", "b"] == mesh.links["b", "a"] == 0.9
        assert mesh.links["b", "c"] == mesh.links["c", "d e"] == 0.5
        assert (mesh.nodes["a"].label, mesh.nodes["b"].x) == ("first", 100.0)

    def test_olsrd(self, tmp_path):
        mesh = mesh_of(tmp_path, OLSR_DOT)
        assert mesh.links == {
            ("192.0.2.1", "192.0.2.2"): pytest.approx(1.388**-0.5),
            ("192.0.2.2", "192.0.2.1"): pytest.approx(1.4**-0.5),
        }
        assert mesh.left_out == {
            "attached networks": 1,
            "links to attached networks": 1,
            "directions that deliver nothing": 2,
        }
        # An Ethernet costs less than 1: olsrd's labels are ETX all the same.
        assert mesh_of(tmp_path, OLSR_DOT.replace("1.400", "0.100")).links["192.0.2.2", "192.0.2.1"] == 1.0

    def test_what_graphviz_laid_out_is_a_drawing(self, tmp_path):
        mesh = mesh_of(tmp_path, DOT.replace("node [", 'graph [bb="0,0,99,99"]; node ['))
        assert mesh.nodes["a"].x is None
        assert mesh.left_out == {"positions that are those of a drawing": 2}

    def test_subgraphs_ports_and_defaults(self, tmp_path):
        text = "graph { edge [delivery=0.5] subgraph cluster_x { a; b } -- c:eth0:n; { edge [delivery=0.25]; a -- b } }"
        links = mesh_of(tmp_path, text).links
        assert (links["a", "c"], links["b", "c"], links["a", "b"]) == (0.5, 0.5, 0.25)

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("graph {\na -- b [label=1", r"mesh\.txt:2: found 'the end of the file' in a list of attributes; needs"),
            ("graph {\na -- b\n", r"mesh\.txt:2: a graph has no '}' at its end; the file may have been cut short"),
            ("graph x y", r"mesh\.txt:1: found 'y'; needs '\{'"),
            ('graph {\n a "}', r"mesh\.txt:2: found '\"}'; needs DOT"),
            ("graph " + "{" * 60 + "}" * 60, "subgraphs are nested too deeply"),
        ],
    )
    def test_what_is_no_dot(self, tmp_path, text, says):
        with pytest.raises(UserError, match=says):
            mesh_of(tmp_path, text)
