"""Checks of a study beyond types: unknown names, and settings that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from multihop.base.errors import UserError
from multihop.experiments.metrics import check_metric, check_where, metric_of, split_column
from multihop.experiments.parsers import place
from multihop.experiments.points import DESIGN_CHECKS, as_list, require_factor, require_labels
from multihop.experiments.specs import Chart, Claim, Curve, StudySpec, is_number
from multihop.experiments.units import shown_unit
from multihop.models import require_model
from multihop.results.columns import TABLES

# Units of rates, for which an upper bound of the channel exists.
_RATES = {"bit/s", "kb/s", "Mb/s"}


def check_study(spec: StudySpec, origin: str, text: str | None) -> None:
    """Checks every name in a study before anything runs.

    Raises:
        UserError: naming file, line, key, the value found and what is needed.
    """
    if spec.model is not None:
        with _at(origin, text, ["model"]):
            require_model(spec.model)
    for key, check in DESIGN_CHECKS.items():
        with _at(origin, text, [key]):
            check(spec)
    for name, metric in spec.metrics.items():
        with _at(origin, text, ["metrics", name]):
            check_metric(spec, name, metric)
    if spec.stop is not None:
        with _at(origin, text, ["stop"]):
            metric_of(spec, spec.stop.metric, "stop.metric")
    for name, kept in spec.quick.keep.items():
        with _at(origin, text, ["quick", "keep", name]):
            require_labels(spec, {name: kept}, "quick.keep")
    for index, chart in enumerate(spec.charts):
        with _at(origin, text, ["charts", index]):
            _check_chart(spec, chart, f"charts[{index}]")
    for index, claim in enumerate(spec.claims):
        with _at(origin, text, ["claims", index, "id"]):
            if any(other.id == claim.id for other in spec.claims[:index]):
                raise UserError(f"claims[{index}].id: {claim.id} is given more than once; needs distinct ids")
        with _at(origin, text, ["claims", index]):
            _check_claim(spec, claim, f"claims[{index}] {claim.id}")


@contextmanager
def _at(origin: str, text: str | None, path: list[str | int]) -> Iterator[None]:
    try:
        yield
    except UserError as error:
        raise UserError(f"{place(origin, text, path)}: {error}") from error


def _check_chart(spec: StudySpec, chart: Chart, at: str) -> None:
    for key in ("x", "by", "panels"):
        name = getattr(chart, key)
        if name is not None:
            require_factor(spec, name, f"{at}.{key}")
    require_labels(spec, chart.at, f"{at}.at")
    if chart.curves:
        _check_curves(spec, chart, at)
    if chart.kind in {"lines", "bars"}:
        _check_metrics(spec, chart, at)
        return
    for key in ("x_metric", "log_x", "printed", *(("x",) if chart.kind == "time" else ())):
        if getattr(chart, key):
            raise UserError(f"{at}.{key}: has no effect in a chart of kind {chart.kind!r}; remove it")
    if isinstance(spec.seeds, list) and chart.seed is not None and chart.seed not in spec.seeds:
        raise UserError(f"{at}.seed: found {chart.seed}; needs one of the study's seeds, {spec.seeds}")
    if not chart.curves:
        _check_steps(spec, chart, Curve(label=" ", metric=chart.metric, column=chart.column, where=chart.where), at)


def _check_metrics(spec: StudySpec, chart: Chart, at: str) -> None:
    if not chart.curves:
        if chart.metric is None or chart.column is not None:
            raise UserError(f"{at}: a chart of kind {chart.kind!r} plots a metric; set metric and remove column")
        metric_of(spec, chart.metric, f"{at}.metric")
    if chart.kind == "lines" and chart.x is None:
        raise UserError(f"{at}.x: missing; name the factor along the axis")
    for key, instead in (
        ("unit", "set the unit of the metric"),
        ("where", "set it in the metric, or use at"),
        ("seed", "use time"),
    ):
        if getattr(chart, key) not in (None, {}):
            raise UserError(f"{at}.{key}: has no effect in a chart of kind {chart.kind!r}; {instead}")
    for number, printed in enumerate(chart.printed):
        require_labels(spec, printed.at, f"{at}.printed[{number}].at")
        labels = [curve.label for curve in chart.curves]
        if printed.curve is not None and printed.curve not in labels:
            raise UserError(f"{at}.printed[{number}].curve: no curve is named {printed.curve!r}; needs one of {labels}")
    _check_axis(spec, chart, at)


def _check_curves(spec: StudySpec, chart: Chart, at: str) -> None:
    """Checks that curves have distinct labels, the quantity that the kind of chart needs, and one unit."""
    if chart.kind == "flows":
        raise UserError(f"{at}.curves: has no effect in a chart of kind 'flows'; use bars")
    given = next((key for key in ("metric", "column", "where", "x_metric") if getattr(chart, key)), None)
    if given is not None:
        raise UserError(f"{at}.{given}: has no effect beside curves; set it in each curve, or remove it")
    units: dict[str, str] = {}
    for number, curve in enumerate(chart.curves):
        place_of = f"{at}.curves[{number}]"
        if any(other.label == curve.label for other in chart.curves[:number]):
            raise UserError(f"{place_of}.label: {curve.label!r} is given more than once; needs distinct labels")
        if chart.kind == "time":
            units.setdefault(_check_steps(spec, chart, curve, place_of), curve.label)
        elif curve.metric is None or curve.column is not None or curve.where:
            raise UserError(f"{place_of}: a chart of kind {chart.kind!r} needs metric, without column and where")
        else:
            units.setdefault(metric_of(spec, curve.metric, f"{place_of}.metric").unit, curve.label)
    if len(units) > 1:
        found = ", ".join(f"{label!r} has {unit or 'none'}" for unit, label in units.items())
        raise UserError(f"{at}.curves: {found}; needs one unit for all")


def _check_steps(spec: StudySpec, chart: Chart, curve: Curve, at: str) -> str:
    """Checks the column or metric of a chart by flow or over time, or of a curve; returns its unit."""
    tables = ["flows"] if chart.kind == "flows" else ["series", "measurements"]
    names = " or ".join(tables)
    if curve.metric is not None and chart.kind == "time":
        return _check_metric_over_time(spec, chart, curve, at)
    if curve.column is None or curve.metric is not None:
        raise UserError(f"{at}: a chart of kind {chart.kind!r} needs column, of the table {names}, and no metric")
    table = curve.column.partition(".")[0]
    if table not in tables:
        wanted = " or ".join(f"{one}.<column>" for one in tables)
        raise UserError(f"{at}.column: found {curve.column!r}; a chart of kind {chart.kind!r} needs {wanted}")
    _, column = split_column(curve.column, f"{at}.column")
    check_where(curve.where, table, f"{at}.where")
    return shown_unit(TABLES[table][column].unit, chart.unit, f"{at}.unit")[0]


def _check_metric_over_time(spec: StudySpec, chart: Chart, curve: Curve, at: str) -> str:
    name = curve.metric or ""
    for key, instead in (("column", "keep one of them"), ("where", "set it in the metric")):
        if getattr(curve, key):
            raise UserError(f"{at}.{key}: has no effect beside metric; {instead}")
    if chart.unit is not None:
        raise UserError(f"{at}.unit: has no effect beside metric; set the unit of the metric")
    return metric_of(spec, name, f"{at}.metric").unit


def _check_axis(spec: StudySpec, chart: Chart, at: str) -> None:
    if chart.x_metric is not None:
        if chart.kind != "lines":
            raise UserError(f"{at}.x_metric: has no effect in a chart of kind {chart.kind!r}; use lines")
        metric_of(spec, chart.x_metric, f"{at}.x_metric")
    elif chart.log_x:
        if chart.kind != "lines" or chart.x is None:
            raise UserError(f"{at}.log_x: has no effect in a chart of kind {chart.kind!r}; use lines")
        wrong = [name for name in spec.factors[chart.x].names if not (is_number(name) and name > 0)]
        if wrong:
            raise UserError(f"{at}.log_x: {chart.x} has the value {wrong[0]!r}; needs numbers above zero")


def _check_claim(spec: StudySpec, claim: Claim, at: str) -> None:
    metric_of(spec, claim.metric, f"{at}: metric")
    require_labels(spec, claim.at, f"{at}: at")
    for key in ("per", "over", "by"):
        name = getattr(claim, key)
        if name is not None:
            require_factor(spec, name, f"{at}: {key}")
    if claim.kind == "value" and claim.over is not None and claim.values is not None:
        names = spec.factors[claim.over].names
        if len(claim.values) != len(names):
            raise UserError(f"{at}: {len(claim.values)} values for {len(names)} of {claim.over}; needs one for each")
    if claim.channel and (claim.kind != "value" or metric_of(spec, claim.metric, at).unit not in _RATES):
        raise UserError(f"{at}: channel: applies only to values of a metric in bit/s; remove it")
    if claim.by is not None:
        for label in claim.order or []:
            require_labels(spec, {claim.by: label}, f"{at}: order")
            left_out = [one for one in as_list(label) if one not in as_list(claim.at.get(claim.by, label))]
            if left_out:
                raise UserError(f"{at}: order: names {left_out[0]}, which at leaves out; change one of the two")
    if claim.kind == "trend" and claim.over is not None:
        names = spec.factors[claim.over].names
        if len(as_list(claim.at.get(claim.over, names))) < 2:
            raise UserError(f"{at}: {claim.over} has one value, so there is no trend; needs at least two")
