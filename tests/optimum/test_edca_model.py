"""The fixed point of access categories: against Bianchi's, by hand, and against stations that really back off."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest

from multihop import run
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
            tries[i] = 0 if alone or tries[i] + 1 == contenders[kinds[i]].tries else tries[i] + 1
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


#: Payload of a packet.
PAYLOAD = 1472
#: 802.11n at MCS 7: a packet is an MPDU of 1538 bytes, after 36 us and in symbols of 260 bits; an ACK at 24 Mb/s.
DATA, ACK = 36e-6 + 4e-6 * math.ceil((8 * 1538 + 22) / 260), 28e-6
#: What colliders wait, and who could not decode the collision: SIFS and an ACK at 6 Mb/s.
UNANSWERED = SIFS + 44e-6
#: Codepoint, AIFSN, CWmin and CWmax.
CATEGORIES = {"VO": ("EF", 2, 3, 7), "VI": ("AF41", 2, 7, 15), "BE": (0, 3, 15, 1023), "BK": ("CS1", 7, 15, 1023)}


def sending(category: str, stations: int) -> Contenders:
    _, aifsn, least, most = CATEGORIES[category]
    return Contenders(
        stations=stations,
        exchange=DATA + SIFS + ACK,
        collided=DATA + UNANSWERED,
        payload=8 * PAYLOAD,
        aifsn=aifsn,
        window=least + 1,
        stages=int(math.log2((most + 1) / (least + 1))),
        tries=7,
    )


def cell(categories: tuple[str, ...], each: int, seconds: int) -> dict[str, Any]:
    kinds = [category for category in categories for _ in range(each)]
    angles = [2 * math.pi * index / len(kinds) for index in range(len(kinds))]
    places = [(0.0, 0.0), *((10 * math.cos(angle), 10 * math.sin(angle)) for angle in angles)]
    one_exchange = {f"ac_{category.lower()}": {"txop_limit": "0 s"} for category in CATEGORIES}
    return {
        "name": "categories",
        "duration": f"{seconds + 1} s",
        "warmup": "1 s",
        "phy": {"standard": "802.11n", "data_rate": "MCS 7"},
        "mac": {"rules": "bianchi", "aggregation": {"a_mpdu": "off"}, "edca": one_exchange},
        "medium": {"model": "ranges", "propagation_delay": "0 s", "capture": "off"},
        "topology": {"nodes": [{"name": f"n{i}", "position": [f"{x} m", f"{y} m"]} for i, (x, y) in enumerate(places)]},
        "schemes": {"udp": {"segment_size": f"{PAYLOAD} B"}},
        "flows": [
            {
                "from": f"n{index + 1}",
                "to": "n0",
                "scheme": "udp",
                "app": {"kind": "saturated", "dscp": CATEGORIES[category][0]},
            }
            for index, category in enumerate(kinds)
        ],
    }


@pytest.mark.parametrize(
    ("categories", "each", "seconds"),
    [
        (("VO", "BE"), 1, 20),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in ((("VO", "BE"), 5, 40), (("BE", "BK"), 5, 20), (("VO", "VI", "BE", "BK"), 4, 20))
        ),
    ],
)
def test_shares_in_the_engine(categories: tuple[str, ...], each: int, seconds: int) -> None:
    """Those of stations that back off as the chain has it; of the fixed point, where a category is not starved.

    The fixed point has stations attempt in each slot independently of the past: of what AC_BE carries beside AC_VO,
    which come every few slots, it is off by up to two thirds, from the drawn chain as from the engine.
    """
    stations = [sending(category, each) for category in categories]
    chain, point = _stations_that_back_off(stations, 200_000), saturated(stations, SLOT, SIFS)
    outcome = run(cell(categories, each, seconds), seed=1)
    goodput = outcome.flows["goodput_bps"].to_numpy().reshape(len(categories), each).sum(axis=1)
    total = sum(share.goodput_bps for share in chain)
    assert goodput.sum() == pytest.approx(total, rel=0.01)
    for category, measured, drawn, fixed in zip(categories, goodput, chain, point, strict=True):
        # Of what is hardly ever sent there are few packets.
        noise = 4 * math.sqrt(8 * PAYLOAD * (drawn.goodput_bps + 1) / seconds)
        assert measured == pytest.approx(drawn.goodput_bps, rel=0.03, abs=noise), category
        if drawn.goodput_bps > 0.1 * total:
            assert measured == pytest.approx(fixed.goodput_bps, rel=0.03), category
    busy = outcome.categories.groupby("category")["airtime"].sum()
    assert all(busy[f"AC_{category}"] > 0 for category in categories if category != "BK")
