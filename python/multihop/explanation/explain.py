"""An explanation of a variant of results: its flows, what holds them back, and what was tried."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from multihop.base import extras
from multihop.base.errors import UserError
from multihop.comparison.run import Run
from multihop.comparison.runs import Runs
from multihop.comparison.service import FINE, Status
from multihop.explanation import groups, remedies, source, words
from multihop.explanation.causes import Cause, FlowAccount, Hop, Place, accounts
from multihop.explanation.counters import Blame, has_causes
from multihop.explanation.groups import Group, MainCause
from multihop.explanation.remedies import Trial
from multihop.optima.optimum import Optimum, optimum
from multihop.results.provenance import record
from multihop.results.statistics import PairedDifference
from multihop.results.words import counted, percent, rate, several
from multihop.simulation.runner import Job, run_all
from multihop.simulation.seeds import seed_list

#: Seeds that remedies are tried with, unless it is said: fewer make wide intervals.
SEEDS = 5

#: The first screen has no more groups of flows, and remedies, than these.
_MOST_GROUPS, _MOST_REMEDIES = 5, 2

OnTick = Callable[[str, float], None]


@dataclass(frozen=True)
class Sentence:
    """A statement about a flow; `place` is where a run shows it, none for what was tried."""

    text: str
    place: Place | None = None


@dataclass(frozen=True)
class Explanation:
    """Why flows get what they get.

    Attributes:
        runs: of the variant, with the tables of causes.
        variant: its name; `others` are those of the same results.
        flows: all flows of the scenario.
        explained: indices of those that are explained: the one that was asked for, or all that are not fine.
        trials: by index of a flow, what was tried for it; none if nothing was to be tried.
        rivals: other variants of the same results, with the mean goodput of each flow in bit/s.
    """

    runs: tuple[Run, ...] = field(repr=False)
    variant: str
    others: tuple[str, ...]
    flows: tuple[FlowAccount, ...]
    explained: tuple[int, ...]
    trials: dict[int, list[Trial]] | None = field(repr=False)
    rivals: Mapping[str, Sequence[float]] = field(repr=False, default_factory=dict)

    def name(self, node: int) -> str:
        """A node's name."""
        return self.runs[0].view["nodes"][node]["name"]

    @property
    def seeds(self) -> list[int]:
        """Seeds of the runs."""
        return [run.seed for run in self.runs]

    @cached_property
    def main_cause(self) -> MainCause | None:
        """The kind of cause that costs the explained flows most; none if nothing holds back."""
        return groups.main_cause(self.flows, self.explained)

    @cached_property
    def by_cause(self) -> list[Group]:
        """The explained flows by their first cause."""
        return groups.groups(self.flows, self.explained)

    @cached_property
    def multicast(self) -> list[FlowAccount]:
        """Multicast flows, which are not explained: group-addressed frames are not answered."""
        return [account for account in self.flows if "group" in account.view]

    def headline(self) -> str:
        """The cause that matters most, in one sentence."""
        flows = [flow.name for flow in self.flows]
        unserved = [flow for flow in self.flows if flow.status != Status.FINE and flow not in self.multicast]
        if not unserved and len(self.explained) != 1:
            number = len(flows) - len(self.multicast)
            return f"{'The flow is' if number == 1 else f'All {number} flows are'} fine: {FINE}."
        if self.main_cause is None:
            return "Nothing is seen to hold back what is slow."
        return groups.headline(self.main_cause, flows, self.name)

    def first_screen(self) -> list[str]:
        """The headline, groups of flows that share a cause, what helps, and who is not explained."""
        said = [self.headline(), *([remark] if (remark := self.remark()) is not None else [])]
        if len(self.explained) > 1:
            shown = self.by_cause[:_MOST_GROUPS]
            said += [groups.sentence(group, self.flows, self.name) for group in shown]
            left = sum(len(group.flows) for group in self.by_cause[_MOST_GROUPS:])
            said += [f"{counted(left, 'flow')} more with other causes."] if left else []
        said += self._what_helps()
        if self.multicast:
            of = [
                account.name + ("" if account.status == Status.FINE else f" ({account.status})")
                for account in self.multicast
            ]
            said.append(f"Multicast, and not explained, as no frame of theirs is answered: {several(of)}.")
        return said

    def why(self) -> str:
        """The first causes of the groups with most flows, in one clause."""
        names = [flow.name for flow in self.flows]
        most = 2 if not self.others else 1
        parts = [
            f"{group.title(self.name)} ({several([names[index] for index in group.flows], 3)})"
            for group in self.by_cause[:most]
        ]
        left = len(self.by_cause) - len(parts)
        return "; ".join(parts) + (f"; {counted(left, 'more cause')}" if left else "")

    def _what_helps(self) -> list[str]:
        """The remedies that help most flows, and another scheme of the same results that does."""
        tried: dict[str, list[tuple[int, Trial]]] = {}
        for index, trials in (self.trials or {}).items():
            for each in trials:
                if each.verdict == "helps":
                    tried.setdefault(each.remedy.words, []).append((index, each))
        best = sorted(tried.values(), key=lambda of: (-len(of), -(of[0][1].total.mean if of[0][1].total else 0.0)))
        said = []
        for of in best[:_MOST_REMEDIES]:
            index, trial = of[0]
            if len(self.explained) == 1:
                said.append(f"What helps: {words.trial(trial, self.flows[index].fair_bps)}")
            else:
                total = f"; all flows together {words.signed(trial.total.mean)}" if trial.total else ""
                names = several([self.flows[flow].name for flow, _ in of], 3)
                said.append(
                    f"What helps: {trial.remedy.words}: {len(of)} of {len(self.explained)} flows ({names}){total}."
                )
        if self.trials is not None and self.explained and not best:
            undecided = any(each.verdict == "undecided" for of in self.trials.values() for each in of)
            main = self.main_cause
            if main is not None and main.cause.kind == "no-route":
                said.append("What helps: a path: a relay, or links of more range. No setting makes one.")
            else:
                why = "one seed decides nothing; use --seeds 5" if undecided else "nothing that was tried"
                said.append(f"What helps: {why}.")
        return said + self._better_schemes()

    def _better_schemes(self) -> list[str]:
        """Another scheme of the same results with clearly more for most of the explained flows."""
        for variant, rates in self.rivals.items():
            more = [index for index in self.explained if rates[index] > 1.2 * self.flows[index].goodput_mean_bps]
            if more and 2 * len(more) > len(self.explained):
                index = max(more, key=lambda each: rates[each] - self.flows[each].goodput_mean_bps)
                own = rate(self.flows[index].goodput_mean_bps)
                flow = f"{self.flows[index].name} {rate(rates[index])}, with {self.variant} {own}"
                return [f"Of the same results, {variant} gives {len(more)} of {len(self.explained)} more: {flow}."]
        return []

    def remark(self) -> str | None:
        """What to bear in mind; none if there is nothing."""
        main = self.main_cause
        if main is None or main.cause.kind != "hidden" or self._medium("model") != "matrix":
            return None
        if self._medium("quantity") == "delivery-and-rssi":
            return (
                "Sensing beyond the listed links was inferred: see whether these collisions remain "
                "with another draw of shadowing (multihop import --shadowing-seed)."
            )
        return (
            "The links of this scenario are a measured table: nodes between which it has none do not sense each "
            "other here. If they do in reality, these collisions are the table's and not the mesh's."
        )

    def _medium(self, key: str) -> object:
        """What the scenario says of its medium."""
        scenario, overrides = self.runs[0].scenario, self.runs[0].overrides
        return remedies.Settings(scenario, overrides, self.runs[0].view).get(f"medium.{key}")

    def paragraphs(self, index: int) -> list[tuple[str, list[Sentence]]]:
        """A flow in parts, each a heading (or none) with its sentences."""
        account = self.flows[index]
        changes = any(node["moves"] for node in self.runs[0].view["nodes"])
        path = Sentence(words.path(account, self.name, changes=changes), ("flow", None, None, None))
        made = [("", [Sentence(words.status(account))])]
        causes = [
            Sentence(f"{percent(cause.score)}: {self._said(account, cause)}", cause.place)
            for cause in words.main_causes(account)
        ]
        if causes:
            made.append(("What holds it back" if account.status != Status.FINE else "What limits it", causes))
        hops = [
            Sentence(
                words.hop_sentence(hop, self.name, self._airtime.get(hop.sender)),
                ("hop", hop.sender, hop.receiver, None),
            )
            for hop in account.hops
        ]
        limit = words.clique(account, self.name)
        if limit:
            hops.append(Sentence(limit))
        made.append(("Hop by hop", [path, *hops]))
        made += self._better_elsewhere(index)
        made += [(heading, [Sentence(text) for text in said]) for heading, said in self._tried(index)]
        return made

    def _better_elsewhere(self, index: int) -> list[tuple[str, list[Sentence]]]:
        """Other variants of the same results under which the flow has clearly more."""
        own = self.flows[index].goodput_mean_bps
        more = {variant: rates[index] for variant, rates in self.rivals.items() if rates[index] > 1.2 * own}
        said = [Sentence(f"{variant}: {rate(bps)}, with {self.variant} {rate(own)}.") for variant, bps in more.items()]
        return [("Other schemes of these results", said)] if said else []

    def _said(self, account: FlowAccount, cause: Cause) -> str:
        """A cause, and what the flow would have without it, where its time is all that limits it."""
        bps = without_bps(account, cause)
        without = "" if bps is None else f" Without that it would carry about {rate(bps)}."
        return words.sentence(cause, self.name, [flow.name for flow in self.flows]) + without

    def _tried(self, index: int) -> list[tuple[str, list[str]]]:
        if self.trials is None or index not in self.trials:
            return []
        tried, fair = self.trials[index], self.flows[index].fair_bps
        helps = sorted((t for t in tried if t.verdict == "helps"), key=lambda t: -(t.gain.mean if t.gain else 0.0))
        rest = [t for t in tried if t not in helps]
        made = []
        if helps:
            made.append(("What helps", [words.trial(each, fair) for each in helps]))
        if not helps and tried:
            undecided = any(each.verdict == "undecided" for each in tried)
            made.append(
                ("What helps", ["One seed decides nothing; use --seeds 5." if undecided else "Nothing that was tried."])
            )
        if not tried:
            made.append(("What helps", ["Nothing is known here that could be tried against this."]))
        if rest:
            made.append(("Tried without gain", [words.trial(each, fair) for each in rest]))
        return made

    @cached_property
    def _airtime(self) -> dict[int, tuple[float, float, float]]:
        """By node: the share of time that it sends, finds the medium busy with others, and idle."""
        made: dict[int, tuple[float, float, float]] = {}
        count = len(self.runs)
        columns = ["node", "transmitting", "sensing", "receiving", "idle"]
        for run in self.runs:
            for node, transmitting, sensing, receiving, idle in run.nodes[columns].itertuples(index=False):
                sums = made.get(int(node), (0.0, 0.0, 0.0))
                made[int(node)] = (
                    sums[0] + transmitting / count,
                    sums[1] + (sensing + receiving) / count,
                    sums[2] + idle / count,
                )
        return made

    def record(self) -> dict[str, Any]:
        """Everything as plain data (JSON), rates in bit/s."""
        view = self.runs[0].view
        return {
            **record(),
            "scenario": {"name": view["name"], "hash": view["hash"]},
            "variant": self.variant,
            "seeds": self.seeds,
            "headline": self.headline(),
            "remark": self.remark(),
            "groups": [
                {
                    "kind": group.cause.kind,
                    "share": group.share,
                    "flows": [self.flows[index].name for index in group.flows],
                    "sentence": groups.sentence(group, self.flows, self.name),
                }
                for group in self.by_cause
            ],
            "not_explained": [account.name for account in self.multicast],
            "flows": [
                {"flow": account.flow, "name": account.name, "status": account.status, "share": account.share}
                for account in self.flows
            ],
            "explained": [self._flow_record(index) for index in self.explained],
        }

    def _flow_record(self, index: int) -> dict[str, Any]:
        account = self.flows[index]
        trials = None if self.trials is None else [self._trial_record(each) for each in self.trials.get(index, [])]
        return {
            "flow": index,
            "name": account.name,
            "status": account.status,
            "goodput_bps": account.goodput_bps.tolist(),
            "fair_bps": account.fair_bps,
            "alone_bps": account.alone_bps if math.isfinite(account.alone_bps) else None,
            "path": [self.name(node) for node in account.view["path"]],
            "causes": [self._cause_record(account, cause) for cause in account.causes],
            "hops": [self._hop_record(hop) for hop in account.hops],
            "clique": [[self.name(a), self.name(b)] for a, b in account.clique],
            "clique_airtime": account.clique_airtime,
            "remedies": trials,
            "sentences": [
                {"heading": head, "sentences": [sentence.text for sentence in said]}
                for head, said in self.paragraphs(index)
            ],
        }

    def _cause_record(self, account: FlowAccount, cause: Cause) -> dict[str, Any]:
        names = {"sender": cause.sender, "receiver": cause.receiver, "interferer": cause.interferer}
        return {
            "kind": cause.kind,
            "score": cause.score,
            **{what: None if node is None else self.name(node) for what, node in names.items()},
            "without_bps": without_bps(account, cause),
            **cause.facts,
        }

    def _hop_record(self, hop: Hop) -> dict[str, Any]:
        def lost(blame: Blame, frames: int) -> dict[str, Any]:
            interferer = None if blame.interferer is None else self.name(blame.interferer)
            return {"kind": blame.kind, "interferer": interferer, "share": hop.share(frames)}

        return {
            "sender": self.name(hop.sender),
            "receiver": self.name(hop.receiver),
            "feedback": hop.feedback,
            "wire": hop.wire is not None,
            "frames": 0 if hop.counters is None else hop.counters.frames / len(self.runs),
            "given_up": 0 if hop.counters is None else hop.counters.given_up / len(self.runs),
            "airtime": 0.0 if hop.counters is None else hop.counters.airtime,
            "tries": hop.tries,
            "occupied": hop.occupied,
            "alone_bps": hop.alone_bps,
            "lost": [lost(blame, failure.frames) for blame, failure in hop.failures.items()],
        }

    @staticmethod
    def _trial_record(tried: Trial) -> dict[str, Any]:
        def plain(difference: PairedDifference | None) -> dict[str, Any] | None:
            return None if difference is None else {**difference.__dict__}

        return {
            "remedy": tried.remedy.words,
            "set": dict(tried.remedy.set),
            "scheme": tried.remedy.scheme,
            "verdict": tried.verdict,
            "gain_bps": plain(tried.gain),
            "total_bps": plain(tried.total),
            "delay_p95_s": plain(tried.delay),
            "problem": tried.problem,
        }


