"""What imports infer about sensing, on networks that are known, and traffic of gateways."""

import json
import math
import tomllib

import numpy as np
import pytest
from validation import imports

from meshes import meshviewer, scenario
from multihop.base.errors import UserError
from multihop.importers import path_loss, sensing
from multihop.importers.mesh import Mesh, Node
from multihop.importers.path_loss import Evidence, Law, fit
from multihop.importers.to_scenario import Plan
from multihop.importers.traffic import DIRECTIONS, MIXES
from multihop.simulation.scenario import load

BAND = (-88.0, -84.7)


def evidence(exponent, sigma, nodes, seed, *, known=False, other_losses=0.0, side=600.0):
    """Links and pairs without one of a random network: powers of links if known, otherwise whether they lose some."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(0.0, side, (nodes, 2))
    i, j = np.triu_indices(nodes, 1)
    distance = np.hypot(*(places[i] - places[j]).T)
    power = -20.0 - 10.0 * exponent * np.log10(np.maximum(distance, 1.0)) + rng.normal(0.0, sigma, len(i))
    there = power >= BAND[0]
    lossy = (power < BAND[1]) | (rng.uniform(size=len(i)) < other_losses)
    powers = np.where(known, power, math.nan)[there]
    absent = distance[~there]
    return Evidence(distance[there], powers, lossy[there], absent, np.ones(len(absent)), BAND)


class TestPathLoss:
    @pytest.mark.parametrize(("exponent", "sigma"), [(2.5, 4.0), (3.5, 8.0)])
    def test_known_powers_give_the_law_though_weak_links_are_missing(self, exponent, sigma):
        law = fit(evidence(exponent, sigma, 80, 1, known=True))
        assert law.exponent == pytest.approx(exponent, abs=0.15)
        assert law.sigma_db == pytest.approx(sigma, rel=0.1)
        assert law.at_1m_dbm == pytest.approx(-20.0, abs=4.0)
        # Without the pairs that have no link, shadowing lifts the weak end, and power seems to fall more slowly.
        blind = evidence(exponent, sigma, 80, 1, known=True)
        ones = Evidence(blind.distances, blind.powers, blind.lossy, np.empty(0), np.empty(0), BAND)
        assert fit(ones).exponent < law.exponent - 0.2

    def test_losses_and_places_alone_give_it_as_well(self):
        law = fit(evidence(3.0, 5.0, 120, 2))
        assert abs(law.exponent - 3.0) < 2.5 * law.exponent_error < 1.5
        assert law.sigma_db == pytest.approx(5.0, rel=0.3)
        assert law.other_losses < 0.1

    def test_losses_of_other_causes_are_distinguished_from_weak_signals(self):
        law = fit(evidence(3.0, 5.0, 120, 3, other_losses=0.5))
        assert law.other_losses == pytest.approx(0.5, abs=0.1)
        near, in_band = np.array([20.0]), np.array([-86.0])
        lossy = np.array([True])
        assert law.expected(near, BAND, lossy, in_band)[0] > -70.0, "a lossy link of 20 m is no weak one"

    def test_few_links_leave_what_is_usual_and_say_so(self):
        few = Evidence(np.array([50.0]), np.array([math.nan]), np.array([False]), np.empty(0), np.empty(0), BAND)
        law = fit(few)
        assert law.says_little
        assert law.exponent == pytest.approx(path_loss.USUAL_EXPONENT, abs=0.1)
        assert "links say little of it" in sensing.law_words(law)

    def test_powers_below_a_threshold_are_those_of_a_cut_normal(self):
        law = Law(3.0, 0.1, -20.0, 6.0, 0.0, 10, 10)
        draws = np.random.default_rng(1).uniform(size=20_000)
        power = law.below(np.full(20_000, 150.0), -88.0, draws)
        mean = law.mean_dbm(np.array([150.0]))[0]
        all = np.random.default_rng(2).normal(mean, 6.0, 200_000)
        assert power.max() <= -88.0
        assert power.mean() == pytest.approx(all[all < -88.0].mean(), abs=0.2)
        far = law.below(np.array([1e6]), -88.0, np.array([0.5]))[0]
        assert far == pytest.approx(-200.0, abs=0.1), "of what is far below, nothing is cut"


def line(spacing=60.0):
    """Four nodes in a line, of which neighbours have links."""
    degree = spacing / imports.DEGREE_M
    places = {n: {"location": {"latitude": 0.0, "longitude": i * degree}} for i, n in enumerate("abcd")}
    links = [("a", "b", 1, 1, "wifi"), ("b", "c", 0.9, 0.8, "wifi"), ("c", "d", 1, 0.5, "wifi")]
    return meshviewer(links, "abcd", **places)


def sensed(imported):
    links = tomllib.loads(imported.text)["topology"]["links"]
    return {frozenset((link["from"], link["to"])) for link in links if "delivery" not in link}


class TestSensing:
    def test_links_stay_as_measured_and_pairs_are_added(self, tmp_path):
        content = line()
        imported, listed = scenario(tmp_path, content), scenario(tmp_path, content, Plan(sensing="listed"))
        made, plain = tomllib.loads(imported.text), tomllib.loads(listed.text)
        assert made["medium"]["quantity"] == "delivery-and-rssi"
        kept = [{k: v for k, v in link.items() if "rssi" not in k} for link in made["topology"]["links"]]
        assert [link for link in kept if "delivery" in link] == plain["topology"]["links"]
        assert sensed(imported) <= {frozenset(pair) for pair in ("ac", "bd", "ad")}
        assert imported.sensed["inferred_pairs"] == len(sensed(imported))
        assert any(line.startswith("path loss: exponent") for line in imported.summary)
        assert listed.sensed is None

    def test_without_places_nodes_with_a_common_neighbour_sense_each_other(self, tmp_path):
        links = [("a", "b", 1, 1, "wifi"), ("b", "c", 1, 1, "wifi"), ("c", "d", 1, 1, "wifi")]
        imported = scenario(tmp_path, meshviewer(links))
        assert sensed(imported) == {frozenset("ac"), frozenset("bd")}
        assert imported.sensed["by_graph"] == imported.sensed["sensing"] == 2
        assert not sensed(scenario(tmp_path, meshviewer(links), Plan(two_hops=False)))

    def test_a_direction_that_is_not_listed_is_as_strong_as_the_other(self, tmp_path):
        ring = [("a", "b", 1, 1, "wifi"), ("b", "c", 0.5, 0, "wifi"), ("a", "c", 0.8, 0.8, "wifi")]
        imported = scenario(tmp_path, meshviewer(ring, "abc"))
        link = next(x for x in tomllib.loads(imported.text)["topology"]["links"] if {x["from"], x["to"]} == set("bc"))
        assert "reverse" not in link
        assert link["rssi"] == link["reverse_rssi"]

    def test_a_pair_that_is_listed_and_delivers_nothing_senses(self, tmp_path):
        content = meshviewer([("a", "b", 1, 1, "wifi"), ("b", "c", 1, 1, "wifi"), ("c", "d", 1, 1, "wifi")])
        content["links"].append({"source": "d", "target": "a", "source_tq": 0, "target_tq": 0, "type": "wifi"})
        imported = scenario(tmp_path, content, Plan(two_hops=False))
        assert sensed(imported) == {frozenset("ad")}
        assert imported.sensed["heard"] == imported.sensed["sensing"] == 1

    def test_powers_and_rates_of_a_file_are_taken(self, tmp_path):
        rows = (
            "src,dst,ifname,lq,nlq,signal_dbm,noise_dbm,tx_rate_kbps,rx_rate_kbps\n"
            "a,b,wlan0,1,0.9,-70,-90,5500,11000\nb,c,wlan0,1,1,,,1000,1000\n"
        )
        imported = scenario(tmp_path, rows, name="links.csv")
        first, second = tomllib.loads(imported.text)["topology"]["links"][:2]
        # a measures what b sends, 20 dB above its noise.
        assert (first["from"], first["reverse_rssi"], first["data_rate"]) == ("a", "-75 dBm", "5.5 Mb/s")
        assert "data_rate" not in second
        assert any("rates of 1 links are in the file: 1 are below" in line for line in imported.summary)

    def test_of_several_links_of_a_direction_the_best_stays(self):
        mesh = Mesh("test", "", nodes={n: Node(n) for n in "ab"})
        for value, power in ((0.5, -80.0), (0.9, -70.0), (0.7, -60.0)):
            mesh.add_link("a", "b", value, power)
        assert (mesh.links["a", "b"], mesh.powers["a", "b"]) == (0.9, -70.0)

    def test_a_csv_of_powers_has_sensed_pairs_below_the_weakest_link(self, tmp_path):
        rows = "source,target,rssi_dbm,reverse_rssi_dbm\na,b,-60,-61\nb,c,-80,-80\n"
        imported = scenario(tmp_path, rows, name="links.csv")
        made = tomllib.loads(imported.text)
        assert made["medium"]["quantity"] == "rssi"
        extra = made["topology"]["links"][-1]
        assert {extra["from"], extra["to"]} == {"a", "c"}
        assert -92.0 <= float(extra["rssi"].split()[0]) < -80.0

    def test_draws_are_those_of_their_seed(self, tmp_path):
        content = imports.meshviewer(imports.World())
        one, again, other = (scenario(tmp_path, content, Plan(shadowing_seed=seed)).text for seed in (1, 1, 2))
        assert one == again != other

    @pytest.mark.parametrize(
        ("plan", "message"),
        [
            (Plan(sensing="guessed"), "--sensing: found 'guessed'; needs inferred or listed"),
            (Plan(shadowing_seed=-1), "--shadowing-seed: found -1; needs 0 or more"),
            (Plan(clients=3), "--clients: has no effect with --traffic to-gateway; use --traffic gateway"),
            (Plan(traffic="gateway", clients=0), "--clients: found 0; needs at least 1"),
            (
                Plan(traffic="gateway", gateway="a"),
                "--gateway: has no effect with --traffic gateway; name the gateways with --gateways",
            ),
            (Plan(traffic="gateway", gateways=("x",)), "--gateways: 'x' is not among the 4 nodes"),
            (Plan(traffic="gateway", gateways=("a",), gateway_count=1), "--gateway-count: has no effect with"),
            (Plan(traffic="gateway", gateway_count=4), "--gateway-count: found 4; leaves no clients"),
            (Plan(traffic="gateway", gateways=tuple("abcd")), "--gateways: every node is a gateway"),
            (Plan(traffic="gateway", direction="up"), "--direction: found 'up'; needs one of downloads"),
            (Plan(traffic="gateway", mix=("web", "mail")), "--mix: found 'mail'; needs some of download, web"),
        ],
    )
    def test_options_that_make_no_sense(self, tmp_path, plan, message):
        with pytest.raises(UserError) as raised:
            scenario(tmp_path, line(), plan)
        assert str(raised.value).startswith(message)

    def test_a_thousand_nodes_are_quick_and_pruned(self, tmp_path):
        world = imports.World(nodes=1000, side_m=3000.0)
        imported = scenario(tmp_path, imports.meshviewer(world), Plan(traffic="gateway"))
        assert imported.sensed["inferred_pairs"] <= 60_000 < imported.sensed["too_weak"]
        load(imported.text).check()


class TestGatewayTraffic:
    def test_words_are_those_of_the_engine(self):
        from multihop import _core

        known = json.loads(_core.registry())
        assert tuple(entry["name"] for entry in known["directions"]) == DIRECTIONS
        assert tuple(entry["name"] for entry in known["mixes"]) == MIXES

    def test_the_engine_takes_what_the_import_writes(self, tmp_path):
        plan = Plan(traffic="gateway", gateways=("b",), direction="uploads", mix=("web", "call"), clients=9)
        imported = scenario(tmp_path, line(), plan)
        assert imported.gateways == ["b"]
        assert any("(not 9: there are no more nodes)" in line for line in imported.summary)
        names = [flow["name"] for flow in load(imported.text).check()["flows"]]
        assert sorted(name.split()[0] for name in names) == ["call", "call", "web", "web"]
        marked = scenario(
            tmp_path, meshviewer([("a", "b", 1, 1, "wifi")], "ab", a={"is_gateway": True}), plan=Plan(traffic="gateway")
        )
        assert marked.gateways == ["a"]


def test_a_known_network_is_imported_as_it_is():
    """Total goodput within 15 % of the truth, more sensing pairs than none, and schemes in their order."""
    world = imports.World()
    rows = imports.rows(world, ("tcp-bbr", "recn"), seconds=10, seeds=2)
    assert all(abs(row.off("inferred")) <= 0.15 for row in rows), [row.off("inferred") for row in rows]
    assert imports.order_holds(rows, "inferred")
    true, found = imports.sensing_pairs(world, imports.imported(world, "inferred", 8, 10))
    assert true > 20
    assert 0.6 < found / true < 1.6
