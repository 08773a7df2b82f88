"""One self-contained HTML file of a comparison: no server, no network, readable without scripts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from multihop.base.files import write_text
from multihop.experiments.comparisons import VariantRuns
from multihop.explanation.explain import Explanation
from multihop.report.document import page
from multihop.report.places import Shown

__all__ = ["Shown", "page", "write"]


def write(
    comparison: VariantRuns,
    path: Path,
    explanation: Explanation | None = None,
    frames: Mapping[str, Shown] | None = None,
) -> Path:
    """Writes the HTML report of a comparison to `path`, with its explanation.

    Raises:
        UserError: if the file cannot be written, or is the scenario itself.
    """
    return write_text(path, page(comparison, explanation, frames), comparison.scenario.file)
