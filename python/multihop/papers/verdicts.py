"""Verdicts on a paper's claims as files: beside its runs, and in the package."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from multihop.base.errors import UserError
from multihop.base.files import write_text
from multihop.experiments.claims.judging import Cell, Judgement, State, Verdict, grade
from multihop.experiments.exports import verdict_record
from multihop.experiments.specs import Claim
from multihop.experiments.studies import StudyResult
from multihop.papers import Paper
from multihop.results.provenance import build

#: Name of the file in the folder of a reproduced paper.
FILE = "verdicts.json"


class Extent(StrEnum):
    """Share of the runs of a paper's studies on which verdicts are based."""

    FULL = "full"
    FEWER_SEEDS = "fewer seeds"
    QUICK = "quick"

    @classmethod
    def of(cls, results: Sequence[StudyResult]) -> Extent:
        """Returns the extent of a paper's results."""
        if any(result.study.is_quick for result in results):
            return cls.QUICK
        return cls.FULL if all(result.has_all_seeds for result in results) else cls.FEWER_SEEDS


#: Sentence about an extent on a page.
EXTENTS = {
    Extent.FULL: "",
    Extent.FEWER_SEEDS: "Some studies have fewer seeds here than they define, so that more claims are undecided.",
    Extent.QUICK: "A quick run (`--quick`): fewer seeds, shorter runs and fewer values than the studies define.",
}


@dataclass(frozen=True)
class Verdicts:
    """Verdicts on all claims of a paper by the runs of one build.

    Attributes:
        paper: the paper.
        judgements: verdicts on its claims.
        build: engine and commit of multihop that made the runs.
        extent: share of the studies' runs.
        is_shipped: whether they are those of the package, whose cells have only a state and a reading.
    """

    paper: Paper
    judgements: Sequence[Judgement]
    build: str
    extent: Extent
    is_shipped: bool = False


def write_verdicts(folder: Path, results: Sequence[StudyResult]) -> Path:
    """Writes the file of a paper with all items reproduced. Returns its path.

    Raises:
        OutputError: if the disk is full or broken.
        UserError: if the folder cannot be written.
    """
    claims = [verdict_record(judgement) for result in results for judgement in result.judgements]
    content = {"build": build(), "extent": Extent.of(results), "claims": claims}
    return write_text(folder / FILE, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def read_verdicts(paper: Paper, folder: Path) -> Verdicts:
    """Reads the verdicts of a paper, with the claims of its studies as they are now.

    Raises:
        UserError: if the file is missing, or has other claims than the studies.
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


def shipped_file(paper: Paper) -> Path:
    """Returns the path of a paper's verdicts in the package."""
    return Path(__file__).parent / f"{paper.name}.json"


def write_shipped(path: Path, verdicts: Verdicts) -> Path:
    """Writes verdicts as the package has them: the number of cells by state, for each claim and reading.

    Raises:
        OutputError: if the disk is full or broken.
        UserError: if the folder cannot be written.
    """
    head = f'{{\n"build": {_json(verdicts.build)},\n"extent": {_json(verdicts.extent)},\n"claims": {{\n'
    rows = [f"{_json(judgement.claim.id)}: {_json(_counts(judgement.cells))}" for judgement in verdicts.judgements]
    return write_text(path, head + ",\n".join(rows) + "\n}\n}\n")


def read_shipped(paper: Paper) -> Verdicts:
    """Reads the verdicts of the package. A claim that they lack has no cells."""
    content = json.loads(shipped_file(paper).read_text("utf-8"))
    claims = [claim for item in paper.items for claim in paper.study(item).spec.claims]
    judgements = [_of_counts(claim, content["claims"].get(claim.id, {})) for claim in claims]
    return Verdicts(paper, judgements, content["build"], Extent(content["extent"]), is_shipped=True)


def latest_verdicts(paper: Paper, folder: Path) -> Verdicts:
    """Returns the verdicts beside a paper's runs if they are of this build, else those of the package."""
    try:
        found = read_verdicts(paper, folder)
    except UserError:
        return read_shipped(paper)
    return found if found.build == build() else read_shipped(paper)


def _counts(cells: Sequence[Cell]) -> dict[str, list[int]]:
    """Returns the number of cells by state, in the order of `State`, for each reading."""
    states = list(State)
    counts: dict[str, list[int]] = {}
    for cell in cells:
        counts.setdefault(cell.reading, [0] * len(states))[states.index(cell.state)] += 1
    return counts


def _of_counts(claim: Claim, counts: Mapping[str, Sequence[int]]) -> Judgement:
    cells = [
        Cell("", "", "", state, reading=reading)
        for reading, each in counts.items()
        for state, count in zip(State, each, strict=True)
        for _ in range(count)
    ]
    readings = [(name, grade([cell for cell in cells if cell.reading == name])) for name in counts if name]
    return Judgement(claim, grade(cells), cells, readings)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _judgement(record: Mapping[str, Any], claim: Claim) -> Judgement:
    cells = [Cell(**{**cell, "state": State(cell["state"])}) for cell in record["cells"]]
    readings = [(label, Verdict(verdict)) for label, verdict in record["readings"].items()]
    return Judgement(claim, Verdict(record["verdict"]), cells, readings)
