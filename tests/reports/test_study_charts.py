"""Charts of a study with curves, single runs, a paper's numbers, and room for names."""

import re

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

import multihop
from multihop.base.errors import UserError
from multihop.experiments.specs import Chart
from multihop.experiments.studies import Study
from multihop.report.charts.figures import Facet, Figure, Key
from multihop.report.charts.files import Paper, drawn, legend_columns
from multihop.report.charts.study_data import plot
from multihop.report.charts.study_drawing import FILE_WIDTH, figure, file_width, look_of
from multihop.report.charts.ticks import spaced_ticks, tick_names
from multihop.report.study import write_study
from multihop.report.svg import paper_style
from small_study import write_small_study

mpl.use("Agg")

READINGS = ["6 Mb/s control", "24 Mb/s, static, timer of 200 ms", "24 Mb/s, static, timer of 20 ms"] * 4

MORE = """
[metrics.short]
column = "flows.goodput_bps"
where = { name = "short" }
unit = "kb/s"

[metrics.off]
column = "series.goodput_bps"
where = { name = "long" }
against = "goodput"
unit = "%"

[metrics.late]
column = "series.goodput_bps"
between = [2, 3]
unit = "kb/s"

[[charts]]"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = write_small_study(tmp_path_factory.mktemp("study"))
    file = made / "small.toml"
    file.write_text(file.read_text().replace("[[charts]]", MORE, 1))
    return made


@pytest.fixture(scope="module")
def result(folder):
    return Study.load(folder / "small.toml").run(folder / "runs")


def content(result, **keys):
    return plot(result, Chart.model_validate({"title": "t", **keys}), "k")


TWO = [{"label": "both", "metric": "goodput"}, {"label": "the short one", "metric": "short"}]
FLOWS = [{"label": flow, "column": "series.goodput_bps", "where": {"name": flow}} for flow in ("long", "short")]
ONE = {"loads": "four", "scheme": "RECN"}


def test_curves_are_series_of_one_picture(result):
    made = content(result, x="distance", curves=TWO, at={"loads": "four"}, y_title="Rate")
    assert made.names == [f"{scheme}, {curve['label']}" for scheme in ("<b>none</b>", "RECN") for curve in TWO]
    assert made.y_label == "Rate [kb/s]"
    (point,) = result.select({**ONE, "distance": 200})
    series = next(one for one in made.panels[0].series if made.names[one.number] == "RECN, the short one")
    assert series.marks[1].y.mean == pytest.approx(result.estimate(point, "short").mean / 1e3)
    # Colours are schemes, dashes are curves.
    looks = [look_of(made, number) for number in range(4)]
    assert looks[0].colour == looks[1].colour != looks[2].colour == looks[3].colour
    assert looks[0].dash == looks[2].dash != looks[1].dash == looks[3].dash
    alone = content(result, x="distance", curves=TWO, at=ONE)
    assert (alone.names, alone.y_label) == (["both", "the short one"], "kb/s")
    assert look_of(alone, 0).colour != look_of(alone, 1).colour


def test_bars_without_x_are_grouped_by_curve(result):
    made = content(result, kind="bars", curves=TWO, at={"loads": "four", "distance": 150})
    assert made.categories == ["both", "the short one"]
    assert made.names == ["<b>none</b>", "RECN"]
    assert [len(series.marks) for series in made.panels[0].series] == [2, 2]


def test_numbers_of_a_paper_are_beside_those_of_claims(result):
    printed = [{"at": {"scheme": "RECN", "distance": 150}, "curve": "the short one", "value": 7.5}]
    made = content(result, kind="bars", curves=TWO, at={"loads": "four", "distance": 150}, printed=printed)
    # The first number is that of the claim on `goodput`.
    found = {made.names[series.number]: [mark.printed for mark in series.marks] for series in made.panels[0].series}
    assert found == {"<b>none</b>": [(), ()], "RECN": [(123.5,), (7.5,)]}
    assert "paper" in [key.name for key in figure(made, "name").keys]


def test_a_chart_draws_one_run_with_the_spread_over_seeds(result):
    keys = {"kind": "time", "column": "series.goodput_bps", "unit": "kb/s", "at": {**ONE, "distance": 150}}
    where = {"name": "long"}
    made = content(result, **keys, where=where, seed=2)
    (point,) = result.select({**ONE, "distance": 150})
    rows = result.point_table(point, "series")
    rows = rows[(rows["name"] == "long") & (rows["time_s"] == 2.0)].set_index("seed")["goodput_bps"] / 1e3
    mark = next(mark for mark in made.panels[0].series[0].marks if mark.x == 2.0)
    assert mark.y.mean == pytest.approx(rows[2])
    assert (mark.y.low, mark.y.high) == (None, None)
    assert mark.spread == pytest.approx((rows.quantile(0.05), rows.quantile(0.95)))
    assert made.band == "line: seed 2; band: 5th to 95th percentile of 3 seeds"
    assert made.band in [key.name for key in figure(made, "name").keys]
    # A run that does not exist cannot be drawn, and the legend says so.
    means = content(result, **keys, where=where, seed=99)
    assert means.band == content(result, **keys, where=where).band == "95 % interval"
    assert means.seed is None


def test_flows_are_curves_over_time(result):
    made = content(
        result, kind="time", curves=FLOWS, unit="kb/s", panels="scheme", at={"loads": "four", "distance": 150}
    )
    assert made.names == ["long", "short"]
    assert [panel.title for panel in made.panels] == ["<b>none</b>", "RECN"]
    assert [len(panel.series) for panel in made.panels] == [2, 2]


def test_a_metric_over_time_is_its_rows_or_a_level_line(result):
    at = {**ONE, "distance": 150}
    (point,) = result.select(at)
    made = content(result, kind="time", metric="off", at=at, seed=1)
    rows = result.point_table(point, "series")
    rate = rows[(rows["name"] == "long") & (rows["seed"] == 1) & (rows["time_s"] == 2.0)]["goodput_bps"].iloc[0]
    mark = next(mark for mark in made.panels[0].series[0].marks if mark.x == 2.0)
    assert mark.y.mean == pytest.approx(100 * abs(rate / result.values(point, "goodput")[1] - 1))

    both = content(result, kind="time", curves=[{"label": "", "metric": "late"}, TWO[0]], at=at)
    steps, level = both.panels[0].series
    assert [mark.x for mark in steps.marks] == [pytest.approx(2 + n / 10) for n in range(1, 11)]
    assert [mark.x for mark in level.marks] == [0.0, 3.0]
    mean = result.estimate(point, "goodput").mean / 1e3
    assert [mark.y.mean for mark in level.marks] == [pytest.approx(mean)] * 2


def test_a_line_that_all_groups_share_is_drawn_once(result, monkeypatch):
    values = type(result).values
    bound = result.values(0, "goodput") * 0 + 5e6
    monkeypatch.setattr(
        type(result),
        "values",
        lambda self, point, metric: bound if metric == "goodput" else values(self, point, metric),
    )
    curves = [{"label": "", "metric": "late"}, {"label": "bound", "metric": "goodput"}]
    made = content(result, kind="time", curves=curves, at={"loads": "four", "distance": 150})
    assert made.names == ["<b>none</b>", "bound", "RECN"]
    assert len({look_of(made, number).colour for number in range(3)}) == 3


def test_flows_along_a_factor_are_lines_of_one_run(result):
    keys = {"kind": "flows", "column": "flows.goodput_bps", "unit": "kb/s", "x": "distance", "panels": "scheme"}
    made = content(result, **keys, at={"loads": "four"}, seed=1)
    assert (made.shape, made.names, made.ticks) == ("lines", ["long", "short"], [150.0, 200.0])
    assert made.x_label == "spacing <m> (one run, seed 1)"
    (point,) = result.select({**ONE, "distance": 200})
    rows = result.point_table(point, "flows").set_index(["name", "seed"])["goodput_bps"]
    assert made.panels[1].series[1].marks[1].y.mean == pytest.approx(rows["short", 1] / 1e3)
    assert made.panels[1].series[1].marks[1].y.n == 1
    names = content(result, **(keys | {"x": "loads"}), at={"distance": 150})
    assert (names.shape, names.categories) == ("bars", ["four", "eight & <i>more</i>"])


@pytest.mark.parametrize(
    ("chart", "said"),
    [
        ({"kind": "bars", "curves": [*TWO, {"label": "j", "metric": "jain"}]}, "needs one unit for all"),
        ({"kind": "bars", "curves": TWO[:1] * 2}, "more than once"),
        ({"kind": "bars", "curves": TWO, "metric": "jain"}, "metric: has no effect beside curves"),
        ({"kind": "bars", "curves": FLOWS}, "needs metric, without column"),
        ({"curves": TWO}, "x: missing"),
        ({"kind": "flows", "curves": TWO}, "curves: has no effect"),
        ({"kind": "time", "curves": [{"label": "a", "metric": "no"}]}, "no metric is named 'no'"),
        ({"kind": "time", "metric": "off", "unit": "%"}, "unit: has no effect beside metric"),
        ({"kind": "time", "metric": "off", "where": {"name": "long"}}, "where: has no effect beside metric"),
        ({"kind": "bars", "metric": "jain", "seed": 1}, "seed: has no effect"),
        ({"kind": "time", "column": "series.goodput_bps", "seed": 4}, "needs one of the study's seeds"),
        ({"kind": "bars", "metric": "jain", "printed": [{"value": 1, "at": {"scheme": "x"}}]}, "has no value 'x'"),
        ({"kind": "bars", "curves": TWO, "printed": [{"value": 1, "curve": "x"}]}, "no curve is named 'x'"),
    ],
)
def test_charts_that_make_no_sense_are_refused(folder, chart, said):
    keys = Study.load(folder / "small.toml").spec.model_dump(exclude_defaults=True)
    keys |= {"charts": [{"title": "t", **chart}], "scenario": str(folder / "chain.toml"), "seeds": [1, 2, 3]}
    with pytest.raises(UserError, match=re.escape(said)):
        Study(**keys)


def test_names_below_an_axis_are_whole_and_have_room():
    names, how, depth = tick_names(READINGS, 5.4)
    assert [name.replace("\n", " ") for name in names] == READINGS
    assert how["rotation"] == 90
    assert depth > 10
    assert tick_names(["a", "b"], 5.4) == (["a", "b"], {}, 0.0)
    filled, how, depth = tick_names(["static routes and more", "senses 550 m and more"], 3.0)
    assert (how, depth) == ({}, 1.25)
    assert all("\n" in name for name in filled)


def test_numbers_below_an_axis_do_not_touch():
    assert spaced_ticks([1, 2, 4, 8], 5.4, is_log=False) == [1, 2, 4, 8]
    assert spaced_ticks([100, 101, 300, 1000], 3.6, is_log=False) == [100, 300, 1000]
    assert spaced_ticks([0.001, 0.01, 0.1, 1], 3.6, is_log=True) == [0.001, 0.01, 0.1, 1]


def texts(svg):
    """Words of a picture with the height of each, from the top."""
    return {word: float(y) for y, word in re.findall(r'y="([\d.]+)"[^>]*>([^<]+)</text>', svg)}


def test_long_names_leave_the_plot_its_height():
    """The label of the y axis lay over the legend where names took the height of the plot."""
    heights = {}
    for kind in ("short", "long"):
        names, how, depth = tick_names(READINGS if kind == "long" else ["a", "b"], 5.4)

        def draw(_, axis, names=names, how=how, kind=kind):
            axis.plot(range(len(names)), range(len(names)))
            axis.set_xticks(range(len(names)), names, **how)
            heights[kind] = axis

        shown = Figure("f", "t", [Facet("", (), draw)], [Key("k", "line")], height=22.0, depth=depth)
        with paper_style(10):
            drawn(shown, Paper("svg", 5.4, 10))
        box = heights[kind].get_position()
        heights[kind] = box.height * heights[kind].figure.get_figheight()
    assert heights["long"] == pytest.approx(heights["short"], rel=0.15)


def test_a_legend_has_the_columns_that_fit_and_is_read_by_rows():
    assert legend_columns(["EWCCP", "TCP", "alone", "a much longer name"], 40) == 4
    assert legend_columns(["EWCCP", "TCP", "alone", "a much longer name"], 22) == 2
    keys = [Key(name, "line") for name in ("first", "second", "third")]
    shown = Figure("f", "t", [Facet("", (), lambda _, axis: axis.plot([0, 1]))], keys)
    with paper_style(10):
        at = texts(drawn(shown, Paper("svg", 2.0, 10)).decode())
    assert at["first"] == at["second"] < at["third"]


def test_a_file_is_legible_at_the_width_of_a_phone(result):
    keys = {"kind": "time", "column": "series.goodput_bps"}
    for more in ({}, {"panels": "loads"}):
        shown = figure(content(result, **keys, **more), "name")
        # Text of 10 points on a page of 400 pixels.
        assert 10 * 400 / (72 * file_width(shown)) > 7.5
    assert file_width(shown) == FILE_WIDTH


def test_a_panel_of_a_chart_is_drawn_on_axes(folder):
    shown = multihop.Study.load(folder / "small.toml").result(folder / "runs")
    first, named, second = (shown.plot(0, panel=panel) for panel in (None, "four", "eight & <i>more</i>"))
    assert first.get_legend().get_title().get_text() == "four\nscheme"
    assert second.get_legend().get_title().get_text() == "eight & <i>more</i>\nscheme"
    heights = [axes.lines[0].get_ydata().tolist() for axes in (first, named, second)]
    assert heights[0] == heights[1] != heights[2]
    plt.close("all")
    with pytest.raises(UserError, match="panel: found 'five'; needs one of four, eight"):
        shown.plot(0, panel="five")


def test_the_page_says_what_a_band_is_and_lists_the_run(result, tmp_path):
    spec = result.study.spec
    chart = Chart(title="Run", kind="time", column="series.goodput_bps", unit="kb/s", seed=1)
    study = Study.load(result.study.origin)
    study.spec = spec.model_copy(update={"charts": [chart], "claims": []})
    page = write_study([study.result(result.directory)], tmp_path / "report.html")[0].read_text()
    assert "line: seed 1; band: 5th to 95th percentile of 3 seeds</span>" in page
    assert re.search(r"<td[^>]*>\d[\d.]* \(\d[\d.]* to \d[\d.]*\)</td>", page)
