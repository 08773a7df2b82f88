"""What matters of a comparison first, said in words that the numbers carry and no stronger.

Starving flows come before the better scheme: a total says nothing of them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

import numpy as np

from multihop import _core
from multihop.comparison import phases
from multihop.comparison.runs import Contrast, Runs
from multihop.comparison.service import STARVING, Service, Status
from multihop.results.columns import METRIC, Metric
from multihop.results.words import three_digits

_QUESTIONS = ("goodput_total_bps", "jain", "delay_p95_s")
_LABELS = {"goodput_total_bps": "Goodput", "jain": "Fairness", "delay_p95_s": "Delay (95th percentile)"}

#: A sentence names no more flows than these.
_MOST_FLOWS = 8

#: A sentence gives no more reasons than these.
_MOST_REASONS = 4

_UNSERVED = frozenset({Status.DEAD, Status.STARVING})

#: A gap to the optimum below this is said to be below zero; nearer to it, rounding and chance may make one.
_BELOW_ZERO = -0.005


def sentences(runs: Runs) -> list[str]:
    """One line per question: unserved flows, goodput, fairness, delay, losses of single flows, and phases."""
    unserved = Unserved(runs)
    return [*unserved.sentences(), *_who_is_better(runs, unserved), *_losses(runs), *phases.sentences(runs)]


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


def dead(runs: Runs) -> list[str]:
    """A sentence that names the flows of which nothing arrived under any seed and scheme, if any."""
    flows, found = _flows(runs), _dead(runs)
    if not found:
        return []
    names = _several([flows[i]["name"] + ("" if flows[i]["path"] else " (no route)") for i in found])
    under = " under every scheme" if len(runs.variants) > 1 else ""
    seeds = f" in all {len(runs.seeds)} seeds" if len(runs.seeds) > 1 else ""
    count = f"{len(found)} of {len(flows)} {'flow' if len(flows) == 1 else 'flows'}"
    return [f"Dead{under}: {names} ({count}{seeds}); see `multihop explain`."]


def _dead(runs: Runs) -> list[int]:
    """Flows of which nothing arrived under any seed and scheme, without those that only answer another."""
    silent = np.all([(runs.rates(variant) == 0).all(axis=0) for variant in runs.variants], axis=0)
    flows = _flows(runs)
    return [index for index in np.flatnonzero(silent).tolist() if not flows[index].get("acknowledges", False)]


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

    def sentences(self) -> list[str]:
        """Flows that are dead under every scheme first, then starving ones, then those slow or late."""
        said = dead(self._runs)
        under = " under every scheme" if len(self._runs.variants) > 1 else ""
        silent = _dead(self._runs)
        starving = {
            variant: [each for each in found if each.status in _UNSERVED and each.flow not in silent]
            for variant, found in self.services.items()
        }
        if all(starving.values()):
            said.append(f"Starving{under}: {self._starving(starving)}; see `multihop explain`.")
        elif any(starving.values()):
            said.append(f"Starving under some schemes only: {self._starving(starving)}; see `multihop explain`.")
        for status, title in ((Status.SLOW, "Slow"), (Status.LATE, "Late"), (Status.LOSSY, "Lossy")):
            which = self._by_variants({status})
            if which:
                said.append(f"{title}: {which}.")
        return said

    def _starving(self, starving: Mapping[str, Sequence[Service]]) -> str:
        """In how many seeds flows starve, and which in how many; by variant where there are several."""
        said = []
        for variant, found in starving.items():
            if not found:
                continue
            where = f"{variant} " if len(self.services) > 1 else ""
            if len(self._runs.seeds) == 1:
                said.append(f"{where}{_several([each.name for each in found])}")
                continue
            seeds = np.any([each.starves for each in found], axis=0)
            worst = sorted(found, key=lambda each: -each.starved_seeds)
            flows = _several([f"{each.name} in {each.starved_seeds}" for each in worst])
            said.append(f"{where}in {seeds.sum()} of {len(seeds)} seeds ({flows})")
        of = next(each for found in starving.values() for each in found)
        return f"{'; '.join(said)}: less than {100 * STARVING:g} % of {of.fair_words}"

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
        """Flows with why each is not served; flows with one reason together."""
        by_reason: dict[str, list[str]] = {}
        for each in found:
            by_reason.setdefault(each.sentence(), []).append(each.name)
        shown = list(by_reason.items())[:_MOST_REASONS]
        left = sum(len(names) for names in list(by_reason.values())[_MOST_REASONS:])
        parts = [f"{_several(names)} ({why})" for why, names in shown]
        return ", ".join([*parts, *([f"{left} more"] if left else [])])


def _several(names: Sequence[str]) -> str:
    more = [f"{len(names) - _MOST_FLOWS} more"] if len(names) > _MOST_FLOWS else []
    return ", ".join([*names[:_MOST_FLOWS], *more])


def _flows(runs: Runs) -> list[_core.FlowView]:
    return next(iter(runs.results.values()))[0].view["flows"]


def _who_is_better(runs: Runs, unserved: Unserved) -> list[str]:
    """A line for each question in which schemes differ, and one for all others together."""
    known = {metric.name for metric in runs.measured_metrics}
    labels = {name: _label(name, unserved) for name in _QUESTIONS if name in known}
    if len(runs.variants) == 1:
        return [f"{label}: {_alone(runs, METRIC[name])}" for name, label in labels.items()]
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
    label = _LABELS[name]
    if not unserved:
        return label
    if name == "delay_p95_s":
        return f"{label}, of what arrived"
    return label


def _alone(runs: Runs, metric: Metric) -> str:
    found = runs.estimate(runs.variants[0], metric.name)
    if found is None:
        return "nothing was delivered."
    text = _number(metric, found.mean)
    if found.low is None or found.high is None:
        return f"{text} (one seed, so no interval)."
    return f"{text} (95 % interval {_number(metric, found.low)} to {_number(metric, found.high)}, {found.n} seeds)."


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
        of_one = f" and {_percent(by_flow[most])} ({flows[most]['name']})" if len(flows) > 1 else ""
        said.append(f"{variant} {_percent(pooled.mean)}{of_one}")
    whose = ", of all and of the flow that loses most" if len(flows) > 1 else ""
    return [f"Packets lost{whose}: {'; '.join(said)}."] if said else []


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
    leader, *others = means
    beaten = [v for v in others if (c := contrasts.get(frozenset((leader, v)))) and c.significant]
    tied = [v for v in others if v not in beaten]
    alike = f"{_list([leader, *tied])} cannot be distinguished" if tied else ""
    if not beaten:
        return f"{alike}, but {_pair(apart[0], metric)}."
    gaps = " and ".join(_gap(contrasts[frozenset((leader, v))], v, means[v], metric) for v in beaten)
    return f"{leader} is better {gaps}." + (f" {alike}." if alike else "")


def _gap(contrast: Contrast, other: str, base: float, metric: Metric) -> str:
    """By how much the leader is better than `other` with mean `base`, in amounts without a sign."""
    d = contrast.difference
    if d.low is None or d.high is None:
        raise ValueError("a significant difference has an interval")
    low, high = sorted((abs(metric.shown(d.low)), abs(metric.shown(d.high))))
    # A percentage of an index would mean nothing.
    relative = metric.name != "jain" and base != 0.0
    sign = "+" if metric.higher_is_better else "-"
    share = f"{sign}{100 * abs(d.mean) / base:.0f} %, " if relative else ""
    unit = f" {metric.unit}" if metric.unit else ""
    interval = f"95 % interval {three_digits(low)} to {three_digits(high)}{unit}"
    return (
        f"than {other} by {three_digits(abs(metric.shown(d.mean)))}{unit} "
        f"({share}{interval}, p {_p(contrast.adjusted_p or 0.0)})"
    )


def _pair(contrast: Contrast, metric: Metric) -> str:
    a_ahead = (contrast.difference.mean > 0) == metric.higher_is_better
    better, worse = (contrast.a, contrast.b) if a_ahead else (contrast.b, contrast.a)
    return f"{better} is better than {worse} (p {_p(contrast.adjusted_p or 0.0)})"


def _number(metric: Metric, value: float) -> str:
    return f"{three_digits(metric.shown(value))} {metric.unit}".strip()


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.2g}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _list(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
