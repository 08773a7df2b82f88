"""The importers of batadv-vis and BMX, on small files written here."""

import pytest

from meshes import links_of, names_of, scenario
from multihop.base.errors import UserError


def mac(last):
    return f"02:00:00:00:00:{last:02x}"


A, B, B2, C = mac(0xA), mac(0xB), mac(0xB2), mac(0xC)

#: Three nodes, of which the second has two interfaces and a client.
VIS = {
    "source_version": "2024.1",
    "algorithm": 4,
    "vis": [
        {"primary": A, "neighbors": [{"router": A, "neighbor": B2, "metric": "1.250"}]},
        {
            "primary": B,
            "secondary": [B2],
            "neighbors": [
                {"router": B2, "neighbor": A, "metric": "2.000"},
                {"router": B, "neighbor": C, "metric": "1.000"},
            ],
            "clients": [mac(0x99)],
        },
        {"primary": C, "neighbors": [{"router": C, "neighbor": B, "metric": "4.000"}]},
    ],
}

VIS_LINES = f"""{{ "primary" : "{A}" }}
{{ "router" : "{A}", "neighbor" : "{B2}", "label" : "1.250" }}
{{ "primary" : "{B}" }}
{{ "secondary" : "{B2}", "of" : "{B}" }}
{{ "router" : "{B2}", "neighbor" : "{A}", "label" : "2.000" }}
{{ "router" : "{B}", "neighbor" : "{C}", "label" : "1.000" }}
{{ "router" : "{B}", "gateway" : "{mac(0x99)}", "label" : "TT" }}
{{ "primary" : "{C}" }}
{{ "router" : "{C}", "neighbor" : "{B}", "label" : "4.000" }}
"""

VIS_DOT = f"""digraph {{
\tsubgraph "cluster_{A}" {{
\t\t"{A}"
\t}}
\t"{A}" -> "{B2}" [label="1.250"]
\tsubgraph "cluster_{B}" {{
\t\t"{B}"
\t\t"{B2}" [peripheries=2]
\t}}
\t"{B2}" -> "{A}" [label="2.000"]
\t"{B}" -> "{C}" [label="1.000"]
\t"{B}" -> "{mac(0x99)}" [label="TT"]
\tsubgraph "cluster_{C}" {{
\t\t"{C}"
\t}}
\t"{C}" -> "{B}" [label="4.000"]
}}
"""


class TestBatadvVis:
    @pytest.mark.parametrize("content", [VIS, VIS_LINES, VIS_DOT])
    def test_each_form_says_the_same(self, tmp_path, content):
        imported = scenario(tmp_path, content, format="batadv-vis")
        assert links_of(imported) == {(A, B): 0.8, (B, A): 0.5, (B, C): 1.0, (C, B): 0.25}
        assert names_of(imported) == [A, B, C]
        assert imported.left_out == {"clients": 1}
        assert "read as batadv-vis" in "\n".join(imported.summary)

    def test_what_cannot_be_is_left_out_and_counted(self, tmp_path):
        links = [{"router": A, "neighbor": B, "metric": m} for m in ("0.000", "0.500", "x", None)]
        links.append({"router": A, "neighbor": mac(0x77), "metric": "1.000"})
        good = [{"router": A, "neighbor": C, "metric": "1.000"}]
        back = {"primary": C, "neighbors": [{"router": C, "neighbor": A, "metric": "1.000"}]}
        vis = [{"primary": A, "neighbors": links + good}, {"primary": B}, back, {"primary": C}]
        imported = scenario(tmp_path, {"vis": vis})
        assert names_of(imported) == [A, C]
        assert imported.left_out == {
            "directions without a usable quality": 3,
            "directions with a delivery outside of 0 to 1": 1,
            "links to nodes that are not listed": 1,
            "nodes with an id that was already there": 1,
            "nodes outside of the largest component of two-way links": 1,
        }

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            ({"vis": {}}, r"mesh\.json: vis: found an object; needs a list of objects"),
            ({"vis": [{"neighbors": []}]}, r"mesh\.json: vis\[0\]: primary: found 'None'; needs a MAC address"),
            (VIS_LINES.replace(" }", ""), r"mesh\.json:1: not JSON: the line may have been cut short"),
            (f'{{"primary": "{A}"}}\n[]\n', r"mesh\.json:2: found a list; needs an object"),
            (VIS_DOT.replace('"', "'", 22), r"mesh\.json:2: found .*, which batadv-vis does not write"),
            ("digraph {\n}\n", "no edges"),
        ],
    )
    def test_other_shapes_are_refused_with_their_place(self, tmp_path, content, says):
        with pytest.raises(UserError, match=says):
            scenario(tmp_path, content)

    def test_no_other_format_and_no_option_is_taken(self, tmp_path):
        with pytest.raises(UserError, match="--format: found csv, but this is batadv-vis"):
            scenario(tmp_path, VIS_DOT, format="csv")
        with pytest.raises(UserError, match="--assume-delivery: does not apply to batadv-vis"):
            scenario(tmp_path, VIS_LINES, assume_delivery=0.9)


class TestBmx:
    def test_the_end_that_receives_counts(self, tmp_path):
        # a receives 80 % of what b sends; what a reports of the way there is older than b's own count.
        nodes = [
            {"name": "a", "links": [{"name": "b", "rxRate": 80, "txRate": 10}]},
            {"name": "b", "links": [{"name": "a", "rxRate": 90, "txRate": 70}]},
        ]
        assert links_of(scenario(tmp_path, nodes)) == {("b", "a"): 0.8, ("a", "b"): 0.9}

    def test_one_end_alone_is_taken_at_its_word(self, tmp_path):
        nodes = [{"name": "a", "links": [{"name": "b", "rxRate": 80, "txRate": 10}]}]
        assert links_of(scenario(tmp_path, nodes)) == {("b", "a"): 0.8, ("a", "b"): 0.1}

    def test_links_of_one_node(self, tmp_path):
        link = {"globalId": "b.01", "name": "b", "llocalIp": "fe80::1", "viaDev": "wlan0", "rxRate": 100, "txRate": 50}
        better = {**link, "viaDev": "wlan1", "rxRate": 30, "txRate": 60}
        imported = scenario(tmp_path, {"links": [link, better]})
        assert links_of(imported) == {("b", "this node"): 1.0, ("this node", "b"): 0.6}
        assert imported.left_out == {"parallel or repeated directions (the best one stays)": 2}
        imported = scenario(tmp_path, {"links": [link], "status": {"globalId": "a.02", "name": "a"}})
        assert names_of(imported) == ["a", "b"]

    def test_bmx7_has_shares_beside_bit_rates(self, tmp_path):
        row = {"id": "AA", "name": "---", "neighId": "BB", "neighName": "---", "rq": 70, "tq": 60}
        row |= {"rxRate": "54M", "txRate": "6500K"}
        assert links_of(scenario(tmp_path, {"topology": [row]})) == {("BB", "AA"): 0.7, ("AA", "BB"): 0.6}

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            ([{"name": "a", "links": {}}], r"\[0\]: links: found an object; needs a list"),
            ([{"name": "a", "links": [{"rxRate": 1}]}], r"\[0\]: a node has no name; needs one, or an id"),
            ({"links": [{"name": "b", "rxRate": 0}]}, "1 directions that deliver nothing, 1 directions without"),
            ({"links": [{"name": "b", "rxRate": "54M"}]}, "2 directions without a usable quality"),
        ],
    )
    def test_other_shapes_are_refused(self, tmp_path, content, says):
        with pytest.raises(UserError, match=says):
            scenario(tmp_path, content)
