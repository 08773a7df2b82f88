"""Verdict on a comparison in sentences: flows that are not served, significant differences, and advice.

No sentence states more than the numbers support. Starving flows precede the better scheme, since a total
hides them. P-values and intervals are in a table below the sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from multihop import _core
from multihop.experiments.comparisons import Contrast, VariantRuns
from multihop.experiments.flow_kinds import flow_words, flows_by_kind
from multihop.experiments.relevance import is_noticeable
from multihop.experiments.remarks import phases, windows
from multihop.experiments.services import STARVING, Service, Status
from multihop.results.columns import METRIC, Metric
from multihop.results.frames import largest_alike
from multihop.results.words import listed, percent, several, three_digits

_QUESTIONS = ("goodput_total_bps", "jain", "delay_p95_s")
_LABELS = {"goodput_total_bps": "Goodput", "jain": "Fairness of goodput", "delay_p95_s": "Delay (95th percentile)"}

#: Ratio of means above which a sentence states why their difference is not significant.
_PLAINLY_APART = 2.0

#: Most flows that a sentence names with one scheme, and with each of several schemes.
_MOST_FLOWS, _MOST_OF_SCHEME = 8, 2

#: Most kinds of flows that a sentence names.
_MOST_KINDS = 4

_UNSERVED = frozenset({Status.DEAD, Status.STARVING})
_WANTING = (Status.SLOW, Status.LATE, Status.LOSSY)

#: Gap to the optimum below which a sentence states that it is negative; smaller ones may be chance.
_BELOW_ZERO = -0.005

#: Ratio of two means from which a sentence states a factor instead of a percentage.
_FACTOR = 3.0


def first_screen(runs: VariantRuns) -> list[str]:
    """Returns at most twelve sentences: unserved flows, goodput, fairness, delay, losses, and advice."""
    unserved = Unserved(runs)
    numbers = [*_who_is_better(runs, unserved), *_of_kinds(runs), *_losses(runs)]
    return [*unserved.sentences(), *numbers, *_advice(runs, unserved)]


def shortened(said: Sequence[str], most: int, lines: Callable[[str], int]) -> list[str]:
    """Returns sentences of at most `most` lines, without details that the tables below them contain."""
    kept = list(said)
    for detail in ("Packets lost", "Delay (95th percentile) by ", "No significant difference"):
        if sum(map(lines, kept)) > most:
            kept = [sentence for sentence in kept if not sentence.startswith(detail)]
    return kept


def sentences(runs: VariantRuns) -> list[str]:
    """Returns the first screen, with flows in phase and receive windows that bind before the advice."""
    *said, last = first_screen(runs)
    return [*said, *remarks(runs), last]


def remarks(runs: VariantRuns) -> list[str]:
    """Returns sentences on flows in phase and on receive windows that bind."""
    return [*phases.sentences(runs), *windows.sentences(runs)]


def about_optimum(runs: VariantRuns) -> list[str]:
    """Returns sentences that define distance and gap to the optimum, and explain a gap below zero."""
    if runs.not_comparable is not None:
        return [f"Optimum: not drawn, as {runs.not_comparable}."]
    what_they_are = (
        "Optimum: the proportionally fair goodputs x* that airtime allows (multihop optimum); distance is "
        "|x - x*| / |x*|, where large flows weigh most, and gap what is missing of the geometric mean of x / x*, where "
        "each flow weighs the same."
    )
    said = [what_they_are]
    far = [v for v in runs.variants if float(np.nanmean(runs.values(v, "optimum_distance"))) > 1.0]
    if far:
        said.append(
            f"Distance above 100 % ({', '.join(far)}): flows that carry far more than their fair share are further "
            "from the optimum than if nothing arrived."
        )
    gaps = {variant: float(np.nanmean(runs.values(variant, "optimum_gap"))) for variant in runs.variants}
    below = ", ".join(f"{variant} {100 * gap:.2g} %" for variant, gap in gaps.items() if gap < _BELOW_ZERO)
    if below:
        said.append(
            f"Gap below 0 ({below}): flows carried more than that optimum. No error: it charges each packet a back-off "
            "of its own, and lets links that sense each other send in turn only, while stations that contend count "
            "their back-offs down together, and frames that overlap may both arrive, by capture or over other routes."
        )
    return said


def differences(runs: VariantRuns) -> list[Contrast]:
    """Returns the paired differences behind the sentences; none with one seed."""
    if len(runs.seeds) == 1:
        return []
    return [
        contrast for metric in runs.measured_metrics if metric.name in _QUESTIONS for contrast in runs.contrasts(metric)
    ]


class Unserved:
    """Flows that are not served.

    Attributes:
        services: services of flows by variant, without flows that only carry acknowledgements.
    """

    def __init__(self, runs: VariantRuns) -> None:
        self._runs = runs
        self._flows = _flows(runs)
        answering = {index for index, flow in enumerate(self._flows) if flow.get("acknowledges", False)}
        self.services = {
            variant: [each for each in found if each.flow not in answering] for variant, found in runs.services.items()
        }

    def __bool__(self) -> bool:
        return any(each.status in _UNSERVED for found in self.services.values() for each in found)

    def count(self, variant: str, *, starving: bool) -> int:
        """Returns the number of dead or starving flows of a variant, or else of slow, late or lossy ones."""
        return sum(
            each.status != Status.FINE and (each.status in _UNSERVED) == starving for each in self.services[variant]
        )

    def sentences(self) -> list[str]:
        """Returns sentences on dead flows, then on starving flows, then on slow, late or lossy ones."""
        silent = self._dead()
        said = [self._of_dead(silent)] if silent else []
        starving = {
            variant: [each for each in found if each.status in _UNSERVED and each.flow not in silent]
            for variant, found in self.services.items()
        }
        if any(starving.values()):
            said.append(f"Starving: {self._starving(starving)}.")
        wanting = [each for found in self.services.values() for each in found if each.status in _WANTING]
        with_reasons = len(self.services) == 1 or len(wanting) <= _MOST_OF_SCHEME
        there = [status for status in _WANTING if any(each.status == status for each in wanting)]
        if with_reasons:
            return [*said, *(f"{str(status).capitalize()}: {self._of_status(status)}." for status in there)]
        return [*said, f"{listed([str(status) for status in there], 'or').capitalize()}: {self._counts(there)}."]

    def _dead(self) -> list[int]:
        """Returns the flows that are dead under every variant."""
        found = [{each.flow for each in of if each.status == Status.DEAD} for of in self.services.values()]
        return sorted(set.intersection(*found))

    def _of_dead(self, found: Sequence[int]) -> str:
        flows = self._flows
        names = several([flows[i]["name"] + ("" if flows[i]["path"] else " (no route)") for i in found], _MOST_FLOWS)
        under = " under every scheme" if len(self._runs.variants) > 1 else ""
        seeds = f" in all {len(self._runs.seeds)} seeds" if len(self._runs.seeds) > 1 else ""
        count = f"{len(found)} of {len(flows)} {'flow' if len(flows) == 1 else 'flows'}"
        return f"Dead{under}: {names} ({count}{seeds})."

    def _starving(self, starving: Mapping[str, Sequence[Service]]) -> str:
        """Returns the number of seeds in which flows starve, by variant and flow."""
        most = _MOST_FLOWS if len(self.services) == 1 else _MOST_OF_SCHEME
        seeds = len(self._runs.seeds)
        said = []
        for variant, found in starving.items():
            worst = sorted(found, key=lambda each: -each.starved_seeds)
            where = f"with {variant} " if len(self.services) > 1 else ""
            if not found:
                said.append(f"{where}in no seed" if seeds > 1 else f"{where}none")
            elif seeds == 1:
                said.append(where + several([each.name for each in found], most))
            else:
                flows = several([f"{each.name} in {each.starved_seeds}" for each in worst], most)
                starved = np.any([each.starves for each in found], axis=0).sum()
                which = f" ({flows})" if len(self._flows) > 1 else ""
                said.append(f"{where}in {starved} of {seeds} seeds{which}")
        of = dict.fromkeys(each.yardstick for found in starving.values() for each in found)
        return f"{'; '.join(said)}. A flow starves below {100 * STARVING:g} % of {' or '.join(of)}"

    def _of_status(self, status: Status) -> str:
        """Returns the flows of a status with reasons, by variant."""
        said = []
        for variant, found in self.services.items():
            of = [each for each in found if each.status == status]
            where = f"with {variant} " if len(self.services) > 1 else ""
            if of:
                said.append(where + self._with_reasons(of))
        return "; ".join(said)

    def _counts(self, statuses: Sequence[Status]) -> str:
        """Returns the flows of these statuses by variant: names of few flows, numbers by kind of many."""
        said = []
        for variant, found in self.services.items():
            of = {status: [each.flow for each in found if each.status == status] for status in statuses}
            counts = [
                self._words(flows, _MOST_OF_SCHEME) + (f" {status}" if len(statuses) > 1 else "")
                for status, flows in of.items()
                if flows
            ]
            said.append(f"with {variant} {', '.join(counts) or 'none'}")
        return "; ".join(said)

    def _words(self, flows: Sequence[int], most: int) -> str:
        return flow_words(self._flows, flows, most)

    def _with_reasons(self, found: Sequence[Service]) -> str:
        """Returns flows with reasons; flows with equal lack share the reason of the worst."""
        by_lack: dict[object, list[Service]] = {}
        for each in sorted(found, key=lambda each: -each.severity):
            by_lack.setdefault(each.lack, []).append(each)
        said = []
        for same in by_lack.values():
            at_worst = "at worst " if len({each.sentence() for each in same}) > 1 else ""
            said.append(f"{self._words([each.flow for each in same], _MOST_FLOWS)} ({at_worst}{same[0].sentence()})")
        return ", ".join(said)


def _flows(runs: VariantRuns) -> list[_core.FlowView]:
    return runs.view["flows"]


def _who_is_better(runs: VariantRuns, unserved: Unserved) -> list[str]:
    """Returns a sentence for each metric in which schemes differ, and one for all other metrics."""
    known = {metric.name for metric in runs.measured_metrics}
    if _delays_by_flow(runs):
        known.discard("delay_p95_s")
    labels = {name: _label(name, runs, unserved) for name in _QUESTIONS if name in known}
    if len(runs.variants) == 1:
        said = [f"{label}: {_alone(runs, METRIC[name])}" for name, label in labels.items()]
        return ["; ".join([said[0], *(f"{each[0].lower()}{each[1:]}" for each in said[1:])]) + "."]
    ranked = {name: _ranked(runs, METRIC[name]) for name in labels}
    values = {
        name: ", ".join(f"{variant} {_number(METRIC[name], mean)}" for variant, mean in found.items())
        for name, found in ranked.items()
    }
    said, undecided = [], []
    for name in labels:
        if not ranked[name]:
            said.append(f"{labels[name]}: nothing was delivered, so there is nothing to compare.")
            continue
        answer = _answer(runs, METRIC[name], ranked[name]) if len(runs.seeds) > 1 else None
        if answer is None:
            undecided.append(name)
        else:
            said.append(f"{labels[name]}: {values[name]}. {answer}")
    for name in undecided:
        means = [mean for mean in ranked[name].values() if mean > 0.0]
        if len(runs.seeds) > 1 and len(means) > 1 and max(means) > _PLAINLY_APART * min(means):
            values[name] += " (too different from seed to seed to tell)"
    together = "; ".join(f"{labels[name][0].lower()}{labels[name][1:]} {values[name]}" for name in undecided)
    if undecided and len(runs.seeds) == 1:
        chance = "One seed cannot tell whether differences are more than chance; use --seeds 10 or more"
        said.append(f"Undecided: {together}. {chance}.")
    elif undecided:
        said.append(f"No significant difference: {together}.")
    return said


def _label(name: str, runs: VariantRuns, unserved: Unserved) -> str:
    """Returns the title of a metric; fairness names the flows with equal demand."""
    flows = _flows(runs)
    alike = largest_alike(flows)
    if name == "jain" and len(alike) < len(flows):
        return f"{_LABELS[name]} among {flow_words(flows, alike, _MOST_OF_SCHEME).removeprefix('all ')}"
    return "Delay of what arrived (95th percentile)" if unserved and name == "delay_p95_s" else _LABELS[name]


def _alone(runs: VariantRuns, metric: Metric) -> str:
    found = runs.estimate(runs.variants[0], metric.name)
    if found is None:
        return "nothing was delivered"
    text = _number(metric, found.mean)
    if found.low is None or found.high is None:
        return text
    low, high = (_number(metric, end) for end in (found.low, found.high))
    if low == high == text:
        return f"{text} in all {found.n} seeds"
    return f"{text} (95 % interval {low} to {high}, {found.n} seeds)"


def _of_kinds(runs: VariantRuns) -> list[str]:
    """Returns the range of the flows' delays, by kind of flow."""
    if not _delays_by_flow(runs):
        return []
    of = flows_by_kind(_flows(runs))
    delays = {variant: runs.by_flow(variant, "delay_p95_s") for variant in runs.variants}
    said = []
    for kind, flows in list(of.items())[:_MOST_KINDS]:
        values = {variant: _range(METRIC["delay_p95_s"], found[flows]) for variant, found in delays.items()}
        each = ", ".join(f"{variant} {value}" for variant, value in values.items())
        said.append(f"{kind} {each if len(runs.variants) > 1 else next(iter(values.values()))}")
    left = [f"{len(of) - _MOST_KINDS} more kinds"] if len(of) > _MOST_KINDS else []
    by = "by kind of flow" if len(of) > 1 else "by flow"
    return [f"{_LABELS['delay_p95_s']} {by}: {'; '.join([*said, *left])}."]


