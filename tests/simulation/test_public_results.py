"""What scripts hold: functions in the words of the commands, and results that show themselves in a few lines."""

import inspect
import io
import json
import pickle
from datetime import timedelta

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import typer
from matplotlib import pyplot as plt
from rich.console import Console

import multihop
import multihop.leagues.when
from conftest import CHAIN
from multihop import UserError, leagues
from multihop.base import extras
from multihop.base.display import MOST_CHARACTERS, MOST_LINES, Overview
from multihop.cli import app
from multihop.leagues import coexistence
from multihop.simulation.scenario import time_text

mpl.use("Agg")

MESH = "source,target,delivery\na,b,0.9\nb,a,0.9\nb,c,0.9\nc,b,0.9\n"

#: Options that say where and how a command prints.
PRINTING = {"out", "report", "json", "quiet", "help"}
#: Arguments that only a script has.
OF_SCRIPTS = {"on_tick", "simulate"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("results")
    (made / "chain.toml").write_text(CHAIN)
    (made / "mesh.csv").write_text(MESH)
    return made


@pytest.fixture(scope="module")
def results(folder):
    """One of every public result."""
    run = multihop.run(CHAIN, pcap=folder / "run.pcapng", frames=folder / "run.frames")
    compared = multihop.compare(CHAIN, ["recn", "tcp-sack"], seeds=2)
    compared.save(folder / "compared")
    study = multihop.Study(name="s", scenario="chain.toml", factors={"scheme": ["recn", "udp"]}, seeds=2)
    study._directory = folder
    return {
        "Result": run,
        "Comparison": compared,
        "Run": multihop.Run(CHAIN),
        "Study": study,
        "StudyResult": study.run(folder / "study"),
        "Explanation": multihop.explain(folder / "compared", "long", no_try=True, seeds=1),
        "Bound": multihop.bound(CHAIN),
        "Optimum": multihop.optimum(CHAIN),
        **_first_networks(folder),
        "ImportedMesh": multihop.import_mesh(folder / "mesh.csv"),
        "Measurement": multihop.measure(folder / "run.pcapng"),
        "log of a capture": multihop.capture_frames(folder / "run.pcapng", folder / "captured.frames"),
        "check": multihop.check(CHAIN),
        "schema": multihop.schema(),
        "catalogue": multihop.catalogue(),
    }


def _first_networks(folder):
    """A league and a study of regimes, each of its first network alone."""
    networks, regimes, beside = leagues.networks, leagues.when.regimes, coexistence.networks
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leagues, "networks", lambda mesh: networks(mesh)[:1])
        patch.setattr(coexistence, "networks", lambda: beside()[:1])
        patch.setattr(leagues.when, "regimes", lambda **options: regimes(**options)[:1])
        return {
            "League": multihop.league(schemes=["udp"], seeds=1, quick=True, out=folder / "league"),
            "When": multihop.when(schemes=["recn", "tcp-sack"], seeds=2, quick=True, out=folder / "when"),
        }


def test_every_public_class_is_tried(results):
    classes = {name for name in multihop.__all__ if inspect.isclass(getattr(multihop, name))}
    assert classes - {"CallbackError", "Controller", "Estimator", "RouterPolicy", "ScenarioError", "UserError"} <= set(
        results
    )


def test_every_result_shows_itself_in_ten_lines(results):
    for name, result in results.items():
        shown = repr(result)
        lines = shown.splitlines()
        assert 1 <= len(lines) <= MOST_LINES, (name, shown)
        assert max(map(len, lines)) <= MOST_CHARACTERS, (name, shown)
        assert "object at 0x" not in shown


def test_every_result_shows_itself_in_notebooks_and_terminals(results):
    for name, result in results.items():
        page = result._repr_html_()
        assert page.startswith("<div><b>"), name
        out = io.StringIO()
        Console(file=out, width=100).print(result)
        title = result.overview().title
        assert out.getvalue().replace("\n", " ").startswith(title[:60]), name


#: Results without a picture: a run and a study before their results.
WITHOUT_PICTURE = {"Run", "Study"}


@pytest.mark.parametrize("name", sorted(name for name in multihop.__all__ if hasattr(getattr(multihop, name), "plot")))
def test_every_result_draws_itself_at_paper_width_or_where_asked(results, name):
    new = results[name].plot()
    assert isinstance(new, mpl.axes.Axes)
    assert new.figure.get_figwidth() == 3.5
    assert new.xaxis.label.get_fontsize() == 8
    assert new.has_data()
    figure, (left, right) = plt.subplots(1, 2)
    assert results[name].plot(ax=right) is right
    assert right.has_data()
    assert not left.has_data()
    assert figure.get_figwidth() != 3.5, "settings of the reader stay"
    plt.close("all")


