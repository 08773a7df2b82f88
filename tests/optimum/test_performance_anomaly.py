"""What stations of different rates have of a cell: numbers of a paper, by hand, and what holds for any aggregates."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multihop import UserError, models
from multihop.models.performance_anomaly import TURNS, performance_anomaly

#: Mean aggregates of Table 1 of Høiland-Jørgensen et al. 2017, in packets of 1500 bytes.
BEFORE, AFTER = (6892 / 1500, 7833 / 1500, 2914 / 1500), (28434 / 1500, 28557 / 1500, 2914 / 1500)

AGGREGATES = st.lists(st.integers(1, 32), min_size=3, max_size=3)


def of_each(key, aggregates, turns):
    return [performance_anomaly(station, aggregates, turns=turns)[key] for station in (1, 2, 3)]


def test_numbers_of_the_paper():
    """Within a percentage point, and 3 %: the paper does not say which BlockAck and which end of a PPDU it counts."""
    assert of_each("airtime", BEFORE, "aggregate") == pytest.approx([0.10, 0.11, 0.79], abs=0.01)
    assert of_each("goodput_bps", BEFORE, "aggregate") == pytest.approx([9.7e6, 11.4e6, 5.1e6], rel=0.03)
    assert of_each("airtime", AFTER, "airtime") == pytest.approx([1 / 3] * 3)
    assert of_each("goodput_bps", AFTER, "airtime") == pytest.approx([42.2e6, 42.3e6, 2.2e6], rel=0.03)


def test_one_packet_by_hand():
    """A symbol of MCS 0 with short guard intervals is 3.6 us and carries 26 bits; SERVICE and tail are 22 bits."""
    framed = 4 + 1540  # of 1500 + 26 + 8 + 4, padded to a multiple of four
    symbols = -(-(framed * 8 + 22) // 26)
    data = 36e-6 + -(-symbols * 36 // 40) * 4e-6  # a PPDU ends within a symbol of 4 us (802.11-2016, 19.4.3)
    other = 34e-6 + 7.5 * 9e-6 + 16e-6 + 68e-6  # DIFS, a mean back-off, SIFS, and a BlockAck at 6 Mb/s
    alone = performance_anomaly(1, (1,), ("MCS 0",))
    assert alone["airtime"] == 1.0
    assert alone["alone_bps"] == alone["goodput_bps"] == alone["total_bps"]
    assert alone["alone_bps"] == pytest.approx(1500 * 8 / (data + other), rel=1e-3)


@settings(max_examples=30, deadline=None)
@given(AGGREGATES)
def test_shares_are_what_turns_say(aggregates):
    for turns in TURNS:
        shares = of_each("airtime", aggregates, turns)
        assert sum(shares) == pytest.approx(1.0)
        rates = of_each("goodput_bps", aggregates, turns)
        assert rates == pytest.approx(
            [s * r for s, r in zip(shares, of_each("alone_bps", aggregates, turns), strict=True)]
        )
        assert performance_anomaly(1, aggregates, turns=turns)["total_bps"] == pytest.approx(sum(rates))
    assert of_each("airtime", aggregates, "airtime") == pytest.approx([1 / 3] * 3)
    # A fast station that has as many packets has less of the time.
    fast, _, slow = of_each("airtime", aggregates, "packet")
    assert fast < slow


def test_overhead_of_each_exchange_is_time_that_all_wait():
    """A round is one exchange of each; the paper's model has less where turns are short."""
    of = {"aggregates": (5, 5, 2), "overhead": "each"}
    alone = [performance_anomaly(station, **of)["alone_bps"] for station in (1, 2, 3)]
    whole = [n * 1500 * 8 / rate for n, rate in zip((5, 5, 2), alone, strict=True)]
    for station, n in zip((1, 2, 3), (5, 5, 2), strict=True):
        found = performance_anomaly(station, **of)
        assert found["goodput_bps"] == pytest.approx(n * 1500 * 8 / sum(whole))
    paper = performance_anomaly(1, (5, 5, 2))
    assert performance_anomaly(1, **of)["total_bps"] > 1.1 * paper["total_bps"]
    assert of_each("airtime", (5, 5, 2), "airtime") == pytest.approx([1 / 3] * 3)
    fair = [performance_anomaly(station, turns="airtime", **of)["airtime"] for station in (1, 2, 3)]
    assert fair == pytest.approx([1 / 3] * 3)


def test_one_station_has_the_same_with_either_overhead():
    alone = performance_anomaly(1, (7,), ("MCS 3",))
    each = performance_anomaly(1, (7,), ("MCS 3",), overhead="each")
    assert each["goodput_bps"] == pytest.approx(alone["goodput_bps"])


def test_equal_packets_are_equal_throughput_where_overhead_is_small():
    fast, other, slow = of_each("goodput_bps", (32, 32, 32), "packet")
    assert (fast, slow) == pytest.approx((other, other), rel=0.1)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"turns": "luck"}, "turns is 'luck'; needs one of aggregate, airtime, packet"),
        ({"overhead": "none"}, "overhead is 'none'; needs one of alone, each"),
        ({"aggregates": [1, 2]}, "aggregates are of 2 stations, rates of 3"),
        ({"station": 0}, "station is 0; needs 1 to 3"),
        ({"station": 4}, "station is 4; needs 1 to 3"),
        ({"packet": 0}, "packet is 0; needs to be above 0"),
        ({"aggregates": [0, 1, 1]}, "aggregates is 0; needs to be above 0"),
        ({"rates": ["MCS 0", "MCS 0", "11 Mb/s"]}, "11 Mb/s"),
    ],
)
def test_a_cell_that_is_none_is_reported_as_such(arguments, says):
    with pytest.raises(UserError, match=says):
        models.evaluate("performance-anomaly", arguments)
