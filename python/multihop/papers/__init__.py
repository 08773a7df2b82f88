"""A file and a folder per paper, as data: a study for each figure or table, and what the paper claims about it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from multihop.base.errors import UserError, did_you_mean
from multihop.claims.study import Study

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Paper:
    """A paper whose results can be reproduced.

    Attributes:
        name: what `multihop reproduce` calls it.
        items: names of its studies, in the order of the paper.
    """

    name: str
    title: str
    authors: str
    published: str
    items: list[str]

    def study(self, item: str) -> Study:
        """The study of a figure or table.

        Raises:
            UserError: if the paper has no such item.
        """
        if item not in self.items:
            raise UserError(
                f"{self.name}/{item}: no such item; {did_you_mean(item, self.items)}it has {', '.join(self.items)}"
            )
        return Study.load(_FOLDER / self.name / f"{item}.toml")


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
        raise UserError(f"{name}: no such paper; {did_you_mean(name, known)}there are {', '.join(known)}")
    return known[name]
