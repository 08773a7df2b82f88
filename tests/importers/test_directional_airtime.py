"""Directional airtime of olsrd2 (`ff_dat_metric`): costs to deliveries and rates of the scenario's PHY."""

import json
import tomllib

import pytest

from meshes import links_of, scenario
from multihop.base.errors import UserError
from multihop.importers import Options, read
from multihop.importers.to_scenario import Plan
from sound_meshes import NETJSON_DAT, NHDP_LINK, OLSRV2, OLSRV2_TABLE

ERP = Plan(standard="802.11g", flows=1)

#: Throughput in b/s of a cost.
FAST, SLOW = 2**31 / 107, 2**31 / 215


def rates_of(imported):
    return [link.get("data_rate") for link in tomllib.loads(imported.text)["topology"]["links"] if "delivery" in link]


def test_a_link_has_the_lowest_rate_that_is_enough_and_delivers_the_rest(tmp_path):
    imported = scenario(tmp_path, OLSRV2, ERP)
    assert rates_of(imported) == ["24 Mb/s", None]
    found = links_of(imported)
    assert found["192.0.2.1", "192.0.2.2"] == pytest.approx(FAST / 24e6, abs=1e-4)
    assert found["192.0.2.2", "192.0.2.1"] == pytest.approx(SLOW / 24e6, abs=1e-4)
    assert any("throughputs of 2 directions" in line for line in imported.summary)


def test_a_cost_without_a_bit_rate_is_a_delivery(tmp_path):
    found = links_of(scenario(tmp_path, OLSRV2, ERP))
    assert found["192.0.2.2", "192.0.2.3"] == found["192.0.2.3", "192.0.2.2"] == 0.5


def test_the_cost_that_olsrv2_sends_for_a_lossless_link_delivers_all(tmp_path):
    links = [{**link, "domain_metric_out_raw": 2105088} for link in OLSRV2["edge"]]
    assert set(links_of(scenario(tmp_path, {"edge": links}, ERP)).values()) == {1.0}


def test_a_throughput_above_the_data_rate_loses_nothing(tmp_path):
    imported = scenario(tmp_path, OLSRV2, Plan(standard="802.11b", flows=1))
    assert rates_of(imported) == [None, None]
    assert links_of(imported)["192.0.2.1", "192.0.2.2"] == 1.0
    assert any("1 are above the data rate" in line for line in imported.summary)


def test_without_rates_of_links_the_delivery_is_of_the_data_rate(tmp_path):
    imported = scenario(tmp_path, OLSRV2, Plan(standard="802.11g", flows=1, sensing="listed"))
    assert rates_of(imported) == [None, None]
    assert links_of(imported)["192.0.2.2", "192.0.2.1"] == pytest.approx(SLOW / 54e6, abs=1e-4)


def test_a_table_is_read_as_json_is_with_and_without_a_head(tmp_path):
    head = "\t".join(OLSRV2["edge"][0]) + "\n"
    links = links_of(scenario(tmp_path, OLSRV2, ERP))
    assert links_of(scenario(tmp_path, OLSRV2_TABLE, ERP)) == links
    assert links_of(scenario(tmp_path, head + OLSRV2_TABLE, ERP)) == links


@pytest.mark.parametrize("content", [{"link": [NHDP_LINK]}, "\t".join(NHDP_LINK.values()) + "\n"], ids=["json", "text"])
def test_a_node_counts_packets_and_reads_the_bit_rate_of_its_own_reception(tmp_path, content):
    imported = scenario(tmp_path, content, ERP)
    assert rates_of(imported) == ["24 Mb/s"]
    found = links_of(imported)
    assert found["2001:db8::2", "this node"] == 60 / 64
    assert found["this node", "2001:db8::2"] == pytest.approx(SLOW / 24e6, abs=1e-4)


def test_a_cost_of_the_reverse_direction_stands_in_for_counts(tmp_path):
    link = {key: value for key, value in NHDP_LINK.items() if key != "domain_metric_internal"}
    found = links_of(scenario(tmp_path, {"link": [link]}, ERP))
    assert found["2001:db8::2", "this node"] == pytest.approx(FAST / 24e6, abs=1e-4)


def test_netjson_has_a_cost_of_each_direction(tmp_path):
    found = links_of(scenario(tmp_path, NETJSON_DAT, ERP))
    assert found["192.0.2.1", "192.0.2.2"] == pytest.approx(FAST / 24e6, abs=1e-4)
    assert found["192.0.2.2", "192.0.2.1"] == 0.5


def test_a_graph_that_lists_each_pair_once_has_the_cost_of_both_directions(tmp_path):
    found = links_of(scenario(tmp_path, {**NETJSON_DAT, "links": NETJSON_DAT["links"][:1]}, ERP))
    assert found["192.0.2.1", "192.0.2.2"] == found["192.0.2.2", "192.0.2.1"] == pytest.approx(FAST / 24e6, abs=1e-4)


def test_an_infinite_cost_is_no_link(tmp_path):
    links = [*OLSRV2["edge"][:3], {**OLSRV2["edge"][3], "domain_metric_out_raw": 0xFFFFFF}]
    path = tmp_path / "mesh.json"
    path.write_text(json.dumps({"edge": links}))
    assert ("192.0.2.3", "192.0.2.2") not in read(path, Options()).links


def test_another_metric_is_refused_in_a_sentence(tmp_path):
    path = tmp_path / "mesh.json"
    path.write_text(json.dumps({"edge": [{**OLSRV2["edge"][0], "domain_metric": "hopcount_metric"}]}))
    with pytest.raises(UserError, match="found hopcount_metric, which says nothing about delivery; needs ff_dat"):
        read(path, Options())
