"""Rate controls on one link, beside the best of fixed rates and ns-3's: the table of `explanation/rate-control.md`."""

from __future__ import annotations

from multihop import ScenarioError, run
from validation.interference import MEDIUM
from validation.scenarios import Scenario

#: Mb/s of ns-3.37, one run of 4 s after 1 s, by distance in metres: `MinstrelHtWifiManager` with `HtMcs7` as the most.
NS3 = {5: 59.62, 25: 42.44, 30: 35.33, 35: 34.15, 38: 22.83, 42: 22.07, 46: 19.20, 50: 16.83}


def scenario(distance: int, scheme: int, algorithm: str | None) -> Scenario:
    """One saturated link of this many metres: at a fixed scheme, or with a rate control."""
    control = {} if algorithm is None else {"rate_control": {"algorithm": algorithm, "streams": 1}}
    return {
        "duration": "5 s",
        "warmup": "1 s",
        "topology": {"generator": "chain", "hops": 1, "spacing": f"{distance} m"},
        "phy": {"standard": "802.11n", "data_rate": f"MCS {scheme}"},
        "mac": {"queue": 500} | control,
        "medium": MEDIUM | {"sensitivity": "-82 dBm"},
        "schemes": {"udp": {"segment_size": "1472 B"}},
        "flows": [{"from": "n0", "to": "n1", "scheme": "udp", "app": {"kind": "saturated"}}],
    }


def goodput_mbps(distance: int, scheme: int, algorithm: str | None = None) -> float:
    """What the link carries; nothing where it is no link at this scheme."""
    try:
        result = run(scenario(distance, scheme, algorithm))
    except ScenarioError:
        return 0.0
    return float(result.flows["goodput_bps"].iloc[0]) / 1e6


def table() -> str:
    """Best, `ideal` and `minstrel-ht` at each distance that ns-3 ran, in Markdown."""
    lines = ["| distance | best | | `ideal` | `minstrel-ht` | of best | ns-3's |", "|--:|--:|---|--:|--:|--:|--:|"]
    for distance, of_ns3 in NS3.items():
        best, scheme = max((goodput_mbps(distance, scheme), scheme) for scheme in range(8))
        ideal, minstrel = (goodput_mbps(distance, 0, algorithm) for algorithm in ("ideal", "minstrel-ht"))
        share = minstrel / best
        lines.append(
            f"| {distance} m | {best:.1f} | MCS {scheme} | {ideal:.1f} | {minstrel:.1f} | {share:.2f} | {of_ns3:.1f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