def _delays_by_flow(runs: VariantRuns) -> bool:
    """Whether delays are stated by flow: flows of several kinds, or of one variant, have no common delay."""
    of = flows_by_kind(_flows(runs))
    return len(of) > 1 or (len(runs.variants) == 1 and any(len(flows) > 1 for flows in of.values()))


def _range(metric: Metric, values: np.ndarray) -> str:
    """Returns the least and the greatest value; one number if both look equal."""
    there = values[np.isfinite(values)]
    if not len(there):
        return "none"
    least, most = (three_digits(metric.shown(end)) for end in (there.min(), there.max()))
    return f"{least if least == most else f'{least} to {most}'} {metric.unit}".strip()


def _losses(runs: VariantRuns) -> list[str]:
    """Returns the share of lost packets of all seeds by scheme, with the flow that lost most."""
    said = []
    flows = _flows(runs)
    for variant in runs.variants:
        *by_flow, together = runs.loss_ratios(variant)
        if not together > 0.0:
            continue
        most = int(np.nanargmax(by_flow))
        of_one = f", at most {percent(by_flow[most])} ({flows[most]['name']})" if len(flows) > 1 else ""
        where = f"{variant} " if len(runs.variants) > 1 else ""
        said.append(f"{where}{percent(together)}{of_one}")
    seeds = ", all seeds together" if len(runs.seeds) > 1 else ""
    return [f"Packets lost{seeds}: {'; '.join(said)}."] if said else []


