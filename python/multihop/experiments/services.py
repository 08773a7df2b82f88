"""Service of each flow, and its status: dead, starving, slow, late, lossy or fine.

A status has the same meaning in verdicts, explanations, reports and data. Flows are judged seed by seed: a
flow with all of its share under one seed and nothing under another starves, whatever its mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import pandas as pd

from multihop import _core
from multihop.experiments.runs import FinishedRun
from multihop.optima.optimum import Optimum
from multihop.results.frames import wants
from multihop.results.words import percent, three_digits

#: Shares of the fair goodput: below the first a flow starves under a seed, below the second its mean is slow.
STARVING, SLOW = 0.1, 0.5

#: Limit of one-way delay for conversations in seconds (ITU-T G.114).
CONVERSATION_S = 0.4

#: Share of lost packets that a conversation tolerates, and of lost or late frames that a video tolerates
#: (ITU-T G.1010, table I.1).
CONVERSATION_LOSS, VIDEO_LOSS = 0.03, 0.01


class Yardstick(StrEnum):
    """Reference goodput of a flow."""

    #: Proportionally fair optimum.
    FAIR = "the fair share"
    #: Without an optimum: mean goodput of flows with equal demand.
    ALIKE = "the mean of flows with equal demand"
    #: Optimum of a flow that is alone in its network.
    PATH = "what its path can carry"
    #: Offered rate, of a flow without others of equal demand.
    OFFERED = "what it offers"
    #: Goodput of the best seed, of a greedy flow without others of equal demand.
    BEST = "its best seed"


#: Applications that send at their own rate, and need each packet in time.
_PACED = {"cbr", "poisson"}


#: Outcomes of a video's frames.
_FRAMES = ("on_time", "late", "lost", "skipped")

#: Columns of the table of flows from which a service is computed.
_COLUMNS = (
    "goodput_bps",
    "delay_p95_s",
    "packets_lost",
    "packets_delivered",
    *(f"video_frames_{how}" for how in _FRAMES),
)


class Status(StrEnum):
    """Status of a flow, the worst first."""

    DEAD = "dead"
    STARVING = "starving"
    SLOW = "slow"
    LATE = "late"
    LOSSY = "lossy"
    FINE = "fine"


@dataclass(frozen=True)
class Service:
    """Service of a flow under each seed of one variant.

    Attributes:
        flow: index of the flow.
        name: name of the flow.
        goodput_bps: goodput by seed.
        fair_bps: reference goodput; at most the offered rate.
        yardstick: kind of reference.
        delay_p95_s: mean over seeds of the 95th percentile of one-way delay; NaN if nothing arrived.
        loss_ratio: share of lost packets over all seeds; NaN if none was lost or delivered.
        missed_ratio: share of a video's frames that were late, lost or skipped, over all seeds; NaN without
            video.
        lost_ratio: share of a video's frames with a lost packet, over all seeds; NaN without video.
        is_call: whether the flow sends datagrams at its own rate, which its fair share covers.
    """

    flow: int
    name: str
    goodput_bps: np.ndarray = field(repr=False)
    fair_bps: float
    yardstick: Yardstick
    delay_p95_s: float
    loss_ratio: float
    missed_ratio: float
    lost_ratio: float
    is_call: bool

    @property
    def loses_most(self) -> bool:
        """Whether losses rather than delay impair a call or a video."""
        return self.status == Status.LOSSY or (self.status == Status.LATE and self.lost_ratio > 0.5 * self.missed_ratio)

    @property
    def is_video(self) -> bool:
        """Whether the flow sends frames with a deadline."""
        return not np.isnan(self.missed_ratio)

    @property
    def misses_frames(self) -> bool:
        """Whether a video misses more frames than it tolerates."""
        return self.missed_ratio > VIDEO_LOSS

    @property
    def share(self) -> float:
        """Mean goodput over the fair goodput; 0 if that is zero."""
        return float(self.goodput_bps.mean()) / self.fair_bps if self.fair_bps > 0 else 0.0

    @property
    def starves(self) -> np.ndarray:
        """Whether the flow starves, by seed."""
        starves: np.ndarray = (self.goodput_bps < STARVING * self.fair_bps) | (self.goodput_bps == 0)
        return starves

    @property
    def starved_seeds(self) -> int:
        """Number of seeds under which the flow starves."""
        return int(self.starves.sum())

    @property
    def status(self) -> Status:
        """Status of the flow over all seeds."""
        if not self.goodput_bps.any():
            return Status.DEAD
        if self.starved_seeds:
            return Status.STARVING
        if self.share < SLOW:
            return Status.SLOW
        if self.misses_frames or (self.is_call and self.delay_p95_s > CONVERSATION_S):
            return Status.LATE
        return Status.LOSSY if self.is_call and self.loss_ratio > CONVERSATION_LOSS else Status.FINE

    @property
    def lack(self) -> tuple[Status, bool]:
        """Key of what the flow lacks, equal for flows with equal lack."""
        return self.status, self.misses_frames

    @property
    def severity(self) -> float:
        """Rank among flows with equal lack; the worst flow has the highest."""
        match self.status:
            case Status.LATE if self.misses_frames:
                return self.missed_ratio
            case Status.LATE:
                return self.delay_p95_s
            case Status.LOSSY:
                return self.loss_ratio
        return -self.share

    def sentence(self) -> str:
        """Returns the reason for the status in a few words."""
        seeds = len(self.goodput_bps)
        match self.status:
            case Status.DEAD:
                return "nothing arrives" if seeds == 1 else f"nothing arrives in all {seeds} seeds"
            case Status.STARVING:
                share = f"less than {100 * STARVING:g} % of {self.yardstick}"
                return share if seeds == 1 else f"{share} in {self.starved_seeds} of {seeds} seeds"
            case Status.SLOW:
                return f"{percent(self.share)} of {self.yardstick}"
            case Status.LATE if self.misses_frames:
                return f"{percent(self.missed_ratio)} of frames late or lost; limit {100 * VIDEO_LOSS:g} %"
            case Status.LATE:
                delay = f"delay {three_digits(1e3 * self.delay_p95_s)} ms (95th percentile)"
                return f"{delay}; limit {1e3 * CONVERSATION_S:g} ms"
            case Status.LOSSY:
                return f"{percent(self.loss_ratio)} of packets lost; limit {100 * CONVERSATION_LOSS:g} %"
        return ""

    def met(self) -> str:
        """Returns the limits that a fine flow of this kind keeps."""
        share = f"at least {100 * SLOW:g} % of {self.yardstick}"
        if self.is_video:
            return f"{share}, at most {100 * VIDEO_LOSS:g} % of the frames late or lost"
        if self.is_call:
            delay = f"delay at most {1e3 * CONVERSATION_S:g} ms (95th percentile)"
            return f"{share}, {delay}, at most {100 * CONVERSATION_LOSS:g} % of the packets lost"
        return share


def services(runs: Sequence[FinishedRun], best: Optimum | None) -> list[Service]:
    """Returns the service of every flow of one variant; `best` is the optimum of its scenario, if known."""
    flows = runs[0].view["flows"]
    tables = [run.flows for run in runs]
    comparable = best is not None and best.not_comparable is None
    if best is not None and comparable:
        fair, yardsticks = _optimal(best, flows)
    else:
        fair, yardsticks = _means(flows, np.array([table["goodput_bps"].to_numpy(dtype=float) for table in tables]))
    made = []
    for flow, about in enumerate(flows):
        offered = about["offered_bps"]
        is_call = about["app"] in _PACED and offered is not None and (not comparable or fair[flow] >= 0.99 * offered)
        rows = pd.DataFrame([table.iloc[flow] for table in tables])
        made.append(_service(flow, about["name"], float(fair[flow]), yardsticks[flow], rows, is_call=is_call))
    return made


def services_elsewhere(found: Sequence[Service], tables: Sequence[pd.DataFrame]) -> list[Service | None]:
    """Returns the services of the same flows in other runs, given their tables of flows, one per seed.

    Flows are matched by name and keep their reference goodput; `None` for a flow that the other runs lack.
    """
    made: list[Service | None] = []
    for each in found:
        rows = rows_of(each.name, tables)
        same = (each.flow, each.name, each.fair_bps, each.yardstick)
        made.append(None if rows is None else _service(*same, rows, is_call=each.is_call))
    return made


def rows_of(name: str, tables: Sequence[pd.DataFrame]) -> pd.DataFrame | None:
    """Returns the rows of the flow of that name, one per seed; `None` if a table lacks the flow."""
    found = [table[table["name"] == name] for table in tables]
    return None if any(rows.empty for rows in found) else pd.concat(found, ignore_index=True)


def _service(
    flow: int, name: str, fair_bps: float, yardstick: Yardstick, rows: pd.DataFrame, *, is_call: bool
) -> Service:
    """Returns the service of a flow from its rows of the table of flows, one per seed."""
    column = {each: rows[each].to_numpy(dtype=float) for each in _COLUMNS}
    lost, arrived = column["packets_lost"].sum(), column["packets_delivered"].sum()
    frames = {how: float(np.nansum(column[f"video_frames_{how}"])) for how in _FRAMES}
    shown = sum(frames.values())
    delays = column["delay_p95_s"]
    return Service(
        flow,
        name,
        column["goodput_bps"],
        fair_bps,
        yardstick,
        float(delays[np.isfinite(delays)].mean()) if np.isfinite(delays).any() else float("nan"),
        _ratio(lost, lost + arrived),
        _ratio(shown - frames["on_time"], shown),
        _ratio(frames["lost"], shown),
        is_call,
    )


def records(found: Sequence[Service]) -> list[Mapping[str, object]]:
    """Returns services as plain data (JSON)."""
    return [
        {
            "flow": each.flow,
            "name": each.name,
            "status": str(each.status),
            "why": each.sentence(),
            "share": each.share,
            "fair_bps": each.fair_bps,
            "fair_is": str(each.yardstick),
            "starved_seeds": each.starved_seeds,
            "seeds": len(each.goodput_bps),
        }
        for each in found
    ]


def _optimal(best: Optimum, flows: Sequence[_core.FlowView]) -> tuple[np.ndarray, list[Yardstick]]:
    """Returns the rates of the optimum with their yardsticks; a single flow shares with no other."""
    made: np.ndarray = np.minimum(best.rates_bps, best.shares.offered_bps)
    if sum(not flow.get("acknowledges", False) for flow in flows) > 1:
        return made, [Yardstick.FAIR] * len(made)
    offered = best.shares.offered_bps <= best.rates_bps
    return made, [Yardstick.OFFERED if all_of_it else Yardstick.PATH for all_of_it in offered]


def _means(flows: Sequence[_core.FlowView], goodput: np.ndarray) -> tuple[np.ndarray, list[Yardstick]]:
    """Returns the mean goodput of flows with equal demand, at most the offered rate.

    The reference of a flow without others of equal demand is its offered rate, or the goodput of its best
    seed.
    """
    kinds = wants(flows)
    alike: dict[tuple[str, float | None], list[int]] = {}
    for index, kind in enumerate(kinds):
        alike.setdefault(kind, []).append(index)
    fair, yardsticks = [], []
    for index, kind in enumerate(kinds):
        offered = kind[1]
        if len(alike[kind]) > 1:
            mean = float(goodput[:, alike[kind]].mean())
            fair.append(mean if offered is None else min(mean, offered))
            yardsticks.append(Yardstick.ALIKE)
        elif offered is not None:
            fair.append(offered)
            yardsticks.append(Yardstick.OFFERED)
        else:
            fair.append(float(goodput[:, index].max()))
            yardsticks.append(Yardstick.BEST)
    return np.array(fair), yardsticks


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else float("nan")
