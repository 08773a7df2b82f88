"""Studies, as scripts and notebooks use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multihop.base.errors import UserError
from multihop.experiments import studies

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class StudyResult(studies.StudyResult):
    """Finished runs of a study, and the verdicts on its claims."""

    def plot(self, chart: str | int = 0, ax: Axes | None = None, *, panel: str | None = None) -> Axes:
        """Draws a chart of the study. Returns the axes.

        Args:
            chart: title of the chart, or its place from 0. A study without charts has one for each metric.
            ax: axes to draw on; those of a new figure of 3.5 in by default.
            panel: title of a panel; the first one by default.

        Raises:
            UserError: if Matplotlib is not installed, or there is no such chart or panel.
        """
        from multihop.report.charts import study_figures
        from multihop.report.plot import on_axes

        figure = study_figures.chosen(self, chart)
        panels = [facet.title for facet in figure.facets]
        if panel is not None and panel not in panels:
            needs = f"needs one of {', '.join(panels)}" if len(panels) > 1 else "the chart has no panels"
            raise UserError(f"panel: found {panel!r}; {needs}")
        return on_axes(figure, ax, "the chart is empty", 0 if panel is None else panels.index(panel))


class Study(studies.RunnableStudy[StudyResult]):
    """Study as its file defines it, checked, with its scenario.

    Built from a file (`Study.load`) or from the same keys as arguments:

        Study(name="hops", scenario="chain.toml", factors={"topology.hops": {...}}, seeds=20)

    A factor may also be given as plain values, `factors={"scheme": ["tcp-newreno", "recn"]}`, and under its
    key path: `factors={"topology.hops": range(1, 5)}` defines the factor `topology-hops`. Tables and files
    use names.

    Raises:
        UserError: naming the key, the value found and what is needed.
    """

    _outcome = StudyResult
