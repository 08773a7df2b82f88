"""Figures of a comparison: what they show, that intervals stay in range, files for papers, and axes of scripts."""

import math
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import multihop
from conftest import CHAIN
from multihop.base.errors import UserError
from multihop.report import page
from multihop.report.charts import bars, delays, every, times
from multihop.report.charts.files import Paper, drawn
from multihop.report.notes import Notes
from multihop.report.svg import PALETTE, paper_style
from multihop.results.columns import METRIC
from multihop.results.statistics import estimate

mpl.use("Agg")

#: Two uploads to one station, which do not sense each other: one takes everything, which one depends on the seed.
HIDDEN = """
name = "hidden"
duration = "4 s"
warmup = "1 s"
[topology]
nodes = [
    { name = "a", position = ["0 m", "0 m"] },
    { name = "ap", position = ["300 m", "0 m"] },
    { name = "b", position = ["600 m", "0 m"] },
]
[phy]
standard = "802.11g"
[medium]
model = "ranges"
receive_range = "320 m"
carrier_sense_range = "400 m"
[schemes.tcp-cubic]
flavour = "rfc"
[[flows]]
name = "left"
from = "a"
to = "ap"
scheme = "tcp-cubic"
[[flows]]
name = "right"
from = "b"
to = "ap"
scheme = "tcp-cubic"
"""


@pytest.fixture(scope="module")
def comparison():
    return multihop.compare(CHAIN, ["tcp-newreno", "recn"], seeds=3, set={"schemes.tcp-newreno.flavour": "rfc"})


@pytest.fixture
def axes():
    """Axes without a window."""
    from matplotlib.figure import Figure

    return Figure().subplots()


def of(comparison, name):
    return next(figure for figure in every(comparison) if figure.name == name)


def made_delays(rows):
    return pd.DataFrame(rows, columns=["variant", "seed", "flow", "name", "delay_s", "packets"])


def test_shares_of_packets_rise_with_delay_over_all_seeds():
    rows = [("x", 1, 0, "f", 0.02, 1), ("x", 1, 0, "f", 0.01, 2), ("x", 2, 0, "f", 0.02, 1), ("x", 2, 0, "f", 0.5, 0)]
    at, shares = delays.cumulative(made_delays(rows))
    assert at.tolist() == [0.01, 0.02]
    assert shares.tolist() == [0.5, 1.0]
    assert [len(each) for each in delays.cumulative(made_delays([]))] == [0, 0]


def test_the_distribution_of_delay_has_a_line_for_each_scheme_and_a_thin_one_for_each_seed(comparison, axes):
    rows = [(v, s, 0, "long", d, n) for v in ("tcp-newreno", "recn") for s in (1, 2, 3) for d, n in ((0.01, 3), (2, 1))]
    delays.draw_cdf(Notes(), axes, runs=comparison, delays=made_delays(rows), flow=0)
    thick = [line for line in axes.lines if line.get_linewidth() > 1]
    assert len(axes.lines) == 2 * (1 + 3)
    assert [line.get_color() for line in thick] == list(PALETTE[:2])
    assert thick[0].get_xdata().tolist() == [10, 10, 2000]
    assert thick[0].get_ydata().tolist() == [0, 0.75, 1]
    assert (axes.get_xscale(), axes.get_xlabel()) == ("log", "one-way delay [ms]")


def test_the_distribution_of_a_run_ends_at_its_greatest_delay(comparison):
    shown = comparison.delays
    for variant in comparison.variants:
        at, shares = delays.cumulative(shown[shown["variant"] == variant])
        greatest = comparison.flows.loc[comparison.flows["variant"] == variant, "delay_max_s"].max()
        assert greatest <= at[-1] <= greatest / 0.97
        assert shares[-1] == 1.0
        assert np.all(np.diff(shares) > 0)


