"""The hunt's commands: what counts as a failure, and that a drawn scenario has none."""

import pytest
from tools import hunt

SCENARIO = """
duration = "50 ms"
[phy]
standard = "802.11n"
[mac.aggregation]
a_msdu = "3839 B"
[topology]
generator = "chain"
hops = 2
[routing]
protocol = "dsr"
[[flows]]
from = "n0"
to = "n2"
scheme = "tcp-cubic"
"""


def test_every_command_ends_well_on_a_drawn_scenario(tmp_path):
    drawn = tmp_path / "1.toml"
    drawn.write_text(SCENARIO)
    assert hunt.try_all(drawn) == [("check", "done"), ("bound", "done"), ("run", "done"), ("explain", "done")]


def test_a_scenario_that_is_refused_is_no_failure(tmp_path):
    drawn = tmp_path / "1.toml"
    drawn.write_text(SCENARIO.replace("dsr", "nonsense"))
    assert {ended for _, ended in hunt.try_all(drawn)} == {"refused"}


@pytest.mark.parametrize("error", [IndexError("list index out of range"), ValueError("two\nlines")])
def test_what_a_user_would_see_as_an_internal_error_is_a_failure(monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(hunt, "app", fail)
    assert hunt.outcome(["check", "x.toml"]).startswith(type(error).__name__)
