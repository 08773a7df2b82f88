"""A finished run of a results folder, as the exports read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from multihop import _core
from multihop.base import extras
from multihop.base.errors import UserError, instead_of
from multihop.results.folders import MOTION_FILE, manifest_of
from multihop.simulation.scenario import load

_WANTED = "needs a folder that run --out or compare --out wrote"


@dataclass(frozen=True)
class TabledRun:
    """Run of one variant and seed.

    Attributes:
        name: name of the scenario.
        variant: name of the variant.
        seed: seed of the run.
        duration_s: simulated time in seconds, warm-up included.
        warmup_s: warm-up in seconds, which the tables of flows, nodes and links leave out.
        table: function that returns the rows of a table by its name.
        view: function that returns the resolved scenario.
    """

    name: str
    variant: str
    seed: int
    duration_s: float
    warmup_s: float
    table: Callable[[str], pd.DataFrame]
    view: Callable[[], _core.ScenarioView]

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Returns the rows of a table as dictionaries by column."""
        return [{str(key): value for key, value in row.items()} for row in self.table(name).to_dict("records")]


def read(directory: Path, variant: str | None = None, seed: int | None = None) -> TabledRun:
    """Reads a run of a folder that `run --out` or `compare --out` wrote.

    Args:
        directory: folder of results.
        variant: name of the variant; the first by default.
        seed: seed of the run; the first by default.

    Raises:
        UserError: if the folder has no such run, or a table cannot be read.
    """
    about = manifest_of(directory)
    if about is None or not about.get("variants") or not about.get("seeds"):
        raise UserError(f"{directory}: has no manifest of results; {_WANTED}")
    try:
        variants = {str(each["name"]): each for each in about["variants"]}
        seeds = [int(each) for each in about["seeds"]]
        about_scenario = about["scenario"]
        length = (float(about_scenario["duration_s"]), float(about_scenario["warmup_s"]))
        name, overrides = str(about_scenario["name"]), {key: each["overrides"] for key, each in variants.items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{directory / 'manifest.json'}: not the manifest of results ({error!r}); {_WANTED}") from error
    chosen = next(iter(variants)) if variant is None else variant
    if chosen not in variants:
        raise UserError(f"--variant: no variant is called {chosen!r}; {instead_of(chosen, list(variants))}")
    of = seeds[0] if seed is None else seed
    if of not in seeds:
        raise UserError(f"--seed: found {of}; needs one of {', '.join(map(str, seeds))}")
    return TabledRun(
        name,
        chosen,
        of,
        *length,
        lambda table: _rows(directory, str(about["tables"].get(table)), chosen, of),
        lambda: _view(directory, dict(overrides[chosen])),
    )


def _rows(directory: Path, file: str, variant: str, seed: int) -> pd.DataFrame:
    """Returns the rows of a variant and seed of a table."""
    path = directory / Path(file).name
    if path.suffix == ".parquet" and not (extras.has("parquet") and path.exists()):
        path = path.with_suffix(".csv")
    try:
        rows = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
        return rows[(rows["variant"] == variant) & (rows["seed"] == seed)].reset_index(drop=True)
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"{path}: cannot be read as a table of results: {error}; {_WANTED}") from error


def _view(directory: Path, overrides: dict[str, Any]) -> _core.ScenarioView:
    """Returns the resolved scenario of a folder's copy."""
    if (directory / MOTION_FILE).exists():
        overrides["set"] = {**overrides.get("set", {}), "mobility.file": MOTION_FILE}
    return load(directory / "scenario.toml").check(overrides)
