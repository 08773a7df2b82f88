"""What a paper says against what the runs of a study say, and studies with claims.

judging     verdicts, from cells that hold or fail
bars        how many cells of a claim hold, as a bar for each reading and pair
study       a study, its result, and the verdicts on its claims
export      both as files
"""
