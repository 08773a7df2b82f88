"""Explanation of a variant of results: its flows, causes that hold them back, and outcomes of remedies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from multihop import _core
from multihop.base import extras
from multihop.base.errors import UserError
from multihop.experiments.comparisons import VariantRuns
from multihop.experiments.flow_kinds import flow_words
from multihop.experiments.runner import Job, run_all
from multihop.experiments.runs import FinishedRun
from multihop.experiments.services import Status
from multihop.explanation import groups, remedies, source, words
from multihop.explanation.account import Cause, FlowAccount, Hop, Place, without_bps
from multihop.explanation.causes import accounts
from multihop.explanation.counters import has_causes
from multihop.explanation.groups import Group, MainCause
from multihop.explanation.needs import SeedTables
from multihop.explanation.recommendations import recommendations, shown, trial_sentence
from multihop.explanation.records import cause_record, hop_record, trial_record
from multihop.explanation.remedies import Effort, Remedy
from multihop.explanation.trials import Outcome, Trial
from multihop.optima.optimum import Optimum, optimum
from multihop.results.provenance import record
from multihop.results.words import counted, percent, rate, several
from multihop.simulation.seeds import seed_list

#: Default number of seeds of remedies, since fewer seeds have wide intervals.
SEEDS = 5

#: Most groups of flows, and most remedies, of the first screen.
_MOST_GROUPS, _MOST_REMEDIES = 3, 3

#: Most lines of the first screen, and letters of a line.
MOST_LINES, _WIDTH = 9, 118

#: Most flows that a sentence names, and most of one cause; more are counted by kind.
_MOST_NAMED, _MOST_OF_CAUSE = 8, 3

OnTick = Callable[[str, float], None]


@dataclass(frozen=True)
class Sentence:
    """Sentence about a flow; `place` is where a run shows it, `None` for outcomes of remedies."""

    text: str
    place: Place | None = None


@dataclass(frozen=True)
class Explanation:
    """Causes that hold the flows of a variant back, and remedies.

    Attributes:
        runs: runs of the variant, with the tables of causes.
        variant: name of the variant.
        others: names of the other variants of the results.
        flows: accounts of all flows of the scenario.
        explained: indices of the explained flows: the flow asked for, or all flows that are not fine.
        outcomes: outcomes of the remedies that were run; `None` if no remedy was to be run.
        chosen: keys of the remedies that a flow's causes suggest, by index of the flow.
        rivals: outcomes of the other variants of the results.
        added_seeds: number of seeds that the results lack.
    """

    runs: tuple[FinishedRun, ...] = field(repr=False)
    variant: str
    others: tuple[str, ...]
    flows: tuple[FlowAccount, ...]
    explained: tuple[int, ...]
    outcomes: tuple[Outcome, ...] | None = field(repr=False)
    chosen: Mapping[int, frozenset[str]] = field(repr=False, default_factory=dict)
    rivals: tuple[Outcome, ...] = field(repr=False, default=())
    added_seeds: int = 0

    def name(self, node: int) -> str:
        """Returns the name of a node."""
        return self.runs[0].view["nodes"][node]["name"]

    @property
    def seeds(self) -> list[int]:
        """Seeds of the runs."""
        return [run.seed for run in self.runs]

    @cached_property
    def main_cause(self) -> MainCause | None:
        """Kind of cause that costs the explained flows most; `None` without causes."""
        return groups.main_cause(self.flows, self.explained)

    @cached_property
    def by_cause(self) -> list[Group]:
        """Explained flows by their first cause."""
        return groups.groups(self.flows, self.explained)

    @cached_property
    def multicast(self) -> list[FlowAccount]:
        """Multicast flows, which are not explained, since group-addressed frames are not acknowledged."""
        return [account for account in self.flows if "group" in account.view]

    @property
    def views(self) -> list[_core.FlowView]:
        """Flows of the resolved scenario."""
        return self.runs[0].view["flows"]

    def headline(self) -> str:
        """Returns a sentence with the main cause."""
        unserved = [flow for flow in self.flows if flow.status != Status.FINE and flow not in self.multicast]
        if not unserved and len(self.explained) != 1:
            unicast = [flow.flow for flow in self.flows if flow not in self.multicast]
            return self.fine(unicast, everything=True) if unicast else "No flow is explained: all are multicast."
        if self.main_cause is None:
            return "No cause of the slow flows was found."
        return groups.headline(self.main_cause, self.by_cause, self.flows, self.name)

    @property
    def fine_flows(self) -> list[int]:
        """Flows that are fine and not explained, without flows that only carry acknowledgements."""
        return [
            account.flow
            for account in self.flows
            if account.status == Status.FINE
            and account.flow not in self.explained
            and account not in self.multicast
            and not account.view.get("acknowledges", False)
        ]

    def fine(self, which: Sequence[int], *, everything: bool = False) -> str:
        """Returns a sentence with the flows that are fine, and their limits if they are equal."""
        by_limits: dict[str, list[int]] = {}
        for index in which:
            by_limits.setdefault(self.flows[index].service.met(), []).append(index)
        limits = f": {next(iter(by_limits))}" if len(by_limits) == 1 else ""
        if everything:
            return f"{'The flow is' if len(which) == 1 else f'All {len(which)} flows are'} fine{limits}."
        who = flow_words(self.views, which, _MOST_NAMED)
        who = who[0].upper() + who[1:] if who.startswith("all ") else who
        return f"{who} {'is' if len(which) == 1 else 'are'} fine{limits}."

    def first_screen(self, most: int = MOST_LINES) -> list[str]:
        """Returns the headline, groups of flows that share a cause, remedies, and flows without explanation.

        Remedies are left out if there would be more lines than `most`.
        """
        said = [self.headline(), *([remark] if (remark := self.remark()) is not None else [])]
        if len(self.explained) > 1 and len(self.by_cause) > 1:
            shown = self.by_cause[:_MOST_GROUPS]
            said += [groups.sentence(group, self.flows, self.name) for group in shown]
            left = sum(len(group.flows) for group in self.by_cause[_MOST_GROUPS:])
            said += [f"{counted(left, 'flow')} more with other causes."] if left else []
        multicast = []
        if self.multicast:
            of = [
                account.name + ("" if account.status == Status.FINE else f" ({account.status})")
                for account in self.multicast
            ]
            multicast = [f"Not explained, since multicast frames are not acknowledged: {several(of)}."]
        helps = self._what_helps(most - lines([*said, *multicast]))
        return [*said, *helps, *multicast]

    def why(self, under: str = "") -> str:
        """Returns the causes of the groups with most flows, in one clause."""
        most = 2 if not self.others else 1
        parts = []
        for group in self.by_cause[:most]:
            statuses = list(dict.fromkeys(str(self.flows[index].status) for index in group.flows))
            who = flow_words(self.views, group.flows, _MOST_OF_CAUSE)
            verb = "is" if len(group.flows) == 1 else "are"
            parts.append(
                f"{who} {verb} {statuses[0] if len(statuses) == 1 else 'not fine'}{under}: {group.title(self.name)}"
            )
        left = len(self.by_cause) - len(parts)
        return "; ".join(parts) + (f"; {counted(left, 'more cause')}" if left else "")

    def _what_helps(self, most: int) -> list[str]:
        """Returns the remedies that help most flows, with other schemes of the same results."""
        found = recommendations([*(self.outcomes or ()), *self.rivals], self.explained)
        best, needed = (
            [f"{each.label}: {each.sentence(self.views)}." for each in shown(found, number)]
            for number in (_MOST_REMEDIES, 1)
        )
        if best:
            return best if lines(best) <= most else needed
        if self.outcomes is None or not self.explained:
            return []
        main = self.main_cause
        if main is not None and main.cause.kind == "no-route":
            return [f"What helps: a path: a relay, or links of more range ({Effort.PLAN}). No setting makes one."]
        verdicts = {outcome.trial(index).verdict for outcome in self.outcomes for index in self.explained}
        why = "one seed decides nothing; use --seeds 5" if "undecided" in verdicts else "none of the tried remedies"
        why += ", without harm to other flows" if "helps" in verdicts else ""
        return [f"What helps: {why}."]

    def remark(self) -> str | None:
        """Returns a caveat about the causes; `None` without one."""
        main = self.main_cause
        if main is None or main.cause.kind != "hidden" or self._medium("model") != "matrix":
            return None
        if self._medium("quantity") == "delivery-and-rssi":
            return (
                "Sensing beyond the listed links was inferred: check whether these collisions remain "
                "with another draw of shadowing (multihop import --shadowing-seed)."
            )
        return (
            "The links of this scenario are measured: nodes without a link between them do not sense each other "
            "here. If they sense each other in reality, these collisions do not occur there."
        )

    def _medium(self, key: str) -> object:
        """Returns the value of a key of the medium."""
        scenario, overrides = self.runs[0].scenario, self.runs[0].overrides
        return remedies.Settings(scenario, overrides, self.runs[0].view).get(f"medium.{key}")

    def paragraphs(self, index: int) -> list[tuple[str, list[Sentence]]]:
        """Returns the explanation of a flow in parts: a heading, which may be empty, with its sentences."""
        account = self.flows[index]
        changes = any(node["moves"] for node in self.runs[0].view["nodes"])
        path = Sentence(words.path(account, self.name, changes=changes), ("flow", None, None, None))
        made = [("", [Sentence(words.status(account))])]
        causes = [
            Sentence(f"{percent(cause.score)}: {self._said(account, cause)}", cause.place)
            for cause in words.main_causes(account)
        ]
        if causes:
            made.append((words.causes_heading(account), causes))
        hops = [
            Sentence(
                words.hop_sentence(hop, back, self.name, self._senders(account, hop)),
                ("hop", hop.sender, hop.receiver, None),
            )
            for hop, back in words.both_ways(account.hops)
        ]
        limit = words.clique(account, self.name)
        if limit:
            hops.append(Sentence(limit))
        these = " in these seeds" if len(account.which) < len(self.runs) else ""
        made.append((f"Hop by hop{these}", [path, *hops]))
        return made + [(heading, [Sentence(text) for text in said]) for heading, said in self._tried(index)]

    def _senders(self, account: FlowAccount, hop: Hop) -> dict[int, tuple[float, float, float]]:
        """Returns how nodes at a hop spend their time; the receiver only if it sends no data of the flow."""
        data = {each.sender for each in account.hops if not each.feedback}
        nodes = [hop.sender, *([hop.receiver] if hop.receiver not in data else [])]
        airtime = self._airtime[account.which]
        return {node: airtime[node] for node in nodes if node in airtime}

    def _said(self, account: FlowAccount, cause: Cause) -> str:
        """Returns a cause, and the flow's goodput without it if only its time limits the flow."""
        bps = without_bps(account, cause)
        without = "" if bps is None else f" Without that it would carry about {rate(bps)}."
        return words.sentence(cause, self.name, [flow.name for flow in self.flows]) + without

    def trials(self, index: int) -> list[Trial] | None:
        """Returns the trials of a flow's own remedies and of others that help; `None` without remedies."""
        if self.outcomes is None:
            return None
        suggested = self.chosen.get(index, frozenset())
        made = [(outcome.remedy.key in suggested, outcome.trial(index)) for outcome in self.outcomes]
        return [trial for own, trial in made if own or trial.verdict == "helps"]

    def _tried(self, index: int) -> list[tuple[str, list[str]]]:
        rivals = [trial for outcome in self.rivals if (trial := outcome.trial(index)).verdict == "helps"]
        made = [("Other schemes of these results", self._sentences(rivals))] if rivals else []
        tried = self.trials(index)
        if tried is None or index not in self.explained:
            return made
        helps = [trial for trial in tried if trial.verdict == "helps"]
        rest = [trial for trial in tried if trial not in helps]
        if helps:
            made.append(("What helps", self._sentences(helps)))
        elif tried:
            undecided = any(each.verdict == "undecided" for each in tried)
            said = "One seed decides nothing; use --seeds 5." if undecided else "None of the tried remedies."
            made.append(("What helps", [said]))
        else:
            made.append(("What helps", ["No remedy is known for these causes."]))
        if rest:
            made.append(("Tried without gain", self._sentences(rest)))
        return made

    def _sentences(self, trials: Sequence[Trial]) -> list[str]:
        """Returns trials in sentences: settings first, then those with most flows fine."""
        order = sorted(trials, key=lambda each: (each.remedy.effort.rank, -each.outcome.fine))
        return [trial_sentence(each, self.views) for each in order]

    @cached_property
    def _airtime(self) -> dict[tuple[int, ...], dict[int, tuple[float, float, float]]]:
        """Shares of nodes' time, by the runs that explain flows."""
        return {
            which: _airtimes([self.runs[index] for index in which]) for which in {flow.which for flow in self.flows}
        }

    def record(self) -> dict[str, Any]:
        """Returns the explanation as plain data (JSON), rates in bit/s."""
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
        trials = self.trials(index)
        return {
            "flow": index,
            "name": account.name,
            "status": account.status,
            "goodput_bps": account.goodput_bps.tolist(),
            "fair_bps": account.fair_bps,
            "alone_bps": account.alone_bps if math.isfinite(account.alone_bps) else None,
            "path": [self.name(node) for node in account.view["path"]],
            "causes": [cause_record(account, cause, self.name) for cause in account.causes],
            "hops": [hop_record(hop, len(account.which), self.name) for hop in account.hops],
            "clique": [[self.name(a), self.name(b)] for a, b in account.clique],
            "clique_airtime": account.clique_airtime,
            "remedies": None if trials is None else [trial_record(each) for each in trials],
            "other_schemes": [trial_record(outcome.trial(index)) for outcome in self.rivals],
            "sentences": [
                {"heading": head, "sentences": [sentence.text for sentence in said]}
                for head, said in self.paragraphs(index)
            ],
        }


