"""Winners on a network in goodput, delay and fairness, with differences, or that none differs."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from multihop.experiments.studies import StudyResult
from multihop.leagues import kind_of, rules
from multihop.results.columns import Metric
from multihop.results.statistics import SIGNIFICANCE, PairedDifference, holm, paired_difference

#: Share of the leader's mean below which a difference is ignored, even if it is significant.
LEAST_SHARE = 0.02

#: Difference of indices below which it is ignored, since a share of an index means nothing.
LEAST_INDEX = 0.02

#: Share of the best goodput that a scheme must carry to be compared in delay, since an idle scheme queues
#: nothing.
CARRIES = 0.9

#: Scheme of most hosts today, whose difference is reported wherever it does not lead.
REFERENCE = "tcp-cubic"

#: Metrics of the league that are compared on a network.
QUESTIONS = {"goodput": "Goodput", "delay": "Delay", "jain": "Fairness"}


@dataclass(frozen=True)
class Win:
    """Comparison of schemes on a network by one metric.

    Attributes:
        metric: metric of the comparison.
        leaders: the best by its mean, then those that are not worse than it.
        value: best mean, in the metric's unit.
        behind: other schemes, the nearest first, with their difference to the best in SI units.
        means: means of all compared schemes in SI units.
        left_out: number of schemes that carry too little to be compared.
    """

    metric: Metric
    leaders: Sequence[str]
    value: float
    behind: Mapping[str, PairedDifference]
    means: Mapping[str, float]
    left_out: int

    @property
    def sentence(self) -> str:
        """Sentence about the metric.

        Example: xcp-winf leads with 2.97 Mb/s; next is recn, 3.5 ± 0.7 % less; tcp-cubic, 9.1 ± 1.1 % less.
        """
        shown = f"{self.value:{'.0f' if self.value >= 1000 else '.3g'}} {self.metric.unit}".strip()
        named = listed(self.leaders)
        if not self.behind:
            if self.left_out and len(self.leaders) == 1:
                return f"{named} alone carries {100 * CARRIES:g} % of the best goodput ({shown})"
            return f"{f'{named} do not differ' if self.left_out else 'none differs'} ({shown})"
        if not self.left_out and len(self.leaders) > max(2, len(self.behind)):
            return f"none differs ({shown}) but {'; '.join(self.gap(scheme) for scheme in self.behind)}"
        first = next(iter(self.behind))
        also = f"; {self.gap(REFERENCE)}" if REFERENCE in self.behind and first != REFERENCE else ""
        return f"{named} {'leads' if len(self.leaders) == 1 else 'lead'} with {shown}; next is {self.gap(first)}{also}"

    def gap(self, scheme: str) -> str:
        """Returns the difference of a scheme to the best."""
        difference = self.behind[scheme]
        word = "less" if self.metric.higher_is_better else "more"
        half = math.nan if difference.low is None or difference.high is None else (difference.high - difference.low) / 2
        if not self.metric.unit:
            return f"{scheme}, {abs(difference.mean):.2f} ± {half:.2f} {word}"
        best = abs(self.means[self.leaders[0]])
        share, off = 100 * abs(difference.mean) / best, 100 * half / best
        if share >= 100:
            return f"{scheme}, {1 + share / 100:.1f} ± {off / 100:.1f} times as much"
        return f"{scheme}, {share:.{_decimals(off)}f} ± {off:.{_decimals(off)}f} % {word}"


def classes(schemes: Sequence[str]) -> dict[str, list[str]]:
    """Returns schemes that are compared with each other, by the title of their kind; at least two each."""
    made = {
        about["title"].capitalize(): [scheme for scheme in schemes if kind_of(scheme) == kind]
        for kind, about in rules()["kinds"].items()
    }
    return {title: of_class for title, of_class in made.items() if len(of_class) > 1}


def regimes() -> dict[str, Any]:
    """Returns the content of `regimes.toml`."""
    return tomllib.loads((Path(__file__).parent / "regimes.toml").read_text("utf-8"))


def wins(result: StudyResult, schemes: Sequence[str]) -> dict[str, Win]:
    """Returns the winner among these schemes by metric; nothing with one seed, or if too few have values."""
    goodput = _means(result, "goodput", schemes)
    most = max(goodput.values(), default=0.0)
    made = {}
    for name in QUESTIONS:
        chosen = [s for s in schemes if s in goodput and (name != "delay" or goodput[s] >= CARRIES * most)]
        found = _win(result, name, chosen, len(schemes) - len(chosen))
        if found is not None:
            made[name] = found
    return made


def said(result: StudyResult) -> list[str]:
    """Returns lines that name the winners among rival schemes on a network, by metric."""
    lines = []
    for title, schemes in classes([str(point.labels["scheme"]) for point in result.points]).items():
        lines += [f"  {title}", *(f"    {sentence}" for sentence in sentences(result, schemes))]
        if not wins(result, schemes):
            lines.append("    One seed cannot separate schemes; use --seeds 10 or more.")
    return lines


def sentences(result: StudyResult, schemes: Sequence[str]) -> list[str]:
    """Returns a sentence per metric: the winner and its difference, or that none differs."""
    flows = len(result.study.plan.views[0]["flows"])
    return [
        f"{QUESTIONS[name]}: {win.sentence}."
        for name, win in wins(result, schemes).items()
        if name != "jain" or flows > 1
    ]


def _win(result: StudyResult, name: str, schemes: Sequence[str], left_out: int) -> Win | None:
    metric = result.metric(name)
    means = _means(result, name, schemes)
    if len(means) + left_out < 2 or not means:
        return None
    sign = -1.0 if metric.higher_is_better else 1.0
    best, *others = sorted(means, key=lambda scheme: sign * means[scheme])
    values = {scheme: _values(result, name, scheme) for scheme in means}
    if len(values[best]) < 2:
        return None
    pairs = {}
    for scheme in others:
        both = pd.concat([values[scheme], values[best]], axis=1, join="inner").dropna()
        if len(both) > 1:
            pairs[scheme] = paired_difference(both.iloc[:, 0].to_numpy(float), both.iloc[:, 1].to_numpy(float))
    if others and not pairs:
        return None
    # The best was chosen among all schemes, so its pairs are adjusted as part of all pairs.
    known = [1.0 if d.p_value is None else d.p_value for d in pairs.values()]
    adjusted = dict(zip(pairs, holm([*known, *[1.0] * math.comb(len(means) - 1, 2)]), strict=False))
    least = LEAST_SHARE * abs(means[best]) if metric.unit else LEAST_INDEX
    behind = {s: d for s, d in pairs.items() if adjusted[s] < SIGNIFICANCE and abs(d.mean) >= least}
    leaders = [best, *(scheme for scheme in others if scheme not in behind)]
    return Win(metric, leaders, metric.shown(means[best]), behind, means, left_out)


def _values(result: StudyResult, name: str, scheme: str) -> pd.Series[float]:
    point = next(index for index, point in enumerate(result.points) if point.labels["scheme"] == scheme)
    return result.values(point, name)


def _means(result: StudyResult, name: str, schemes: Sequence[str]) -> dict[str, float]:
    made = {scheme: _values(result, name, scheme).mean() for scheme in schemes}
    return {scheme: float(mean) for scheme, mean in made.items() if math.isfinite(mean)}


def _decimals(half: float) -> int:
    return 0 if not math.isfinite(half) or half >= 10 else 1


def listed(names: Sequence[str]) -> str:
    """Joins names with commas and a final "and"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
