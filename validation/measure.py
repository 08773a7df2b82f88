"""Runs scenarios over seeds and reduces them to estimates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import hypot
from typing import Any

from multihop import Result, compare
from multihop.results.statistics import Estimate, estimate


class Agreement(StrEnum):
    """Are two numbers the same within a tolerance?"""

    YES = "yes"
    #: They differ by more.
    NO = "**no**"
    #: The intervals are too wide to say.
    OPEN = "open"

    def __and__(self, other: Agreement) -> Agreement:
        """Of two: no if one says no, and yes if both say yes."""
        return max(self, other, key=[Agreement.YES, Agreement.OPEN, Agreement.NO].index)

    @classmethod
    def of(cls, interval: tuple[float, float], tolerance: float) -> Agreement:
        """Is the whole interval of a difference within the tolerance (a test of equivalence)?"""
        low, high = interval
        if -tolerance <= low and high <= tolerance:
            return cls.YES
        return cls.NO if low > tolerance or high < -tolerance else cls.OPEN


@dataclass(frozen=True)
class Against:
    """A measured estimate beside a reference: its mean, and the half-width of its 95 % interval if it has one."""

    label: str
    measured: Estimate
    reference: float
    reference_ci: float = 0.0

    @property
    def off(self) -> float:
        """Relative difference of the means."""
        return self.measured.mean / self.reference - 1

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the relative difference: both means are uncertain, and independent."""
        half = hypot(self.measured.half_width or 0.0, self.reference_ci) / self.reference
        return self.off - half, self.off + half

    def agreement(self, tolerance: float) -> Agreement:
        """Is the whole interval of the relative difference within the tolerance?"""
        return Agreement.of(self.interval, tolerance)


def results(scenario: dict[str, Any], scheme: str, seeds: int) -> tuple[Result, ...]:
    """Runs of a scenario with seeds 1 to `seeds`."""
    return compare(scenario, [scheme], seeds=range(1, seeds + 1)).results[scheme]


def over(runs: tuple[Result, ...], quantity: Callable[[Result], float]) -> Estimate:
    """The estimate of a quantity over runs."""
    return estimate([quantity(run) for run in runs])


def goodput_kbps(run: Result) -> float:
    """Total goodput."""
    return float(run.summary["goodput_total_bps"]) / 1e3


def sampled_rtt_s(run: Result) -> float:
    """The latest round-trip sample, looked at every 100 ms, as the reference was: long samples weigh more."""
    series = run.series
    return float(series[series["time_s"] > float(run.view["warmup"])]["rtt_s"].mean())


def rtt_per_ack_s(run: Result) -> float:
    """The latest round-trip sample, weighted by what was delivered: about a mean over ACKs, as ns-3's was."""
    series = run.series
    series = series[(series["time_s"] > float(run.view["warmup"])) & series["rtt_s"].notna()]
    return float((series["rtt_s"] * series["delivered_bytes"]).sum() / series["delivered_bytes"].sum())


def window_segments(run: Result) -> float:
    """Mean congestion window of segments of 1000 bytes."""
    return float(run.flows["window_mean_bytes"].mean()) / 1000


def collision_probability(run: Result) -> float:
    """Share of the first frames of exchanges that were not answered."""
    links = run.links
    tries = links["rts"] if links["rts"].sum() > 0 else links["data"]
    return 1 - float(links["acknowledged"].sum()) / float(tries.sum())