def without_bps(account: FlowAccount, cause: Cause) -> float | None:
    """A flow's goodput without a cause, in bit/s; none unless it occupies the cause's hop all the time."""
    hops = [hop for hop in account.hops if (hop.sender, hop.receiver) == (cause.sender, cause.receiver)]
    if "time_s" not in cause.facts or not any(hop.occupied > 0.9 and not hop.feedback for hop in hops):
        return None
    left = max(cause.facts["service_s"] - cause.facts["time_s"], cause.facts["own_s"])
    return float(min(account.payload_bytes * 8 * cause.facts["mpdus"] / left, account.alone_bps))


def of_runs(
    runs: Sequence[Run], variant: str, others: Sequence[str] = (), *, best: Optimum | None = None
) -> Explanation | None:
    """An explanation without remedies of runs that were made before.

    `None` if they have no tables of causes.
    What is fair is the optimum of their scenario, or `best`, if their flows are not the scenario's.
    """
    if not runs or not has_causes(runs):
        return None
    if best is None:
        overrides = {name: value for name, value in runs[0].overrides.items() if name != "seed"}
        best = optimum(runs[0].scenario, overrides)
    flows = accounts(runs, best)
    explained = tuple(
        account.flow for account in flows if account.status != Status.FINE and "group" not in account.view
    )
    return Explanation(tuple(runs), variant, tuple(others), tuple(flows), explained, None)


