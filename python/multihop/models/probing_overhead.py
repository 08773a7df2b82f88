"""Overhead of probes sent once, before a communication."""

from __future__ import annotations


def probing_overhead(rate_bps: float, length_s: float, probes: int = 4, packet: int = 1500) -> dict[str, float]:
    """Bytes of probes relative to those of the following communication (Barreto 2015, section 3.2).

    Args:
        rate_bps: rate of the communication in bits per second, of payload or with headers.
        length_s: duration of the communication in seconds.
        probes: number of probes before it.
        packet: bytes of each probe.

    Returns:
        `share`, and `rate_bps`, the rate of the probes over the duration of the communication.

    Raises:
        ValueError: if the communication has no bytes.
    """
    if not (rate_bps > 0 and length_s > 0):
        raise ValueError(f"found a rate of {rate_bps:g} bit/s for {length_s:g} s; needs both above zero")
    probing_bps = probes * packet * 8 / length_s
    return {"share": probing_bps / rate_bps, "rate_bps": probing_bps}
