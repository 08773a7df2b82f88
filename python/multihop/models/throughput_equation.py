"""Throughput equation of TFRC, and its inverse."""

from __future__ import annotations

from multihop import _core
from multihop.models.ranges import require


def throughput_equation(
    rtt: float = 0.1,
    loss_event_rate: float | None = None,
    *,
    rate_bps: float | None = None,
    packet: float = 1460,
    acknowledged: float = 1,
    clamp: bool = False,
) -> dict[str, float]:
    """Rate of a conformant TCP Reno or the loss event rate for it (RFC 5348, 3.1; Li et al. 2003, Eq. 1).

    `X = s / (R sqrt(2bp/3) + t_RTO 3 sqrt(3bp/8) p (1 + 32 p^2))` with `t_RTO = 4 R`. The function is the
    engine's. The inverse is limited to loss event rates from 1e-9 to 1, whatever the rate.

    Args:
        rtt: R, round-trip time in seconds.
        loss_event_rate: p, from 0 to 1; at 0 the rate is infinite.
        rate_bps: X in bits per second, in place of p.
        packet: s, packet size in bytes.
        acknowledged: b, packets per acknowledgement.
        clamp: whether `3 sqrt(3bp/8)` is at most 1, as in ns-2; otherwise as printed in RFC 5348.

    Returns:
        `rate_bps`, and `loss_event_rate`.

    Raises:
        ValueError: if a number is out of its range, or not exactly one of `loss_event_rate` and `rate_bps` is
            given.
    """
    if (loss_event_rate is None) == (rate_bps is None):
        raise ValueError("needs either loss_event_rate or rate_bps")
    require("rtt", rtt, above=0.0)
    require("packet", packet, above=0.0)
    require("acknowledged", acknowledged, above=0.0)
    if loss_event_rate is not None:
        require("loss_event_rate", loss_event_rate, most=1.0)
    if rate_bps is not None:
        require("rate_bps", rate_bps, above=0.0)
    rate = None if rate_bps is None else rate_bps / 8
    made, p = _core.throughput_equation(packet, rtt, acknowledged, clamp, loss_event_rate, rate)
    return {"rate_bps": made * 8, "loss_event_rate": p}
