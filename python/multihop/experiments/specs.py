"""Definition of study files: these types validate a file, and yield the published JSON Schema."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, TypeGuard

from pydantic import BaseModel, ConfigDict, Field, StrictInt, field_serializer, field_validator, model_validator

from multihop.simulation.scenario import identified, inline_toml

#: Cause assigned to a claim that does not hold.
Whose = Literal["paper", "platform", "reading", "ours"]

#: Name of a factor's value.
Label = str | int | float | bool

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=80)]


_INTEGERS_BELOW = 2**63


class _Table(BaseModel):
    """Table of the file, in which unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Factor(_Table):
    """What varies: one or more scenario keys that take each of `values`, or named `cases` of settings."""

    key: str | list[str] | None = Field(
        None, description="Key path of the scenario, as in `topology.hops`; by default the factor's name."
    )
    values: list[Any] | None = Field(None, min_length=1, description="Values that the key takes, one per point.")
    labels: list[Label] | None = Field(None, min_length=1, description="Labels of the values in tables and charts.")
    cases: dict[str, dict[str, Any]] | None = Field(
        None, min_length=1, description="Instead of values: named cases, each with key paths and their values."
    )
    title: str | None = Field(None, description="Title of the factor on axes and in tables.")

    @model_validator(mode="after")
    def _one_of_two(self) -> Factor:
        if (self.values is None) == (self.cases is None):
            raise ValueError("needs either values or cases")
        if self.cases is not None and (self.key is not None or self.labels is not None):
            raise ValueError("cases name their own keys and labels; remove key and labels")
        if isinstance(self.key, list) and (not self.key or len(set(self.key)) < len(self.key)):
            raise ValueError(f"has key = {self.key}; needs at least one key, and each once")
        if self.labels is not None and self.values is not None and len(self.labels) != len(self.values):
            raise ValueError(f"has {len(self.values)} values and {len(self.labels)} labels; needs one label for each")
        self._check_names()
        return self

    def _check_names(self) -> None:
        seen: set[Label] = set()
        for name in self.names:
            # If one label is text, tables convert all labels to text.
            if name in seen or str(name) in seen:
                raise ValueError(f"has {name!r} more than once; needs each value once, and distinct labels")
            if isinstance(name, int) and not -_INTEGERS_BELOW <= name < _INTEGERS_BELOW:
                raise ValueError(f"has {name}, but columns of tables hold 64 bits; needs a label of text")
            seen |= {name, str(name)}

    @property
    def names(self) -> list[Label]:
        """Labels of the values."""
        if self.cases is not None:
            return list(self.cases)
        return list(self.labels) if self.labels is not None else [_label(value) for value in self.values or []]


class Stop(_Table):
    """Stop rule: seeds suffice once a metric's interval is narrow at every point of a comparison."""

    metric: str = Field(description="Metric whose interval decides.")
    half_width: str = Field(pattern=r"^\d+(\.\d+)? ?%$", description='Half-width as a share of the mean, as in "2 %".')
    at_least: int = Field(3, ge=2, description="Number of seeds before the first decision.")
    step: int = Field(1, ge=1, description="Number of seeds added at a time.")

    @property
    def share(self) -> float:
        """Half-width as a share of the mean."""
        return float(self.half_width.rstrip("% ")) / 100


#: Reductions of a run's rows to one number, with their meanings.
REDUCTIONS: dict[str, str] = {
    "sum": "sum",
    "mean": "mean",
    "min": "minimum",
    "max": "maximum",
    "median": "median",
    "p5": "5th percentile",
    "p10": "10th percentile",
    "p25": "25th percentile",
    "p75": "75th percentile",
    "p90": "90th percentile",
    "p95": "95th percentile",
    "std": "standard deviation",
    "cv": "coefficient of variation: standard deviation over mean",
    "jain": "Jain's index",
    "least-share": "minimum over mean",
    "zeros": "number of zeros",
}


