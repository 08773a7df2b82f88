"""`league` and `when`: schemes on common networks, and in regimes around a base network."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from multihop import leagues
from multihop._core import Controller
from multihop.base.display import Displayed, Overview
from multihop.base.errors import UserError
from multihop.experiments.studies import Study, StudyResult
from multihop.leagues import coexistence, figures, page, picture, table, words, worst
from multihop.leagues import when as regimes
from multihop.report.plot import on_axes
from multihop.results.folders import require_results_directory
from multihop.simulation.store import Failure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Function that runs the missing runs of a study, given its folder and its store.
Simulate = Callable[[Study, Path, Path], StudyResult]


@dataclass(frozen=True, repr=False)
class League(leagues.League, Displayed):
    """Ranks of schemes on common networks, by significant differences.

    Attributes:
        command: command that reproduces the league.
        folder: folder of its runs.
        jobs: number of concurrent runs; all cores by default.
    """

    command: str
    folder: Path
    jobs: int | None = None

    @cached_property
    def standings(self) -> pd.DataFrame:
        """Table of networks, schemes and metrics: mean, 95 % interval (SI units), rank within its kind."""
        return table.frame(self)

    @cached_property
    def runs(self) -> pd.DataFrame:
        """Table of networks, schemes and seeds, with every metric in SI units."""
        return table.runs(self)

    @cached_property
    def _pairs(self) -> list[coexistence.Pair]:
        schemes = dict.fromkeys(leagues.scheme_of(name) for name in self.schemes)
        return coexistence.pairs(self.coexistence, list(schemes))

    @cached_property
    def _worst(self) -> list[worst.Worst]:
        found = worst.worst_networks(self, table.standings(self))
        return worst.with_causes(self, found, self.folder, self.jobs)

    @cached_property
    def shares(self) -> pd.DataFrame:
        """Table of networks, schemes and rivals: share of goodput beside the rival, with 95 % interval."""
        return coexistence.frame(self._pairs)

    @cached_property
    def worst(self) -> pd.DataFrame:
        """Table of the worst network of each scheme, with the main cause there, from repeated runs."""
        return worst.frame(self._worst)

    @property
    def failures(self) -> list[Failure]:
        """Runs that failed."""
        return [failure for result in (*self.results, *self.coexistence) for failure in result.failures]

    def beside(self) -> str:
        """Returns a sentence with the numbers of schemes that starve another one or are starved beside it."""
        return coexistence.summary(self._pairs)

    def decision(self) -> str:
        """Returns a sentence with the number of pairs that differ significantly; empty without pairs."""
        return page.decision(self)

    def advice(self) -> list[str]:
        """Returns lines that name the best scheme on your own mesh; empty without a mesh."""
        return [] if self.without_mesh else words.said(self.results[-1])

    def markdown(self) -> str:
        """Returns the page as Markdown."""
        return page.markdown(self, self.command, self._pairs, self._worst)

    def save(self, directory: str | os.PathLike[str] | None = None) -> Path:
        """Writes tables (Parquet, CSV), page, picture and manifest, by default to the folder of runs.

        Returns the folder.
        """
        folder = self.folder if directory is None else Path(directory)
        more = {"coexistence": self.shares, "worst": self.worst}
        table.export(self, folder, self.command, self.markdown(), picture.svg(self._pairs), more)
        return folder

    def report(self, path: str | os.PathLike[str]) -> list[Path]:
        """Writes an HTML report, with its charts as SVG next to it. Returns all paths, the report's first."""
        from multihop.report.markup import section
        from multihop.report.markup import table as rows
        from multihop.report.study import write_study

        rank = " ".join(filter(None, (self.decision(), page.RANK)))
        front = section("Which scheme is better where", rows(*page.summary(self)), rank)
        titles = {network.name: network.title for network in self.networks}
        front += section("Where each scheme is worst, and why", rows(*worst.rows(self._worst, titles), names=5))
        front += section(
            "Beside another scheme", f'<div class="scroll">{picture.svg(self._pairs)}</div>', self.beside()
        )
        return write_study(self.results, Path(path), title="League of schemes", command=self.command, front=front)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the rank of each scheme on each network, on `ax` or a new figure of 3.5 in. Returns the axes.

        Raises:
            UserError: if Matplotlib is not installed.
        """
        return on_axes(figures.ranks(self), ax, "there is no scheme")

    def overview(self, *, whole: bool = True) -> Overview:
        """Returns the numbers of schemes and networks; with `whole`, also the ranks."""
        title = f"{len(self.schemes)} schemes on {len(self.networks)} networks, runs in {self.folder}"
        if not whole:
            return Overview(title)
        heads, rows = page.summary(self)
        return Overview(title, heads, rows, [*filter(None, [self.decision()]), *self.advice()])


def league(
    mesh: str | os.PathLike[str] | None = None,
    *,
    schemes: Sequence[str | type[Controller]] | None = None,
    seeds: int | None = None,
    quick: bool = False,
    out: str | os.PathLike[str] = "results/league",
    jobs: int | None = None,
    dask: str | None = None,
    simulate: Simulate | None = None,
) -> League:
    """Runs every scheme on one common set of networks, and ranks them on each. An interrupted league resumes.

    Args:
        mesh: your mesh as one more network: a scenario (TOML), or a file that `import_mesh` reads.
        schemes: schemes to run; all by default. Subclasses of `Controller`, or their names as in
            `own.py:MyScheme`, take part beside them.
        seeds: runs of each scheme on each network.
        quick: whether to use fewer seeds and shorter runs.
        out: folder of finished runs, to which `save` writes tables and page.
        jobs: number of concurrent runs; all cores by default. Results do not depend on it.
        dask: address of the scheduler of a Dask cluster for the runs.
        simulate: function that runs one study, given its folder and the store of finished runs, for instance
            with a progress bar. Silent by default.

    Raises:
        UserError: if a file cannot be read or written, or an argument is invalid.
        OutputError: if the disk is full.
    """
    _require(schemes, seeds, jobs)
    path, folder = None if mesh is None else Path(mesh), Path(out)
    names = leagues.schemes(schemes)
    asked = leagues.networks(path)
    studies = _studies(asked, leagues.entrants(names), seeds, quick=quick)
    beside = _planned([coexistence.study(network, names, seeds) for network in coexistence.networks()], quick=quick)
    require_results_directory(folder, table.NAMES)
    results = _simulated([*studies, *beside], folder, jobs, dask, simulate)
    # The folder of the mesh's file is of no use to others.
    options = ["--mesh", path.name] if path is not None else []
    command = _command("league", options, schemes, seeds, quick=quick)
    return League(asked, results[: len(asked)], results[len(asked) :], path is None, command, folder, jobs)


@dataclass(frozen=True, repr=False)
class When(Displayed):
    """Schemes that help in each regime.

    Attributes:
        networks: regimes, in the order of the page.
        results: results of each regime.
        command: command that reproduces the results.
        folder: folder of the runs.
    """

    networks: Sequence[leagues.Network]
    results: Sequence[StudyResult]
    command: str
    folder: Path

    @cached_property
    def winners(self) -> pd.DataFrame:
        """Table of regimes, classes of schemes and metrics, with the leading schemes and those behind.

        `value` is the best mean, in `unit`. `leaders` and `behind` are lists of schemes, the best first.
        """
        rows = []
        for network, result in zip(self.networks, self.results, strict=True):
            for title, rivals in words.classes([str(point.labels["scheme"]) for point in result.points]).items():
                for name, win in words.wins(result, rivals).items():
                    rows.append(
                        {
                            "regime": network.title,
                            "class": title,
                            "metric": name,
                            "leaders": list(win.leaders),
                            "value": win.value,
                            "unit": win.metric.unit,
                            "behind": list(win.behind),
                            "sentence": win.sentence,
                        }
                    )
        columns = ["regime", "class", "metric", "leaders", "value", "unit", "behind", "sentence"]
        return pd.DataFrame(rows, columns=columns)

    @property
    def failures(self) -> list[Failure]:
        """Runs that failed."""
        return [failure for result in self.results for failure in result.failures]

    def sentences(self) -> list[str]:
        """Returns lines that name the best schemes of each regime."""
        pairs = zip(self.networks, self.results, strict=True)
        return [line for network, result in pairs for line in (network.title, *words.said(result))]

    def markdown(self) -> str:
        """Returns the page as Markdown."""
        return regimes.markdown(self.networks, self.results, self.command)

    def save(self, directory: str | os.PathLike[str] | None = None) -> Path:
        """Writes the page and a manifest, by default to the folder of the runs. Returns the page's path."""
        folder = self.folder if directory is None else Path(directory)
        return regimes.export(self.networks, self.results, folder, self.command)

    def plot(self, metric: str = "goodput", ax: Axes | None = None) -> Axes:
        """Draws the schemes that lead in each regime. Returns the axes.

        Args:
            metric: `goodput`, `delay` or `jain`.
            ax: axes to draw on; those of a new figure of 3.5 in by default.

        Raises:
            UserError: if Matplotlib is not installed, the metric is unknown, or one seed decides nothing.
        """
        if metric not in words.QUESTIONS:
            raise UserError(f"metric: found {metric!r}; needs one of {', '.join(words.QUESTIONS)}")
        return on_axes(figures.leaders(self.winners, metric), ax, "one seed cannot separate schemes")

    def overview(self, *, whole: bool = True) -> Overview:
        """Returns the number of regimes; with `whole`, also the leading schemes of each."""
        title = f"{len(self.networks)} regimes, runs in {self.folder}"
        if not whole:
            return Overview(title)
        rows = [
            [str(row["regime"]), str(row["metric"]), ", ".join(row["leaders"]) if row["behind"] else "none differs"]
            for row in self.winners.to_dict("records")
        ]
        return Overview(title, ["regime", "metric", "leads"], rows)


