"""The comparisons of the validation page, on few cells: what the page says of all of them is asserted here of some."""

from __future__ import annotations

from validation import checks

EFFORT = checks.QUICK


def test_one_link_is_within_a_thousandth_of_the_closed_form() -> None:
    for row in checks.one_link(EFFORT):
        assert row.goodput.agrees(0.001), row


def test_saturation_is_within_one_percent_of_bianchi() -> None:
    for row in checks.bianchi_cells("bianchi", EFFORT):
        assert abs(row.goodput.off) < 0.01
        assert row.collision is not None
        measured, model = row.collision
        assert abs(measured.mean - model) < 0.01


def test_saturated_cells_agree_with_ns2() -> None:
    for row in checks.ns2_cells(EFFORT):
        assert row.goodput.agrees(0.05), row


def test_chains_agree_with_ns2() -> None:
    for row in checks.ns2_chains(EFFORT):
        assert row.agrees, row


def test_chains_over_live_dsdv_agree_with_ns2() -> None:
    for row in checks.ns2_dsdv_chains(EFFORT):
        assert row.goodput.agrees(0.05), row
        assert row.goodput.measured.mean > 0.8 * row.goodput.reference, row
    for cell in checks.recn_dsdv_chains(EFFORT):
        assert cell.agrees, cell


def test_chains_over_live_dsr_do_about_what_ns2_says() -> None:
    """Within 15 %: docs/dsr.md says by how much, and what it is not due to."""
    for row in checks.ns2_dsr_chains(seeds=10, seconds=100):
        assert row.goodput.agrees(0.15), row
        assert row.rtt.agrees(0.10), row
        assert row.window.agrees(0.10), row


def test_chains_carry_what_ns3_says() -> None:
    for row in checks.ns3_chains(EFFORT):
        assert row.goodput.agrees(0.10), row


def test_recn_raises_the_transmission_efficiency_on_its_chain() -> None:
    for row in checks.recn_chains(EFFORT, "ns2"):
        assert row.efficiency["recn"].mean > row.efficiency["tcp-newreno"].mean + 0.05
        assert row.ns2 is None or row.ns2.agrees(0.05), row


def test_recn_shortens_delays_over_standard_tcp() -> None:
    for row in checks.recn_chains(EFFORT, "rfc"):
        assert row.delay_p95_s["recn"].mean < row.delay_p95_s["tcp-newreno"].mean / 2
