"""Ranks by significant differences, on each network and over all networks, as tables and files."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from multihop.base.files import write_text
from multihop.experiments.studies import StudyResult
from multihop.leagues import League, coexistence, kind_of, rules
from multihop.results.columns import Column
from multihop.results.folders import results_directory, table_file, write_table
from multihop.results.provenance import record as build_record
from multihop.results.statistics import SIGNIFICANCE, Estimate

#: Files of a league besides the folders of its studies.
NAMES = (
    "manifest.json",
    "league.md",
    "report.html",
    "coexistence.svg",
    *(
        f"{name}.{kind}"
        for name in ("standings", "runs", "differences", "coexistence", "worst")
        for kind in ("parquet", "csv")
    ),
)

#: First of these names that is of a table.
_TABLES_FROM = NAMES.index("standings.parquet")

_COLUMNS = {
    "network": Column("", "network on which schemes were compared"),
    "scheme": Column("", "congestion control"),
    "kind": Column("", "kind of transport, reliable or datagrams; schemes of one kind are compared"),
    "metric": Column("", "metric of the league"),
    "unit": Column("", "unit of the row's numbers"),
    "seed": Column("", "seed of the run"),
    "mean": Column("as in unit", "mean over seeds"),
    "low": Column("as in unit", "lower end of the 95 % interval (Student t)"),
    "high": Column("as in unit", "upper end of the 95 % interval"),
    "n": Column("1", "seeds"),
    "rank": Column("1", "one more than the number of significantly better schemes"),
    "better_than": Column("1", "schemes that this one is significantly better than"),
    "worse_than": Column("1", "schemes that are significantly better than this one"),
    "a": Column("", "scheme"),
    "b": Column("", "scheme that a is compared with"),
    "difference": Column("as in unit", "mean of a minus b over common seeds"),
    "p_value": Column("1", "two-sided p-value of no difference (paired t-test)"),
    "behind": Column("1", "share of the result of the network's best scheme of its kind that the scheme lacks"),
    "cause": Column("", "main cause that explain finds on the scheme's worst network"),
    "held": Column("1", "number of flows that the cause holds back"),
    "flows": Column("1", "number of flows"),
    "p_adjusted": Column("1", "p-value adjusted by Holm's method over a kind's pairs of one metric on one network"),
}


@dataclass(frozen=True)
class Standing:
    """Standing of a scheme among those of its kind, on a network by a metric, in SI units.

    Attributes:
        network: name of the network.
        scheme: name of the scheme.
        kind: kind of its transport.
        metric: name of the metric.
        found: mean and interval.
        better_than: number of schemes that it is significantly better than.
        worse_than: number of schemes that are significantly better.
    """

    network: str
    scheme: str
    kind: str
    metric: str
    found: Estimate
    better_than: int
    worse_than: int

    @property
    def rank(self) -> int:
        """One more than the number of significantly better schemes; schemes may share a rank."""
        return self.worse_than + 1


def standings(league: League) -> list[Standing]:
    """Returns a standing for each network, scheme and metric with a value.

    A scheme is better than another of its kind if the paired difference of their runs is significant.
    """
    pairs = league.differences
    made = []
    for network, result in zip(league.networks, league.results, strict=True):
        better, worse = _counts(result, pairs[pairs["network"] == network.name])
        for name in result.metric_names:
            for index, scheme in enumerate(league.schemes):
                found = result.estimate(index, name)
                if found is not None:
                    key = (name, scheme)
                    kind = kind_of(scheme)
                    made.append(Standing(network.name, scheme, kind, name, found, better[key], worse[key]))
    return made


def runs(league: League) -> pd.DataFrame:
    """Returns a table of networks, schemes and seeds, with every metric in SI units."""
    parts = []
    for network, result in zip(league.networks, league.results, strict=True):
        df = result.table("metrics")
        df.insert(0, "network", network.name)
        parts.append(df)
    return pd.concat(parts, ignore_index=True)


def main_metric(table: Sequence[Standing], network: str, kind: str) -> str:
    """Returns the metric that ranks a kind on a network: the gap of useful goodput, or else its sum."""
    there = {standing.metric for standing in table if standing.network == network}
    by: list[str] = rules()["kinds"][kind]["by"]
    return next((name for name in by if name in there), by[-1])


def decided(league: League, table: Sequence[Standing]) -> tuple[int, int]:
    """Returns the numbers of pairs that seeds separate by a kind's main metric, and of all pairs."""
    found, pairs = 0, 0
    for network in league.networks:
        for kind in league.kinds:
            main = main_metric(table, network.name, kind)
            own = [one for one in table if (one.network, one.kind, one.metric) == (network.name, kind, main)]
            found += sum(one.better_than for one in own)
            pairs += math.comb(len(own), 2)
    return found, pairs


