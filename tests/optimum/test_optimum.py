"""The network-utility optimum: closed forms, the conditions of optimality, and what is held against it."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import multihop
from conftest import CHAIN, ROOT, SCENARIOS, UNICAST_NAMES
from multihop import UserError
from multihop.optima.optimum import FLOOR, Question, distance, gap
from multihop.optima.utility import LOG, MAX_MIN, Utility, allocate
from test_bound import ACCESS, EXCHANGE, PLAIN, chain

NONE = np.inf

#: A 1000-byte datagram over one hop, as `bound` charges it at its last level.
HOP = EXCHANGE + ACCESS

#: Three wires in a row: a flow along all of them, and one over each.
PARKING_LOT = """
duration = "10 s"
[topology]
nodes = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }]
wires = [
    { between = ["a", "b"], rate = "4.112 Mb/s", delay = "1 ms" },
    { between = ["b", "c"], rate = "4.112 Mb/s", delay = "1 ms" },
    { between = ["c", "d"], rate = "4.112 Mb/s", delay = "1 ms" },
]
[schemes.udp]
segment_size = "1000 B"
""" + "".join(
    f'[[flows]]\nname = "{name}"\nfrom = "{a}"\nto = "{b}"\nscheme = "udp"\n'
    for name, a, b in [("long", "a", "d"), ("first", "a", "b"), ("second", "b", "c"), ("third", "c", "d")]
)


def rates(usage, utility="log", limits=None, weights=None):
    usage = np.array(usage, dtype=float)
    limits = np.full(usage.shape[1], NONE) if limits is None else np.array(limits, dtype=float)
    found = allocate(usage, limits, Utility.of(utility), None if weights is None else np.array(weights, dtype=float))
    assert found.residual < 1e-9
    return found.rates


def parking_lot(bottlenecks=3, capacity=1.0):
    """A flow over all of so many resources, and one over each."""
    return np.hstack([np.ones((bottlenecks, 1)), np.eye(bottlenecks)]) / capacity


UTILITIES = ["log", "max-min", "alpha=0.1", "alpha=0.5", "alpha=2", "alpha=5"]


@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize("capacity", [1e-6, 1.0, 54e6])
def test_two_flows_that_share_a_link_get_half_each(utility, capacity):
    assert rates([[1 / capacity, 1 / capacity]], utility) == pytest.approx([capacity / 2] * 2, rel=1e-9)


@pytest.mark.parametrize(("utility", "long", "short"), [("log", 1 / 4, 1 / 2), ("max-min", 1 / 3, 1 / 3)])
def test_a_flow_that_takes_twice_as_much_gets_half_as_much(utility, long, short):
    # The bar of the EWCCP paper: one hop, and two hops in the same interference set.
    assert rates([[1, 2]], utility) == pytest.approx([short, long], rel=1e-9)


@pytest.mark.parametrize("alpha", [0.25, 0.5, 1.0, 1.001, 2.0, 3.0, 5.0])
@pytest.mark.parametrize("bottlenecks", [1, 3, 10])
def test_the_long_flow_of_a_parking_lot(alpha, bottlenecks):
    # Its marginal utility pays for n of what each short one pays for: x^-alpha = n (C - x)^-alpha.
    long = 5e6 / (1 + bottlenecks ** (1 / alpha))
    found = rates(parking_lot(bottlenecks, 5e6), alpha)
    assert found == pytest.approx([long, *[5e6 - long] * bottlenecks], rel=1e-9)


def test_the_long_flow_of_a_parking_lot_in_max_min_fairness_gets_what_others_get():
    assert rates(parking_lot(), "max-min") == pytest.approx([0.5] * 4, rel=1e-12)


def test_large_alpha_goes_towards_max_min_fairness():
    ways = [rates(parking_lot(), utility)[0] for utility in ("log", "alpha=2", "alpha=3", "alpha=4", "max-min")]
    assert ways == sorted(ways)


def test_max_min_fairness_goes_on_where_some_are_stopped():
    # Bertsekas and Gallager's kind of example: flows 0 and 1 share a narrow link, 1 and 2 a wide one.
    assert rates([[1, 1, 0], [0, 1 / 4, 1 / 4]], "max-min") == pytest.approx([0.5, 0.5, 3.5])
    assert rates([[1, 1, 0], [0, 1 / 4, 1 / 4]], "max-min", [0.2, NONE, 1.0]) == pytest.approx([0.2, 0.8, 1.0])


def test_weights_are_shares():
    assert rates([[1, 1]], "log", weights=[3, 1]) == pytest.approx([0.75, 0.25], rel=1e-9)
    assert rates([[1, 1]], "alpha=2", weights=[4, 1]) == pytest.approx([2 / 3, 1 / 3], rel=1e-9)
    assert rates([[1, 1]], "max-min", weights=[3, 1]) == pytest.approx([0.75, 0.25], rel=1e-9)


@pytest.mark.parametrize("utility", UTILITIES)
def test_what_a_flow_does_not_want_goes_to_others(utility):
    assert rates([[1, 1]], utility, [0.1, NONE]) == pytest.approx([0.1, 0.9], rel=1e-9)
    assert rates([[1, 1]], utility, [0.1, 0.2]) == pytest.approx([0.1, 0.2], rel=1e-9)


@pytest.mark.parametrize("utility", UTILITIES)
def test_flows_that_are_left_out_get_nothing_and_take_nothing(utility):
    assert rates([[1, 1, 0]], utility, [NONE, 0, 0]) == pytest.approx([1, 0, 0], rel=1e-9)
    assert rates(np.zeros((0, 2)), utility, [0, 0]).tolist() == [0, 0]


def test_prices_are_what_more_of_a_resource_would_be_worth():
    usage, more = parking_lot(), 1e-5
    found = allocate(usage, np.full(4, NONE))
    worth = np.log(found.rates).sum()
    for row in range(3):
        wider = usage.copy()
        wider[row] /= 1 + more
        gained = np.log(allocate(wider, np.full(4, NONE)).rates).sum() - worth
        assert found.prices[row] == pytest.approx(gained / more, rel=1e-4) == pytest.approx(4 / 3, rel=1e-4)
    limited = allocate(np.array([[1.0, 1.0]]), np.array([0.1, NONE]))
    assert limited.limit_prices == pytest.approx([1 / 0.1 - 1 / 0.9, 0])


def is_optimal(usage, limits, utility, weights, found):
    """No allowed change helps: x* maximises the sum of rates, each valued at its margin there (a linear programme)."""
    worth = weights * utility.marginal(found) * found
    worth /= worth.sum()
    bounds = [(0, None if math.isinf(limit) else limit / x) for limit, x in zip(limits, found, strict=True)]
    best = linprog(-worth, A_ub=usage * found, b_ub=np.ones(len(usage)), bounds=bounds, method="highs")
    assert best.success
    assert (usage @ found <= 1 + 1e-9).all()
    assert (found <= limits * (1 + 1e-9)).all()
    assert -best.fun == pytest.approx(1.0, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    utility=st.sampled_from([LOG, *map(Utility, (0.1, 0.5, 1.5, 2.0, 5.0))]),
    shape=st.tuples(st.integers(1, 40), st.integers(1, 20)),
)
def test_no_change_of_a_solution_helps(seed, utility, shape):
    rng = np.random.default_rng(seed)
    flows = shape[1]
    unit = 10 ** rng.uniform(0, 7)
    usage = rng.random(shape) * (rng.random(shape) < 0.4) * rng.uniform(0.1, 2, flows) / unit
    limits = np.where(rng.random(flows) < 0.3, rng.uniform(0.01, 1, flows) * unit, NONE)
    limits = np.where((usage > 0).any(axis=0), limits, unit)
    weights = rng.uniform(0.2, 5, flows)
    found = allocate(usage, limits, utility, weights)
    assert found.residual < 1e-9
    if found.rates.max() < 1e4 * found.rates.min():  # beyond, the linear programme has no digits left
        is_optimal(usage, limits, utility, weights, found.rates)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_in_max_min_fairness_more_for_one_is_less_for_one_that_has_no_more(seed):
    rng = np.random.default_rng(seed)
    usage = rng.random((6, 5)) * (rng.random((6, 5)) < 0.5)
    limits = np.where((usage > 0).any(axis=0), np.where(rng.random(5) < 0.3, rng.random(5), NONE), 1.0)
    found = rates(usage, "max-min", limits)
    full = usage @ found > 1 - 1e-9
    for flow in range(5):
        stopping = full & (usage[:, flow] > 0)
        largest = [found[flow] >= found[usage[row] > 0].max() - 1e-9 for row in np.flatnonzero(stopping)]
        assert any(largest) or found[flow] == pytest.approx(limits[flow])


@pytest.mark.parametrize(
    ("usage", "limits", "weights", "message"),
    [
        ([[1.0]], [NONE, 1.0], [1.0, 1.0], "shapes"),
        ([[-1.0]], [NONE], [1.0], "usage"),
        ([[1.0]], [np.nan], [1.0], "limits"),
        ([[1.0]], [NONE], [0.0], "weights"),
        ([[0.0]], [NONE], [1.0], "no resource"),
    ],
)
def test_a_programme_that_makes_no_sense_is_refused(usage, limits, weights, message):
    with pytest.raises(ValueError, match=message):
        allocate(np.array(usage), np.array(limits), LOG, np.array(weights))


def test_weights_beyond_all_digits_are_refused_in_one_sentence():
    with pytest.raises(UserError, match="powers of ten"):
        allocate(np.array([[1.0, 1.0]]), np.full(2, NONE), Utility(4.0), np.array([1e-300, 1e300]))


# --- of scenarios ----------------------------------------------------------------------------------------------------


def test_the_bar_over_the_air():
    flows = [
        {"name": "one", "from": "n1", "to": "n2", "scheme": "udp"},
        {"name": "two", "from": "n0", "to": "n2", "scheme": "udp"},
    ]
    found = multihop.optimum(PLAIN, set={"topology.hops": 2, "flows": flows})
    assert found.rates_bps == pytest.approx([8000 / HOP / 2, 8000 / HOP / 4], rel=1e-9)
    # log: the constraint is worth as many flows as share it, and each pays for half of it.
    assert found.constraints["price"].tolist() == pytest.approx([2.0])
    assert found.flows["price"].to_numpy() == pytest.approx(1e6 / found.rates_bps)
    assert found.flows["bottleneck"].tolist() == [["n1>n2"], ["n0>n1", "n1>n2"]]
    weighed = multihop.optimum(PLAIN, set={"topology.hops": 2, "flows": flows}, weights={"two": 3})
    assert weighed.rates_bps == pytest.approx([8000 / HOP / 4, 8000 / HOP * 3 / 8], rel=1e-9)


@pytest.mark.parametrize(("utility", "long"), [("log", 1 / 4), ("alpha=2", 1 / (1 + math.sqrt(3))), ("max-min", 1 / 2)])
def test_a_parking_lot_of_wires(utility, long):
    # 1000 bytes and 28 of UDP and IP: 4.112 Mb/s carry 4 Mb/s.
    found = multihop.optimum(PARKING_LOT, utility=utility)
    assert found.rates_bps == pytest.approx([4e6 * long, *[4e6 * (1 - long)] * 3], rel=1e-6)
    assert {tuple(links) for links in found.constraints["links"]} == {("a>b",), ("b>c",), ("c>d",)}


def test_an_offered_load_is_not_exceeded():
    flow = {"scheme": "udp", "app": {"kind": "cbr", "rate": "100 kb/s", "packet": "1000 B"}}
    flows = [
        {"name": "little", "from": "n0", "to": "n1", **flow},
        {"name": "rest", "from": "n0", "to": "n1", "scheme": "udp"},
    ]
    found = multihop.optimum(PLAIN, set={"flows": flows})
    assert found.rates_bps == pytest.approx([100e3, 8000 / HOP - 100e3])
    assert found.flows["limit_price"].gt(0).tolist() == [True, False]


def test_interference_sets_are_larger_than_cliques():
    # 200 m apart and sensed to 550 m, without capture: four hops in a row exclude each other, and a link has an
    # endpoint near an endpoint of three more on either side.
    changes = {**chain(12), "topology.spacing": "200 m", "medium": {"model": "ranges", "capture": "off"}}
    cliques = multihop.optimum(PLAIN, set=changes)
    assert cliques.rates_bps == pytest.approx([8000 / HOP / 4])
    sets = multihop.optimum(PLAIN, set=changes, constraints="interference-sets")
    assert sets.rates_bps == pytest.approx([8000 / HOP / 7])
    assert max(map(len, sets.shares.cliques)) == 7
    charged = {level: 8000 * sets_of(changes, level) for level in ("hard", "carrier-sense")}
    assert charged == pytest.approx({"hard": 8000 / (192e-6 + 8e-6 * 1064) / 7, "carrier-sense": 8000 / EXCHANGE / 7})


def sets_of(changes, level):
    (rate,) = multihop.optimum(PLAIN, set=changes, constraints="interference-sets", level=level).rates_bps
    return rate / 8000


def test_receivers_count_in_interference_sets():
    def near(gap):
        places = [0, 100, 100 + gap, 200 + gap]
        nodes = [{"name": f"m{i}", "position": [f"{x} m", "0 m"]} for i, x in enumerate(places)]
        flows = [{"from": "m0", "to": "m1", "scheme": "udp"}, {"from": "m3", "to": "m2", "scheme": "udp"}]
        capture = {"model": "ranges", "capture": "10 dB"}
        changes = {"topology": {"nodes": nodes}, "flows": flows, "medium": capture}
        return [
            multihop.optimum(PLAIN, set=changes, constraints=kind).total_bps * HOP / 8000
            for kind in ("cliques", "interference-sets")
        ]

    # Receivers 500 m apart: their frames harm no reception, and senders do not sense each other, yet receivers do.
    assert near(500) == pytest.approx([2.0, 1.0])
    assert near(600) == pytest.approx([2.0, 2.0])


def test_acknowledgements_of_the_transport_are_charged_or_not():
    with_acks, without = (multihop.optimum(CHAIN, feedback=charged).total_bps for charged in (True, False))
    assert 0.7 * without < with_acks < 0.95 * without


@pytest.mark.parametrize("name", UNICAST_NAMES)
@pytest.mark.parametrize("constraints", ["cliques", "interference-sets"])
def test_the_optimum_of_our_scenarios_keeps_its_constraints(name, constraints):
    found = multihop.optimum(SCENARIOS / name, constraints=constraints)
    assert found.allocation.residual < 1e-9
    reached = np.array([bool(demand["forward"]) for demand in found.capacity["demands"]])
    assert ((found.rates_bps > 0) == reached).all()
    assert (found.rates_bps <= found.shares.alone_bps * (1 + 1e-9)).all()
    assert found.total_bps <= found.shares.total_bps * (1 + 1e-9)
    if constraints == "cliques":
        assert found.total_bps <= multihop.bound(SCENARIOS / name).totals["total_bps"].max() * (1 + 1e-9)


MESH = """
duration = "10 s"
[topology]
generator = "random-geometric"
nodes = {nodes}
side = "{side} m"
seed = {seed}
[traffic]
pattern = "random-pairs"
flows = {flows}
pairs_seed = {seed}
scheme = "tcp-newreno"
"""


@pytest.mark.parametrize("utility", ["log", "alpha=2", "alpha=0.5"])
@pytest.mark.parametrize("constraints", ["cliques", "interference-sets"])
@pytest.mark.parametrize(("nodes", "side", "flows", "seed"), [(100, 1500, 50, 1), (100, 1500, 50, 2), (30, 800, 10, 3)])
def test_random_meshes_are_solved(nodes, side, flows, seed, constraints, utility):
    text = MESH.format(nodes=nodes, side=side, flows=flows, seed=seed)
    found = multihop.optimum(text, utility=utility, constraints=constraints)
    assert len(found.flows) == flows
    assert found.allocation.residual < 1e-9
    mbps = found.rates_bps / 1e6
    is_optimal(found.shares.airtime * 1e6, np.full(flows, NONE), found.question.utility, np.ones(flows), mbps)


MOVING = """
duration = "30 s"
[topology]
nodes = [
    { name = "a", position = ["0 m", "0 m"] },
    { name = "b", position = ["100 m", "0 m"] },
    { name = "c", position = ["90 km", "0 m"] },
]
[mobility]
file = "motion.txt"
model = "bonnmotion"
nodes = ["c"]
[routing]
protocol = "dsdv"
[[flows]]
name = "near"
from = "a"
to = "b"
scheme = "udp"
[[flows]]
name = "far"
from = "a"
to = "c"
scheme = "udp"
"""


def test_flows_without_a_path_are_left_out_and_it_is_said_so(inline, tmp_path):
    (tmp_path / "motion.txt").write_text("0 90000 0 5000 100 0\n")
    (tmp_path / "s.toml").write_text(MOVING)
    found = multihop.optimum(tmp_path / "s.toml")
    assert found.rates_bps.tolist() == pytest.approx([found.shares.alone_bps[0], 0])
    assert found.without_path == ["far"]
    assert found.of_start
    shown = inline("optimum", "s.toml")
    assert "left out, since no path exists: far" in shown.out
    assert "nodes move" in shown.out


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"warmup": "500 ms", "flows[1].start": "600 ms"}, "flow short"),
        ({"flows[0].stop": "4 s"}, "flow long"),
        ({"flows[0].app": {"kind": "bulk", "size": "10 kB"}}, "flow long"),
        ({"flows[1].app": {"kind": "cbr", "rate": "10 kb/s", "packet": "500 B"}}, None),
        ({"outages": [{"node": "n1", "from": "1 s", "to": "2 s"}]}, "switched off"),
    ],
)
def test_runs_are_held_against_one_network_and_one_set_of_flows(changes, reason):
    found = multihop.optimum(CHAIN, set=changes).not_comparable
    assert found is None if reason is None else reason in found


def test_the_distance_is_relative_to_the_length_of_the_optimum():
    best = np.array([3.0, 4.0, 0.0])
    assert distance(best, best) == 0
    assert distance(np.zeros(3), best) == 1
    assert distance(np.array([[3.0, 0.0, 9.0], [0.0, 4.0, 9.0]]), best) == pytest.approx([0.8, 0.6])
    assert np.isnan(distance(np.zeros(3), np.zeros(3)))


def test_the_gap_is_what_is_missing_of_the_geometric_mean():
    best = np.array([1.0, 4.0, 0.0])
    assert gap(best, best) == 0
    assert gap(best / 2, best) == pytest.approx(0.5)
    assert gap(np.array([[1.0, 1.0, 0.0]]), best) == pytest.approx([1 - 0.5])
    assert gap(np.array([2.0, 0.0, 0.0]), best) == pytest.approx(1 - math.sqrt(2 * FLOOR)), "one starved flow is finite"
    assert gap(np.zeros(3), best) == pytest.approx(1 - FLOOR)
    assert np.isnan(gap(np.zeros(3), np.zeros(3)))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_allowed_rates_have_a_gap_below_that_of_the_proportionally_fair_ones(seed):
    rng = np.random.default_rng(seed)
    usage = rng.random((4, 5)) + 0.01
    best = rates(usage)
    others = rng.random((50, 5))
    others /= (others @ usage.T).max(axis=1, keepdims=True)
    assert (gap(others, best) > -1e-9).all()
    assert ((others / best).mean(axis=1) <= 1 + 1e-9).all()


def test_the_command_prints_and_refuses(inline, chain):
    shown = inline("optimum", chain)
    assert shown.code == 0, shown.err
    assert "log optimum" in shown.out
    assert "with transport ACKs" in shown.out
    record = inline("optimum", chain, "--utility", "max-min", "--scheme", "udp", "--json").json()
    assert record["utility"] == "max-min"
    assert {row["price"] for row in record["flows"]} == {None}
    assert record["flows"][0]["optimum_bps"] == pytest.approx(record["flows"][1]["optimum_bps"])
    weighed = inline("optimum", chain, "--weight", "long=3", "--weight", "short=1", "--json").json()
    assert weighed["flows"][0]["optimum_bps"] == pytest.approx(weighed["flows"][1]["optimum_bps"], rel=1e-6)
    sets = inline("optimum", chain, "--constraints", "interference-sets", "--without-acks", "--level", "hard", "--json")
    assert sets.json()["with_feedback"] is False
    refusals = {
        ("--utility", "linear"): "log, max-min, or alpha=A",
        ("--utility", "alpha=0"): "alpha=0",
        ("--utility", "alpha=two"): "alpha=two",
        ("--level", "soft"): "hard or carrier-sense or idle-channel",
        ("--constraints", "triangles"): "interference-sets",
        ("--weight", "long"): "FLOW=W",
        ("--weight", "long=heavy"): "FLOW=W",
        ("--weight", "long=-1"): "above 0",
        ("--weight", "other=1"): "known: long, short",
        ("--set", "topology.hops=0"): "topology.hops",
    }
    for arguments, says in refusals.items():
        assert says in inline("optimum", chain, *arguments).fails_cleanly()


def test_the_documentation_shows_what_the_command_prints(inline, monkeypatch):
    page = (ROOT / "docs" / "explanation" / "optimum.md").read_text()
    examples = re.findall(r"```console\n\$ multihop (.*?)\n(.*?)```", page, re.DOTALL)
    assert examples
    monkeypatch.chdir(ROOT)
    for command, shown in examples:
        printed = inline(*command.split()).out
        assert [line.rstrip() for line in printed.splitlines()] == shown.splitlines()


def test_a_question_that_makes_no_sense_is_refused():
    for wrong in ({"constraints": "none"}, {"level": "x"}, {"feedback": "yes"}):
        with pytest.raises(UserError, match="found"):
            Question(**wrong)
    for utility in (True, None, [], math.inf, -1):
        with pytest.raises(UserError, match="utility"):
            Utility.of(utility)
    assert Utility.of(MAX_MIN) is MAX_MIN
    assert [Utility.of(name).name for name in ("log", "max-min", "alpha=2", 1)] == ["log", "max-min", "alpha=2", "log"]
