"""What all importers share: broken records, places that cannot be true, and what a file was saved in."""

import gzip
import json

import pytest

from meshes import links_of, meshviewer, scenario
from multihop.base.errors import UserError
from multihop.importers import FORMATS, Options, read
from sound_meshes import AREDN, BABEL, CNML, FFMAP, GRAPHML, IW, OLSR_DOT, OLSRV2, OLSRV2_TABLE, TXTINFO, WMEDIUMD, A, B

#: Per format: a file with a broken record among sound ones, where the record is, and the options.
ETX = {"type": "NetworkGraph", "metric": "ETX"}
_OLSR = {"lastHopIP": "a", "destinationIP": "b", "linkQuality": 1, "neighborLinkQuality": 1}
BROKEN = {
    "meshviewer": ({**(m := meshviewer([("a", "b", 1, 1, "wifi")])), "nodes": [*m["nodes"], 7]}, "nodes[4]", {}),
    "netjson": (
        {**ETX, "nodes": [{"id": "a"}, {"id": "b"}, {}], "links": [{"source": "a", "target": "b", "cost": 1}]},
        "nodes[2]",
        {},
    ),
    "olsr": ({"topology": [_OLSR, _OLSR, {"lastHopIP": "a"}]}, "topology[2]", {}),
    "olsr txtinfo": (TXTINFO.replace("192.0.2.3\t192.0.2.2\t1.000\t0.500\t2.000", "192.0.2.3"), ":12", {}),
    "olsr CSV": ("src,dst,lq,nlq\na,b,1,1\nb,c,x,1\nc,d,1,1\n", ":3", {}),
    "csv": ("source,target,delivery\na,b,0.9\nb,a,0.9\nb,c,oops\n", ":4", {}),
    "csv cells": ("source,target,delivery\na,b,0.9,extra\nb,a,0.9\nc,b,1\n", ":2", {}),
    "places": ("name,x,y\na,0,0\nb,oops,0\nc,9,9\n", ":3", {}),
    "orbit": (
        "noise_dbm,tx_x,tx_y,rx_x,rx_y,sent,received\n-9,1,1,1,2,10,9\n-9,1,2,1,1,10,9\n-9,1,,1,2,10,9\n",
        ":4",
        {},
    ),
    "nycmesh": ([{"from": 1, "to": 2}, {"from": 1}, {"from": 2, "to": 3}], "links[1]", {"assume_delivery": 0.9}),
    "batadv-vis": (
        {
            "vis": [
                {"primary": A, "neighbors": [{"router": A, "neighbor": B, "metric": 1}]},
                {"primary": B},
                {"primary": "x"},
            ]
        },
        "vis[2]",
        {},
    ),
    "batadv-vis lines": (
        f'{{"primary": "{A}"}}\n{{"primary": "{B}"}}\n{{"router": "{A}", "neighbor": "{B}", "label": "1"}}\n{{"rou\n',
        ":4",
        {},
    ),
    "bmx": (
        [
            {"name": "a", "links": [{"name": "b", "rxRate": 9, "txRate": 9}]},
            {"name": "c", "links": 1},
            {"name": "b", "links": [{"name": "a", "rxRate": 9}]},
        ],
        "nodes[1]",
        {},
    ),
    "ffmap": (
        {"batadv": {**FFMAP["batadv"], "links": [*FFMAP["batadv"]["links"], {"source": 0, "target": 9, "tq": 1}]}},
        "links[2]",
        {},
    ),
    "olsrv2": ({"edge": [{**OLSRV2["edge"][0], "edge": None}, *OLSRV2["edge"]]}, "edge[0]", {}),
    "olsrv2 table": (OLSRV2_TABLE + "192.0.2.3\t192.0.2", ":5", {}),
    "babel": (BABEL.replace("rxcost 512", "rxcost many"), ":9", {}),
    "aredn": ([AREDN, {"api_version": "1", "link_info": {}}, {**AREDN, "node": "EXAMPLE-9"}], "nodes[1]", {}),
    "iw": (IW + IW.replace(A, "02:00:00:00:00:0e").replace("signal:  \t-75 dBm\n", "other: 1\n"), ":32", {}),
    "cnml": (CNML.replace("</zone>", "<node title='no id'/></zone>"), ":16", {"assume_delivery": 0.9}),
    "wmediumd": (WMEDIUMD.replace("(0, 2, 0)", "(0, 2)"), "ifaces.links[2]", {}),
    "dot": (OLSR_DOT.replace('"192.0.2.2" -> "192.0.2.3"[', '"192.0.2.2" -> "192.0.2.3['), ":6", {}),
    "dot mark": (OLSR_DOT.replace("[shape=box]", "[shape"), ":4", {}),
    "graphml": (GRAPHML.replace('source="b" target="c"', 'source="b"'), ":11", {}),
}


