"""Bounds and optima, as scripts and notebooks use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multihop.optima import capacity
from multihop.optima import optimum as optima

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Bound(capacity.Bound):  # noqa: D101 - has the docstring of its base
    __doc__ = capacity.Bound.__doc__

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the goodput of each flow alone at every level, on `ax` or a new figure of 3.5 in.

        Raises:
            UserError: if Matplotlib is not installed.
        """
        from multihop.report.charts import rates
        from multihop.report.plot import on_axes

        return on_axes(rates.bound(self), ax, "there is no flow")


class Optimum(optima.Optimum):  # noqa: D101 - has the docstring of its base
    __doc__ = optima.Optimum.__doc__

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the optimal rate of each flow and its goodput alone, on `ax` or a new figure of 3.5 in.

        Raises:
            UserError: if Matplotlib is not installed.
        """
        from multihop.report.charts import rates
        from multihop.report.plot import on_axes

        return on_axes(rates.optimum(self), ax, "there is no flow")
