"""One self-contained HTML file of studies: charts, verdicts, numbers and provenance.

- plots: content of charts: points and estimates
- drawing: drawing of charts
- figures: charts in the page, with legend, numbers and file
- claims: verdicts and their cells
- tables: estimates and paired differences
- provenance: versions, seeds, commands, files
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from multihop.base.files import require_writable_file, write_text
from multihop.experiments.studies import StudyResult
from multihop.report.charts.study_figures import StudyFigure, figures
from multihop.report.markup import disclosure, document, escape, paragraphs, section
from multihop.report.study import claims, provenance, tables
from multihop.results.provenance import version
from multihop.simulation.store import KEPT_NAMES

__all__ = ["write_study"]


def write_study(
    results: Sequence[StudyResult],
    path: Path,
    title: str | None = None,
    about: str = "",
    command: str = "",
    front: str = "",
) -> list[Path]:
    """Writes the page, and every chart as SVG into `figures` next to it (a folder per study if several).

    Args:
        results: one study, or several of one paper.
        path: path of the page.
        title: title of the page; a single study's own by default.
        about: citation of the reproduced work.
        command: command that reproduces everything, if there is one.
        front: sections (HTML) before the studies, about all of them.

    Returns:
        The page's path, then those of the charts.

    Raises:
        UserError: if a file cannot be written, or would replace an input of the study.
    """
    for result in results:
        ours = [folder / name for folder in (result.directory, result.store.directory) for name in KEPT_NAMES]
        for source in (Path(result.study.origin), _scenario_file(result), *ours):
            require_writable_file(path, source)
    drawn = [(result, f"s{number}", figures(result, f"s{number}")) for number, result in enumerate(results)]
    written = [write_text(path, _page(drawn, title, about, command, front))]
    for result, _, made in drawn:
        folder = path.parent / "figures"
        folder = folder / result.study.spec.name if len(results) > 1 else folder
        written += [write_text(folder / f"{figure.name}.svg", figure.svg) for figure in made]
    return written


def _page(
    drawn: Sequence[tuple[StudyResult, str, list[StudyFigure]]], title: str | None, about: str, command: str, front: str
) -> str:
    is_single = len(drawn) == 1
    first = drawn[0][0].study.spec
    own = _title(drawn[0][0])
    title = title or (own if is_single else first.name)
    subtitle = f'<p class="subtitle">{escape(own)}</p>' if is_single and title != own else ""
    citation = f'<p class="about">{escape(about)}</p>' if about else ""
    description = paragraphs(first.description) if is_single else ""
    all_of_it = f"<p>To reproduce everything:</p><pre>{escape(command)}</pre>" if command else ""
    parts = [
        f"<header><h1>{escape(title)}</h1>{citation}{subtitle}{description}{_extent(drawn)}{all_of_it}</header>",
        front,
        "" if is_single else _contents(drawn),
        _verdicts(drawn),
        *(_study(result, prefix, made, is_single=is_single) for result, prefix, made in drawn),
    ]
    return document(title, "\n".join(part for part in parts if part))


def _study(result: StudyResult, prefix: str, made: Sequence[StudyFigure], *, is_single: bool) -> str:
    spec = result.study.spec
    heading = "" if is_single else f"<h2>{escape(_title(result))}</h2>{paragraphs(spec.description)}"
    judged = claims.details(result, prefix)
    differences = tables.paired(result)
    parts = [
        heading,
        provenance.incomplete(result),
        f'<div class="figures">{"".join(figure.html for figure in made)}</div>',
        f"<h3>Findings</h3>{paragraphs(spec.discussion)}" if spec.discussion else "",
        f"<h3>Claims</h3>{judged}" if judged else "",
        f"<h3>Estimates</h3>{tables.estimates(result)}",
        disclosure("paired differences", differences) if differences else "",
        f"<h3>Provenance</h3>{provenance.provenance(result)}",
    ]
    return f'<section class="study" id="{prefix}">{"".join(parts)}</section>'


def _verdicts(drawn: Sequence[tuple[StudyResult, str, list[StudyFigure]]]) -> str:
    judgements = [judgement for result, _, _ in drawn for judgement in result.judgements]
    if not judgements:
        return ""
    table = claims.summary([(prefix, result) for result, prefix, _ in drawn])
    return section("Verdicts", f"<p>{escape(claims.counted(judgements))}.</p>{table}", _how_judged())


def _how_judged() -> str:
    return (
        "Each claim is divided into numbers and comparisons, which hold, fail, or are undecided by the seeds. "
        "Reproduced: all hold. Mostly holds: at least three hold for each that fails. Mostly fails: the reverse. "
        "Mixed: in between. Not reproduced: none holds. Undecided: more than half are undecided."
    )


def _extent(drawn: Sequence[tuple[StudyResult, str, list[StudyFigure]]]) -> str:
    """Returns the numbers of studies, points and runs in the page."""
    simulated = [result for result, _, _ in drawn if result.study.spec.model is None]
    words = [f"{len(drawn)} studies"] if len(drawn) > 1 else []
    words.append(f"{sum(len(result.points) for result, _, _ in drawn)} points")
    if simulated:
        words.append(f"{sum(provenance.runs(result) for result in simulated)} runs")
    words.append(f"multihop {escape(version())}")
    return f'<p class="note">{", ".join(words)}</p>'


def _contents(drawn: Sequence[tuple[StudyResult, str, list[StudyFigure]]]) -> str:
    entries = "".join(f'<li><a href="#{prefix}">{escape(_title(result))}</a></li>' for result, prefix, _ in drawn)
    return f'<nav aria-label="Contents"><ol>{entries}</ol></nav>'


def _title(result: StudyResult) -> str:
    return result.study.spec.title or result.study.spec.name


def _scenario_file(result: StudyResult) -> Path | None:
    return result.study.scenario.file if result.study.spec.model is None else None
