"""Frame logs: output of the commands, reading in Python, refused input."""

import base64
import json
import re
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

import multihop
from conftest import SCENARIOS
from multihop import UserError
from multihop.cli.app import app
from multihop.framelog import packed, read
from multihop.report.viewer import page

HIDDEN = SCENARIOS / "hidden-terminal.toml"


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    path = tmp_path_factory.mktemp("frames") / "hidden.frames"
    return multihop.run(HIDDEN, duration="5 s", warmup="0 s", frames=path), path


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_airtimes_add_up_to_the_table_of_nodes_to_the_nanosecond(logged):
    result, path = logged
    frames = multihop.frames(path)
    sent = frames.groupby("from")["airtime"].sum()
    shares = result.nodes.set_index("name")["transmitting"]
    for name, airtime in sent.items():
        assert airtime == round(shares[name] * 5e9)


def test_collisions_equal_those_counted(logged):
    result, path = logged
    frames = multihop.frames(path)
    counted = result.output["collisions"]["lost"]
    assert (frames["outcome"] == "collision").sum() == np.sum(counted) > 100
    assert set(frames[frames["outcome"] == "collision"]["overlap"]) <= {"hidden", "simultaneous", "sensed"}


def test_a_log_changes_nothing(logged):
    result, _ = logged
    alone = multihop.run(HIDDEN, duration="5 s", warmup="0 s")
    assert alone.output["summary"]["fingerprint"] == result.output["summary"]["fingerprint"]


def test_a_selection_contains_the_named_nodes_and_interval(tmp_path, logged):
    path = tmp_path / "part.frames"
    done = call(
        "run",
        HIDDEN,
        "--duration",
        "5 s",
        "--warmup",
        "0 s",
        "--frames",
        path,
        "--nodes",
        "n0",
        "--between",
        "1s, 2 s",
        "-q",
    )
    assert done.exit_code == 0, done.output
    part, whole = multihop.frames(path), multihop.frames(logged[1], (1.0, 2.0))
    wanted = whole[(whole["from"] == "n0") | (whole["to"] == "n0")]
    assert list(part["start"]) == list(wanted["start"])
    assert len(part) > 10


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--nodes", "n0"], "add --frames"),
        (["--frames", "{tmp}/x.frames", "--nodes", "n9"], "no node 'n9'"),
        (["--frames", "{tmp}/x.frames", "--between", "2 s"], "needs two times"),
        (["--frames", "{tmp}/x.frames", "--between", "2 s, 1 s"], "before a second one"),
        (["--frames", "{tmp}/x.frames", "--seeds", "2"], "leave --seeds out"),
    ],
)
def test_bad_options_are_refused(tmp_path, words, message):
    done = call("run", HIDDEN, *(word.format(tmp=tmp_path) for word in words))
    assert done.exit_code != 0
    assert message in str(done.exception or done.output)


def test_a_log_of_a_flow_has_its_frames_and_their_responses(tmp_path):
    path, pcap = tmp_path / "flow.frames", tmp_path / "flow.pcapng"
    options = ["--duration", "2 s", "--warmup", "0 s", "-q"]
    done = call("run", HIDDEN, *options, "--frames", path, "--pcap", pcap, "--flows", "left")
    assert done.exit_code == 0, done.output
    frames = multihop.frames(path)
    assert set(frames[frames["kind"] == "data"]["flow"]) == {"left"}
    assert {"data", "ack"} <= set(frames["kind"])
    arrived = frames[frames["outcome"] == "arrived"]
    # Responses name no flow, but respond to frames of this flow.
    assert set(arrived["from"]) | set(arrived["to"]) == {"n0", "n1"}
    seen = multihop.measure(pcap)
    assert set(seen.links[["sender", "receiver"]].itertuples(index=False, name=None)) == {
        ("02:00:00:00:00:00", "02:00:00:00:00:01")
    }


