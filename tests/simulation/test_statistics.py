"""Statistics against values computed by hand or taken from published tables."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multihop.results.statistics import Estimate, estimate, half_width, holm, jain, paired_difference


def test_interval_of_five_values():
    # Mean 3, s = sqrt(2.5), t(0.975; 4) = 2.776445: half width 2.776445 * sqrt(2.5 / 5).
    found = estimate([1, 2, 3, 4, 5])
    assert found.mean == 3
    assert found.n == 5
    assert found.half_width == pytest.approx(2.776445 * math.sqrt(0.5), rel=1e-6)


def test_interval_of_two_values_uses_one_degree_of_freedom():
    # t(0.975; 1) = 12.7062, s = sqrt(2)/2 * 2 = 1.41421.
    found = estimate([1.0, 3.0])
    assert found.high == pytest.approx(2 + 12.7062, rel=1e-5)


def test_one_value_has_no_interval():
    found = estimate([7.0])
    assert (found.mean, found.low, found.high, found.n, found.half_width) == (7.0, None, None, 1, None)


def test_equal_values_have_no_spread_that_rounding_makes():
    values = [0.0015, 0.075, 0.1, 1 / 3]
    for value in values:
        for count in (2, 3, 7, 20):
            assert estimate([value] * count) == Estimate(value, value, value, count)
            constant = paired_difference([value] * count, [0.0] * count)
            assert (constant.mean, constant.low, constant.high, constant.p_value) == (value, value, value, 0.0)


def test_missing_values_are_left_out():
    assert estimate([1.0, math.nan, 3.0]).n == 2
    with pytest.raises(ValueError, match="at least one"):
        estimate([math.nan])


def test_paired_difference_of_a_textbook_example():
    # Differences 2, 1, 3, 2: mean 2, s = 0.8165, t = 2 / (0.8165 / 2) = 4.899 on 3 degrees of freedom: p = 0.01628.
    found = paired_difference([12, 11, 13, 12], [10, 10, 10, 10])
    assert found.mean == 2
    assert found.p_value == pytest.approx(0.01628, abs=5e-5)
    # t(0.975; 3) = 3.182446
    assert found.low == pytest.approx(2 - 3.182446 * 0.816497 / 2, rel=1e-5)


def test_pairing_removes_what_seeds_have_in_common():
    rng = np.random.default_rng(1)
    common = rng.normal(100, 30, 20)
    a, b = common + rng.normal(1, 0.5, 20), common + rng.normal(0, 0.5, 20)
    assert paired_difference(a, b).p_value < 0.001
    assert estimate(a).low < estimate(b).high, "the intervals of the two overlap, and yet they differ"


def test_identical_and_constant_differences():
    assert paired_difference([1.0, 2.0], [1.0, 2.0]).p_value == 1.0
    assert paired_difference([2.0, 3.0], [1.0, 2.0]).p_value == 0.0
    assert paired_difference([2.0], [1.0]).p_value is None


def test_pairs_must_match():
    with pytest.raises(ValueError, match="equal lengths"):
        paired_difference([1.0, 2.0], [1.0])


@pytest.mark.parametrize(
    ("shares", "index"),
    [([5, 5, 5, 5], 1.0), ([1, 0, 0, 0], 0.25), ([1, 2, 3], 36 / (3 * 14)), ([3], 1.0)],
)
def test_jain(shares, index):
    assert jain(shares) == pytest.approx(index)


def test_jain_of_nothing_has_no_meaning():
    assert math.isnan(jain([]))
    assert math.isnan(jain([0, 0]))


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=50))
def test_jain_lies_between_one_nth_and_one(shares):
    index = jain(shares)
    assert math.isnan(index) or 1 / len(shares) - 1e-9 <= index <= 1 + 1e-9


def test_holm_adjusts_step_by_step():
    # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1, made monotone.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_never_lowers_and_keeps_the_order(p_values):
    adjusted = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    for p, q in zip(p_values, adjusted, strict=True):
        assert all(q <= other_q for other, other_q in zip(p_values, adjusted, strict=True) if p < other)


def test_half_widths_of_several_means():
    found = half_width(np.array([math.sqrt(2.5), 1.0, np.nan]), np.array([5, 1, 0]))
    # The t quantile for 4 degrees of freedom is 2.776445; of one value, or none, nothing can be said.
    assert found[0] == pytest.approx(2.776445 * math.sqrt(0.5), rel=1e-6)
    assert np.isnan(found[1:]).all()