def overtaken(league: League, table: Sequence[Standing], before: str, after: str) -> tuple[set[tuple[str, str]], int]:
    """Returns pairs of schemes whose order is reversed between two networks, and the number ordered on both.

    The first of a pair is significantly worse on `before` and significantly better on `after`, each by the
    metric that ranks its kind there.
    """
    ordered = []
    for name in (before, after):
        result = next(
            found for network, found in zip(league.networks, league.results, strict=True) if network.name == name
        )
        main = {kind: main_metric(table, name, kind) for kind in league.kinds}
        decisions = _decisions(result, league.differences[league.differences["network"] == name])
        ordered.append({(first, second) for metric, first, second in decisions if metric == main[kind_of(first)]})
    was, became = ordered
    reversed_now = {(first, second) for first, second in became if (second, first) in was}
    return reversed_now, len(was & became) + len(reversed_now)


def record(league: League) -> list[dict[str, Any]]:
    """Returns the standings as plain data (JSON), in SI units."""
    return [
        {
            "network": standing.network,
            "scheme": standing.scheme,
            "kind": standing.kind,
            "metric": standing.metric,
            "mean": standing.found.mean,
            "low": standing.found.low,
            "high": standing.found.high,
            "n": standing.found.n,
            "rank": standing.rank,
            "better_than": standing.better_than,
            "worse_than": standing.worse_than,
        }
        for standing in standings(league)
    ]


def frame(league: League) -> pd.DataFrame:
    """Returns the standings as a table, in SI units."""
    return pd.DataFrame(record(league)).astype(dict.fromkeys(["mean", "low", "high"], float))


def export(
    league: League, directory: Path, command: str, page: str, picture: str, more: Mapping[str, pd.DataFrame]
) -> list[Path]:
    """Writes tables (Parquet, CSV), page, picture and manifest. Returns the paths.

    Args:
        league: league with its results.
        directory: folder to write into.
        command: command that reproduces the league.
        page: page as Markdown.
        picture: picture of coexistence (SVG).
        more: tables besides `standings`, `runs` and `differences`, by name.

    Raises:
        UserError: if the directory cannot be written, or has files of these names that are not results.
        OutputError: if the disk is full or broken.
    """
    tables = {"standings": frame(league), "runs": runs(league), "differences": league.differences, **more}
    about = _manifest(league, command, [name for name, df in tables.items() if len(df)])
    paths = []
    with results_directory(directory, NAMES):
        for name in about["tables"]:
            paths += write_table(directory, name, tables[name], about, _definitions(league))
        # One seed has no differences, and those of an earlier run would be taken for its own.
        for name in NAMES[_TABLES_FROM:]:
            if directory / name not in paths:
                (directory / name).unlink(missing_ok=True)
        paths.append(write_text(directory / "league.md", page))
        paths.append(write_text(directory / "coexistence.svg", picture))
        text = json.dumps(about, indent=2, ensure_ascii=False) + "\n"
        return [*paths, write_text(directory / "manifest.json", text)]


def _counts(result: StudyResult, pairs: pd.DataFrame) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Returns the numbers of schemes that each beats and loses to, by metric and scheme."""
    better: Counter[tuple[str, str]] = Counter()
    worse: Counter[tuple[str, str]] = Counter()
    for metric, first, second in _decisions(result, pairs):
        better[metric, first] += 1
        worse[metric, second] += 1
    return better, worse


def _decisions(result: StudyResult, pairs: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    """Yields metric, better scheme and worse scheme of each significant difference on a network."""
    for row in pairs.to_dict("records"):
        better_if = result.study.spec.metrics[row["metric"]].better
        if better_if is None or pd.isna(row["p_adjusted"]) or not row["p_adjusted"] < SIGNIFICANCE:
            continue
        a_wins = (row["difference"] > 0) == (better_if == "higher")
        yield (row["metric"], row["a"], row["b"]) if a_wins else (row["metric"], row["b"], row["a"])


def _manifest(league: League, command: str, tables: Sequence[str]) -> dict[str, Any]:
    """Returns the runs, their build, and the command that repeats them. Nothing depends on the machine."""
    return {
        "format": 1,
        **build_record(),
        "command": command,
        "schemes": league.schemes,
        "networks": [
            {"name": network.name, "seeds": list(result.seeds.get(0, [])), "failures": len(result.failures)}
            for network, result in zip(league.networks, league.results, strict=True)
        ],
        "tables": {name: table_file(name) for name in tables},
    }


def _definitions(league: League) -> dict[str, Column]:
    """Returns unit and meaning of each column."""
    first = league.results[0]
    own = {name: Column("SI", first.metric(name).title) for name in first.metric_names}
    return own | coexistence.COLUMNS | _COLUMNS
