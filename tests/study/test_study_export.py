"""Tables of a study as files: tidy, one type per column, with units, and nothing of others replaced."""

import csv
import json
import math

import pandas as pd
import pyarrow.parquet as pq
import pytest

from multihop.base.errors import OutputError, UserError
from multihop.experiments.exports import EXPORT_NAMES, export
from multihop.results.columns import TABLES
from studies import NETWORK, keep_only, kept, study

#: An empty table is not written, and this network has no wires, nor access categories.
WRITTEN = [name for name in TABLES if name not in {"categories", "positions", "wires"}]

METRICS = {
    "goodput": {"column": "flows.goodput_bps", "reduce": "sum", "unit": "kb/s", "better": "higher"},
    "of-nobody": {"column": "flows.delay_p95_s", "where": {"name": "nobody"}},
}


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    measured = {**NETWORK, "measure": [{"estimator": "fte"}]}
    return study(scenario=measured, metrics=METRICS).run(tmp_path_factory.mktemp("study") / "s")


@pytest.fixture(scope="module")
def tables(result, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    export(result, folder)
    return folder


def test_every_table_is_written_twice_and_says_the_same(tables):
    names = {path.stem for path in tables.glob("*.parquet")}
    assert names == {*WRITTEN, "metrics", "estimates", "differences"}
    for name in names:
        from_parquet = pd.read_parquet(tables / f"{name}.parquet")
        from_csv = pd.read_csv(tables / f"{name}.csv", dtype=from_parquet.dtypes.to_dict())
        pd.testing.assert_frame_equal(from_csv, from_parquet, check_dtype=False, check_exact=False, rtol=1e-15)


def test_tables_are_tidy(tables):
    for name in (*WRITTEN, "metrics"):
        table = pd.read_parquet(tables / f"{name}.parquet")
        assert list(table.columns[:3]) in (
            ["topology-spacing", "scheme", "seed"],
            ["topology-spacing", "factor_scheme", "seed"],
        )
        assert table.columns.is_unique
        assert set(table["topology-spacing"]) == {"150 m", "200 m"}
        assert set(table["seed"]) == {1, 2, 3}
        runs = table.groupby(list(table.columns[:3])).size()
        assert len(runs) == 12
    assert len(pd.read_parquet(tables / "metrics.parquet")) == 12
    assert len(pd.read_parquet(tables / "flows.parquet")) == 24


def test_every_column_has_one_type_a_unit_and_a_meaning(tables):
    for path in tables.glob("*.parquet"):
        for field in pq.read_schema(path):
            assert str(field.type) not in {"null", "dictionary"}, (path.name, field)
            assert field.metadata[b"meaning"], (path.name, field.name)
            assert b"unit" in field.metadata
            if field.name.endswith("_bps"):
                assert field.metadata[b"unit"] == b"bit/s"
            if field.name.endswith("_s"):
                assert field.metadata[b"unit"] == b"s"
    fields = pq.read_schema(tables / "metrics.parquet")
    assert fields.field("goodput").metadata[b"unit"] == b"bit/s"


def test_estimates_and_differences_are_those_of_the_result(tables, result):
    estimates = pd.read_parquet(tables / "estimates.parquet")
    assert set(estimates["metric"]) == {"goodput"}
    assert set(estimates["unit"]) == {"bit/s"}
    for index, row in estimates.iterrows():
        found = result.estimate(index, "goodput")
        assert (row["mean"], row["low"], row["high"], row["n"]) == (found.mean, found.low, found.high, 3)
        assert dict(result.points[index].labels) == {
            "topology-spacing": row["topology-spacing"],
            "scheme": row["scheme"],
        }
    differences = pd.read_parquet(tables / "differences.parquet")
    assert differences[["topology-spacing", "a", "b"]].to_numpy().tolist() == [
        ["150 m", "tcp-newreno", "recn"],
        ["200 m", "tcp-newreno", "recn"],
    ]
    paired = result.difference(0, 1, "goodput")
    assert (differences["difference"][0], differences["n"][0]) == (paired.mean, 3)


def test_the_manifest_says_what_was_run(tables, result):
    about = json.loads((tables / "manifest.json").read_text())
    assert about["tables"] == {path.stem: path.name for path in tables.glob("*.parquet")}
    assert [point["labels"] for point in about["points"]] == [dict(point.labels) for point in result.points]
    assert [point["seeds"] for point in about["points"]] == [[1, 2, 3]] * 4
    assert len({point["scenario_hash"] for point in about["points"]}) == 4
    assert str(result.directory) not in json.dumps(about)
    for path in tables.glob("*.parquet"):
        assert json.loads(pq.read_schema(path).metadata[b"multihop"]) == about


def test_an_export_is_the_same_every_time(tables, result, tmp_path):
    export(result, tmp_path)
    for path in tables.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


LABELS = {
    "whole numbers": ([7, 8], [3, -(2**63)], "int64"),
    "whole numbers and others": ([7, 8, 9], [1, 2.5, -(2**63)], "double"),
    "truth": ([7, 8], [True, False], "bool"),
    "text and numbers": ([7, 8, 9], ["a", 1, False], "large_string"),
    "odd text": ([7, 8, 9], ['a/b "\n', "é,'=1", ""], "large_string"),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_of_any_type_make_columns_of_one(tmp_path, case):
    values, labels, kind = LABELS[case]
    asked = study(factors={"queue": {"key": "mac.queue", "values": values, "labels": labels}}, compare="queue", seeds=2)
    export(asked.run(tmp_path / "s"), tmp_path / "t")
    expected = [str(label) for label in labels] if kind == "large_string" else labels
    for name, column in (("flows", "queue"), ("estimates", "queue"), ("differences", "a"), ("differences", "b")):
        table = pq.read_table(tmp_path / "t" / f"{name}.parquet")
        assert str(table.schema.field(column).type) == kind, (name, column)
        assert set(table[column].to_pylist()) <= set(expected)
    with (tmp_path / "t" / "estimates.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == len(labels) * 7


def test_values_that_are_tables_are_labelled_as_the_file_has_them(tmp_path):
    result = study(factors={"mac": [{"queue": 5}, {"queue": 6}]}, seeds=1).run(tmp_path / "s")
    assert [point.labels["mac"] for point in result.points] == ["{queue = 5}", "{queue = 6}"]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["1", 1], "1 more than once"),
        ([1, "1"], "'1' more than once"),
        ([True, "True"], "'True' more than once"),
        ([1, 1.0], "1.0 more than once"),
        ([5, 2**63], "64 bits"),
        ([-(2**63) - 1, 5], "64 bits"),
    ],
)
def test_labels_that_tables_cannot_tell_apart_are_refused(labels, message):
    with pytest.raises(UserError, match=rf"factors\.queue: .*{message}"):
        study(factors={"queue": {"key": "mac.queue", "values": [5, 6], "labels": labels}})