class MetricSpec(_Table):
    """A number per run: from a column of its tables, a closed form, the optimum, or two other metrics."""

    column: str | None = Field(
        None,
        pattern=r"^(flows|nodes|links|wires|series|measurements|summary)\.[a-z0-9_]+$",
        description="`table.column`. In `series` and `measurements`, steps that end after the warm-up count.",
    )
    where: dict[str, Label | list[Label]] = Field(
        default_factory=dict,
        description="Rows that count: a value, or a list of alternatives, for each column; `*` in text matches any "
        "text, and a leading `!` excludes.",
    )
    between: tuple[float, float] | None = Field(
        None,
        description="For `series` and `measurements`: steps that end after the first and not after the second of these "
        "times, in seconds from the start of the run. Default: all steps after the warm-up.",
    )
    reduce: Literal[
        "sum",
        "mean",
        "min",
        "max",
        "median",
        "p5",
        "p10",
        "p25",
        "p75",
        "p90",
        "p95",
        "std",
        "cv",
        "jain",
        "least-share",
        "zeros",
    ] = Field(
        "mean",
        description="Reduction of a run's rows to one number. "
        + "; ".join(f"`{name}`: {meaning}" for name, meaning in REDUCTIONS.items() if name != meaning)
        + ".",
    )
    weight: str | None = Field(None, description="For `mean`: column of the weights.")
    per: str | list[str] | None = Field(
        None, description="Instead of reduce: the sum of the column divided by the sum of this column or these columns."
    )
    against: str | None = Field(
        None,
        description="For `column`: the relative deviation of each row from this reference: a metric above, or "
        "`table.column` of another table with time steps, whose rows at the same time are averaged.",
    )
    against_where: dict[str, Label | list[Label]] = Field(
        default_factory=dict, description="For `against`: rows of its table that count."
    )
    signed: bool = Field(False, description="For `against`: keep the sign; by default the magnitude counts.")
    model: str | None = Field(
        None, description="Instead of a column: a closed form of `multihop list models`, the same for all seeds."
    )
    result: str | None = Field(None, description="For `model`: name of the result.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="For `model`: its arguments.")
    cases: dict[str, dict[str, dict[str, Any]]] = Field(
        default_factory=dict, description="For `model`: arguments for each label of a factor."
    )
    optimum: Literal["distance", "gap", "share", "rate"] | None = Field(
        None,
        description="Instead of a column: the flows' goodput x relative to the utility-maximal x* of the point's "
        "scenario. `distance`: |x - x*| / |x*|; `gap`: 1 minus the geometric mean of x / x*; `share`: x / x* of each "
        "flow; `rate`: x* of each flow; the last two are reduced over flows. Missing if nodes or flows change.",
    )
    utility: str = Field("log", description="For `optimum`: log, max-min, or alpha=A, as in alpha=2.")
    constraints: Literal["cliques", "interference-sets"] = Field(
        "cliques", description="For `optimum`: the sets of links that share airtime."
    )
    level: Literal["hard", "carrier-sense", "idle-channel"] = Field(
        "idle-channel", description="For `optimum`: model of the airtime charged, as in `multihop bound`."
    )
    feedback: bool = Field(True, description="For `optimum`: charge the transport's acknowledgements.")
    got: Literal["goodput_bps", "timely_bps"] = Field(
        "goodput_bps", description="For `optimum`: the column of flows that is x."
    )
    metric: str | None = Field(None, description="Instead of a column: a metric above this one.")
    over: str | None = Field(None, description="For `metric`: divisor, a metric above this one.")
    less: str | None = Field(None, description="For `metric`: subtrahend, a metric above this one of the same unit.")
    at: dict[str, Label] = Field(
        default_factory=dict,
        description="For `over` and `less`: factors and labels of the point whose metric is taken, by seed; other "
        "factors stay. `metric` and `over` may be the same metric, for a ratio between schemes.",
    )
    title: str | None = Field(None, description="Title on axes and in tables; the metric's name by default.")
    unit: str | None = Field(None, description="Unit of display, as in kb/s, ms or %; the column's by default.")
    better: Literal["higher", "lower"] | None = Field(None, description="Preferred direction, if there is one.")

    @model_validator(mode="after")
    def _one_way(self) -> MetricSpec:
        kinds = ("column", "model", "optimum", "metric")
        if sum(getattr(self, kind) is not None for kind in kinds) != 1:
            raise ValueError("needs one of column, model, optimum and metric")
        of = {
            ("column",): ("between", "weight", "per", "against"),
            ("against",): ("against_where", "signed"),
            ("column", "optimum"): ("where", "reduce"),
            ("model",): ("result", "arguments", "cases"),
            ("optimum",): ("utility", "constraints", "level", "feedback", "got"),
            ("metric",): ("over", "less", "at"),
        }
        for needed, keys in of.items():
            given = next((key for key in keys if key in self.model_fields_set), None)
            if given is not None and all(getattr(self, kind) is None for kind in needed):
                raise ValueError(f"has {given}, which needs {' or '.join(needed)}; remove it, or add that")
        if self.optimum in {"distance", "gap"} and ({"where", "reduce"} & self.model_fields_set):
            raise ValueError(f"has optimum = {self.optimum!r}, which is of all flows together; remove where and reduce")
        if self.per is not None and ({"reduce", "weight"} & self.model_fields_set):
            raise ValueError("has per, which makes a ratio of sums, and reduce or weight; keep one of them")
        if self.per is not None and self.against is not None:
            raise ValueError("has per, which makes a ratio of sums, and against; keep one of them")
        if self.model is not None and self.result is None:
            raise ValueError("has model without result; needs the name of one of its results")
        if self.metric is not None and (self.over is None) == (self.less is None):
            raise ValueError("has metric; needs either over or less")
        if self.between is not None and not 0 <= self.between[0] < self.between[1]:
            raise ValueError("has an empty window between; needs two times, the earlier one first")
        return self


class Curve(_Table):
    """One of several quantities of the same unit in a chart: a line, or a bar."""

    label: str = Field(description="Name of the curve in the legend. Empty: the other factors name it.")
    metric: str | None = Field(None, description="Its metric, as in a chart without curves.")
    column: str | None = Field(None, description="For `time`, instead of metric: its column.")
    where: dict[str, Label | list[Label]] = Field(
        default_factory=dict, description="For `column`: rows that count, as in a metric."
    )


class Printed(_Table):
    """Number that a paper prints, where no claim of kind `value` has it."""

    value: float = Field(description="The number, in the metric's unit.")
    at: dict[str, Label | list[Label]] = Field(default_factory=dict, description="Factors and labels of its points.")
    curve: str | None = Field(None, description="Label of its curve. Default: every curve.")


class Chart(_Table):
    """Figure of the report."""

    kind: Literal["lines", "bars", "flows", "time"] = Field(
        "lines",
        description="`lines` and `bars`: a metric over a factor; `flows`: a column by flow; `time`: a column over "
        "time.",
    )
    metric: str | None = Field(
        None,
        description="For `lines` and `bars`: the metric. For `time`, instead of column: a metric of a column of series "
        "or measurements before it is reduced to one number, or any other metric as a level line.",
    )
    column: str | None = Field(
        None,
        description="For `flows`: a column of the table flows; for `time`: of series, averaged over matching flows, "
        "or of measurements, with a line per estimator and node.",
    )
    curves: list[Curve] = Field(
        default_factory=list,
        description="Instead of metric or column: several quantities of one unit in one picture. Bars without `x` are "
        "grouped by curve.",
    )
    where: dict[str, Label | list[Label]] = Field(
        default_factory=dict, description="For `flows` and `time`: rows that count, as in a metric."
    )
    unit: str | None = Field(None, description="For `flows` and `time`: unit of display.")
    seed: StrictInt | None = Field(
        None,
        description="For `time` and `flows`: the run of this seed, and over time the 5th to the 95th percentile of all "
        "seeds as a band. Default: the mean over seeds with its 95 % interval.",
    )
    x: str | None = Field(
        None, description="Factor along the axis. For `flows`: then each flow is a line, or bars of one colour."
    )
    x_metric: str | None = Field(
        None,
        description="For `lines`: metric whose mean is the x axis; points are joined in the order of factor `x`.",
    )
    y_title: str | None = Field(
        None, description="Title of the y axis, without unit. Default: that of the metric or column; none with curves."
    )
    by: str | None = Field(None, description="Factor that distinguishes lines or bars; the compared one by default.")
    panels: str | None = Field(None, description="Factor with one panel for each of its values.")
    at: dict[str, Label | list[Label]] = Field(
        default_factory=dict, description="Factors and labels of the points that the chart shows. Default: all points."
    )
    printed: list[Printed] = Field(
        default_factory=list,
        description="For `lines` and `bars`: numbers of a paper, marked beside those of the study's claims.",
    )
    title: str = Field(description="Heading of the chart.")
    note: str = Field("", description="A line below the chart.")
    log_x: bool = Field(False, description="For `lines`: logarithmic x axis, for values above zero.")
    log_y: bool = Field(False, description="Logarithmic y axis.")


class Claim(_Table):
    """Finding of a paper, in our own words, as a testable statement about this study."""

    id: str = Field(description="Name of the claim, unique in the study.")
    where: str = Field(description="Place in the paper, as in `Table 3`.")
    says: str = Field(description="The claim in a sentence.")
    kind: Literal["value", "trend", "order", "bound"] = Field(
        description="`value`: a mean is near a printed number; `trend`: a mean rises, falls or stays along a factor; "
        "`order`: values of a factor are ranked; `bound`: a mean keeps a limit."
    )
    metric: str = Field(description="Metric of the claim.")
    at: dict[str, Label | list[Label]] = Field(default_factory=dict, description="Factors and labels of the points.")
    per: str | None = Field(None, description="Factor whose values are readings of the paper, each with a verdict.")
    over: str | None = Field(None, description="Factor along which values are listed or a trend is tested.")
    values: list[float | None] | None = Field(
        None,
        description="`value`: the paper's numbers, one per value of `over`; nan if it gives none.",
        # JSON has no nan: editors check TOML's as null.
        json_schema_extra={"items": {"type": ["number", "null"]}},
    )
    tolerance: str | float = Field(
        "10 %", description="`value` and constant trends: tolerance as a share, or absolute in the metric's unit."
    )
    direction: Literal["rises", "falls", "constant"] | None = Field(
        None, description="`trend`: its direction; constant: differences to the first value are within the tolerance."
    )
    by: str | None = Field(None, description="`order`: the ranked factor.")
    order: list[Label | list[Label]] | None = Field(None, description="`order`: labels from the most to the least.")
    ties: bool = Field(False, description="`order`: whether a difference that is not significant suffices.")
    times: float = Field(1.0, gt=0, description="`order`: factor by which each value must exceed the next.")
    at_least: float | None = Field(None, description="`bound`: lower limit in the metric's unit.")
    at_most: float | None = Field(None, description="`bound`: upper limit in the metric's unit.")
    channel: bool = Field(False, description="`value`: compare the paper's numbers with the channel's upper bound.")
    reason: str = Field("", description="Known reason why the result differs from the paper.")
    whose: Whose | None = Field(
        None,
        description="Cause of the difference if the claim does not hold: `paper`, which contradicts itself or physics; "
        "`platform` that the paper measured on; `reading` of a detail that the paper leaves open; `ours`, a "
        "shortcoming of model or scenario. Needs a reason.",
    )

    @field_validator("values", mode="before")
    @classmethod
    def _without_nan(cls, values: Any) -> Any:  # noqa: ANN401 - any value in the file
        is_gap = (
            [isinstance(value, float) and math.isnan(value) for value in values] if isinstance(values, list) else []
        )
        return [None if gap else value for gap, value in zip(is_gap, values, strict=True)] if any(is_gap) else values

    @field_serializer("values")
    def _with_nan(self, values: list[float | None] | None) -> list[float] | None:
        # TOML has no null.
        return None if values is None else [math.nan if value is None else value for value in values]

    @model_validator(mode="after")
    def _complete(self) -> Claim:
        needs: dict[str, tuple[str, ...]] = {
            "value": ("over", "values"),
            "trend": ("over", "direction"),
            "order": ("by", "order"),
            "bound": (),
        }
        missing = [name for name in needs[self.kind] if getattr(self, name) is None]
        if missing:
            raise ValueError(f"is of kind {self.kind!r} and needs {' and '.join(missing)}")
        if self.kind == "bound" and self.at_least is None and self.at_most is None:
            raise ValueError("is of kind 'bound' and needs at_least or at_most")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"has at_least = {self.at_least:g} above at_most = {self.at_most:g}; no value is both")
        if self.whose is not None and not self.reason.strip():
            raise ValueError(f"has whose = {self.whose!r} without reason; needs a reason")
        self._check_order()
        tolerance(self.tolerance, 1.0)
        return self

    def _check_order(self) -> None:
        if self.order is None:
            return
        if len(self.order) < 2:
            raise ValueError("has fewer than two ranks; needs at least two")
        named = [label for rank in self.order for label in (rank if isinstance(rank, list) else [rank])]
        if [] in self.order or len(set(named)) < len(named):
            raise ValueError(f"has order = {self.order}; needs at least one value for each rank, and each value once")


