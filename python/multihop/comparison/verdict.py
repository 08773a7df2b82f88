"""Who is better, said in words that the numbers carry and no stronger."""

from __future__ import annotations

from multihop.comparison.runs import Contrast, Runs
from multihop.results.columns import METRIC, Metric

_QUESTIONS = ("goodput_total_bps", "jain", "delay_p95_s")
_LABELS = {"goodput_total_bps": "Goodput", "jain": "Fairness", "delay_p95_s": "Delay (95th percentile)"}


def sentences(runs: Runs) -> list[str]:
    """One line per question: goodput, fairness, delay. For a single variant, what it got."""
    if len(runs.variants) == 1:
        return [*(_alone(runs, METRIC[name]) for name in _QUESTIONS), *_starvation(runs)]
    said = [f"{_LABELS[name]}: {_answer(runs, METRIC[name])}" for name in _QUESTIONS]
    return [*said, *_starvation(runs)]


def _alone(runs: Runs, metric: Metric) -> str:
    found = runs.estimate(runs.variants[0], metric.name)
    if found is None:
        return f"{_LABELS[metric.name]}: nothing was delivered."
    text = f"{_LABELS[metric.name]}: {_number(metric, found.mean)}"
    if found.low is None or found.high is None:
        return f"{text} (one seed, so no interval)."
    return f"{text} (95 % interval {_number(metric, found.low)} to {_number(metric, found.high)}, {found.n} seeds)."


def _starvation(runs: Runs) -> list[str]:
    """Flows that got nothing have no delay, and means over the others look the better for it: that must be said."""
    starved = {v: float(runs.values(v, "flows_starved").mean()) for v in runs.variants}
    if not any(starved.values()):
        return []
    flows = len(next(iter(runs.results.values()))[0].view["flows"])
    counts = ", ".join(f"{v} {count:.3g}" for v, count in starved.items())
    over = " on average over seeds" if len(runs.seeds) > 1 else ""
    return [
        f"Starvation: of {flows} flows, these many delivered nothing{over}: {counts}. Delays are those of the others."
    ]


def _answer(runs: Runs, metric: Metric) -> str:
    means = {v: e.mean for v in runs.variants if (e := runs.estimate(v, metric.name)) is not None}
    if not means:
        return "nothing was delivered, so there is nothing to compare."
    ranked = sorted(means, key=lambda v: -means[v] if metric.higher_is_better else means[v])
    leader, others = ranked[0], ranked[1:]
    values = ", ".join(f"{v} {_number(metric, means[v])}" for v in ranked)
    if len(runs.seeds) == 1:
        return f"{values}. One seed cannot tell whether this is more than chance; use --seeds 10 or more."
    contrasts = {frozenset((c.a, c.b)): c for c in runs.contrasts(metric)}
    beaten = [v for v in others if (c := contrasts.get(frozenset((leader, v)))) and c.significant]
    tied = [v for v in others if v not in beaten]
    if not beaten:
        apart = [c for c in contrasts.values() if c.significant]
        if not apart:
            return f"{values}; no significant difference."
        return f"{values}. {_list([leader, *tied])} cannot be told apart, but {_pair(apart[0], metric)}."
    gaps = " and ".join(_gap(contrasts[frozenset((leader, v))], v, means[v], metric) for v in beaten)
    between = f" Between {_list([leader, *tied])} there is no significant difference." if tied else ""
    return f"{values}. {leader} is better {gaps}.{between}"


def _gap(contrast: Contrast, other: str, base: float, metric: Metric) -> str:
    """By how much the leader is better than `other`, whose mean is `base`. Amounts, not signed differences."""
    d = contrast.difference
    if d.low is None or d.high is None:
        raise ValueError("a significant difference has an interval")
    low, high = sorted((abs(metric.shown(d.low)), abs(metric.shown(d.high))))
    # A percentage of an index would mean nothing.
    relative = metric.name != "jain" and base != 0.0
    sign = "+" if metric.higher_is_better else "-"
    share = f"{sign}{100 * abs(d.mean) / base:.0f} %, " if relative else ""
    unit = f" {metric.unit}" if metric.unit else ""
    interval = f"95 % interval {low:.3g} to {high:.3g}{unit}"
    return (
        f"than {other} by {abs(metric.shown(d.mean)):.3g}{unit} ({share}{interval}, p {_p(contrast.adjusted_p or 0.0)})"
    )


def _pair(contrast: Contrast, metric: Metric) -> str:
    a_ahead = (contrast.difference.mean > 0) == metric.higher_is_better
    better, worse = (contrast.a, contrast.b) if a_ahead else (contrast.b, contrast.a)
    return f"{better} is better than {worse} (p {_p(contrast.adjusted_p or 0.0)})"


def _number(metric: Metric, value: float) -> str:
    return f"{metric.shown(value):.3g} {metric.unit}".strip()


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.2g}"


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
