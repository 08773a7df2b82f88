"""Commands that are killed or terminated, at whatever instant, go on to the same bytes as if they had not been.

Here at three instants, one after the other. `make faults` sets MULTIHOP_INSTANTS=20: then each command is ended once at
each of 20 instants, spread over its length, by each signal, and a table says what was there each time.

Commands that do not go on leave each file whole or not at all, and say which. Here one signal comes to each.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import CHAIN
from studies import STUDY, contents, places, write_study

#: The command line, with a league of its first network only, alone and beside another scheme.
LEAGUE = """
import multihop.leagues as league
from multihop.cli import main
from multihop.leagues import coexistence
networks, beside = league.networks, coexistence.networks
league.networks = lambda mesh: networks(mesh)[:1]
coexistence.networks = lambda: beside()[:1]
main()
"""

#: Tiny ones, each with what makes them tiny. All write to the folder `out`.
COMMANDS = {
    "study": ("-m", "multihop", "study", "run", "small.toml"),
    "compare": ("-m", "multihop", "compare", "chain.toml", "--schemes", "tcp-newreno,recn", "--duration", "40 s"),
    "league": ("-c", LEAGUE, "league", "--schemes", "tcp-newreno,recn", "--seeds", "2", "--quick"),
    "reproduce": ("-m", "multihop", "reproduce", "winf/overhead", "--quick"),
}
SIGNALS = (signal.SIGKILL, signal.SIGTERM)
INSTANTS = int(os.environ.get("MULTIHOP_INSTANTS", "0"))


@dataclass(frozen=True)
class Whole:
    """What a command leaves that is not ended, and how long it takes."""

    files: dict[str, bytes]
    out: str
    seconds: float


@pytest.fixture(
    scope="module",
    params=[name if name == "study" else pytest.param(name, marks=pytest.mark.long) for name in COMMANDS],
)
def command(request):
    return request.param


@pytest.fixture(scope="module")
def whole(command, tmp_path_factory):
    folder = tmp_path_factory.mktemp(command)
    began = time.monotonic()
    out = finish(begin(command, folder))
    return Whole(contents(folder / "out"), out, time.monotonic() - began)


@pytest.mark.skipif(INSTANTS > 0, reason="each instant is tried by itself")
def test_what_is_ended_three_times_goes_on_to_the_same_bytes(tmp_path, command, whole):
    for share, how in ((0.5, signal.SIGKILL), (0.6, signal.SIGTERM), (0.9, signal.SIGKILL)):
        end(begin(command, tmp_path), whole.seconds * share, how)
    assert finish(begin(command, tmp_path)) == whole.out
    assert contents(tmp_path / "out") == whole.files


@pytest.mark.skipif(INSTANTS == 0, reason="takes long: make faults")
@pytest.mark.parametrize("how", SIGNALS)
def test_ended_at_each_instant_it_goes_on_to_the_same_bytes(tmp_path, command, whole, how, capsys):
    total = sum(len(Path(name).name) == 64 for name in whole.files)
    kept, same, late = [], 0, 0
    for instant in range(INSTANTS):
        folder = tmp_path / str(instant)
        folder.mkdir()
        process = begin(command, folder)
        late += end(process, whole.seconds * (instant + 0.5) / INSTANTS, how)
        kept.append(sum(len(places(store.parent)) for store in (folder / "out").rglob("runs")))
        assert finish(begin(command, folder)) == whole.out
        same += contents(folder / "out") == whole.files
    with capsys.disabled():
        print(f"\n| {command} | {how.name} | {INSTANTS} | {late} | {kept} of {total} | {same} of {INSTANTS} |")
    assert same == INSTANTS


def begin(command: str, folder: Path) -> subprocess.Popen:
    # Long enough that most instants are within runs.
    write_study(folder, STUDY.replace("seeds = 3", 'seeds = 5\nset = { duration = "40 s" }'))
    (folder / "chain.toml").write_text(CHAIN)
    return subprocess.Popen(
        [sys.executable, *COMMANDS[command], "--out", "out"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )


def end(process: subprocess.Popen, seconds: float, how: signal.Signals) -> bool:
    """Sends the signal after a while; whether it came too late. Whatever was said is one message."""
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(how)
    _, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    if process.returncode == 143:
        assert err.splitlines()[-1].startswith("multihop: terminated; "), err
    else:
        # Before the command has begun to do anything it is the system that ends it.
        assert process.returncode in {0, -how}, err
    return process.returncode == 0


def finish(process: subprocess.Popen) -> str:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out


#: Every command that writes files and does not go on, with what it reads.
WRITERS = {
    "run": ["run", "chain.toml", "--pcap", "out/r.pcapng", "--frames", "out/r.frames", "--report", "out/r.html"],
    "results": ["run", "chain.toml", "--out", "out"],
    "frames": ["compare", "chain.toml", "--schemes", "udp,recn", "--seeds", "1", "--out", "out", "--frames", "1"],
    "replay": ["replay", "r.journal", "--out", "out"],
    "explain": ["explain", "results", "--no-try", "--report", "out/e.html"],
    "measure": ["measure", "r.pcapng", "--out", "out"],
    "measured frames": ["measure", "r.pcapng", "--frames", "out/m.frames"],
    "view": ["view", "r.frames", "--out", "out/v.html"],
    "trace": ["view", "r.frames", "--perfetto", "out/t.json"],
    "import": ["import", "mesh.csv", "--out", "out/mesh.toml"],
    "export": ["export", "results", "--as", "iperf3", "--out", "out/iperf3.json"],
    "init": ["init", "out"],
    "study report": ["study", "report", "study", "--to", "out/page.html"],
    "study export": ["study", "export", "study", "--to", "out"],
}

#: The share of a command's time after which each signal comes. Files are written late.
QUICK = {signal.SIGINT: 0.8, signal.SIGTERM: 0.9, signal.SIGKILL: 0.95}

JOURNAL = {"scenario": CHAIN, "origin": "chain.toml", "overrides": {"external": "beside", "seed": 1}, "engine": "any"}


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """A folder with what the commands read."""
    folder = tmp_path_factory.mktemp("read")
    (folder / "chain.toml").write_text(CHAIN)
    (folder / "mesh.csv").write_text("source,target,delivery\na,b,0.9\nb,a,0.9\nb,c,0.9\nc,b,0.9\n")
    (folder / "r.journal").write_text(f"multihop journal 2: {json.dumps(JOURNAL)}\n")
    write_study(folder)
    for words in (
        ["run", "chain.toml", "--pcap", "r.pcapng", "--frames", "r.frames"],
        ["run", "chain.toml", "--out", "results"],
        ["study", "run", "small.toml", "--out", "study"],
    ):
        finish(started(words, folder))
    return folder


@pytest.fixture(scope="module")
def written(request, read, tmp_path_factory):
    """A command, and what it leaves that is not ended."""
    folder = tmp_path_factory.mktemp("written")
    shutil.copytree(read, folder, dirs_exist_ok=True)
    began = time.monotonic()
    out = finish(started(WRITERS[request.param], folder))
    files = files_in(folder / "out")
    assert files
    return WRITERS[request.param], Whole(files, out, time.monotonic() - began)


@pytest.mark.parametrize("how", QUICK)
@pytest.mark.parametrize("written", WRITERS, indirect=True)
def test_a_command_that_is_ended_leaves_whole_files_and_says_which(tmp_path, read, written, how):
    words, whole = written
    turn = list(WRITERS.values()).index(words) % len(QUICK)
    if not INSTANTS and list(QUICK)[turn] != how:
        pytest.skip("each command by each signal: make faults")
    shares = [(instant + 0.5) / INSTANTS for instant in range(INSTANTS)] or [QUICK[how]]
    for number, share in enumerate(shares):
        folder = tmp_path / str(number)
        shutil.copytree(read, folder)
        process = started(words, folder)
        is_late = ended(process, whole.seconds * share, how)
        left = files_in(folder / "out")
        parts = {name for name in left if any(part.endswith(".part") for part in Path(name).parts)}
        marks = {name for name in left if any(part.startswith(".") for part in Path(name).parts)}
        shown = {name for name in left if "store/" not in name} - marks
        for name in shown:
            assert left[name] == whole.files[name], f"{name} is not whole"
        err = process.stderr.read()
        if "Traceback" in err and "/multihop/cli/" not in err and process.returncode != 0:
            assert not left, "the interpreter was interrupted before a line of ours"
            continue
        assert "Traceback" not in err
        if how == signal.SIGKILL or is_late:
            continue
        assert not parts
        assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[how] or process.returncode == -how
        said = err.splitlines()[-1] if err else ""
        if process.returncode == -how:
            assert not left, "the system has ended the interpreter before a line of ours"
        elif "nothing was written" in said:
            assert not left
        elif "kept in" not in said:
            count = re.search(r"(\d+) complete files? (?:was|were) written", said)
            assert count is not None, said
            outputs = {output_of(name) for name in shown}
            assert int(count[1]) == len(outputs), f"{said}\n{sorted(outputs)}"


def output_of(name: str) -> str:
    """The output that a file is, or is in: a frame log is a folder."""
    return next((up.as_posix() for up in Path(name).parents if up.suffix == ".frames"), name)


def started(words: list[str], folder: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "multihop", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )


def ended(process: subprocess.Popen, seconds: float, how: signal.Signals) -> bool:
    """Sends the signal after a while; whether it came too late."""
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(how)
    return process.wait(timeout=60) == 0


def files_in(folder: Path) -> dict[str, bytes]:
    """All files of a folder, which may not be there."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
