"""Several processes on one folder share its runs, and lose nothing when one is killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from multihop import Study
from multihop.simulation.reservations import Reservations

STUDY = """
name = "shared"
scenario = "chain.toml"
seeds = 12
[factors.hops]
key = "topology.hops"
values = [2, 3, 4, 5, 6]
[metrics.goodput]
column = "flows.goodput_bps"
reduce = "sum"
title = "Goodput"
unit = "kb/s"
better = "higher"
"""
CHAIN = """
duration = "{seconds} s"
topology = {{ generator = "chain", hops = 3 }}
flows = [{{ from = "n0", to = "n2", scheme = "tcp-newreno" }}]
"""
RUNS = 60


def started(folder):
    command = [sys.executable, "-m", "multihop", "study", "run", "study.toml", "--out", "out", "--jobs", "1"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "chain.toml").write_text(CHAIN.format(seconds=150))
    return tmp_path


def runs_in_shards(folder):
    """Number of runs in each shard, with repetitions."""
    mark = re.compile(rb"\x89run\r\n\x1a\n")
    return [len(mark.findall(path.read_bytes())) for path in sorted((folder / "out" / "runs").glob("*.shard"))]


def reserved(folder):
    """Keys of reserved runs."""
    return [path.name for path in (folder / "out" / "under-way").glob("*") if path.is_file()]


def finished_runs(folder):
    study = Study.load(folder / "study.toml")
    return sum(len(seeds) for seeds in study.result(folder / "out").seeds.values())


def test_two_processes_share_the_runs(folder):
    both = [started(folder) for _ in range(2)]
    for process in both:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0, out
    made = runs_in_shards(folder)
    assert finished_runs(folder) == RUNS
    assert RUNS <= sum(made) <= RUNS + 2, made
    assert len(made) == 2
    assert min(made) > RUNS / 5, made
    assert not (folder / "out" / "under-way").exists()


def test_a_killed_process_loses_nothing(folder, monkeypatch):
    first = started(folder)
    deadline = time.monotonic() + 60
    while not reserved(folder) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    assert reserved(folder), "it was making a run"
    monkeypatch.setattr(
        "multihop.simulation.store.Reservations", lambda folder: Reservations(folder, expire_after_s=1.0)
    )
    Study.load(folder / "study.toml").run(folder / "out", jobs=1)
    assert finished_runs(folder) == RUNS
    assert not (folder / "out" / "under-way").exists()


def test_a_reservation_is_of_one_process_until_it_expires(tmp_path):
    one, two = Reservations(tmp_path / "r"), Reservations(tmp_path / "r")
    assert one.take("a")
    assert one.take("b")
    assert not two.take("a")
    assert one.are_shared()
    one.release("a")
    assert two.take("a")
    # One is not renewed for an hour.
    (name,) = [path for path in (tmp_path / "r" / "processes").iterdir() if path.name == one._name]
    os.utime(name, (time.time() - 3600, time.time() - 3600))
    assert two.take("b")
    assert not two.are_shared()
    two.close()
    one.close()
    assert not (tmp_path / "r").exists()


def test_a_folder_that_cannot_be_written_reserves_nothing_and_stops_nobody(tmp_path):
    (tmp_path / "file").write_text("")
    reservations = Reservations(tmp_path / "file" / "r")
    assert reservations.take("a")
    reservations.close()
