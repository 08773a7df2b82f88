"""EWCCP's fluid law: its equilibrium, and where that is the optimum of its own programme."""

import re

import numpy as np
import pytest

from conftest import ROOT, SCENARIOS
from multihop import UserError, models
from multihop.models.ewccp_fluid import TOPOLOGIES, Network, named, of_scenario, settle
from multihop.optima.optimum import distance

CLIQUES = ("exposed", "bar", "parking-lot")


def at(topology, **arguments):
    return models.evaluate("ewccp-fluid", {"topology": topology, **arguments})


def test_program_13_of_the_topologies_of_the_paper():
    assert named("chain").optimum() == pytest.approx([1 / 5]), "five links of a row are in one set"
    assert named("exposed").optimum() == pytest.approx([1 / 2, 1 / 2])
    assert named("bar").optimum() == pytest.approx([1 / 2, 1 / 4])
    assert named("parking-lot").optimum() == pytest.approx([1 / 12, *[1 / 4] * 3])
    assert named("middle").optimum() == pytest.approx([1 / 3] * 3)


def test_interference_counts_links_as_often_as_a_flow_uses_them():
    assert named("bar").usage.tolist() == [[1, 2]] * 3
    assert named("chain").usage.max() == 5


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("law", ["printed", "gradient"])
def test_the_law_comes_to_rest_at_one_point(topology, law):
    found = at(topology, law=law)
    assert found["residual"] < 1e-9
    assert found["spread"] < 1e-9, "two starts end together"
    assert found["overload"] > 0, "a penalty is paid where there is too much"


@pytest.mark.parametrize("topology", [*CLIQUES, "chain"])
@pytest.mark.parametrize("law", ["printed", "gradient"])
def test_where_all_links_share_one_set_both_laws_rest_at_the_optimum(topology, law):
    assert at(topology, law=law, step=0.1)["distance"] < 1e-9


@pytest.mark.parametrize("flows", [1, 2, 5])
def test_overload_is_the_number_of_flows_times_the_step(flows):
    # In one set of single hops (y - C) / y = alpha / (beta x) with x = y / n.
    network = Network(np.eye(flows), np.ones((flows, flows)))
    motion = settle(network, 0.01)
    assert motion.end == pytest.approx([1 / flows + 0.01] * flows, rel=1e-6)
    # The gradient has as many constraints as links, which say the same, and each adds its price.
    assert settle(network, 0.01, "gradient").end.sum() == pytest.approx(1.01, rel=1e-6)


@pytest.mark.parametrize("topology", ["middle", "long-parking-lot", "random"])
def test_elsewhere_only_the_gradient_goes_to_the_optimum(topology):
    """The finding: the printed law charges a flow for the sets around its links only, not for all that they are in."""
    steps = (0.1, 0.01, 0.001)
    gradient, printed = ([at(topology, law=law, step=step) for step in steps] for law in ("gradient", "printed"))
    assert gradient[-1]["distance"] < 2e-3
    assert [found["distance"] for found in gradient] == sorted((f["distance"] for f in gradient), reverse=True) or (
        max(found["distance"] for found in gradient) < 1e-9
    )
    assert all(found["distance"] > 0.15 for found in printed)
    shares = [found["least_share"] for found in printed]
    assert shares == sorted(shares, reverse=True), "a smaller step starves the flow in between"
    assert shares[-1] < 0.1 * gradient[-1]["least_share"]


def test_the_printed_law_starves_the_flow_between_two_that_do_not_hear_each_other():
    # Both others fill what is left beside the middle one, so that its own set is overloaded by half, and its price is
    # one half: x = 2 alpha / beta.
    rates = settle(named("middle"), 1e-4).end
    assert rates[1] == pytest.approx(2e-4, rel=1e-2)
    assert rates[[0, 2]] == pytest.approx([1.0, 1.0], rel=1e-2)


def test_of_random_meshes_hardly_any_rests_near_the_optimum_by_the_printed_law():
    def near(law):
        return sum(at("random", law=law, step=0.001, seed=seed)["distance"] < 0.01 for seed in range(1, 11))

    assert near("printed") == 0
    assert near("gradient") >= 8


def test_in_consistent_units_short_round_trips_get_more():
    # Steps in inverse proportion to hops weigh utilities so: one hop to two are 4 to 1 and no longer 2 to 1.
    network = named("bar")
    weights = np.array([1.0, 0.5])
    rates = settle(network, 1e-4, "gradient", weights=weights).end
    assert rates == pytest.approx(network.optimum(weights), rel=1e-3)
    assert rates[0] / rates[1] == pytest.approx(4.0, rel=1e-6)
    assert at("bar", round_trips="hops")["distance"] == pytest.approx(1 / 3, rel=1e-6)


@pytest.mark.parametrize(("name", "agrees"), [("exposed", True), ("saturation", True), ("mesh-demo", False)])
def test_of_scenarios(name, agrees):
    network = of_scenario(SCENARIOS / f"{name}.toml")
    best = network.optimum()
    for law in ("printed", "gradient"):
        motion = settle(network, 0.001, law)
        off = distance(motion.end / max(1.0, (network.usage @ motion.end).max()), best)
        assert motion.residual < 1e-6
        assert (off < 1e-3) == (agrees or law == "gradient")


def test_the_table_of_the_documentation():
    page = (ROOT / "docs" / "reference" / "models.md").read_text()
    rows = re.findall(r"^\| ([a-z, -]+) \| (any|[0-9.]+) \| (\S+) \| (\S+) \| (\S+) \| (\S+) \|$", page, re.MULTILINE)
    assert {name for names, *_ in rows for name in names.split(", ")} >= set(TOPOLOGIES)
    for names, step, *shown in rows:
        for name in names.split(", "):
            laws = [at(name, law=law, step=0.01 if step == "any" else float(step)) for law in ("printed", "gradient")]
            found = [number for law in laws for number in (law["distance"], law["least_share"])]
            assert [float(number) for number in shown] == pytest.approx(found, abs=6e-4)


@pytest.mark.parametrize(
    "wrong",
    [{"topology": "ring"}, {"law": "other"}, {"step": 0}, {"step": -1.0}, {"round_trips": "long"}, {"hops": 3}],
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(UserError, match="ewccp-fluid"):
        models.evaluate("ewccp-fluid", wrong)
