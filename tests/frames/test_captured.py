"""Frame logs of captures agree with those of runs and with the airtimes of tshark."""

import shutil
import subprocess

import numpy as np
import pytest
from typer.testing import CliRunner

import multihop
from conftest import SCENARIOS
from multihop import UserError
from multihop.cli.app import app
from multihop.framelog import read
from multihop.framelog.captured import write_capture_log

CHAIN = SCENARIOS / "chain.toml"


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Returns the frame log and the capture of a run."""
    folder = tmp_path_factory.mktemp("captured")
    log, pcap = folder / "run.frames", folder / "run.pcapng"
    multihop.run(CHAIN, duration="3 s", warmup="0 s", frames=log, pcap=pcap)
    return log, pcap


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def captured(pcap, tmp_path, **options):
    out = tmp_path / "captured.frames"
    return multihop.capture_frames(pcap, out, **options), read(out)


def test_the_lane_of_a_radio_has_the_frames_that_it_sent(logs, tmp_path):
    log, pcap = logs
    run, (found, capture) = multihop.frames(log), captured(pcap, tmp_path, interface=0)
    assert found.name == "n0"
    assert found.interfaces == len(read(log).head["nodes"])
    lane = capture.transmissions
    sent, seen = run[run["from"] == "n0"], lane[lane["from"] == "02:00:00:00:00:00"]
    # A capture lacks frames on the air at the end, and the sender of a response whose request it lacks.
    assert len(seen) == pytest.approx(len(sent), abs=2)
    several = min(len(sent), len(seen))
    assert list(seen["airtime"][:several]) == list(sent["airtime"][:several])
    assert list(seen["kind"][:several]) == list(sent["kind"][:several])
    shift = sent["start"].to_numpy()[:several] - seen["start"].to_numpy()[:several]
    assert np.ptp(shift) <= 1_000, "time stamps have a resolution of 1 us"
    assert capture.head["source"] == "capture"
    assert {"from", "outcome", "try"} <= set(capture.head["inferred"])


def test_outcomes_and_attempts_follow_from_responses_and_sequence_numbers(logs, tmp_path):
    log, pcap = logs
    run, (_, capture) = multihop.frames(log), captured(pcap, tmp_path, interface=0)
    data = capture.transmissions.query("kind == 'data' and to == '02:00:00:00:00:01'")
    own = run.query("kind == 'data' and `from` == 'n0'")
    several = min(len(data), len(own)) - 1
    answered = (data["outcome"] == "arrived").to_numpy()[:several]
    # The ACK reveals that a frame arrived, unless the ACK was lost.
    assert not np.any(answered & (own["outcome"] != "arrived").to_numpy()[:several])
    assert answered.sum() >= 0.9 * (own["outcome"] == "arrived").sum()
    assert set(data["outcome"]) <= {"arrived", "unknown"}
    assert list(data["try"][:several]) == list(own["try"][:several])
    assert (data["flow"] == "02:00:00:00:00:00 > 02:00:00:00:00:01").all()


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_airtimes_equal_those_of_tshark_to_a_microsecond(logs, tmp_path):
    _, pcap = logs
    _, capture = captured(pcap, tmp_path, interface=1)
    fields = ["-T", "fields", "-e", "wlan_radio.duration"]
    printed = subprocess.run(
        ["tshark", "-r", pcap, "-Y", "frame.interface_id == 1", *fields], capture_output=True, text=True, check=True
    )
    theirs = np.array([float(line) for line in printed.stdout.split()])
    ours = capture.tables["transmissions"]["airtime"].to_numpy() / 1000
    assert len(ours) == len(theirs) > 500
    assert np.abs(ours - theirs).max() <= 1


def test_an_interval_selects_frames_and_a_limit_is_enforced(logs, tmp_path):
    _, pcap = logs
    _, whole = captured(pcap, tmp_path, interface=0)
    _, part = captured(pcap, tmp_path, interface=0, between=(0.5, 1.0))
    starts = whole.tables["transmissions"]["start"]
    assert list(part.tables["transmissions"]["start"]) == list(starts[starts.between(500_000_000, 1_000_000_000)])
    with pytest.raises(UserError, match=r"a capture has at most 100; name an interval"):
        write_capture_log(pcap, tmp_path / "limit.frames", limit=100)
    assert not (tmp_path / "limit.frames").exists()


def test_a_capture_that_is_cut_short_is_read_to_its_end(logs, tmp_path):
    short = tmp_path / "short.pcapng"
    short.write_bytes(logs[1].read_bytes()[:100_001])
    found, log = captured(short, tmp_path)
    assert found.broken is not None
    assert 0 < len(log.tables["transmissions"]) == found.transmissions
    done = call("view", short)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "short.pcapng.html").exists()


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", "capture"), (b"something else entirely", "capture")],
)
def test_other_files_are_refused(tmp_path, data, message):
    file = tmp_path / "none.pcap"
    file.write_bytes(data)
    done = call("view", file)
    assert done.exit_code != 0
    assert message in str(done.exception)


def test_a_capture_without_frames_is_refused(tmp_path):
    file = tmp_path / "empty.pcap"
    file.write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff00007f000000"))
    with pytest.raises(UserError, match=r"empty\.pcap: "):
        multihop.capture_frames(file, tmp_path / "x.frames")


def test_the_commands_write_a_page_and_a_log(logs, tmp_path):
    _, pcap = logs
    page, log = tmp_path / "page.html", tmp_path / "by.frames"
    done = call("view", pcap, "--interface", "2", "--out", page)
    assert done.exit_code == 0, done.output
    assert "02:00:00:00:00:02" in page.read_text() or page.stat().st_size > 10_000
    done = call("measure", pcap, "--frames", log, "--interface", "2", "--between", "1 s, 2 s")
    assert done.exit_code == 0, done.output
    assert multihop.frames(log)["start"].between(1_000_000_000, 2_000_000_000).all()
    for words, message in [
        (["measure", pcap, "--between", "1 s, 2 s"], "add --frames"),
        (["view", logs[0], "--interface", "1"], "is not a capture"),
        (["measure", pcap, "--frames", log, "--interface", "99"], "no such interface"),
    ]:
        refused = call(*words)
        assert refused.exit_code != 0
        assert message in str(refused.exception)
