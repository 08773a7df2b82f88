"""The benchmark runs and measures something."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from multihop import measure

BENCHES = Path(__file__).parents[2] / "benches"


#: An ns-2 that knows no UDP.
NS = """#!/bin/sh
case $1 in
  */version.tcl) echo 9.99 ;;
  *) if /bin/grep -q "^flow .* udp" "$2"; then echo "no such agent" >&2; exit 3; fi
     printf 'delivered 1000000\\npeak_kb 1000\\n' ;;
esac
"""


def bench(*arguments: str | Path, program: str = "run.py", **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHES / program), *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env={**os.environ, **environment}
    )


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


def test_a_peer_that_fails_is_named_and_the_others_go_on(tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "ns").write_text(NS)
    (tools / "ns").chmod(0o755)
    out, page = tmp_path / "speed.json", tmp_path / "speed.md"
    chosen = ["--only", "chain-udp", "--only", "chain", "--json", out, "--markdown", page]
    done = bench("--quick", "--peers", *chosen, PATH=str(tools))
    assert done.returncode == 1
    assert "chain-udp: ns: exit code 3: no such agent" in done.stderr
    assert "ns-3 is left out: not installed" in done.stderr

    results = json.loads(out.read_text())
    assert results["versions"]["ns-2"] == "9.99"
    chain, udp = sorted(results["cases"], key=lambda case: case["name"])
    assert (list(udp["failed"]), list(udp["simulators"]), udp["peers"]) == (["ns-2"], ["multihop"], {})
    assert chain["failed"] == {}
    # A quarter of what ns-2 runs, by both, and not a quarter of our 2020 s.
    both = chain["peers"]["ns-2"]
    assert both["simulated_s"] == both["multihop"]["simulated_s"] == both["peer"]["simulated_s"] == 250
    # 1 MB after the scenario's warm-up of 20 s.
    assert both["peer"]["goodput_kbps"] == pytest.approx(8e3 / 230)
    ours = both["multihop"]
    per_bit = ours["cpu_ms_per_simulated_s"]["median"] * 1e3 / ours["goodput_kbps"]
    assert ours["cpu_ns_per_bit"] == pytest.approx(per_bit)
    assert "| chain | ns-2 | 250 |" in page.read_text()
    assert "| chain-udp | ns-2 | failed |" in page.read_text()


def test_each_row_is_there_before_the_next(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHES))
    import run

    out, seen = tmp_path / "speed.json", []

    def measure(case, *_):
        seen.append([there["name"] for there in json.loads(out.read_text())["cases"]] if out.exists() else [])
        if case.name == "chain-udp":
            raise KeyboardInterrupt
        return {"name": case.name}

    monkeypatch.setattr(run, "measure", measure)
    with pytest.raises(KeyboardInterrupt):
        run.main(["--only", "chain", "--only", "chain-11", "--only", "chain-udp", "--json", str(out)])
    assert seen == [[], ["chain"], ["chain", "chain-11"]]
    assert len(json.loads(out.read_text())["cases"]) == 2


def test_an_unknown_scenario_is_a_clean_error():
    done = bench("--only", "ring")
    assert done.returncode == 2
    assert "ring is not a scenario" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_a_quick_viewer_opens_and_moves(browser, tmp_path):
    assert browser, "the bench has one of its own"
    out, page = tmp_path / "viewer.json", tmp_path / "viewer.md"
    done = bench("--quick", "--only", "grid-10", "--json", out, "--markdown", page, program="viewer.py")
    assert done.returncode == 0, done.stderr
    (sample,) = json.loads(out.read_text())["samples"]
    assert sample["transmissions"] > 10_000
    assert 0 < sample["open_cpu_s"] < 10
    assert len(sample["moved"]) == 10
    assert all(0 < moved["cpu_ms"] < 1000 and 0 < moved["frames_per_s"] < 200 for moved in sample["moved"])
    assert f"{sample['transmissions']:,}" in page.read_text()


@pytest.mark.long
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
