"""The fixed point of A-MPDUs and requests: by hand, against DCF's, and against stations that really back off."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from multihop.models.aggregate_saturation import Aggregates, goodput
from multihop.models.dcf import saturation

SENT = Aggregates(a_mpdu=5360e-6, request=32e-6, answer=48e-6, payload=28 * 1472 * 8, slot=9e-6, difs=34e-6, eifs=94e-6)


def test_a_lone_station_backs_off_seven_and_a_half_slots() -> None:
    cycle = 7.5 * 9e-6 + 5360e-6 + 48e-6 + 34e-6
    assert goodput(1, SENT) == pytest.approx(SENT.payload / cycle, rel=1e-6)


def test_without_requests_it_is_bianchis() -> None:
    """A request that is as long as an A-MPDU and delivers as much is one."""
    like = replace(SENT, request=SENT.a_mpdu, requests=None)
    tau, collision = saturation(10, window=16, stages=6)
    alone, silence = 10 * tau * (1 - tau) ** 9, (1 - tau) ** 10
    exchange = SENT.a_mpdu + SENT.answer + SENT.difs
    slot = silence * SENT.slot + alone * exchange + (1 - silence - alone) * (SENT.a_mpdu + SENT.eifs)
    # Of what arrives, a share 1 - p are A-MPDUs.
    assert goodput(10, like) == pytest.approx((1 - collision) * alone * SENT.payload / slot, rel=1e-6)


@pytest.mark.parametrize("stations", [5, 20])
def test_stations_that_back_off_do_the_same(stations: int) -> None:
    assert _played(stations) == pytest.approx(goodput(stations, SENT), rel=0.02)


def _played(stations: int) -> float:
    """What stations deliver that draw, count slots, collide and ask, slot by slot."""
    draw = random.Random(1)
    stage = [0] * stations
    left = [draw.randrange(16) for _ in stage]
    seconds, delivered = 0.0, 0
    for _ in range(40_000):
        idle = min(left)
        ready = [i for i in range(stations) if left[i] == idle]
        left = [slots - idle - 1 for slots in left]
        longest = SENT.a_mpdu if any(stage[i] == 0 for i in ready) else SENT.request
        seconds += idle * SENT.slot + longest + (SENT.answer + SENT.difs if len(ready) == 1 else SENT.eifs)
        for i in ready:
            delivered += len(ready) == 1 and stage[i] == 0
            stage[i] = 0 if len(ready) == 1 or stage[i] == 7 else stage[i] + 1
            left[i] = draw.randrange(16 << min(stage[i], 6))
    return delivered * SENT.payload / seconds
