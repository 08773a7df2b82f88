"""The verdicts on a paper's claims as a file: a page of them needs neither the runs nor their build."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from multihop.base.errors import UserError
from multihop.base.files import write_text
from multihop.claims.export import verdict_record
from multihop.claims.judging import Cell, Judgement, State, Verdict
from multihop.claims.study import StudyResult
from multihop.papers import Paper
from multihop.results.provenance import build
from multihop.study.spec import Claim

#: In the folder of a paper that was reproduced.
FILE = "verdicts.json"


class Extent(StrEnum):
    """How many of the runs that the studies of a paper ask for verdicts rest on."""

    FULL = "full"
    FEWER_SEEDS = "fewer seeds"
    QUICK = "quick"

    @classmethod
    def of(cls, results: Sequence[StudyResult]) -> Extent:
        """The extent of a paper's results."""
        if any(result.study.is_quick for result in results):
            return cls.QUICK
        return cls.FULL if all(result.has_all_seeds for result in results) else cls.FEWER_SEEDS


#: What a page says of an extent.
EXTENTS = {
    Extent.FULL: "",
    Extent.FEWER_SEEDS: "Some studies have fewer seeds here than they ask for: more is undecided than need be.",
    Extent.QUICK: "A quick look (`--quick`): fewer seeds, shorter runs and fewer values than the studies ask for.",
}


@dataclass(frozen=True)
class Verdicts:
    """What the runs of a build say about all claims of a paper.

    Attributes:
        build: engine and commit of multihop that made the runs.
        extent: how many of the runs asked for these are.
    """

    paper: Paper
    judgements: Sequence[Judgement]
    build: str
    extent: Extent


def write_verdicts(folder: Path, results: Sequence[StudyResult]) -> Path:
    """Writes the file of a paper whose items were all reproduced; returns its path.

    Raises:
        OutputError: if the disk is full or broken.
        UserError: if the folder cannot be written.
    """
    claims = [verdict_record(judgement) for result in results for judgement in result.judgements]
    content = {"build": build(), "extent": Extent.of(results), "claims": claims}
    return write_text(folder / FILE, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def read_verdicts(paper: Paper, folder: Path) -> Verdicts:
    """What `write_verdicts` wrote of this paper, with the claims as its studies have them now.

    Raises:
        UserError: if there is no such file, or it is about other claims than the studies are.
    """
    path = folder / FILE
    again = f"make it with multihop reproduce {paper.name}"
    try:
        content = json.loads(path.read_text("utf-8"))
        records = {record["id"]: record for record in content["claims"]}
        claims = [claim for item in paper.items for claim in paper.study(item).spec.claims]
        judgements = [_judgement(records.pop(claim.id), claim) for claim in claims]
        found = Verdicts(paper, judgements, content["build"], Extent(content["extent"]))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}; {again}") from error
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise UserError(f"{path}: does not fit the claims of {paper.name} ({error}); {again}") from error
    if records:
        raise UserError(f"{path}: {', '.join(records)}: no such claim of {paper.name}; {again}")
    return found


def _judgement(record: Mapping[str, Any], claim: Claim) -> Judgement:
    cells = [Cell(**{**cell, "state": State(cell["state"])}) for cell in record["cells"]]
    readings = [(label, Verdict(verdict)) for label, verdict in record["readings"].items()]
    return Judgement(claim, Verdict(record["verdict"]), cells, readings)
