"""A study that is interrupted, killed, run twice at once, or on a cluster: finished runs are kept, and none differs."""

import asyncio
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from multihop.experiments.clusters import executor_at
from multihop.experiments.studies import Study
from studies import STUDY, start, tree, wait_for_runs, write_study

#: A hundred runs that take a few seconds: time to be killed in.
LONG = STUDY.replace("seeds = 3", 'seeds = 25\nset = { duration = "30 s" }')
#: The same with more seeds than any machine runs before it is stopped.
ENDLESS = LONG.replace("seeds = 25", "seeds = 2000")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The study of a hundred runs, run without a break."""
    folder = tmp_path_factory.mktemp("whole")
    Study.load(write_study(folder, LONG)).run(folder / "out")
    runs = tree(folder / "out")
    assert len(runs) == 100
    return runs


def test_two_processes_may_run_the_same_study(tmp_path):
    write_study(tmp_path)
    both = [start("study", "run", "small.toml", "--out", "s", "-j", 1, cwd=tmp_path) for _ in range(2)]
    ended = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], ended
    assert ended[0][0] == ended[1][0]
    assert len(tree(tmp_path / "s")) == 12
    assert not list((tmp_path / "s").rglob("*.part"))


def assert_same_where_both(runs, whole):
    """`runs` of `ENDLESS` that `LONG` asks for too are those of `LONG`."""
    both = runs.keys() & whole.keys()
    assert len(both) >= 5
    assert all(runs[name] == whole[name] for name in both)


@pytest.mark.parametrize("times", [1, 3])
def test_ctrl_c_is_one_message_and_keeps_finished_runs(tmp_path, whole, times):
    write_study(tmp_path, ENDLESS)
    process = start("study", "run", "small.toml", "--out", "s", cwd=tmp_path)
    wait_for_runs(tmp_path / "s", 5, process)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    if times == 1:
        (line,) = err.splitlines()
        kept = len(tree(tmp_path / "s"))
        assert line.startswith(f"multihop: interrupted; {kept} finished runs are kept in s")
        assert line.endswith("to go on: multihop study run small.toml --out s")
    assert "Traceback" not in err
    assert not list((tmp_path / "s").rglob("*.part"))
    assert_same_where_both(tree(tmp_path / "s"), whole)


def test_killed_three_times_and_resumed_is_as_if_never_broken(tmp_path, whole):
    write_study(tmp_path, LONG)
    chance = random.Random()
    before = 0
    for kills in range(3):
        process = start("study", "run", "small.toml", "--out", "s", "-j", 1, cwd=tmp_path, start_new_session=True)
        if kills < 2:
            wait_for_runs(tmp_path / "s", before + 1, process)
        delay = chance.uniform(0, 0.4)
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        runs = tree(tmp_path / "s")
        damaged = {name for name in runs if whole.get(name) != runs[name]}
        assert not damaged, f"killed after {delay} s"
        before = len(runs)
        assert before < 100
    process = start("study", "run", "small.toml", "--out", "s", cwd=tmp_path)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert f"{100 - before} runs made, {before} were there" in err
    assert tree(tmp_path / "s") == whole
    assert not list((tmp_path / "s").rglob("*.part"))


# A cluster


def address_in(file):
    """The scheduler's address in its file; none while the file is not there, or not whole: Dask writes it in place."""
    try:
        return json.loads(file.read_text())["address"]
    except (FileNotFoundError, ValueError):
        return None


def test_a_scheduler_s_file_is_read_when_it_is_whole(tmp_path):
    file = tmp_path / "scheduler.json"
    whole = json.dumps({"address": "tcp://127.0.0.1:1", "workers": {}})
    assert address_in(file) is None
    for length in range(len(whole)):
        file.write_text(whole[:length])
        assert address_in(file) is None
    file.write_text(whole)
    assert address_in(file) == "tcp://127.0.0.1:1"


class Cluster:
    """A Dask scheduler and workers, each a process of its own."""

    def __init__(self, folder):
        self._folder = folder
        self._processes = []
        file = folder / "scheduler.json"
        self.scheduler = self._begin("dask_scheduler", "--host", "127.0.0.1", "--port", 0, "--scheduler-file", file)
        end = time.monotonic() + 30
        while (address := address_in(file)) is None:
            assert self.scheduler.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        self.address = address

    def worker(self):
        """One more worker."""
        return self._begin(
            "dask_worker", self.address, "--no-nanny", "--nthreads", 1, "--local-directory", self._folder
        )

    def close(self):
        """Ends what was begun."""
        for process in self._processes:
            process.kill()
            process.wait()

    def _begin(self, name, *words):
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{name}", *map(str, words), "--no-dashboard"],
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._processes.append(process)
        return process


@pytest.fixture
def cluster(tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed: pip install distributed")
    (tmp_path / "cluster").mkdir()
    made = Cluster(tmp_path / "cluster")
    yield made
    made.close()


def test_only_the_loop_of_its_client_submits_to_a_cluster(cluster, monkeypatch):
    """When the scheduler goes away, the loop goes through the client's futures, which have no lock."""
    client = importlib.import_module("distributed").Client
    submit = client.submit

    def submit_here(self, *words, **options):
        assert asyncio.get_running_loop() is self.loop.asyncio_loop
        return submit(self, *words, **options)

    monkeypatch.setattr(client, "submit", submit_here)
    cluster.worker()
    with executor_at(cluster.address) as executor:
        assert [executor.submit(pow, 2, power).result(timeout=30) for power in (3, 5)] == [8, 32]


@pytest.mark.long
def test_a_cluster_that_loses_a_worker_makes_the_same_files_and_one_that_is_gone_is_a_message(tmp_path, cluster, whole):
    workers = [cluster.worker(), cluster.worker()]
    write_study(tmp_path, LONG)
    command = ("study", "run", "small.toml", "--dask", cluster.address, "--out")
    process = start(*command, "s", cwd=tmp_path)
    wait_for_runs(tmp_path / "s", 20, process)
    workers[0].kill()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "100 runs made" in err
    assert "reproduced" in out
    assert tree(tmp_path / "s") == whole

    write_study(tmp_path, ENDLESS)
    process = start(*command, "t", cwd=tmp_path)
    wait_for_runs(tmp_path / "t", 5, process)
    cluster.scheduler.kill()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("multihop: the workers are lost")
    assert_same_where_both(tree(tmp_path / "t"), whole)
