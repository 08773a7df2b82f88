"""Recommended remedies in sentences: their gains, remaining problems, and costs for other flows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multihop import _core
from multihop.experiments.flow_kinds import flow_words
from multihop.experiments.relevance import is_noticeable
from multihop.experiments.services import SLOW, Service, Status
from multihop.explanation.needs import Need
from multihop.explanation.trials import Outcome, Trial
from multihop.results.words import percent, rate, three_digits

#: Most flows that a sentence names; more are counted by kind.
_MOST_NAMED = 3


@dataclass(frozen=True)
class Recommendation:
    """Remedy with the flows that it helps.

    Attributes:
        outcome: outcome for all flows.
        helped: trials of the flows that the remedy helps.
        others: trials of other explained flows.
    """

    outcome: Outcome
    helped: tuple[Trial, ...]
    others: tuple[Trial, ...]

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Trials of all explained flows."""
        return (*self.helped, *self.others)

    @property
    def rank(self) -> tuple[int, int, int, float, float]:
        """Sort key: settings first, then the number of flows that are fine, also in their worst seed."""
        total = self.outcome.total
        effort = self.outcome.remedy.effort
        return effort.rank, -self.outcome.fine, -len(self.helped), -self._worst_share(), -(total.mean if total else 0.0)

    @property
    def label(self) -> str:
        """First words of the sentence: "in part" unless all explained flows are fine and no flow is worse."""
        after = [trial.after for trial in self.trials]
        whole = not self.outcome.harmed and all(each is not None and each.status == Status.FINE for each in after)
        return "What helps" if whole else "What helps in part"

    def _worst_share(self) -> float:
        """Returns the least share of its fair goodput of an explained flow in a seed, at most `SLOW`."""
        after = [trial.after for trial in self.trials]
        shares = [float(each.goodput_bps.min()) / each.fair_bps for each in after if each is not None and each.fair_bps]
        return min([*shares, SLOW])

    def sentence(self, flows: Sequence[_core.FlowView]) -> str:
        """Returns the gains of the remedy, the flows that are still not fine, and its costs."""
        by_need: dict[Need, list[Trial]] = {}
        for trial in self.helped:
            by_need.setdefault(trial.need, []).append(trial)
        gains = [self._gain(of, flows) for of in by_need.values()]
        alike = [of for of in by_need.values() if len({_then(trial) for trial in of}) == 1]
        said = {trial.before.name for of in alike for trial in of}
        return "; ".join(
            [f"{_named(self.outcome)}: {gains[0]}", *gains[1:], *self._left(flows, said), *cost(self.outcome, flows)]
        )

    @staticmethod
    def _gain(of: Sequence[Trial], flows: Sequence[_core.FlowView]) -> str:
        """Returns flows with equal need, the deciding number, and their common status, if they have one."""
        who = flow_words(flows, [trial.before.flow for trial in of], _MOST_NAMED)
        then = {_then(trial) for trial in of}
        return f"{who} {change(of)}{f', {then.pop()}' if len(then) == 1 else ''}"

    def _left(self, flows: Sequence[_core.FlowView], said: set[str]) -> list[str]:
        """Returns explained flows that are not fine with the remedy, by status."""
        by_status: dict[str, list[int]] = {}
        for trial in self.trials:
            if trial.after is not None and trial.after.status != Status.FINE and trial.before.name not in said:
                by_status.setdefault(_then(trial), []).append(trial.before.flow)
        return [f"{flow_words(flows, left, _MOST_NAMED)} {how}" for how, left in by_status.items()]


def _then(trial: Trial) -> str:
    """Returns the status of a flow with a remedy, relative to that without."""
    if trial.after is None:
        return ""
    still = trial.after.status == trial.before.status and trial.after.status != Status.FINE
    return f"{'still' if still else 'then'} {trial.after.status}"


def recommendations(outcomes: Sequence[Outcome], explained: Sequence[int]) -> list[Recommendation]:
    """Returns the remedies that help explained flows and leave as many flows fine, the best first."""
    made = []
    for outcome in outcomes:
        trials = [outcome.trial(flow) for flow in explained]
        helped = tuple(trial for trial in trials if trial.verdict == "helps")
        was_fine = sum(before is not None and before.status == Status.FINE for before in outcome.before)
        if helped and outcome.fine >= was_fine:
            made.append(Recommendation(outcome, helped, tuple(trial for trial in trials if trial not in helped)))
    return sorted(made, key=lambda each: each.rank)


