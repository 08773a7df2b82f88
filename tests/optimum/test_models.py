"""Closed forms: printed values, laws, and simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from validation import closed_forms

import multihop
from multihop import UserError, models
from multihop.models import dcf
from multihop.models import frame_efficiency as fte
from multihop.models.airtimes import airtimes
from multihop.models.contention_delay import contention_delay
from multihop.models.throughput_equation import throughput_equation
from multihop.models.wlan_capacity import wlan_capacity

#: 1 Mb/s, 1000 bytes and 28 bytes of MAC header and FCS, as in the paper.
TIMES = airtimes(1028)

ACCESS = st.sampled_from(["rts-cts", "basic"])


def test_times_are_those_of_the_paper():
    assert fte.success_time(TIMES) == pytest.approx(9406e-6)
    assert fte.success_time(airtimes(1068)) == pytest.approx(9726e-6)
    assert fte.success_time(TIMES, "basic") == pytest.approx(8730e-6)
    assert fte.collision_time(TIMES) == pytest.approx(666e-6)
    assert fte.collision_time(TIMES, "basic") == pytest.approx(8730e-6)
    assert (TIMES.cw_min, TIMES.stages) == (31, 5)


def test_times_are_those_of_the_validation():
    cell = airtimes(1500 + 64, {"standard": "802.11b", "data_rate": "11 Mb/s", "control_rate": "1 Mb/s"})
    named = (cell.slot, cell.sifs, cell.difs, cell.eifs, cell.rts, cell.cts, cell.ack)
    known = ("SLOT", "SIFS", "DIFS", "EIFS", "RTS", "CTS", "ACK")
    assert named == pytest.approx([getattr(closed_forms, name) for name in known])
    assert cell.data == pytest.approx(closed_forms.data_airtime(1500))


def test_without_contention_only_the_first_back_off_and_difs_are_lost():
    alone = 9406 / (9406 + 50 + 15.5 * 20)
    assert fte.frame_transmission_efficiency(0.0, 1) == pytest.approx(alone) == pytest.approx(0.963, abs=5e-4)
    assert fte.frame_transmission_efficiency(0.0, 9) == pytest.approx(alone), "silent neighbours cost nothing"
    assert fte.efficiency(0.4, 1, TIMES, slots="others") == pytest.approx(alone), "no station waits for itself"


def test_the_delay_is_the_mean_over_frames():
    """Frames drawn one by one, by Eqs. 8 and 18."""
    tau, n, m = 0.05, 8, 7
    p = 1 - (1 - tau) ** (n - 1)
    slot = float(fte.slot_time(tau, n, TIMES))
    rng = np.random.default_rng(1)
    collisions = np.minimum(rng.geometric(1 - p, 400_000) - 1, m)
    back_off = np.array([sum(31 * 2 ** min(j, 5) / 2 for j in range(k + 1)) for k in range(m + 1)])
    delays = TIMES.difs + 9406e-6 + collisions * 666e-6 + back_off[collisions] * slot
    assert fte.service_delay(tau, n, TIMES, collisions=m) == pytest.approx(delays.mean(), rel=5e-3)


def test_slots_are_idle_or_used_by_one_or_by_several():
    tau, n = 0.1, 4
    idle, one = 0.9**4, 4 * 0.1 * 0.9**3
    expected = idle * 20e-6 + one * 9406e-6 + (1 - idle - one) * 666e-6
    assert fte.slot_time(tau, n, TIMES) == pytest.approx(expected)
    assert fte.slot_time(tau, n + 1, TIMES, slots="others") == pytest.approx(expected)


# Up to tau = 1 / n a slot is used the oftener the more stations there are and the more each transmits; beyond that,
# collisions take the place of successes, they are shorter with RTS/CTS, and nothing is monotonic.
@given(tau=st.floats(1e-6, 0.5), more=st.floats(1.0, 1.5), n=st.integers(2, 60), access=ACCESS)
def test_more_transmissions_lower_the_efficiency(tau, more, n, access):
    for slots in ("all", "others"):
        if tau * more <= 1 / n:
            pair = fte.efficiency(np.array([tau, tau * more]), n, TIMES, access, slots=slots)
            assert 0 < pair[1] <= pair[0] * (1 + 1e-12) < 1


@given(tau=st.floats(1e-6, 0.5), n=st.integers(1, 60), access=ACCESS)
def test_more_stations_lower_the_efficiency(tau, n, access):
    if tau <= 1 / (n + 1):
        for slots in ("all", "others"):
            pair = fte.efficiency(tau, np.array([n, n + 1]), TIMES, access, slots=slots)
            assert 0 < pair[1] <= pair[0] * (1 + 1e-12) < 1


@given(tau=st.floats(0, 1), n=st.integers(1, 200), access=ACCESS, m=st.integers(1, 12))
def test_it_is_a_share_for_all_arguments(tau, n, access, m):
    for slots in ("all", "others"):
        assert 0 < fte.efficiency(tau, n, TIMES, access, collisions=m, slots=slots) < 1


def test_arguments_broadcast():
    tau, n = np.linspace(0.001, 0.2, 5), np.array([[2], [5], [20]])
    grid = fte.efficiency(tau, n, TIMES)
    assert grid.shape == (3, 5)
    assert grid[1, 3] == pytest.approx(fte.frame_transmission_efficiency(float(tau[3]), 5))
    assert fte.efficiency(tau, n, TIMES, literal=True).shape == (3, 5)


def printed(p, slot, m, stages=5):
    """Eq. 19 as printed, by its two cases."""
    common = (TIMES.difs + 9406e-6) * (1 - p**m) + 666e-6 * (p - p ** (m + 1)) / (1 - p)
    if m < stages:
        return common + 31 * slot / (2 * (1 - 2 * p))
    return common + 31 * slot * (1 - 2**m * p**m) / (2 * (1 - 2 * p))


@pytest.mark.parametrize("m", [3, 6, 7])
@pytest.mark.parametrize(("tau", "n"), [(0.01, 3), (0.05, 8), (0.1, 20)])
def test_the_literal_form_is_equation_19(m, tau, n):
    p = float(fte.collision_probability(tau, n))
    expected = printed(p, float(fte.slot_time(tau, n, TIMES)), m)
    assert fte.service_delay(tau, n, TIMES, collisions=m, literal=True) == pytest.approx(expected)


def test_where_the_printed_form_differs_from_the_sum():
    def off(tau, n, m):
        literal, sum_ = (fte.efficiency(tau, n, TIMES, collisions=m, literal=wanted) for wanted in (True, False))
        return float(literal / sum_ - 1)

    assert abs(off(0.01, 5, 7)) < 1e-5, "with few collisions they agree"
    assert -0.06 < off(0.1, 10, 7) < -0.04, "m > M: the window is printed to double beyond M"
    assert off(0.03, 50, 4) < -1, "m < M: printed without an end to the series, which is negative for p > 1/2"
    assert math.isfinite(fte.efficiency(0.5, 2, TIMES, literal=True)), "p = 1/2 is no singularity for m > M"


#: Figures of Carvalho and Garcia-Luna-Aceves's model for these settings: nearly the airtime of successes, shared by n.
SATURATED = [(2, 0.488), (3, 0.326), (5, 0.196), (10, 0.098)]


@pytest.mark.parametrize(("n", "expected"), SATURATED)
def test_saturated_cliques(n, expected):
    tau, p = dcf.saturation(n)
    assert fte.collision_probability(tau, n) == pytest.approx(p)
    assert fte.efficiency(tau, n, TIMES, slots="others") == pytest.approx(expected, rel=0.015)
    # The form as printed lets a station wait for itself.
    assert fte.efficiency(tau, n, TIMES) < 0.96 * expected


@pytest.mark.parametrize("rules", ["ieee", "ns2"])
@pytest.mark.parametrize(("n", "expected"), SATURATED)
def test_simulated_saturated_cliques(rules, n, expected):
    scenario = {
        "duration": "60 s",
        "warmup": "10 s",
        "phy": {"standard": "dsss", "data_rate": "1 Mb/s", "control_rate": "1 Mb/s"},
        "mac": {"rules": rules, "rts_threshold": "0 B", "override": {"data_header": "28 B", "llc_header": "0 B"}},
        "topology": {"generator": "circle", "stations": n, "radius": "10 m"},
        "schemes": {"udp": {"segment_size": "1000 B", "header": "0 B"}},
        "traffic": {"pattern": "canonical", "scheme": "udp", "app": {"kind": "saturated"}},
    }
    stations = multihop.run(scenario).nodes.iloc[1:]
    ratio_of_means = fte.success_time(TIMES) / stations["service_delay_mean_s"].mean()
    assert ratio_of_means == pytest.approx(expected, rel=0.02)
    tau, _ = dcf.saturation(n)
    assert ratio_of_means == pytest.approx(float(fte.efficiency(tau, n, TIMES, slots="others")), rel=0.03)
    # Frames that get through fast weigh more in the mean of ratios, which RECN's routers see (Jensen's inequality).
    assert stations["transmission_efficiency"].mean() > 1.2 * ratio_of_means


@pytest.mark.parametrize(
    "arguments",
    [(-0.1, 2), (1.1, 2), (0.1, 0), (0.1, 2, "csma")],
)
def test_arguments_out_of_range(arguments):
    with pytest.raises(ValueError, match=r"tau|access"):
        fte.frame_transmission_efficiency(*arguments)


def test_a_phy_that_is_none_is_reported_as_such():
    with pytest.raises(multihop.ScenarioError, match=r"802\.11z"):
        airtimes(1028, {"standard": "802.11z"})
    with pytest.raises(ValueError, match="slots"):
        fte.slot_time(0.1, 2, TIMES, slots="some")


@pytest.mark.parametrize(("rts", "printed"), [(True, 4.52), (False, 6.07)])
def test_maximum_throughput_is_one_packet_after_the_other(rts, printed):
    """Barreto 2015, Eq. 14: DIFS, the mean back-off, and the exchange. The number is that without LLC's 8 bytes."""
    phy = {"standard": "802.11b", "data_rate": "11 Mb/s", "control_rate": "1 Mb/s"}
    for packet in (29, 200, 1500):
        times = airtimes(packet + 36, phy)
        exchange = times.data + times.sifs + times.ack
        exchange += times.rts + times.cts + 2 * times.sifs if rts else 0.0
        alone = times.difs + times.cw_min / 2 * times.slot + exchange
        made = models.evaluate("maximum-throughput", {"packet": packet, "rts": rts})
        # Each frame travels 200 m besides.
        assert 0 <= made["time_s"] - alone < 5e-6
        assert made["throughput_bps"] == pytest.approx(packet * 8 / made["time_s"])
    assert made["throughput_bps"] / 1e6 == pytest.approx(printed, rel=6e-3)


