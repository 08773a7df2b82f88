"""What a study file can say: these types are the definition, and make the published JSON Schema."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, TypeGuard

from pydantic import BaseModel, ConfigDict, Field, StrictInt, field_serializer, field_validator, model_validator

from multihop.simulation.scenario import inline_toml

#: What a claim that does not hold is put down to.
Whose = Literal["paper", "platform", "reading", "ours"]

#: A value of a factor as people and claims name it.
Label = str | int | float | bool

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=80)]


_INTEGERS_BELOW = 2**63


class _Table(BaseModel):
    """A table of the file: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Factor(_Table):
    """What varies: one or more scenario keys that take each of `values`, or named `cases` of settings."""

    key: str | list[str] | None = Field(
        None, description="Key path of the scenario, as in `topology.hops`; by default the factor's name."
    )
    values: list[Any] | None = Field(None, min_length=1, description="What the key becomes, one after the other.")
    labels: list[Label] | None = Field(None, min_length=1, description="What tables and charts call the values.")
    cases: dict[str, dict[str, Any]] | None = Field(
        None, min_length=1, description="Instead of values: name of a case -> key path -> value."
    )
    title: str | None = Field(None, description="What axes and tables call the factor.")

    @model_validator(mode="after")
    def _one_of_two(self) -> Factor:
        if (self.values is None) == (self.cases is None):
            raise ValueError("needs either values or cases")
        if self.cases is not None and (self.key is not None or self.labels is not None):
            raise ValueError("cases name their own keys and labels; remove key and labels")
        if isinstance(self.key, list) and (not self.key or len(set(self.key)) < len(self.key)):
            raise ValueError(f"has key = {self.key}; name at least one, and each once")
        if self.labels is not None and self.values is not None and len(self.labels) != len(self.values):
            raise ValueError(f"has {len(self.values)} values and {len(self.labels)} labels; give one label for each")
        self._check_names()
        return self

    def _check_names(self) -> None:
        seen: set[Label] = set()
        for name in self.names:
            # Where one label is text, tables write all of them as text.
            if name in seen or str(name) in seen:
                raise ValueError(f"has {name!r} more than once; each value once, and labels that differ")
            if isinstance(name, int) and not -_INTEGERS_BELOW <= name < _INTEGERS_BELOW:
                raise ValueError(f"has {name}, but columns of tables hold 64 bits; give it a label of text")
            seen |= {name, str(name)}

    @property
    def names(self) -> list[Label]:
        """A label for each value."""
        if self.cases is not None:
            return list(self.cases)
        return list(self.labels) if self.labels is not None else [_label(value) for value in self.values or []]


class Stop(_Table):
    """When seeds suffice: once a metric's interval is narrow at every point of a comparison."""

    metric: str = Field(description="Metric whose interval is looked at.")
    half_width: str = Field(pattern=r"^\d+(\.\d+)? ?%$", description='Share of the mean, as in "2 %".')
    at_least: int = Field(3, ge=2, description="Seeds before the interval is looked at.")
    step: int = Field(1, ge=1, description="Seeds that are added at a time.")

    @property
    def share(self) -> float:
        """The half-width as a share of the mean."""
        return float(self.half_width.rstrip("% ")) / 100


#: Way of reducing a run's rows to one number -> what it makes of them.
REDUCTIONS: dict[str, str] = {
    "sum": "sum",
    "mean": "mean",
    "min": "the least",
    "max": "the greatest",
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
    "least-share": "the least over the mean",
    "zeros": "how many are zero",
}


