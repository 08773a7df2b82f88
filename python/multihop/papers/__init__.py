"""Papers as data, a file and a folder each: studies of figures and tables, with claims."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from multihop import importers
from multihop.base.errors import UserError, instead_of
from multihop.experiments.studies import Study
from multihop.importers import to_scenario

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Headline:
    """Main claim of a paper, decided by claims of its studies and shown by one chart.

    Attributes:
        says: the claim in our own words.
        where: figures and tables that show it; `beyond the paper` if the claim is ours.
        claims: ids of the claims that decide it, of any study of the paper.
        item: study of the chart.
        chart: title of the chart that shows the claim as the paper drew it.
        found: sentence on what the runs show and why. Without numbers, since they follow from the runs.
    """

    says: str
    where: str
    claims: Sequence[str]
    item: str
    chart: str
    found: str


@dataclass(frozen=True)
class Paper:
    """Paper whose results can be reproduced.

    Attributes:
        name: name for `multihop reproduce`.
        title: title of the paper.
        authors: authors of the paper.
        published: place and year of publication.
        items: names of its studies, in the order of the paper.
        community: study (`item`), `factor` and `case` to which a reader's mesh can be added, and its import
            (`plan`).
        headlines: its main claims, those of the abstract first, in the order of its page.
    """

    name: str
    title: str
    authors: str
    published: str
    items: list[str]
    community: Mapping[str, Any] = field(default_factory=dict)
    headlines: Sequence[Headline] = ()

    def study(self, item: str) -> Study:
        """Returns the study of a figure or table.

        Raises:
            UserError: if the paper has no such item.
        """
        if item not in self.items:
            raise UserError(f"{self.name}/{item}: no such item; {instead_of(item, self.items)}")
        return Study.load(_FOLDER / self.name / f"{item}.toml")

    def study_on(self, item: str, mesh: Path) -> Study:
        """Returns the study of a figure or table, with `mesh` added if the study takes meshes.

        The mesh is a file that `multihop import` reads.

        Raises:
            UserError: if the paper has no such item, or the mesh cannot be read.
        """
        asked, said = self.study(item), self.community
        if item != said.get("item"):
            return asked
        plan = replace(to_scenario.Plan(), **said["plan"])
        imported = tomllib.loads(to_scenario.write(importers.read(mesh, importers.Options()), plan, str(mesh)).text)
        keys = {name: imported[name] for name in ("medium", "routing", "topology")}
        keys |= {f"traffic.{name}": imported["traffic"][name] for name in ("gateways", "clients")}
        return asked.with_case(said["factor"], said["case"], keys)


def papers() -> list[Paper]:
    """Returns all papers, by name."""
    files = sorted(_FOLDER.glob("*.toml"))
    return [_paper(file) for file in files]


def catalogue() -> list[dict[str, Any]]:
    """Returns every paper with its items and their titles."""
    return [
        {
            "name": paper.name,
            "summary": f"{paper.authors}: {paper.title}. {paper.published}",
            "keys": {item: paper.study(item).spec.title or "" for item in paper.items},
        }
        for paper in papers()
    ]


def find(name: str) -> Paper:
    """Returns the paper of a name.

    Raises:
        UserError: if there is no such paper.
    """
    known = {paper.name: paper for paper in papers()}
    if name not in known:
        raise UserError(f"{name}: no such paper; {instead_of(name, known)}")
    return known[name]


def _paper(file: Path) -> Paper:
    content = tomllib.loads(file.read_text("utf-8"))
    headlines = [Headline(**headline) for headline in content.pop("headlines", [])]
    return Paper(file.stem, **content, headlines=headlines)