def test_probing_overhead_of_the_paper():
    """Barreto 2015, section 3.2: both printed numbers are 1500 bit/s."""
    call = models.evaluate("probing-overhead", {"rate_bps": 90.4e3, "length_s": 32})
    flow = models.evaluate("probing-overhead", {"rate_bps": 1e6, "length_s": 32})
    assert (call["rate_bps"], round(call["share"], 4), flow["share"]) == (1500.0, 0.0166, 0.0015)
    assert (
        models.evaluate("probing-overhead", {"rate_bps": 64e3, "length_s": 1, "probes": 1, "packet": 80})["share"]
        == 0.01
    )
    for wrong in ({"rate_bps": 0, "length_s": 1}, {"rate_bps": 1, "length_s": 0}):
        with pytest.raises(UserError, match="above zero"):
            models.evaluate("probing-overhead", wrong)


def test_a_link_of_a_wlan_is_that_of_section_iv():
    """Qazi, section IV: 1500 bytes at 11 Mb/s, mean back-off 320 us, without and with acknowledgements of 40 bytes."""
    datagrams = models.evaluate("wlan-capacity", {"backoff": "320 us"})
    assert datagrams["transmission_s"] == pytest.approx(1500 * 8 / 11e6) == pytest.approx(1090.9e-6, abs=5e-8)
    assert datagrams["overhead_s"] == pytest.approx((50 + 192 + 320 + 10 + 192 + 112) * 1e-6) == pytest.approx(876e-6)
    assert datagrams["capacity_bps"] == pytest.approx(6.10e6, abs=5e3)
    answered = models.evaluate("wlan-capacity", {"backoff": "320 us", "acknowledgement": 40})
    assert answered["capacity_bps"] == pytest.approx(4.18e6, abs=5e3)
    answer_s = 12_000 * (1 / answered["capacity_bps"] - 1 / datagrams["capacity_bps"])
    assert answer_s == pytest.approx(905e-6, abs=5e-7)
    delayed = wlan_capacity(backoff="320 us", acknowledgement=40, per=2)
    assert delayed["capacity_bps"] == pytest.approx(12_000 / (1_090.9e-6 + 876e-6 + answer_s / 2), rel=1e-4)
    assert datagrams["goodput_bps"] == pytest.approx(datagrams["capacity_bps"] * (1500 - 48) / 1500)


