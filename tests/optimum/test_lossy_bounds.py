"""Bounds and optima where the channel loses frames: closed forms by hand, and lone stations that deliver just that."""

import math
import tomllib

import numpy as np
import pytest

import multihop
from conftest import SCENARIOS, UNICAST_NAMES
from multihop.optima.capacity import crossings, not_counted
from test_bound import DATA, EXCHANGE, PLAIN, chain, levels

#: As in `test_bound`, with a medium to change.
LOSSY = f'{PLAIN}\n[medium]\nmodel = "ranges"\n'

WITHOUT_RTS = {"mac.rts_threshold": "off"}

#: Of frames without RTS; SIFS and the ACK after DATA; DIFS, a slot, and a microsecond of propagation for each frame.
ANSWER = 10e-6 + 304e-6
DIFS, SLOT = 50e-6, 20e-6

#: SIFS, slot and PHY-RX-START delay: 192 us of preamble. DIFS runs meanwhile.
TIMEOUT = 10e-6 + 20e-6 + 192e-6


def matrix(there, back, **changes):
    links = [{"from": "n0", "to": "n1", "delivery": there, "reverse": back}]
    nodes = {"nodes": [{"name": "n0"}, {"name": "n1"}], "links": links}
    medium = {"model": "matrix", "quantity": "delivery", "probe_size": "1000 B"}
    return {"medium": medium, "topology": nodes, **changes}


def sinr(spacing, rate):
    phy = {"standard": "802.11b", "data_rate": rate}
    medium = {"model": "sinr", "path_loss": {"model": "log-distance", "exponent": 3.3}}
    return {"phy": phy, "medium": medium, "topology.spacing": f"{spacing} m", **WITHOUT_RTS}


def test_each_lost_packet_is_one_more_try():
    p = 0.4
    bound = levels(multihop.bound(LOSSY, set={"medium.packet_error_rate": p, **WITHOUT_RTS}))
    arrives = 1 - p
    assert bound["hard"] == pytest.approx(8000 / (DATA / arrives + ANSWER))
    # Of seven tries each packet takes (1 - p^7) / (1 - p), and as many packets arrive as in one try of seven fails not.
    assert bound["carrier-sense"] == pytest.approx(8000 / (DATA / arrives + ANSWER))
    tries = (1 - p**7) / arrives
    # Windows of 31, 63, ... 1023; after each failure the time-out, in place of DIFS as far as that goes.
    backoff = sum(p**n * SLOT * min(32 * 2**n - 1, 1023) / 2 for n in range(7))
    waits = tries * (DIFS + 1e-6 + arrives * 1e-6 + p * max(0.0, TIMEOUT - DIFS)) + backoff
    sent = tries * (DATA + arrives * ANSWER)
    assert bound["idle-channel"] == pytest.approx(8000 * (1 - p**7) / (sent + waits), rel=1e-4)


def test_a_broken_handshake_costs_an_rts_and_a_lost_frame_a_handshake():
    p = 0.3
    bound = levels(multihop.bound(LOSSY, set={"medium.packet_error_rate": p}))
    # Only DATA is lost: RTS, CTS, DATA and three SIFS for each try, and one ACK.
    tried = EXCHANGE - 304e-6 - 10e-6
    assert bound["hard"] == pytest.approx(8000 / (tried / (1 - p) + ANSWER))
    bits = 1e-4
    arrive = {name: (1 - bits) ** (8 * size) for name, size in {"rts": 20, "cts": 14, "data": 1064}.items()}
    bound = levels(multihop.bound(LOSSY, set={"medium.bit_error_rate": bits}))
    rts = 352e-6 / (arrive["rts"] * arrive["cts"]) + (10e-6 + 304e-6) / arrive["cts"]
    assert bound["hard"] == pytest.approx(8000 / ((rts + DATA + 10e-6) / arrive["data"] + ANSWER))


def test_a_lost_acknowledgement_is_no_loss_for_a_bound_on_any_mac_but_for_dcf():
    back = 0.05  # of probes of 1000 B; an ACK is 14 B long
    bound = levels(multihop.bound(PLAIN, set=matrix(1.0, back, **WITHOUT_RTS)))
    ack = back ** (14 / 1000)
    assert bound["hard"] == pytest.approx(8000 / (DATA + ANSWER))
    assert bound["carrier-sense"] == pytest.approx(8000 * ack / (DATA + ANSWER), rel=1e-6)


def test_what_is_given_up_on_a_later_hop_was_carried_by_the_earlier_ones():
    p, tries = 0.5, 2
    given_up = p**tries
    changes = {"medium.packet_error_rate": p, "mac.short_retry_limit": tries, **WITHOUT_RTS}
    one, two = (multihop.bound(LOSSY, set=chain(hops, **changes)).capacity["demands"][0]["forward"] for hops in (1, 2))
    assert one[0]["transmissions"] == pytest.approx(1 / (1 - p))
    assert [time["transmissions"] for time in two] == pytest.approx([2 / (1 - given_up), 2])
    assert [time["lost"] for time in two] == pytest.approx([given_up] * 2)
    assert two[0]["airtime_s"] == pytest.approx(one[0]["airtime_s"] / (1 - given_up))
    assert two[0]["data_s"] == pytest.approx(DATA / (1 - p)), "the hard bound lets a MAC try for ever"


