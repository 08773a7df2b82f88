"""Charts of results on Matplotlib axes, one at a time, for scripts and notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from multihop.base import extras
from multihop.base.errors import UserError
from multihop.experiments.comparisons import VariantRuns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from multihop.report.charts.figures import Figure


def on_axes(figure: Figure, ax: Axes | None, why_not: str, facet: int = 0) -> Axes:
    """Draws a facet of a figure on `ax`, or on axes of a new figure of 3.5 in. Returns the axes.

    Raises:
        UserError: if Matplotlib is not installed, or the figure has no facet, with the reason `why_not`.
    """
    extras.require("report", "plot")
    from multihop.report.charts import files

    if not figure.facets:
        raise UserError(f"plot: there is nothing to draw: {why_not}")
    return files.on_axes(figure, ax, facet)


@dataclass(frozen=True)
class Plot:
    """Charts on `ax`, or on a new figure of 3.5 in. Each method returns the axes. Colours are schemes.

    A call, as in `comparison.plot()`, draws goodput against delay; of one flow under one scheme, its goodput
    over time.
    """

    runs: VariantRuns

    def __post_init__(self) -> None:
        """Checks that Matplotlib is installed.

        Raises:
            UserError: if it is missing.
        """
        extras.require("report", "plot")

    def __call__(self, ax: Axes | None = None) -> Axes:
        """Draws goodput against delay by flow and scheme; of one flow under one scheme, goodput over time."""
        from multihop.report.charts import delays

        figure = delays.against_goodput(self.runs)
        return on_axes(figure, ax, "") if figure.facets else self.over_time(ax=ax)

    def delay_cdf(self, ax: Axes | None = None, *, flow: str | None = None) -> Axes:
        """Draws the distribution of one-way delay by scheme, of the packets of all flows or of one.

        Raises:
            UserError: if no packet arrived, or the flow does not exist.
        """
        from multihop.report.charts import delays

        return on_axes(delays.cdf(self.runs, self._flows(flow)), ax, "no packet arrived")

    def goodput_delay(self, ax: Axes | None = None) -> Axes:
        """Draws the goodput of each flow and scheme against the 95th percentile of its delay.

        Raises:
            UserError: if no packet arrived.
        """
        from multihop.report.charts import delays

        return on_axes(delays.against_goodput(self.runs), ax, "no packet arrived, or one flow under one scheme did")

    def metrics(self, metric: str = "goodput_total_bps", ax: Axes | None = None) -> Axes:
        """Draws means of a metric by scheme with 95 % intervals and a dot per seed.

        Raises:
            UserError: if the metric is unknown, or nothing can be compared.
        """
        from multihop.report.charts import bars

        known = [about.name for about in self.runs.metrics]
        if metric not in known:
            raise UserError(f"metric: found {metric!r}; needs one of {', '.join(known)}")
        figure = bars.metrics(self.runs, [metric])
        return on_axes(figure, ax, "one scheme has nothing to be compared with, or all values are 0")

    def flows(self, ax: Axes | None = None) -> Axes:
        """Draws the goodput of each flow by scheme; many flows are sorted.

        Raises:
            UserError: if there is only one scheme.
        """
        from multihop.report.charts import bars

        return on_axes(bars.flow_goodput(self.runs), ax, "one scheme has nothing to be compared with")

    def losses(self, ax: Axes | None = None) -> Axes:
        """Draws lost data packets by cause and scheme.

        Raises:
            UserError: if nothing was lost, or there is only one scheme.
        """
        from multihop.report.charts import bars

        return on_axes(bars.losses(self.runs), ax, "nothing was lost, or there is only one scheme")

    def over_time(self, quantity: str = "goodput", ax: Axes | None = None, *, flow: str | None = None) -> Axes:
        """Draws a quantity over time by scheme: `goodput`, `rtt` or `window`.

        Args:
            quantity: quantity to draw.
            ax: axes to draw on; new ones by default.
            flow: name of a flow; by default all flows together, or the first one with the quantity if a sum
                means nothing.

        Raises:
            UserError: if the quantity or flow is unknown, or the flow lacks the quantity.
        """
        from multihop.report.charts import times

        if quantity not in times.QUANTITIES:
            raise UserError(f"quantity: found {quantity!r}; needs one of {', '.join(times.QUANTITIES)}")
        figure = times.over_time(self.runs, times.QUANTITIES[quantity], self._flows(flow))
        return on_axes(figure, ax, f"no flow measures {quantity}" if flow is None else f"{flow} has no {quantity}")

    def _flows(self, flow: str | None) -> list[int] | None:
        """Returns the index of a flow as a list, or `None` for all flows."""
        from multihop.report.charts.figures import flow_names

        if flow is None:
            return None
        names = flow_names(self.runs)
        if flow not in names:
            raise UserError(f"flow: found {flow!r}; needs one of {', '.join(names[:20])}")
        return [names.index(flow)]
