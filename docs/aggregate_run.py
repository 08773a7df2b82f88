"""Two exchanges of a real run for the picture of an aggregate: one that loses packets, and the next."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

import multihop
from multihop.framelog import FrameLog, read

#: One of which two packets are lost soon.
SEED = 51

#: A log says when a packet comes over a wire, but not when it comes to the application of a node: so the
#: receiver hands on what it passes up, over a wire on which a packet takes hardly a microsecond.
_SCENARIO = """
name = "aggregate"
duration = "200 ms"
warmup = "0 s"

[phy]
standard = "802.11n"
data_rate = "MCS 7"

[mac.aggregation]
mpdus = 8

[medium]
model = "ranges"
packet_error_rate = 0.15

[topology]
nodes = [
  { name = "sender", position = ["0 m", "0 m"] },
  { name = "receiver", position = ["10 m", "0 m"] },
  { name = "host" },
]
wires = [{ between = ["receiver", "host"], rate = "10 Gb/s", delay = "0 us" }]

[[flows]]
from = "sender"
to = "host"
scheme = "udp"
app = { kind = "saturated" }
"""


@dataclass(frozen=True)
class Mpdu:
    """One try of a packet: its bits on the air, and what became of them. Times are in nanoseconds."""

    packet: int
    begins: int
    ends: int
    arrived: bool


@dataclass(frozen=True)
class Exchange:
    """An aggregate and its block acknowledgement."""

    #: The sender contends since then: the end of the exchange before.
    contends: int
    begins: int
    mpdus: tuple[Mpdu, ...]
    ends: int
    answer_begins: int
    answer_ends: int

    @property
    def lost(self) -> list[int]:
        """The packets that did not arrive."""
        return [mpdu.packet for mpdu in self.mpdus if not mpdu.arrived]


@dataclass(frozen=True)
class Story:
    """Two consecutive exchanges, and when the receiver passed each packet of a run up."""

    first: Exchange
    second: Exchange
    passed_up: dict[int, int]


def story(exchanges: Sequence[Exchange], passed_up: dict[int, int]) -> Story:
    """An exchange of new packets that loses two apart from each other, and the next, which loses none.

    Raises:
        LookupError: if there is none.
    """
    tried = set[int]()
    for first, second in pairwise(exchanges):
        packets = [mpdu.packet for mpdu in first.mpdus]
        within = set(first.lost) <= set(packets[1:-1])
        apart = len(first.lost) == 2 and first.lost[1] - first.lost[0] > 1
        if apart and within and not second.lost and tried.isdisjoint(packets):
            return Story(first, second, passed_up)
        tried.update(packets)
    raise LookupError("docs/aggregate_run.py: no exchange of the run loses two packets; a longer run would have one")


def logged() -> tuple[list[Exchange], dict[int, int]]:
    """The exchanges of the run, and when each packet was passed up."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.frames"
        multihop.run(_SCENARIO, seed=SEED, frames=path)
        log = read(path)
    return _exchanges(log), _passed_up(log)


def _exchanges(log: FrameLog) -> list[Exchange]:
    sent = log.transmissions.to_dict("records")
    mpdus = log.in_words(log.tables["mpdus"])
    tries = dict(iter(mpdus.groupby("start")))
    found = list[Exchange]()
    for before, frame, answer in zip(sent, sent[1:], sent[2:], strict=False):
        if frame["start"] in tries and answer["kind"] == "block-ack":
            ends = _end(frame)
            parts = _parts(tries[frame["start"]], ends, frame["bytes"] * 8e9 / frame["rate"])
            found.append(Exchange(_end(before), frame["start"], parts, ends, answer["start"], _end(answer)))
    return found


def _end(frame: Mapping[str, Any]) -> int:
    return frame["start"] + frame["airtime"]


def _parts(tries: pd.DataFrame, ends: int, bits: float) -> tuple[Mpdu, ...]:
    """The packets of an aggregate, of one size, side by side in what its bits take at their rate.

    Symbols are whole: what fills the last one up is taken for a part of the preamble.
    """
    edges = [round(ends - bits + place * bits / len(tries)) for place in range(len(tries) + 1)]
    arrived = tries["outcome"] == "arrived"
    return tuple(map(Mpdu, tries["packet"].tolist(), edges, edges[1:], arrived.tolist()))


def _passed_up(log: FrameLog) -> dict[int, int]:
    ingress = log.in_words(log.tables["ingress"])
    wires = ingress.index[(ingress["node"] == "host") & (ingress["carries"] == "data")]
    came = log.tables["entries"]
    came = came[came["ingress"].isin(wires)]
    return dict(zip(came["packet"].tolist(), came["time"].tolist(), strict=True))
