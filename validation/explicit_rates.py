"""`python -m validation.explicit_rates [FILE]`: XCP, RCP and what derives from them, over wires and over radio.

Over wires it is known what they should do, and ns-2 has an XCP to compare with, whose figures are facts in
`ns2/dumbbell.toml`.
"""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path

import multihop
from multihop.results.statistics import Estimate
from validation import page, radio, wires
from validation.ns2 import dumbbell
from validation.ns2.dumbbell import Course, Setup
from validation.wires import RcpLaw, Sharing

#: Connections of 40 and 80 ms.
TWO = Setup("xcp", (40, 80))

#: Other schemes on the same wire, with the bytes of headers in their packets.
CONTEXT = {"xcp": 72, "xcp-b": 72, "xcp-winf": 72, "rcp": 64, "rcp-winf": 64}

#: Ends of the half seconds that the page shows.
TIMES = (0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 10, 20, 30)


def _seconds(value: float) -> str:
    return "never" if math.isinf(value) else f"{value:.1f}"


def _sharing(label: str, of: Sharing) -> list[str]:
    shares = " / ".join(f"{share:.3f}" for share in of.steady())
    counts = (f"{of.utilisation:.2%}", f"{of.waiting:.2f}", str(of.dropped))
    return [label, _seconds(of.settled_s), shares, *counts]


SHARING = ["", "settled [s]", "shares from 10 s on", "in use", "queue", "lost"]


def xcp(facts: dict[Setup, Course]) -> str:
    """XCP beside ns-2's."""
    rows = []
    for round_trips in ((40, 80), (30, 60, 120, 240)):
        name = ", ".join(map(str, round_trips)) + " ms"
        rows.append(_sharing(name, wires.like_ns2(Setup("xcp", round_trips))))
        rows += [
            _sharing(f"ns-2, seed {setup.seed}", wires.of_ns2(setup, course))
            for setup, course in facts.items()
            if (setup.protocol, setup.round_trips, setup.payload) == ("xcp", round_trips, TWO.payload)
        ]
    return page.table(SHARING, rows)


def shares(facts: dict[Setup, Course]) -> str:
    """Shares over time."""
    ours = wires.like_ns2(TWO)
    theirs = {
        setup.seed: wires.of_ns2(setup, course)
        for setup, course in facts.items()
        if setup == Setup("xcp", TWO.round_trips, seed=setup.seed)
    }

    def cells(time: float) -> list[str]:
        each = [ours, *theirs.values()]
        return [f"{time:g}", *(" / ".join(f"{share:.2f}" for share in one.at(time)) for one in each)]

    head = ["time [s]", "multihop", *(f"ns-2, seed {seed}" for seed in theirs)]
    return page.table(head, map(cells, TIMES))


def unused(facts: dict[Setup, Course]) -> str:
    """What is left of the wire, by the size of packets."""
    rows = []
    for setup, course in facts.items():
        if (setup.protocol, setup.round_trips, setup.seed) != ("xcp", TWO.round_trips, TWO.seed):
            continue
        packet = setup.payload + setup.headers
        rows.append(
            [
                f"{packet}",
                f"{1 - wires.like_ns2(setup).utilisation:.2%}",
                f"{1 - wires.of_ns2(setup, course).utilisation:.2%}",
                f"{one_packet_unused(setup):.2%}",
            ]
        )
    return page.table(["packet [bytes]", "unused, multihop", "unused, ns-2", "a packet that waits for good"], rows)


def one_packet_unused(setup: Setup) -> float:
    """The share of the bottleneck that XCP leaves unused if it takes one packet to wait for good.

    Round trips count alike, as flows that have equal shares are to.
    """
    mean_rtt = sum(setup.round_trips) / len(setup.round_trips) / 1e3
    return 0.226 / 0.4 * (setup.payload + setup.headers) * 8 / mean_rtt / dumbbell.RATE


def context() -> str:
    """What the schemes make of the wire."""
    rows = []
    for scheme, headers in CONTEXT.items():
        found = wires.of_multihop(wires.scenario(scheme, TWO, **wires.SENDER), headers)
        rows.append(_sharing(scheme, found))
    return page.table(SHARING, rows)


def rcp() -> str:
    """RCP's law."""

    def cells(law: RcpLaw) -> list[str]:
        return [
            str(law.flows),
            f"{law.law_s:.2f}",
            f"{law.reached_s:.1f}",
            f"{law.round_trips:.0f}",
            _seconds(law.settled_s),
            f"{law.utilisation:.2%}",
            f"{law.waiting:.2f}",
            str(law.dropped),
        ]

    head = ["N", "law: 90 % [s]", "slowest flow [s]", "round trips", "settled [s]", "in use", "queue", "lost"]
    return page.table(head, (cells(wires.rcp(flows)) for flows in (1, 2, 4, 10)))


def window(facts: dict[Setup, Course]) -> str:
    """TCP with a window far above the pipe."""
    rows = []
    for setup, course in facts.items():
        if setup.protocol == "xcp":
            continue
        trips = ", ".join(map(str, setup.round_trips)) + " ms"
        scheme = wires.SCHEMES[setup.protocol]
        for label, found in (
            (f"{scheme}, {trips}", wires.like_ns2(setup)),
            (f"{scheme}, {trips}, flavour ns2", wires.like_ns2(setup, flavour="ns2")),
            (f"ns-2, {setup.protocol}, {trips}", wires.of_ns2(setup, course)),
        ):
            counts = (f"{found.waiting:.1f}", str(found.dropped), str(found.timeouts))
            rows.append([label, f"{found.delivered:.1%}", *counts])
    return page.table(["", "delivered", "queue", "lost", "timeouts"], rows)


