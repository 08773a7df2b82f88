"""Figures of a comparison. Colours are schemes; other properties have other marks.

- figure: facets and legend of a figure
- bars, delays, times: content of facets
- paper: figures as files and on axes
- html: figures in a page
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from multihop.base.errors import UserError
from multihop.experiments.comparisons import VariantRuns
from multihop.report.charts import bars, delays, times
from multihop.report.charts.figures import Figure
from multihop.results.columns import METRICS, OPTIMUM_METRICS, VIDEO_METRICS


def every(runs: VariantRuns) -> list[Figure]:
    """Returns all figures with content, in the order of the report."""
    made = [delays.against_goodput(runs), bars.flow_goodput(runs), delays.cdf(runs), bars.metrics(runs)]
    made += [bars.losses(runs), *(times.over_time(runs, quantity) for quantity in times.QUANTITIES.values())]
    made.append(bars.airtime(runs))
    return [figure for figure in made if figure.facets]


def measures() -> list[str]:
    """Returns the names by which figures are chosen: words, then metrics."""
    metrics = (*METRICS, *VIDEO_METRICS, *OPTIMUM_METRICS)
    names = {metric.name for metric in metrics}
    words = {word for metric in metrics for word in bars.measures_of(metric)} - names
    return [*sorted(words | set(times.QUANTITIES) | {"airtime"}), *sorted(names)]


def require_measures(names: Sequence[str]) -> None:
    """Checks that figures can be chosen by these names.

    Raises:
        UserError: naming the first unknown one.
    """
    unknown = next((name for name in names if name not in measures()), None)
    if unknown is not None or not names:
        found = "none" if unknown is None else repr(unknown)
        raise UserError(f"metrics: found {found}; needs one of {', '.join(measures())}")


def chosen(figures: Sequence[Figure], names: Collection[str]) -> list[Figure]:
    """Returns these figures with only the facets that show one of the metrics."""
    return [part for figure in figures if (part := figure.chosen(names)).facets]
