"""Study with claims, and its result with verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from multihop.claims.judging import Judgement, judge
from multihop.experiments.outcomes import StudyRuns
from multihop.experiments.studies import RunnableStudy
from multihop.simulation.store import Failure, Store


class StudyResult(StudyRuns):
    """Finished runs of a study, and the verdicts on its claims."""

    @cached_property
    def judgements(self) -> list[Judgement]:
        """Verdict on every claim."""
        return [judge(self, claim) for claim in self.study.spec.claims]


class Study(RunnableStudy[StudyResult]):
    """Study as its file defines it, checked, with its scenario.

    Built from a file (`Study.load`) or from the same keys as arguments:

        Study(name="hops", scenario="chain.toml", factors={"topology.hops": {...}}, seeds=20)

    A factor may also be given as plain values, `factors={"scheme": ["tcp-newreno", "recn"]}`, and under its
    key path: `factors={"topology.hops": range(1, 5)}` defines the factor `topology-hops`. Tables and files
    use names.

    Raises:
        UserError: naming the key, the value found and what is needed.
    """

    def _found(
        self, directory: Path, store: Store, seeds: Mapping[int, Sequence[int]], failures: Sequence[Failure]
    ) -> StudyResult:
        return StudyResult(self, directory, store, seeds, failures)
