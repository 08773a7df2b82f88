"""Whether the scenarios of a study have what its metrics and charts ask for: what is measured where, and how long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from multihop import _core
from multihop.errors import UserError
from multihop.study.derived import of_model
from multihop.study.design import Point, as_list
from multihop.study.metrics import fits
from multihop.study.spec import Label, StudySpec

_Where = Mapping[str, Label | list[Label]]


def unfitting(
    spec: StudySpec, points: Sequence[Point], views: Sequence[_core.ScenarioView]
) -> Iterator[tuple[list[str | int], str]]:
    """Path of a key of the study, and what is wrong with it.

    Measurements or nodes that no point has, windows after the end of a run, arguments that a closed form does not take.
    """
    for name, metric in spec.metrics.items():
        at = f"metrics.{name}"
        if metric.model is not None:
            try:
                for point in points:
                    of_model(name, metric, point)
            except UserError as error:
                yield ["metrics", name], str(error)
        elif (metric.column or "").startswith("measurements."):
            for problem in _unmeasured(metric.where, views, f"{at}.where"):
                yield ["metrics", name], problem
        if metric.between is not None:
            shortest = min(view["duration"] for view in views)
            if metric.between[0] >= shortest:
                yield (
                    ["metrics", name],
                    f"{at}.between: begins at {metric.between[0]:g} s, but a run ends at {shortest:g} s",
                )
    for index, chart in enumerate(spec.charts):
        if (chart.column or "").startswith("measurements."):
            for problem in _unmeasured(chart.where, views, f"charts[{index}].where"):
                yield ["charts", index], problem


def _unmeasured(where: _Where, views: Sequence[_core.ScenarioView], at: str) -> Iterator[str]:
    """What is wrong with a condition on measurements, if no point fulfils it."""
    there = [
        (measured["name"], node) for view in views for measured in view["measurements"] for node in measured["nodes"]
    ]
    there = list(dict.fromkeys(there))
    if not there:
        yield f"{at.rpartition('.')[0]}: nothing is measured; add a [[measure]] to the scenario"
        return
    by_name = [pair for pair in there if fits(pair[0], where.get("estimator", []))]
    if not by_name:
        names = ", ".join(dict.fromkeys(name for name, _ in there))
        yield f"{at}.estimator: found {_shown(where['estimator'])}, but there is no such measurement; there are {names}"
    elif not any(fits(node, where.get("name", [])) for _, node in by_name):
        names = ", ".join(dict.fromkeys(node for _, node in by_name))
        yield f"{at}.name: found {_shown(where['name'])}, where this is not measured; it is at {names}"


def _shown(wanted: Label | list[Label]) -> str:
    return " or ".join(repr(one) for one in as_list(wanted))
