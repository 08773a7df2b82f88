"""Every option of every command, by the parser, with values that are none: exit code 2, one message, no traceback."""

import shutil
import subprocess
import sys

import pytest
import typer

from conftest import CHAIN
from multihop.cli.app import _COMMANDS, app
from studies import write_study

#: What is given to each option that takes a value.
VALUES = ["1e300", "-1", "99999999999999999999999", "nan", "inf", "-inf", "", "_1", "1_", "1__0", "0x10", "1e-400"]
VALUES += [
    "_1 s",
    "-1 s",
    "1e300 s",
    "nan s",
    "0 s, 1e300 s",
    "_1 s, 2 s",
    "2 s, 1 s",
    "1 s, 2 s, 3 s",
    ",",
    "=",
    "[[",
    "\ud800",
]

#: Commands with the arguments that they need, as far as they can be tried: each fails or ends within a second.
ARGUMENTS = {
    "run": ["run", "chain.toml"],
    "compare": ["compare", "chain.toml", "--schemes", "udp"],
    "replay": ["replay", "chain.toml"],
    "explain": ["explain", "results"],
    "reproduce": ["reproduce", "winf/overhead", "--quick"],
    "league": ["league", "--schemes", "nothing"],
    "when": ["when", "--schemes", "nothing"],
    "bound": ["bound", "chain.toml"],
    "optimum": ["optimum", "chain.toml"],
    "measure": ["measure", "run.pcapng", "--frames", "m.frames"],
    "view": ["view", "run.frames"],
    "import": ["import", "mesh.csv", "--out", "made.toml"],
    "export": ["export", "results", "--as", "iperf3"],
    "check": ["check", "chain.toml"],
    "list": ["list", "schemes"],
    "schema": ["schema"],
    "dissector": ["dissector"],
    "init": ["init", "examples"],
    "doctor": ["doctor"],
    "study run": ["study", "run", "small.toml"],
    "study status": ["study", "status", "done"],
    "study report": ["study", "report", "done"],
    "study export": ["study", "export", "done"],
    "study schema": ["study", "schema"],
}

#: Options that mean something else, or whose values are any text.
TEXT = {"--name", "--dask"}


def commands():
    """Each command with its parameters, as the parser knows them."""
    for name in _COMMANDS:
        command = typer.main.get_group(app).commands[name].load()
        for sub, one in getattr(command, "commands", {"": command}).items():
            yield f"{name} {sub}".strip(), one.params


def options():
    """Each option of each command that takes a value, by its longest name."""
    for command, params in commands():
        for param in params:
            name = max(param.opts, key=len)
            if name.startswith("-") and not getattr(param, "is_flag", False) and name not in TEXT:
                yield command, name


OPTIONS = sorted(set(options()))