class MetricSpec(_Table):
    """A number per run: from a column of its tables, a closed form, the optimum, or two other metrics."""

    column: str | None = Field(
        None,
        pattern=r"^(flows|nodes|links|wires|series|measurements|summary)\.[a-z0-9_]+$",
        description="`table.column`. Of `series` and `measurements`, steps that end after the warm-up count.",
    )
    where: dict[str, Label | list[Label]] = Field(
        default_factory=dict,
        description="Rows that count: column -> value, or several of which one will do; text may have `*`, and none of "
        "those with a first `!` may be.",
    )
    between: tuple[float, float] | None = Field(
        None,
        description="Of `series` and `measurements`, instead of all after the warm-up: steps that end after the first "
        "and not after the second of these times, in seconds from the start of the run.",
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
        description="What makes one number of a run's rows. "
        + "; ".join(f"`{name}`: {meaning}" for name, meaning in REDUCTIONS.items() if name != meaning)
        + ".",
    )
    weight: str | None = Field(None, description="For `mean`: the column to weigh by.")
    per: str | list[str] | None = Field(
        None, description="Instead of reduce: the sum of the column over the sum of this one, or of these together."
    )
    against: str | None = Field(
        None,
        description="Of `column`: not the column, but how far it is off from this one, as a share of it, row by row: a "
        "metric above, or `table.column` of another table of steps, whose rows at the same time are averaged.",
    )
    against_where: dict[str, Label | list[Label]] = Field(
        default_factory=dict, description="Of `against`: rows of its table that count."
    )
    signed: bool = Field(False, description="Of `against`: below it is negative; otherwise only the size counts.")
    model: str | None = Field(
        None, description="Instead of a column: a closed form of `multihop list models`, the same for all seeds."
    )
    result: str | None = Field(None, description="Of `model`: which of the numbers that it makes.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="Of `model`: its arguments.")
    cases: dict[str, dict[str, dict[str, Any]]] = Field(
        default_factory=dict, description="Of `model`: factor -> label -> arguments at its points."
    )
    optimum: Literal["distance", "gap", "share", "rate"] | None = Field(
        None,
        description="Instead of a column: the flows' goodput x beside the utility-maximal x* of the point's scenario. "
        "`distance`: |x - x*| / |x*|; `gap`: 1 less the geometric mean of x / x*; `share`: of each flow x / x*; "
        "`rate`: of each flow x*; the last two are reduced over flows. Missing where nodes or flows come and go.",
    )
    utility: str = Field("log", description="Of `optimum`: log, max-min, or alpha=A, as in alpha=2.")
    constraints: Literal["cliques", "interference-sets"] = Field(
        "cliques", description="Of `optimum`: the sets of links that share airtime."
    )
    level: Literal["hard", "carrier-sense", "idle-channel"] = Field(
        "idle-channel", description="Of `optimum`: what is charged, as in `multihop bound`."
    )
    feedback: bool = Field(True, description="Of `optimum`: charge the transport's acknowledgements.")
    got: Literal["goodput_bps", "timely_bps"] = Field(
        "goodput_bps", description="Of `optimum`: the column of flows that is x."
    )
    metric: str | None = Field(None, description="Instead of a column: a metric above this one.")
    over: str | None = Field(None, description="Of `metric`: divided by this one.")
    less: str | None = Field(None, description="Of `metric`: less this one, which has the same unit.")
    at: dict[str, Label] = Field(
        default_factory=dict,
        description="Of `over` and `less`: take it, by seed, at the point where these factors have these values, and "
        "all others are as here. So `metric` and `over` may be one, as what is left of it with another scheme.",
    )
    title: str | None = Field(None, description="What axes and tables call it; by default the metric's name.")
    unit: str | None = Field(None, description="Unit to show it in, as in kb/s, ms or %; the column's by default.")
    better: Literal["higher", "lower"] | None = Field(None, description="Which way is better, if one is.")

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
                raise ValueError(f"has {given}, which goes with {' or '.join(needed)}; remove one of the two")
        if self.optimum in {"distance", "gap"} and ({"where", "reduce"} & self.model_fields_set):
            raise ValueError(f"has optimum = {self.optimum!r}, which is of all flows together; remove where and reduce")
        if self.per is not None and ({"reduce", "weight"} & self.model_fields_set):
            raise ValueError("has per, which makes a ratio of sums, and reduce or weight; keep one of them")
        if self.per is not None and self.against is not None:
            raise ValueError("has per, which makes a ratio of sums, and against; keep one of them")
        if self.model is not None and self.result is None:
            raise ValueError("has model, and so needs result, which of its numbers is meant")
        if self.metric is not None and (self.over is None) == (self.less is None):
            raise ValueError("has metric, and so needs either over or less")
        if self.between is not None and not 0 <= self.between[0] < self.between[1]:
            raise ValueError("has a window between that is empty; give two times, the earlier one first")
        return self


class Chart(_Table):
    """A figure of the report."""

    kind: Literal["lines", "bars", "flows", "time"] = Field(
        "lines",
        description="`lines` and `bars`: a metric over a factor; `flows`: a column by flow; `time`: a column over "
        "time.",
    )
    metric: str | None = Field(None, description="Of `lines` and `bars`: a metric; others have a column.")
    column: str | None = Field(
        None,
        description="Of `flows`: a column of the table flows; of `time`: of series, where flows that fit are averaged, "
        "or of measurements, where each estimator at each node is a line.",
    )
    where: dict[str, Label | list[Label]] = Field(
        default_factory=dict, description="As in a metric, for flows and time."
    )
    unit: str | None = Field(None, description="Of `flows` and `time`: unit to show the column in.")
    x: str | None = Field(None, description="Factor along the axis.")
    x_metric: str | None = Field(
        None,
        description="Of `lines`: the axis is the mean of this metric; points are joined in the order of factor `x`.",
    )
    by: str | None = Field(None, description="Factor that lines or bars differ in; the compared one by default.")
    panels: str | None = Field(None, description="Factor with one panel for each of its values.")
    at: dict[str, Label | list[Label]] = Field(default_factory=dict, description="Only these points.")
    title: str = Field(description="Heading of the chart.")
    note: str = Field("", description="A line below the chart.")
    log_x: bool = Field(False, description="Of `lines`: a logarithmic axis, for values above zero.")
    log_y: bool = Field(False, description="A logarithmic axis upwards.")


class Claim(_Table):
    """What a paper says that it saw, in our own words, as a testable statement about this study."""

    id: str = Field(description="Name of the claim, of which there is one in the study.")
    where: str = Field(description="Where the paper says it, as in `Table 3`.")
    says: str = Field(description="What is claimed, in a sentence.")
    kind: Literal["value", "trend", "order", "bound"] = Field(
        description="`value`: a mean is near a printed number; `trend`: it moves one way along a factor; `order`: "
        "values of a factor are ranked; `bound`: a mean keeps a limit."
    )
    metric: str = Field(description="Metric that it is about.")
    at: dict[str, Label | list[Label]] = Field(default_factory=dict, description="Only these points.")
    per: str | None = Field(None, description="Factor whose values are readings of the paper: a verdict for each.")
    over: str | None = Field(None, description="Factor along which values are listed or a trend runs.")
    values: list[float | None] | None = Field(
        None, description="`value`: the paper's numbers, one per value of `over`; nan where it gives none."
    )
    tolerance: str | float = Field(
        "10 %", description="`value` and constant trends: as a share, or absolute in the metric's unit."
    )
    direction: Literal["rises", "falls", "constant"] | None = Field(
        None, description="`trend`: which way; constant: a difference stays within the tolerance of the first."
    )
    by: str | None = Field(None, description="`order`: the factor that is ordered.")
    order: list[Label | list[Label]] | None = Field(None, description="`order`: from the most to the least.")
    ties: bool = Field(False, description="`order`: a difference that is not significant will do.")
    times: float = Field(1.0, gt=0, description="`order`: held not against the next, but against so many times it.")
    at_least: float | None = Field(None, description="`bound`: in the metric's unit.")
    at_most: float | None = Field(None, description="`bound`: in the metric's unit.")
    channel: bool = Field(False, description="`value`: hold the paper's numbers against what the channel can carry.")
    reason: str = Field("", description="Why it comes out otherwise than the paper says, as far as it was found.")
    whose: Whose | None = Field(
        None,
        description="Whose the difference is where it does not hold: the `paper`'s, which contradicts itself or "
        "physics; the `platform`'s that the paper measured on; the `reading`'s, where the paper leaves open what it "
        "did; or `ours`, where model or scenario fall short. Needs a reason.",
    )

    @field_validator("values", mode="before")
    @classmethod
    def _without_nan(cls, values: Any) -> Any:  # noqa: ANN401 - whatever is in the file
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
            raise ValueError(f"has at_least = {self.at_least:g} above at_most = {self.at_most:g}; nothing can be both")
        if self.whose is not None and not self.reason.strip():
            raise ValueError(f"says whose the difference is, {self.whose}, but not why; give it a reason")
        self._check_order()
        tolerance(self.tolerance, 1.0)
        return self

    def _check_order(self) -> None:
        if self.order is None:
            return
        if len(self.order) < 2:
            raise ValueError("orders fewer than two; name at least two")
        named = [label for rank in self.order for label in (rank if isinstance(rank, list) else [rank])]
        if [] in self.order or len(set(named)) < len(named):
            raise ValueError(
                f"has order = {self.order}; each rank names at least one value, and each value is there once"
            )


class Quick(_Table):
    """What a quick look does otherwise: fewer seeds, a shorter run, fewer values."""

    seeds: StrictInt | None = Field(None, ge=1, description="So many seeds, of a list the first.")
    set: dict[str, Any] = Field(default_factory=dict, description="Key path -> value, set after all factors.")
    keep: dict[str, Annotated[list[Label], Field(min_length=1)]] = Field(
        default_factory=dict, description="Factor -> the values to keep."
    )


class StudySpec(_Table):
    """A study of `multihop`: a base scenario, what varies, seeds, and what is asked of the results."""

    name: Name = Field(description="Name of the study: letters, digits, - and _, of which the first is a letter.")
    title: str | None = Field(None, description="Heading of the report.")
    description: str = Field("", description="What is asked, for the report.")
    discussion: str = Field("", description="What was found, beyond what claims say, for the report.")
    scenario: str | dict[str, Any] | None = Field(None, description="File beside the study, or the scenario itself.")
    model: str | None = Field(None, description="Instead of a scenario: a closed form, whose arguments vary.")
    seeds: StrictInt | list[StrictInt] = Field(
        10, description="How many, counted up from the scenario's; or the seeds themselves."
    )
    set: dict[str, Any] = Field(default_factory=dict, description="Key path -> value, for all points.")
    factors: dict[Name, Factor] = Field(default_factory=dict, description="What varies, by name.")
    zip: list[list[str]] = Field(default_factory=list, description="Groups of factors that advance together.")
    cases: list[dict[str, Label]] | None = Field(
        None, min_length=1, description="Combinations of labels that exist, instead of all of these factors."
    )
    compare: str | None = Field(None, description="Factor whose values are compared, seed by seed.")
    stop: Stop | None = Field(None, description="When there are seeds enough; by default once all are run.")
    metrics: dict[Name, MetricSpec] = Field(default_factory=dict, description="Numbers per run, by name.")
    charts: list[Chart] = Field(default_factory=list, description="Figures of the report.")
    claims: list[Claim] = Field(default_factory=list, description="Statements that are tested.")
    quick: Quick = Field(default_factory=lambda: Quick(seeds=None), description="What `--quick` does otherwise.")

    @model_validator(mode="after")
    def _one_source(self) -> StudySpec:
        if (self.scenario is None) == (self.model is None):
            raise ValueError("needs either scenario or model")
        if self.model is not None and self.stop is not None:
            raise ValueError("has a stop rule, but a closed form has no seeds; remove it")
        if self.model is not None and self.metrics:
            raise ValueError("has metrics, but a closed form has no tables to make them from; remove them")
        return self


def schema() -> dict[str, Any]:
    """The JSON Schema of study files. TOML has no null: a key that is not there is left out."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_published(StudySpec.model_json_schema())}


def tolerance(text: str | float, printed: float) -> float:
    """A tolerance in the unit of the number that it is for.

    Raises:
        ValueError: if it is neither a number nor a percentage.
    """
    if isinstance(text, str):
        number = text.strip().removesuffix("%").strip()
        try:
            share = float(number)
        except ValueError:
            share = -1.0
        if not text.strip().endswith("%") or not 0 <= share < math.inf:
            raise ValueError(f'tolerance {text!r} is no share; write it as in "10 %", or as a number')
        return abs(printed) * share / 100
    if text < 0:
        raise ValueError(f"tolerance {text:g} is below zero; write how far off is still right")
    return text


def is_number(label: Label) -> TypeGuard[int | float]:
    """Whether a label is a number, which has a place on an axis."""
    return isinstance(label, int | float) and not isinstance(label, bool)


def _label(value: Any) -> Label:  # noqa: ANN401 - any value that TOML has
    if isinstance(value, str | int | float | bool):
        return value
    try:
        return inline_toml(value) if isinstance(value, list | dict) else str(value)
    except (TypeError, ValueError, AttributeError, RecursionError):
        # What no file can say is refused where the scenario is given; until then it needs a name.
        return object.__repr__(value)


def _published(part: Any) -> Any:  # noqa: ANN401 - any part of a JSON Schema
    """Pydantic's schema without headings and nulls; names of tables must match their pattern."""
    if isinstance(part, list):
        return [_published(one) for one in part]
    if not isinstance(part, dict):
        return part
    # A heading is text; `title` may also be the name of a key.
    kept = {key: value for key, value in part.items() if not (key == "title" and isinstance(value, str))}
    made = {key: _published(value) for key, value in kept.items() if not (key == "default" and value is None)}
    if "anyOf" in made:
        made["anyOf"] = [one for one in made["anyOf"] if one != {"type": "null"}]
        if len(made["anyOf"]) == 1:
            made |= made.pop("anyOf")[0]
    if "patternProperties" in made:
        made["additionalProperties"] = False
    return made