@given(loss=st.floats(0, 1), others=st.floats(0, 1), frame=st.floats(48, 3000))
def test_losses_and_others_take_their_shares_of_a_link(loss, others, frame):
    alone, made = (wlan_capacity(frame, loss=p, others=u) for p, u in ((0.0, 0.0), (loss, others)))
    assert made["phy_bps"] == pytest.approx(11e6 * (1 - loss) * (1 - others))
    assert made["capacity_bps"] == pytest.approx(alone["capacity_bps"] * (1 - loss) * (1 - others))
    assert made["goodput_bps"] <= made["capacity_bps"] <= made["phy_bps"]


def test_the_overhead_of_a_link_is_that_of_its_phy():
    times = airtimes(0, {"standard": "802.11a", "data_rate": "54 Mb/s", "ack_rate": "24 Mb/s"})
    preamble_s = 20e-6
    made = wlan_capacity(rate="54 Mb/s", standard="802.11a", ack_rate="24 Mb/s")
    assert made["backoff_s"] == pytest.approx(7.5 * 9e-6)
    assert made["overhead_s"] == pytest.approx(times.difs + preamble_s + 7.5 * 9e-6 + times.sifs + times.ack)
    short = wlan_capacity(preamble="short")
    assert short["overhead_s"] == pytest.approx(wlan_capacity()["overhead_s"] - 96e-6), (
        "an ACK at 1 Mb/s has a long one"
    )


