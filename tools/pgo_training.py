"""What a build with profile-guided optimisation is trained on: `maturin build --release --pgo` runs it.

The scenarios that are shipped, which have every medium, routing protocol and queue discipline, and not those of
`benches/`: a build must not be trained on what it is measured by. One of them leaves a capture, which is measured.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from multihop import _core

SCENARIOS = Path(__file__).parent.parent / "scenarios"
#: Long enough for steady traffic after the slowest warm-up.
LASTING: dict[str, object] = {"duration": "60 s", "warmup": "5 s", "record_interval": "1 s"}
#: A mesh, run with schemes of every family, and captured.
BASE = SCENARIOS / "mesh-demo.toml"
SCHEMES = ("tcp-sack", "tcp-cubic", "tcp-bbr", "tfrc", "xcp-winf", "rcp-winf", "ewccp", "bmcc", "recn")


def main() -> None:
    """Runs all of them."""
    for file in sorted(SCENARIOS.glob("*.toml")):
        _core.run(file.read_text(), str(file), LASTING)
    for scheme in SCHEMES:
        _core.run(BASE.read_text(), str(BASE), {**LASTING, "scheme": scheme})
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "air.pcapng"
        _core.run(BASE.read_text(), str(BASE), LASTING, pcap=capture)
        _core.measure(str(capture), 1.0)


if __name__ == "__main__":
    main()
