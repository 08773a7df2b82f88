"""From factors to points: which settings of the scenario are run, and what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from multihop.errors import UserError
from multihop.study.spec import Factor, Label, StudySpec


@dataclass(frozen=True)
class Point:
    """One combination of the factors' values.

    Attributes:
        labels: factor -> what its value is called here.
        settings: key path of the scenario -> value, in the order in which they are set.
    """

    labels: Mapping[str, Label]
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        """`factor=label, ...`."""
        return ", ".join(f"{factor}={label}" for factor, label in self.labels.items()) or "scenario"

    def matches(self, at: Mapping[str, Label | list[Label]]) -> bool:
        """Whether each of these factors has this value, or one of these."""
        return all(self.labels[factor] in as_list(wanted) for factor, wanted in at.items())

    def without(self, *factors: str) -> tuple[tuple[str, Label], ...]:
        """The labels of all other factors: what points that are compared have in common."""
        return tuple((factor, label) for factor, label in self.labels.items() if factor not in factors)


def points(spec: StudySpec) -> list[Point]:
    """Every point of the study: the grid of its factors, where some may advance together or be listed as cases.

    Raises:
        UserError: naming the factor that is wrong.
    """
    _check_names(spec)
    return [_point(spec, dict(combination)) for combination in _combinations(spec)]


def as_list(wanted: Label | list[Label]) -> list[Label]:
    """One or several labels as a list."""
    return wanted if isinstance(wanted, list) else [wanted]


def require_labels(spec: StudySpec, at: Mapping[str, Label | list[Label]], where: str) -> None:
    """Checks that these factors and values exist.

    Raises:
        UserError: naming what does not.
    """
    for name, wanted in at.items():
        factor = require_factor(spec, name, where)
        for label in as_list(wanted):
            if label not in factor.names:
                raise UserError(f"{where}: {name} has no value {label!r}; it has {_listed(factor.names)}")


def require_factor(spec: StudySpec, name: str, where: str) -> Factor:
    """The factor of that name.

    Raises:
        UserError: if there is none.
    """
    if name not in spec.factors:
        raise UserError(f"{where}: {name!r} is not a factor; {_there_are(spec)}")
    return spec.factors[name]


def _check_names(spec: StudySpec) -> None:
    together: list[str] = []
    for index, group in enumerate(spec.zip):
        lengths = {name: len(require_factor(spec, name, f"zip[{index}]").names) for name in group}
        if len(set(lengths.values())) > 1:
            counts = ", ".join(f"{name} has {count}" for name, count in lengths.items())
            raise UserError(f"zip[{index}]: factors that advance together need equally many values; {counts}")
        together += group
    twice = next((name for name in together if together.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"zip: {twice} is there more than once; a factor advances with one group")
    first = set(spec.cases[0]) if spec.cases else set()
    for index, case in enumerate(spec.cases or []):
        require_labels(spec, dict(case), f"cases[{index}]")
        if set(case) != first:
            raise UserError(
                f"cases[{index}]: names {_listed(case)}; every case names the same factors, {_listed(first)}"
            )
        clash = next((name for name in case if name in together), None)
        if clash is not None:
            raise UserError(f"cases[{index}]: {clash} is in zip as well; leave it in one of the two")
    if spec.compare is not None:
        require_factor(spec, spec.compare, "compare")


def _combinations(spec: StudySpec) -> Iterable[list[tuple[str, Label]]]:
    """The labels of every point, factors in the order of the file, the last one varying fastest."""
    listed = set(spec.cases[0]) if spec.cases else set()
    groups: list[list[list[tuple[str, Label]]]] = []
    done: set[str] = set()
    for name, factor in spec.factors.items():
        if name in done:
            continue
        group = next((g for g in spec.zip if name in g), [name])
        if name in listed:
            groups.append([[(f, label) for f, label in case.items()] for case in spec.cases or []])
            done |= listed
        else:
            columns = [[(f, label) for label in spec.factors[f].names] for f in group]
            groups.append([list(row) for row in zip(*columns, strict=True)])
            done |= set(group)
        del factor
    order = {name: index for index, name in enumerate(spec.factors)}
    for row in product(*groups):
        yield sorted((pair for part in row for pair in part), key=lambda pair: order[pair[0]])


def _point(spec: StudySpec, labels: dict[str, Label]) -> Point:
    settings: dict[str, Any] = dict(spec.set)
    for name, label in labels.items():
        factor = spec.factors[name]
        if factor.cases is not None:
            settings.update(factor.cases[str(label)])
            continue
        value = (factor.values or [])[factor.names.index(label)]
        keys = factor.key if isinstance(factor.key, list) else [factor.key or name]
        settings.update(dict.fromkeys(keys, value))
    return Point(labels, settings)


def _there_are(spec: StudySpec) -> str:
    return f"there are {_listed(spec.factors)}" if spec.factors else "the study has none"


def _listed(names: Iterable[object]) -> str:
    return ", ".join(str(name) for name in names)
