"""Coexistence: the share of every scheme beside a scheme of most hosts, with one flow each.

Networks, rivals and limits are defined in `coexistence.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from multihop.experiments.studies import Study, StudyResult
from multihop.leagues import Network, configured, settings
from multihop.results.columns import Column
from multihop.results.statistics import Estimate, estimate, estimate_or_none
from multihop.results.words import counted, listed, markdown_table

#: Flows of a network: the tested scheme's, and its rival's.
_FLOWS = ("tested", "rival")

#: Verdicts on a share.
STARVES, STARVED = "starves", "is starved"

COLUMNS = {
    "share": Column("1", "of goodput: a scheme's part of both flows' goodput; of a cause: its part of all causes"),
    "goodput_bps": Column("bit/s", "goodput of the scheme, mean over seeds"),
    "rival": Column("", "scheme of the other flow"),
    "rival_bps": Column("bit/s", "goodput of the rival, mean over seeds"),
    "verdict": Column("", "starves: interval of the share above its upper limit; is starved: below its lower limit"),
}


@dataclass(frozen=True)
class Pair:
    """Share of a scheme beside a rival on a network.

    Attributes:
        network: title of the network.
        scheme: name of the scheme.
        rival: name of the rival.
        share: goodput of the scheme over that of both flows; `None` if neither flow carried anything.
        goodput_bps: mean goodput of the scheme.
        rival_bps: mean goodput of the rival.
    """

    network: str
    scheme: str
    rival: str
    share: Estimate | None
    goodput_bps: float
    rival_bps: float

    @property
    def verdict(self) -> str:
        """Whether the scheme starves its rival or is starved by it; empty if neither is significant."""
        if self.share is None or self.share.low is None or self.share.high is None:
            return ""
        if self.share.low > rules()["starves"]:
            return STARVES
        return STARVED if self.share.high < rules()["starved"] else ""


@cache
def rules() -> dict[str, Any]:
    """Returns the content of `coexistence.toml`."""
    return tomllib.loads((Path(__file__).parent / "coexistence.toml").read_text("utf-8"))


def networks() -> list[Network]:
    """Returns the networks with two flows, in the order of the picture."""
    said = rules()
    made = []
    for keys in said["networks"]:
        flows = [
            {
                "name": name,
                "from": keys["paths"][name][0],
                "to": keys["paths"][name][1],
                "scheme": said["rivals"][0],
                "app": {"kind": "saturated"},
                "start_jitter": "1 s",
            }
            for name in _FLOWS
        ]
        scenario = {"name": keys["name"], **said["scenario"], **keys["scenario"], "flows": flows}
        made.append(Network(keys["name"], keys["title"], scenario))
    return made


def study(network: Network, compared: Sequence[str], seeds: int | None = None) -> Study:
    """Returns the study of a network: every scheme beside every rival.

    Args:
        network: one of `networks`.
        compared: names of schemes.
        seeds: number of seeds; that of `coexistence.toml` by default, also for a quick run.
    """
    said = rules()
    if isinstance(network.scenario, str):
        raise TypeError("networks of pairs of flows are not files")
    return Study(
        name=network.name,
        title=f"Beside another scheme: {network.title}",
        description="Two flows, of a scheme and of its rival",
        scenario=dict(network.scenario),
        seeds=said["seeds"] if seeds is None else seeds,
        factors={"pair": {"title": "pair", "cases": _cases(network, compared)}},
        metrics={
            name: {"column": "flows.goodput_bps", "where": {"name": name}, "title": title, "unit": "Mb/s"}
            for name, title in zip(_FLOWS, ("Goodput of the scheme", "Goodput of the rival"), strict=True)
        },
        quick=said["quick"] if seeds is None else {**said["quick"], "seeds": seeds},
    )


def _cases(network: Network, compared: Sequence[str]) -> dict[str, dict[str, Any]]:
    made = {}
    for scheme, rival in _pairs(compared):
        keys: dict[str, Any] = {}
        for index, name in enumerate((scheme, rival)):
            keys |= {**settings(name), **configured(network, name), f"flows[{index}].scheme": name}
            if name in rules()["apps"]:
                keys[f"flows[{index}].app"] = rules()["apps"][name]
        made[_label(scheme, rival)] = {path: value for path, value in keys.items() if path != "scheme"}
    return made


def _pairs(compared: Sequence[str]) -> Iterator[tuple[str, str]]:
    return ((scheme, rival) for scheme in compared for rival in rules()["rivals"])


def _label(scheme: str, rival: str) -> str:
    return f"{scheme} beside {rival}"


def pairs(results: Sequence[StudyResult], compared: Sequence[str]) -> list[Pair]:
    """Returns the share of each scheme beside each rival on each network, as far as there are runs."""
    made = []
    titles = {network.name: network.title for network in networks()}
    for result in results:
        points = {str(point.labels["pair"]): index for index, point in enumerate(result.points)}
        for scheme, rival in _pairs(compared):
            point = points[_label(scheme, rival)]
            got = pd.concat([result.values(point, name) for name in _FLOWS], axis=1).dropna().to_numpy(float)
            if len(got):
                made.append(_pair(titles[result.study.spec.name], scheme, rival, got))
    return made


def _pair(network: str, scheme: str, rival: str, got: np.ndarray) -> Pair:
    """Returns the pair of goodputs in bit/s, a row per seed. A seed without any goodput has no share."""
    total = got.sum(axis=1)
    share = estimate_or_none(np.divide(got[:, 0], total, out=np.full(len(got), np.nan), where=total > 0))
    means = [estimate(column).mean for column in got.T]
    return Pair(network, scheme, rival, None if share is None else share.within(0.0, 1.0), means[0], means[1])


def frame(found: Sequence[Pair]) -> pd.DataFrame:
    """Returns pairs as a table in SI units."""
    rows = [
        {
            "network": pair.network,
            "scheme": pair.scheme,
            "rival": pair.rival,
            "share": None if pair.share is None else pair.share.mean,
            "low": None if pair.share is None else pair.share.low,
            "high": None if pair.share is None else pair.share.high,
            "n": 0 if pair.share is None else pair.share.n,
            "goodput_bps": pair.goodput_bps,
            "rival_bps": pair.rival_bps,
            "verdict": pair.verdict,
        }
        for pair in found
    ]
    return pd.DataFrame(rows).astype(dict.fromkeys(["share", "low", "high"], float))


def verdicts(found: Sequence[Pair]) -> tuple[list[str], list[list[str]]]:
    """Returns heads and rows: schemes that starve a rival or are starved, with the networks and rivals."""
    rows = []
    for scheme in dict.fromkeys(pair.scheme for pair in found):
        cells = [_where([pair for pair in found if (pair.scheme, pair.verdict) == (scheme, of)]) for of in _VERDICTS]
        if any(cells):
            rows.append([scheme, *(cell or "nowhere" for cell in cells)])
    return ["scheme", *_VERDICTS], rows


_VERDICTS = (STARVES, STARVED)


def _where(found: Sequence[Pair]) -> str:
    """Returns rivals, each with its networks and the means of the shares."""
    parts = []
    for rival in dict.fromkeys(pair.rival for pair in found):
        cells = [
            f"{pair.network} ({100 * pair.share.mean:.1f} %)"
            for pair in found
            if pair.rival == rival and pair.share is not None
        ]
        parts.append(f"{rival}: {', '.join(cells)}")
    return "; ".join(parts)


def summary(found: Sequence[Pair]) -> str:
    """Returns a sentence with the numbers of schemes that starve a rival, and that are starved."""
    counts = [len({pair.scheme for pair in found if pair.verdict == of}) for of in _VERDICTS]
    rivals = listed(rules()["rivals"], "or")
    of = counted(len({pair.scheme for pair in found}), "scheme")
    return f"Beside {rivals}: {counts[0]} of {of} starve a rival somewhere, {counts[1]} are starved somewhere."


def markdown(found: Sequence[Pair]) -> list[str]:
    """Returns the section of the page, with the picture and the table of verdicts."""
    said = rules()
    words = {
        "RIVALS": listed(said["rivals"], "and beside"),
        "SEEDS": str(max((pair.share.n for pair in found if pair.share is not None), default=0)),
        "STARVES": f"{100 * said['starves']:g} %",
        "STARVED": f"{100 * said['starved']:g} %",
    }
    lines = ["## Beside another scheme", ""]
    for text in said["page"]:
        for name, value in words.items():
            text = text.replace(name, value)
        lines += [text, ""]
    lines += [f"![Share of each scheme beside {listed(said['rivals'])}](coexistence.svg)", ""]
    heads, rows = verdicts(found)
    lines += markdown_table(heads, rows) if rows else ["No scheme starves a rival, and none is starved.", ""]
    return lines