def test_every_result_has_a_picture(results):
    classes = {name for name in results if inspect.isclass(getattr(multihop, name, None))}
    assert {name for name in classes if not hasattr(results[name], "plot")} == WITHOUT_PICTURE


def test_a_picture_without_matplotlib_is_an_error_that_names_it(results, monkeypatch):
    monkeypatch.setitem(extras.EXTRAS, "report", ("no_such_module",))
    for name in results:
        if inspect.isclass(getattr(multihop, name, None)) and name not in WITHOUT_PICTURE:
            with pytest.raises(UserError, match=r"^plot needs no_such_module, which is not installed; pip install"):
                results[name].plot()


def test_pictures_are_chosen_by_name(results):
    study, when, measured = results["StudyResult"], results["When"], results["Measurement"]
    assert study.plot("Fairness (Jain index)").get_ylabel() == study.plot(1).get_ylabel() == "Fairness (Jain index)"
    assert when.plot("delay").images[0].get_array().shape[0] == len(when.networks)
    assert measured.plot(sniffer=measured.sniffers[1]).get_ylabel() == "share of airtime"
    plt.close("all")
    for call, says in [
        (lambda: study.plot("x"), "chart: found 'x'; needs a place from 0, or one of Total goodput; Fairness"),
        (lambda: study.plot(3), "chart: found 3; needs a place"),
        (lambda: study.plot(panel="x"), "panel: found 'x'; the chart has no panels"),
        (lambda: when.plot("speed"), "metric: found 'speed'; needs one of goodput, delay, jain"),
    ]:
        with pytest.raises(UserError, match=says):
            call()


def test_what_is_shown_acts_on_neither_terminal_nor_page():
    evil = Overview("a\x1b[31m<script>", ["<b>"], [["x\x07&"]], ["\u202ey"])
    assert "\x1b" not in evil.text("T")
    assert "\x07" not in evil.text("T")
    assert "<script>" not in evil.html()
    out = io.StringIO()
    Console(file=out).print(evil.rich())
    assert not {"\x1b", "\x07", "\u202e"} & set(out.getvalue())


def test_long_tables_are_cut_and_counted():
    rows = [[f"row {number}", "1"] for number in range(100)]
    shown = Overview("t", ["", "n"], rows).text("T").splitlines()
    assert len(shown) == MOST_LINES
    assert shown[-1] == "... and 93 more rows"
    assert "... and 70 more rows" in Overview("t", ["", "n"], rows).html()


def test_plain_data_is_a_dictionary(results):
    view = results["check"]
    assert json.loads(json.dumps(view)) == json.loads(json.dumps(dict(view)))
    assert pickle.loads(pickle.dumps(view)) == view


def test_new_results_have_data_frames(results):
    explained = results["Explanation"]
    assert list(explained.flows.columns)[:3] == ["flow", "name", "status"]
    assert {"flow", "kind", "score"} <= set(explained.causes)
    assert len(explained.hops) > 0
    assert isinstance(explained.remedies, pd.DataFrame)
    assert explained.sentences("long")
    with pytest.raises(UserError, match="flow: found 'x'; explained are: long"):
        explained.sentences("x")
    league = results["League"]
    assert set(league.standings["scheme"]) == {"udp"}
    assert len(league.runs) == len(league.networks)
    assert league.advice() == []
    assert set(league.shares["rival"]) == {"tcp-cubic", "tcp-bbr"}
    assert list(league.worst["scheme"]) == ["udp"]
    assert list(results["When"].winners)[:3] == ["regime", "class", "metric"]
    mesh = results["ImportedMesh"]
    assert sorted(mesh.nodes["name"]) == ["a", "b", "c"]
    assert (mesh.links["delivery"] > 0.85).all()
    assert len(mesh.flows["path"][0]) >= 2
    assert multihop.check(mesh.text)["name"] == "mesh"


def test_results_are_written_where_asked(results, tmp_path):
    assert (results["League"].save(tmp_path / "l") / "league.md").exists()
    assert results["When"].save(tmp_path / "w").name == "when.md"
    assert results["ImportedMesh"].save(tmp_path / "m.toml").read_text() == results["ImportedMesh"].text
    assert results["Explanation"].report(tmp_path / "e.html").exists()