def _advice(runs: VariantRuns, unserved: Unserved) -> list[str]:
    """Returns the advice."""
    counts = {v: (unserved.count(v, starving=True), unserved.count(v, starving=False)) for v in runs.variants}
    least = min(counts.values())
    explain = "`multihop explain` tries what helps"
    if len(counts) == 1:
        total = len(unserved.services[runs.variants[0]])
        if not any(least):
            return ["All flows are fine." if total > 1 else "The flow is fine."]
        return [f"What to do: {explain}."]
    best = [variant for variant, count in counts.items() if count == least]
    if len(best) < len(counts):
        of_them = f"{' or '.join(best)}: {_count(unserved, counts, best)}.{_price(runs, best)}"
        if any(least):
            return [f"What to do: {explain}. Best of these schemes is {of_them}"]
        return [f"What to do: take {of_them}"]
    if any(least):
        return [f"What to do: {explain}; none of these schemes serves all flows."]
    return [_by_preference(runs)]


def _count(unserved: Unserved, counts: Mapping[str, tuple[int, int]], best: Sequence[str]) -> str:
    """Returns the number of flows that the best schemes do not serve, and those of other schemes."""
    starving, wanting = counts[best[0]]
    total = len(unserved.services[best[0]])
    if not starving and not wanting:
        return "all flows are fine" if total > 1 else "the flow is fine"
    which = int(all(count[0] == starving for count in counts.values()))
    statuses = [each.status for found in unserved.services.values() for each in found if each.status in _WANTING]
    named = [str(status) for status in _WANTING if status in statuses]
    what = f"{' or '.join(named)}" if which else "starving"
    if total == 1:
        now = unserved.services[best[0]][0].status
        return f"the flow is {now}, not {' or '.join(_others_status(unserved, best))}"
    number = counts[best[0]][which]
    others = ", ".join(f"{count[which]} under {variant}" for variant, count in counts.items() if variant not in best)
    return f"{number or 'no'} {'flow is' if number < 2 else 'flows are'} {what} ({others})"


