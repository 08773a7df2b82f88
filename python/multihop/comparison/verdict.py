"""The first screen of runs: who is not served, what differs and how sure that is, and what to do.

Sentences say what the numbers carry and no stronger. Starving flows come before the better scheme: a total
says nothing of them. P-values and intervals are in a table below the sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence

import numpy as np

from multihop import _core
from multihop.comparison import phases
from multihop.comparison.kinds import delays, kinds
from multihop.comparison.runs import Contrast, Runs
from multihop.comparison.service import STARVING, Service, Status
from multihop.results.columns import METRIC, Metric
from multihop.results.statistics import estimate_or_none
from multihop.results.words import listed, percent, several, three_digits

_QUESTIONS = ("goodput_total_bps", "jain", "delay_p95_s")
_LABELS = {"goodput_total_bps": "Goodput", "jain": "Fairness", "delay_p95_s": "Delay (95th percentile)"}

#: A sentence names no more flows than these; of several schemes, fewer of each.
_MOST_FLOWS, _MOST_OF_SCHEME = 8, 2

#: A sentence names no more kinds of flows than these.
_MOST_KINDS = 4

_UNSERVED = frozenset({Status.DEAD, Status.STARVING})
_WANTING = (Status.SLOW, Status.LATE, Status.LOSSY)

#: A gap to the optimum below this is said to be below zero; nearer to it, rounding and chance may make one.
_BELOW_ZERO = -0.005

#: A smaller difference, however significant, is none to a reader: a share of the mean, or of Jain's index.
_NEGLIGIBLE = 0.005

#: A larger ratio of two means is said as a factor.
_FACTOR = 3.0


def first_screen(runs: Runs) -> list[str]:
    """At most a dozen lines: unserved flows, goodput, fairness, delay, losses, and what to do."""
    unserved = Unserved(runs)
    differ = [*_who_is_better(runs, unserved), *_of_kinds(runs), *_losses(runs)]
    return [*unserved.sentences(), *differ, *_advice(runs, unserved)]


def sentences(runs: Runs) -> list[str]:
    """The first screen, with flows in phase before what to do."""
    *said, last = first_screen(runs)
    return [*said, *phases.sentences(runs), last]


def about_optimum(runs: Runs) -> list[str]:
    """Explains distance and gap to readers of the table that has them, and why a gap is below zero."""
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


def differences(runs: Runs) -> list[Contrast]:
    """The pairs of variants behind the sentences, by metric; none with one seed."""
    if len(runs.seeds) == 1:
        return []
    return [
        contrast for metric in runs.measured_metrics if metric.name in _QUESTIONS for contrast in runs.contrasts(metric)
    ]


class Unserved:
    """Flows that do not get what they need.

    Attributes:
        services: variant -> what each flow got, without those that only answer another.
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._flows = _flows(runs)
        answering = {index for index, flow in enumerate(self._flows) if flow.get("acknowledges", False)}
        self.services = {
            variant: [each for each in found if each.flow not in answering] for variant, found in runs.services.items()
        }

    def __bool__(self) -> bool:
        return any(each.status in _UNSERVED for found in self.services.values() for each in found)

    def count(self, variant: str, *, starving: bool) -> int:
        """Number of flows that are dead or starve under a variant, or that are slow, late or lossy."""
        return sum(
            each.status != Status.FINE and (each.status in _UNSERVED) == starving for each in self.services[variant]
        )

    def sentences(self) -> list[str]:
        """Flows that are dead under every scheme first, then starving ones, then those slow or late."""
        several_variants = len(self._runs.variants) > 1
        silent = self._dead()
        said = [self._of_dead(silent)] if silent else []
        starving = {
            variant: [each for each in found if each.status in _UNSERVED and each.flow not in silent]
            for variant, found in self.services.items()
        }
        if any(starving.values()):
            under = " under every scheme" if all(starving.values()) else " under some schemes only"
            said.append(f"Starving{under if several_variants else ''}: {self._starving(starving)}.")
        wanting = [each for found in self.services.values() for each in found if each.status in _WANTING]
        if several_variants and len(wanting) > _MOST_OF_SCHEME:
            return [*said, f"Slow, late or lossy: {self._counts()}."]
        for status in _WANTING:
            which = self._by_variants({status})
            if which:
                said.append(f"{str(status).capitalize()}: {which}.")
        return said

    def _counts(self) -> str:
        """Numbers of slow, late and lossy flows by variant."""
        said = []
        for variant, found in self.services.items():
            numbers = Counter(each.status for each in found)
            counts = [f"{numbers[status]} {status}" for status in _WANTING if numbers[status]]
            said.append(f"{variant} {listed(counts) if counts else 'none'}")
        return "; ".join(said)

    def _dead(self) -> list[int]:
        """Flows that are dead under every variant."""
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
        """In how many seeds flows starve, and which in how many; by variant where there are several."""
        most = _MOST_FLOWS if len(self.services) == 1 else _MOST_OF_SCHEME
        said = []
        for variant, found in starving.items():
            if not found:
                continue
            where = f"{variant} " if len(self.services) > 1 else ""
            if len(self._runs.seeds) == 1:
                said.append(f"{where}{several([each.name for each in found], most)}")
                continue
            seeds = np.any([each.starves for each in found], axis=0)
            worst = sorted(found, key=lambda each: -each.starved_seeds)
            flows = several([f"{each.name} in {each.starved_seeds}" for each in worst], most)
            said.append(f"{where}in {seeds.sum()} of {len(seeds)} seeds ({flows})")
        of = dict.fromkeys(each.yardstick for found in starving.values() for each in found)
        return f"{'; '.join(said)}: less than {100 * STARVING:g} % of {' or '.join(of)}"

    def _by_variants(self, statuses: Container[Status]) -> str:
        """The flows of these statuses, with why; by variant where there are several."""
        said = []
        for variant, found in self.services.items():
            of = [each for each in found if each.status in statuses]
            if of:
                where = f"under {variant} " if len(self.services) > 1 else ""
                said.append(where + self._with_reasons(of))
        return "; ".join(said)

    @staticmethod
    def _with_reasons(found: Sequence[Service]) -> str:
        """Flows with why each is not served; flows that lack the same together, with the worst of them."""
        by_lack: dict[object, list[Service]] = {}
        for each in sorted(found, key=lambda each: -each.severity):
            by_lack.setdefault(each.lack, []).append(each)
        said = []
        for same in by_lack.values():
            at_worst = "at worst " if len({each.sentence() for each in same}) > 1 else ""
            said.append(f"{several([each.name for each in same], _MOST_FLOWS)} ({at_worst}{same[0].sentence()})")
        return ", ".join(said)


