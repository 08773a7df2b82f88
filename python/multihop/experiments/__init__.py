"""Experiments: a scenario, factors and seeds; the runs; and what the runs say.

A study has any factors. A comparison is a study of one factor, the scheme or variant, whose runs stay in
memory.

- design: `specs` (study files), `parsers`, `checks`, `points` (of the factors), `plans` (points with
  scenarios), `scenario_checks`, `varied_flows` (flows that take a compared scheme)
- running: `runner`, `clusters`
- results: `runs` (one run as tables), `comparisons` (by variant and seed), `outcomes` (by point and seed),
  `studies` (runnable studies and their results), `tables`, `exports` (files)
- metrics: `metrics`, `derived_metrics`, `units`
- verdicts: `verdicts` (sentences), `services` (how flows fare), `flow_kinds`, `phases`, `relevance`,
  `claims` (of papers)
"""
