"""Chart of a study before it is drawn: panels of series of estimates, in the unit of their axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from multihop.experiments.specs import Chart
from multihop.results.statistics import Estimate


@dataclass(frozen=True)
class Mark:
    """Estimate of a series.

    Attributes:
        x: place on the axis; for categories their number.
        label: label of the place.
        y: estimate, or the value of the run that the chart draws; `None` if no run has a value.
        across: estimate along an axis that is a metric.
        printed: the paper's numbers here.
        possible: upper bound of the channel here.
        spread: 5th and 95th percentile over seeds, if the chart draws one run.
    """

    x: float
    label: str
    y: Estimate | None
    across: Estimate | None = None
    printed: tuple[float, ...] = ()
    possible: float | None = None
    spread: tuple[float, float] | None = None


@dataclass(frozen=True)
class Series:
    """Line, or bars of one colour; `number` is the index of its name in the plot's `names`."""

    number: int
    marks: list[Mark]


@dataclass(frozen=True)
class PlotPanel:
    """Pair of axes; `shaded` is a span of the x axis that results leave out."""

    title: str
    series: list[Series]
    shaded: float = 0.0


@dataclass(frozen=True)
class StudyPlot:
    """Content of a chart.

    Attributes:
        key: key, unique in the page.
        chart: chart of the study.
        shape: kind of drawing.
        names: names of all series of all panels.
        pairs: group and curve of each series, where curves of several groups share colours; empty otherwise.
        named_by: title of the factor that distinguishes series.
        panels: panels of the chart.
        x_label, y_label: labels with units.
        unit: unit of the y axis.
        x_unit: unit of the x axis.
        categories: labels of the places on the x axis; empty if it is numeric.
        ticks: numbers to mark on a numeric axis; empty for any.
        seed: seed of the run that a chart over time draws; `None` for means.
        band: meaning of the bands of a chart over time; empty without bands.
    """

    key: str
    chart: Chart
    shape: str
    names: list[str]
    named_by: str
    panels: list[PlotPanel]
    x_label: str
    y_label: str
    unit: str
    x_unit: str = ""
    categories: list[str] = field(default_factory=list)
    ticks: list[float] = field(default_factory=list)
    pairs: list[tuple[int, int]] = field(default_factory=list)
    seed: int | None = None
    band: str = ""

    @property
    def marks(self) -> Iterator[Mark]:
        """Marks of all panels."""
        return (mark for panel in self.panels for series in panel.series for mark in series.marks)

    @property
    def has_printed(self) -> bool:
        """Whether the paper has numbers for the plot."""
        return any(mark.printed for mark in self.marks)

    @property
    def has_possible(self) -> bool:
        """Whether the channel's upper bound is known."""
        return any(mark.possible is not None for mark in self.marks)
