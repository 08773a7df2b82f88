"""A study, what it found, and the verdicts on its claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from multihop.claims.judging import Judgement, judge
from multihop.simulation.store import Failure, Store
from multihop.study.runs import StudyRuns
from multihop.study.study import RunnableStudy


class StudyResult(StudyRuns):
    """The finished runs of a study, and what they say of its claims."""

    @cached_property
    def judgements(self) -> list[Judgement]:
        """A verdict for every claim."""
        return [judge(self, claim) for claim in self.study.spec.claims]


class Study(RunnableStudy[StudyResult]):
    """What a study file says, checked, with its scenario.

    Built from a file (`Study.load`) or from the same keys as arguments:

        Study(name="hops", scenario="chain.toml", factors={"topology.hops": {...}}, seeds=20)

    A factor may also be given as plain values, `factors={"scheme": ["tcp-newreno", "recn"]}`, and under the
    path of its key: `factors={"topology.hops": range(1, 5)}` makes the factor `topology-hops`. Tables and
    files use names.

    Raises:
        UserError: naming the key, what was found and what would do.
    """

    def _found(
        self, directory: Path, store: Store, seeds: Mapping[int, Sequence[int]], failures: Sequence[Failure]
    ) -> StudyResult:
        return StudyResult(self, directory, store, seeds, failures)