def _others_status(unserved: Unserved, best: Sequence[str]) -> list[str]:
    """Returns the statuses of a single flow under the schemes that are not the best."""
    return list(dict.fromkeys(str(of[0].status) for variant, of in unserved.services.items() if variant not in best))


def _price(runs: VariantRuns, taken: Sequence[str]) -> str:
    """Returns the metrics in which other schemes are significantly better than the advised one."""
    known = {metric.name for metric in runs.measured_metrics}
    known -= {"delay_p95_s"} if _delays_by_flow(runs) else set()
    said = []
    for name in (name for name in _QUESTIONS if name in known and len(taken) == 1):
        metric, means = METRIC[name], _ranked(runs, METRIC[name])
        better = [
            variant
            for contrast in runs.contrasts(metric)
            if contrast.significant and _matters(contrast, means) and taken[0] in {contrast.a, contrast.b}
            for variant in (contrast.a, contrast.b)
            if variant != taken[0] and list(means).index(variant) < list(means).index(taken[0])
        ]
        if better:
            best = min(better, key=list(means).index)
            label = _LABELS[name][0].lower() + _LABELS[name][1:]
            said.append(f"{label} {_number(metric, means[taken[0]])}, with {best} {_number(metric, means[best])}")
    return f" Its price: {'; '.join(said)}." if said else ""


