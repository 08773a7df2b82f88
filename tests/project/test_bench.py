"""The benchmark runs and measures something."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from multihop import measure

BENCHES = Path(__file__).parents[2] / "benches"


def bench(*arguments: str | Path, program: str = "run.py") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHES / program), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_a_quick_run_measures_speed_memory_and_work(tmp_path):
    out, page = tmp_path / "speed.json", tmp_path / "speed.md"
    done = bench("--quick", "--only", "chain", "--json", out, "--markdown", page)
    assert done.returncode == 0, done.stderr
    assert "chain" in done.stdout

    results = json.loads(out.read_text())
    assert list(results["versions"]) == ["multihop"]
    (case,) = results["cases"]
    assert case["name"] == "chain"
    found = case["simulators"]["multihop"]
    assert (found["nodes"], found["flows"], found["simulated_s"]) == (8, 1, 505)
    assert found["events"] > 100_000
    assert found["events_per_cpu_s"] > 10_000
    cost = found["cpu_ms_per_simulated_s"]
    assert 0 < cost["min"] <= cost["median"] <= cost["max"]
    assert found["peak_kb"] > found["run_kb"] >= 0
    # ns-2 carries 220 kb/s over this chain; see the validation page.
    assert found["goodput_kbps"] == pytest.approx(220, rel=0.05)
    assert f"{found['events']:,}" in page.read_text()


def test_an_unknown_scenario_is_a_clean_error():
    done = bench("--only", "ring")
    assert done.returncode == 2
    assert "ring is not a scenario" in done.stderr
    assert "Traceback" not in done.stderr


def test_quick_captures_are_measured_whole(tmp_path):
    out, page = tmp_path / "capture.json", tmp_path / "capture.md"
    done = bench("--quick", "--json", out, "--markdown", page, program="capture.py")
    assert done.returncode == 0, done.stderr
    results = json.loads(out.read_text())
    ours = [sample for sample in results["samples"] if sample["command"] == "measure"]
    # Whole repetitions of a capture of some megabytes: at least as much as asked for.
    wanted = [5_000_000, 10_000_000, 20_000_000]
    assert all(size <= sample["bytes"] <= 1.5 * size for size, sample in zip(wanted, ours, strict=True))
    assert all(sample["frames"] > 50_000 and sample["cpu_s"] > 0 for sample in ours)
    # A Python with its tables is in memory at least.
    assert all(30_000 < sample["peak_kb"] < 1_000_000 for sample in ours)
    assert f"{ours[-1]['frames']:,}" in page.read_text()
    if results["tshark"] is None:
        assert "tshark is left out" in done.stderr


def test_a_repeated_capture_goes_on_in_time(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHES))
    from capture import Repeated

    repeated = Repeated(tmp_path, 10)
    path = tmp_path / "capture.pcapng"
    repeated.write(path, len(repeated.head) + 1)
    once = measure(path)
    frames = repeated.write(path, 2 * once.bytes)
    thrice = measure(path)
    assert (thrice.records, thrice.broken) == (3 * once.records, None) == (frames, None)
    for before, after in zip(once.sniffers, thrice.sniffers, strict=True):
        # Neither clock goes back or jumps, and what is on the air is on the air three times.
        assert (after.quality["timer_steps"], after.quality["backward"]) == (0, 0)
        assert after.length_s == pytest.approx(20 + before.length_s, abs=1e-6)
        busy = once.busy_ratio(before) * before.length_s
        assert thrice.busy_ratio(after) * after.length_s == pytest.approx(3 * busy, rel=1e-6)