def test_factors_named_like_columns_have_columns_of_their_own(tmp_path):
    factors = {
        "flow": {"key": "mac.queue", "values": [5, 6]},
        "seed": {"key": "topology.hops", "values": [3]},
        "metric": {"key": "duration", "values": ["2 s"]},
        "a": {"key": "warmup", "values": ["1 s"]},
        "goodput": {"key": "record_interval", "values": ["1 s"]},
    }
    asked = study(factors=factors, compare="flow", metrics=METRICS, seeds=2)
    export(asked.run(tmp_path / "s"), tmp_path / "t")
    columns = {path.stem: pq.read_schema(path).names for path in (tmp_path / "t").glob("*.parquet")}
    assert columns["flows"][:6] == ["factor_flow", "factor_seed", "metric", "a", "goodput", "seed"]
    assert columns["metrics"] == [
        "flow",
        "factor_seed",
        "metric",
        "a",
        "factor_goodput",
        "seed",
        "goodput",
        "of-nobody",
    ]
    assert columns["estimates"][:4] == ["flow", "seed", "factor_metric", "factor_a"]
    assert columns["differences"][:4] == ["seed", "factor_metric", "factor_a", "goodput"]


def test_names_of_our_own_columns_are_refused():
    with pytest.raises(UserError, match=r"factors\.factor_flow: factor_ is a prefix of result columns"):
        study(factors={"factor_flow": {"key": "mac.queue", "values": [5]}})
    for name in ("seed", "factor_scheme"):
        with pytest.raises(UserError, match=rf"metrics\.{name}: {name} is the name of a result column"):
            study(metrics={name: METRICS["goodput"]})


