"""The figures of a comparison. Colours are schemes; everything else is told apart by other marks.

- figure: what a figure is: facets, and a legend
- bars, delays, times: what facets show
- paper: figures as files and on axes
- html: figures in a page
"""

from __future__ import annotations

from collections.abc import Sequence

from multihop.base.errors import UserError
from multihop.comparison.runs import Runs
from multihop.report.charts import bars, delays, times
from multihop.report.charts.figure import Figure


def every(runs: Runs) -> list[Figure]:
    """All figures of which there is something to see, in the order of the report."""
    made = [delays.against_goodput(runs), delays.cdf(runs), bars.metrics(runs), bars.flow_goodput(runs)]
    made += [bars.losses(runs), *(times.over_time(runs, quantity) for quantity in times.QUANTITIES.values())]
    made.append(bars.airtime(runs))
    return [figure for figure in made if figure.facets]


def chosen(figures: Sequence[Figure], metrics: Sequence[str]) -> list[Figure]:
    """What of these figures shows one of the metrics: a metric's name, or the first word of it.

    Raises:
        UserError: if nothing shows one of them.
    """
    known = {measure for figure in figures for facet in figure.facets for measure in facet.measures}
    unknown = next((name for name in metrics if name not in known), None)
    if unknown is not None:
        words = ", ".join(sorted(known))
        raise UserError(f"metrics: found {unknown!r}; figures of these runs show: {words}")
    return [part for figure in figures if (part := figure.chosen(metrics)).facets]
