"""Studies: a base scenario by factors by seeds, run once and kept; what they say, and whether a claim holds.

spec        what a study file can say
loading     from a file to a specification, with one message for whatever is wrong
checks      names that do not exist, statements that make no sense
design      from factors to points
execution   runs what is missing, on any executor
metrics     a number per run
result      tables, estimates, paired differences
claims      what a paper says against what the runs say
bars        how many cells of a claim hold, as a bar for each reading and pair
study       puts these together
"""

from multihop.store import Failure, Store
from multihop.study.claims import Cell, Judgement, State, Verdict
from multihop.study.design import Point
from multihop.study.execution import Progress
from multihop.study.result import StudyResult
from multihop.study.spec import StudySpec
from multihop.study.study import Study

__all__ = [
    "Cell",
    "Failure",
    "Judgement",
    "Point",
    "Progress",
    "State",
    "Store",
    "Study",
    "StudyResult",
    "StudySpec",
    "Verdict",
]
