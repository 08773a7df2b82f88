"""End-to-end capacity of a chain: the capacity bound over hops, rate and distance."""

from __future__ import annotations

from multihop.optima.capacity import bound
from multihop.simulation.scenario import load


def chain_capacity(
    hops: int, rate: str = "1 Mb/s", spacing: str = "200 m", standard: str = "dsss", payload: str = "1000 B"
) -> dict[str, float]:
    """Bounds on the goodput of one flow over a chain with RTS/CTS, in kb/s.

    Args:
        hops: number of hops of the flow.
        rate: data rate; control frames are sent at 1 Mb/s.
        spacing: distance of neighbours, with ns-2's ranges of 250 m and 550 m.
        standard: physical layer, as in `[phy]`.
        payload: payload of a packet, to which 40 bytes of TCP and IP are added.

    Returns:
        `end_to_end`, upper bound on the goodput (level "hard" of `multihop.optima.capacity`); `idle_channel`,
        with DIFS and mean back-off before each exchange; `all_hops`, `end_to_end` counted at each hop.
    """
    made = bound(
        load(
            {
                "duration": "1 s",
                "phy": {"standard": standard, "data_rate": rate, "control_rate": "1 Mb/s"},
                "mac": {"rules": "ns2", "rts_threshold": "0 B"},
                "topology": {"generator": "chain", "hops": hops, "spacing": spacing},
                "schemes": {"tcp-newreno": {"flavour": "ns2", "segment_size": payload}},
                "flows": [{"from": "n0", "to": f"n{hops}", "scheme": "tcp-newreno"}],
            }
        ),
        {},
    )
    most = made.shares("hard").total_bps / 1e3
    idle = made.shares("idle-channel").total_bps / 1e3
    return {"end_to_end": most, "idle_channel": idle, "all_hops": most * hops}
