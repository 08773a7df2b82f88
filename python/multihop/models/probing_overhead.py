"""What probes cost that are sent once, before a communication."""

from __future__ import annotations


def probing_overhead(rate_bps: float, length_s: float, probes: int = 4, packet: int = 1500) -> dict[str, float]:
    """Bytes of probes over those of the communication that follows (Barreto 2015, section 3.2).

    Args:
        rate_bps: rate of the communication in bits per second, of whatever is counted: payload, or with
            headers.
        length_s: how long it lasts in seconds.
        probes: how many are sent before it.
        packet: bytes of each.

    Returns:
        `share`, and `rate_bps`, that of the probes over the length of the communication.

    Raises:
        ValueError: if the communication has no bytes.
    """
    if not (rate_bps > 0 and length_s > 0):
        raise ValueError(f"found a rate of {rate_bps:g} bit/s for {length_s:g} s; both need to be above zero")
    probing_bps = probes * packet * 8 / length_s
    return {"share": probing_bps / rate_bps, "rate_bps": probing_bps}