def test_back_offs_double_with_each_loss():
    assert dcf.mean_backoff(0.0) == dcf.mean_backoff(0.3, tries=1) == 15.5
    assert dcf.mean_backoff(0.5, tries=2) == pytest.approx((15.5 + 0.5 * 31.5) / 1.5)
    assert dcf.mean_backoff(1.0, tries=7) == pytest.approx((15.5 + 31.5 + 63.5 + 127.5 + 255.5 + 511.5 * 2) / 7)
    made = wlan_capacity(loss=0.5, tries=2)
    assert made["backoff_s"] == pytest.approx(20e-6 * (15.5 + 0.5 * 31.5) / 1.5)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"loss": 1.1}, "loss is 1.1; needs to be at least 0 and at most 1"),
        ({"others": -0.1}, "others is -0.1"),
        ({"frame": 0}, "frame is 0; needs to be above 0"),
        ({"frame": math.nan}, "frame is nan"),
        ({"per": 0}, "per is 0; needs to be above 0"),
        ({"header": 1501}, "header is 1501; needs to be at least 0 and at most 1500"),
        ({"tries": 0}, "tries is 0"),
        ({"acknowledgement": -40}, "acknowledgement is -40"),
        ({"backoff": "soon"}, "soon"),
        ({"rate": "12 Mb/s"}, "12 Mb/s"),
        ({"retries": 3}, "has no argument 'retries'"),
    ],
)
def test_a_link_that_is_none_is_reported_as_such(arguments, says):
    with pytest.raises(UserError, match=says):
        models.evaluate("wlan-capacity", arguments)


