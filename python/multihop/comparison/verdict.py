"""What matters of a comparison first, said in words that the numbers carry and no stronger.

Starving flows come before the better scheme: a total says nothing of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from multihop import _core
from multihop.comparison import phases
from multihop.comparison.runs import Contrast, Runs
from multihop.optima.optimum import FLOOR
from multihop.results.columns import METRIC, Metric
from multihop.results.words import three_digits

_QUESTIONS = ("goodput_total_bps", "jain", "delay_p95_s")
_LABELS = {"goodput_total_bps": "Goodput", "jain": "Fairness", "delay_p95_s": "Delay (95th percentile)"}

#: A sentence names no more flows than these.
_MOST_FLOWS = 8

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


class Unserved:
    """Flows that get nothing, or next to nothing.

    Attributes:
        dead: variant -> flows of which nothing arrived in any seed.
        starving: variant -> others of which nothing arrived in some seeds, or on average less than `FLOOR` of
            what they have at the optimum, where runs can be held against one.
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._flows = _flows(runs)
        self.dead: dict[str, list[int]] = {}
        self.starving: dict[str, list[int]] = {}
        for variant in runs.variants:
            rates = runs.rates(variant)
            sharing = np.array([not flow.get("acknowledges", False) for flow in self._flows], dtype=bool)
            is_dead = (rates == 0).all(axis=0) & sharing
            is_starving = (rates == 0).any(axis=0)
            if runs.not_comparable is None:
                is_starving |= rates.mean(axis=0) < FLOOR * runs.optima[variant].rates_bps
            self.dead[variant] = np.flatnonzero(is_dead).tolist()
            self.starving[variant] = np.flatnonzero(is_starving & ~is_dead & sharing).tolist()

    @property
    def everywhere(self) -> list[int]:
        """Flows that are dead or starve under every variant."""
        return _in_all([sorted([*dead, *self.starving[variant]]) for variant, dead in self.dead.items()])

    def __bool__(self) -> bool:
        return any(self.dead.values()) or any(self.starving.values())

    def sentences(self) -> list[str]:
        """Flows dead under every scheme first, then those starving there, then those under some only."""
        said = []
        dead = _in_all(list(self.dead.values()))
        starving = [flow for flow in self.everywhere if flow not in dead]
        under = " under every scheme" if len(self._runs.variants) > 1 else ""
        seeds = f" in all {len(self._runs.seeds)} seeds" if len(self._runs.seeds) > 1 else ""
        if dead:
            said.append(f"Dead{under}: {self._names(dead)} ({self._count(dead)}{seeds}); see `multihop explain`.")
        if starving:
            what = f"{self._count(starving)}: {self._next_to_nothing()}"
            said.append(f"Starving{under}: {self._names(starving)} ({what}); see `multihop explain`.")
        some = {
            ("dead", "starving")[kind]: {v: [f for f in flows if f not in self.everywhere] for v, flows in of.items()}
            for kind, of in enumerate((self.dead, self.starving))
        }
        if any(flows for of in some.values() for flows in of.values()):
            each = "; ".join(f"{how} {line}" for how, of in some.items() for line in self._by_variants(of))
            said.append(f"Served by some schemes only: {each}.")
        return said

    def _by_variants(self, flows: Mapping[str, Sequence[int]]) -> list[str]:
        """Flows that fare alike under the same variants are named together."""
        under: dict[tuple[str, ...], list[int]] = {}
        for flow in sorted({flow for found in flows.values() for flow in found}):
            under.setdefault(tuple(v for v, found in flows.items() if flow in found), []).append(flow)
        return [f"under {_list(variants)} {self._names(found)}" for variants, found in under.items()]

    def _next_to_nothing(self) -> str:
        words = ["nothing in some seeds"] if len(self._runs.seeds) > 1 else []
        words += [f"less than {100 * FLOOR:g} % of the optimum"] if self._runs.not_comparable is None else []
        return " or ".join(words)

    def _count(self, flows: Sequence[int]) -> str:
        return f"{len(flows)} of {len(self._flows)} {'flow' if len(self._flows) == 1 else 'flows'}"

    def _names(self, flows: Sequence[int]) -> str:
        shown = [
            self._flows[flow]["name"] + ("" if self._flows[flow]["path"] else " (no route)")
            for flow in flows[:_MOST_FLOWS]
        ]
        more = [f"{len(flows) - _MOST_FLOWS} more"] if len(flows) > _MOST_FLOWS else []
        return ", ".join([*shown, *more])


def _flows(runs: Runs) -> list[_core.FlowView]:
    return next(iter(runs.results.values()))[0].view["flows"]


def _in_all(lists: Sequence[Sequence[int]]) -> list[int]:
    first, *others = lists
    return [entry for entry in first if all(entry in other for other in others)]


def _who_is_better(runs: Runs, unserved: Unserved) -> list[str]:
    """A line for each question in which schemes differ, and one for all others together."""
    labels = {name: _label(name, runs, unserved) for name in _QUESTIONS}
    if len(runs.variants) == 1:
        return [f"{labels[name]}: {_alone(runs, METRIC[name])}" for name in _QUESTIONS]
    ranked = {name: _ranked(runs, METRIC[name]) for name in _QUESTIONS}
    values = {
        name: ", ".join(f"{variant} {_number(METRIC[name], mean)}" for variant, mean in found.items())
        for name, found in ranked.items()
    }
    said, undecided = [], []
    for name in _QUESTIONS:
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


def _label(name: str, runs: Runs, unserved: Unserved) -> str:
    label = _LABELS[name]
    if not unserved:
        return label
    if name == "delay_p95_s":
        return f"{label}, of what arrived"
    others = len(_flows(runs)) - len(unserved.everywhere)
    if name != "goodput_total_bps" or not unserved.everywhere or not others:
        return label
    return f"{label} of the other {f'{others} flows' if others > 1 else 'flow'}"


def _alone(runs: Runs, metric: Metric) -> str:
    found = runs.estimate(runs.variants[0], metric.name)
    if found is None:
        return "nothing was delivered."
    text = _number(metric, found.mean)
    if found.low is None or found.high is None:
        return f"{text} (one seed, so no interval)."
    return f"{text} (95 % interval {_number(metric, found.low)} to {_number(metric, found.high)}, {found.n} seeds)."


def _losses(runs: Runs) -> list[str]:
    """Losses by scheme, pooled and of the flow that loses most.

    A flow that loses most of its few packets hardly counts in the pool.
    """
    said = []
    flows = _flows(runs)
    if len(flows) < 2:
        return []
    for variant in runs.variants:
        pooled = runs.estimate(variant, "loss_ratio")
        by_flow = runs.by_flow(variant, "loss_ratio")
        if pooled is None or not pooled.mean or np.isnan(by_flow).all():
            continue
        most = int(np.nanargmax(by_flow))
        said.append(f"{variant} {_percent(pooled.mean)} and {_percent(by_flow[most])} ({flows[most]['name']})")
    return [f"Packets lost, of all and of the flow that loses most: {'; '.join(said)}."] if said else []


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
