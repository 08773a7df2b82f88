"""What each flow got of what it could have: dead, starving, slow, late, lossy or fine.

The words mean the same in verdicts, explanations, reports and their data. A flow is judged seed by seed:
one that has everything under one seed and nothing under the next starves, whatever its mean is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from multihop import _core
from multihop.comparison.run import Run
from multihop.optima.optimum import Optimum
from multihop.results.frames import wants
from multihop.results.words import percent, three_digits

#: Shares of what is fair, below which a flow starves under a seed, and is slow on average.
STARVING, SLOW = 0.1, 0.5

#: Delay above which a conversation is not possible (ITU-T G.114), in seconds.
CONVERSATION_S = 0.4

#: Share of lost packets that a conversation bears, and of lost or late frames that a video bears (ITU-T
#: G.1010, table I.1).
CONVERSATION_LOSS, VIDEO_LOSS = 0.03, 0.01


class Yardstick(StrEnum):
    """The goodput that a flow is held against."""

    #: The proportionally fair optimum.
    FAIR = "the fair share"
    #: Without an optimum to hold runs against.
    ALIKE = "the mean of the flows that want the same"
    #: Of a flow that is alone in what it wants.
    OFFERED = "what it offers"
    #: Of a flow that is alone, and takes what it gets.
    BEST = "its best seed"


#: Applications that send at a rate of their own, each packet of which matters when it is sent.
_PACED = {"cbr", "poisson"}


#: What became of a video's frames.
_FRAMES = ("on_time", "late", "lost", "skipped")

#: Columns of the table of flows that a service is made of.
_COLUMNS = ("delay_p95_s", "packets_lost", "packets_delivered", *(f"video_frames_{how}" for how in _FRAMES))


class Status(StrEnum):
    """How a flow fares, the worst first."""

    DEAD = "dead"
    STARVING = "starving"
    SLOW = "slow"
    LATE = "late"
    LOSSY = "lossy"
    FINE = "fine"


#: What a flow that is fine has.
FINE = f"at least {100 * SLOW:g} % of the fair share, and calls and videos in time"


@dataclass(frozen=True)
class Service:
    """What a flow got under each seed of one variant.

    Attributes:
        flow: index.
        name: of the flow.
        goodput_bps: by seed.
        fair_bps: goodput that the flow is held against; never more than the flow offers.
        yardstick: which goodput that is.
        delay_p95_s: mean over seeds of the 95th percentile of one-way delay; NaN where nothing arrived.
        loss_ratio: share of its packets that were lost, over all seeds; NaN where none was decided.
        missed_ratio: share of a video's frames that were late, lost or skipped, over all seeds; else NaN.
        lost_ratio: share of a video's frames of which a packet was lost, over all seeds; else NaN.
        is_call: whether the flow sends datagrams at a rate of its own, which its fair share covers.
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
        """Whether losses, rather than delay, keep a call or a video from what it needs."""
        return self.status == Status.LOSSY or (self.status == Status.LATE and self.lost_ratio > 0.5 * self.missed_ratio)

    @property
    def misses_frames(self) -> bool:
        """Whether a video misses more frames than it bears."""
        return self.missed_ratio > VIDEO_LOSS

    @property
    def share(self) -> float:
        """Mean goodput over the fair share; 0 without one."""
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
        """How the flow fares over all seeds."""
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
        """Equal for flows that lack the same."""
        return self.status, self.misses_frames

    @property
    def severity(self) -> float:
        """Rank among flows with the same lack; the worst has the highest."""
        match self.status:
            case Status.LATE if self.misses_frames:
                return self.missed_ratio
            case Status.LATE:
                return self.delay_p95_s
            case Status.LOSSY:
                return self.loss_ratio
        return -self.share

    def sentence(self) -> str:
        """Why the status is what it is, in a few words."""
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
                return f"{percent(self.missed_ratio)} of its frames late or lost"
            case Status.LATE:
                within = f"95 % of its packets within {three_digits(1e3 * self.delay_p95_s)} ms"
                return f"{within}; a call needs {1e3 * CONVERSATION_S:g} ms"
            case Status.LOSSY:
                return f"{percent(self.loss_ratio)} of its packets lost; a call bears {100 * CONVERSATION_LOSS:g} %"
        return ""


def services(runs: Sequence[Run], best: Optimum | None) -> list[Service]:
    """The service of every flow of one variant; `best` is the optimum of its scenario, if there is one."""
    view = runs[0].view
    tables = [run.flows for run in runs]
    goodput = np.array([table["goodput_bps"].to_numpy(dtype=float) for table in tables])
    comparable = best is not None and best.not_comparable is None
    fair, yardsticks = _optimal(best) if best is not None and comparable else _means(view["flows"], goodput)
    column = {name: np.array([table[name].to_numpy(dtype=float) for table in tables]) for name in _COLUMNS}
    lost, arrived = column["packets_lost"].sum(axis=0), column["packets_delivered"].sum(axis=0)
    frames = {how: np.nansum(column[f"video_frames_{how}"], axis=0) for how in _FRAMES}
    made = []
    for flow, about in enumerate(view["flows"]):
        offered = about["offered_bps"]
        is_call = about["app"] in _PACED and offered is not None and (not comparable or fair[flow] >= 0.99 * offered)
        shown = sum(frames[how][flow] for how in _FRAMES)
        delays = column["delay_p95_s"][:, flow]
        made.append(
            Service(
                flow,
                about["name"],
                goodput[:, flow],
                float(fair[flow]),
                yardsticks[flow],
                float(delays[np.isfinite(delays)].mean()) if np.isfinite(delays).any() else float("nan"),
                _ratio(lost[flow], lost[flow] + arrived[flow]),
                _ratio(shown - frames["on_time"][flow], shown),
                _ratio(frames["lost"][flow], shown),
                is_call,
            )
        )
    return made


def records(found: Sequence[Service]) -> list[Mapping[str, object]]:
    """Statuses as plain data (JSON)."""
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


def _optimal(best: Optimum) -> tuple[np.ndarray, list[Yardstick]]:
    made: np.ndarray = np.minimum(best.rates_bps, best.shares.offered_bps)
    return made, [Yardstick.FAIR] * len(made)


def _means(flows: Sequence[_core.FlowView], goodput: np.ndarray) -> tuple[np.ndarray, list[Yardstick]]:
    """Mean goodput of the flows that want the same as each, and no more than it offers.

    A flow that is alone in what it wants would be held against itself: it is held against what it offers, or
    against its best seed.
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
