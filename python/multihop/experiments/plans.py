"""Study before its runs: base scenario, factors, seeds, metrics and claims, all checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import tomli_w

from multihop import _core
from multihop.base.display import Displayed, Overview
from multihop.base.errors import UserError
from multihop.experiments.checks import check_study
from multihop.experiments.parsers import parse, place, validate
from multihop.experiments.points import Point, keys_of, points
from multihop.experiments.scenario_checks import unfitting
from multihop.experiments.specs import Claim, Factor, StudySpec
from multihop.models import evaluate
from multihop.results.provenance import engine
from multihop.simulation.scenario import Scenario, load, read_text, settings
from multihop.simulation.seeds import seed_list
from multihop.simulation.store import RunId

#: Most runs of a study, for the size of its folder and for memory.
MOST_RUNS = 1_000_000


@dataclass(frozen=True)
class Plan:
    """Resolved study: every point with its scenario, and the identity of every run.

    Attributes:
        points: points, in the order of the file.
        views: resolved scenario of each point; empty for a closed form.
        seeds: seeds of the point with most of them.
    """

    points: list[Point]
    views: list[_core.ScenarioView]
    seeds: list[int]

    def run_id(self, point: int, seed: int) -> RunId:
        """Returns the id of a run in the store."""
        return self._run_ids.setdefault((point, seed), RunId(self.views[point]["hash"], seed, engine()))

    @cached_property
    def _run_ids(self) -> dict[tuple[int, int], RunId]:
        """Cache of ids, whose keys are hashes."""
        return {}


class PlannedStudy(Displayed):
    """Study as its file defines it, checked, with its scenario."""

    def __init__(self, **keys: Any) -> None:  # noqa: ANN401 - keys of study files
        spec = validate(_from_python(keys), "<study>")
        check_study(spec, "<study>", None)
        self._set(spec, "<study>", Path(), None)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Reads a study file, or its copy in the folder of a study that was run.

        Raises:
            UserError: naming file, line, key, the value found and what is needed.
            ScenarioError: if a point's scenario cannot be run.
        """
        path = Path(path)
        file = path / "study.toml" if path.is_dir() else path
        if path.is_dir() and not file.exists():
            raise UserError(f"{path}: this is a directory without study.toml; name a study (TOML)")
        text = read_text(file, "a study (TOML)")
        spec = parse(text, str(file))
        check_study(spec, str(file), text)
        # The copy of a study has a copy of its scenario next to it.
        is_copy = file.name == "study.toml" and (file.parent / "store.json").is_file()
        if is_copy and spec.model is None:
            spec = spec.model_copy(update={"scenario": "scenario.toml"})
        made = cls._made(spec, str(file), file.parent, text)
        made.folder = file.parent if is_copy else None
        return made

    @classmethod
    def _made(cls, spec: StudySpec, origin: str, directory: Path, text: str | None) -> Self:
        """Returns a study of a checked specification."""
        made = cls.__new__(cls)
        made._set(spec, origin, directory, text)
        return made

    def _set(self, spec: StudySpec, origin: str, directory: Path, text: str | None) -> None:
        self.spec = spec
        self.origin = origin
        self.text = text
        #: Folder of a study that was run, if the study was loaded from it.
        self.folder: Path | None = None
        self.is_quick = False
        #: Number of seeds in the file, or in its `[quick]`.
        self.seeds_asked = spec.seeds if isinstance(spec.seeds, int) else len(spec.seeds)
        self._set_at_last: Mapping[str, Any] = {}
        self._directory = directory

    @cached_property
    def scenario(self) -> Scenario:
        """Base scenario.

        Raises:
            UserError: if it cannot be read, or the study is of a closed form.
        """
        source = self.spec.scenario
        if source is None:
            raise UserError(f"{self.origin}: a study of the closed form {self.spec.model} has no scenario")
        try:
            return load(source if isinstance(source, Mapping) else self._directory / source)
        except UserError as error:
            raise UserError(f"{place(self.origin, self.text, ['scenario'])}: scenario: {error}") from error

    def quick(self) -> Self:
        """Returns the study with the changes of `[quick]`: fewer seeds, a shorter run, fewer values."""
        made = self._with(_quick(self.spec, self.origin))
        # These settings come last, so that they also shorten what factors add, such as flows.
        made._set_at_last = self.spec.quick.set
        made.is_quick = True
        return made

    def with_seeds(self, most: int) -> Self:
        """Returns the study with at most this many first seeds. Its runs are also runs of the whole study."""
        seeds = min(most, self.spec.seeds) if isinstance(self.spec.seeds, int) else self.spec.seeds[:most]
        made = self._with(self.spec.model_copy(update={"seeds": seeds}))
        made.seeds_asked = self.seeds_asked
        return made

    def with_case(self, factor: str, name: str, settings: Mapping[str, Any]) -> Self:
        """Returns the study with one more case of a factor, which `quick` keeps as well."""
        varied = self.spec.factors[factor]
        more = varied.model_copy(update={"cases": {**(varied.cases or {}), name: dict(settings)}})
        quick = self.spec.quick
        if factor in quick.keep:
            quick = quick.model_copy(update={"keep": {**quick.keep, factor: [*quick.keep[factor], name]}})
        factors = {**self.spec.factors, factor: more}
        made = self._with(self.spec.model_copy(update={"factors": factors, "quick": quick}))
        made.text = None
        return made

    def _with(self, spec: StudySpec) -> Self:
        """Returns the study with another specification."""
        made = self._made(spec, self.origin, self._directory, self.text)
        made.folder, made.is_quick, made._set_at_last = self.folder, self.is_quick, self._set_at_last
        return made

    def overview(self, *, whole: bool = True) -> Overview:
        """Returns the factors with their values."""
        del whole
        spec = self.spec
        rows = [[name, ", ".join(map(str, factor.names))] for name, factor in spec.factors.items()]
        asked = f"the closed form {spec.model}" if spec.model is not None else f"{self.seeds_asked} seeds"
        title = f"{spec.name}, {asked}, {len(spec.metrics)} metrics, {len(spec.claims)} claims"
        return Overview(title, ["factor", "values"], rows)

    @property
    def file_text(self) -> str:
        """Text of the study's file, or an equivalent one for a study made in Python."""
        keys = self.spec.model_dump(exclude_none=True, exclude_defaults=True)
        return self.text if self.text is not None else tomli_w.dumps(keys)

    @cached_property
    def plan(self) -> Plan:
        """Checked points and runs of the study.

        Raises:
            UserError: if factors contradict each other.
            ScenarioError: if a point's scenario cannot be run.
        """
        try:
            found = points(self.spec, self._set_at_last)
        except UserError as error:
            raise UserError(f"{self.origin}: {error}") from error
        if self.spec.model is not None:
            for point in found:
                self._check_arguments(self.spec.model, point)
            return Plan(found, [], [0])
        views = [self._check(point) for point in found]
        for path, problem in unfitting(self.spec, found, views):
            raise UserError(f"{place(self.origin, self.text, path)}: {problem}")
        try:
            seeds = seed_list(self.spec.seeds, views[0]["seed"])
        except UserError as error:
            raise UserError(f"{place(self.origin, self.text, ['seeds'])}: {error}") from error
        runs = len(found) * len(seeds)
        if runs > MOST_RUNS:
            raise UserError(f"{self.origin}: found {runs} runs; needs at most {MOST_RUNS}: split the study")
        return Plan(found, views, seeds)

    @property
    def compared(self) -> str | None:
        """Factor whose values are compared: the study's choice, else `scheme` if it varies."""
        return self.spec.compare or ("scheme" if "scheme" in self.spec.factors else None)

    def overrides(self, point: int) -> dict[str, Any]:
        """Returns the overrides of the base scenario at a point, by its index."""
        return overrides_of(self.plan.points[point])

    def _check(self, point: Point) -> _core.ScenarioView:
        try:
            return self.scenario.check(overrides_of(point))
        except (_core.ScenarioError, UserError) as error:
            # Without settings the mistake is the scenario's own, otherwise the study's.
            if not point.settings:
                raise
            raise UserError(f"{self._where_set(point, error.setting)}: at {point.name}: {error}") from error

    def _check_arguments(self, model: str, point: Point) -> None:
        """Checks that a closed form accepts the settings of a point."""
        try:
            evaluate(model, point.settings)
        except UserError as error:
            raise UserError(f"{self.origin}: at {point.name}: {error}") from error

    def _where_set(self, point: Point, setting: str | None) -> str:
        """Returns file and line of the setting that an error is about, or the file of the study."""
        at: list[str | int] = ["name"]
        for name in point.labels:
            if setting in keys_of(name, self.spec.factors[name]):
                at = ["factors", name]
        if setting in self._set_at_last:
            at = ["quick", "set"]
        elif at == ["name"] and setting in self.spec.set:
            at = ["set"]
        return place(self.origin, self.text, at) if at != ["name"] else self.origin


