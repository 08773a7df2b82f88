"""Draws the picture of the first tutorial from a real run: what `make demo` compares."""

import tempfile
from pathlib import Path

from docs.pictures import compact

import multihop

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Runs the demo and keeps the chart of its metrics."""
    comparison = multihop.compare(ROOT / "scenarios" / "mesh-demo.toml", ["tcp-newreno", "tcp-sack", "recn"], seeds=10)
    target = ROOT / "docs" / "images"
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        metrics = next(path for path in comparison.figures(folder) if path.name == "metrics.svg")
        (target / "demo.svg").write_text(compact(metrics.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
