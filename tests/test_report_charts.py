"""Which flows are drawn, where legends go, and how large text is on a phone."""

import re

import pandas as pd
import pytest

from multihop.report.charts.figures import typical_flows
from multihop.report.svg import PAGE_WIDTH, Chart, legend_above, style


class Measured:
    """Runs, of which nothing but the goodput of flows is known."""

    def __init__(self, goodputs):
        self.flows = pd.DataFrame({"flow": range(len(goodputs)), "goodput_bps": goodputs})


def test_few_flows_have_a_facet_each_in_their_own_order():
    assert typical_flows(Measured([5.0, 1.0, 3.0])) == ([0, 1, 2], "")
    assert typical_flows(Measured([5.0, 1.0, 3.0]), {2, 0}) == ([0, 2], "")


def test_of_many_flows_the_extremes_and_some_between_have_a_facet_and_that_is_said():
    goodputs = [float((7 * k) % 13) for k in range(13)]
    some, note = typical_flows(Measured(goodputs))
    assert sorted(goodputs[flow] for flow in some) == [0.0, 3.0, 6.0, 9.0, 12.0]
    assert some == sorted(some)
    assert note.startswith("5 of 13 flows, from the least to the most goodput")


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