def when(
    *,
    schemes: Sequence[str | type[Controller]] | None = None,
    seeds: int | None = None,
    quick: bool = False,
    out: str | os.PathLike[str] = "results/when",
    jobs: int | None = None,
    dask: str | None = None,
    simulate: Simulate | None = None,
) -> When:
    """Finds which scheme helps in which regime of hops, flows, rate, load, loss and mobility.

    An interrupted call resumes.

    Args:
        schemes: schemes to compare, as in `league`; those of the study by default.
        seeds: runs of each scheme in each regime.
        quick: whether to use fewer regimes and seeds, and shorter runs.
        out: folder of finished runs, to which `save` writes the page.
        jobs: number of concurrent runs; all cores by default. Results do not depend on it.
        dask: address of the scheduler of a Dask cluster for the runs.
        simulate: function that runs one study, as in `league`.

    Raises:
        UserError: if a file cannot be written, or an argument is invalid.
        OutputError: if the disk is full.
    """
    _require(schemes, seeds, jobs)
    folder = Path(out)
    names = regimes.compared(schemes)
    asked = regimes.regimes(quick=quick)
    count = words.regimes()["quick"]["seeds"] if quick and seeds is None else seeds
    studies = _studies(asked, leagues.entrants(names), count, quick=quick)
    require_results_directory(folder, regimes.NAMES)
    results = _simulated(studies, folder, jobs, dask, simulate)
    return When(asked, results, _command("when", [], schemes, count, quick=quick), folder)


