"""Who is better, said in words that the numbers carry and no stronger."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from multihop.columns import METRIC, Metric

if TYPE_CHECKING:
    from multihop.comparison import Comparison, Contrast
    from multihop.statistics import Estimate

_QUESTIONS = ("goodput_total_bps", "jain", "delay_p95_s")
_LABELS = {"goodput_total_bps": "Goodput", "jain": "Fairness", "delay_p95_s": "Delay (95th percentile)"}


def sentences(comparison: Comparison) -> list[str]:
    """One sentence per question: goodput, fairness, delay. For a single variant, what it got."""
    if len(comparison.variants) == 1:
        return [_alone(comparison, METRIC[name]) for name in _QUESTIONS]
    return [f"{_LABELS[name]}: {_answer(comparison, METRIC[name])}" for name in _QUESTIONS]


def with_interval(found: Estimate | None, metric: Metric) -> str:
    """`mean ± half width` in the unit that people read, with as many digits as the interval justifies."""
    if found is None:
        return "none"
    mean = metric.shown(found.mean)
    if found.half_width is None:
        return f"{mean:.4g}"
    half = metric.shown(found.half_width)
    if half == 0.0 or not 1e-6 < half < 1e6:
        return f"{mean:.4g} ± {half:.2g}"
    decimals = max(0, 1 - math.floor(math.log10(half)))
    return f"{mean:.{decimals}f} ± {half:.{decimals}f}"


def _alone(comparison: Comparison, metric: Metric) -> str:
    found = comparison.estimate(comparison.variants[0], metric.name)
    if found is None:
        return f"{_LABELS[metric.name]}: nothing was delivered."
    text = f"{_LABELS[metric.name]}: {_number(metric, found.mean)}"
    if found.low is None or found.high is None:
        return f"{text} (one seed, so no interval)."
    return f"{text} (95 % interval {_number(metric, found.low)} to {_number(metric, found.high)}, {found.n} seeds)."


def _answer(comparison: Comparison, metric: Metric) -> str:
    means = {v: e.mean for v in comparison.variants if (e := comparison.estimate(v, metric.name)) is not None}
    if not means:
        return "nothing was delivered, so there is nothing to compare."
    ranked = sorted(means, key=lambda v: -means[v] if metric.higher_is_better else means[v])
    leader, others = ranked[0], ranked[1:]
    values = ", ".join(f"{v} {_number(metric, means[v])}" for v in ranked)
    if len(comparison.seeds) == 1:
        return f"{values}. One seed cannot tell whether this is more than chance; use --seeds 10 or more."
    contrasts = {frozenset((c.a, c.b)): c for c in comparison.contrasts(metric)}
    beaten = [v for v in others if (c := contrasts.get(frozenset((leader, v)))) and c.significant]
    tied = [v for v in others if v not in beaten]
    if not beaten:
        apart = [c for c in contrasts.values() if c.significant]
        if not apart:
            return f"no significant difference ({values})."
        return f"{_list([leader, *tied])} cannot be told apart ({values}); but {_pair(apart[0], metric)}."
    gaps = "; ".join(_gap(contrasts[frozenset((leader, v))], leader, v, means[v], metric) for v in beaten)
    text = f"{leader} is better: {gaps}"
    if tied:
        text += f"; no significant difference from {_list(tied)}"
    return f"{text} ({values})."


def _gap(contrast: Contrast, leader: str, other: str, base: float, metric: Metric) -> str:
    """How far `leader` is ahead of `other`, whose mean is `base`."""
    sign = 1.0 if contrast.a == leader else -1.0
    d = contrast.difference
    if d.low is None or d.high is None:
        raise ValueError("a significant difference has an interval")
    low, high = sorted((sign * d.low, sign * d.high))
    p = f"p {_p(contrast.adjusted_p or 0.0)}"
    mean, low_text, high_text = (f"{metric.shown(v):+.3g}" for v in (sign * d.mean, low, high))
    unit = f" {metric.unit}" if metric.unit else ""
    # A percentage of an index would mean nothing.
    share = "" if metric.name == "jain" or base == 0.0 else f", {100 * sign * d.mean / base:+.0f} %"
    return f"{mean}{unit}{share} against {other} (95 % interval {low_text} to {high_text}{unit}, {p})"


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
