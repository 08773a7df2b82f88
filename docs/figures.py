"""Draws the pictures of docs/images from real runs: what `make demo` compares, an aggregate, and BBR's states."""

import tempfile
from pathlib import Path

from docs import aggregate_picture, aggregate_run, bbr_picture
from docs.pictures import compact

import multihop

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "images"


def main() -> None:
    """Draws all of them."""
    TARGET.mkdir(exist_ok=True)
    demo()
    aggregate()
    bbr()


def demo() -> None:
    """Runs the demo and keeps the chart of its metrics."""
    comparison = multihop.compare(ROOT / "scenarios" / "mesh-demo.toml", ["tcp-newreno", "tcp-sack", "recn"], seeds=10)
    with tempfile.TemporaryDirectory() as folder:
        figures = comparison.figures(folder, width="11in", font_size=10)
        metrics = next(path for path in figures if path.name == "metrics.svg")
        (TARGET / "demo.svg").write_text(compact(metrics.read_text(encoding="utf-8")), encoding="utf-8")


def aggregate() -> None:
    """Runs two stations of 802.11n that lose packets, and draws two exchanges of theirs."""
    found = aggregate_run.story(*aggregate_run.logged())
    (TARGET / "aggregate.svg").write_text(compact(aggregate_picture.svg(found)), encoding="utf-8")


def bbr() -> None:
    """Runs a flow of each version of BBR over a wire, and draws its states."""
    runs = {scheme: bbr_picture.series(scheme) for scheme in bbr_picture.VERSIONS}
    (TARGET / "bbr.svg").write_text(compact(bbr_picture.svg(runs)), encoding="utf-8")


if __name__ == "__main__":
    main()
