"""Video: what tables, comparisons and reports say of its frames."""

import math

import pytest

import multihop
from multihop.results.columns import METRICS, TABLES, VIDEO_METRICS

VIDEO = """
duration = "30 s"
warmup = "5 s"
[topology]
generator = "chain"
hops = 2
[[flows]]
name = "video"
from = "n0"
to = "n2"
scheme = "udp"
app = { kind = "video", rate = "RATE", deadline = "400 ms" }
[[flows]]
name = "constant"
from = "n2"
to = "n0"
scheme = "udp"
app = { kind = "cbr", rate = "50 kb/s", packet = "500 B" }
"""
SLOW, FAST = VIDEO.replace("RATE", "256 kb/s"), VIDEO.replace("RATE", "12 Mb/s")
FRAMES = [name for name in TABLES["flows"] if name.startswith("video_frames_")]


def test_a_video_that_fits_has_no_late_frames():
    result = multihop.run(SLOW)
    video, constant = (row for _, row in result.flows.iterrows())
    assert video["app"] == "video"
    assert video["video_frames_sent"] == 625
    assert video["video_frames_on_time"] >= 624
    assert (video["late_ratio"], video["stall_time_s"], video["stalls"]) == (0.0, 0.0, 0.0)
    assert 0 < video["video_frame_delay_mean_s"] <= video["video_frame_delay_p95_s"] < 0.1
    assert constant[[*FRAMES, "late_ratio", "stalls", "stall_time_s", "video_frame_delay_p95_s"]].isna().all()
    assert constant["rate_cv"] < 0.05
    assert 0 <= constant["jitter_s"] < 0.01
    assert result.summary["late_ratio"] == 0.0


def test_frames_have_one_fate_each_where_the_channel_carries_half():
    result = multihop.run(FAST)
    video = result.flows.iloc[0]
    decided = video[["video_frames_skipped", "video_frames_on_time", "video_frames_late", "video_frames_lost"]].sum()
    assert 0 <= video["video_frames_sent"] - decided <= 11
    missed = video["video_frames_skipped"] + video["video_frames_late"] + video["video_frames_lost"]
    assert video["late_ratio"] == pytest.approx(missed / decided)
    assert video["late_ratio"] > 0.5
    assert result.summary["late_ratio"] == video["late_ratio"]


def test_comparisons_show_frames_where_there_are_any(tmp_path):
    comparison = multihop.compare(SLOW, ["udp", "tcp-newreno"], seeds=2)
    shown = [metric.name for metric in comparison.metrics]
    assert [metric.name for metric in VIDEO_METRICS] == ["late_ratio", "stall_time_s", "video_frame_delay_p95_s"]
    assert set(shown) >= {metric.name for metric in VIDEO_METRICS}
    assert comparison.estimate("udp", "stall_time_s").mean == 0.0
    report = comparison.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Stall time" in report
    assert "Late frames" in report


def test_comparisons_without_a_video_do_not_mention_frames():
    text = SLOW.replace('app = { kind = "video", rate = "256 kb/s", deadline = "400 ms" }', "")
    comparison = multihop.compare(text, ["udp"], seeds=1)
    assert {metric.name for metric in comparison.measured_metrics} <= {metric.name for metric in METRICS}
    assert math.isnan(multihop.run(text).summary["late_ratio"])
