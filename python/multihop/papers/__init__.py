"""Papers as data, a file and a folder each: studies of figures and tables, and claims about them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from multihop import importers
from multihop.base.errors import UserError, instead_of
from multihop.claims.study import Study
from multihop.importers import to_scenario

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Paper:
    """A paper whose results can be reproduced.

    Attributes:
        name: what `multihop reproduce` calls it.
        items: names of its studies, in the order of the paper.
        community: the study (`item`) that a mesh of the reader's can be added to, as a `case` of a `factor`,
            and how the mesh is imported (`plan`).
    """

    name: str
    title: str
    authors: str
    published: str
    items: list[str]
    community: Mapping[str, Any] = field(default_factory=dict)

    def study(self, item: str) -> Study:
        """The study of a figure or table.

        Raises:
            UserError: if the paper has no such item.
        """
        if item not in self.items:
            raise UserError(f"{self.name}/{item}: no such item; {instead_of(item, self.items)}")
        return Study.load(_FOLDER / self.name / f"{item}.toml")

    def study_on(self, item: str, mesh: Path) -> Study:
        """The study of a figure or table; one that takes meshes has `mesh` added.

        `multihop import` must be able to read the mesh.

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
    """All papers, by name."""
    files = sorted(_FOLDER.glob("*.toml"))
    return [Paper(file.stem, **tomllib.loads(file.read_text("utf-8"))) for file in files]


def catalogue() -> list[dict[str, Any]]:
    """Every paper, and its items with what each is about."""
    return [
        {
            "name": paper.name,
            "summary": f"{paper.authors}: {paper.title}. {paper.published}",
            "keys": {item: paper.study(item).spec.title or "" for item in paper.items},
        }
        for paper in papers()
    ]


def find(name: str) -> Paper:
    """The paper of that name.

    Raises:
        UserError: if there is none.
    """
    known = {paper.name: paper for paper in papers()}
    if name not in known:
        raise UserError(f"{name}: no such paper; {instead_of(name, known)}")
    return known[name]
