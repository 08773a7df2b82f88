"""What studies and papers keep on disk, damaged: a value, or one clean message, whatever the bytes.

MULTIHOP_FUZZ_EXAMPLES says how many are drawn of each file; `make fuzz-store` draws 5000.
"""

import gzip
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from damage import damaged, fuzzed
from multihop import ScenarioError, Study, UserError
from multihop.base.errors import OutputError
from multihop.papers import papers
from multihop.papers.verdicts import FILE, read_verdicts
from multihop.results.folders import require_results_directory
from multihop.simulation.store import Failure, RunId, Store, decode
from studies import NETWORK, kept

KEYS: dict[str, Any] = {"name": "tiny", "seeds": 1, "metrics": {"goodput": {"column": "flows.goodput_bps"}}}
TABLES = ("flows", "nodes", "links", "series", "summary", "metrics")


@contextmanager
def one_message() -> Iterator[None]:
    """Either nothing is wrong, or one line says what."""
    message = "none"
    try:
        yield
    except (UserError, ScenarioError, OutputError) as error:
        message = str(error)
    assert "\n" not in message
    assert 0 < len(message) < 1000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that was run, of one run."""
    folder = tmp_path_factory.mktemp("study") / "tiny"
    Study(scenario=NETWORK, **KEYS).run(folder, jobs=1)
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> RunId:
    return Study.load(folder).plan.run_id(0, 1)


@pytest.fixture(scope="module")
def entry(folder: Path) -> dict[str, Any]:
    (stored,) = kept(folder).values()
    content: dict[str, Any] = json.loads(gzip.decompress(stored))
    return content


@fuzzed
@given(data=st.data())
def test_a_run_is_one_or_counts_as_missing(
    data: st.DataObject, folder: Path, run: RunId, entry: Mapping[str, Any]
) -> None:
    content = data.draw(damaged(dict(entry)))
    if data.draw(st.booleans()):
        # Damage that compression does not see, as it was there before.
        content = gzip.compress(content)
    with tempfile.TemporaryDirectory() as place:
        store = Store(Path(place))
        store.write(run, content)
        with one_message():
            store = Store(Path(place))
            output = store.read(run)
            assert (output is None) == (len(store.damaged) == 1)
            assert Store(Path(place)).has(run) == (output is not None)
        with one_message():
            study = Study.load(folder)
            result = study.result(folder, store=place)
            for name in TABLES:
                assert isinstance(result.table(name), pd.DataFrame)


@fuzzed
@given(content=st.binary(max_size=200))
def test_any_bytes_are_no_run(content: bytes, run: RunId) -> None:
    for bytes_of_it in (content, gzip.compress(content)):
        with pytest.raises(ValueError, match="not a finished run"):
            decode(bytes_of_it, run)


@fuzzed
@given(data=st.data())
def test_the_mark_of_a_folder(data: st.DataObject) -> None:
    sound = {"what": "multihop study", "format": 2, "runs_in": "../runs"}
    with tempfile.TemporaryDirectory() as place:
        there = Path(place) / "a" / "b"
        there.mkdir(parents=True)
        (there / "store.json").write_bytes(data.draw(damaged(sound)))
        with one_message():
            store = Store.of(there)
            store.check()
            store.other_runs(set())
            store.size()


@fuzzed
@given(data=st.data())
def test_a_note_of_a_failure_is_one_or_is_left_out(data: st.DataObject, run: RunId) -> None:
    sound = Failure({"hops": 2}, 1, "MemoryError: ", "multihop run x")
    with tempfile.TemporaryDirectory() as place:
        store = Store(Path(place))
        store.write_failure(run, sound)
        (path,) = Path(place).glob("failures/*.json")
        path.write_bytes(data.draw(damaged(asdict(sound))))
        for failure in store.failures({run.key: run}):
            assert isinstance(failure.point, dict)
            assert isinstance(failure.seed, int)
            assert isinstance(failure.error, str)
            assert isinstance(failure.command, str)


@fuzzed
@given(data=st.data(), name=st.sampled_from(["study.toml", "scenario.toml"]))
def test_the_copies_of_study_and_scenario(data: st.DataObject, folder: Path, name: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        for path in folder.glob("*.*"):
            (Path(place) / path.name).write_bytes(path.read_bytes())
        path = Path(place) / name
        path.write_bytes(data.draw(damaged(path.read_text())))
        with one_message():
            study = Study.load(place)
            assert study.plan.points


@fuzzed
@given(data=st.data())
def test_a_manifest_is_one_or_the_folder_is_somebody_elses(data: st.DataObject) -> None:
    sound = {"format": 1, "multihop": "0.1.0", "command": "x", "tables": {}}
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "manifest.json").write_bytes(data.draw(damaged(sound)))
        with one_message():
            require_results_directory(Path(place))


@fuzzed
@given(data=st.data())
def test_the_verdicts_of_a_paper(data: st.DataObject) -> None:
    paper = papers()[0]
    claims = [claim for item in paper.items for claim in paper.study(item).spec.claims]
    cell = {"what": "all", "measured": "1 kb/s", "expected": "more", "state": "holds"}
    records = [{"id": c.id, "verdict": "reproduced", "cells": [], "readings": {}} for c in claims]
    records[0]["cells"] = [cell]
    sound = {"build": "0.1.0", "extent": "full", "claims": records}
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / FILE).write_bytes(data.draw(damaged(sound)))
        with one_message():
            read_verdicts(paper, Path(place))
