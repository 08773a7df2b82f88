"""The store: whole runs or none, keys from what a run is, nothing of others touched."""

import gzip
import json
import math
import os
import re
import shutil
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multihop import _core
from multihop.base.errors import OutputError, UserError
from multihop.simulation.shards import Shards
from multihop.simulation.store import Failure, RunId, Store, decode, encode
from studies import NETWORK, SCENARIO, break_disk, kept, overwrite, places, study

RUN = RunId("0123", 7, "0.1.0+abc")
OTHER = RunId("0123", 8, "0.1.0+abc")


@pytest.fixture(scope="module")
def output():
    return _core.run(SCENARIO, "tiny.toml", {"seed": 7})


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "s")
    made.open()
    return made


def files(store):
    return sorted(str(p.relative_to(store.directory)) for p in store.directory.rglob("*") if p.is_file())


def place_of(store):
    (place,) = places(store.directory).values()
    return place


def part_of(pid, host=None):
    return f".run.json.gz.{(host or socket.gethostname()).replace('.', '-')}.{pid}.part"


def test_what_is_written_is_read(store, output):
    assert not store.has(RUN)
    assert store.read(RUN) is None
    store.write(RUN, encode(output, RUN))
    assert store.has(RUN)
    assert Store(store.directory).has(RUN)
    assert_same(store.read(RUN), output)


@pytest.mark.parametrize("how", [KeyboardInterrupt, OSError])
@pytest.mark.parametrize("before", [0, 2])
def test_no_half_result_is_left(store, output, monkeypatch, before, how):
    others = [RunId("0123", seed, RUN.engine) for seed in range(before)]
    for other in others:
        store.write(other, encode(output, other))
    with monkeypatch.context() as broken:
        break_disk(broken, 0, how())
        with pytest.raises(OutputError if how is OSError else how):
            store.write(RUN, encode(output, RUN))
    assert files(store) == (["runs/000001.shard", "store.json"] if before else ["store.json"])
    store.write(RUN, encode(output, RUN))
    assert kept(store.directory) == {run.key: encode(output, run) for run in [*others, RUN]}


def test_what_cannot_be_taken_back_hides_nothing_behind_it(store, output, monkeypatch):
    def refuse(*_):
        raise OSError(30, "Read-only file system")

    with monkeypatch.context() as broken:
        break_disk(broken, 1, OSError(28, "No space left on device"))
        broken.setattr(os, "truncate", refuse)
        store.write(OTHER, encode(output, OTHER))
        with pytest.raises(OutputError):
            store.write(RUN, encode(output, RUN))
    store.write(RUN, encode(output, RUN))
    assert kept(store.directory) == {run.key: encode(output, run) for run in (OTHER, RUN)}


def test_every_beginning_of_a_shard_is_its_whole_runs(store):
    contents = {f"{number:064x}": bytes([number]) * 7 * number for number in range(1, 4)}
    shards = Shards(store.directory / "runs")
    for key, content in contents.items():
        shards.append(key, content)
    (path,) = shards.files()
    whole = path.read_bytes()
    ends = [place.offset + place.length for place in shards.places.values()]
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        found = Shards(path.parent)
        found.scan()
        assert list(found.places) == [key for key, end in zip(contents, ends, strict=True) if end <= length]
        assert found.damaged == []


def test_what_stands_between_two_runs_costs_neither(store):
    shards = Shards(store.directory / "runs")
    for number in (1, 2):
        shards.append(f"{number:064x}", bytes([number]) * 9)
    first, _ = shards.places.values()
    overwrite(first, first.read() + b"more")
    found = Shards(store.directory / "runs")
    found.scan()
    assert [place.read() for place in found.places.values()] == [b"\1" * 9, b"\2" * 9]
    assert [(place.offset, place.length) for place in found.damaged] == [(first.offset + 9, 4)]


def test_each_process_has_a_shard_of_its_own(store, output):
    runs = [RunId("0123", seed, RUN.engine) for seed in range(9)]
    stores = [Store(store.directory) for _ in range(3)]
    for index, run in enumerate(runs):
        stores[index % 3].write(run, encode(output, run))
    assert files(store) == [f"runs/00000{number}.shard" for number in (1, 2, 3)] + ["store.json"]
    fresh = Store(store.directory)
    assert all(fresh.has(run) for run in runs)
    assert fresh.other_runs(set()) == 9


def test_threads_add_to_one_shard(store):
    keys = [f"{number:064x}" for number in range(1, 301)]
    with ThreadPoolExecutor(8) as pool:
        shards = Shards(store.directory / "runs")
        list(pool.map(lambda key: shards.append(key, key.encode() * 50), keys))
    assert len(shards.files()) == 1
    assert kept(store.directory) == {key: key.encode() * 50 for key in keys}


