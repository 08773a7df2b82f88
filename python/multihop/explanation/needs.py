"""Needs of flows: the number of each seed by which a remedy for a flow is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from multihop.experiments.runs import FinishedRun
from multihop.experiments.services import CONVERSATION_S, Service, Status, rows_of


class Need(StrEnum):
    """Number of a seed that decides whether a remedy helps a flow."""

    #: Of a starving flow: number of seeds in which it starves, then its goodput.
    EVERY_SEED = "every-seed"
    GOODPUT = "goodput"
    #: Share of a video's frames that are late, lost or skipped.
    FRAMES = "frames"
    #: Share of a call's packets that are late or lost.
    PACKETS = "packets"
    #: Share of a call's packets that are lost.
    LOSS = "loss"

    @property
    def more_is_better(self) -> bool:
        """Whether the number is a goodput; other numbers are shares of missed frames or packets."""
        return self in {Need.EVERY_SEED, Need.GOODPUT}


@dataclass(frozen=True)
class SeedTables:
    """Tables of flows and of delays, one of each per seed."""

    flows: Sequence[pd.DataFrame]
    delays: Sequence[pd.DataFrame]

    @classmethod
    def of(cls, runs: Sequence[FinishedRun]) -> SeedTables:
        """Returns the tables of runs."""
        return cls([run.flows for run in runs], [run.delays for run in runs])

    def at(self, which: Sequence[int]) -> SeedTables:
        """Returns the tables at these positions."""
        return SeedTables([self.flows[index] for index in which], [self.delays[index] for index in which])

    @property
    def total_bps(self) -> np.ndarray:
        """Total goodput of all flows, by seed."""
        return np.array([float(table["goodput_bps"].sum()) for table in self.flows])


def need_of(service: Service) -> Need:
    """Returns the number that decides whether a remedy helps a flow with this service."""
    match service.status:
        case Status.DEAD | Status.STARVING:
            return Need.EVERY_SEED
        case Status.SLOW:
            return Need.GOODPUT
        case Status.LOSSY:
            return Need.LOSS
    if service.is_video:
        return Need.FRAMES
    return Need.PACKETS if service.is_call else Need.GOODPUT


def by_seed(need: Need, service: Service, tables: SeedTables) -> np.ndarray:
    """Returns the deciding number by seed; NaN without a value."""
    rows = rows_of(service.name, tables.flows)
    if rows is None:
        return np.full(len(tables.flows), np.nan)
    match need:
        case Need.FRAMES:
            missed = rows[[f"video_frames_{how}" for how in ("late", "lost", "skipped")]].sum(axis=1)
            return _shares(missed, missed + rows["video_frames_on_time"])
        case Need.PACKETS:
            missed = rows["packets_lost"] + np.array([_late(service.name, table) for table in tables.delays])
            return _shares(missed, rows["packets_lost"] + rows["packets_delivered"])
        case Need.LOSS:
            return _shares(rows["packets_lost"], rows["packets_lost"] + rows["packets_delivered"])
    return rows["goodput_bps"].to_numpy(dtype=float)


def _late(name: str, delays: pd.DataFrame) -> float:
    """Returns the number of packets of a flow whose delay exceeds the limit of conversations."""
    late = (delays["name"] == name) & (delays["delay_s"] > CONVERSATION_S)
    return float(delays.loc[late, "packets"].sum())


def _shares(part: pd.Series, whole: pd.Series) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        shares: np.ndarray = part.to_numpy(dtype=float) / whole.to_numpy(dtype=float)
    return shares
