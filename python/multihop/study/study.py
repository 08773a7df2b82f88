"""A study that can be run: what is missing of it, and what is there."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from multihop.base.errors import UserError
from multihop.results.statistics import estimate
from multihop.simulation.scenario import for_core, inline_toml
from multihop.simulation.store import Failure, Store
from multihop.study.design import advancing_with
from multihop.study.execution import Group, Progress, Run, run_missing
from multihop.study.planned import PlannedStudy
from multihop.study.runs import StudyRuns

R = TypeVar("R", bound=StudyRuns)


class RunnableStudy(PlannedStudy, ABC, Generic[R]):
    """A study that can be run, and what `R` its finished runs are made into."""

    def run(
        self,
        directory: str | Path,
        *,
        store: str | Path | None = None,
        executor: Executor | None = None,
        jobs: int | None = None,
        fail_fast: bool = False,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> R:
        """Runs what is missing in `directory` and returns all results.

        Args:
            directory: the study's folder; made if needed. Interrupted at any moment, it holds whole runs
                only.
            store: where finished runs are kept, if not there: studies that share runs may share a store.
            executor: any `concurrent.futures.Executor`, a Dask client's for one; threads on all cores by
                default.
            jobs: threads, without an executor.
            fail_fast: do not begin further runs once one has failed.
            on_progress: called after each finished run and a few times a second.

        Raises:
            UserError: if the folder cannot be used.
            OutputError: if a result cannot be written, or the executor is gone; finished runs are kept.
        """
        if jobs is not None and jobs < 1:
            raise UserError(f"jobs: found {jobs}; needs at least 1")
        folder, runs = _folders(directory, store)
        self.plan  # noqa: B018 - whatever is wrong with a point is said before anything is written
        # Both are looked at before anything is written, and the folder is made first: its store may be within
        # it.
        runs.check()
        if folder.resolve() != runs.directory.resolve():
            Store(folder).open(runs_in=runs.directory)
        runs.open()
        self._keep_inputs(folder)
        result = self._result(folder, runs)
        if self.spec.model is None:
            groups = [self._group(members, result) for members in self._groups()]
            run_missing(
                groups,
                runs,
                executor=executor,
                jobs=jobs,
                fail_fast=fail_fast,
                replay=self._replay_command(folder),
                on_progress=on_progress,
            )
        return self._result(folder, runs)

    def result(self, directory: str | Path, *, store: str | Path | None = None) -> R:
        """What is there of the study in `directory`, without running anything.

        Raises:
            UserError: if the folder is not a study's.
        """
        folder, runs = _folders(directory, store)
        runs.mark()
        return self._result(folder, runs)

    @abstractmethod
    def _found(
        self, directory: Path, store: Store, seeds: Mapping[int, Sequence[int]], failures: Sequence[Failure]
    ) -> R:
        """What the finished runs are made into; the arguments are those of `StudyRuns`."""

    def _result(self, folder: Path, runs: Store) -> R:
        if self.spec.model is not None:
            return self._found(folder, runs, {}, [])
        plan = self.plan
        seeds: dict[int, list[int]] = {}
        ids = {i.key: i for p in range(len(plan.points)) for i in (plan.run_id(p, s) for s in plan.seeds)}
        result = self._found(folder, runs, seeds, list(runs.failures(ids)))
        for members in self._groups():
            if self.spec.stop is not None:
                there = self._wanted_so_far(members, result)
            else:
                there = [s for s in plan.seeds if any(runs.has(plan.run_id(m, s)) for m in members)]
            seeds |= dict.fromkeys(members, there)
        return result

    def _groups(self) -> list[list[int]]:
        """Points that differ only in the compared factor get the same seeds."""
        groups: dict[Any, list[int]] = {}
        for index, point in enumerate(self.plan.points):
            compared = advancing_with(self.spec, self.compared) if self.compared is not None else ()
            shared = point.without(*compared)
            groups.setdefault(shared, []).append(index)
        return list(groups.values())

    def _group(self, members: list[int], result: StudyRuns) -> Group:
        plan, stop = self.plan, self.spec.stop
        most = len(plan.seeds)

        def make(index: int) -> list[Run]:
            return [self._run(member, plan.seeds[index]) for member in members]

        def rule(seeds: int) -> int:
            if stop is None or all(self._is_narrow(result, member, plan.seeds[:seeds]) for member in members):
                return seeds
            return seeds + stop.step

        return Group(make, most if stop is None else min(stop.at_least, most), most, rule)

    def _wanted_so_far(self, members: list[int], result: StudyRuns) -> list[int]:
        """The seeds that the stop rule wants, as far as the runs that are there let it decide.

        It decides anew from what is there: a store may have more runs, of a study that went on for longer.
        """
        group = self._group(members, result)
        while runs := group.next_runs():
            group.open -= {run.id.key for run in runs if result.store.has(run.id) or result.store.has_failed(run.id)}
            if group.open:
                break
        return self.plan.seeds[: group.seeds]

    def _is_narrow(self, result: StudyRuns, member: int, seeds: list[int]) -> bool:
        stop = self.spec.stop
        if stop is None:
            return True
        found = result.of_seeds(member, stop.metric, seeds)
        values = found.to_numpy(dtype=float)
        values = values[np.isfinite(values)]
        if len(values) < 2:
            return False
        half = estimate(values).half_width
        return half is not None and half <= stop.share * abs(float(values.mean()))

    def _run(self, member: int, seed: int) -> Run:
        plan = self.plan
        point, view = plan.points[member], plan.views[member]
        return Run(
            plan.run_id(member, seed),
            point,
            seed,
            view["duration"],
            self.scenario.text,
            self.scenario.origin,
            {**self._overrides_for_core(member), "seed": seed},
        )

    @cache  # noqa: B019 - lives as long as the study
    def _overrides_for_core(self, member: int) -> dict[str, Any]:
        """What all runs of a point have in common."""
        return for_core(self.overrides(member))

    def _keep_inputs(self, folder: Path) -> None:
        """The study and its scenario, so that the folder explains itself and failures can be seen again."""
        _keep_input(folder, "study.toml", self.file_text, self.origin)
        if self.spec.model is None:
            _keep_input(folder, "scenario.toml", self.scenario.text, self.scenario.origin)

    def _replay_command(self, folder: Path) -> Callable[[Run], str]:
        def command(run: Run) -> str:
            words = ["multihop", "run", str(folder / "scenario.toml")]
            for path, value in run.point.settings.items():
                words += ["--scheme", str(value)] if path == "scheme" else ["--set", f"{path}={inline_toml(value)}"]
            return shlex.join([*words, "--seed", str(run.seed)])

        return command


def _folders(directory: str | Path, store: str | Path | None) -> tuple[Path, Store]:
    folder = Path(directory)
    return folder, Store.of(folder) if store is None else Store(Path(store))


def _keep_input(folder: Path, name: str, text: str, source: str) -> None:
    """A study that runs again from its own folder leaves its files alone."""
    path = folder / name
    if not (path.exists() and Path(source).exists() and path.samefile(source)):
        Store(folder).write_text(name, text)
