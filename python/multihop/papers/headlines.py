"""Verdicts on headlines, the main claims of papers, and the check of what headlines name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from multihop.base.errors import UserError, instead_of
from multihop.experiments.claims.judging import Judgement, Verdict, grade
from multihop.papers import Headline, Paper


@dataclass(frozen=True)
class JudgedHeadline:
    """Headline with the verdicts on its claims."""

    headline: Headline
    judgements: Sequence[Judgement]

    @property
    def verdict(self) -> Verdict:
        """Verdict on the cells of all claims together, by the rule for a claim."""
        return grade([cell for judgement in self.judgements for cell in judgement.cells])


def judged(headlines: Iterable[Headline], judgements: Iterable[Judgement]) -> list[JudgedHeadline]:
    """Returns the headlines of which all claims are judged."""
    by_id = {judgement.claim.id: judgement for judgement in judgements}
    return [
        JudgedHeadline(headline, [by_id[claim] for claim in headline.claims])
        for headline in headlines
        if by_id.keys() >= set(headline.claims)
    ]


def check(paper: Paper) -> None:
    """Checks that a paper's headlines name items, claims and charts of its studies.

    Raises:
        UserError: if a headline names an unknown one, or no claim.
    """
    claims = [claim.id for item in paper.items for claim in paper.study(item).spec.claims] if paper.headlines else []
    for number, headline in enumerate(paper.headlines):
        place = f"{paper.name}.toml: headlines[{number}]"
        _check_name(f"{place}.item", headline.item, paper.items)
        _check_name(f"{place}.chart", headline.chart, [c.title for c in paper.study(headline.item).spec.charts])
        for claim in headline.claims:
            _check_name(f"{place}.claims", claim, claims)
        if not headline.claims:
            raise UserError(f"{place}.claims: empty; needs at least one claim")


def headline_record(judged: JudgedHeadline) -> dict[str, Any]:
    """Returns a headline with its verdict as plain data (JSON)."""
    return {**vars(judged.headline), "verdict": str(judged.verdict)}


def _check_name(place: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise UserError(f'{place}: found "{name}"; {instead_of(name, known)}')
