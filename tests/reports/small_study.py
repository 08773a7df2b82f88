"""A study with every kind of chart and names that look like markup, of which pages are made, and how a page is read."""

from conftest import CHAIN
from test_report import Outline

SCENARIO = (
    CHAIN.replace('duration = "5 s"', 'duration = "3 s"').replace('scheme = "tcp-newreno"', 'scheme = "tested"')
    + '\n[schemes.tested]\nbase = "tcp-newreno"\n'
)

STUDY = """
name = "small"
title = "Two schemes on chains"
description = '''First paragraph.

Second <b>paragraph</b>.'''
scenario = "chain.toml"
seeds = 3
compare = "scheme"

[factors.distance]
title = "spacing <m>"
key = "topology.spacing"
values = ["150 m", "200 m"]
labels = [150, 200]

[factors.loads]
key = "schemes.tested.window"
title = "window"
values = [4, 8]
labels = ["four", "eight & <i>more</i>"]

[factors.scheme]
key = "schemes.tested.base"
values = ["tcp-newreno", "recn"]
labels = ["<b>none</b>", "RECN"]

[metrics.goodput]
column = "flows.goodput_bps"
reduce = "sum"
title = "Goodput <total>"
unit = "kb/s"

[metrics.jain]
column = "flows.goodput_bps"
reduce = "jain"

[metrics.delay]
column = "flows.delay_mean_s"
unit = "ms"

[metrics.nothing]
column = "flows.delay_mean_s"
where = { name = "no such flow" }

[[charts]]
title = "Goodput <over> distance"
note = "A note & more."
metric = "goodput"
x = "distance"
panels = "loads"

[[charts]]
title = "Bars"
kind = "bars"
metric = "jain"
x = "loads"
at = { distance = 200 }

[[charts]]
title = "Flows"
kind = "flows"
column = "flows.goodput_bps"
unit = "kb/s"
at = { loads = "four" }

[[charts]]
title = "Flows"
kind = "time"
column = "series.goodput_bps"
unit = "kb/s"
where = { name = "long" }
panels = "distance"

[[charts]]
title = "Delay against goodput"
metric = "delay"
x = "distance"
x_metric = "goodput"
by = "loads"
at = { scheme = "RECN" }
log_x = true
log_y = true

[[charts]]
title = "Nothing"
metric = "nothing"
x = "distance"
log_y = true

[[claims]]
id = "c/value"
where = "Table <1>"
says = "so & so much"
kind = "value"
metric = "goodput"
per = "loads"
at = { scheme = "RECN" }
over = "distance"
values = [123.5, 456.25]
reason = "Because <of> this."

[[claims]]
id = "c/order"
where = "Fig. 2"
says = "RECN is first"
kind = "order"
metric = "goodput"
by = "scheme"
order = ["RECN", "<b>none</b>"]
"""


def write_small_study(folder):
    """Writes the study and its scenario; returns the folder."""
    (folder / "chain.toml").write_text(SCENARIO)
    (folder / "small.toml").write_text(STUDY)
    return folder


def outline(html):
    """The elements of a page, all of which are closed."""
    made = Outline()
    made.feed(html)
    assert made.open == []
    return made
