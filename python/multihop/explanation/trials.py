"""Outcomes of remedies that were run: for all flows of a network, and for each flow by its need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from multihop.experiments.relevance import is_noticeable
from multihop.experiments.services import Service, Status, services_elsewhere
from multihop.explanation.needs import Need, SeedTables, by_seed, need_of
from multihop.explanation.remedies import Remedy
from multihop.results.statistics import PairedDifference, paired_difference

_WORST_FIRST = list(Status)


@dataclass(frozen=True)
class Outcome:
    """Outcome of a remedy, or the reason why it could not be run.

    Attributes:
        remedy: change of the scenario.
        services: service of each flow without the remedy, whose reference goodput also applies with it.
        base: tables without the remedy, of the same seeds as `tables`.
        tables: tables with the remedy; `None` if it could not be run.
        problem: reason why it could not be run.
    """

    remedy: Remedy
    services: Sequence[Service] = field(repr=False)
    base: SeedTables = field(repr=False)
    tables: SeedTables | None = field(repr=False)
    problem: str | None = None

    @cached_property
    def before(self) -> list[Service | None]:
        """Service of each flow without the remedy, over the seeds that were run with it."""
        return services_elsewhere(self.services, self.base.flows)

    @cached_property
    def after(self) -> list[Service | None]:
        """Service of each flow with the remedy; `None` for a flow that the changed scenario lacks."""
        if self.tables is None:
            return [None] * len(self.services)
        return services_elsewhere(self.services, self.tables.flows)

    @cached_property
    def total(self) -> PairedDifference | None:
        """Total goodput of all flows with the remedy minus that without, in bit/s."""
        return None if self.tables is None else paired_difference(self.tables.total_bps, self.base.total_bps)

    @property
    def totals_bps(self) -> tuple[float, float]:
        """Mean total goodput of all flows without and with the remedy, in bit/s."""
        after = float("nan") if self.tables is None else float(self.tables.total_bps.mean())
        return float(self.base.total_bps.mean()), after

    @cached_property
    def harmed(self) -> list[Service]:
        """Services with the remedy of the flows with a worse status."""
        pairs = zip(self.before, self.after, strict=True)
        return [after for before, after in pairs if before is not None and after is not None and worse(after, before)]

    @property
    def fine(self) -> int:
        """Number of flows that are fine with the remedy."""
        return sum(after is not None and after.status == Status.FINE for after in self.after)

    def trial(self, flow: int) -> Trial:
        """Returns the outcome of the remedy for one flow."""
        before, after = self.before[flow], self.after[flow]
        problem = self.problem
        if before is None or after is None or self.tables is None:
            problem = problem or f"the scenario has no flow {self.services[flow].name} with it"
            return Trial(self, self.services[flow], None, need_of(self.services[flow]), problem=problem)
        need = need_of(before)
        values = by_seed(need, before, self.base), by_seed(need, before, self.tables)
        if not np.isfinite(values[1] - values[0]).any():
            need, values = Need.GOODPUT, (before.goodput_bps, after.goodput_bps)
        change = paired_difference(values[1], values[0])
        gains = values[1] - values[0] if need.more_is_better else values[0] - values[1]
        gain = paired_difference(after.goodput_bps, before.goodput_bps)
        means = float(np.nanmean(values[0])), float(np.nanmean(values[1]))
        everywhere = bool((gains[np.isfinite(gains)] > 0).all())
        return Trial(self, before, after, need, means, change, everywhere=everywhere, gain=gain)


@dataclass(frozen=True)
class Trial:
    """Outcome of a remedy for one flow, judged by the need of the flow.

    Attributes:
        outcome: outcome of the remedy for all flows.
        before: service of the flow without the remedy, over the same seeds.
        after: service of the flow with the remedy; `None` if it could not be run.
        need: deciding number.
        means: means of that number over seeds, without and with the remedy.
        change: difference of that number, with the remedy minus without.
        everywhere: whether that number is better in each seed.
        gain: difference of goodput in bit/s.
        problem: reason why the remedy could not be run.
    """

    outcome: Outcome = field(repr=False)
    before: Service
    after: Service | None
    need: Need
    means: tuple[float, float] = (float("nan"), float("nan"))
    change: PairedDifference | None = None
    everywhere: bool = False
    gain: PairedDifference | None = None
    problem: str | None = None

    @property
    def remedy(self) -> Remedy:
        """Change of the scenario."""
        return self.outcome.remedy

    @property
    def verdict(self) -> str:
        """Verdict: `helps`, `harms`, `no effect`, `undecided` with one seed, or `impossible`."""
        if self.after is None or self.change is None:
            return "impossible"
        if self.change.low is None or self.change.high is None:
            return "undecided"
        starved = self.before.starved_seeds - self.after.starved_seeds
        if worse(self.after, self.before) or starved < 0:
            return "harms"
        # A remedy that makes a flow fine and is better in each seed needs no more seeds.
        if starved > 0 or (self.everywhere and self.after.status == Status.FINE != self.before.status):
            return "helps"
        metric = "goodput" if self.need.more_is_better else "missed_ratio"
        same = self.after.status == self.before.status
        if self.change.low <= 0 <= self.change.high or (same and not is_noticeable(metric, *self.means)):
            return "no effect"
        return "helps" if (self.change.low > 0) == self.need.more_is_better else "harms"


def worse(after: Service, before: Service) -> bool:
    """Whether a flow has a worse status than before."""
    return _WORST_FIRST.index(after.status) < _WORST_FIRST.index(before.status)


__all__ = ["Outcome", "Trial", "worse"]
