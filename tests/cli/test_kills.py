"""Commands that are killed or terminated, at whatever instant, go on to the same bytes as if they had not been.

Here at three instants, one after the other. `make faults` sets MULTIHOP_INSTANTS=20: then each command is ended once at
each of 20 instants, spread over its length, by each signal, and a table says what was there each time.
"""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import CHAIN
from studies import STUDY, contents, places, write_study

#: The command line, with a league of its first network only.
LEAGUE = """
import multihop.league as league
from multihop.cli import main
networks = league.networks
league.networks = lambda mesh: networks(mesh)[:1]
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


@pytest.fixture(scope="module", params=COMMANDS)
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
