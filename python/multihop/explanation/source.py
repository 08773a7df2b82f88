"""Folders of `run` and `compare`, read as the runs that reproduce them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from multihop import _core
from multihop.base.errors import UserError, instead_of
from multihop.explanation.needs import SeedTables
from multihop.results.folders import MOTION_FILE
from multihop.results.provenance import engine
from multihop.simulation.scenario import Scenario, load, read_text


@dataclass(frozen=True)
class Source:
    """Variant of results: its scenario, overrides, seeds, and the fingerprints of its runs by seed."""

    scenario: Scenario
    variant: str
    others: tuple[str, ...]
    overrides: Mapping[str, Any]
    seeds: tuple[int, ...]
    fingerprints: Mapping[str, str]


def read(directory: Path, variant: str | None = None) -> Source:
    """Reads a folder that `run --out` or `compare --out` wrote.

    Raises:
        UserError: if the folder has no results, results of another version of the engine, or no such variant.
    """
    about = _manifest(directory)
    if about["engine"] != engine():
        raise UserError(
            f"{directory}: written by engine {about['engine']}, while this is {engine()}, whose runs may differ; "
            f"reproduce them: cd {directory} && {about['command']} --out ."
        )
    variants = {str(each["name"]): each for each in about["variants"]}
    chosen = next(iter(variants)) if variant is None else variant
    if chosen not in variants:
        raise UserError(f"--variant: {_unknown(chosen, list(variants), 'variant')}")
    scenario = load(directory / "scenario.toml")
    overrides = dict(variants[chosen]["overrides"])
    if (directory / MOTION_FILE).exists():
        overrides["set"] = {**overrides.get("set", {}), "mobility.file": MOTION_FILE}
    found = scenario.check(overrides)["hash"]
    if found != variants[chosen]["scenario_hash"] and not (directory / MOTION_FILE).exists():
        changed = f"{directory / 'scenario.toml'}: changed since it was run"
        raise UserError(f"{changed}; undo the change, or repeat the run into another folder")
    others = tuple(name for name in variants if name != chosen)
    return Source(scenario, chosen, others, overrides, tuple(about["seeds"]), dict(variants[chosen]["fingerprints"]))


def tables(directory: Path, variant: str, seeds: Sequence[int]) -> SeedTables | None:
    """Returns the tables of flows and delays of a variant, one per seed; `None` if the folder lacks them."""
    try:
        found = [pd.read_csv(directory / f"{name}.csv") for name in ("flows", "delays")]
        by_seed = [dict(list(of[of["variant"] == variant].groupby("seed"))) for of in found]
        flows, delays = (
            [rows.get(seed, of.head(0)) for seed in seeds] for rows, of in zip(by_seed, found, strict=True)
        )
        return SeedTables(flows, delays)
    except (OSError, ValueError, KeyError):
        return None


def flow_index(view: _core.ScenarioView, name: str) -> int:
    """Returns the index of the flow of that name.

    Raises:
        UserError: if there is no such flow.
    """
    names = [flow["name"] for flow in view["flows"]]
    if name not in names:
        raise UserError(_unknown(name, names, "flow"))
    return names.index(name)


def _unknown(name: str, known: list[str], what: str) -> str:
    return f"no {what} is called {name!r}; {instead_of(name, known)}"


def _manifest(directory: Path) -> dict[str, Any]:
    wanted = "needs a folder that run --out or compare --out wrote"
    if not directory.exists():
        raise UserError(f"{directory}: no such folder; explain {wanted}")
    if not directory.is_dir():
        raise UserError(f"{directory}: a file; explain {wanted}")
    path = directory / "manifest.json"
    if not path.exists():
        raise UserError(f"{directory}: has no manifest.json, so it is no folder of results; explain {wanted}")
    try:
        about = json.loads(read_text(path, "a manifest"))
        complete = {"engine", "command", "seeds", "variants"} <= about.keys()
        complete = complete and all(
            {"name", "scenario_hash", "overrides", "fingerprints"} <= variant.keys() for variant in about["variants"]
        )
    except (ValueError, RecursionError, AttributeError, TypeError) as error:
        raise UserError(f"{path}: cannot be read as the manifest of results ({error}); explain {wanted}") from error
    if not complete or not about["variants"] or not about["seeds"]:
        raise UserError(f"{path}: not the manifest of results of run or compare; explain {wanted}")
    found: dict[str, Any] = about
    return found
