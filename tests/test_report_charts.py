"""Which flows are drawn, where legends go, and how large text is on a phone."""

import re

import pandas as pd
import pytest

from multihop.report import charts
from multihop.report.svg import PAGE_WIDTH, Chart, legend_above, style


def series(goodputs):
    rows = [{"flow": flow, "name": f"f{flow}", "time_s": 1.0, "goodput_bps": bps} for flow, bps in enumerate(goodputs)]
    return pd.DataFrame(rows)


def test_few_flows_are_all_in_colour_in_their_own_order():
    assert charts.flows_in_colour(series([5.0, 1.0, 3.0])) == ([0, 1, 2], [])
    assert charts.flow_lines_note(7) == "One line per flow, means over seeds."


def test_of_many_flows_the_extremes_are_in_colour_and_the_others_drawn():
    goodputs = [float((7 * k) % 13) for k in range(13)]
    named, faint = charts.flows_in_colour(series(goodputs))
    assert [goodputs[flow] for flow in named] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0]
    assert sorted(named + faint) == list(range(13))
    assert "first seven" not in charts.flow_lines_note(13)


def test_of_a_thousand_flows_some_are_drawn_with_the_ends_and_that_is_said():
    named, faint = charts.flows_in_colour(series([float(k) for k in range(1000)]))
    assert (len(named), len(faint)) == (7, 93)
    assert {0, 999} <= set(named)
    assert "100 of 1000 flows" in charts.flow_lines_note(1000)


@pytest.mark.parametrize("length", [3, 12, 40, 100])
def test_a_legend_is_no_wider_than_its_chart(length):
    with style():
        chart = Chart("t", "test", PAGE_WIDTH, 4.0)
        axis = chart.figure.subplots()
        for number in range(7):
            axis.plot([0, 1], [number, 1], label=(f"customer-{number}-from-the-north-side " * 4)[:length])
        legend_above(axis, PAGE_WIDTH)
        chart.figure.draw_without_rendering()
        box = axis.get_legend().get_window_extent()
        inches = box.width / chart.figure.dpi
    assert inches <= PAGE_WIDTH or axis.get_legend()._ncols == 1


def test_text_of_a_chart_is_nine_pixels_high_at_least():
    with style():
        chart = Chart("t", "test", PAGE_WIDTH, 4.0)
        chart.figure.subplots().set_xlabel("x")
        page = chart.svg()
    width = float(re.search(r"min-width: (\d+)px", page)[1])
    viewed = float(re.search(r'viewBox="0 0 ([\d.]+)', page)[1])
    assert 10 * width / viewed >= 8.99
    assert page.startswith('<div class="scroll"')
