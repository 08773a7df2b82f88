"""From factors to points: the settings of the scenario at each point, and their labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from multihop.base.errors import UserError, instead_of
from multihop.experiments.specs import Factor, Label, StudySpec

#: Most points of a study.
MOST_POINTS = 100_000

#: Prefix of the column of a factor whose name is that of another column.
RESERVED = "factor_"


@dataclass(frozen=True)
class Point:
    """One combination of the factors' values.

    Attributes:
        labels: label of each factor's value.
        settings: value of each key path of the scenario, in the order in which they are set.
    """

    labels: Mapping[str, Label]
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Text of the point: `factor=label, ...`."""
        return ", ".join(f"{factor}={label}" for factor, label in self.labels.items()) or "scenario"

    def matches(self, at: Mapping[str, Label | list[Label]]) -> bool:
        """Whether each of these factors has this label, or one of these labels."""
        return all(self.labels[factor] in as_list(wanted) for factor, wanted in at.items())

    def without(self, *factors: str) -> tuple[tuple[str, Label], ...]:
        """Returns the labels of all other factors, which points of one comparison share."""
        return tuple((factor, label) for factor, label in self.labels.items() if factor not in factors)


#: Point of a scenario without factors.
AS_WRITTEN = Point({}, {})


def points(spec: StudySpec, at_last: Mapping[str, Any] | None = None) -> list[Point]:
    """Returns all points of the study: the grid of its factors, which may advance together or list cases.

    Settings of the study come first, then the factors in their order, then `at_last`.

    Raises:
        UserError: naming the invalid factor.
    """
    for check in DESIGN_CHECKS.values():
        check(spec)
    made = {name: _settings(name, factor) for name, factor in spec.factors.items()}
    return [_point(spec, dict(combination), made, at_last or {}) for combination in _combinations(spec)]


def advancing_with(spec: StudySpec, name: str) -> tuple[str, ...]:
    """Returns the factor and those that advance together with it, so that none changes alone."""
    return tuple(next((group for group in spec.zip if name in group), [name]))


def as_list(wanted: Label | list[Label]) -> list[Label]:
    """Returns one or several labels as a list."""
    return wanted if isinstance(wanted, list) else [wanted]


def keys_of(name: str, factor: Factor) -> list[str]:
    """Returns the key paths of the scenario that any value of a factor sets."""
    if factor.cases is not None:
        return list(dict.fromkeys(key for settings in factor.cases.values() for key in settings))
    return factor.key if isinstance(factor.key, list) else [factor.key or name]


def require_labels(spec: StudySpec, at: Mapping[str, Label | list[Label]], where: str) -> None:
    """Checks that these factors and values exist.

    Raises:
        UserError: naming the unknown one.
    """
    for name, wanted in at.items():
        factor = require_factor(spec, name, where)
        for label in as_list(wanted):
            if label not in factor.names:
                raise UserError(f"{where}: {name} has no value {label!r}; it has {_listed(factor.names)}")


def require_factor(spec: StudySpec, name: str, where: str) -> Factor:
    """Returns the factor of a name.

    Raises:
        UserError: if the study has no such factor.
    """
    if name not in spec.factors:
        remedy = instead_of(name, spec.factors) if spec.factors else "the study has none"
        raise UserError(f"{where}: {name!r} is not a factor; {remedy}")
    return spec.factors[name]


