"""Units of metrics, for computation and display."""

from __future__ import annotations

from multihop.base.errors import UserError
from multihop.experiments.specs import MetricSpec, StudySpec
from multihop.models import unit_of_result
from multihop.results.columns import TABLES

#: Factor from the unit of a column to a unit of display.
_SCALES: dict[tuple[str, str], float] = {
    ("bit/s", "kb/s"): 1e-3,
    ("bit/s", "Mb/s"): 1e-6,
    ("byte", "kB"): 1e-3,
    ("byte", "MB"): 1e-6,
    ("s", "ms"): 1e3,
    ("s", "us"): 1e6,
    ("1", "%"): 1e2,
    ("1", ""): 1.0,
}

#: Reductions whose result has no unit.
_WITHOUT_UNIT = {"jain", "least-share", "zeros", "cv"}


def shown_unit(unit: str, wanted: str | None, where: str) -> tuple[str, float]:
    """Returns the unit in which a column is shown, and the factor from the column's unit to it.

    Raises:
        UserError: if the column's unit cannot be converted to the wanted one.
    """
    if wanted is None or wanted == unit:
        return ("" if unit == "1" else unit), 1.0
    if (unit, wanted) not in _SCALES:
        can = [to for (source, to) in _SCALES if source == unit and to] or [unit]
        what = "a ratio" if unit == "1" else f"a column in {unit}"
        raise UserError(f"{where}: {wanted!r} is no unit for {what}; needs {' or '.join(can)}")
    return wanted, _SCALES[unit, wanted]


def unit_of(spec: StudySpec, metric: MetricSpec) -> str:
    """Returns the unit in which a metric is computed; the metrics that it uses must exist."""
    if metric.model is not None:
        return unit_of_result(metric.result or "")
    if metric.metric is not None:
        unit = unit_of(spec, spec.metrics[metric.metric])
        return unit if metric.over is None else _ratio(unit, {unit_of(spec, spec.metrics[metric.over])})
    if metric.optimum is not None:
        return "bit/s" if metric.optimum == "rate" and metric.reduce not in _WITHOUT_UNIT else "1"
    table, _, column = (metric.column or "").partition(".")
    if metric.reduce in _WITHOUT_UNIT or metric.against is not None:
        return "1"
    return _ratio(TABLES[table][column].unit, {TABLES[table][divisor].unit for divisor in divisors_of(metric)})


def divisors_of(metric: MetricSpec) -> list[str]:
    """Returns the columns of `per`."""
    return [metric.per] if isinstance(metric.per, str) else list(metric.per or [])


def _ratio(unit: str, divisors: set[str]) -> str:
    if divisors in (set(), {"1"}):
        return unit
    return "1" if divisors == {unit} else f"{unit} per {'/'.join(sorted(divisors))}"