def _causes(lost: dict[str, Estimate]) -> str:
    names = {"queue_full": "queue", "retry_limit": "retries"}
    return ", ".join(f"{names.get(cause, cause)} {page.shown(value, 1)}" for cause, value in lost.items()) or "none"


def schemes(rows: list[radio.SchemeRow]) -> str:
    """What each scheme makes of the chain."""
    head = ["", "goodput [Mb/s]", "queue", "delay [ms]", "window", "lost per second", "repeated"]
    return page.table(
        head,
        (
            [
                row.label,
                page.shown(row.goodput_mbps, 3),
                page.shown(row.queue, 1),
                f"{row.delay_s.mean * 1e3:.0f}",
                f"{row.window.mean:.0f}",
                _causes(row.lost),
                f"{row.repeated.mean:.1%}",
            ]
            for row in rows
        ),
    )


def beliefs(rows: list[radio.BeliefRow], truth: radio.Truth) -> str:
    """What rt-Winf said at each node."""
    head = ["", "capacity", "available", "in use", "truly busy", "truly left", "rest [packets]"]
    return page.table(
        head,
        (
            [
                f"{row.label}, {row.node}",
                f"{row.capacity.mean:.2f}",
                f"{row.available.mean:.2f}",
                f"{row.believed_busy.mean:.1%}",
                f"{row.true_busy.mean:.1%}",
                f"{truth.hop_mbps * (1 - row.true_busy.mean):.2f}",
                f"{row.rest_packets:.0f}",
            ]
            for row in rows
        ),
    )


def _radio(effort: radio.Effort) -> dict[str, str]:
    truth, found, believed = radio.truth(effort), radio.schemes(effort), radio.beliefs(effort)
    goodput = {row.label: f"{row.goodput_mbps.mean:.2f}" for row in found}
    queue = {row.label: f"{row.queue.mean:.1f}" for row in found}
    rest = {row.label: f"{row.rest_packets:.0f}" for row in believed if row.node == radio.MIDDLE}
    return {
        "seeds": str(effort.seeds),
        "seconds": str(effort.seconds),
        "hop": f"{truth.hop_mbps:.2f}",
        "chain": f"{truth.chain_mbps:.2f}",
        "load": f"{truth.best_load_mbps:.2f}",
        "saturated": f"{truth.saturated_mbps:.2f}",
        "schemes": schemes(found),
        "beliefs": beliefs(believed, truth),
        "believed": f"{believed[0].capacity.mean:.2f}",
        "rcp_32": goodput["rcp, phy-rate, window 32"],
        "rcp_phy": goodput["rcp, phy-rate"],
        "rcp_measured": goodput["rcp"],
        "rcp_measured_queue": queue["rcp"],
        "rcp_set": goodput["rcp, set to 1 Mb/s"],
        "rcp_set_queue": queue["rcp, set to 1 Mb/s"],
        "xcp_44": goodput["xcp, phy-rate, window 44"],
        "xcp_phy": goodput["xcp, phy-rate"],
        "xcp_forgets": goodput["xcp, phy-rate, forgets SACK"],
        "xcp_measured": goodput["xcp"],
        "xcp_measured_queue": queue["xcp"],
        "xcp_set": goodput["xcp, set to 1 Mb/s"],
        "xcp_set_queue": queue["xcp, set to 1 Mb/s"],
        "xcp_b": goodput["xcp-b"],
        "xcp_b_queue": queue["xcp-b"],
        "tcp_ap": goodput["tcp-ap"],
        "newreno": goodput["tcp-newreno"],
        "xcp_winf": goodput["xcp-winf"],
        "xcp_winf_queue": queue["xcp-winf"],
        "rcp_winf": goodput["rcp-winf"],
        "rcp_winf_queue": queue["rcp-winf"],
        "rest_xcp": rest["xcp-winf, printed"],
        "rest_rcp": rest["rcp-winf, printed"],
        "rest_xcp_full": rest["xcp-winf, printed, full busy"],
        "rest_rcp_full": rest["rcp-winf, printed, full busy"],
    }


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(prog="python -m validation.explicit_rates", description=__doc__)
    parser.add_argument(
        "file", nargs="?", type=Path, default=Path("docs/results/explicit-rates.md"), help="where the page goes"
    )
    parser.add_argument("--quick", action="store_true", help="few seeds")
    options = parser.parse_args()
    facts = dumbbell.recorded()
    values = {
        "version": multihop.__version__,
        "ns2": dumbbell.version(),
        "xcp": xcp(facts),
        "shares": shares(facts),
        "unused": unused(facts),
        "context": context(),
        "rcp": rcp(),
        "window": window(facts),
        **_radio(radio.QUICK if options.quick else radio.FULL),
    }
    text = (Path(__file__).parent / "templates" / "explicit_rates.md").read_text()
    options.file.write_text(re.sub(r"@(\w+)@", lambda found: values[found[1]], text))
    print(f"wrote {options.file}")


if __name__ == "__main__":
    main()