def _check_zip(spec: StudySpec) -> None:
    together: list[str] = []
    for index, group in enumerate(spec.zip):
        lengths = {name: len(require_factor(spec, name, f"zip[{index}]").names) for name in group}
        if len(set(lengths.values())) > 1:
            counts = ", ".join(f"{name} has {count}" for name, count in lengths.items())
            raise UserError(f"zip[{index}]: factors that advance together need equally many values; {counts}")
        together += group
    twice = next((name for name in together if together.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"zip: {twice} is given more than once; needs each factor in one group only")


def _check_cases(spec: StudySpec) -> None:
    together = [name for group in spec.zip for name in group]
    first = set(spec.cases[0]) if spec.cases else set()
    for index, case in enumerate(spec.cases or []):
        require_labels(spec, dict(case), f"cases[{index}]")
        if set(case) != first:
            raise UserError(
                f"cases[{index}]: names {_listed(case)}; needs the same factors in every case, {_listed(first)}"
            )
        clash = next((name for name in case if name in together), None)
        if clash is not None:
            raise UserError(f"cases[{index}]: {clash} is in zip as well; leave it in one of the two")
        if not case:
            raise UserError(f"cases[{index}]: names no factor; needs a value of each listed factor")
        if case in (spec.cases or [])[:index]:
            raise UserError(f"cases[{index}]: is given more than once; needs each combination once")


def _check_factors(spec: StudySpec) -> None:
    """Checks that no factor's keys are replaced by another factor."""
    reserved = next((name for name in spec.factors if name.startswith(RESERVED)), None)
    if reserved is not None:
        raise UserError(f"factors.{reserved}: {RESERVED} is a prefix of result columns; choose another name")
    keys = [(name, key) for name, factor in spec.factors.items() for key in keys_of(name, factor)]
    # The scheme replaces those of all flows after all other settings.
    keys.sort(key=lambda pair: pair[1] == "scheme")
    for (first, earlier), (name, key) in combinations(keys, 2):
        if key == earlier:
            raise UserError(f"factors.{name}: sets {key}, which {first} sets as well; remove it from one of the two")
        if first != name and _covers(key, earlier):
            raise UserError(
                f"factors.{first}: sets {earlier}, which {name} replaces by setting {key} after it; remove it from one "
                "of the two, or put the factor that sets less last"
            )
    count = _count(spec)
    if count > MOST_POINTS:
        raise UserError(f"factors: make {count} points; needs at most {MOST_POINTS}: use fewer values, zip or cases")


def _check_quick(spec: StudySpec) -> None:
    """Checks that settings of `quick`, which come last, replace no factor's key."""
    keys = [(name, key) for name, factor in spec.factors.items() for key in keys_of(name, factor)]
    for key, (name, varied) in product(spec.quick.set, keys):
        if _covers(key, varied):
            raise UserError(f"quick.set: {key} replaces {varied}, which {name} varies; leave it out, or use quick.keep")


def _covers(later: str, earlier: str) -> bool:
    """Whether setting a key path replaces everything set at an earlier one."""
    replaced = _STEP.findall(earlier)
    kept = _STEP.findall("flows[*].scheme" if later == "scheme" else later)
    return len(kept) <= len(replaced) and all(map(_is_among, replaced, kept))


def _is_among(step: str, pattern: str) -> bool:
    """Whether a step of a key path, as `flows` or `[0]`, matches a step of a pattern, as `[*]`."""
    if not (step.startswith("[") and pattern.startswith("[")):
        return step == pattern
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), step) is not None


_STEP = re.compile(r'\[[^\]]*\]|"(?:[^"\\]|\\.)*"|[^.\["]+')


def _check_compare(spec: StudySpec) -> None:
    if spec.compare is not None:
        require_factor(spec, spec.compare, "compare")


#: Checks by key of the study. Each raises a `UserError` that names the factor at fault.
DESIGN_CHECKS: Mapping[str, Callable[[StudySpec], None]] = {
    "zip": _check_zip,
    "cases": _check_cases,
    "factors": _check_factors,
    "compare": _check_compare,
    "quick": _check_quick,
}


def _count(spec: StudySpec) -> int:
    listed = set(spec.cases[0]) if spec.cases else set()
    count = len(spec.cases or [0])
    for name, factor in spec.factors.items():
        if name not in listed and advancing_with(spec, name)[0] == name:
            count *= len(factor.names)
    return count


def _combinations(spec: StudySpec) -> Iterable[list[tuple[str, Label]]]:
    """Yields the labels of every point, factors in the order of the file, the last one varying fastest."""
    listed = set(spec.cases[0]) if spec.cases else set()
    groups: list[list[list[tuple[str, Label]]]] = []
    done: set[str] = set()
    for name in spec.factors:
        if name in done:
            continue
        group = advancing_with(spec, name)
        if name in listed:
            groups.append([[(f, label) for f, label in case.items()] for case in spec.cases or []])
            done |= listed
        else:
            columns = [[(f, label) for label in spec.factors[f].names] for f in group]
            groups.append([list(row) for row in zip(*columns, strict=True)])
            done |= set(group)
    order = {name: index for index, name in enumerate(spec.factors)}
    for row in product(*groups):
        yield sorted((pair for part in row for pair in part), key=lambda pair: order[pair[0]])


def _settings(name: str, factor: Factor) -> Mapping[Any, Mapping[str, Any]]:
    """Returns the settings of each label."""
    if factor.cases is not None:
        return factor.cases
    keys = keys_of(name, factor)
    return {label: dict.fromkeys(keys, v) for label, v in zip(factor.names, factor.values or [], strict=True)}


def _point(
    spec: StudySpec,
    labels: dict[str, Label],
    made: Mapping[str, Mapping[Any, Mapping[str, Any]]],
    at_last: Mapping[str, Any],
) -> Point:
    settings: dict[str, Any] = dict(spec.set)
    for name, label in labels.items():
        settings.update(made[name][label])
    for key, value in at_last.items():
        # A key that was set before moves to the end, since later settings replace earlier ones.
        settings.pop(key, None)
        settings[key] = value
    return Point(labels, settings)


def _listed(names: Iterable[object]) -> str:
    return ", ".join(str(name) for name in names)
