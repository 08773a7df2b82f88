"""Charts on Matplotlib axes, for scripts and notebooks: those of the report, one at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from multihop.base import extras
from multihop.base.errors import UserError
from multihop.comparison.runs import Runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from multihop.report.charts.figure import Figure


@dataclass(frozen=True)
class Plot:
    """Draws one chart on `ax`, or on axes of a new figure, and returns the axes. Colours are schemes."""

    runs: Runs

    def __post_init__(self) -> None:
        """Says what is missing.

        Raises:
            UserError: if Matplotlib is not installed.
        """
        extras.require("report", "plot")

    def delay_cdf(self, ax: Axes | None = None, *, flow: str | None = None) -> Axes:
        """Distribution of one-way delay by scheme, of the packets of all flows or of one.

        Raises:
            UserError: if no packet arrived, or there is no such flow.
        """
        from multihop.report.charts import delays

        return self._draw(delays.cdf(self.runs, self._flows(flow)), ax, "no packet arrived")

    def goodput_delay(self, ax: Axes | None = None) -> Axes:
        """Goodput of each flow and scheme against the 95th percentile of its delay.

        Raises:
            UserError: if no packet arrived.
        """
        from multihop.report.charts import delays

        return self._draw(delays.against_goodput(self.runs), ax, "no packet arrived, or one flow under one scheme did")

    def metrics(self, metric: str = "goodput_total_bps", ax: Axes | None = None) -> Axes:
        """Means of a metric by scheme with 95 % intervals and a dot per seed.

        Raises:
            UserError: if there is no such metric, or nothing to compare.
        """
        from multihop.report.charts import bars

        known = [about.name for about in self.runs.metrics]
        if metric not in known:
            raise UserError(f"metric: found {metric!r}; there are: {', '.join(known)}")
        figure = bars.metrics(self.runs, [metric])
        return self._draw(figure, ax, "one scheme has nothing to be compared with, or all values are 0")

    def flows(self, ax: Axes | None = None) -> Axes:
        """Goodput of each flow by scheme; of many flows, sorted.

        Raises:
            UserError: if there is one scheme alone.
        """
        from multihop.report.charts import bars

        return self._draw(bars.flow_goodput(self.runs), ax, "one scheme has nothing to be compared with")

    def losses(self, ax: Axes | None = None) -> Axes:
        """Lost data packets by cause and scheme.

        Raises:
            UserError: if nothing was lost, or there is one scheme alone.
        """
        from multihop.report.charts import bars

        return self._draw(bars.losses(self.runs), ax, "nothing was lost, or there is one scheme alone")

    def over_time(self, quantity: str = "goodput", ax: Axes | None = None, *, flow: str | None = None) -> Axes:
        """A quantity over time by scheme: `goodput`, `rtt` or `window`.

        Args:
            quantity: what is drawn.
            ax: where it is drawn.
            flow: name of a flow; by default all flows together, or the first one that has the quantity where
                a sum means nothing.

        Raises:
            UserError: if there is no such quantity or flow, or the flow does not have the quantity.
        """
        from multihop.report.charts import times

        if quantity not in times.QUANTITIES:
            raise UserError(f"quantity: found {quantity!r}; there are: {', '.join(times.QUANTITIES)}")
        figure = times.over_time(self.runs, times.QUANTITIES[quantity], self._flows(flow))
        return self._draw(figure, ax, f"no flow measures {quantity}" if flow is None else f"{flow} has no {quantity}")

    def _flows(self, flow: str | None) -> list[int] | None:
        """The flow of that name; none for all."""
        from multihop.report.charts.figure import flow_names

        if flow is None:
            return None
        names = flow_names(self.runs)
        if flow not in names:
            raise UserError(f"flow: found {flow!r}; there are: {', '.join(names[:20])}")
        return [names.index(flow)]

    def _draw(self, figure: Figure, ax: Axes | None, why_not: str) -> Axes:
        from multihop.report.charts import paper

        if not figure.facets:
            raise UserError(f"plot: there is nothing to draw: {why_not}")
        return paper.on_axes(figure, ax)