class Quick(_Table):
    """Changes for a quick run: fewer seeds, a shorter run, fewer values."""

    seeds: StrictInt | None = Field(None, ge=1, description="Number of seeds; of a list, the first ones.")
    set: dict[str, Any] = Field(default_factory=dict, description="Values by key path, set after all factors.")
    keep: dict[str, Annotated[list[Label], Field(min_length=1)]] = Field(
        default_factory=dict, description="Values to keep of each factor."
    )


class StudySpec(_Table):
    """A study of `multihop`: a base scenario, factors, seeds, metrics, charts and claims."""

    name: Name = Field(description="Name of the study: letters, digits, - and _, with a letter first.")
    title: str | None = Field(None, description="Heading of the report.")
    description: str = Field("", description="Question of the study, for the report.")
    discussion: str = Field("", description="Findings beyond the claims, for the report.")
    scenario: str | dict[str, Any] | None = Field(None, description="File next to the study, or the scenario itself.")
    model: str | None = Field(None, description="Instead of a scenario: a closed form, whose arguments vary.")
    seeds: StrictInt | list[StrictInt] = Field(
        10, description="Number of seeds, counted up from the scenario's; or the seeds themselves."
    )
    set: dict[str, Any] = Field(default_factory=dict, description="Values by key path, for all points.")
    factors: dict[Name, Factor] = Field(default_factory=dict, description="Factors that vary, by name.")
    zip: list[list[str]] = Field(default_factory=list, description="Groups of factors that advance together.")
    cases: list[dict[str, Label]] | None = Field(
        None, min_length=1, description="Combinations of labels to run, instead of all combinations of these factors."
    )
    compare: str | None = Field(None, description="Factor whose values are compared, seed by seed.")
    stop: Stop | None = Field(None, description="Stop rule; by default all seeds are run.")
    metrics: dict[Name, MetricSpec] = Field(default_factory=dict, description="Metrics, one number per run, by name.")
    charts: list[Chart] = Field(default_factory=list, description="Figures of the report.")
    claims: list[Claim] = Field(default_factory=list, description="Claims to test.")
    quick: Quick = Field(default_factory=lambda: Quick(seeds=None), description="Changes of `--quick`.")

    @model_validator(mode="after")
    def _one_source(self) -> StudySpec:
        if (self.scenario is None) == (self.model is None):
            raise ValueError("needs either scenario or model")
        if self.model is not None and self.stop is not None:
            raise ValueError("has a stop rule, but a closed form has no seeds; remove it")
        if self.model is not None and self.metrics:
            raise ValueError("has metrics, but a closed form has no tables for them; remove them")
        return self


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of study files. Keys without a value are left out, since TOML has no null."""
    return identified("study", _published(StudySpec.model_json_schema()))


def tolerance(text: str | float, printed: float) -> float:
    """Returns a tolerance in the unit of the number that it applies to.

    Raises:
        ValueError: if the text is neither a number nor a percentage.
    """
    if isinstance(text, str):
        number = text.strip().removesuffix("%").strip()
        try:
            share = float(number)
        except ValueError:
            share = -1.0
        if not text.strip().endswith("%") or not 0 <= share < math.inf:
            raise ValueError(f'tolerance {text!r} is no share; needs a share as in "10 %", or a number')
        return abs(printed) * share / 100
    if text < 0:
        raise ValueError(f"tolerance {text:g} is below zero; needs 0 or more")
    return text


def is_number(label: Label) -> TypeGuard[int | float]:
    """Whether a label is a number, with a place on a numeric axis."""
    return isinstance(label, int | float) and not isinstance(label, bool)


def _label(value: Any) -> Label:  # noqa: ANN401 - any value that TOML has
    if isinstance(value, str | int | float | bool):
        return value
    try:
        return inline_toml(value) if isinstance(value, list | dict) else str(value)
    except (TypeError, ValueError, AttributeError, RecursionError):
        # A value that no file can hold is refused when the scenario is checked; until then it needs a label.
        return object.__repr__(value)


def _published(part: Any) -> Any:  # noqa: ANN401 - any part of a JSON Schema
    """Returns pydantic's schema without titles and nulls; names of tables must match their pattern."""
    if isinstance(part, list):
        return [_published(one) for one in part]
    if not isinstance(part, dict):
        return part
    # `title` with text is a heading, otherwise the name of a key.
    kept = {key: value for key, value in part.items() if not (key == "title" and isinstance(value, str))}
    made = {key: _published(value) for key, value in kept.items() if not (key == "default" and value is None)}
    if "anyOf" in made:
        made["anyOf"] = [one for one in made["anyOf"] if one != {"type": "null"}]
        if len(made["anyOf"]) == 1:
            made = made.pop("anyOf")[0] | made
    if "patternProperties" in made:
        made["additionalProperties"] = False
    return made
