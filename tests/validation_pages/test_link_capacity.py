"""The model of a link beside saturated stations: what the page says of all cells, asserted of a few."""

import pytest
from validation import link_capacity as page
from validation.link_capacity import Effort

EFFORT = Effort(seeds=4, seconds=100)


def test_a_station_that_is_alone_has_what_the_model_says():
    row = page.observed(1, 0.0, EFFORT)
    assert page.model() == pytest.approx(row.delivered.mean, rel=2e-3)
    assert page.model(frame=page.PACKET) > 1.01 * row.delivered.mean, "the MAC has bytes too"


def test_losses_lengthen_back_offs():
    row = page.observed(1, 0.5, EFFORT)
    assert row.failed.mean == pytest.approx(0.5, abs=0.01)
    assert page.timed(0.5) == pytest.approx(row.delivered.mean, rel=0.015)
    assert page.model(0.5) > 1.3 * row.delivered.mean, "the first window's back-off alone"
    assert 0.95 < page.model(0.5, tries=page.TRIES) / row.delivered.mean < 0.99, (
        "timeouts are shorter than an ACK and DIFS"
    )
    assert 0.95 < row.measured.mean / row.delivered.mean < 0.99, "which measured terms do not know either"
    assert row.intervals.mean == pytest.approx(row.delivered.mean, rel=0.01)
    assert row.per_delivered.mean > 1.05 * row.delivered.mean, "packets that are given up take the longest"


def test_what_others_leave_is_not_all_ones_own():
    row = page.observed(5, 0.0, EFFORT)
    assert row.failed.mean == pytest.approx(0.178, abs=0.02)
    assert page.model(others=row.others.mean) > 1.3 * row.delivered.mean
    assert row.measured.mean > 1.08 * row.delivered.mean
    idle = 1 - row.others.mean
    assert row.measured.mean * (idle - row.spaces.mean) / idle == pytest.approx(row.delivered.mean, rel=0.04)


def test_intervals_of_few_packets_say_too_much():
    row = page.observed(20, 0.0, EFFORT)
    assert row.intervals.mean > 1.2 * row.delivered.mean


def test_the_page_is_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "QUICK", Effort(seeds=2, seconds=2))
    monkeypatch.setattr("sys.argv", ["link_capacity", "--quick", str(tmp_path / "page.md")])
    page.main()
    text = (tmp_path / "page.md").read_text()
    assert "@" not in text
    assert "6.10" in text
    assert "4.18" in text