def overrides_of(point: Point) -> dict[str, Any]:
    """Returns the overrides of a point; `scheme`, which is no key path, applies to every flow."""
    keys = settings({path: value for path, value in point.settings.items() if path != "scheme"})
    scheme = {"scheme": point.settings["scheme"]} if "scheme" in point.settings else {}
    if not all(isinstance(name, str) for name in scheme.values()):
        raise UserError(f"--set scheme: found {scheme['scheme']!r}; needs the name of a scheme", setting="scheme")
    return {**scheme, **({"set": keys} if keys else {})}


def _from_python(keys: dict[str, Any]) -> dict[str, Any]:
    """Converts keys of a script to the form of a study file."""
    made = {name: _plain(value) if name in {"seeds", "set"} else value for name, value in keys.items()}
    if not isinstance(keys.get("factors"), Mapping):
        return made
    factors: dict[Any, Any] = {}
    for given, values in keys["factors"].items():
        factor = values if isinstance(values, Mapping) else {"values": values}
        if "values" in factor:
            factor = {**factor, "values": _plain(factor["values"])}
        name = given
        if isinstance(given, str) and not {"key", "cases"} & factor.keys() and not _NAME.fullmatch(given):
            name = _NOT_IN_NAMES.sub("-", given.replace("*", "all")).strip("-")
            factor = {**factor, "key": given}
        if name in factors:
            raise UserError(
                f"<study>: factors.{given}: the name {name} is used by another factor; give it a name and a key"
            )
        factors[name] = factor
    return {**made, "factors": factors}


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