@pytest.mark.parametrize("name", ["explain", "league", "when", "import_mesh"])
def test_functions_have_the_options_of_their_commands(name):
    command = typer.main.get_group(app.app).commands[name.removesuffix("_mesh")].load()
    options = {}
    for parameter in command.params:
        longest = max(parameter.opts, key=len)
        option = longest.removeprefix("--").replace("-", "_") if longest.startswith("--") else parameter.name
        options[option] = parameter.default
    ours = {key: parameter.default for key, parameter in inspect.signature(getattr(multihop, name)).parameters.items()}
    printing = PRINTING - ({"out"} if name in {"league", "when"} else set())
    assert set(options) - printing == set(ours) - OF_SCRIPTS
    for word, default in ours.items():
        if word not in OF_SCRIPTS | {"results", "file"}:
            assert str(options[word]) == str(default) or not (options[word] or default), word


def test_wrong_arguments_are_user_errors(folder):
    for call, says in [
        (lambda: multihop.explain(folder / "chain.toml"), "run it first"),
        (lambda: multihop.explain(folder / "none"), "no such folder"),
        (lambda: multihop.explain(folder, jobs=0), "--jobs: found 0"),
        (lambda: multihop.league(schemes="udp"), "found the text 'udp'; needs a list"),
        (lambda: multihop.league(seeds=0), "--seeds: found 0"),
        (lambda: multihop.when(schemes=["recnn"]), 'did you mean "recn"'),
        (lambda: multihop.import_mesh(folder / "none.csv"), "no such file"),
        (lambda: multihop.import_mesh(folder / "mesh.csv", gateways="a,b"), r"needs a list, as in \['a', 'b'\]"),
        (lambda: multihop.import_mesh(folder / "mesh.csv", duration=-1), "duration: found -1; needs seconds"),
    ]:
        with pytest.raises(UserError, match=says):
            call()


# Times


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (30, "30 s"),
        (30.0, "30 s"),
        (0.25, "0.25 s"),
        (1e-5, "0.00001 s"),
        (np.float32(0.5), "0.5 s"),
        (np.int64(7), "7 s"),
        (timedelta(minutes=1), "60 s"),
        ("2 min", "2 min"),
    ],
)
def test_numbers_are_seconds(given, text):
    assert time_text("duration", given) == text


@pytest.mark.parametrize("given", [True, float("nan"), float("inf"), -1, [3], b"3 s"])
def test_what_is_no_time_is_refused(given):
    for call in (multihop.run, multihop.check, multihop.Run, multihop.bound):
        if call is not multihop.bound:
            with pytest.raises(UserError, match="needs seconds, or text with a unit"):
                call(CHAIN, duration=given)


def test_a_run_of_seconds_is_the_run_of_text():
    numbers = multihop.run(CHAIN, duration=3, warmup=0.5, record_interval=1)
    text = multihop.run(CHAIN, duration="3 s", warmup="0.5 s", record_interval="1 s")
    assert numbers.summary == text.summary
    assert numbers.overrides == text.overrides
    assert multihop.compare(CHAIN, ["recn"], seeds=1, duration=3).command.endswith("--duration '3 s'")
    assert multihop.Run(CHAIN, duration=3).duration_s == 3.0


def test_keys_are_values_of_scenarios_and_say_what_would_do():
    with pytest.raises(multihop.ScenarioError, match=r'found the number 30; expected a time as text .* such as "1 s"'):
        multihop.run(CHAIN, set={"duration": 30})


# Arguments in the wrong order


def test_swapped_arguments_of_estimates_are_said(results):
    compared, study = results["Comparison"], results["StudyResult"]
    with pytest.raises(UserError, match="the variant is the first argument, the metric the second"):
        compared.estimate("goodput_total_bps", "recn")
    with pytest.raises(UserError, match="the point is the first argument, the metric the second"):
        study.estimate("goodput_total_bps", 0)
    for wrong in ((0, "nothing"), (9, "jain"), ([0], "jain"), (0, 0)):
        with pytest.raises(UserError):
            study.estimate(*wrong)
    for wrong in (("recn", "nothing"), ("recn", "fingerprint"), ("x", "y")):
        with pytest.raises(UserError):
            compared.estimate(*wrong)


def test_help_begins_with_the_functions():
    import pydoc

    text = pydoc.plain(pydoc.render_doc(multihop))
    described = text.partition("DESCRIPTION")[2].partition("PACKAGE CONTENTS")[0]
    functions = [name for name in multihop.__all__ if inspect.isfunction(getattr(multihop, name))]
    assert multihop.__all__[: len(functions)] == functions
    for name in functions:
        assert f"{name} " in described or f"`{name}`" in described, name
    assert described.index("run  ") < described.index(">>>")
