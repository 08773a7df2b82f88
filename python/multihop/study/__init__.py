"""Studies: a base scenario, factors and seeds; the runs, kept in a store; and metrics of the runs.

spec        definition of study files
loading     parser of study files, with one message for the first mistake
checks      checks of names and combinations
design      points of the factors
planned     study before its runs: points with their scenarios
execution   execution of missing runs on any executor
metrics     metrics of runs: of columns, optima and closed forms (`derived`, `optima`, `fitting`, `units`)
runs        finished runs: tables, estimates, paired differences
study       study that can be run
tables      tidy tables of results with column definitions
"""