def mesh_of(tmp_path, content, **options):
    path = tmp_path / "mesh"
    data = content if isinstance(content, bytes | str) else json.dumps(content)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read(path, Options(**options))


class TestBrokenRecords:
    def test_every_format_is_here(self):
        unlike = {name.split()[0] for name in BROKEN} ^ set(FORMATS)
        assert not unlike, f"BROKEN of this file and FORMATS of formats/catalogue.py differ: {sorted(unlike)}"

    @pytest.mark.parametrize("name", BROKEN)
    def test_one_of_many_is_counted_with_its_place(self, tmp_path, name):
        content, place, options = BROKEN[name]
        mesh = mesh_of(tmp_path, content, **options)
        assert mesh.format == name.split()[0]
        assert mesh.links
        assert mesh.left_out["broken records"] == mesh.tally.broken == 1
        assert f"{place}:" in mesh.tally.first

    def test_the_summary_says_where_the_first_one_is(self, tmp_path):
        imported = scenario(tmp_path, BROKEN["csv"][0], name="links.csv")
        assert "left out: 1 broken records" in imported.summary
        line = next(line for line in imported.summary if line.startswith("first broken record:"))
        assert line.endswith("links.csv:4: delivery: found 'oops'; needs a number, or nothing")
        assert imported.first_broken in line

    def test_a_broken_record_leaves_no_half_of_it(self, tmp_path):
        rows = "source,target,delivery,reverse_delivery\na,b,0.9,0.8\nx,y,0.9,oops\nb,c,1,1\n"
        mesh = mesh_of(tmp_path, rows)
        assert set(mesh.nodes) == {"a", "b", "c"}

    def test_a_file_of_which_half_is_broken_is_refused_with_the_commonest_fault(self, tmp_path):
        rows = "source,target,delivery\na,b,0.9\n,b,1\nb,c,oops\nc,b,x\n"
        counts = r"\(3 of 4 records are broken, 2 of them in this way\)"
        says = rf"mesh:4: delivery: found 'oops'; needs a number, or nothing {counts}"
        with pytest.raises(UserError, match=says):
            mesh_of(tmp_path, rows)

    def test_broken_links_among_sound_nodes_are_named_where_none_is_left(self, tmp_path):
        graph = {**ETX, "nodes": [{"id": n} for n in "abcd"], "links": [{"source": "a"}]}
        with pytest.raises(
            UserError, match=r"no usable wireless link; left out: 1 broken records \(the first: .*links\[0\]"
        ):
            mesh_of(tmp_path, graph)


GRAPH = {
    **ETX,
    "nodes": [{"id": n} for n in "abc"],
    "links": [{"source": a, "target": b, "cost": 1.0} for a, b in ("ab", "bc")],
}


def placed(**places):
    return {**GRAPH, "nodes": [{"id": n, **places.get(n, {})} for n in "abc"]}


class TestPlaces:
    @pytest.mark.parametrize(
        "place",
        [
            {"location": {"lat": 51.5, "lng": 12.25}},
            {"location": {"lat": "51.5", "lng": "12.25"}},
            {"location": {"latitude": 51.5, "longitude": 12.25}},
            {"properties": {"location": {"lat": 51.5, "lng": 12.25}}},
            {"properties": {"lat": 51.5, "lon": 12.25}},
            {"lat": 51.5, "lng": 12.25},
            {"location": [12.25, 51.5]},
            {"location": {"type": "Point", "coordinates": [12.25, 51.5]}},
            {"location": {"geometry": {"type": "Point", "coordinates": [12.25, 51.5, 90]}}},
            {"location": {"lat": None, "lng": None}, "properties": {"location": {"lat": 51.5, "lng": 12.25}}},
        ],
    )
    def test_forms_in_netjson(self, tmp_path, place):
        node = mesh_of(tmp_path, placed(a=place)).nodes["a"]
        assert (node.latitude, node.longitude) == (51.5, 12.25)

    def test_null_island_is_a_place_only_with_neighbours(self, tmp_path):
        null, near, far = ({"location": {"lat": lat, "lng": 0.0}} for lat in (0, 0.1, 51.0))
        assert mesh_of(tmp_path, placed(a=null, b=near)).nodes["a"].latitude == 0.0
        mesh = mesh_of(tmp_path, placed(a=null, b=far, c=far))
        assert mesh.nodes["a"].latitude is None
        assert mesh.left_out == {"positions of latitude 0 and longitude 0, which stand for none": 1}
        assert mesh_of(tmp_path, placed(a=null, b=null)).left_out.total() == 2
        rows = "name,lat,lon\na,51,12\nb,51.001,12\nc,0,0\n"
        assert mesh_of(tmp_path, rows).left_out["nodes without a position"] == 1

    def test_one_place_of_all_is_none(self, tmp_path):
        same = {"location": {"lat": 51.0, "lng": 12.0}}
        mesh = mesh_of(tmp_path, placed(a=same, b=same, c=same))
        assert mesh.left_out == {"positions that all nodes have alike": 3}
        assert mesh.nodes["a"].latitude is None
        assert mesh_of(tmp_path, placed(a=same, b=same)).nodes["a"].latitude == 51.0, "two may share a roof"

    def test_a_place_too_far_for_any_link(self, tmp_path):
        places = {n: {"location": {"lat": 51.0 + at / 100, "lng": 12.0}} for at, n in enumerate("ab")}
        mesh = mesh_of(tmp_path, placed(**places, c={"location": {"lat": 12.0, "lng": 51.0}}))
        assert mesh.nodes["c"].latitude is None
        assert mesh.nodes["b"].latitude == 51.01
        assert mesh.left_out == {"positions more than 400 km from every node with a link": 1}

    def test_swapped_coordinates_are_said(self, tmp_path):
        mesh = mesh_of(tmp_path, placed(a={"location": {"lat": 121.5, "lng": 25.0}}))
        assert mesh.left_out == {"positions that are not on Earth (latitude and longitude may be swapped)": 1}


