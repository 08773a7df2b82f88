"""RECN's frame transmission efficiency in a saturated clique (He et al., Sensors 17, 2017, Eqs. 2-21).

`n` stations sense each other; each transmits in a slot with probability `tau`. The efficiency is the time of
a successful exchange over the mean service delay of a frame, `R_FTE = T_SL / E(T_FSD)`.

Equation 19 of the paper does not follow from its Eqs. 8-18. By default `E(T_FSD)` is the sum that these
define; `literal=True` is the formula as printed. `docs/reference/models.md` has both and their difference.
Readings of the paper:

* `p`, the probability that a transmission collides, is that of Eq. 21 in Eqs. 18 and 19, and the share of
  slots with collisions is that of Eq. 16 in Eq. 17; the paper names both `p_c`;
* `G` is the time of one collision (Eqs. 11, 12), although the text defines it as that of all collisions of a
  frame;
* the mean back-off after `j` collisions is `2^(j-1) CW_min` slots, also for `j = 0`, and that of `j = M` for
  all larger `j`;
* `P(N = m) = p^m`, after which the frame succeeds like any other.

In Eqs. 14 and 15 all `n` stations may transmit while one of them counts its back-off down, including that
one, which so defers to itself. `slots="others"` lets only the other `n - 1` transmit, which agrees with
simulation. `"all"` is as printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from multihop import _core
from multihop.models.airtimes import DSSS_1MBPS, Airtimes, airtimes

Access = Literal["rts-cts", "basic"]
Slots = Literal["all", "others"]
Array = np.ndarray | float

#: MAC header and FCS of a DATA frame in bytes (802.11-2012, 8.2.3).
MAC_HEADER: int = _core.MAC_HEADER
#: Most collisions of a frame: the standard's short retry limit.
COLLISIONS = 7


def success_time(times: Airtimes, access: Access = "rts-cts") -> float:
    """`T_SL`: duration of a successful exchange, from its first bit to its last (Eqs. 4 and 5)."""
    if _with_rts(access):
        return times.rts + times.cts + times.data + times.ack + 3 * times.sifs
    return times.data + times.sifs + times.ack


def collision_time(times: Airtimes, access: Access = "rts-cts") -> float:
    """`T_C`: duration of a collision, with the timeout of the missing response (Eqs. 11 and 12).

    All frames are equally long, so that `T_CF = T_F`.
    """
    if _with_rts(access):
        return times.rts + times.sifs + times.cts
    return times.data + times.sifs + times.ack


def collision_probability(tau: Array, n: Array) -> np.ndarray:
    """`p`: probability that another of the `n - 1` stations transmits in the same slot (Eq. 21)."""
    tau, n = np.asarray(tau, float), np.asarray(n, float)
    p: np.ndarray = 1 - (1 - tau) ** (n - 1)
    return p


def slot_time(tau: Array, n: Array, times: Airtimes, access: Access = "rts-cts", *, slots: Slots = "all") -> np.ndarray:
    """`E(T_slot)`: mean time between two steps of the back-off counter (Eqs. 14-17).

    `slots` selects the stations whose transmissions count: all `n`, as printed, or the `n - 1` others.
    """
    if slots not in ("all", "others"):
        raise ValueError(f'slots is {slots!r}; needs "all" or "others"')
    tau = np.asarray(tau, float)
    active = np.asarray(n, float) - (slots == "others")
    idle = (1 - tau) ** active
    # Without an active station the exponent would be -1, which fails for tau = 1.
    success = active * tau * (1 - tau) ** np.maximum(active - 1, 0)
    collided = 1 - idle - success
    mean: np.ndarray = (
        idle * times.slot + success * success_time(times, access) + collided * collision_time(times, access)
    )
    return mean


def service_delay(
    tau: Array,
    n: Array,
    times: Airtimes,
    access: Access = "rts-cts",
    *,
    collisions: int = COLLISIONS,
    slots: Slots = "all",
    literal: bool = False,
) -> np.ndarray:
    """`E(T_FSD)`: time from the head of the queue to the ACK (Eqs. 8-18).

    Args:
        tau: probability that a station transmits in a slot, 0 to 1.
        n: stations that sense each other, this one included; at least 1.
        times: times of the PHY.
        access: with or without RTS/CTS.
        collisions: `m`, most collisions of a frame; at least 1.
        slots: stations whose transmissions defer a back-off: `all`, as printed, or the `others`.
        literal: whether to take Eq. 19 as printed, instead of the sum.

    Raises:
        ValueError: if an argument is out of its range.
    """
    if np.any((np.asarray(tau) < 0) | (np.asarray(tau) > 1) | (np.asarray(n) < 1)) or collisions < 1:
        raise ValueError("needs tau from 0 to 1, n of at least 1, and collisions of at least 1")
    p = collision_probability(tau, n)
    slot = slot_time(tau, n, times, access, slots=slots)
    success, collision = success_time(times, access), collision_time(times, access)
    if literal:
        # The last term P(N = m) is missing from the first and the second summand, but not from the third.
        mean: np.ndarray = (
            (times.difs + success) * (1 - p**collisions)
            + times.cw_min / 2 * slot * _printed_windows(p, collisions, times.stages)
            + collision * _geometric(p, 1, collisions)
        )
        return mean
    # P(N >= j) = p^j for j up to m is the probability of a j-th collision and a back-off after it.
    windows = sum(2.0 ** min(j, times.stages) * p**j for j in range(collisions + 1))
    back_off = times.cw_min / 2 * slot * windows
    total: np.ndarray = times.difs + success + back_off + collision * _geometric(p, 1, collisions)
    return total


def efficiency(
    tau: Array,
    n: Array,
    times: Airtimes,
    access: Access = "rts-cts",
    *,
    collisions: int = COLLISIONS,
    slots: Slots = "all",
    literal: bool = False,
) -> np.ndarray:
    """`R_FTE = T_SL / E(T_FSD)` (Eqs. 3 and 20). Arguments as in `service_delay`."""
    delay = service_delay(tau, n, times, access, collisions=collisions, slots=slots, literal=literal)
    ratio: np.ndarray = success_time(times, access) / delay
    return ratio


def frame_transmission_efficiency(
    tau: float,
    n: int,
    access: Access = "rts-cts",
    payload_bytes: int = 1000,
    *,
    header_bytes: int = MAC_HEADER,
    phy: Mapping[str, Any] = DSSS_1MBPS,
    collisions: int = COLLISIONS,
    slots: Slots = "all",
    literal: bool = False,
) -> float:
    """`R_FTE` of one setting, as in the paper's Figure 3.

    Args:
        tau: probability that a station transmits in a slot.
        n: stations that sense each other.
        access: `rts-cts` or `basic`.
        payload_bytes: payload of a DATA frame.
        header_bytes: headers of a DATA frame; by default only MAC header and FCS, as in the paper.
        phy: keys of the table `[phy]` of a scenario.
        collisions: most collisions of a frame.
        slots: stations whose transmissions defer a back-off.
        literal: whether to take Eq. 19 as printed.
    """
    times = _times(payload_bytes + header_bytes, tuple(sorted(phy.items())))
    return float(efficiency(tau, n, times, access, collisions=collisions, slots=slots, literal=literal))


@lru_cache
def _times(frame_bytes: int, phy: tuple[tuple[str, Any], ...]) -> Airtimes:
    return airtimes(frame_bytes, dict(phy))


def _with_rts(access: str) -> bool:
    if access not in ("rts-cts", "basic"):
        raise ValueError(f'access is {access!r}; needs "rts-cts" or "basic"')
    return access == "rts-cts"


def _geometric(ratio: np.ndarray, first: int, last: int) -> np.ndarray:
    """Sum of `ratio^j` for `j` from `first` to `last`, also for a ratio of one."""
    terms: np.ndarray = np.power.outer(ratio, np.arange(first, last + 1)).sum(axis=-1)
    return terms


def _printed_windows(p: np.ndarray, m: int, stages: int) -> np.ndarray:
    """Back-off of Eq. 19 over `CW_min E(T_slot) / 2`; its first case is printed for `m < M`."""
    if m >= stages:
        return _geometric(2 * p, 0, m - 1)  # (1 - 2^m p^m) / (1 - 2p), also at p = 1/2
    # `2^M p^(M+1) + ... + 2^(m-1) p^m` has no terms if m < M.
    with np.errstate(divide="ignore"):
        sum_: np.ndarray = 1 / (1 - 2 * p)
    return sum_
