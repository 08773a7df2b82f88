"""Maximum theoretical throughput: the highest rate of one station over one link."""

from __future__ import annotations

from multihop.optima.capacity import bound
from multihop.simulation.scenario import load


def maximum_throughput(
    packet: int = 1500,
    rate: str = "11 Mb/s",
    control_rate: str = "1 Mb/s",
    standard: str = "802.11b",
    rules: str = "ieee",
    rts: bool = True,
) -> dict[str, float]:
    """Throughput of packets of a station that is alone (Barreto 2015, Eq. 14).

    The time of a packet is DIFS, the mean of the first back-off, and the exchange, with preambles, MAC
    headers and propagation over 200 m.

    Args:
        packet: size in bytes, IP header included; at least 29.
        rate: data rate.
        control_rate: rate of RTS, CTS and ACK.
        standard: physical layer, as in `[phy]`.
        rules: rules of the MAC, as in `[mac]`.
        rts: whether RTS and CTS precede the packet.

    Returns:
        `throughput_bps` of packets, and `time_s`, the time of one packet.

    Raises:
        ValueError: if a packet is smaller than its UDP and IP headers and one byte.
    """
    if packet <= _HEADERS:
        raise ValueError(f"packet is {packet}; needs at least {_HEADERS + 1} bytes")
    made = bound(
        load(
            {
                "duration": "1 s",
                "phy": {"standard": standard, "data_rate": rate, "control_rate": control_rate},
                "mac": {"rules": rules, "rts_threshold": "0 B" if rts else "off"},
                "topology": {"generator": "chain", "hops": 1, "spacing": "200 m"},
                "schemes": {"udp": {"segment_size": f"{packet - _HEADERS} B"}},
                "flows": [{"from": "n0", "to": "n1", "scheme": "udp"}],
            }
        ),
        {},
    )
    goodput = made.shares("idle-channel").total_bps
    throughput = goodput * packet / (packet - _HEADERS)
    return {"throughput_bps": throughput, "time_s": packet * 8 / throughput}


#: Bytes of UDP and IP headers.
_HEADERS = 28