#: Options whose every value makes a report or a folder anew.
LONG = {
    ("explain", "--report"),
    ("measure", "--out"),
    ("reproduce", "--out"),
    ("study export", "--to"),
    ("study report", "--to"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with what the commands read."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "chain.toml").write_text(CHAIN.replace('"5 s"', '"1 s"').replace('warmup = "1 s"', 'warmup = "0 s"'))
    (folder / "mesh.csv").write_text("source,target,delivery\na,b,0.9\nb,a,0.9\nb,c,0.9\nc,b,0.9\n")
    write_study(folder)
    for words in (
        ["run", "chain.toml", "--pcap", "run.pcapng", "--frames", "run.frames"],
        ["run", "chain.toml", "--out", "results"],
        ["study", "run", "small.toml", "--out", "done"],
    ):
        done = subprocess.run([sys.executable, "-m", "multihop", *words], cwd=folder, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    return folder


def test_every_command_is_tried():
    there = {name for name, _ in commands()}
    assert there - ARGUMENTS.keys() == {"emulate"}, "emulations need root and namespaces"
    assert len(OPTIONS) > 100


def usual(inline, words):
    """What a command did: done, or refused with one message; never a bug of ours."""
    done = inline(*words)
    said = f"{words}: {done.code}\n{done.out[-500:]}\n{done.err}"
    assert done.code in {0, 1, 2}, said
    assert "Traceback" not in done.err, said
    assert "internal error" not in done.err, said
    if done.code == 2:
        last = done.err.splitlines()[-1]
        assert last.startswith("multihop: "), said
        assert len(last) < 1000, said
    return done


@pytest.mark.parametrize(
    ("command", "option"), [pytest.param(*pair, marks=[pytest.mark.long] if pair in LONG else []) for pair in OPTIONS]
)
def test_no_value_of_an_option_is_a_bug(inline, tmp_path, made, monkeypatch, command, option):
    if command == "emulate":
        pytest.skip("needs root and namespaces")
    # What works is not to be made over and over.
    monkeypatch.setattr("multihop.api.run_variants", nothing)
    monkeypatch.setattr("multihop.cli.studies.simulate", nothing)
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    for value in VALUES:
        usual(inline, [*ARGUMENTS[command], f"{option}={value}"])
    assert usual(inline, [*ARGUMENTS[command], option, ""]).code == 2


def nothing(*_, **__):
    from multihop.base.errors import UserError

    raise UserError("not run")


#: Numbers that must be refused: the command with its option, and each value.
REFUSED = {
    ("measure", "--interface"): ["-1", "99999999999999999999999", "1.5", "nan", "_1"],
    ("measure", "--channel"): ["-1", "70000", "99999999999999999999999"],
    ("measure", "--between"): ["0 s, 1e300 s", "_1 s, 2 s", "-1 s, 2 s", "2 s, 1 s", "nan s, 1 s", "1, 2", "1 s"],
    ("measure", "--bin"): ["1e300 s", "_1 s", "-1 s", "0 s", "nan s", "1"],
    ("view", "--between"): ["0 s, 1e300 s", "_1 s, 2 s", "-1 s, 2 s"],
    ("view", "--interface"): ["-1", "0"],
    ("run", "--between"): ["0 s, 1e300 s", "_1 s, 2 s", "-1 s, 2 s"],
    ("run", "--seed"): ["-1", "99999999999999999999999", "1e3", "nan", ""],
    ("run", "--seeds"): ["-1", "0", "99999999999999999999999"],
    ("run", "--jobs"): ["-1", "0", "99999999999999999999999"],
    ("run", "--duration"): ["1e300 s", "_1 s", "-1 s", "nan s", "inf s", "0 s"],
    ("run", "--record-interval"): ["1e300 s", "_1 s", "-1 s", "nan s", "0 s"],
    ("compare", "--frames"): ["-1", "99999999999999999999999"],
    ("import", "--flows"): ["-1", "0", "99999999999999999999999"],
    ("import", "--min-delivery"): ["nan", "inf", "-1", "2"],
    ("import", "--assume-delivery"): ["nan", "inf", "-1", "2"],
    ("import", "--range"): ["nan", "inf", "-1", "0", "1e300"],
    ("import", "--noise-level"): ["nan", "inf"],
    ("import", "--clients"): ["-1", "0", "99999999999999999999999"],
    ("optimum", "--weights"): ["a=nan", "long=inf", "long=-1", "long=_1"],
}


@pytest.mark.parametrize(("command", "option"), REFUSED)
def test_numbers_without_a_meaning_are_refused(inline, tmp_path, made, command, option):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    more = {"run": ["--frames", "x.frames"] if option == "--between" else [], "compare": ["--out", "o"]}
    for value in REFUSED[command, option]:
        done = usual(inline, [*ARGUMENTS[command], *more.get(command, []), f"{option}={value}"])
        assert done.code == 2, f"{option}={value}: {done.out[-300:]}{done.err}"
        assert len(done.err.splitlines()) == 1, done.err


#: The same of emulations, which would take over this process.
REFUSED_BY_EMULATIONS = {
    "--seed": ["-1", "99999999999999999999999"],
    "--duration": ["1e300 s", "_1 s", "-1 s", "0 s"],
    "--record-interval": ["nan s", "0 s"],
    "--slow": ["-1", "nan", "1e300"],
    "--max-lag": ["-1 ms", "_1 s"],
    "--uplink": ["-1"],
}


@pytest.mark.parametrize("option", REFUSED_BY_EMULATIONS)
def test_numbers_without_a_meaning_are_refused_by_emulations(multihop, chain, option):
    for value in REFUSED_BY_EMULATIONS[option]:
        done = multihop("emulate", chain, f"{option}={value}", "--", "true")
        assert done.code == 2, f"{option}={value}: {done.out[-300:]}{done.err}"
        assert len(done.err.splitlines()) == 1, done.err