def _flows(runs: Runs) -> list[_core.FlowView]:
    return runs.view["flows"]


def _who_is_better(runs: Runs, unserved: Unserved) -> list[str]:
    """A line for each question in which schemes differ, and one for all others together."""
    known = {metric.name for metric in runs.measured_metrics}
    if len(kinds(_flows(runs))) > 1:
        known.discard("delay_p95_s")
    labels = {name: _label(name, unserved) for name in _QUESTIONS if name in known}
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
    together = "; ".join(f"{labels[name][0].lower()}{labels[name][1:]} {values[name]}" for name in undecided)
    if undecided and len(runs.seeds) == 1:
        chance = "One seed cannot tell whether differences are more than chance; use --seeds 10 or more"
        said.append(f"Undecided: {together}. {chance}.")
    elif undecided:
        said.append(f"No significant difference: {together}.")
    return said


def _label(name: str, unserved: Unserved) -> str:
    return f"{_LABELS[name]}, of what arrived" if unserved and name == "delay_p95_s" else _LABELS[name]


def _alone(runs: Runs, metric: Metric) -> str:
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


def _of_kinds(runs: Runs) -> list[str]:
    """Delays by kind of flow, where there are several kinds: means over seeds, by variant."""
    of = kinds(_flows(runs))
    if len(of) == 1:
        return []
    metric = METRIC["delay_p95_s"]
    said = []
    for kind, flows in list(of.items())[:_MOST_KINDS]:
        found = {variant: estimate_or_none(delays(results, flows, 0.95)) for variant, results in runs.results.items()}
        values = {variant: "none" if each is None else _number(metric, each.mean) for variant, each in found.items()}
        each = ", ".join(f"{variant} {value}" for variant, value in values.items())
        said.append(f"{kind} {each if len(runs.variants) > 1 else next(iter(values.values()))}")
    left = [f"{len(of) - _MOST_KINDS} more kinds"] if len(of) > _MOST_KINDS else []
    return [f"{_LABELS['delay_p95_s']} by kind of flow: {'; '.join([*said, *left])}."]


def _losses(runs: Runs) -> list[str]:
    """Losses by scheme, pooled and, of several flows, of the flow that loses most.

    A flow that loses most of its few packets hardly counts in the pool.
    """
    said = []
    flows = _flows(runs)
    for variant in runs.variants:
        pooled = runs.estimate(variant, "loss_ratio")
        by_flow = runs.by_flow(variant, "loss_ratio")
        if pooled is None or not pooled.mean or np.isnan(by_flow).all():
            continue
        most = int(np.nanargmax(by_flow))
        of_one = f", {flows[most]['name']} {percent(by_flow[most])}" if len(flows) > 1 else ""
        where = f"{variant} " if len(runs.variants) > 1 else ""
        said.append(f"{where}{percent(pooled.mean)}{of_one}")
    whose = " in all, and by the flow that loses most" if len(flows) > 1 else ""
    return [f"Packets lost{whose}: {'; '.join(said)}."] if said else []