def test_goodput_and_delay_of_each_flow_and_scheme_are_one_point(comparison, axes):
    delays.draw_goodput_delay(Notes(), axes, runs=comparison)
    points = [line for line in axes.lines if line.get_markersize() > 6]
    assert len(points) == 2 * 2, "two flows under two schemes"
    assert {line.get_color() for line in points} == set(PALETTE[:2])
    assert {line.get_marker() for line in points} == {"o", "s"}, "flows are told apart by shape"
    flows = comparison.flows
    mine = flows[(flows["variant"] == "recn") & (flows["name"] == "short")]
    point = points[3]
    assert point.get_xdata()[0] == pytest.approx(1e3 * mine["delay_p95_s"].mean())
    assert point.get_ydata()[0] == pytest.approx(mine["goodput_bps"].mean() / 1e6)
    names = [key.name for key in of(comparison, "goodput-delay").keys]
    assert names == ["tcp-newreno", "recn", "95 % interval", "one seed", "long", "short"]


def test_over_time_each_flow_has_a_facet_and_each_scheme_a_line(comparison, axes):
    goodput = of(comparison, "goodput-time")
    assert [facet.title for facet in goodput.facets] == ["all flows", "long", "short"]
    assert [facet.title for facet in of(comparison, "rtt-time").facets] == ["long", "short"]
    goodput.facets[1].draw(Notes(), axes)
    series = comparison.series
    mine = series[(series["variant"] == "recn") & (series["name"] == "long")]
    assert axes.lines[1].get_ydata() == pytest.approx(mine.groupby("time_s")["goodput_bps"].mean().to_numpy() / 1e6)
    assert len(axes.lines) == 2


def test_intervals_of_what_cannot_be_negative_end_at_zero(axes):
    comparison = multihop.compare(HIDDEN, ["tcp-cubic", "recn"], seeds=3)
    rates = comparison.rates("tcp-cubic")
    assert any(estimate(of_flow).low < 0 for of_flow in rates.T), "by itself the interval would reach below zero"
    ends = []
    for figure in every(comparison):
        for facet in figure.facets:
            if "optimum_gap" in facet.measures:
                continue  # flows may have more than the optimum
            axes.clear()
            facet.draw(Notes(), axes)
            for lines in axes.collections:
                # Values lie along x where bars do, else along y.
                along = 0 if figure.name in {"goodput-flows", "losses"} else 1
                ends += [end for path in lines.get_paths() for end in path.vertices[:, along]]
    assert min(ends) >= 0
    for metric in comparison.metrics:
        for variant in comparison.variants:
            found = comparison.estimate(variant, metric.name)
            assert metric.least <= found.low <= found.mean <= found.high <= metric.most
            record = comparison.statistics()["metrics"][metric.name][variant]
            assert (record["low"], record["high"]) == (found.low, found.high)


def test_an_interval_that_is_cut_keeps_its_width_in_words():
    found = estimate([0.0, 0.0, 3.0])
    cut = found.within(0.0)
    assert found.low < 0 == cut.low
    assert cut.half_width == pytest.approx(found.half_width)
    assert estimate([0.9, 1.0, 0.95]).within(0.0, 1.0).high <= 1.0
    assert math.isinf(METRIC["goodput_total_bps"].most)


def test_colours_are_schemes_and_nothing_else(comparison):
    html = page(comparison)
    charts = re.findall(r'<svg class="chart".*?</svg>', html, flags=re.DOTALL)
    found = {colour.upper() for chart in charts for colour in re.findall(r"(?:fill|stroke): (#\w{6})", chart)}
    assert found & {colour.upper() for colour in PALETTE} == {colour.upper() for colour in PALETTE[:2]}
    assert '</figcaption><div class="keys">' in html
    for figure in every(comparison):
        assert figure.keys, figure.name


