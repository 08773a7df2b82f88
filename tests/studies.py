"""What the tests of studies share: a network that runs in milliseconds, studies on it, and runs that are made up."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from multihop import _core
from multihop.claims.study import Study
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
    """Every finished run below a folder: its name and a digest of its bytes."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("runs/*/*"))
    }


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