def _advice(runs: Runs, unserved: Unserved) -> list[str]:
    """What a reader does next; nothing where one variant serves every flow."""
    counts = {v: (unserved.count(v, starving=True), unserved.count(v, starving=False)) for v in runs.variants}
    least = min(counts.values())
    why = "`multihop explain` says why, and what helps"
    if len(counts) == 1:
        total = len(unserved.services[runs.variants[0]])
        if not any(least):
            return ["All flows are fine." if total > 1 else "The flow is fine."]
        return [f"What to do: {why}."]
    best = [variant for variant, count in counts.items() if count == least]
    if len(best) < len(counts):
        which = "no flow starves" if not least[0] else f"fewest flows starve ({least[0]})"
        if all(count[0] == least[0] for count in counts.values()):
            which = "no flow is slow, late or lossy" if not any(least) else "fewest flows are slow, late or lossy"
        more = f"; {why}" if any(least) else ""
        return [f"What to do: take {listed(best)}, under which {which}{more}."]
    if any(least):
        return [f"What to do: {why}; no scheme serves all flows."]
    return [_by_preference(runs)]


def _by_preference(runs: Runs) -> str:
    """Which scheme to take where all serve all flows."""
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


def _leaders(runs: Runs, metric: Metric) -> list[str]:
    """The variants that cannot be told from the best by a metric; none if that is all of them."""
    means = _ranked(runs, metric)
    if not means:
        return []
    best = next(iter(means))
    apart = {frozenset((c.a, c.b)) for c in runs.contrasts(metric) if c.significant and _matters(c, means)}
    leaders = [variant for variant in means if frozenset((best, variant)) not in apart]
    return leaders if len(leaders) < len(means) else []


def _ranked(runs: Runs, metric: Metric) -> dict[str, float]:
    """Means of those variants that have values, the best first."""
    means = {v: e.mean for v in runs.variants if (e := runs.estimate(v, metric.name)) is not None}
    ranked = sorted(means, key=lambda v: -means[v] if metric.higher_is_better else means[v])
    return {variant: means[variant] for variant in ranked}


def _answer(runs: Runs, metric: Metric, means: Mapping[str, float]) -> str | None:
    """Which variants are better than which; none if no two differ significantly."""
    contrasts = {frozenset((c.a, c.b)): c for c in runs.contrasts(metric)}
    apart = [c for c in contrasts.values() if c.significant]
    if not apart:
        return None
    if not any(_matters(contrast, means) for contrast in apart):
        return f"Alike, within {percent(_NEGLIGIBLE)}."
    leader, *others = means
    beaten = [v for v in others if (c := contrasts.get(frozenset((leader, v)))) and c.significant]
    tied = [v for v in others if v not in beaten]
    alike = f"{listed([leader, *tied])} cannot be distinguished" if tied else ""
    if not beaten:
        return f"{alike}, but {_pair(apart[0], metric)}."
    gaps = " and ".join(_gap(contrasts[frozenset((leader, v))], v, means[v], metric) for v in beaten)
    return f"{leader} is better {gaps}." + (f" {alike}." if alike else "")


def _matters(contrast: Contrast, means: Mapping[str, float]) -> bool:
    """Whether a significant difference is more than a reader cares about."""
    base = 1.0 if contrast.metric.name == "jain" else max(abs(means[contrast.a]), abs(means[contrast.b]))
    return abs(contrast.difference.mean) >= _NEGLIGIBLE * base


def _gap(contrast: Contrast, other: str, base: float, metric: Metric) -> str:
    """Amount by which the leader is better than `other` with mean `base`, and its share of that."""
    amount = abs(contrast.difference.mean)
    unit = f" {metric.unit}" if metric.unit else ""
    # A percentage of an index would mean nothing.
    relative = "" if metric.name == "jain" or base == 0.0 else f" ({_relative(amount / base, metric)})"
    return f"than {other} by {three_digits(metric.shown(amount))}{unit}{relative}"


def _relative(share: float, metric: Metric) -> str:
    """A difference as a share of the other's mean; a factor where it is many times that."""
    if not metric.higher_is_better:
        return f"-{percent(share)}" if share >= 0.005 else "less than 1 %"
    if share >= _FACTOR - 1:
        return f"{three_digits(1 + share)} times as much"
    return f"+{percent(share)}" if share >= 0.005 else "less than 1 %"


def _pair(contrast: Contrast, metric: Metric) -> str:
    a_ahead = (contrast.difference.mean > 0) == metric.higher_is_better
    better, worse = (contrast.a, contrast.b) if a_ahead else (contrast.b, contrast.a)
    return f"{better} is better than {worse}"


def _number(metric: Metric, value: float) -> str:
    return f"{three_digits(metric.shown(value))} {metric.unit}".strip()
