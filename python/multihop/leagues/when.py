"""Regimes around a base network, and the schemes that win in each, as a page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from multihop._core import Controller
from multihop.base.errors import UserError
from multihop.base.files import write_text
from multihop.experiments.studies import StudyResult
from multihop.leagues import Network, networks, schemes, words
from multihop.leagues.words import CARRIES, LEAST_INDEX, LEAST_SHARE, QUESTIONS, Win, listed, wins
from multihop.report.study.provenance import spans
from multihop.results.folders import results_directory
from multihop.results.provenance import build, record

#: Files of the command besides the folders of its studies.
NAMES = ("manifest.json", "when.md")


def regimes(*, quick: bool = False) -> list[Network]:
    """Returns the networks of the study, in the order of the page; a quick run has fewer."""
    said = words.regimes()
    others = {network.name: network for network in networks()}
    made = []
    for keys in said["regimes"]:
        if quick and keys["name"] not in said["quick"]["regimes"]:
            continue
        other = others.get(keys.get("network", ""))
        scenario = _chain({**said["base"], **keys}) if other is None else other.scenario
        changes = keys.get("set", {})
        made.append(Network(keys["name"], f"{keys['group']}: {keys['title']}", scenario, "", changes))
    return made


def compared(wanted: Sequence[str | type[Controller]] | None = None) -> list[str]:
    """Returns the schemes of the study, or the wanted ones.

    Raises:
        UserError: if a scheme is unknown, or no two are of one kind.
    """
    chosen = schemes(words.regimes()["schemes"] if wanted is None else wanted)
    if not words.classes(chosen):
        found = ", ".join(chosen)
        raise UserError(f"--schemes: found {found}; needs two reliable schemes, or two of datagrams, to compare")
    return chosen


def export(asked: Sequence[Network], results: Sequence[StudyResult], directory: Path, command: str) -> Path:
    """Writes the page, and a manifest next to it. Returns the page's path.

    Raises:
        UserError: if the directory cannot be written, or has files of these names that are not results.
        OutputError: if the disk is full or broken.
    """
    about: dict[str, Any] = {"format": 1, "what": "multihop when", **record(), "command": command, "tables": []}
    with results_directory(directory, NAMES):
        page = write_text(directory / "when.md", markdown(asked, results, command))
        write_text(directory / "manifest.json", json.dumps(about, indent=2) + "\n")
    return page


def markdown(asked: Sequence[Network], results: Sequence[StudyResult], command: str) -> str:
    """Returns the page: for each class of schemes the number of wins of each, and a row per regime."""
    found = words.classes([str(point.labels["scheme"]) for point in results[0].points])
    made_by = f"with multihop {build()}"
    seeds = sorted({seed for seeds in results[0].seeds.values() for seed in seeds})
    lines = [
        "# When which scheme helps",
        "",
        f"Written from the runs of `{command}`, {made_by}: {len(asked)} regimes, seeds {spans(seeds)} of each.",
        "",
        *(line for text in words.regimes()["page"] for line in (_filled(text), "")),
    ]
    for title, rivals in found.items():
        made = [wins(result, rivals) for result in results]
        lines += [f"## {title}", "", f"Compared: {listed(rivals)}.", "", *_often(rivals, made)]
        lines += ["| regime | goodput | delay | fairness |", "|---|---|---|---|"]
        for network, result, won in zip(asked, results, made, strict=True):
            lines.append(f"| {network.title} | {' | '.join(_cell(name, won, result) for name in QUESTIONS)} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _filled(text: str) -> str:
    """Fills the thresholds of comparisons into a text of the page."""
    numbers = {"SHARE": f"{100 * LEAST_SHARE:g} %", "INDEX": f"{LEAST_INDEX:g}", "CARRIES": f"{100 * CARRIES:g} %"}
    for name, number in {**numbers, "REFERENCE": words.REFERENCE}.items():
        text = text.replace(name, number)
    return text


def _chain(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a chain with flows over its whole length, in alternating directions."""
    ends = ("n0", f"n{keys['hops']}")
    flows = [
        {
            "name": f"flow{index + 1}",
            "from": ends[index % 2],
            "to": ends[1 - index % 2],
            "scheme": "tcp-newreno",
            "app": keys.get("app", {"kind": "saturated"}),
            "start_jitter": "1 s",
        }
        for index in range(keys["flows"])
    ]
    topology = {"generator": "chain", "hops": keys["hops"], "spacing": "200 m"}
    return {"name": keys["name"], **keys["scenario"], "topology": topology, "flows": flows}


def _often(rivals: Sequence[str], made: Sequence[Mapping[str, Win]]) -> list[str]:
    """Returns a table of the number of regimes in which each scheme leads, and in which none differs."""
    lead = Counter((name, scheme) for won in made for name, win in won.items() if win.behind for scheme in win.leaders)
    answered = {name: sum(name in won and bool(won[name].behind) for won in made) for name in QUESTIONS}
    asked = {name: sum(name in won for won in made) for name in QUESTIONS}
    lines = ["| leads in, alone or with others | goodput | delay | fairness |", "|---|---|---|---|"]
    lines += [f"| {scheme} | {' | '.join(str(lead[name, scheme]) for name in QUESTIONS)} |" for scheme in rivals]
    none = " | ".join(f"{asked[name] - answered[name]} of {asked[name]}" for name in QUESTIONS)
    return [*lines, f"| none differs | {none} |", ""]


def _cell(name: str, won: Mapping[str, Win], result: StudyResult) -> str:
    if name == "jain" and len(result.study.plan.views[0]["flows"]) == 1:
        return "one flow"
    return won[name].sentence if name in won else "nothing to compare"