def causes_of(runs: Runs) -> list[str]:
    """Why flows are not served, of the variant under which fewest are not; nothing where all are."""
    if not extras.has("optimum"):
        return []
    others = runs.variants[1:]
    bad = {variant: sum(each.status != Status.FINE for each in found) for variant, found in runs.services.items()}
    for variant in sorted(runs.variants, key=lambda variant: bad[variant]):
        found = of_runs(runs.results[variant], variant, others, best=runs.optima[variant]) if bad[variant] else None
        if found is not None and found.by_cause:
            return [f"Why{f' ({variant})' if len(runs.variants) > 1 else ''}: {found.why()}."]
    return []


def explain(
    directory: Path,
    flow: str | None = None,
    *,
    variant: str | None = None,
    seeds: int | None = None,
    try_remedies: bool = True,
    threads: int | None = None,
    on_tick: OnTick | None = None,
) -> Explanation:
    """Runs a variant of results again, says what holds its flows back, and tries what may help.

    Args:
        directory: what `run --out` or `compare --out` wrote.
        flow: the flow to explain; all that are not fine by default.
        variant: of a comparison; the first by default.
        seeds: how many, from the first of the results; by default those of the results, or 5 if these are
            fewer.
        try_remedies: are remedies run as well?
        threads: runs at once; all cores by default.
        on_tick: called now and then with what is run, and which share of it is done.

    Raises:
        UserError: if this is no folder of results, or of another engine, or has no such variant or flow.
    """
    found = source.read(directory, variant)
    first = found.seeds[0]
    wanted = max(len(found.seeds), SEEDS if try_remedies else 1) if seeds is None else seeds
    common = seed_list(wanted, first)
    common = [*found.seeds[:wanted], *(seed for seed in common if seed not in found.seeds)][:wanted]
    view = found.scenario.check(found.overrides)
    chosen = None if flow is None else source.flow_index(view, flow)
    if chosen is not None and "group" in view["flows"][chosen]:
        raise UserError(f"{flow}: a multicast flow, whose frames are not answered; explain needs a unicast flow")
    jobs = [Job(found.scenario, {**found.overrides, "seed": seed}, view, causes=True) for seed in common]
    tick = None if on_tick is None else lambda share: on_tick("runs of the results", share)
    outputs = run_all(jobs, threads, on_tick=tick)
    runs = [Run(job.scenario, job.view, job.overrides, output) for job, output in zip(jobs, outputs, strict=True)]
    for run in runs:
        before = found.fingerprints.get(str(run.seed))
        if before is not None and before != run.summary["fingerprint"]:
            raise UserError(f"{directory}: seed {run.seed} ran otherwise than these results say; run it again")
    made = of_runs(runs, found.variant, found.others)
    if made is None:
        raise RuntimeError("the runs were asked for their causes")
    explained = made.explained if chosen is None else (chosen,)
    trials = None
    if try_remedies:
        settings = remedies.Settings(found.scenario, found.overrides, view)
        trials = _try(made, explained, settings, found, threads, on_tick)
    rivals = {name: rates for name, rates in source.goodputs(directory).items() if name in found.others}
    return Explanation(made.runs, made.variant, made.others, made.flows, explained, trials, rivals)


def _try(
    made: Explanation,
    explained: Sequence[int],
    settings: remedies.Settings,
    found: source.Source,
    threads: int | None,
    on_tick: OnTick | None,
) -> dict[int, list[Trial]]:
    """Each remedy is run once, for all flows that it may help."""
    nodes = made.runs[0].view["nodes"]
    wanted = {index: remedies.candidates(made.flows[index], nodes, settings) for index in explained}
    each = {remedy.key: remedy for candidates in wanted.values() for remedy in candidates}
    tick = None if on_tick is None else lambda share: on_tick(f"{len(each)} remedies", share)
    runs = remedies.try_all(found.scenario, found.overrides, made.runs, list(each.values()), threads, tick)
    return {
        index: [remedies.trial(remedy, made.flows[index].service, made.runs, runs[remedy.key]) for remedy in candidates]
        for index, candidates in wanted.items()
    }


__all__ = ["Explanation", "explain", "of_runs", "without_bps"]