def test_an_unknown_flow_is_refused(tmp_path):
    done = call("run", HIDDEN, "--frames", tmp_path / "x.frames", "--flows", "lift")
    assert done.exit_code != 0
    assert "no flow 'lift'" in str(done.exception)


def test_compare_writes_a_log_of_each_scheme(tmp_path):
    options = ["--duration", "2 s", "--warmup", "0 s", "-q", "--out", tmp_path, "--frames", "3"]
    done = call("compare", HIDDEN, "--schemes", "udp,tcp-newreno", *options)
    assert done.exit_code == 0, done.output
    logs = {path.stem: read(path) for path in sorted((tmp_path / "frames").glob("*.frames"))}
    assert set(logs) == {"udp", "tcp-newreno"}
    assert {log.head["seed"] for log in logs.values()} == {3}


def test_other_paths_and_old_logs_are_refused(tmp_path, logged):
    other = tmp_path / "other"
    other.write_bytes(b"something else")
    with pytest.raises(UserError, match="not a frame log: needs a folder"):
        multihop.frames(other)
    with pytest.raises(UserError, match="no such file"):
        multihop.frames(tmp_path / "none")
    with pytest.raises(UserError, match=r"not a frame log: transmissions\.parquet is missing"):
        multihop.frames(tmp_path)
    old = tmp_path / "old.frames"
    old.write_bytes(b"mhframes\6\0\0\0")
    with pytest.raises(UserError, match=r"a log of multihop 0\.1: write it again"):
        multihop.frames(old)
    assert not read(logged[1]).cut_short
    with pytest.raises(UserError, match="name an interval"):
        read(logged[1], limit=10)


def test_names_are_text_in_the_page(logged):
    made = page(packed(logged[1]).data, "</title><script>alert(1)</script>")
    assert "<script>alert" not in made


def test_a_trace_has_an_event_for_each_transmission(tmp_path, logged):
    out = tmp_path / "trace.json"
    done = call("view", logged[1], "--perfetto", out)
    assert done.exit_code == 0, done.output
    events = json.loads(out.read_text())["traceEvents"]
    frames = multihop.frames(logged[1])
    lanes = [event for event in events if event["ph"] == "X"]
    assert sorted(event["ts"] for event in lanes) == pytest.approx(sorted(frames["start"] / 1000))
    assert sum(event["dur"] for event in lanes) == pytest.approx(frames["airtime"].sum() / 1000)


def test_a_single_packet_in_an_aggregate_arrives_with_it(tmp_path):
    path = tmp_path / "ax.frames"
    multihop.run(SCENARIOS / "wlan-11ax.toml", duration="2 s", warmup="0 s", frames=path)
    log = read(path)
    packets = log.tables["mpdus"].groupby(["start", "from"])["outcome"].agg(["size", "sum"]).reset_index()
    both = packets.merge(log.tables["transmissions"], on=["start", "from"], suffixes=("", "_of_all"))
    alone = both[(both["size"] == 1) & (both["outcome"] == 0)]
    assert len(alone) > 10
    assert (alone["sum"] == 0).all()
    assert (both[both["size"] > 1]["sum"] > 0).any(), "some packets of larger aggregates are lost"


def test_a_page_of_an_interval_has_the_frames_that_begin_in_it(tmp_path, logged):
    out = tmp_path / "part.html"
    done = call("view", logged[1], "--between", "1 s, 2 s", "--out", out)
    assert done.exit_code == 0, done.output
    text = out.read_text()
    assert 'data-between="1000000000 2000000000"' in text
    held = re.search(r'id="frames">([^<]*)<', text)
    data = base64.b64decode(held[1])
    header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    whole = multihop.frames(logged[1])
    wanted = whole["start"].between(1_000_000_000, 2_000_000_000).sum()
    rows = {table["name"]: table["rows"] for table in header["tables"]}
    assert 0 < rows["transmissions"] == wanted < len(whole)
    assert header["head"]["only_between"] == [1_000_000_000, 2_000_000_000]
    assert "no transmission begins" not in done.output