def _plain(value: Any) -> Any:  # noqa: ANN401 - any value of a script
    """Converts sequences to lists, and NumPy's numbers to Python's."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple | range) else value


def _quick(spec: StudySpec, origin: str) -> StudySpec:
    quick = spec.quick
    changes: dict[str, Any] = {}
    if quick.seeds is not None:
        changes["seeds"] = quick.seeds if isinstance(spec.seeds, int) else spec.seeds[: quick.seeds]
    if quick.keep:
        changes["claims"] = [_kept_values(spec, claim) for claim in spec.claims]
        changes["factors"] = {n: _kept(f, quick.keep[n]) if n in quick.keep else f for n, f in spec.factors.items()}
        if spec.cases is not None:
            fits = [c for c in spec.cases if all(c[n] in kept for n, kept in quick.keep.items() if n in c)]
            if not fits:
                raise UserError(f"{origin}: quick.keep: no case has all these values; keep values that occur together")
            changes["cases"] = fits
    return spec.model_copy(update=changes)


def _kept_values(spec: StudySpec, claim: Claim) -> Claim:
    """Returns the claim with the paper's numbers for the values that `quick` keeps."""
    if claim.over is None or claim.values is None or claim.over not in spec.quick.keep:
        return claim
    names = zip(spec.factors[claim.over].names, claim.values, strict=True)
    return claim.model_copy(update={"values": [value for name, value in names if name in spec.quick.keep[claim.over]]})


def _kept(factor: Factor, labels: list[Any]) -> Factor:
    if factor.cases is not None:
        return factor.model_copy(update={"cases": {n: s for n, s in factor.cases.items() if n in labels}})
    kept = [(v, n) for v, n in zip(factor.values or [], factor.names, strict=True) if n in labels]
    return factor.model_copy(update={"values": [v for v, _ in kept], "labels": [n for _, n in kept]})
