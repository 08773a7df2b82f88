"""Studies: a base scenario by factors by seeds, run once and kept, and their numbers.

spec        what a study file can say
loading     from a file to a specification, with one message for whatever is wrong
checks      names that do not exist, statements that make no sense
design      from factors to points
planned     a study before its runs: its points with their scenarios
execution   runs what is missing, on any executor
metrics     a number per run: of columns, of optima, of closed forms (`derived`, `optima`, `fitting`, `units`)
runs        the finished runs: tables, estimates, paired differences
study       puts these together
tables      what was found as tidy tables that describe themselves
"""