def test_a_wire_carries_what_it_loses():
    lossy, clear = (
        multihop.bound(SCENARIOS / "lossy-wire.toml", scheme="udp", set={"topology.loss": loss}) for loss in (0.1, 0.0)
    )
    for level in ("hard", "idle-channel"):
        assert levels(lossy)[level] == pytest.approx(0.9 * levels(clear)[level])
    assert crossings(lossy.capacity, lossy.view)["lost"].max() == pytest.approx(0.1)


@pytest.mark.parametrize(
    "changes",
    [
        {"medium.packet_error_rate": 0.3},
        {"medium.packet_error_rate": 0.6, "mac.long_retry_limit": 2},
        {"medium.packet_error_rate": 0.6, "mac.short_retry_limit": 3, **WITHOUT_RTS},
        {"medium.packet_error_rate": 0.4, "mac.rules": "ns2"},
        {"medium.bit_error_rate": 5e-5},
        {"medium.bit_error_rate": 4e-4, "schemes.udp.segment_size": "50 B"},
        {"medium.bit_error_rate": 4e-4, "schemes.udp.segment_size": "50 B", "mac.rules": "ns2", **WITHOUT_RTS},
        {"medium.errors": [{"between": ["n0", "n1"], "packet_error_rate": 0.5}]},
        matrix(0.5, 0.9),
        matrix(0.9, 0.05, **WITHOUT_RTS),
        sinr(104, "11 Mb/s"),
    ],
    ids=str,
)
def test_a_lone_station_delivers_what_the_idle_channel_gives(changes):
    scenario = PLAIN if "medium" in changes else LOSSY
    bound = multihop.bound(scenario, set=changes)
    assert crossings(bound.capacity, bound.view)["delivery"].item() < 0.9, "something is lost"
    runs = multihop.compare(scenario, ["udp"], seeds=3, set=changes, duration="100 s")
    assert runs.rates("udp").mean() == pytest.approx(levels(bound)["idle-channel"], rel=0.015)
    assert runs.rates("udp").max() < levels(bound)["hard"]


def test_more_losses_never_raise_a_bound():
    def at(p):
        bound = multihop.bound(LOSSY, set=chain(3, **{"medium.packet_error_rate": p}))
        return bound.totals["total_bps"].to_numpy()

    bounds = np.array([at(p) for p in (0.0, 0.1, 0.2, 0.4, 0.8)])
    assert (np.diff(bounds, axis=0) < 0).all()


def test_a_link_that_carries_next_to_nothing_leaves_its_flow_out():
    changes = matrix(0.02, 1.0, **{"schemes.udp.segment_size": "9000 B", "mac.rules": "ns2", **WITHOUT_RTS})
    found = multihop.optimum(PLAIN, set=changes)
    assert found.without_path == ["n0->n1"]
    assert found.total_bps == 0.0
    assert levels(multihop.bound(PLAIN, set=changes))["hard"] == 0.0


def test_it_is_said_what_is_counted_and_what_is_not(inline, chain):
    assert "DATA frames" not in inline("bound", chain).out
    for command in ("bound", "optimum"):
        # Three quarters arrive: 4/3 tries, and of seven tries all fail once in 16384.
        shown = inline(command, chain, "--set", 'medium={model="ranges", packet_error_rate=0.25}')
        assert "DATA frames for each packet that arrives: n0>n1 1.33 (75 % of tries succeed)" in shown.out
        assert "lost for good" not in shown.out
        shown = inline(command, chain, "--set", 'medium={model="ranges", packet_error_rate=0.5}')
        assert "packets lost for good by the channel alone: n0>n1 " in shown.out
        hidden = inline(command, SCENARIOS / "hidden-terminal.toml").out
        assert "collisions are not counted: 1 of 1 pairs of senders do not sense each other" in hidden
        record = inline(command, chain, "--set", 'medium={model="ranges", packet_error_rate=0.25}', "--json").json()
        assert record["links"][0]["delivery"] == pytest.approx(0.75)
        assert len(record["notes"]) == 1
    exposed = multihop.bound(SCENARIOS / "exposed.toml")
    assert not_counted(exposed.capacity, exposed.view) == [], "senders that sense each other are not hidden"


@pytest.mark.parametrize("name", UNICAST_NAMES)
def test_every_shipped_scenario_is_within_its_bound_and_not_far_below_without_a_reason(name):
    path = SCENARIOS / name
    view = multihop.check(path)
    short = {"duration": f"{view['warmup'] + 15} s"}
    best, measured = 0.0, 0.0
    reasons = []
    for scheme in ("udp", "tcp-cubic", "recn"):
        bound = multihop.bound(path, scheme=scheme)
        rates = multihop.compare(path, [scheme], seeds=2, vary="all", **short).rates(scheme)
        # What waits in queues when measuring begins arrives as well, and of random arrivals there may be a few more.
        wires = tomllib.loads(path.read_text("utf-8"))["topology"].get("wires", [])
        waiting_bps = sum(wire["queue"] for wire in wires) * 1500 * 8 / 15
        assert (rates.sum(axis=1) <= levels(bound)["hard"] * 1.03 + waiting_bps).all()
        optimum = multihop.optimum(path, scheme=scheme)
        reasons += [*not_counted(bound.capacity, bound.view), optimum.not_comparable or ""]
        measured = max(measured, rates.mean(axis=0).sum())
        best = max(best, optimum.total_bps)
    assert measured > best / 2.5 or any(reasons)
    assert math.isfinite(best)
