"""Options that write figures as files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multihop.base import extras
from multihop.base.errors import UserError
from multihop.base.files import require_writable_directory
from multihop.cli import console

if TYPE_CHECKING:
    from multihop.api.results import Comparison

FiguresOption = Annotated[
    str | None,
    typer.Option(metavar="pdf|svg|png", help="Write figures for a paper to OUT/figures.", show_default=False),
]
WidthOption = Annotated[
    str | None,
    typer.Option(help="Width of figures, in in, cm, mm or pt; 3.5in by default.", show_default=False),
]
FontSizeOption = Annotated[
    float | None, typer.Option(help="Size of text in figures, in points; 8 by default.", show_default=False)
]
MetricsOption = Annotated[
    str | None,
    typer.Option(
        help="Only figures of these metrics, comma-separated: goodput, delay, fairness, rtt, loss, retransmission, "
        "window, airtime, or names of metrics such as delay_p95_s.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Figures:
    """Options of figures, and the folder to write them to."""

    folder: Path
    kind: str
    width: str | None
    font_size: float | None
    metrics: list[str] | None

    def write(self, comparison: Comparison, *, quiet: bool) -> None:
        """Writes the figures and prints their paths."""
        written = comparison.figures(
            self.folder, self.kind, width=self.width, font_size=self.font_size, metrics=self.metrics
        )
        if written:
            console.note(f"figures: {self.folder} ({', '.join(path.name for path in written)})", quiet=quiet)
        else:
            console.note("no figure: these runs have no data for --metrics")


def asked(
    kind: str | None, width: str | None, font_size: float | None, metrics: str | None, out: Path | None
) -> Figures | None:
    """Returns the figures that the options request, or `None` without `--figures`.

    Raises:
        UserError: naming the option, the value found and the values accepted.
    """
    given = {"--width": width, "--font-size": font_size, "--metrics": metrics}
    if kind is None:
        lonely = next((option for option, value in given.items() if value is not None), None)
        if lonely is not None:
            raise UserError(f"{lonely}: found without --figures; needs --figures pdf, svg or png")
        return None
    if out is None:
        raise UserError("--figures: figures go to the directory of the results; add --out DIR")
    extras.require("report", "--figures")
    from multihop.report.charts import require_measures
    from multihop.report.charts.files import Paper

    names = None if metrics is None else [name.strip() for name in metrics.split(",") if name.strip()]
    try:
        Paper.of(kind, width, font_size)
        if names is not None:
            require_measures(names)
    except UserError as error:
        raise UserError(f"--{str(error).replace('font size', 'font-size', 1)}") from error
    require_writable_directory(out / "figures")
    return Figures(out / "figures", kind, width, font_size, names)