def test_one_scheme_has_tables_and_time_series_and_no_bars():
    run = multihop.run(CHAIN)
    alone = run._alone()
    names = [figure.name for figure in every(alone)]
    assert not {"metrics", "goodput-flows", "losses"} & set(names)
    assert {"goodput-time", "rtt-time", "window-time", "delay-cdf"} <= set(names)
    html = page(alone)
    assert "<h2>Flows</h2>" in html
    assert f"{run.flows['goodput_bps'][0] / 1e6:.4g}" in html


def test_what_shows_nothing_is_left_out():
    comparison = multihop.compare(CHAIN, ["udp", "tfrc"], seeds=1, set={"flows.length": 1, "flows[0].app": CBR})
    names = [figure.name for figure in every(comparison)]
    assert "losses" not in names, "nothing was lost"
    assert "window-time" not in names, "no flow has a window"
    titles = [facet.title for facet in of(comparison, "metrics").facets]
    assert not [title for title in titles if title.startswith(("Fairness", "Packets lost", "Retransmissions"))]
    html = page(comparison)
    for words in ("nothing was lost", "no flow has a congestion window", "Jain"):
        assert words not in html


CBR = {"kind": "cbr", "rate": "64 kb/s", "packet": "160 B"}


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_files_have_the_width_and_the_text_that_were_asked_for(comparison, tmp_path, kind):
    paths = comparison.figures(tmp_path, kind, width="89mm", font_size=7, metrics=["goodput", "delay_p95_s"])
    names = ["goodput-delay", "goodput-flows", "metrics", "goodput-time"]
    assert [path.name for path in paths] == [f"{name}.{kind}" for name in names]
    data = paths[2].read_bytes()
    points = 89 / 25.4 * 72
    if kind == "svg":
        root = ET.fromstring(data)
        assert float(root.get("width").removesuffix("pt")) == pytest.approx(points)
        assert set(re.findall(rb"font-size: ([\d.]+)px", data)) == {b"7"}
        assert b"Metrics by scheme" not in data, "the caption of a paper says that"
        assert data.count(b"Total goodput [Mb/s]") == 1
    elif kind == "png":
        assert int.from_bytes(data[16:20], "big") == pytest.approx(300 * points / 72, abs=1)
    else:
        box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ", data)
        assert float(box[1]) == pytest.approx(points, abs=0.01)
        streams = b"".join(_inflated(data))
        assert b"/FontFile2" in data + streams, "fonts are embedded"
        assert b"/CIDFontType2" in data + streams, "as TrueType"
        assert b"/Type3" not in data + streams
    again = comparison.figures(tmp_path / "again", kind, width="89mm", font_size=7, metrics=["goodput", "delay_p95_s"])
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in paths]


def _inflated(data):
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", data, flags=re.DOTALL):
        try:
            yield zlib.decompress(stream)
        except zlib.error:
            yield stream


@pytest.mark.parametrize("font", [8.0, 14.0])
def test_nothing_of_a_narrow_figure_is_cut_off(comparison, font):
    with paper_style(font):
        for figure in every(comparison):
            picture = _picture(figure, Paper("svg", 3.5, font))
            picture.draw_without_rendering()
            width = picture.bbox.width
            for legend in picture.legends:
                assert legend.get_window_extent().x1 <= width, figure.name
            for axis in picture.axes:
                box = axis.get_tightbbox()
                assert -1 <= box.x0 < box.x1 <= width + 1, figure.name
                assert axis.get_window_extent().width > 0.3 * width, figure.name


