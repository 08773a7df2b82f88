"""Groups of flows that share a cause, and the main cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from multihop.experiments.flow_kinds import flow_words
from multihop.experiments.services import Status
from multihop.explanation import words
from multihop.explanation.account import Cause, FlowAccount
from multihop.explanation.causes import LEAST_SCORE
from multihop.results.words import listed, percent

#: Most flows that a sentence names; more are counted by kind.
_MOST_NAMED = 8

#: Causes of the medium, which flows share even at different hops.
_OF_THE_AIR = frozenset({"contention", "together", "sensed", "receiver-sending", "unanswered", "late", "turns"})


@dataclass(frozen=True)
class MainCause:
    """Kind of cause that costs flows most.

    Attributes:
        cause: cause of that kind at the place where it costs most.
        flow: index of the flow that it holds back there.
        share: share of the cause of all that holds that flow back.
        kind_share: share of the kind at all places together, mean over `held`.
        held: indices of the flows that the kind holds back.
    """

    cause: Cause
    flow: int
    share: float
    kind_share: float
    held: tuple[int, ...]


@dataclass(frozen=True)
class Group:
    """Flows with a common first cause, the worst served first.

    Attributes:
        cause: first cause of the first flow.
        flows: indices of the flows.
        share: share of the cause of all that holds a flow back, mean over the flows.
        places: number of places where the cause occurs.
    """

    cause: Cause
    flows: tuple[int, ...]
    share: float
    places: int

    def title(self, names: Callable[[int], str]) -> str:
        """Returns the cause in a few words, with its place if there is only one."""
        if self.places == 1:
            return words.title(self.cause, names)
        title = words.TITLES[self.cause.kind]
        if self.cause.kind == "waiting" and self.cause.sender is not None:
            return f"waiting in the queue of {names(self.cause.sender)}"
        hidden = self.cause.interferer if self.cause.kind == "hidden" else None
        if hidden is None:
            return title
        return f"collisions with frames of {names(hidden)}, which transmitters on the path do not sense (hidden sender)"


def _shared(cause: Cause) -> tuple[Any, ...]:
    """Returns a key that is equal for causes that flows share."""
    if cause.kind == "hidden":
        return cause.kind, cause.interferer
    if cause.kind == "waiting":
        return cause.kind, cause.sender
    return (cause.kind,) if cause.kind in _OF_THE_AIR else cause.place


def groups(accounts: Sequence[FlowAccount], which: Sequence[int]) -> list[Group]:
    """Returns flows by their first cause, the largest group first; flows without a cause are left out."""
    found: dict[Any, list[int]] = {}
    for index in sorted(which, key=lambda index: accounts[index].share):
        causes = words.main_causes(accounts[index])
        if causes:
            first = causes[0]
            found.setdefault(_shared(first), []).append(index)
    made = []
    for flows in found.values():
        firsts = [words.main_causes(accounts[index])[0] for index in flows]
        share = sum(first.score for first in firsts) / len(firsts)
        made.append(Group(firsts[0], tuple(flows), share, len({first.place for first in firsts})))
    return sorted(made, key=lambda group: -len(group.flows))


def main_cause(accounts: Sequence[FlowAccount], which: Sequence[int]) -> MainCause | None:
    """Returns the main cause of these flows; `None` without causes.

    The causes of a flow are weighted by the goodput that the flow lacks to its fair share.
    """
    kinds: Counter[str] = Counter()
    places: Counter[Any] = Counter()
    for index in which:
        account = accounts[index]
        lacks = max(account.fair_bps - account.goodput_mean_bps, 0.01 * account.fair_bps, 1.0)
        for cause in words.main_causes(account):
            kinds[cause.kind] += cause.score * lacks  # type: ignore[assignment]
            places[cause.place] += cause.score * lacks  # type: ignore[assignment]
    if not kinds:
        return None
    kind = max(kinds, key=lambda each: kinds[each])
    place = max((place for place in places if place[0] == kind), key=lambda each: places[each])
    held = [index for index in which if any(cause.kind == kind for cause in words.main_causes(accounts[index]))]
    shares = [sum(cause.score for cause in accounts[index].causes if cause.kind == kind) for index in held]
    there = [(cause.score, index, cause) for index in held for cause in accounts[index].causes if cause.place == place]
    share, flow, cause = max(there, key=lambda each: each[0])
    return MainCause(cause, flow, share, sum(shares) / len(shares), tuple(held))


def headline(main: MainCause, found: Sequence[Group], flows: Sequence[FlowAccount], names: Callable[[int], str]) -> str:
    """Returns a sentence with the main cause and the flows that it holds back."""
    if len(main.held) == 1:
        with_others = main.kind_share - main.share >= LEAST_SCORE
        more = f", {percent(main.kind_share)} with the other places where it occurs" if with_others else ""
        whose = words.of_what(flows[main.flow])
        return f"What matters most: {words.title(main.cause, names)}: {percent(main.share)} of {whose}{more}."
    if len(found) == 1:
        return f"What matters most: {_shares(found[0], flows, names)}."
    whose = _whose([flows[index] for index in main.held], flows)
    return f"What matters most: {words.TITLES[main.cause.kind]}: on average {percent(main.kind_share)} of {whose}."


def sentence(found: Group, flows: Sequence[FlowAccount], names: Callable[[int], str]) -> str:
    """Returns a sentence with the status of flows that share a cause, their names, and the cause."""
    of = [flows[index] for index in found.flows]
    return f"{_fare(of)}: {_shares(found, flows, names)}."


def _fare(of: Sequence[FlowAccount]) -> str:
    """Returns the statuses of flows with a common cause, and the number of seeds in which a flow starves."""
    if len(of) == 1 and of[0].status == Status.STARVING and len(of[0].goodput_bps) > 1:
        return f"{of[0].name} starves in {of[0].service.starved_seeds} of {len(of[0].goodput_bps)} seeds"
    if len(of) == 1:
        return f"{of[0].name} ({of[0].status})"
    statuses = [f"{number} {status}" for status, number in Counter(str(flow.status) for flow in of).items()]
    return f"{len(of)} flows ({listed(statuses) if len(statuses) > 1 else of[0].status})"


def _shares(found: Group, flows: Sequence[FlowAccount], names: Callable[[int], str]) -> str:
    """Returns the cause of a group with its share."""
    of = [flows[index] for index in found.flows]
    average = "on average " if len(of) > 1 else ""
    return f"{found.title(names)}: {average}{percent(found.share)} of {_whose(of, flows)}"


def _whose(of: Sequence[FlowAccount], flows: Sequence[FlowAccount]) -> str:
    """Returns the quantity that shares refer to, of one flow or of several."""
    if len(of) == 1:
        return words.of_what(of[0])
    who = flow_words([account.view for account in flows], [account.flow for account in of], _MOST_NAMED)
    bases = {account.basis for account in of}
    what = {"delay": "the delay of {}", "losses": "the packets that {} lose"}
    return (what.get(next(iter(bases)), "what holds back {}") if len(bases) == 1 else "what holds back {}").format(who)
