"""Single measurement in a separate process.

    child.py SCENARIO DURATION_S WARMUP_S SEED

Prints JSON. The run is measured, not the interpreter: user CPU between two readings around it, and the growth of the
largest resident set. Set-up is measured by a second run that ends after a millisecond of simulated time.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tomllib
from pathlib import Path

# Worker threads busy-wait for their first 50 ms, which would count as CPU time of the run.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
# Imported here, so that the import does not count as CPU time of the first run.
import numpy as np  # noqa: F401
import tomli_w

from multihop import _core


def main() -> None:
    """Measures and prints."""
    file, duration, warmup, seed = Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    text = file.read_text()
    lasting = {"duration": f"{duration} s", "warmup": f"{warmup} s", "seed": seed}
    # A table row needs that long.
    if duration < float(tomllib.loads(text).get("record_interval", "1 s").removesuffix(" s")):
        lasting["record_interval"] = f"{duration} s"
    empty_kb = peak_kb()
    before = user_s()
    output = _core.run(text, str(file), lasting)
    cpu_s = user_s() - before
    full_kb = peak_kb()

    started = at_once(text)
    before = user_s()
    _core.run(started, str(file), {"duration": "1 ms", "warmup": "0 s", "record_interval": "1 ms", "seed": seed})
    setup_s = user_s() - before
    summary = output["summary"]
    measured = {
        "cpu_s": cpu_s,
        "setup_s": setup_s,
        "simulated_s": duration,
        "events": summary["events"],
        "fingerprint": summary["fingerprint"],
        "nodes": len(output["nodes"]["node"]),
        "flows": len(output["flows"]["flow"]),
        "goodput_kbps": float(sum(output["flows"]["delivered_bytes"])) * 8e-3 / float(summary["measured_s"]),
        "empty_kb": empty_kb,
        "peak_kb": full_kb,
    }
    print(json.dumps(measured))


def at_once(text: str) -> str:
    """Starts all flows of a scenario at once, because no flow may start after the end of a run."""
    document = tomllib.loads(text)
    for flow in [*document.get("flows", []), document.get("traffic", {})]:
        flow.pop("start_jitter", None)
    return tomli_w.dumps(document)


def user_s() -> float:
    """User CPU time of this process in seconds."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def peak_kb() -> int:
    """Peak resident set size of this process in kB.

    Linux hands the parent's figure of `getrusage` down to its children, but not the one in /proc.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


if __name__ == "__main__":
    main()
