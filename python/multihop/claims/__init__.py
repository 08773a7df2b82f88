"""Verdicts on a paper's claims from the runs of a study, and studies with claims.

judging     verdicts, from cells that hold or fail
bars        number of cells that hold, for each reading and pair
study       study with claims, and its result with verdicts
export      results and verdicts as files
"""