def _by_preference(runs: VariantRuns) -> str:
    """Returns the advice if all schemes serve all flows."""
    if len(runs.seeds) == 1:
        return "What to do: repeat with --seeds 10 before choosing a scheme."
    ahead = {
        what: " or ".join(leaders)
        for what, name in (("goodput", "goodput_total_bps"), ("delay", "delay_p95_s"))
        if (leaders := _leaders(runs, METRIC[name]))
    }
    if not ahead:
        return "What to do: any of these schemes will do, or more seeds: no difference is beyond chance."
    if len(set(ahead.values())) == 1:
        return f"What to do: take {next(iter(ahead.values()))}, for {listed(list(ahead))}."
    return "What to do: " + ", ".join(f"take {which} for {what}" for what, which in ahead.items()) + "."


def _leaders(runs: VariantRuns, metric: Metric) -> list[str]:
    """Returns the variants without a significant difference to the best; none if all variants are such."""
    means = _ranked(runs, metric)
    if not means:
        return []
    best = next(iter(means))
    apart = {frozenset((c.a, c.b)) for c in runs.contrasts(metric) if c.significant and _matters(c, means)}
    leaders = [variant for variant in means if frozenset((best, variant)) not in apart]
    return leaders if len(leaders) < len(means) else []


def _ranked(runs: VariantRuns, metric: Metric) -> dict[str, float]:
    """Returns the means of the variants with values, the best first."""
    means = {v: e.mean for v in runs.variants if (e := runs.estimate(v, metric.name)) is not None}
    ranked = sorted(means, key=lambda v: -means[v] if metric.higher_is_better else means[v])
    return {variant: means[variant] for variant in ranked}


def _answer(runs: VariantRuns, metric: Metric, means: Mapping[str, float]) -> str | None:
    """Returns the variants that are better than others; `None` if no two differ significantly."""
    contrasts = {frozenset((c.a, c.b)): c for c in runs.contrasts(metric)}
    apart = [c for c in contrasts.values() if c.significant]
    if not apart:
        return None
    mattering = [contrast for contrast in apart if _matters(contrast, means)]
    if not mattering:
        return "They are practically equal."
    leader, *others = means
    of = {variant: contrasts.get(frozenset((leader, variant))) for variant in others}
    beaten = {v: contrast for v, contrast in of.items() if contrast in mattering}
    equal = [v for v, contrast in of.items() if contrast in apart and v not in beaten]
    tied = [v for v in others if v not in beaten and v not in equal]
    said = [f"{leader} is better {' and '.join(_gap(c, v, means[v], metric) for v, c in beaten.items() if c)}"]
    said = said if beaten else []
    said += [f"{listed([leader, *equal])} are practically equal"] if equal else []
    said += [f"{listed([leader, *tied])} cannot be distinguished"] if tied else []
    return ". ".join(said) + ("." if beaten else f", but {_pair(mattering[0], metric)}.")


def _matters(contrast: Contrast, means: Mapping[str, float]) -> bool:
    """Whether a user notices a significant difference."""
    return is_noticeable(contrast.metric.name, means[contrast.a], means[contrast.b])


def _gap(contrast: Contrast, other: str, base: float, metric: Metric) -> str:
    """Returns the amount by which the leader is better than `other`, also as a share of its mean `base`."""
    amount = abs(contrast.difference.mean)
    unit = f" {metric.unit}" if metric.unit else ""
    # A percentage of an index would mean nothing.
    relative = "" if metric.name == "jain" or base == 0.0 else f" ({_relative(amount / base, metric)})"
    return f"than {other} by {three_digits(metric.shown(amount))}{unit}{relative}"


def _relative(share: float, metric: Metric) -> str:
    """Returns a difference as a share of the other mean, or as a factor if it is large."""
    if not metric.higher_is_better:
        return f"-{percent(share)}"
    if share >= _FACTOR - 1:
        return f"{three_digits(1 + share)} times as much"
    return f"+{percent(share)}"


def _pair(contrast: Contrast, metric: Metric) -> str:
    a_ahead = (contrast.difference.mean > 0) == metric.higher_is_better
    better, worse = (contrast.a, contrast.b) if a_ahead else (contrast.b, contrast.a)
    return f"{better} is better than {worse}"


def _number(metric: Metric, value: float) -> str:
    return f"{three_digits(metric.shown(value))} {metric.unit}".strip()
