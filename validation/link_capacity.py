"""`python -m validation.link_capacity [FILE]`: the model of a link's capacity beside saturated stations.

One station alone whose frames are lost, and many that share a medium. What the model (Qazi, Eqs. 1 to 3) leaves out is
put in bit by bit, until it meets the runs.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import multihop
from multihop import Result
from multihop.models.wlan_capacity import wlan_capacity
from multihop.results.statistics import Estimate
from validation import page
from validation.closed_forms import ACK, DIFS, EIFS, SIFS
from validation.measure import over, results

Scenario = dict[str, Any]

#: Bytes of a packet, and of a MAC frame that carries it, with header, FCS and LLC.
PACKET, FRAME = 1500, 1536
#: Transmissions of a frame before it is given up: the standard's short retry limit.
TRIES = 7
LOSSES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
STATIONS = (1, 2, 3, 5, 10, 20)


@dataclass(frozen=True)
class Effort:
    """How many seeds, and how many seconds are counted of each run."""

    seeds: int
    seconds: int


FULL = Effort(seeds=10, seconds=100)
QUICK = Effort(seeds=3, seconds=30)


def cell(stations: int, loss: float, effort: Effort) -> Scenario:
    """Saturated stations around a sink that all hear each other, without RTS/CTS; one of them is watched.

    Packets have no headers above, so that goodput is what the model calls capacity, of packets.
    """
    return {
        "name": f"link-capacity-{stations}",
        "duration": f"{effort.seconds + 10} s",
        "warmup": "10 s",
        "record_interval": "200 ms",
        "phy": {"standard": "802.11b", "data_rate": "11 Mb/s", "control_rate": "1 Mb/s"},
        "mac": {"rts_threshold": "off", "queue": 64},
        "medium": {"model": "ranges", "propagation_delay": "33 ns", "capture": "off", "packet_error_rate": loss},
        "topology": {"generator": "circle", "stations": stations, "radius": "10 m"},
        "schemes": {"udp": {"segment_size": f"{PACKET} B", "header": "0 B"}},
        "traffic": {"pattern": "canonical", "scheme": "udp", "app": {"kind": "saturated"}},
        "measure": [
            {"estimator": "packet-throughput", "at": ["n1"], "smoothing": 1.0},
            {"estimator": "modelled-capacity", "at": ["n1"], "smoothing": 1.0},
        ],
    }


@dataclass(frozen=True)
class Row:
    """What a station receives, and what is said of it, in Mb/s: means over seeds."""

    stations: int
    loss: float
    #: Share of the station's transmissions that were not acknowledged.
    failed: Estimate
    #: What it delivered.
    delivered: Estimate
    #: A packet over the mean time that the MAC had one that it delivered.
    per_delivered: Estimate
    #: Means over intervals of what estimators say: from transmission times of packets, and by Eq. 2, measured.
    intervals: Estimate
    measured: Estimate
    #: Share of the time in which others' frames were in the air, and of that after them before the medium can be used.
    others: Estimate
    spaces: Estimate


def observed(stations: int, loss: float, effort: Effort) -> Row:
    """A cell, as the first of its stations sees it."""
    runs = results(cell(stations, loss, effort), "udp", effort.seeds)

    def said(estimator: str, column: str) -> Estimate:
        def mean(run: Result) -> float:
            rows = run.measurements
            rows = rows[(rows["estimator"] == estimator) & (rows["time_s"] > 10)]
            return float(rows[column].mean()) / 1e6

        return over(runs, mean)

    def per_delivered(run: Result) -> float:
        return PACKET * 8 / float(run.nodes.iloc[1]["service_delay_mean_s"]) / 1e6

    def failed(run: Result) -> float:
        link = run.links[run.links["sender_name"] == "n1"].iloc[0]
        return 1 - float(link["acknowledged"]) / float(link["data"])

    def others(run: Result) -> float:
        node = run.nodes.iloc[1]
        own = run.links[run.links["sender_name"] == "n1"].iloc[0]["acknowledged"] * ACK / effort.seconds
        return float(node["receiving"] + node["sensing"]) - float(own)

    def spaces(run: Result) -> float:
        acknowledged, failed = (run.links["acknowledged"], run.links["data"] - run.links["acknowledged"])
        # Of collisions, nearly all of two frames, those of others.
        heard = failed.sum() / 2 - failed.iloc[0]
        exchanges = acknowledged.iloc[1:].sum()
        return float(exchanges * (SIFS + DIFS) + heard * EIFS) / effort.seconds

    def delivered(run: Result) -> float:
        return float(run.flows.iloc[0]["goodput_bps"]) / 1e6

    return Row(
        stations,
        loss,
        over(runs, failed),
        over(runs, delivered),
        over(runs, per_delivered),
        said("packet-throughput", "packet_throughput_bps"),
        said("modelled-capacity", "capacity_bps"),
        over(runs, others),
        over(runs, spaces),
    )


#: From the end of DATA until its ACK is overdue: SIFS, a slot, and the preamble.
TIMEOUT_S = 222e-6


def model(loss: float = 0.0, others: float = 0.0, *, frame: int = FRAME, tries: int = 1) -> float:
    """Eq. 2 in Mb/s of packets, with the bytes of the MAC or without."""
    made = wlan_capacity(frame, loss=loss, others=others, tries=tries, header=frame - PACKET)
    return made["goodput_bps"] / 1e6


def timed(loss: float) -> float:
    """What a station that is alone delivers, in Mb/s: Eq. 2 over all tries, but those that fail wait for the timeout.

    They have no SIFS and ACK (802.11-2012, 9.3.2.8). When the timeout is over, the medium has been idle for DIFS, and
    the next back-off begins.
    """
    made = wlan_capacity(FRAME, loss=loss, tries=TRIES)
    per_try = made["transmission_s"] + made["overhead_s"] + loss * (TIMEOUT_S - DIFS - SIFS - ACK)
    return (1 - loss) * PACKET * 8 / per_try / 1e6


def _off(value: float, truth: Estimate) -> str:
    return f"{value:.3f} ({value / truth.mean - 1:+.1%})"


def alone(effort: Effort) -> str:
    """One station, over the share of its frames that is lost."""
    rows = []
    for loss in LOSSES:
        row = observed(1, loss, effort)
        truth = row.delivered
        said = [
            model(loss, frame=PACKET),
            model(loss),
            model(loss, tries=TRIES),
            timed(loss),
            row.measured.mean,
            row.per_delivered.mean,
            row.intervals.mean,
        ]
        rows.append([f"{loss:.0%}", page.shown(truth, 3), *(_off(value, truth) for value in said)])
    head = ["lost", "delivered", "Eq. 2, X the packet", "X the frame", "and all back-offs", "and timeouts"]
    return page.table([*head, "Eq. 2, measured", "delivered packets", "intervals"], rows)


def shared(effort: Effort) -> str:
    """Stations that share a medium without losses but those of collisions."""
    rows = []
    for stations in STATIONS:
        row = observed(stations, 0.0, effort)
        truth = row.delivered
        idle = 1 - row.others.mean
        spaced = row.measured.mean * (idle - row.spaces.mean) / idle if stations > 1 else row.measured.mean
        said = [model(others=row.others.mean), row.measured.mean, spaced, row.per_delivered.mean, row.intervals.mean]
        cells = [f"{stations}", page.shown(truth, 3), f"{row.others.mean:.1%}", f"{row.failed.mean:.1%}"]
        rows.append(cells + [_off(value, truth) for value in said])
    head = ["stations", "delivered by each", "others' frames", "failed", "Eq. 2, U alone"]
    return page.table([*head, "Eq. 2, measured", "and spaces", "delivered packets", "intervals"], rows)


def example() -> str:
    """The numbers of section IV, and of the same link with its MAC's bytes."""
    rows = []
    variants: list[tuple[str, int, dict[str, Any]]] = [
        ("the paper's", PACKET, {"backoff": "320 us"}),
        ("X with the MAC's bytes, first window", FRAME, {}),
        ("the same, short preambles", FRAME, {"preamble": "short"}),
    ]
    for label, frame, options in variants:
        made = [wlan_capacity(frame, acknowledgement=size, header=frame - PACKET, **options) for size in (0, 40)]
        times = [f"{made[0][name] * 1e6:.1f}" for name in ("transmission_s", "overhead_s")]
        rows.append([label, *times, *(f"{one['goodput_bps'] / 1e6:.2f}" for one in made)])
    return page.table(["", "T_tr [us]", "T_ov [us]", "UDP [Mb/s]", "acknowledged [Mb/s]"], rows)


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(prog="python -m validation.link_capacity", description=__doc__)
    parser.add_argument(
        "file", nargs="?", type=Path, default=Path("docs/results/link-capacity.md"), help="where the page goes"
    )
    parser.add_argument("--quick", action="store_true", help="few seeds")
    options = parser.parse_args()
    effort = QUICK if options.quick else FULL
    values = {
        "version": multihop.__version__,
        "seeds": str(effort.seeds),
        "seconds": str(effort.seconds),
        "example": example(),
        "alone": alone(effort),
        "shared": shared(effort),
    }
    text = (Path(__file__).parent / "templates" / "link_capacity.md").read_text()
    options.file.write_text(re.sub(r"@(\w+)@", lambda found: values[found[1]], text))
    print(f"wrote {options.file}")


if __name__ == "__main__":
    main()