def _airtimes(runs: Sequence[FinishedRun]) -> dict[int, tuple[float, float, float]]:
    """Returns shares of time by node: sending, medium busy with others, idle."""
    nodes = pd.concat([run.nodes for run in runs]).groupby("node").mean(numeric_only=True)
    busy = nodes["sensing"] + nodes["receiving"]
    rows = zip(nodes.index, nodes["transmitting"], busy, nodes["idle"], strict=True)
    return {int(node): (float(own), float(others), float(idle)) for node, own, others, idle in rows}


def lines(sentences: Sequence[str]) -> int:
    """Returns the number of lines of sentences."""
    return sum(math.ceil(len(sentence) / _WIDTH) for sentence in sentences)


def of_runs(
    runs: Sequence[FinishedRun], variant: str, others: Sequence[str] = (), *, best: Optimum | None = None
) -> Explanation | None:
    """Returns an explanation without remedies of finished runs; `None` without tables of causes.

    The fair goodputs are those of `best`, by default the optimum of the scenario.
    """
    if not runs or not has_causes(runs):
        return None
    if best is None:
        overrides = {name: value for name, value in runs[0].overrides.items() if name != "seed"}
        best = optimum(runs[0].scenario, overrides)
    flows = accounts(runs, best)
    explained = tuple(
        account.flow
        for account in flows
        if account.status != Status.FINE and "group" not in account.view and not account.view.get("acknowledges", False)
    )
    return Explanation(tuple(runs), variant, tuple(others), tuple(flows), explained, None)


