"""What the tests of studies share: a network that runs in milliseconds, studies on it, and runs that are made up."""

import hashlib
import io
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from multihop import _core
from multihop.experiments.studies import Study
from multihop.simulation.shards import Place, Shards
from multihop.simulation.store import encode

#: Three hops and two flows for three seconds.
NETWORK = {
    "name": "tiny",
    "duration": "3 s",
    "warmup": "1 s",
    "topology": {"generator": "chain", "hops": 3, "spacing": "200 m"},
    "flows": [
        {"name": "long", "from": "n0", "to": "n3", "scheme": "tcp-newreno"},
        {"name": "short", "from": "n2", "to": "n3", "scheme": "tcp-newreno", "start_jitter": "100 ms"},
    ],
}

SCENARIO = """
name = "tiny"
duration = "3 s"
warmup = "1 s"
topology = { generator = "chain", hops = 3, spacing = "200 m" }

[[flows]]
name = "long"
from = "n0"
to = "n3"
scheme = "tcp-newreno"

[[flows]]
name = "short"
from = "n2"
to = "n3"
scheme = "tcp-newreno"
start_jitter = "100 ms"
"""

STUDY = """
name = "small"
scenario = "tiny.toml"
seeds = 3

[factors.spacing]
key = "topology.spacing"
values = ["150 m", "200 m"]

[factors.scheme]
values = ["tcp-newreno", "recn"]

[metrics.goodput]
column = "flows.goodput_bps"
reduce = "sum"
unit = "kb/s"

[metrics.long]
column = "flows.delay_p95_s"
where = { name = "long" }
unit = "ms"

[quick]
seeds = 2
set = { duration = "2 s" }
keep = { spacing = ["200 m"] }

[[claims]]
id = "small/bound"
where = "nowhere"
says = "something arrives"
kind = "bound"
metric = "goodput"
at_least = 1
"""


def study(**keys):
    """A study of two spacings by two schemes, with whatever is given instead."""
    return Study(
        **{
            "name": "tiny",
            "scenario": NETWORK,
            "seeds": 3,
            "factors": {"topology.spacing": ["150 m", "200 m"], "scheme": ["tcp-newreno", "recn"]},
            **keys,
        }
    )


def write_study(folder: Path, text: str = STUDY) -> Path:
    """The study as a file, with its scenario beside it."""
    (folder / "tiny.toml").write_text(SCENARIO)
    path = folder / "small.toml"
    path.write_text(text)
    return path


def tree(folder: Path) -> dict[str, str]:
    """Every finished run of a store: its key and a digest of what is kept of it."""
    return {key: hashlib.sha256(content).hexdigest() for key, content in kept(folder).items()}


def kept(folder: Path) -> dict[str, bytes]:
    """What a store keeps of each run, by key."""
    return {key: place.read() for key, place in places(folder).items()}


def places(folder: Path) -> dict[str, Place]:
    """Where a store keeps each run, in the order of keys."""
    shards = Shards(folder / "runs")
    shards.scan()
    return dict(sorted(shards.places.items()))


def wait_for_runs(folder: Path, count: int, process: subprocess.Popen) -> None:
    """Until so many runs are finished."""
    end = time.monotonic() + 60
    while len(places(folder)) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


def keep_only(folder: Path, contents: dict[str, bytes]) -> None:
    """Replaces what a store keeps by one shard."""
    for path in folder.glob("runs/*.shard"):
        path.unlink()
    shards = Shards(folder / "runs")
    for key, content in contents.items():
        shards.append(key, content)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, and of shards, which have runs in the order in which they ended, every run."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    found = {str(path.relative_to(folder)): path.read_bytes() for path in files if path.suffix != ".shard"}
    for store in {path.parents[1] for path in files if path.suffix == ".shard"}:
        found |= {f"{store.relative_to(folder)}/{key}": content for key, content in kept(store).items()}
    return found


def overwrite(place: Place, content: bytes) -> None:
    """Puts something else in a place, whatever its length, and leaves what is before and behind as it is."""
    before = place.path.read_bytes()
    place.path.write_bytes(before[: place.offset] + content + before[place.offset + place.length :])


def break_disk(monkeypatch, left: int, error: BaseException) -> None:
    """Lets so many runs be written, and then half of each."""
    as_it_is, counted = Path.open, [left]

    class Breaking(io.FileIO):
        def write(self, entry):
            counted[0] -= 1
            if counted[0] >= 0:
                return super().write(entry)
            super().write(bytes(entry)[: len(entry) // 2])
            raise error

    def opened(path, mode="r", *arguments, **options):
        if path.suffix == ".shard" and mode == "ab":
            return Breaking(path, mode)
        return as_it_is(path, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", opened)


def start(*arguments: object, cwd: Path, **options: object) -> subprocess.Popen:
    """The command line, begun."""
    return subprocess.Popen(
        [sys.executable, "-m", "multihop", *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
        **options,
    )


def keep(asked: Study, folder: Path, goodput) -> None:
    """Puts runs into the store that only say that the first flow delivered `goodput(point, seed)` bit/s.

    A goodput that is not a number stands for a run that is not there.
    """
    result_of = _core.run(asked.scenario.text, "made up", {})
    from multihop.simulation.store import Store

    store = Store(folder)
    store.open()
    for index, point in enumerate(asked.plan.points):
        for seed in asked.plan.seeds:
            value = goodput(point, seed)
            if np.isnan(value):
                continue
            measured = result_of["summary"]["measured_s"]
            delivered = np.zeros(len(result_of["flows"]["flow"]))
            delivered[0] = value * measured / 8
            made = {
                **result_of,
                "summary": {**result_of["summary"], "seed": seed},
                "flows": {**result_of["flows"], "delivered_bytes": delivered},
            }
            run = asked.plan.run_id(index, seed)
            store.write(run, encode(made, run))
