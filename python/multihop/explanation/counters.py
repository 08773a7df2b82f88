"""Sums over the tables of causes of several runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import pandas as pd

from multihop import _core
from multihop.experiments.runs import FinishedRun
from multihop.explanation.wires import uses
from multihop.results.causes import CAUSE_TABLES, LOSS_CAUSES
from multihop.results.columns import DROP_CAUSES

#: Frames that solicit a response, and the responses.
SOLICITING, RESPONSES = ("rts", "data"), ("cts", "ack")

#: Kind of cause of each loss cause of frames. Kinds of collisions name the kind of overlap.
FRAME_KINDS = {
    "lost_receiver_sending": "receiver-sending",
    "lost_channel": "channel",
    "lost_weak": "weak",
    "lost_off": "off",
    "unanswered": "unanswered",
    "late": "late",
}
_OVERLAPS = {"hidden": "hidden", "simultaneous": "together", "sensed": "sensed"}


class Blame(NamedTuple):
    """Cause of a lost frame: its kind, and the index of the interferer of a collision."""

    kind: str
    interferer: int | None = None


@dataclass
class Failures:
    """Failed attempts on a directed link by one cause."""

    #: Attempts that failed.
    frames: int = 0
    #: Attempts of which only an RTS or a CTS was lost, which takes little time.
    short: int = 0
    #: Attempts of which the response was lost, at the sender.
    answers: int = 0
    #: Number of collisions by the interferer's frame and its addressee (an index; `None` for broadcasts).
    doing: Counter[tuple[str, int | None]] = field(default_factory=Counter)
    #: Number of collisions whose interferer decodes the receiver's frames.
    warned: int = 0


@dataclass(frozen=True)
class HopCounters:
    """Counters of a flow on a directed link in all runs; `mpdus` is the mean number of MPDUs in a PPDU."""

    rts: int
    data: int
    acknowledged: int
    given_up: int
    wait_s: float
    service_s: float
    airtime: float
    mpdus: float

    @property
    def frames(self) -> int:
        """Number of frames that were acknowledged or given up."""
        return self.acknowledged + self.given_up


def has_causes(runs: Sequence[FinishedRun]) -> bool:
    """Whether the runs have the tables of causes."""
    return all(name in run.output for run in runs for name in CAUSE_TABLES)


class CauseCounters:
    """Sums over runs of one scenario, by indices of flows and nodes."""

    def __init__(self, runs: Sequence[FinishedRun]) -> None:
        self.view = runs[0].view
        self.runs = len(runs)
        self.measured_s = float(runs[0].output["summary"]["measured_s"])
        outputs = [run.output for run in runs]
        self.flows = pd.concat([run.flows for run in runs])
        self.nodes = pd.concat([run.nodes for run in runs]).groupby("node").mean(numeric_only=True).to_dict("index")
        self.wires = uses(pd.concat([run.wires for run in runs]))
        rows = _rows("links", outputs)
        #: Mean number of MPDUs in a PPDU, by directed link.
        self.mpdus = _mpdus(rows)
        links = rows.groupby(["sender", "receiver"]).sum()
        self.links: dict[Any, dict[Any, Any]] = dict(zip(links.index, links.to_dict("records"), strict=True))
        self.hops = self._hops(_rows("hops", outputs))
        self.drops = self._drops(_rows("drops", outputs))
        self.failures = self._failures(_rows("losses", outputs), _rows("collisions", outputs))

    def name(self, node: int) -> str:
        """Returns the name of a node."""
        return self.view["nodes"][node]["name"]

    def _hops(self, rows: pd.DataFrame) -> dict[tuple[int, bool, int, int], HopCounters]:
        ended = rows["acknowledged"] + rows["given_up"]
        rows = rows.assign(ended=ended, wait=rows["wait_mean_s"] * ended, service=rows["service_mean_s"] * ended)
        columns = ["rts", "data", "acknowledged", "given_up", "ended", "wait", "service", "airtime"]
        sums = rows.groupby(["flow", "feedback", "sender", "receiver"])[columns].sum()
        made = {}
        for key, each in zip(sums.index.to_list(), sums.to_dict("records"), strict=True):
            flow, feedback, sender, receiver = map(int, key)
            rts, data, acknowledged, given_up = (
                int(each[name]) for name in ("rts", "data", "acknowledged", "given_up")
            )
            wait, service = (float(each[name] / max(each["ended"], 1)) for name in ("wait", "service"))
            mpdus = self.mpdus.get((sender, receiver), 1.0)
            airtime = float(each["airtime"]) / self.runs
            counters = HopCounters(rts, data, acknowledged, given_up, wait, service, airtime, mpdus)
            made[flow, bool(feedback), sender, receiver] = counters
        return made

    def _drops(self, rows: pd.DataFrame) -> dict[tuple[int, bool, int], dict[str, int]]:
        names = [f"dropped_{cause}" for cause in DROP_CAUSES]
        sums = rows.groupby(["flow", "feedback", "node"])[names].sum()
        made = {}
        for key, counts in zip(sums.index.to_list(), sums.to_numpy(dtype=int).tolist(), strict=True):
            flow, feedback, node = map(int, key)
            made[flow, bool(feedback), node] = {
                cause: count for cause, count in zip(DROP_CAUSES, counts, strict=True) if count
            }
        return made

    def _failures(self, losses: pd.DataFrame, collisions: pd.DataFrame) -> dict[tuple[int, int], dict[Blame, Failures]]:
        """Returns failed attempts by directed link and cause, with those whose response failed."""
        made: dict[tuple[int, int], dict[Blame, Failures]] = defaultdict(lambda: defaultdict(Failures))

        def add(row: dict[Any, Any], blame: Blame, count: int) -> Failures:
            solicits = row["frame"] in SOLICITING
            link = (row["sender"], row["receiver"]) if solicits else (row["receiver"], row["sender"])
            found = made[link][blame]
            found.frames += count
            found.short += count if row["frame"] in {"rts", "cts"} else 0
            found.answers += 0 if solicits else count
            return found

        for row in losses.to_dict("records"):
            for column in LOSS_CAUSES:
                if column in FRAME_KINDS and row[column]:
                    add(row, Blame(FRAME_KINDS[column]), int(row[column]))
        for row in collisions.to_dict("records"):
            found = add(row, Blame(_OVERLAPS[row["overlap"]], int(row["interferer"])), int(row["lost"]))
            whom = None if pd.isna(row["interferer_to"]) else int(row["interferer_to"])
            found.doing[row["interferer_frame"], whom] += int(row["lost"])
            found.warned += int(row["lost"]) if row["warned"] else 0
        return made


def _mpdus(links: pd.DataFrame) -> dict[tuple[int, int], float]:
    sent = links[links["data"] > 0]
    ppdus = (sent["data"] / sent["aggregate_mean"]).groupby([sent["sender"], sent["receiver"]]).sum()
    data = sent.groupby(["sender", "receiver"])["data"].sum()
    return {cast("tuple[int, int]", link): float(mean) for link, mean in (data / ppdus).items()}


def _rows(name: str, outputs: Sequence[_core.Output]) -> pd.DataFrame:
    tables: list[dict[str, Any]] = [output[name] for output in outputs]  # type: ignore[literal-required]
    return pd.concat([pd.DataFrame(table) for table in tables])