def test_the_rate_of_tfrc_and_its_inverse():
    """Numbers by hand from RFC 5348, section 3.1; with t_RTO = 4 R the rate goes with 1 / R."""
    for p, expected in ((0.01, 164_005), (0.001, 560_412), (0.1, 25_843)):
        assert throughput_equation(0.1, p)["rate_bps"] / 8 == pytest.approx(expected, rel=1e-4)
        assert throughput_equation(0.2, p)["rate_bps"] == pytest.approx(throughput_equation(0.1, p)["rate_bps"] / 2)
    assert throughput_equation(0.1, 0.01, acknowledged=2)["rate_bps"] / 8 == pytest.approx(115_969, rel=1e-4)
    assert throughput_equation(0.1, 0.5, clamp=True)["rate_bps"] / 8 == pytest.approx(785.9, rel=1e-4)
    found = models.evaluate("throughput-equation", {"rtt": 0.2, "rate_bps": 300_000.0})
    assert found["loss_event_rate"] == pytest.approx(0.033171, rel=1e-4)
    assert throughput_equation(0.3, found["loss_event_rate"])["rate_bps"] == pytest.approx(300_000 * 0.2 / 0.3)
    assert throughput_equation(0.1, 0.0)["rate_bps"] == math.inf


def test_delays_among_saturated_stations():
    """Table II of Li et al. 2003, DSSS; success probabilities of Bianchi's fixed point, of the other module as well."""
    made = contention_delay(7, 3)
    assert made["success_s"] == pytest.approx(7.212e-3)
    assert made["collision_s"] == pytest.approx(0.403e-3)
    assert made["delay_s"] == pytest.approx(22.06e-3, abs=5e-6)
    assert made["round_trip_s"] == pytest.approx(234.1e-3, abs=5e-5)
    assert contention_delay(7, growing_windows=False)["round_trip_s"] == pytest.approx(206.3e-3, abs=5e-5)
    assert contention_delay(stations=4, linear=True)["success"] == pytest.approx(0.84543, abs=5e-6)
    for stations in (1, 2, 4, 10):
        tau, collision = dcf.saturation(stations)
        made = contention_delay(stations=stations)
        assert (made["attempt"], made["success"]) == pytest.approx((tau, 1 - collision), abs=1e-9)


@pytest.mark.parametrize(
    ("model", "arguments", "says"),
    [
        ("throughput-equation", {}, "either loss_event_rate or rate_bps"),
        (
            "throughput-equation",
            {"loss_event_rate": 1.5},
            "loss_event_rate is 1.5; needs to be at least 0",
        ),
        ("throughput-equation", {"loss_event_rate": 0.1, "rtt": 0}, "rtt is 0; needs to be above 0"),
        ("throughput-equation", {"rate_bps": 0}, "rate_bps is 0; needs to be above 0"),
        ("contention-delay", {"hops": 0}, "hops is 0; needs to be at least 1"),
        ("contention-delay", {"stations": 2.5}, "stations is 2.5; needs to be a whole number"),
        ("contention-delay", {"standard": "802.3"}, "802.3"),
        ("contention-delay", {"rate": "11 Mb/s"}, "not a rate"),
    ],
)
def test_a_path_or_a_cell_that_is_none_is_reported_as_such(model, arguments, says):
    with pytest.raises(UserError, match=says):
        models.evaluate(model, arguments)
