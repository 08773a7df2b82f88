"""Flows whose scheme a comparison replaces: those with congestion control, unless others are named.

Flows of datagrams, such as calls, keep their scheme while schemes are compared on downloads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from multihop import _core
from multihop._core import ScenarioError
from multihop.base.errors import UserError
from multihop.results.words import several
from multihop.simulation.scenario import Scenario

#: Schemes without congestion control.
OPEN_LOOP = frozenset({"udp"})

#: Most flows that a sentence names of each scheme.
_MOST_NAMES = 2

#: Key path that sets the scheme of listed flows.
_SCHEME_OF_FLOWS = re.compile(r"flows\[(\d+|\*)\]\.scheme")


def varying(
    scenario: Scenario, overrides: Mapping[str, Any], schemes: Sequence[str], vary: str | None = None
) -> list[int] | None:
    """Returns the indices of the flows whose scheme a comparison replaces; `None` for every flow.

    `vary` has comma-separated names of flows, in which `*` matches any text, or is `all` for every flow. By
    default, these flows vary:

    1. if all compared schemes have congestion control, the flows whose scheme has it;
    2. otherwise, or without such flows, the flows with the scheme of the scenario's first flow.

    Flows whose scheme is set by a key of `overrides` keep it, unless `vary` names them.

    Raises:
        UserError: if `vary` names no flow, or no flow is left to vary.
        ScenarioError: if the scenario is invalid.
    """
    given = {name: value for name, value in overrides.items() if name not in {"scheme", "varying"} and value}
    try:
        view = scenario.check(given)
    except ScenarioError as error:
        if not (error.key or "").endswith("scheme"):
            raise
        # The file has no schemes, so no flow has a scheme to keep.
        view = scenario.check({**given, "scheme": schemes[0]})
        if vary is None:
            return None
    flows = view["flows"]
    chosen = _named(flows, vary) if vary is not None else _by_kind(flows, schemes, given.get("set", {}))
    return None if len(chosen) == len(flows) else chosen


def sentence(flows: Sequence[_core.FlowView], chosen: Sequence[int] | None) -> str | None:
    """Returns a sentence with the flows that vary and those that keep their scheme; `None` if all vary."""
    if chosen is None:
        return None
    vary = [flow["name"] for index, flow in enumerate(flows) if index in chosen]
    keep: dict[str, list[str]] = {}
    for index, flow in enumerate(flows):
        if index not in chosen:
            keep.setdefault(flow["scheme"], []).append(flow["name"])
    kept = "; ".join(f"{several(names, _MOST_NAMES)} ({scheme})" for scheme, names in keep.items())
    return f"The compared scheme is that of {several(vary, _MOST_NAMES)}. As in the scenario: {kept}."


def pattern(flows: Sequence[_core.FlowView], chosen: Sequence[int]) -> str:
    """Returns the value of `--vary` that names these flows."""
    return ",".join(_literal(flows[index]["name"]) for index in chosen)


def _literal(name: str) -> str:
    """Returns a pattern that matches this name; a comma, which separates patterns, becomes `?`."""
    return "".join("?" if letter == "," else f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _named(flows: Sequence[_core.FlowView], vary: str) -> list[int]:
    patterns = [pattern.strip() for pattern in vary.split(",") if pattern.strip()]
    names = [flow["name"] for flow in flows]
    if patterns == ["all"] and "all" not in names:
        return list(range(len(flows)))
    unknown = next((each for each in patterns if not any(fnmatchcase(name, each) for name in names)), None)
    if unknown is not None or not patterns:
        known = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
        raise UserError(f"--vary: found {unknown or vary!r}, which is no flow of this scenario; known: all, {known}")
    return [index for index, name in enumerate(names) if any(fnmatchcase(name, each) for each in patterns)]


def _by_kind(flows: Sequence[_core.FlowView], schemes: Sequence[str], keys: Mapping[str, Any]) -> list[int]:
    fixed = _fixed(flows, keys)
    free = [index for index in range(len(flows)) if index not in fixed]
    if not free:
        key = next(key for key in keys if key.endswith("scheme"))
        raise UserError(f"--set: {key} sets the scheme of every flow, which leaves none to vary; leave it out")
    competing = [index for index in free if flows[index]["scheme"] not in OPEN_LOOP]
    if competing and not OPEN_LOOP.intersection(schemes):
        return competing
    first = flows[free[0]]["scheme"]
    return [index for index in free if flows[index]["scheme"] == first]


def _fixed(flows: Sequence[_core.FlowView], keys: Mapping[str, Any]) -> set[int]:
    """Returns the flows whose scheme a key sets."""
    fixed: set[int] = set()
    for key in keys:
        found = _SCHEME_OF_FLOWS.fullmatch(key)
        if found is not None:
            fixed |= set(range(len(flows))) if found[1] == "*" else {int(found[1])}
    return fixed & set(range(len(flows)))