class TestNetJson:
    def test_links_by_local_addresses(self, tmp_path):
        graph = {**GRAPH, "nodes": [{"id": "a", "local_addresses": ["192.0.2.1"]}, {"id": "b"}]}
        mesh = mesh_of(tmp_path, {**graph, "links": [{"source": "192.0.2.1", "target": "b", "cost": 4}]})
        assert mesh.links == {("a", "b"): 0.5, ("b", "a"): 0.5}

    def test_one_cheap_wire_does_not_change_the_unit(self, tmp_path):
        costs = {
            "links": [
                {"source": "a", "target": "b", "cost": 102},
                *({"source": "b", "target": "c", "cost": 4096} for _ in "123"),
            ]
        }
        assert mesh_of(tmp_path, {**GRAPH, **costs}).links["b", "c"] == 0.5

    @pytest.mark.parametrize(
        "link", [{"cost": 4194304}, {"cost": "INFINITE"}, {"cost": 3, "cost_text": "INFINITE"}, {"cost": 4294967295}]
    )
    def test_infinite_costs_deliver_nothing(self, tmp_path, link):
        mesh = mesh_of(tmp_path, {**GRAPH, "links": [*GRAPH["links"], {"source": "a", "target": "c", **link}]})
        assert mesh.left_out == {"directions that deliver nothing": 2}

    @pytest.mark.parametrize("cost", [None, True, "x", 0, -1, []])
    def test_costs_that_are_none_are_left_out(self, tmp_path, cost):
        mesh = mesh_of(tmp_path, {**GRAPH, "links": [*GRAPH["links"], {"source": "a", "target": "c", "cost": cost}]})
        assert mesh.left_out == {"directions without a usable quality": 2}

    def test_costs_as_text(self, tmp_path):
        assert (
            mesh_of(tmp_path, {**GRAPH, "links": [{"source": "a", "target": "b", "cost": "4.0"}]}).links["a", "b"]
            == 0.5
        )

    def test_an_empty_metric_of_olsrd_is_etx(self, tmp_path):
        assert mesh_of(tmp_path, {**GRAPH, "metric": "", "protocol": "olsrv1"}).links["a", "b"] == 1.0
        with pytest.raises(UserError, match="metric: found 'none'"):
            mesh_of(tmp_path, {**GRAPH, "metric": "", "protocol": "olsrv2"})

    def test_graphs_of_a_collection_are_one_mesh(self, tmp_path):
        other = {
            **GRAPH,
            "nodes": [{"id": "c", "location": {"lat": 51, "lng": 12}}, {"id": "d"}],
            "links": [{"source": "c", "target": "d", "cost": 4}],
        }
        routes = {"type": "NetworkRoutes", "routes": []}
        unread = {**GRAPH, "metric": "hops"}
        mesh = mesh_of(tmp_path, {"type": "NetworkCollection", "collection": [GRAPH, other, routes, unread]})
        assert set(mesh.nodes) == set("abcd")
        assert mesh.links["c", "d"] == 0.5
        assert mesh.nodes["c"].latitude == 51.0
        assert mesh.left_out == {
            "objects of type NetworkRoutes": 1,
            "graphs whose metric says nothing about delivery": 1,
        }
        assert "(2 graphs are one mesh)" in mesh.reading
        assert mesh_of(tmp_path, [GRAPH, other]).links == mesh.links
        with pytest.raises(UserError, match=r"collection\[0\]: metric: found 'hops'"):
            mesh_of(tmp_path, {"type": "NetworkCollection", "collection": [unread]})