def _picture(figure, paper):
    """The picture of a figure before it is a file."""
    kept = []
    savefig = mpl.figure.Figure.savefig
    mpl.figure.Figure.savefig = lambda self, buffer, **how: (kept.append(self), savefig(self, buffer, **how))
    try:
        drawn(figure, paper)
    finally:
        mpl.figure.Figure.savefig = savefig
    return kept[0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kind": "gif"}, "figures: found 'gif'; needs pdf, svg or png"),
        ({"width": "3 parsec"}, "width: found '3 parsec'; needs a length of 1.5 to 40 in"),
        ({"width": "0.1in"}, "width: found '0.1in'"),
        ({"width": -1}, "width: found -1"),
        ({"font_size": 0.5}, "font size: found 0.5; needs 4 to 40 points"),
        ({"font_size": "big"}, "font size: found 'big'"),
        ({"metrics": ["speed"]}, "metrics: found 'speed'; needs one of airtime, delay,"),
        ({"metrics": []}, "metrics: found none"),
    ],
)
def test_what_cannot_be_a_figure_is_said(comparison, tmp_path, given, said):
    with pytest.raises(UserError, match=re.escape(said)):
        comparison.figures(tmp_path / "none", **given)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("width", "inches"), [("3.5in", 3.5), (" 8.89 cm", 3.5), ("88.9mm", 3.5), ("252pt", 3.5), (3.5, 3.5), ("4", 4)]
)
def test_widths_have_units(width, inches):
    assert Paper.of("pdf", width, None).width == pytest.approx(inches)


def test_charts_are_drawn_on_axes_of_a_script(comparison, axes):
    from matplotlib import pyplot as plt

    plot = comparison.plot
    assert plot.delay_cdf(ax=axes) is axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["tcp-newreno", "recn", "one seed"]
    before = dict(mpl.rcParams)
    labels = {
        plot.delay_cdf(flow="long").get_xlabel(): "one-way delay [ms]",
        plot.goodput_delay().get_ylabel(): "goodput [Mb/s]",
        plot.metrics().get_ylabel(): "Total goodput [Mb/s]",
        plot.metrics("optimum_gap").get_ylabel(): "Gap to the optimum [%]",
        plot.flows().get_xlabel(): "goodput [Mb/s]",
        plot.losses().get_xlabel(): "data packets lost [%]",
        plot.over_time("window", flow="short").get_ylabel(): "window [kB]",
        multihop.run(CHAIN).plot.over_time().get_xlabel(): "time [s]",
    }
    assert [found.replace("\n", " ") for found in labels] == list(labels.values())
    assert dict(mpl.rcParams) == before, "settings of the script stay"
    plt.close("all")


def test_the_picture_of_runs_is_goodput_against_delay_or_over_time():
    from matplotlib import pyplot as plt

    assert multihop.run(CHAIN).plot().get_xlabel() == "95th percentile of one-way delay [ms]"
    one = multihop.run(CHAIN, set={"flows.length": 1})
    assert one.plot().get_xlabel() == "time [s]"
    rtt = multihop.run(CHAIN).plot.over_time("rtt")
    assert rtt.get_legend().get_title().get_text() == "long", "one of several flows is named"
    plt.close("all")


def test_a_notebook_shows_pictures_after_the_first_one(tmp_path):
    # As the backend of notebooks does: it turns interactive mode on when the first figure loads it.
    backend = "from matplotlib.backends.backend_agg import *\nimport matplotlib\nmatplotlib.interactive(True)\n"
    (tmp_path / "of_a_notebook.py").write_text(backend)
    code = f"import multihop, matplotlib\nmultihop.run({CHAIN!r}).plot()\nprint(matplotlib.is_interactive())"
    path = os.pathsep.join([str(tmp_path), str(Path(multihop.__file__).parents[1])])
    environment = {**os.environ, "MPLBACKEND": "module://of_a_notebook", "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda plot: plot.metrics("speed"), "metric: found 'speed'; needs one of goodput_total_bps"),
        (lambda plot: plot.over_time("speed"), "quantity: found 'speed'; needs one of goodput, rtt, window"),
        (lambda plot: plot.delay_cdf(flow="nobody"), "flow: found 'nobody'; needs one of long, short"),
        (lambda _: multihop.run(CHAIN).plot.metrics(), "nothing to draw: one scheme has nothing"),
    ],
)
def test_what_cannot_be_drawn_is_said(comparison, draw, said):
    with pytest.raises(UserError, match=re.escape(said)):
        draw(comparison.plot)