def _require(schemes: object, seeds: int | None, jobs: int | None) -> None:
    if isinstance(schemes, str):
        raise UserError(f"--schemes: found the text {schemes!r}; needs a list of names")
    for name, given in (("--seeds", seeds), ("--jobs", jobs)):
        if given is not None and given < 1:
            raise UserError(f"{name}: found {given}; needs at least 1")


def _studies(asked: Sequence[leagues.Network], names: Sequence[str], seeds: int | None, *, quick: bool) -> list[Study]:
    return _planned([leagues.study(network, names, seeds) for network in asked], quick=quick)


def _planned(studies: Sequence[Study], *, quick: bool) -> list[Study]:
    studies = [each.quick() for each in studies] if quick else list(studies)
    for each in studies:
        each.plan  # noqa: B018 - reports an invalid network before anything is written
    return studies


def _simulated(
    studies: Sequence[Study], folder: Path, jobs: int | None, dask: str | None, simulate: Simulate | None
) -> list[StudyResult]:
    def silently(asked: Study, directory: Path, store: Path) -> StudyResult:
        from multihop.experiments.clusters import executor_at

        with nullcontext() if dask is None else executor_at(dask) as executor:
            return asked.run(directory, store=store, executor=executor, jobs=jobs)

    run = simulate or silently
    return [run(each, folder / each.spec.name, folder / "store") for each in studies]


def _command(
    name: str, options: list[str], schemes: Sequence[str | type[Controller]] | None, seeds: int | None, *, quick: bool
) -> str:
    """Returns the command that reproduces the results."""
    made = ["multihop", name, *options]
    named = [each if isinstance(each, str) else each.__name__ for each in schemes or ()]
    made += ["--schemes", ",".join(named)] if schemes is not None else []
    made += ["--seeds", str(seeds)] if seeds is not None else []
    return shlex.join([*made, *(["--quick"] if quick else [])])