CSV = "source,target,delivery\na,b,0.5\nb,a,0.5\n"


class TestContent:
    @pytest.mark.parametrize("body", [CSV, json.dumps(GRAPH), CNML, TXTINFO, OLSR_DOT, BABEL])
    @pytest.mark.parametrize("end", ["\r\n", "\n"])
    def test_http_headers_before_any_format(self, tmp_path, body, end):
        options = {"assume_delivery": 0.9} if body == CNML else {}
        head = end.join(
            [
                "HTTP/1.1 301 Moved",
                "Location: /x",
                "",
                "HTTP/1.1 200 OK",
                "Connection: close",
                "Content-Type: text/plain",
                "",
                "",
            ]
        )
        assert mesh_of(tmp_path, head + body, **options).links == mesh_of(tmp_path, body, **options).links

    def test_chunks_are_joined_if_they_are_there(self, tmp_path):
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
        body = CSV.encode()
        chunked = b"%x;a=b\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (10, body[:10], len(body) - 10, body[10:])
        for content in (head + chunked, head + body, head + chunked[:-5]):
            assert mesh_of(tmp_path, content).links == {("a", "b"): 0.5, ("b", "a"): 0.5}

    def test_an_http_error_is_no_mesh(self, tmp_path):
        with pytest.raises(UserError, match=r"an HTTP response of status '404 Not Found', not a mesh; fetch it again"):
            mesh_of(tmp_path, "HTTP/1.0 404 Not Found\r\n\r\n<html>no</html>")

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
    def test_encodings(self, tmp_path, encoding):
        text = CSV.replace("a,", "\u00e4,").replace(",a", ",\u00e4")
        assert ("\u00e4", "b") in mesh_of(tmp_path, text.encode(encoding)).links
        assert mesh_of(tmp_path, json.dumps(GRAPH).encode(encoding)).links

    def test_xml_has_the_encoding_that_it_declares(self, tmp_path):
        content = (
            GRAPHML.replace("UTF-8", "ISO-8859-1")
            .replace('id="a"', 'id="\u00e4"')
            .replace('source="a"', 'source="\u00e4"')
        )
        assert ("\u00e4", "b") in mesh_of(tmp_path, content.encode("latin-1")).links

    def test_gzip(self, tmp_path):
        packed = gzip.compress(CSV.encode())
        head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
        for content in (packed, head + packed, gzip.compress(head + CSV.encode())):
            assert len(mesh_of(tmp_path, content).links) == 2
        with pytest.raises(UserError, match="gzip data is cut short"):
            mesh_of(tmp_path, packed[:-12])

    def test_gzip_does_not_fill_the_memory(self, tmp_path, monkeypatch):
        monkeypatch.setattr("multihop.importers.MAX_BYTES", 1_000_000)
        with pytest.raises(UserError, match="more than 1 MB when unpacked"):
            mesh_of(tmp_path, gzip.compress(b" " * 2_000_000))

    def test_what_telnet_prints_around_an_answer(self, tmp_path):
        before = "Trying 192.0.2.1...\nConnected to 192.0.2.1.\nEscape character is '^]'.\n"
        text = before + f"{json.dumps(GRAPH)}\nConnection closed by foreign host.\n"
        assert mesh_of(tmp_path, text).links


class TestSiblings:
    def test_numbers_as_text_null_and_self_loops(self, tmp_path):
        rows = [
            {**_OLSR, "linkQuality": "0.5", "neighborLinkQuality": None},
            {**_OLSR, "destinationIP": "a"},
            {**_OLSR, "destinationIP": "fe80::1%wlan0", "linkQuality": 0, "neighborLinkQuality": "nan"},
        ]
        mesh = mesh_of(tmp_path, {"topology": rows})
        assert mesh.links == {("b", "a"): 0.5}
        assert mesh.left_out == {
            "directions without a usable quality": 2,
            "links from a node to itself": 1,
            "directions that deliver nothing": 1,
        }

    def test_powers_that_no_radio_has(self, tmp_path):
        mesh = mesh_of(tmp_path, "source,target,rssi_dbm\na,b,-70\nb,a,-400\n")
        assert mesh.links == {("a", "b"): -70.0}
        assert mesh.left_out == {"directions with a power outside of -150 to 40 dBm": 1}

    def test_duplicates_with_different_values_keep_the_best(self, tmp_path):
        assert links_of(scenario(tmp_path, {"topology": [_OLSR, {**_OLSR, "linkQuality": 0.2}]})) == {
            ("a", "b"): 1.0,
            ("b", "a"): 1.0,
        }