def causes_of(runs: VariantRuns) -> list[str]:
    """Returns a sentence with the causes under the variant with most fine flows; none if all are fine."""
    if not extras.has("optimum"):
        return []
    others = runs.variants[1:]
    bad = {variant: sum(each.status != Status.FINE for each in found) for variant, found in runs.services.items()}
    for variant in sorted(runs.variants, key=lambda variant: bad[variant]):
        found = of_runs(runs.results[variant], variant, others, best=runs.optima[variant]) if bad[variant] else None
        if found is not None and found.by_cause:
            return [f"Why {found.why(f' with {variant}' if len(runs.variants) > 1 else '')}."]
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
    """Repeats the runs of a variant, explains its slow flows, and runs remedies.

    Args:
        directory: folder that `run --out` or `compare --out` wrote.
        flow: flow to explain; all that are not fine by default.
        variant: variant of a comparison; the first by default.
        seeds: number of seeds, those of the results first; by default as many as the results have, and at
            least 5 with remedies.
        try_remedies: whether to run remedies.
        threads: number of threads; all cores by default.
        on_tick: callback with the current step and its finished share.

    Raises:
        UserError: if the folder has no results, results of another engine, or no such variant or flow.
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
    runs = run_all(jobs, threads, on_tick=tick)
    for run in runs:
        before = found.fingerprints.get(str(run.seed))
        if before is not None and before != run.summary["fingerprint"]:
            raise UserError(f"{directory}: seed {run.seed} has another fingerprint than in these results; run it again")
    made = of_runs(runs, found.variant, found.others)
    if made is None:
        raise RuntimeError("the runs were asked for their causes")
    explained = made.explained if chosen is None else (chosen,)
    added = sum(seed not in found.seeds for seed in common)
    made = replace(made, explained=explained, rivals=_rivals(made, found, directory), added_seeds=added)
    if not try_remedies:
        return made
    return _try(made, remedies.Settings(found.scenario, found.overrides, view), found, threads, on_tick)


def _rivals(made: Explanation, found: source.Source, directory: Path) -> tuple[Outcome, ...]:
    """Returns the other variants of the results, as remedies over the seeds of these results."""
    seeds = [seed for seed in found.seeds if seed in made.seeds]
    base = SeedTables.of(made.runs).at([made.seeds.index(seed) for seed in seeds])
    outcomes = []
    for name in found.others:
        tables = source.tables(directory, name, seeds)
        if tables is not None:
            remedy = Remedy(f"scheme {name} instead of {found.variant}", {}, name)
            outcomes.append(Outcome(remedy, [flow.service for flow in made.flows], base, tables))
    return tuple(outcomes)


def _try(
    made: Explanation, settings: remedies.Settings, found: source.Source, threads: int | None, on_tick: OnTick | None
) -> Explanation:
    """Runs each remedy once for all flows, and the other variants if the results have too few seeds."""
    nodes = made.runs[0].view["nodes"]
    wanted = {index: remedies.candidates(made.flows[index], nodes, settings) for index in made.explained}
    enough = all(seed in found.seeds for seed in made.seeds)
    rivals = {outcome.remedy.key: outcome.remedy for outcome in made.rivals}
    each = {remedy.key: remedy for candidates in wanted.values() for remedy in candidates if remedy.key not in rivals}
    if not enough and made.explained:
        each |= rivals
    tick = None if on_tick is None else lambda share: on_tick(f"{len(each)} remedies", share)
    runs = remedies.try_all(found.scenario, found.overrides, made.runs, list(each.values()), threads, tick)
    services, base = [flow.service for flow in made.flows], SeedTables.of(made.runs)
    outcomes = tuple(
        Outcome(remedy, services, base, None, of)
        if isinstance(of, str)
        else Outcome(remedy, services, base, SeedTables.of(of))
        for remedy, of in ((remedy, runs[remedy.key]) for remedy in each.values())
    )
    chosen = {index: frozenset(remedy.key for remedy in candidates) for index, candidates in wanted.items()}
    return replace(made, outcomes=outcomes, chosen=chosen, rivals=made.rivals if enough else ())


__all__ = ["Explanation", "explain", "of_runs"]
