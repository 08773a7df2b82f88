"""XCP, RCP and what derives from them, over wires and over radio: what the page says, asserted of a few runs."""

import pytest
from validation import explicit_rates, radio, wires
from validation.ns2 import dumbbell
from validation.ns2.dumbbell import Setup

FACTS = dumbbell.recorded()


def ns2(*like):
    """What ns-2 said of XCP with these round trips, for each seed."""
    return [
        wires.of_ns2(setup, FACTS[setup])
        for setup in FACTS
        if (setup.protocol, setup.round_trips, setup.payload) == ("xcp", like, 1460)
    ]


@pytest.mark.parametrize("round_trips", [(40, 80), (30, 60, 120, 240)])
def test_xcp_does_over_a_wire_what_it_promises_and_what_ns2s_does(round_trips):
    ours = wires.like_ns2(Setup("xcp", round_trips))
    assert ours.settled_s <= 10
    assert ours.steady() == pytest.approx([1] * len(round_trips), abs=0.02)
    assert ours.utilisation > 0.95
    assert ours.dropped == ours.timeouts == 0
    theirs = ns2(*round_trips)
    seeds = [one for one in theirs if one.dropped == 0]
    assert len(seeds) >= 5
    settled = [one.settled_s for one in seeds]
    assert min(settled) - 1 <= ours.settled_s <= max(settled) + 1
    for one in seeds:
        assert ours.utilisation == pytest.approx(one.utilisation, abs=0.01)
        assert ours.waiting == pytest.approx(one.waiting, abs=1)


def test_ns2_leaves_as_much_unused_as_a_packet_that_waits_for_good():
    for setup, course in FACTS.items():
        if (setup.protocol, setup.round_trips, setup.seed) == ("xcp", (40, 80), 1):
            theirs, ours = (1 - one.utilisation for one in (wires.of_ns2(setup, course), wires.like_ns2(setup)))
            bound = explicit_rates.one_packet_unused(setup)
            assert 0.8 * bound < theirs < bound
            assert 0 <= ours < 0.7 * theirs


@pytest.mark.parametrize("scheme", ["xcp-b", "xcp-winf", "rcp"])
def test_other_explicit_rates_share_a_wire_without_loss(scheme):
    found = wires.of_multihop(
        wires.scenario(scheme, explicit_rates.TWO, **wires.SENDER), explicit_rates.CONTEXT[scheme]
    )
    assert found.settled_s <= 10
    assert found.utilisation > 0.95
    assert found.dropped == 0


@pytest.mark.parametrize("flows", [1, 4, 10])
def test_rcp_follows_its_law(flows):
    law = wires.rcp(flows)
    assert law.law_s - 0.2 < law.reached_s < law.law_s + 0.3
    assert law.settled_s <= law.law_s + 0.5
    assert law.dropped == 0
    # In equilibrium alpha (C - y) = beta q / d, with alpha = beta; the queue waits on top of the propagation.
    packet = (1460 + explicit_rates.CONTEXT["rcp"]) * 8 / dumbbell.RATE
    waits = law.waiting * packet
    assert 1 - law.utilisation == pytest.approx(waits / (wires.RCP_ROUND_TRIP + waits), abs=2e-3)


@pytest.mark.parametrize("protocol", ["newreno", "sack1"])
@pytest.mark.parametrize("round_trips", [(40,), (40, 80)])
def test_a_window_far_above_the_pipe_costs_few_timeouts(protocol, round_trips):
    setup = Setup(protocol, round_trips, queue=50, window=1000, seconds=60)
    theirs = wires.of_ns2(setup, FACTS[setup])
    for options in ({}, {"flavour": "ns2"}):
        ours = wires.like_ns2(setup, **options)
        assert ours.delivered == pytest.approx(theirs.delivered, abs=0.02)
        assert ours.timeouts <= theirs.timeouts + 4


