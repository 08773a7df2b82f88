"""Worst network of each scheme, and the main cause there, from runs that are repeated with causes."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pandas as pd

from multihop.base import extras
from multihop.base.files import write_text
from multihop.experiments.runner import Job, run_all
from multihop.experiments.studies import StudyResult
from multihop.explanation import explain, words
from multihop.explanation.causes import LEAST_SCORE
from multihop.explanation.groups import MainCause
from multihop.leagues import League, rules
from multihop.leagues.table import Standing, main_metric
from multihop.results.words import counted, percent

#: Folder of causes that were found, within that of a league.
FOLDER = "causes"


@dataclass(frozen=True)
class Cause:
    """Main cause of a scheme's result on a network.

    Attributes:
        cause: cause in a few words; empty if none was found.
        share: share of the cause of all that holds flows back.
        held: number of flows that it holds back.
        flows: number of flows.
    """

    cause: str
    share: float
    held: int
    flows: int

    @property
    def sentence(self) -> str:
        """Cause with its share."""
        if not self.cause:
            return "no cause was found"
        of = "the flow" if self.flows == 1 else f"{self.held} of {counted(self.flows, 'flow')}"
        return f"{self.cause}: {percent(self.share)} of what holds {of} back"


@dataclass(frozen=True)
class Worst:
    """Worst network of a scheme.

    Attributes:
        scheme: name of the entrant.
        kind: kind of its transport.
        network: name of the network.
        behind: share of the best result of its kind there that it lacks.
        found: main cause; `None` if causes cannot be found.
    """

    scheme: str
    kind: str
    network: str
    behind: float
    found: Cause | None = None


def worst_networks(league: League, table: Sequence[Standing]) -> list[Worst]:
    """Returns for each scheme the network on which it is farthest behind the best scheme of its kind."""
    found: dict[str, Worst] = {}
    for network in league.networks:
        for kind in league.kinds:
            main = main_metric(table, network.name, kind)
            results = {
                one.scheme: 1.0 - one.found.mean if main.endswith("gap") else one.found.mean
                for one in table
                if (one.network, one.kind, one.metric) == (network.name, kind, main)
            }
            best = max(results.values(), default=0.0)
            for scheme, result in results.items():
                behind = 1.0 - result / best if best > 0 else 0.0
                if scheme not in found or behind > found[scheme].behind:
                    found[scheme] = Worst(scheme, kind, network.name, behind)
    return [found[scheme] for names in league.kinds.values() for scheme in names if scheme in found]


def with_causes(league: League, worst: Sequence[Worst], folder: Path, threads: int | None = None) -> list[Worst]:
    """Returns worst networks with their main causes. Causes that the folder of the league has are read there.

    Args:
        league: league of these networks.
        worst: scheme and network of each cause.
        folder: folder of the league.
        threads: number of concurrent runs; all cores by default.
    """
    if not extras.has("optimum"):
        return list(worst)
    results = dict(zip((network.name for network in league.networks), league.results, strict=True))
    made = []
    for each in worst:
        result = results[each.network]
        point = next(i for i, point in enumerate(result.points) if point.labels["scheme"] == each.scheme)
        made.append(replace(each, found=_cause(result, point, folder / FOLDER, threads)))
    return made


def _cause(result: StudyResult, point: int, folder: Path, threads: int | None) -> Cause | None:
    """Returns the main cause at a point, from its first seeds that finished."""
    plan, study = result.study.plan, result.study
    seeds = [int(seed) for seed in result.values(point, "goodput").index][: rules()["causes"]["seeds"]]
    if not seeds:
        return None
    keys = [plan.run_id(point, seed).key for seed in seeds]
    path = folder / f"{hashlib.sha256(' '.join(keys).encode()).hexdigest()[:32]}.json"
    if (known := _read(path)) is not None:
        return known
    view = plan.views[point]
    jobs = [Job(study.scenario, {**study.overrides(point), "seed": seed}, view, causes=True) for seed in seeds]
    made = explain.of_runs(run_all(jobs, threads), str(plan.points[point].labels["scheme"]))
    if made is None:
        raise RuntimeError("the runs were asked for their causes")
    data = tuple(
        account.flow
        for account in made.flows
        if "group" not in account.view and not account.view.get("acknowledges", False)
    )
    if not made.explained:
        made = replace(made, explained=data)
    main = made.main_cause
    found = (
        Cause("", 0.0, 0, len(data))
        if main is None
        else Cause(_title(made, main), main.kind_share, len(main.held), len(data))
    )
    write_text(path, json.dumps(asdict(found)) + "\n")
    return found


def _title(made: explain.Explanation, main: MainCause) -> str:
    """Returns a cause in a few words, with its place if it holds back one flow there."""
    if len(main.held) == 1 and main.kind_share - main.share < LEAST_SCORE:
        return words.title(main.cause, made.name)
    return words.TITLES[main.cause.kind]


def _read(path: Path) -> Cause | None:
    """Returns a cause that was found before, or `None`."""
    try:
        known: Mapping[str, object] = json.loads(path.read_text("utf-8"))
        return Cause(**known)  # type: ignore[arg-type]
    except (OSError, ValueError, TypeError):
        return None


def rows(worst: Sequence[Worst], titles: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
    """Returns heads and rows of a table: the worst network of each scheme, and the main cause there."""
    made = [
        [each.kind, each.scheme, titles[each.network], percent(each.behind), each.found.sentence if each.found else ""]
        for each in worst
    ]
    return ["kind", "scheme", "worst on", "behind the best there", "main cause"], made


def frame(worst: Sequence[Worst]) -> pd.DataFrame:
    """Returns worst networks as a table in SI units."""
    none = Cause("", math.nan, 0, 0)
    made = [
        {
            "scheme": each.scheme,
            "kind": each.kind,
            "network": each.network,
            "behind": each.behind,
            **asdict(each.found or none),
        }
        for each in worst
    ]
    return pd.DataFrame(made)
