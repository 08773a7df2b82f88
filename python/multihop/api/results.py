"""Results with report and files, as scripts and notebooks use them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from multihop.base import extras
from multihop.base.display import Overview
from multihop.experiments.comparisons import VariantRuns
from multihop.experiments.exports import save
from multihop.experiments.runs import FinishedRun
from multihop.experiments.verdicts import about_optimum, sentences

if TYPE_CHECKING:
    from multihop.report.plot import Plot


@dataclass(frozen=True, repr=False)
class Result(FinishedRun):
    """Results of one run. Tables are DataFrames, whose columns the reference of results describes."""

    def report(self, path: str | Path) -> Path:
        """Writes a self-contained HTML report. Returns its path."""
        return self._alone().report(path)

    def save(self, directory: str | Path) -> Path:
        """Writes the tables (Parquet and CSV), the scenario and a manifest. Returns the directory."""
        return self._alone().save(directory)

    def export(self, format: str, path: str | Path | None = None) -> dict[str, Any]:
        """Returns this run as `multihop.export` does, and writes it to `path`."""
        from multihop.api.exports import export

        return export(self, format, path)

    @property
    def plot(self) -> Plot:
        """Charts of this run on Matplotlib axes, by `result.plot()` or as in `result.plot.over_time("rtt")`.

        Names are those of `Comparison.plot`.
        """
        return self._alone().plot

    def _alone(self) -> Comparison:
        return Comparison(self.scenario, {"scenario": (self,)})


@dataclass(frozen=True, repr=False)
class Comparison(VariantRuns):
    """Runs of one scenario: one `Result` per variant and seed, with the same seeds for all variants."""

    #: Results of each variant.
    results: Mapping[str, tuple[Result, ...]] = field(repr=False)

    def verdict(self) -> list[str]:
        """Returns sentences that say which flows starve and which scheme is better."""
        return sentences(self)

    def about_optimum(self) -> list[str]:
        """Returns sentences that define distance and gap to the optimum, and explain a gap below zero."""
        return about_optimum(self)

    def report(self, path: str | Path, frames: str | Path | Mapping[str, str | Path] | None = None) -> Path:
        """Writes a self-contained HTML report. Returns its path.

        Args:
            path: path of the report.
            frames: frame log of the first variant, which the report shows; or logs of several variants, to
                whose pages it links. Pages have the names of the logs with the ending `.html`, as `multihop
                view` writes them.
        """
        from multihop.report import Shown, write

        folder = Path(path).parent
        if frames is None:
            shown = {}
        elif isinstance(frames, Mapping):
            pages = {variant: (Path(log), Path(log).with_suffix(".html")) for variant, log in frames.items()}
            shown = {
                variant: Shown(log, Path(os.path.relpath(page, folder)).as_posix())
                for variant, (log, page) in pages.items()
            }
        else:
            shown = {self.variants[0]: Shown(Path(frames))}
        return write(self, Path(path), frames=shown)

    @property
    def plot(self) -> Plot:
        """Charts on Matplotlib axes, by `comparison.plot()` or as in `comparison.plot.delay_cdf(ax=left)`.

        `plot()` draws goodput against delay; of one flow under one scheme, its goodput over time. Names are
        `delay_cdf`, `goodput_delay`, `metrics`, `flows`, `losses` and `over_time`. Each returns the axes.
        """
        from multihop.report.plot import Plot

        return Plot(self)

    def figures(
        self,
        directory: str | Path,
        kind: str = "svg",
        *,
        width: str | float | None = None,
        font_size: float | None = None,
        metrics: Sequence[str] | None = None,
    ) -> list[Path]:
        """Writes the report's figures as files for papers and slides. Returns their paths.

        Args:
            directory: folder of the figures.
            kind: `svg`, `pdf` or `png`. PDF embeds its fonts as TrueType.
            width: width with a unit, as in `"3.5in"` or `"89mm"`, or in inches; 3.5 in by default.
            font_size: size of text in points; 8 by default.
            metrics: metrics to draw, by name or first word, as in `["goodput"]`; all by default.

        Raises:
            UserError: if an argument is invalid, or the directory cannot be written.
        """
        extras.require("report", "figures")
        from multihop.report.charts import files

        return files.write(self, Path(directory), files.Paper.of(kind, width, font_size), metrics)

    def save(self, directory: str | Path) -> Path:
        """Writes the tables (Parquet and CSV), the scenario and a manifest. Returns the directory."""
        return save(self, Path(directory))

    def overview(self, *, whole: bool = True) -> Overview:
        """Returns the metrics of each variant; with `whole`, also those of the optimum, and the verdict."""
        shown = super().overview(whole=whole)
        return replace(shown, sentences=self.verdict()) if whole else shown
