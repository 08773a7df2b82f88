"""Minstrel-HT of the engine beside Linux's rule without a simulator: `validation/minstrel_ht.py`."""

from __future__ import annotations

import pytest
from validation import rate_control
from validation.minstrel_ht import Link, share_of_best
from validation.rate_control import best_of, controlled, converged_ms, fixed, goodput_mbps, of_rule, scenario

from multihop import run

SEEDS = range(1, 4)


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers)


@pytest.mark.parametrize(("distance", "share"), [(30, 0.97), (38, 0.89), (42, 0.965)])
def test_a_link_finds_the_share_of_the_best_rate_that_linuxs_rule_finds(distance, share):
    runs = fixed(distance)
    best, _ = best_of([runs])
    found = controlled(distance, "minstrel-ht", len(SEEDS))
    ours = mean(map(goodput_mbps, found)) / best
    rule = mean(share_of_best(of_rule(runs), 10, seed) for seed in SEEDS)
    assert ours == pytest.approx(share, abs=0.02)
    assert rule == pytest.approx(ours, abs=0.02)
    assert all(converged_ms(result, ours * best) <= 600 for result in found)


def test_single_samples_are_the_least_share_where_a_third_of_the_next_rate_arrives():
    """Nothing lost at the first, and from none to nearly all at the second, at half as long a packet again."""

    def share(arrives: float) -> float:
        link = Link((26_000, 39_000), (1.0, arrives), (11, 17))
        return mean(share_of_best(link, 10, seed) for seed in SEEDS)

    none, third, half, most = map(share, (0.0, 0.37, 0.6, 0.95))
    assert third < 0.93 < min(none, most)
    assert third < half


def test_no_scheme_is_a_link_of_no_goodput():
    assert goodput_mbps(None) == 0.0
    assert rate_control.of_rule([None] * 8).arrives == (0.0,) * 8


def test_fast_rates_do_not_look_alike():
    """A packet of 1200 bytes has as many symbols at MCS 8 as at MCS 9 in 80 MHz; those of an A-MPDU share them."""
    near = scenario(5, 0)
    near["phy"] = {"standard": "802.11ac", "channel_width": "80 MHz", "data_rate": "MCS 9"}
    best = goodput_mbps(run(near, duration="3 s"))
    for algorithm in ("ideal", "minstrel-ht"):
        near["mac"]["rate_control"] = {"algorithm": algorithm}
        assert goodput_mbps(run(near, duration="3 s")) > 0.97 * best
