"""Assignment of a study's points to panels and series of a chart, and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from multihop.experiments.specs import Chart, Label, StudySpec
from multihop.experiments.studies import StudyResult


@dataclass(frozen=True)
class Layout:
    """Assignment of points to panels and series.

    Attributes:
        names: names of series.
        named_by: title of the factor that distinguishes them.
        panels: title of each panel, and the points of each series by its number.
    """

    names: list[str]
    named_by: str
    panels: list[tuple[str, dict[int, list[int]]]]


def layout_of(result: StudyResult, chart: Chart, x: str | None) -> Layout:
    """Assigns each point its own place: factors shown nowhere else make series, and nothing is averaged."""
    spec = result.study.spec
    chosen = result.select(chart.at)
    labels = {index: result.points[index].labels for index in chosen}
    by = chart.by
    compared = result.study.compared
    if by is None and compared in spec.factors and compared not in (x, chart.panels):
        by = compared if len({labels[index][compared] for index in chosen}) > 1 else None
    placed = [name for name in dict.fromkeys((x, chart.panels, by)) if name is not None]
    others: list[str] = []
    for name in spec.factors:
        if name not in placed and not _follows(labels.values(), name, [*placed, *others]):
            others.append(name)
    numbers: dict[tuple[Label, ...], int] = {}
    panels: dict[Label | None, dict[int, list[int]]] = {}
    for index in chosen:
        apart = tuple(labels[index][name] for name in ([by] if by is not None else []) + others)
        number = numbers.setdefault(apart, len(numbers))
        panel = labels[index][chart.panels] if chart.panels is not None else None
        panels.setdefault(panel, {}).setdefault(number, []).append(index)
    names = []
    for apart in numbers:
        own = [text(apart[0])] if by is not None else []
        others_named = zip(others, apart[len(own) :], strict=True)
        names.append(", ".join([*own, *(named(spec, name, label) for name, label in others_named)]))
    titled = [
        ("" if label is None or chart.panels is None else named(spec, chart.panels, label), series)
        for label, series in panels.items()
    ]
    return Layout(names, title_of(spec, by) if by is not None else "", titled or [("", {})])


def _follows(labels: Any, name: str, others: Sequence[str]) -> bool:  # noqa: ANN401 - a view of mappings
    """Whether a factor's value follows from others, as of factors that advance together."""
    known: dict[tuple[Label, ...], Label] = {}
    return all(known.setdefault(tuple(at[other] for other in others), at[name]) == at[name] for at in labels)


def title_of(spec: StudySpec, factor: str) -> str:
    """Returns the title of a factor for axes and tables."""
    return spec.factors[factor].title or factor.replace("_", " ")


def text(label: Label) -> str:
    """Returns a label as text."""
    if isinstance(label, bool):
        return "yes" if label else "no"
    return f"{label:g}" if isinstance(label, float) else str(label)


def point_words(spec: StudySpec, labels: Mapping[str, Label]) -> str:
    """Returns the varying factors of a point as text."""
    varying = [name for name, factor in spec.factors.items() if len(factor.names) > 1 and name in labels]
    return ", ".join(named(spec, name, labels[name]) for name in varying)


def named(spec: StudySpec, factor: str, label: Label) -> str:
    """Returns a label that stands alone: a number with the name of its factor."""
    speaks = isinstance(label, str) and not label.replace(".", "").isdigit()
    return text(label) if speaks else f"{title_of(spec, factor)} {text(label)}"


def series_name(*parts: str) -> str:
    """Returns the name of a series from the parts that it has."""
    return ", ".join(part for part in parts if part)


def curve_pairs(layout: Layout, curves: int) -> list[tuple[int, int]]:
    """Returns group and curve of each series if there are several of both, so that they share colours."""
    groups = len(layout.names)
    return [(group, curve) for group in range(groups) for curve in range(curves)] if min(groups, curves) > 1 else []


def labels_along(result: StudyResult, chart: Chart) -> list[Label]:
    """Returns the existing values of the factor along the axis, in the factor's order."""
    if chart.x is None:
        return [""]
    there = [result.points[index].labels[chart.x] for index in result.select(chart.at)]
    return [label for label in result.study.spec.factors[chart.x].names if label in there]
