"""Verdicts on a paper's claims from the runs of a study.

judging     verdicts, from cells that hold or fail
bars        number of cells that hold, for each reading and pair
"""