def test_left_over_parts_of_dead_processes_are_cleared(store):
    dead = max(pid for pid in range(2, 2**15) if not Path(f"/proc/{pid}").exists())
    folder = store.directory / "runs" / "ab"
    folder.mkdir(parents=True)
    for name in (part_of(dead), part_of(os.getpid()), part_of(dead, "another-host"), part_of(1, "gone")):
        (folder / name).write_text("half")
    yesterday = time.time() - 25 * 3600
    os.utime(folder / part_of(1, "gone"), (yesterday, yesterday))
    (store.directory / part_of(dead)).write_text("half")
    store.open()
    kept = {part_of(os.getpid()), part_of(dead, "another-host")}
    assert {path.name for path in folder.iterdir()} == kept
    assert files(store) == sorted([*(f"runs/ab/{name}" for name in kept), "store.json"])


def test_a_process_killed_at_its_first_file_does_not_bar_the_folder(tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / f".store.json.{socket.gethostname().replace('.', '-')}.{os.getpid()}.part").write_text("{")
    Store(tmp_path / "s").open()
    assert (tmp_path / "s" / "store.json").exists()


DAMAGE = {
    "empty": lambda content: content[:0],
    "cut": lambda content: content[:-9],
    "zeros": lambda content: bytes(len(content)),
    "a flipped bit": lambda content: content[:300] + bytes([content[300] ^ 4]) + content[301:],
}
WHOLE = b'{"format": 2, "run": {"scenario_hash": "0123", "seed": 7, "engine": "0.1.0+abc"}, "summary": {"seed": 7}'
OTHERS = b', "nodes": {}, "links": {}, "series": {}}'
NOT_RUNS = {
    "nothing": b"",
    "not JSON": b"{",
    "a list": b"[1]",
    "deep nesting": b"[" * 100_000,
    "another format": b'{"format": 99}',
    "no tables": WHOLE + b"}",
    "a number for a table": WHOLE + b', "flows": 3, "nodes": {}, "links": {}, "series": {}}',
    "a column of two types": WHOLE
    + b', "flows": {"a": {"text": [], "bool": []}}, "nodes": {}, "links": {}, "series": {}}',
    "a number too large": WHOLE + b', "flows": {"a": {"int64": [1e99]}}, "nodes": {}, "links": {}, "series": {}}',
    "a type of no number": WHOLE + b', "flows": {"a": {"moon": [1]}}, "nodes": {}, "links": {}, "series": {}}',
    "a type that is no name": WHOLE + b', "flows": {"a": {",loat64": [1]}}, "nodes": {}, "links": {}, "series": {}}',
    "not text": b"\xff\xfe",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_run_is_passed_over(store, output, damage):
    store.write(RUN, encode(output, RUN))
    place = place_of(store)
    content = place.read()
    # Not the last, whose end might just not have been written.
    store.write(OTHER, encode(output, OTHER))
    overwrite(place, DAMAGE[damage](content))
    damaged = place.path.read_bytes()
    store = Store(store.directory)
    assert store.has(OTHER)
    assert not store.has(RUN)
    assert store.read(RUN) is None
    assert [found.path for found in store.damaged] == [place.path]
    assert place.path.read_bytes() == damaged
    assert store.other_runs(set()) == 1
    store.write(RUN, encode(output, RUN))
    assert_same(store.read(RUN), output)
    again = Store(store.directory)
    assert again.has(RUN)
    assert again.damaged == []


def test_what_these_are_made_of_is_a_run():
    assert decode(gzip.compress(WHOLE + b', "flows": {"a": {"int64": [9]}}' + OTHERS), RUN)["flows"]["a"] == [9]


@pytest.mark.parametrize("content", NOT_RUNS)
def test_what_is_no_run_is_no_run(store, content):
    store.write(RUN, gzip.compress(NOT_RUNS[content]))
    assert_no_run(store)


@pytest.mark.parametrize(
    "other", [RunId("0124", 7, "0.1.0+abc"), RunId("0123", 8, "0.1.0+abc"), RunId("0123", 7, "0.1.0+abd")]
)
def test_what_is_kept_of_another_run_is_no_run(store, output, other):
    store.write(RUN, encode(output, other))
    assert_no_run(store)


def test_the_output_of_another_seed_is_no_run(store, output):
    store.write(RUN, encode({**output, "summary": {**output["summary"], "seed": 8}}, RUN))
    assert_no_run(store)


def assert_no_run(store):
    """What is kept under the key of a run is none, once it is read."""
    store = Store(store.directory)
    assert store.read(RUN) is None
    assert not store.has(RUN)
    assert len(store.damaged) == 1
    assert not Store(store.directory).has(RUN)


def test_what_cannot_be_read_now_is_not_passed_over(store, output, monkeypatch):
    store.write(RUN, encode(output, RUN))

    def fail(*_):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(UserError, match="Too many open files"):
        store.read(RUN)
    with pytest.raises(UserError, match="left unchanged"):
        Store(store.directory).has(RUN)
    monkeypatch.undo()
    assert_same(store.read(RUN), output)


def test_a_damaged_run_is_made_again_the_same(tmp_path):
    asked = study(factors={}, seeds=2)
    asked.run(tmp_path / "s")
    before = kept(tmp_path / "s")
    victim = min(places(tmp_path / "s").values(), key=lambda place: place.offset)
    overwrite(victim, victim.read()[:100])
    reported = []
    result = asked.run(tmp_path / "s", on_progress=lambda p: reported.append((p.finished, p.found)))
    assert reported[-1] == (1, 1)
    assert [place.path for place in result.store.damaged] == [victim.path]
    assert kept(tmp_path / "s") == before
    assert result.missing == 0


MARKS = {
    "another format": '{"what": "multihop study", "format": 99}',
    "a format that is no number": '{"what": "multihop study", "format": []}',
    "no format": '{"what": "multihop study"}',
    "another program's": '{"format": 1, "stores": "groceries"}',
    "a list": "[1]",
    "not JSON": "{",
    "a type that is no name": WHOLE + b', "flows": {"a": {",loat64": [1]}}, "nodes": {}, "links": {}, "series": {}}',
    "not text": b"\xff",
}


@pytest.mark.parametrize("mark", MARKS)
def test_another_format_is_refused_and_nothing_touched(tmp_path, mark):
    folder = tmp_path / "s"
    folder.mkdir()
    content = MARKS[mark] if isinstance(MARKS[mark], bytes) else MARKS[mark].encode()
    (folder / "store.json").write_bytes(content)
    (folder / "study.toml").write_text("mine")
    left = folder / ".x.host.1.part"
    left.write_text("")
    os.utime(left, (0, 0))
    for attempt in (lambda: study().run(folder), lambda: study().result(folder), lambda: Store(folder).open()):
        with pytest.raises(UserError) as caught:
            attempt()
        assert str(folder) in str(caught.value)
    assert (folder / "store.json").read_bytes() == content
    assert (folder / "study.toml").read_text() == "mine"
    assert left.exists()


def test_a_foreign_folder_is_refused(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "scenario.toml").write_text("mine")
    for store in (None, tmp_path / "store"):
        with pytest.raises(UserError, match="not a study folder of multihop, and not empty"):
            study().run(tmp_path / "mine", store=store)
    assert [path.read_text() for path in (tmp_path / "mine").iterdir()] == ["mine"]


def test_a_folder_knows_the_store_that_its_runs_are_in(tmp_path):
    asked = study(factors={}, seeds=1)
    asked.run(tmp_path / "a", store=tmp_path / "store")
    assert not (tmp_path / "a" / "runs").exists()
    assert asked.result(tmp_path / "a").missing == 0
    shutil.move(tmp_path / "a", tmp_path / "b")
    assert asked.result(tmp_path / "b").missing == 0
    reported = []
    asked.run(tmp_path / "b", on_progress=lambda p: reported.append(p.found))
    assert reported[-1] == 1


@pytest.mark.parametrize(
    "other", [RunId("0124", 7, "0.1.0+abc"), RunId("0123", 8, "0.1.0+abc"), RunId("0123", 7, "0.1.0+abd")]
)
def test_the_name_of_a_run_says_what_it_is_a_run_of(store, output, other):
    assert other.key != RUN.key
    store.write(RUN, encode(output, RUN))
    assert not store.has(other)


def test_what_changes_a_run_changes_its_name():
    keys = {
        study(factors={}, seeds=[seed], scenario={**NETWORK, **changes}).plan.run_id(0, seed).key
        for seed, changes in [
            (1, {}),
            (2, {}),
            (1, {"duration": "4 s"}),
            (1, {"warmup": "2 s"}),
            (1, {"mac": {"queue": 9}}),
        ]
    }
    assert len(keys) == 5
    # What does not change a run does not: the seed of the file, which is replaced.
    assert study(factors={}, seeds=[1], scenario={**NETWORK, "seed": 5}).plan.run_id(0, 1).key in keys


def test_runs_are_kept_under_what_the_engine_was_built_from_and_not_its_commit(monkeypatch):
    before = study().plan.run_id(0, 1)
    assert re.fullmatch(r"[\d.]+\+[0-9a-f]{16}", before.engine)
    monkeypatch.setattr(_core, "commit", lambda: "0123-modified")
    assert study().plan.run_id(0, 1) == before
    monkeypatch.setattr(_core, "identity", lambda: "0" * 16)
    assert study().plan.run_id(0, 1) != before


def test_a_run_is_kept_the_same_wherever_it_was_made(tmp_path):
    for name in ("a", "b"):
        study(factors={}).run(tmp_path / name, jobs=1 if name == "a" else 3)
    assert kept(tmp_path / "a") == kept(tmp_path / "b")


def test_tables_from_the_store_are_those_of_a_run(tmp_path):
    import multihop

    result = study(factors={}, seeds=[5]).run(tmp_path / "s")
    direct = multihop.run(NETWORK, seed=5)
    for name in ("flows", "nodes", "links", "series"):
        kept = result.table(name).drop(columns="seed")
        assert kept.astype(str).equals(direct.table(name).astype(str)), name
    kept = result.table("summary").to_dict("records")[0]
    assert all(kept[name] == value or math.isnan(value) for name, value in direct.summary.items())


def test_measurements_from_the_store_are_those_of_a_run(tmp_path):
    import multihop

    measured = {**NETWORK, "measure": [{"estimator": "busy-ratio"}]}
    kept = study(factors={}, seeds=[5], scenario=measured).run(tmp_path / "s").table("measurements")
    direct = multihop.run(measured, seed=5).measurements
    assert len(direct) > 0
    assert kept.drop(columns="seed").astype(str).equals(direct.astype(str))


def test_failures_are_kept_until_the_run_succeeds(store, output):
    failure = Failure({"scheme": "recn", "load": 3}, 7, "ValueError: no", "multihop run …")
    store.write_failure(RUN, failure)
    assert store.has_failed(RUN)
    assert list(store.failures({RUN.key: RUN})) == [failure]
    # As if killed between keeping the run and removing the note.
    note = store.directory / "failures" / f"{RUN.key}.json"
    text = note.read_text()
    store.write(RUN, encode(output, RUN))
    assert not note.exists()
    note.write_text(text)
    assert list(store.failures({RUN.key: RUN})) == []
    assert not store.has_failed(RUN)


def test_a_damaged_note_of_a_failure_is_no_failure(store):
    store.write_failure(RUN, Failure({}, 7, "x", "y"))
    (store.directory / "failures" / f"{RUN.key}.json").write_text("{")
    assert list(store.failures({RUN.key: RUN})) == []


def test_sizes_and_other_runs(store, output):
    assert (store.size(), store.other_runs(set())) == (0, 0)
    store.write(RUN, encode(output, RUN))
    assert store.size() == len(encode(output, RUN))
    assert store.other_runs({RUN.key}) == 0
    assert store.other_runs({"another"}) == 1


floats = st.floats(width=64)
integers = st.integers(0, 2**64 - 1)
columns = st.one_of(
    st.lists(floats, max_size=20).map(lambda v: np.array(v, dtype=float)),
    st.lists(integers, max_size=20).map(lambda v: np.array(v, dtype=np.uint64)),
    st.lists(st.text(max_size=9), max_size=20),
)
tables = st.dictionaries(st.text(min_size=1, max_size=9), columns, max_size=4)
outputs = st.fixed_dictionaries(
    {
        "summary": st.dictionaries(st.text(max_size=9), st.one_of(floats, integers, st.text(max_size=9)), max_size=4),
        **dict.fromkeys(("flows", "nodes", "links", "series"), tables),
    }
)


@given(made=outputs)
def test_encoding_keeps_every_value(made):
    made["summary"]["seed"] = RUN.seed
    content = encode(made, RUN)
    assert encode(made, RUN) == content
    assert_same(decode(content, RUN), made)
    assert_same(decode(content, RUN, {"flows"}), {name: made[name] for name in ("summary", "flows")})
    json.loads(gzip.decompress(content))


def assert_same(found, made):
    assert found.keys() == made.keys()
    assert found["summary"].keys() == made["summary"].keys()
    assert all(found["summary"][n] == v or v != v for n, v in made["summary"].items())
    for name in found.keys() - {"summary"}:
        assert found[name].keys() == made[name].keys()
        for column, values in made[name].items():
            kept = found[name][column]
            assert len(kept) == len(values)
            if isinstance(values, np.ndarray):
                assert kept.dtype == values.dtype
                # Exactly, and a missing number stays one.
                assert kept.tolist() == values.tolist() or np.array_equal(kept, values, equal_nan=True)
            else:
                assert list(kept) == values
