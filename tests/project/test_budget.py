"""What a simulated second costs in instructions is what the table says."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))

import budget


@pytest.mark.long
def test_no_scenario_costs_more_or_less_than_the_table_says(capsys):
    if sentence := budget.missing():
        pytest.skip(sentence)
    code = budget.main([])
    assert code == 0, capsys.readouterr().err


def test_what_differs_is_said_in_a_sentence():
    table = {"compiler": "rustc 0.1", "million_instructions_per_simulated_second": {"chain": 10.0, "grid-10": 30.0}}
    assert budget.differences(table, {"chain": 10.19e6, "grid-10": 29.41e6}) == []
    dearer, cheaper, made = budget.differences(table, {"chain": 10.21e6, "grid-10": 29.3e6})
    assert dearer.startswith("chain costs 2.1% more")
    assert cheaper.startswith("grid-10 costs 2.3% less")
    assert made.startswith("the table was made with rustc 0.1, this is rustc")
