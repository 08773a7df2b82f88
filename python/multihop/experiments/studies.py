"""Study that can be run, and its finished runs."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from concurrent.futures import Executor
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from multihop.base.errors import UserError
from multihop.experiments.claims.judging import Judgement, judge
from multihop.experiments.outcomes import StudyRuns
from multihop.experiments.plans import PlannedStudy
from multihop.experiments.points import advancing_with
from multihop.experiments.runner import Group, Job, Progress, run_missing
from multihop.results.statistics import estimate
from multihop.simulation.scenario import inline_toml
from multihop.simulation.store import Store


class StudyResult(StudyRuns):
    """Finished runs of a study, and the verdicts on its claims."""

    @cached_property
    def judgements(self) -> list[Judgement]:
        """Verdict on every claim."""
        return [judge(self, claim) for claim in self.study.spec.claims]


_Outcome = TypeVar("_Outcome", bound=StudyResult)


class RunnableStudy(PlannedStudy, Generic[_Outcome]):
    """Study that can be run, with results of one class."""

    #: Class of its results.
    _outcome: type[_Outcome]

    def run(
        self,
        directory: str | Path,
        *,
        store: str | Path | None = None,
        executor: Executor | None = None,
        jobs: int | None = None,
        fail_fast: bool = False,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> _Outcome:
        """Runs what is missing in `directory`, and returns all results.

        Args:
            directory: folder of the study, created if missing. An interrupted study leaves only complete
                runs.
            store: folder of finished runs, if it is another one, which studies may share.
            executor: any `concurrent.futures.Executor`, such as a Dask client's; threads on all cores by
                default.
            jobs: number of threads, without an executor.
            fail_fast: whether to start no further run after a failure.
            on_progress: callback after each finished run and several times a second.

        Raises:
            UserError: if the folder cannot be used.
            OutputError: if a result cannot be written, or the executor is lost; finished runs are kept.
        """
        if jobs is not None and jobs < 1:
            raise UserError(f"jobs: found {jobs}; needs at least 1")
        folder, runs = _folders(directory, store)
        self.plan  # noqa: B018 - reports an invalid point before anything is written
        # Both folders are checked before anything is written. The folder is created first, since the store
        # may be within it.
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

    def result(self, directory: str | Path, *, store: str | Path | None = None) -> _Outcome:
        """Returns the finished runs of the study in `directory`, without running anything.

        Raises:
            UserError: if the folder is not that of a study.
        """
        folder, runs = _folders(directory, store)
        runs.mark()
        return self._result(folder, runs)

    def _result(self, folder: Path, runs: Store) -> _Outcome:
        if self.spec.model is not None:
            return self._outcome(self, folder, runs, {}, [])
        plan = self.plan
        seeds: dict[int, list[int]] = {}
        ids = {i.key: i for p in range(len(plan.points)) for i in (plan.run_id(p, s) for s in plan.seeds)}
        result = self._outcome(self, folder, runs, seeds, list(runs.failures(ids)))
        for members in self._groups():
            if self.spec.stop is not None:
                there = self._wanted_so_far(members, result)
            else:
                there = [s for s in plan.seeds if any(runs.has(plan.run_id(m, s)) for m in members)]
            seeds |= dict.fromkeys(members, there)
        return result

    def _groups(self) -> list[list[int]]:
        """Returns groups of points that differ only in the compared factor, and so have the same seeds."""
        groups: dict[Any, list[int]] = {}
        for index, point in enumerate(self.plan.points):
            compared = advancing_with(self.spec, self.compared) if self.compared is not None else ()
            shared = point.without(*compared)
            groups.setdefault(shared, []).append(index)
        return list(groups.values())

    def _group(self, members: list[int], result: StudyResult) -> Group:
        plan, stop = self.plan, self.spec.stop
        most = len(plan.seeds)

        def make(index: int) -> list[Job]:
            return [self._job(member, plan.seeds[index]) for member in members]

        def rule(seeds: int) -> int:
            if stop is None or all(self._is_narrow(result, member, plan.seeds[:seeds]) for member in members):
                return seeds
            return seeds + stop.step

        return Group(make, most if stop is None else min(stop.at_least, most), most, rule)

    def _wanted_so_far(self, members: list[int], result: StudyResult) -> list[int]:
        """Returns the seeds that the stop rule needs, as far as the existing runs let it decide.

        The rule decides anew from these runs, since a store may have more runs of a study that ran longer.
        """
        group = self._group(members, result)
        while jobs := group.next_jobs():
            group.open -= {job.id.key for job in jobs if result.store.has(job.id) or result.store.has_failed(job.id)}
            if group.open:
                break
        return self.plan.seeds[: group.seeds]

    def _is_narrow(self, result: StudyResult, member: int, seeds: list[int]) -> bool:
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

    def _job(self, member: int, seed: int) -> Job:
        plan = self.plan
        overrides = {**self._overrides(member), "seed": seed}
        return Job(self.scenario, overrides, plan.views[member], plan.points[member])

    @cache  # noqa: B019 - lives as long as the study
    def _overrides(self, member: int) -> dict[str, Any]:
        """Returns the overrides common to all runs of a point."""
        return self.overrides(member)

    def _keep_inputs(self, folder: Path) -> None:
        """Writes the study and its scenario into the folder, so that failures can be repeated."""
        _keep_input(folder, "study.toml", self.file_text, self.origin)
        if self.spec.model is None:
            _keep_input(folder, "scenario.toml", self.scenario.text, self.scenario.origin)

    def _replay_command(self, folder: Path) -> Callable[[Job], str]:
        def command(job: Job) -> str:
            words = ["multihop", "run", str(folder / "scenario.toml")]
            for path, value in job.point.settings.items():
                words += ["--scheme", str(value)] if path == "scheme" else ["--set", f"{path}={inline_toml(value)}"]
            return shlex.join([*words, "--seed", str(job.seed)])

        return command


class Study(RunnableStudy[StudyResult]):
    """Study whose results have no charts; `multihop.Study` is the public class."""

    _outcome = StudyResult


def _folders(directory: str | Path, store: str | Path | None) -> tuple[Path, Store]:
    folder = Path(directory)
    return folder, Store.of(folder) if store is None else Store(Path(store))


def _keep_input(folder: Path, name: str, text: str, source: str) -> None:
    """Writes an input file, unless it is the source itself, as for a study run from its own folder."""
    path = folder / name
    if not (path.exists() and Path(source).exists() and path.samefile(source)):
        Store(folder).write_text(name, text)