def test_infinite_and_missing_numbers_are_null_in_json(tmp_path):
    claim = {"id": "c", "where": "w", "says": "s", "kind": "bound", "metric": "of-nobody", "at_least": 1}
    result = study(metrics=METRICS, claims=[claim], seeds=1).run(tmp_path / "s")
    export(result, tmp_path / "t")

    def refuse(constant):
        raise AssertionError(constant)

    for name in ("verdicts.json", "manifest.json"):
        json.loads((tmp_path / "t" / name).read_text(), parse_constant=refuse)
    (verdict,) = json.loads((tmp_path / "t" / "verdicts.json").read_text())
    assert verdict["id"] == "c"
    estimates = pd.read_parquet(tmp_path / "t" / "estimates.parquet")
    assert len(estimates) == 4
    assert all(math.isnan(low) for low in estimates["low"])


# What is there


def test_tables_of_an_earlier_export_do_not_stay(tmp_path):
    compared = study(seeds=2).run(tmp_path / "s")
    export(compared, tmp_path / "t")
    assert (tmp_path / "t" / "differences.csv").exists()
    (tmp_path / "t" / "notes.txt").write_text("mine")
    alone = study(factors={}, seeds=2).run(tmp_path / "s")
    export(alone, tmp_path / "t")
    there = {path.name for path in (tmp_path / "t").iterdir()}
    assert not {"differences.csv", "differences.parquet"} & there
    assert there <= {*EXPORT_NAMES, "notes.txt"}
    assert (tmp_path / "t" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["flows.csv", "manifest.json", "verdicts.json", "estimates.parquet"])
def test_files_of_others_are_not_replaced(result, tmp_path, name):
    (tmp_path / name).write_text('{"mine": true}')
    with pytest.raises(UserError, match=f"not a results folder of multihop, but it has a file {name}"):
        export(result, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == '{"mine": true}'


def test_an_export_whose_writer_was_killed_is_ours(result, tmp_path, monkeypatch):
    def killed(*_arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("multihop.experiments.exports.write_text", killed)
        with pytest.raises(KeyboardInterrupt):
            export(result, tmp_path / "t")
    assert (tmp_path / "t" / "flows.csv").exists()
    assert not (tmp_path / "t" / "manifest.json").exists()
    export(result, tmp_path / "t")
    assert {path.name for path in (tmp_path / "t").iterdir()} <= {*EXPORT_NAMES}


def test_a_folder_that_is_a_file_is_one_message(result, tmp_path):
    (tmp_path / "t").write_text("mine")
    with pytest.raises(UserError, match="a file is in the way"):
        export(result, tmp_path / "t")
    assert (tmp_path / "t").read_text() == "mine"


def test_a_full_disk_is_one_message_and_leaves_no_part(result, tmp_path, monkeypatch):
    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    with pytest.raises(OutputError, match=r"\.parquet: cannot be written: No space left on device"):
        export(result, tmp_path / "t")
    assert list((tmp_path / "t").iterdir()) == []


def test_what_is_not_finished_is_not_in_tables(tmp_path):
    asked = study(seeds=2)
    asked.run(tmp_path / "s")
    keep_only(tmp_path / "s", dict(list(kept(tmp_path / "s").items())[3:]))
    export(asked.result(tmp_path / "s"), tmp_path / "t")
    assert len(pd.read_parquet(tmp_path / "t" / "summary.parquet")) == 5
    estimates = pd.read_parquet(tmp_path / "t" / "estimates.parquet")
    assert estimates[estimates["metric"] == "jain"]["n"].sum() == 5
