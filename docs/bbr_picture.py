"""The picture of BBR's states: rate and queue of one flow over a wire, at its start and around a ProbeRTT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import multihop
from multihop.report.svg import FAINT, PALETTE, Chart, style

#: Rate of the wire [Mb/s], and round-trip time of an empty wire [s].
RATE_MBPS, ROUND_TRIP_S = 20, 0.04
#: Seconds that the columns show.
STARTS, PROBES = (0.0, 1.4), (9.4, 11.6)
VERSIONS = {"tcp-bbr": "version 1", "tcp-bbr3": "version 3"}

#: In inches: narrow, so that its text is legible on a phone.
_WIDTH, _HEIGHT = 5.8, 6.6
_RATE, _QUEUE = PALETTE[0], PALETTE[3]


@dataclass(frozen=True)
class States:
    """States of a flow as its rate, window and queue show them, and when each begins and ends [s]."""

    startup: tuple[float, float]
    drain: tuple[float, float]
    probe_rtt: tuple[float, float]


def series(scheme: str) -> pd.DataFrame:
    """Rate, window and queue of a flow of this scheme over the wire, alone, in each round-trip time."""
    ends = [{"name": name, "position": [f"{place} m", "0 m"]} for name, place in (("a", 0), ("b", 500))]
    wire = {"between": ["a", "b"], "rate": f"{RATE_MBPS} Mb/s", "delay": f"{500 * ROUND_TRIP_S:g} ms", "queue": 1000}
    scenario = {
        "name": "bbr-states",
        "duration": f"{PROBES[1] + 1} s",
        "warmup": "0 s",
        "record_interval": f"{ROUND_TRIP_S} s",
        "topology": {"nodes": ends, "wires": [wire]},
        "flows": [{"from": "a", "to": "b", "scheme": scheme}],
    }
    return multihop.run(scenario).series


def states(found: pd.DataFrame) -> States:
    """States of a run: Startup fills the queue, Drain empties it, and ProbeRTT halves the window at least.

    Raises:
        ValueError: if a state does not occur.
    """
    times, queue, window = (found[name].to_numpy() for name in ("time_s", "source_queue", "window_bytes"))
    rate = found["sending_rate_bps"].to_numpy() / 1e6
    late = times > PROBES[0]
    small = late & (window < 0.5 * np.median(window[late]))
    full = int(np.argmax(queue))
    slow = np.flatnonzero((np.arange(len(times)) > full) & (rate < 0.8 * RATE_MBPS))
    if not small.any() or not slow.size:
        raise ValueError("the run has no Drain, or no ProbeRTT")
    draining = int(slow[0])
    drained = np.flatnonzero(queue[draining:] < 0.1 * queue[full])
    if not drained.size:
        raise ValueError("the run does not end its Drain")
    empty = draining + int(drained[0])
    step = ROUND_TRIP_S
    return States(
        (0.0, times[draining] - step),
        (times[draining] - step, times[empty]),
        (times[small][0] - step, times[small][-1]),
    )


def svg(runs: dict[str, pd.DataFrame]) -> str:
    """The picture of runs by scheme, dark on white."""
    with style():
        label = "States of BBR: rate and queue of a flow, at its start and around a ProbeRTT"
        chart = Chart("bbr", label, _WIDTH, _HEIGHT)
        axes = chart.figure.subplots(2 * len(runs), 2, sharex="col", sharey="row", height_ratios=[3, 2] * len(runs))
        for row, (scheme, found) in enumerate(runs.items()):
            of = states(found)
            for column, (begin, end) in enumerate((STARTS, PROBES)):
                rate, queue = axes[2 * row][column], axes[2 * row + 1][column]
                rate.axhline(RATE_MBPS, color=FAINT, linewidth=1.5)
                _line(rate, found, found["sending_rate_bps"] / 1e6, _RATE)
                _line(queue, found, found["source_queue"], _QUEUE)
                rate.set_xlim(begin, end)
                shaded = {"Startup": of.startup, "Drain": of.drain} if column == 0 else {"ProbeRTT": of.probe_rtt}
                for number, (name, (since, until)) in enumerate(shaded.items()):
                    for axis in (rate, queue):
                        axis.axvspan(since, until, color=_RATE, alpha=0.10 + 0.12 * number, linewidth=0)
                    rate.text((since + until) / 2, 1.02, name, transform=rate.get_xaxis_transform(), ha="center")
            axes[2 * row][0].set_ylabel(f"{VERSIONS[scheme]}\nsent [Mb/s]")
            axes[2 * row + 1][0].set_ylabel("queue\n[packets]")
        for axis in axes[-1]:
            axis.set_xlabel("time [s]")
        return chart.file()


def _line(axis: Any, found: pd.DataFrame, values: pd.Series, colour: str) -> None:  # noqa: ANN401 - an Axes
    axis.stairs(values, [0.0, *found["time_s"]], color=colour, linewidth=1.4, baseline=None)
    axis.set_ylim(bottom=0)