def test_a_trace_of_an_interval_has_the_frames_that_begin_in_it(tmp_path, logged):
    out = tmp_path / "part.json"
    done = call("view", logged[1], "--perfetto", out, "--between", "1 s, 1.1 s")
    assert done.exit_code == 0, done.output
    times = [event["ts"] for event in json.loads(out.read_text())["traceEvents"] if "ts" in event]
    assert len(times) > 10
    assert min(times) >= 1e6
    assert max(times) <= 1.1e6


@pytest.mark.parametrize("options", [["--out", "{tmp}/x.html"], ["--perfetto", "{tmp}/x.json"]])
def test_an_empty_interval_is_noted(tmp_path, logged, options):
    options = [word.format(tmp=tmp_path) for word in options]
    done = call("view", logged[1], "--between", "70 s, 80 s", *options)
    assert done.exit_code == 0, done.output
    assert "no transmission begins in --between; the log covers 5 s" in done.output


def test_an_empty_log_of_a_run_is_noted(tmp_path):
    path = tmp_path / "none.frames"
    options = ["--duration", "2 s", "--warmup", "0 s", "-q", "--frames", path, "--between", "70 s, 80 s"]
    done = call("run", HIDDEN, *options)
    assert done.exit_code == 0, done.output
    assert "no frame matches --nodes, --flows and --between; the run lasts 2 s" in done.output


def test_a_page_replaces_only_pages(tmp_path, logged):
    log, report = tmp_path / "x.frames", tmp_path / "x.html"
    shutil.copytree(logged[1], log)
    report.write_text("a report")
    for _ in range(2):
        done = call("view", log)
        assert done.exit_code == 0, done.output
        assert "x.frames.html" in done.output
    assert report.read_text() == "a report"
    (tmp_path / "x.frames.html").write_text("notes")
    done = call("view", log)
    assert done.exit_code != 0
    assert "is not the page of a frame log; name another file: --out FILE.html" in str(done.exception or done.output)
    report.unlink()
    for _ in range(2):
        assert call("view", log).exit_code == 0
    assert report.is_file()


def test_several_logs_need_several_files(tmp_path, logged):
    for name in ("a", "b"):
        shutil.copytree(logged[1], tmp_path / f"{name}.frames")
    done = call("view", tmp_path, "--out", tmp_path / "one.html")
    assert done.exit_code != 0
    assert "found 2 frame logs" in str(done.exception or done.output)
    assert not (tmp_path / "one.html").exists()
    assert call("view", tmp_path).exit_code == 0
    assert {path.name for path in tmp_path.glob("*.html")} == {"a.html", "b.html"}


def test_collisions_equal_those_counted_where_delays_depend_on_distance(tmp_path):
    path = tmp_path / "far.frames"
    far = {"medium.propagation_delay": "distance"}
    result = multihop.run(HIDDEN, duration="5 s", warmup="0 s", set=far, frames=path)
    log = read(path)
    shown = (log.transmissions["outcome"] == "collision").sum()
    assert shown == np.sum(result.output["collisions"]["lost"]) > 50


@pytest.mark.parametrize(
    ("between", "message"),
    [
        ("1 s, 2 s", "needs two times in seconds"),
        ((1,), "needs two times in seconds"),
        ((2, 1), "needs a first time of at least 0 s before a second one"),
    ],
)
def test_an_invalid_interval_is_refused(logged, between, message):
    with pytest.raises(UserError, match=f"between: found .*; {message}"):
        multihop.frames(logged[1], between)


def test_column_types_do_not_depend_on_the_interval(logged):
    whole, part = multihop.frames(logged[1]), multihop.frames(logged[1], (0, 1e-6))
    assert list(whole.dtypes) == list(part.dtypes)
