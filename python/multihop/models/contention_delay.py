"""Delay among saturated stations, and round-trip time over a chain of them: the model of RE TFRC."""

from __future__ import annotations

from typing import Any

from multihop import _core
from multihop.models.airtimes import scenario_of
from multihop.models.ranges import whole


def contention_delay(
    hops: int = 7,
    stations: int = 4,
    *,
    packet: int = 1460,
    feedback: int = 40,
    standard: str = "dsss",
    rate: str = "2 Mb/s",
    control_rate: str = "1 Mb/s",
    mac_header: str = "34 B",
    rts: bool = True,
    linear: bool = False,
    growing_windows: bool = True,
    propagation: str = "1 us",
) -> dict[str, float]:
    """Delay among saturated stations (Li, Agu, Claypool and Kinicki 2003, Eqs. 4 to 8).

    `T = alpha (W beta - 1) / 2q + (1 - q) / q t_c + t_s`, and `r(N) = 2 T_d(3) + (N - 2) T_d(4) + 2 T_a(3) +
    (N - 2) T_a(4)`, of data and of feedback. Spaces and airtimes are the engine's, and so is the function,
    which is that of `re-tfrc`. Defaults: Table II, DSSS.

    Args:
        hops: N, number of hops; for one hop, which the paper omits, r is that of two stations.
        stations: n, number of stations of a cell that all sense each other.
        packet: bytes of a data packet at the MAC's interface.
        feedback: bytes of a feedback packet.
        standard: physical layer, as in `[phy]`.
        rate: rate of DATA.
        control_rate: rate of RTS, CTS and ACK.
        mac_header: bytes of MAC header and FCS; ns-2 has 34.
        rts: whether RTS and CTS precede DATA.
        linear: whether to take the success probability to first order, for up to five stations; else
            Bianchi's fixed point.
        growing_windows: whether the mean back-off includes the growth of windows (beta); else Eq. 5 as
            printed.
        propagation: delta, propagation delay of a frame.

    Returns:
        `attempt` (tau) and `success` (q); `step_s` (alpha), and the number of `steps`, (W beta - 1) / 2q; for
        data `success_s` (t_s), `collision_s` (t_c) and `delay_s` (T); for feedback `feedback_delay_s`;
        `round_trip_s`, r(N).

    Raises:
        ValueError: if a number is out of its range.
        ScenarioError: if the PHY is invalid.
    """
    phy: dict[str, Any] = {"standard": standard, "data_rate": rate, "control_rate": control_rate}
    mac = {"override": {"data_header": mac_header, "llc_header": "0 B"}}
    return _core.contention_delay(
        scenario_of(phy, mac),
        "<phy>",
        whole("stations", stations, least=1, most=10_000),
        whole("hops", hops, least=1, most=10_000),
        whole("packet", packet, least=1, most=65_535),
        whole("feedback", feedback, least=1, most=65_535),
        rts,
        linear,
        growing_windows,
        _core.seconds(propagation),
    )
