"""Results as scripts and notebooks have them: with a report, and files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from multihop.base import extras
from multihop.base.display import Overview
from multihop.comparison.run import Run
from multihop.comparison.runs import Runs
from multihop.comparison.saving import save
from multihop.comparison.verdict import about_optimum, sentences

if TYPE_CHECKING:
    from multihop.report.plot import Plot


@dataclass(frozen=True, repr=False)
class Result(Run):
    """One run. Tables are DataFrames; the reference of results says each column's unit and meaning."""

    def report(self, path: str | Path) -> Path:
        """Writes a self-contained HTML report and returns its path."""
        return self._alone().report(path)

    def save(self, directory: str | Path) -> Path:
        """Writes the tables (Parquet and CSV), the scenario and a manifest, and returns the directory."""
        return self._alone().save(directory)

    @property
    def plot(self) -> Plot:
        """Charts of this run on Matplotlib axes, as in `result.plot.over_time("rtt")`."""
        return self._alone().plot

    def _alone(self) -> Comparison:
        return Comparison(self.scenario, {"scenario": (self,)})


@dataclass(frozen=True, repr=False)
class Comparison(Runs):
    """Runs of one scenario: for each variant, one `Result` per seed, in the same order of seeds."""

    #: Variant -> results.
    results: Mapping[str, tuple[Result, ...]] = field(repr=False)

    def verdict(self) -> list[str]:
        """Which flows starve, and which scheme is better, in plain words, one sentence per question."""
        return sentences(self)

    def about_optimum(self) -> list[str]:
        """What distance and gap to the optimum are, and why a gap is below zero, if one is."""
        return about_optimum(self)

    def report(self, path: str | Path, frames: str | Path | Mapping[str, str | Path] | None = None) -> Path:
        """Writes a self-contained HTML report and returns its path.

        Args:
            path: of the report.
            frames: a frame log of the first variant, which the report shows; or one for each of several
                variants, to whose pages it links, files of their names that end in `.html`, as
                `multihop view` writes them.
        """
        from multihop.framelog.reading import read_log
        from multihop.report import Shown, write

        folder = Path(path).parent
        if frames is None:
            shown = {}
        elif isinstance(frames, Mapping):
            pages = {variant: (Path(log), Path(log).with_suffix(".html")) for variant, log in frames.items()}
            shown = {
                variant: Shown(read_log(log), Path(os.path.relpath(page, folder)).as_posix())
                for variant, (log, page) in pages.items()
            }
        else:
            shown = {self.variants[0]: Shown(read_log(Path(frames)))}
        return write(self, Path(path), frames=shown)

    @property
    def plot(self) -> Plot:
        """Charts on Matplotlib axes, as in `comparison.plot.delay_cdf()`."""
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
        """Writes the report's figures as files for papers and slides, and returns their paths.

        Args:
            directory: of the files.
            kind: `svg`, `pdf` or `png`. PDF embeds its fonts as TrueType.
            width: with a unit, as in `"3.5in"` or `"89mm"`; a number is inches; 3.5 in by default.
            font_size: in points; 8 by default.
            metrics: only what shows these: names of metrics or their first words, as in `["goodput"]`.

        Raises:
            UserError: if an argument makes no sense, or the directory cannot be written.
        """
        extras.require("report", "figures")
        from multihop.report.charts import paper

        return paper.write(self, Path(directory), paper.Paper.of(kind, width, font_size), metrics)

    def save(self, directory: str | Path) -> Path:
        """Writes the tables (Parquet and CSV), the scenario and a manifest, and returns the directory."""
        return save(self, Path(directory))

    def overview(self, *, whole: bool = True) -> Overview:
        """Metrics of each variant; `whole` includes those of the optimum, and the verdict."""
        shown = super().overview(whole=whole)
        return replace(shown, sentences=self.verdict()) if whole else shown
