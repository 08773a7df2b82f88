"""The benchmark runs and measures something."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parent.parent / "benches" / "run.py"


def bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(RUN), *map(str, arguments)]
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
