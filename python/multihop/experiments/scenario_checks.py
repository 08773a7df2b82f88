"""Checks of metrics and charts against resolved scenarios: measurements, time windows, arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from multihop import _core
from multihop.base.errors import UserError
from multihop.experiments.derived_metrics import arguments_at, of_model
from multihop.experiments.metrics import fits
from multihop.experiments.points import Point, as_list
from multihop.experiments.specs import Label, MetricSpec, StudySpec

#: Key path in the study, and message about it.
_Problem = tuple[list[str | int], str]
#: Names of a measurement and of the node that makes it.
_Measured = tuple[str, str]


def unfitting(spec: StudySpec, points: Sequence[Point], views: Sequence[_core.ScenarioView]) -> Iterator[_Problem]:
    """Yields settings of a study that no point fulfils: key paths of the study with messages.

    Checked are measurements and nodes, time windows before the end of a run, and arguments of closed forms.
    """
    pairs = ((each["name"], node) for view in views for each in view["measurements"] for node in each["nodes"])
    measured = list(dict.fromkeys(pairs))
    shortest = min(view["duration"] for view in views)
    for name, metric in spec.metrics.items():
        for problem in _of_metric(name, metric, points, measured, shortest):
            yield ["metrics", name], problem
    for index, chart in enumerate(spec.charts):
        if (chart.column or "").startswith("measurements."):
            for problem in _unmeasured(chart.where, measured, f"charts[{index}]"):
                yield ["charts", index], problem


def _of_metric(
    name: str, metric: MetricSpec, points: Sequence[Point], measured: Sequence[_Measured], shortest: float
) -> Iterator[str]:
    at = f"metrics.{name}"
    if metric.model is not None:
        # Many points share arguments, and a closed form may take long.
        different = {repr(arguments_at(metric, point)): point for point in points}
        for point in different.values():
            try:
                of_model(name, metric, point)
            except UserError as error:
                yield str(error)
    elif (metric.column or "").startswith("measurements."):
        yield from _unmeasured(metric.where, measured, at)
    if metric.between is not None and metric.between[0] >= shortest:
        yield f"{at}.between: begins at {metric.between[0]:g} s, but a run ends at {shortest:g} s; begin earlier"


def _unmeasured(where: Mapping[str, Label | list[Label]], there: Sequence[_Measured], at: str) -> Iterator[str]:
    """Yields a message about a condition on measurements that no point fulfils."""
    if not there:
        yield f"{at}: nothing is measured; add a [[measure]] to the scenario"
        return
    by_name = [pair for pair in there if fits(pair[0], where.get("estimator", []))]
    if not by_name:
        names = ", ".join(dict.fromkeys(name for name, _ in there))
        found = _shown(where["estimator"])
        yield f"{at}.where.estimator: found {found}, but no such measurement exists; needs {names}"
    elif not any(fits(node, where.get("name", [])) for _, node in by_name):
        nodes = ", ".join(dict.fromkeys(node for _, node in by_name))
        yield f"{at}.where.name: found {_shown(where['name'])}, where this is not measured; needs {nodes}"


def _shown(wanted: Label | list[Label]) -> str:
    return " or ".join(repr(one) for one in as_list(wanted))
