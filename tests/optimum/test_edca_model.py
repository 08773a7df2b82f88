"""The fixed point of access categories: against Bianchi's, by hand, and against stations that really back off."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from multihop.models.dcf import attempt_probability, saturation
from multihop.models.edca import Contenders, Share, saturated

SLOT, SIFS = 9e-6, 16e-6
ONE = Contenders(stations=1, exchange=1e-3, collided=1.1e-3, payload=1e4)


@pytest.mark.parametrize("stations", [2, 10, 50])
def test_one_category_is_bianchis_fixed_point(stations: int) -> None:
    attempt, collision = saturation(stations, window=16, stages=6)
    [share] = saturated([replace(ONE, stations=stations)], SLOT, SIFS)
    assert share.attempt == pytest.approx(attempt, rel=1e-6)
    assert share.collision == pytest.approx(collision, rel=1e-6)


def test_categories_alike_are_one() -> None:
    [whole] = saturated([replace(ONE, stations=6)], SLOT, SIFS)
    halves = saturated([replace(ONE, stations=2), replace(ONE, stations=4)], SLOT, SIFS)
    assert sum(half.goodput_bps for half in halves) == pytest.approx(whole.goodput_bps, rel=1e-6)
    assert halves[1].goodput_bps == pytest.approx(2 * halves[0].goodput_bps, rel=1e-6)
    assert halves[0].collision == pytest.approx(whole.collision, rel=1e-6)


def test_a_lone_station_waits_for_aifs_and_a_mean_back_off() -> None:
    # Attempts are 2 / 17 of slots; 7.5 idle ones come before each.
    [share] = saturated([replace(ONE, aifsn=3)], SLOT, SIFS)
    assert share.goodput_bps == pytest.approx(1e4 / (SIFS + 3 * SLOT + 7.5 * SLOT + 1e-3), rel=1e-6)


def test_the_longest_frame_decides_how_long_a_collision_is() -> None:
    # Two stations that transmit in each slot: nothing but collisions, of the longer frame.
    always = replace(ONE, window=1, stages=0)
    short, long = replace(always, collided=1e-3), replace(always, collided=3e-3, payload=0.0)
    [mixed, _] = saturated([replace(short, window=2), long], SLOT, SIFS)
    # The first transmits in 2 of 3 slots, the second in all: it is alone in the rest, and delivers no payload then.
    assert mixed.attempt == pytest.approx(2 / 3)
    assert mixed.goodput_bps == 0.0
    [other] = saturated([replace(long, payload=1e4)], SLOT, SIFS)
    assert other.goodput_bps == pytest.approx(1e4 / (SIFS + 2 * SLOT + 1e-3))
    [_, second] = saturated([replace(short, window=2), replace(long, payload=1e4)], SLOT, SIFS)
    busy = 1 / 3 * 1e-3 + 2 / 3 * 3e-3
    assert second.goodput_bps == pytest.approx(1 / 3 * 1e4 / (SIFS + 2 * SLOT + busy))


def test_frames_that_are_given_up() -> None:
    # Windows of 4, 8, 8: mean waits of 1.5, 3.5, 3.5 slots and the attempt itself, at p = .5.
    expected = (1 + 0.5 + 0.25) / (2.5 + 0.5 * 4.5 + 0.25 * 4.5)
    assert attempt_probability(0.5, window=4, stages=1, tries=3) == pytest.approx(expected)
    assert attempt_probability(0.3, window=16, stages=6, tries=200) == pytest.approx(attempt_probability(0.3, 16, 6))


def _stations_that_back_off(contenders: list[Contenders], periods: int) -> list[Share]:
    """The same, by drawing: slots in which stations with a longer AIFS do not count yet."""
    draw = random.Random(1)
    first = min(each.aifsn for each in contenders)
    kinds = [index for index, each in enumerate(contenders) for _ in range(each.stations)]
    tries = [0 for _ in kinds]

    def back_off(station: int) -> int:
        each = contenders[kinds[station]]
        return draw.randrange(each.window * 2 ** min(tries[station], each.stages))

    left = [back_off(station) for station in range(len(kinds))]
    won, sent, lost = ([0 for _ in contenders] for _ in range(3))
    seconds = 0.0
    for _ in range(periods):
        begins = [left[i] + contenders[kinds[i]].aifsn - first for i in range(len(kinds))]
        slot = min(begins)
        senders = [i for i, at in enumerate(begins) if at == slot]
        # Each counts the slots that it may use, and the busy one as well: Bianchi's chain.
        left = [max(0, left[i] - max(0, slot + 1 - (contenders[kinds[i]].aifsn - first))) for i in range(len(kinds))]
        seconds += SIFS + (first + slot) * SLOT
        alone = len(senders) == 1
        seconds += max(contenders[kinds[i]].exchange if alone else contenders[kinds[i]].collided for i in senders)
        for i in senders:
            sent[kinds[i]] += 1
            won[kinds[i]] += alone
            lost[kinds[i]] += not alone
            tries[i] = 0 if alone else tries[i] + 1
            left[i] = back_off(i)
    return [
        Share(won[index] * each.payload / seconds, lost[index] / sent[index], 0.0)
        for index, each in enumerate(contenders)
    ]


@pytest.mark.parametrize(
    "contenders",
    [
        [replace(ONE, stations=5, aifsn=3), replace(ONE, stations=5, aifsn=7)],
        [replace(ONE, stations=2, aifsn=2, window=8, stages=1), replace(ONE, stations=3, aifsn=3, exchange=4e-3)],
    ],
)
def test_shares_are_those_of_stations_that_back_off(contenders: list[Contenders]) -> None:
    drawn = _stations_that_back_off(contenders, 60_000)
    for share, expected in zip(saturated(contenders, SLOT, SIFS), drawn, strict=True):
        assert share.goodput_bps == pytest.approx(expected.goodput_bps, rel=0.04)
        assert share.collision == pytest.approx(expected.collision, abs=0.02)
