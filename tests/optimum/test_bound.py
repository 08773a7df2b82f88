"""The capacity bound: closed forms, cliques by hand, and no run above it."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validation.checks import REFERENCE
from validation.scenarios import cell, ns2_chain

import multihop
from conftest import CHAIN, SCENARIOS, UNICAST_NAMES, UNICAST_SCENARIOS
from multihop.optima.capacity import LEVELS, Shares, maximal_cliques

#: 1 Mb/s for everything, with RTS/CTS: 352 + 304 + DATA + 304 us and three SIFS of 10 us.
PLAIN = """
duration = "20 s"
[phy]
standard = "dsss"
data_rate = "1 Mb/s"
control_rate = "1 Mb/s"
[mac]
rts_threshold = "0 B"
[topology]
generator = "chain"
hops = 1
spacing = "180 m"
[[flows]]
from = "n0"
to = "n1"
scheme = "udp"
[schemes.udp]
segment_size = "1000 B"
"""

#: Payload, UDP and IP, LLC, MAC header and FCS; preamble and PLCP header.
DATA = 192e-6 + 8e-6 * (1000 + 28 + 8 + 28)
EXCHANGE = 352e-6 + 304e-6 + DATA + 304e-6 + 3 * 10e-6
#: DIFS, 15.5 slots, and a propagation of 1 us for each of four frames.
ACCESS = 50e-6 + 15.5 * 20e-6 + 4e-6


def chain(hops, **changes):
    return {"topology.hops": hops, "flows[0].to": f"n{hops}", **changes}


def levels(bound):
    return dict(zip(bound.totals["level"], bound.totals["total_bps"], strict=True))


def test_one_hop_is_one_exchange_per_packet():
    bound = levels(multihop.bound(PLAIN))
    assert bound["hard"] == pytest.approx(8000 / EXCHANGE) == pytest.approx(825.3e3, rel=1e-4)
    assert bound["carrier-sense"] == bound["hard"]
    assert bound["idle-channel"] == pytest.approx(8000 / (EXCHANGE + ACCESS)) == pytest.approx(795.4e3, rel=1e-4)


def test_three_hops_that_hear_each_other_share_the_time():
    bound = levels(multihop.bound(PLAIN, set=chain(3)))
    # The first and the third hop destroy each other's DATA, but not every other frame.
    assert bound["hard"] == pytest.approx(8000 / DATA / 3)
    assert bound["carrier-sense"] == pytest.approx(8000 / EXCHANGE / 3) == pytest.approx(275.1e3, rel=1e-4)
    assert bound["idle-channel"] == pytest.approx(8000 / (EXCHANGE + ACCESS) / 3) == pytest.approx(265.13e3, rel=1e-4)


def test_three_hops_whose_frames_all_destroy_each_other_share_whole_exchanges():
    # Without capture any signal within 550 m is fatal, and four nodes 180 m apart are all within 540 m.
    bound = levels(multihop.bound(PLAIN, set=chain(3, medium={"model": "ranges", "capture": "off"})))
    assert bound["hard"] == pytest.approx(8000 / EXCHANGE / 3)


@pytest.mark.parametrize(("capture", "sharing"), [("10 dB", 3), ("off", 4)])
def test_long_chains_use_space_again(capture, sharing):
    # At 200 m, a sender three hops on is 400 m from a receiver: 12 dB weaker, so that capture saves the frame that came
    # first; without capture it does not, and four hops in a row share the time. Five hops on nothing is heard.
    changes = {"topology.spacing": "200 m", "medium": {"model": "ranges", "capture": capture}}
    bound = multihop.bound(PLAIN, set=chain(12, **changes))
    assert levels(bound)["carrier-sense"] == pytest.approx(8000 / EXCHANGE / sharing)
    assert levels(bound)["hard"] == pytest.approx(8000 / DATA / sharing)
    sensing = bound.flows[bound.flows["level"] == "carrier-sense"]
    assert [len(links) for links in sensing["bottleneck"]] == [sharing]
    cliques = bound.shares("carrier-sense").cliques
    assert {len(clique) for clique in cliques} == {sharing}
    assert len(cliques) == 12 - sharing + 1


def test_flows_out_of_range_add_up_and_flows_in_range_do_not():
    nodes = [
        {"name": name, "position": [f"{x} m", "0 m"]} for name, x in [("a", 0), ("b", 100), ("c", 200), ("d", 300)]
    ]
    far = [
        nodes[0],
        nodes[1],
        *({**node, "position": [f"{x} m", "0 m"]} for node, x in zip(nodes[2:], (5000, 5100), strict=True)),
    ]
    flows = [{"from": "a", "to": "b", "scheme": "udp"}, {"from": "c", "to": "d", "scheme": "udp"}]
    one = levels(multihop.bound(PLAIN))
    apart = multihop.bound(PLAIN, set={"topology": {"nodes": far}, "flows": flows})
    assert levels(apart) == pytest.approx({level: 2 * total for level, total in one.items()})
    near = multihop.bound(PLAIN, set={"topology": {"nodes": nodes}, "flows": flows})
    assert levels(near)["carrier-sense"] == pytest.approx(one["carrier-sense"])
    assert near.flows["alone_bps"].tolist() == pytest.approx(apart.flows["alone_bps"].tolist())


def test_senders_that_only_sense_each_other_exclude_each_other_by_carrier_sense_alone():
    bound = levels(multihop.bound(SCENARIOS / "exposed.toml"))
    assert bound["hard"] == pytest.approx(2 * bound["carrier-sense"])


def test_who_hears_the_other_in_a_link_matrix_excludes_it():
    links = [("a", "b"), ("c", "d")]
    both_ways = [{"from": a, "to": b, "delivery": 1.0, "reverse": 1.0} for a, b in links]
    matrix = {
        "medium": {"model": "matrix", "quantity": "delivery"},
        "topology": {"nodes": [{"name": name} for name in "abcd"], "links": both_ways},
        "flows": [{"from": a, "to": b, "scheme": "udp"} for a, b in links],
    }
    apart = levels(multihop.bound(PLAIN, set=matrix))
    heard = [*both_ways, {"from": "c", "to": "b", "delivery": 0.01}]
    matrix["topology"]["links"] = heard
    shared = levels(multihop.bound(PLAIN, set=matrix))
    assert shared["hard"] == pytest.approx(8000 / DATA), "DATA from c destroys what b receives"
    assert shared["carrier-sense"] == pytest.approx(apart["carrier-sense"] / 2)


def test_with_sinr_distance_decides():
    def total(gap):
        places = [0, 50, 50 + gap, 100 + gap]  # the second sender is beside the first receiver
        nodes = [{"name": f"m{i}", "position": [f"{x} m", "0 m"]} for i, x in enumerate(places)]
        flows = [{"from": "m0", "to": "m1", "scheme": "udp"}, {"from": "m2", "to": "m3", "scheme": "udp"}]
        medium = {"model": "sinr", "path_loss": {"model": "log-distance", "exponent": 3.0}}
        return levels(multihop.bound(PLAIN, set={"topology": {"nodes": nodes}, "flows": flows, "medium": medium}))

    assert total(10_000)["carrier-sense"] == pytest.approx(2 * 8000 / EXCHANGE)
    assert total(10)["hard"] == pytest.approx(8000 / DATA)
    assert total(10)["carrier-sense"] == pytest.approx(8000 / EXCHANGE)


def test_a_flow_gets_no_more_than_it_offers():
    app = {"kind": "cbr", "rate": "100 kb/s", "packet": "1000 B"}
    bound = multihop.bound(PLAIN, set={"flows[0].app": app})
    assert bound.totals["total_bps"].tolist() == pytest.approx([100e3] * 3)


def test_large_datagrams_are_several_packets():
    app = {"kind": "cbr", "rate": "1 Mb/s", "packet": "1500 B"}
    bound = levels(multihop.bound(PLAIN, set={"flows[0].app": app}))
    half = EXCHANGE - 8e-6 * 500
    assert bound["hard"] == pytest.approx(12000 / (EXCHANGE + half))


@pytest.mark.parametrize(("delay", "segments"), [("0 s", 1), ("100 ms", 2)])
def test_acknowledgements_of_the_transport_are_charged_apart(delay, segments):
    changes = {
        "flows[0].scheme": "tcp-newreno",
        "schemes.tcp-newreno": {"flavour": "rfc", "segment_size": "1000 B", "delayed_ack": delay},
    }
    bound = multihop.bound(PLAIN, set=changes)
    exchange = EXCHANGE + 8e-6 * (40 - 28)
    back = EXCHANGE - 8e-6 * (1000 + 28 - 40)
    row = bound.totals.iloc[0]
    assert row["total_bps"] == pytest.approx(8000 / exchange)
    assert row["total_with_feedback_bps"] == pytest.approx(8000 / (exchange + back / segments), rel=2e-3)


def test_one_saturated_hop_gets_what_the_idle_channel_gives():
    bound = levels(multihop.bound(PLAIN))
    for seed in range(3):
        goodput = multihop.run(PLAIN, seed=seed, duration="100 s").summary["goodput_total_bps"]
        assert goodput == pytest.approx(bound["idle-channel"], rel=3e-3)


def is_within(scenario, **arguments):
    """No run delivers more than the hard bound, in sum and of each flow. Without warm-up this is exact."""
    bound = multihop.bound(scenario, set=arguments.get("set"), scheme=arguments.get("scheme"))
    result = multihop.run(scenario, warmup="0 s", **arguments)
    seconds = result.summary["measured_s"]
    offered = np.array([demand["payload_bytes"] * 8 for demand in bound.capacity["demands"]]) / seconds
    hard = bound.flows[bound.flows["level"] == "hard"]
    # At a given load, one packet more may fall into the time than its rate would say. Of random sizes and arrivals that
    # is the mean.
    means = [flow["app"] in ("video", "poisson") for flow in bound.view["flows"]]
    offered += 0.01 * np.where(means, result.flows["goodput_bps"], 0.0)
    assert (result.flows["goodput_bps"].to_numpy() <= hard["alone_bps"].to_numpy() + offered).all()
    assert result.summary["goodput_total_bps"] <= levels(bound)["hard"] + offered.sum()
    assert result.summary["goodput_total_bps"] > 0.01 * levels(bound)["hard"], "the comparison says something"


@pytest.mark.parametrize("name", UNICAST_NAMES)
@pytest.mark.parametrize("scheme", [pytest.param("udp", marks=pytest.mark.long), None])
def test_no_run_of_our_scenarios_is_above_the_hard_bound(name, scheme):
    # Long enough for routes to be found, and for TCP to try again after it lost its first packets for want of one.
    is_within(SCENARIOS / name, scheme=scheme, duration="200 s")


@pytest.mark.parametrize("rules", ["ieee", "ns2"])
@pytest.mark.parametrize("rts", ["0 B", "off"])
@pytest.mark.parametrize("hops", [1, 2, 3, 6])
@pytest.mark.parametrize("spacing", ["120 m", "200 m"])
@pytest.mark.parametrize("capture", ["off", "3 dB"])
def test_no_chain_is_above_the_hard_bound(rules, rts, hops, spacing, capture):
    medium = {"model": "ranges", "capture": capture}
    mac = {"rules": rules, "rts_threshold": rts, "override": {"eifs": "never"}}
    is_within(PLAIN, set=chain(hops, **{"topology.spacing": spacing, "medium": medium, "mac": mac}))


@pytest.mark.parametrize("columns", [2, 4])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_crowd_of_single_hops_is_above_the_hard_bound(columns, seed):
    # Many short links that mostly sense each other: simultaneous starts succeed oftener than carrier sense allows.
    nodes, flows = [], []
    for i in range(columns * 2):
        x, y = 150 * (i % columns), 150 * (i // columns)
        nodes += [
            {"name": f"s{i}", "position": [f"{x} m", f"{y} m"]},
            {"name": f"r{i}", "position": [f"{x} m", f"{y + 9} m"]},
        ]
        flows.append({"from": f"s{i}", "to": f"r{i}", "scheme": "udp"})
    mac = {"rts_threshold": "off", "override": {"eifs": "never"}}
    changes = {"topology": {"nodes": nodes}, "flows": flows, "mac": mac, "phy.cw_min": 1, "phy.cw_max": 3}
    is_within(PLAIN, set=changes, seed=seed)
    bound = levels(multihop.bound(PLAIN, set=changes))
    assert multihop.run(PLAIN, set=changes).summary["goodput_total_bps"] > bound["carrier-sense"], "hence two bounds"


def test_more_is_charged_at_each_level():
    for path in UNICAST_SCENARIOS:
        bound = multihop.bound(path)
        totals = bound.totals["total_bps"].tolist()
        assert [level.name for level in LEVELS] == bound.totals["level"].tolist()
        assert totals == sorted(totals, reverse=True)
        assert (bound.totals["total_with_feedback_bps"] <= bound.totals["total_bps"] * (1 + 1e-9)).all()
        assert all(
            total <= alone * (1 + 1e-9)
            for total, alone in zip(totals, bound.flows.groupby("level", sort=False)["alone_bps"].sum(), strict=True)
        )


@settings(max_examples=50, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda e: e[0] < e[1])))
def test_cliques_are_maximal_and_cover_every_conflict(edges):
    cliques, complete = maximal_cliques(8, edges)
    assert complete
    for clique in cliques:
        assert all(pair in edges for pair in combinations(clique, 2))
        others = set(range(8)) - set(clique)
        assert not any(all(tuple(sorted((v, w))) in edges for w in clique) for v in others)
    assert set().union(*cliques) == set(range(8))
    assert all(any(set(edge) <= set(clique) for clique in cliques) for edge in edges)


def test_too_many_cliques_leave_a_bound():
    # Of 3 n vertices in n groups without edges inside them, there are 3^n maximal cliques (Moon and Moser 1965).
    edges = [(a, b) for a, b in combinations(range(30), 2) if a // 3 != b // 3]
    cliques, complete = maximal_cliques(30, edges, limit=1000)
    assert not complete
    assert len(cliques) <= 1030
    assert set().union(*cliques) == set(range(30))


def test_the_command_prints_and_refuses(inline, chain):
    shown = inline("bound", chain, "--set", "topology.hops=3")
    assert shown.code == 0, shown.err
    assert "carrier-sense" in shown.out
    assert "with ACKs" in shown.out
    record = inline("bound", chain, "--scheme", "udp", "--json").json()
    assert [row["level"] for row in record["totals"]] == [level.name for level in LEVELS]
    assert record["complete"] is True
    assert {row["name"] for row in record["flows"]} == {"long", "short"}
    assert "--set topology.hops" in inline("bound", chain, "--set", "topology.hops=0").fails_cleanly()
    assert chain.read_text() == CHAIN


@pytest.mark.parametrize("peer", REFERENCE["ns2_chain"])
def test_ns2_is_not_above_the_hard_bound(peer):
    flow = {"newreno": "tcp-newreno", "sack": "tcp-sack"}.get(peer["flow"], peer["flow"])
    bound = levels(multihop.bound(ns2_chain(flow, peer["hops"], 100)))
    assert 0.3 * bound["hard"] < peer["goodput_kbps"] * 1e3 <= bound["hard"]


@pytest.mark.parametrize("peer", REFERENCE["ns2_saturation"])
def test_a_saturated_cell_of_ns2_is_not_above_the_hard_bound(peer):
    bound = levels(multihop.bound(cell("ns2", peer["stations"], peer["rts"], 100)))
    assert 0.4 * bound["hard"] < peer["goodput_mbps"] * 1e6 <= bound["hard"]


@pytest.mark.parametrize("bps", [1e-3, 1.0, 1e6, 1e9, 1e12])
def test_the_total_is_the_same_in_any_unit(bps):
    # The solver's tolerances are absolute: with rates of Gb/s it gave up, or was some per cent off.
    generator = np.random.default_rng(5)
    for _ in range(20):
        rows, flows = generator.integers(1, 40, size=2)
        airtime = (generator.random((rows, flows)) < 0.4) * generator.uniform(0.2, 5.0, (rows, flows))
        airtime[0, airtime.max(axis=0) == 0] = 1.0
        cliques = tuple((row,) for row in range(rows))
        total = Shares(airtime, np.full(flows, np.inf), cliques).total_bps
        scaled = Shares(airtime / bps, np.full(flows, np.inf), cliques).total_bps
        assert scaled == pytest.approx(total * bps, rel=1e-9)


@pytest.mark.parametrize(
    ("phy", "least", "most"),
    [
        (
            {"standard": "802.11ax", "data_rate": "MCS 6", "channel_width": "160 MHz", "guard_interval": "1600 ns"},
            1e8,
            1e9,
        ),
        ({"standard": "802.11ax", "data_rate": "MCS 11 NSS 8", "channel_width": "160 MHz"}, 1e9, 1e10),
        ({"standard": "802.11b", "data_rate": "1 Mb/s"}, 1e5, 1e6),
    ],
)
def test_fast_and_slow_standards_have_bounds(phy, least, most):
    hops = {"generator": "chain", "hops": 4, "spacing": "5 m"}
    traffic = {"pattern": "all-to-one", "scheme": "udp", "gateway": "n2"}
    bound = levels(multihop.bound({"duration": "1 s", "phy": phy, "topology": hops, "traffic": traffic}))
    assert least < bound["idle-channel"] <= bound["carrier-sense"] <= bound["hard"] < most