def test_more_schemes_than_colours_differ_by_dashes_and_hatching():
    from multihop.report.charts.figures import looks

    made = looks([f"s{number}" for number in range(2 * len(PALETTE) + 1)])
    assert len(set(made.values())) == len(made)


def test_many_flows_are_lines_sorted_by_goodput(axes):
    flows = "".join(
        f'[[flows]]\nname = "f{number}"\nfrom = "n{number % 4}"\nto = "n{(number + 1) % 4}"\nscheme = "udp"\n'
        for number in range(21)
    )
    text = CHAIN[: CHAIN.index("[[flows]]")] + flows
    comparison = multihop.compare(text, ["udp", "tcp-newreno"], seeds=1, duration="2 s")
    figure = bars.flow_goodput(comparison)
    assert [key.name for key in figure.keys] == ["udp", "tcp-newreno", "fair optimum"]
    figure.facets[0].draw(Notes(), axes)
    solid = [line for line in axes.lines if line.get_linewidth() == 2]
    assert all(np.all(np.diff(line.get_ydata()) >= 0) for line in solid)
    assert len(times.over_time(comparison, times.QUANTITIES["goodput"]).facets) == 6


def command(*words):
    from typer.testing import CliRunner

    from multihop.cli.app import app

    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def chain(tmp_path):
    path = tmp_path / "chain.toml"
    path.write_text(CHAIN)
    return path


def test_compare_and_run_write_figures_beside_the_tables(chain, tmp_path):
    out = tmp_path / "out"
    asked = ["--figures", "pdf", "--width", "3.5in", "--font-size", "8", "--metrics", "goodput, delay", "--out", out]
    done = command("compare", chain, "--schemes", "udp,tcp-newreno", "--seeds", "2", "--duration", "2 s", *asked)
    assert done.exit_code == 0, done.output
    names = ["delay-cdf", "goodput-delay", "goodput-flows", "goodput-time", "metrics", "rtt-time"]
    assert sorted(path.name for path in (out / "figures").iterdir()) == [f"{name}.pdf" for name in names]
    assert f"figures: {out}/figures (goodput-delay.pdf, " in done.output.replace("\n", "")
    alone = tmp_path / "alone"
    done = command("run", chain, "--figures", "svg", "--metrics", "window", "--duration", "2 s", "--out", alone)
    assert done.exit_code == 0, done.output
    assert [path.name for path in (alone / "figures").iterdir()] == ["window-time.svg"]


def test_what_runs_do_not_have_is_said_and_is_no_error(chain, tmp_path):
    out = ["--out", tmp_path / "out", "--quiet"]
    done = command("run", chain, "--figures", "svg", "--metrics", "stall", "--duration", "2 s", *out)
    assert done.exit_code == 0, done.output
    assert "no figure: these runs have no data for --metrics" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--figures", "pdf"], "--figures: figures go to the directory of the results; add --out DIR"),
        (["--figures", "gif", "--out", "o"], "--figures: found 'gif'; needs pdf, svg or png"),
        (["--width", "3in"], "--width: found without --figures; needs --figures pdf, svg or png"),
        (["--figures", "pdf", "--out", "o", "--width", "3ft"], "--width: found '3ft'; needs a length of 1.5 to 40 in"),
        (["--figures", "pdf", "--out", "o", "--font-size", "400"], "--font-size: found 400.0; needs 4 to 40 points"),
        (["--figures", "pdf", "--out", "o", "--metrics", "jitter"], "--metrics: found 'jitter'; needs one of airtime"),
    ],
)
def test_options_of_figures_that_make_no_sense_are_refused_before_anything_runs(
    chain, tmp_path, monkeypatch, words, said
):
    monkeypatch.chdir(tmp_path)
    done = command("compare", chain, "--schemes", "udp,tcp-newreno", *words)
    assert done.exit_code != 0
    assert said in str(done.exception)
    assert not (tmp_path / "o").exists()