def shown(found: Sequence[Recommendation], most: int) -> list[Recommendation]:
    """Returns the best remedies, among them the best of each effort."""
    first = {each.outcome.remedy.effort: each for each in reversed(found)}
    rest = [each for each in found if each not in first.values()]
    return sorted([*first.values(), *rest[: max(most - len(first), 0)]], key=lambda each: each.rank)


def trial_sentence(trial: Trial, flows: Sequence[_core.FlowView]) -> str:
    """Returns the outcome of a remedy for one flow, with the interval of the deciding number."""
    if trial.after is None or trial.change is None:
        return f"{_named(trial.outcome)}: cannot be tried here ({trial.problem})."
    said = change([trial])
    low, high = trial.change.low, trial.change.high
    if low is not None and high is not None and trial.need != Need.EVERY_SEED:
        ends = f"{_signed(trial.need, low)} to {_signed(trial.need, high)}"
        said += f", difference {ends} (95 % interval, {trial.change.n} seeds)"
    if trial.after.status != Status.FINE or trial.before.status != Status.FINE:
        said += f", {_then(trial)}"
    return "; ".join([f"{_named(trial.outcome)}: {said}", *cost(trial.outcome, flows, but=trial.before.flow)]) + "."


def change(of: Sequence[Trial]) -> str:
    """Returns the deciding number of flows without and with the remedy."""
    pairs = [(trial.before, trial.after) for trial in of if trial.after is not None]
    if not pairs:
        return ""
    low, high = (float(np.mean([trial.means[end] for trial in of])) for end in (0, 1))
    average = " on average" if len(of) > 1 else ""
    whose = "its" if len(of) == 1 else "their"
    match of[0].need:
        case Need.EVERY_SEED if len(pairs[0][0].goodput_bps) > 1:
            before, after = (np.any([each[end].starves for each in pairs], axis=0) for end in (0, 1))
            worst = [min(float(each[end].goodput_bps.min()) for each in pairs) for end in (0, 1)]
            starve = f"{'starves' if len(of) == 1 else 'starve'} in {after.sum()} instead of {before.sum()}"
            return f"{starve} of {len(before)} seeds, worst seed {_rates(*worst)}"
        case Need.FRAMES:
            return f"from {percent(low)} to {percent(high)} of {whose} frames late or lost"
        case Need.PACKETS:
            ends = [max(each[end].delay_p95_s for each in pairs) for end in (0, 1)]
            delay = " to ".join(three_digits(1e3 * seconds) for seconds in ends)
            worst_of = "the worst " if len(of) > 1 else ""
            missed = f"from {percent(low)} to {percent(high)} of {whose} packets late or lost"
            return f"{missed}, {worst_of}delay from {delay} ms (95th percentile)"
        case Need.LOSS:
            return f"from {percent(low)} to {percent(high)} of {whose} packets lost"
    return f"{_rates(low, high)}{average}"


def cost(outcome: Outcome, flows: Sequence[_core.FlowView], but: int | None = None) -> list[str]:
    """Returns the flows with a worse status, and the total goodput without and with a remedy."""
    by_status: dict[Status, list[Service]] = {}
    for each in outcome.harmed:
        if each.flow != but:
            by_status.setdefault(each.status, []).append(each)
    said = []
    for status, of in by_status.items():
        said.append(f"makes {flow_words(flows, [each.flow for each in of], _MOST_NAMED)} {status}")
    if len(flows) > 1 and is_noticeable("goodput", *outcome.totals_bps):
        said.append(f"goodput of all flows {_rates(*outcome.totals_bps)}")
    return said


def _named(outcome: Outcome) -> str:
    return f"{outcome.remedy.words} ({outcome.remedy.effort})"


def _rates(before: float, after: float) -> str:
    """Formats two rates with one unit."""
    return f"from {rate(before).removesuffix(' Mb/s')} to {rate(after)}"


def _signed(need: Need, value: float) -> str:
    shown = rate(abs(value)) if need.more_is_better else percent(abs(value))
    return f"{'-' if value < 0 else '+'}{shown}" if value else shown