@pytest.mark.skipif(not dumbbell.installed(), reason="ns-2 is not installed")
@pytest.mark.parametrize("setup", [dumbbell.SETUPS[0], dumbbell.SETUPS[-1]], ids=lambda setup: setup.protocol)
def test_what_was_written_down_is_what_ns2_says(setup):
    assert dumbbell.run(setup) == FACTS[setup]


@pytest.fixture(scope="module")
def chain():
    return {row.label: row for row in radio.schemes(radio.QUICK)}


def test_on_radio_capacities_that_are_too_high_fill_the_queues(chain):
    given, wrong = chain["rcp, set to 1 Mb/s"], chain["rcp, phy-rate"]
    assert wrong.lost["queue_full"].mean > 50
    assert given.goodput_mbps.mean > 1.2 * wrong.goodput_mbps.mean
    assert given.lost.get("queue_full") is None
    given, wrong = chain["xcp, set to 1 Mb/s"], chain["xcp, phy-rate"]
    assert given.goodput_mbps.mean > 1.2 * wrong.goodput_mbps.mean
    assert given.goodput_mbps.mean > 1.5 * chain["xcp, phy-rate, forgets SACK"].goodput_mbps.mean
    assert given.queue.mean < 10 < wrong.queue.mean
    assert chain["rcp, phy-rate, window 32"].goodput_mbps.mean > wrong.goodput_mbps.mean


def test_on_radio_a_measured_capacity_is_nearer_to_what_there_is(chain):
    for scheme in ("xcp", "rcp"):
        measured, given = chain[scheme], chain[f"{scheme}, phy-rate"]
        assert measured.goodput_mbps.mean > 1.1 * given.goodput_mbps.mean
        assert measured.repeated.mean < 0.5 * given.repeated.mean


def test_on_radio_xcp_b_and_tcp_ap_keep_queues_short(chain):
    assert chain["tcp-ap"].queue.mean < 1
    assert chain["xcp-b"].queue.mean < chain["tcp-newreno"].queue.mean
    assert chain["xcp-b"].goodput_mbps.mean > 0.9 * chain["tcp-newreno"].goodput_mbps.mean


def test_rt_winf_believes_in_more_than_there_is():
    truth = radio.truth(radio.Effort(seeds=1, seconds=30))
    # DIFS, mean back-off and an exchange with RTS/CTS: 4.52 Mb/s (Barreto 2015, Eq. 14).
    assert truth.hop_mbps == pytest.approx(4.52, abs=0.05)
    # One in four hops at a time.
    assert 0.2 * truth.hop_mbps < truth.chain_mbps < 0.27 * truth.hop_mbps
    rows = radio.beliefs(radio.QUICK)
    middle = {row.label: row for row in rows if row.node == radio.MIDDLE}
    for row in rows:
        assert row.capacity.mean == pytest.approx(7.45, abs=0.1)
        assert row.believed_busy.mean < row.true_busy.mean
        assert row.available.mean > truth.hop_mbps * (1 - row.true_busy.mean)
    for scheme in ("xcp-winf", "rcp-winf"):
        printed, full = middle[f"{scheme}, printed"], middle[f"{scheme}, printed, full busy"]
        assert printed.available.mean > 0.39 * printed.capacity.mean
        assert full.available.mean < printed.available.mean
        # Queues have room for 50.
        assert full.rest_packets > 50


def test_the_laws_at_rest():
    # 1.77 AB d, at most half a second of it; and 0.95 C - (C - AB) over a round trip.
    assert radio.rest_packets("xcp-winf", 8, 1.2, 0.1) == pytest.approx(0.4 / 0.226 * 10)
    assert radio.rest_packets("xcp-winf", 8, 1.2, 2) == pytest.approx(0.4 / 0.226 * 50)
    assert radio.rest_packets("rcp-winf", 8, 1.6, 0.1) == pytest.approx(10)


@pytest.mark.long
def test_the_page_is_complete(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["explicit_rates", "--quick", str(tmp_path / "page.md")])
    explicit_rates.main()
    text = (tmp_path / "page.md").read_text()
    assert "@" not in text
    assert "nan" not in text
