"""Verdicts: a summary of all claims, and the cells of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from multihop.experiments.claims.judging import Cell, Judgement, State, Verdict
from multihop.experiments.studies import StudyResult
from multihop.report.charts.study_layout import text
from multihop.report.markup import disclosure, escape, paragraphs, remark

_BADGES = {
    Verdict.REPRODUCED: "good",
    Verdict.MOSTLY_HOLDS: "good",
    Verdict.MIXED: "fair",
    Verdict.MOSTLY_FAILS: "bad",
    Verdict.NOT: "bad",
    Verdict.UNDECIDED: "none",
    Verdict.UNKNOWN: "none",
}
_STATES = {State.HOLDS: "good", State.UNDECIDED: "fair", State.FAILS: "bad", State.MISSING: "none"}


def counted(judgements: Sequence[Judgement]) -> str:
    """Returns the number of claims with each verdict."""
    counts = Counter(judgement.verdict for judgement in judgements)
    claims = "1 claim" if len(judgements) == 1 else f"{len(judgements)} claims"
    return f"{claims}: " + ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])


def summary(results: Sequence[tuple[str, StudyResult]]) -> str:
    """Returns a table of all verdicts. Each result has the prefix of its ids in the page."""
    rows = "".join(
        _row(judgement, f"{prefix}k{number}")
        for prefix, result in results
        for number, judgement in enumerate(result.judgements)
    )
    if not rows:
        return ""
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("claim", "where", "it says", "verdict", "numbers"))
    return f'<table class="verdicts"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'


def details(result: StudyResult, prefix: str) -> str:
    """Returns every claim with its reason and its cells."""
    return "".join(_claim(judgement, f"{prefix}k{number}") for number, judgement in enumerate(result.judgements))


def _row(judgement: Judgement, key: str) -> str:
    claim = judgement.claim
    impossible = len(judgement.impossible)
    beyond = f"{impossible} claimed beyond the channel" if impossible else ""
    numbers = ", ".join(part for part in (judgement.summary, beyond) if part)
    cells = (
        ("claim", f'<a href="#{key}">{escape(claim.id)}</a>'),
        ("where", escape(claim.where)),
        ("it says", escape(claim.says)),
        ("verdict", badge(judgement.verdict) + _readings(judgement)),
        ("numbers", escape(numbers)),
    )
    return "<tr>" + "".join(f'<td data-head="{head}">{content}</td>' for head, content in cells) + "</tr>"


def badge(verdict: Verdict) -> str:
    """Returns a verdict with its words, symbol and colour."""
    symbol = f'<span aria-hidden="true">{verdict.symbol}</span>'
    return f'<span class="badge {_BADGES[verdict]}">{symbol} {escape(str(verdict))}</span>'


def _readings(judgement: Judgement) -> str:
    """Returns the verdict of each reading, if they differ; one line for readings that agree."""
    if len(judgement.readings) < 2 or len({verdict for _, verdict in judgement.readings}) == 1:
        return ""
    by_verdict: dict[Verdict, list[str]] = {}
    for label, verdict in judgement.readings:
        by_verdict.setdefault(verdict, []).append(text(label))
    lines = "".join(
        f'<li><span aria-hidden="true">{verdict.symbol}</span> {escape(str(verdict))}: {escape("; ".join(labels))}</li>'
        for verdict, labels in by_verdict.items()
    )
    return f'<ul class="readings">{lines}</ul>'


def _claim(judgement: Judgement, key: str) -> str:
    claim = judgement.claim
    impossible = len(judgement.impossible)
    beyond = ""
    if impossible:
        printed = sum(cell.printed is not None for cell in judgement.cells)
        beyond = (
            f'<p class="beyond"><b>The claimed number is more than the channel can carry</b> in {impossible} of '
            f"{printed} cells.</p>"
        )
    reason = paragraphs(claim.reason)
    return (
        f'<div class="claim" id="{key}"><p>{badge(judgement.verdict)} <b>{escape(claim.where)}</b>: '
        f'{escape(claim.says)} <span class="id">{escape(claim.id)}</span></p>{_readings(judgement)}{beyond}{reason}'
        f"{disclosure(judgement.summary, _cells(judgement), 'print')}</div>"
    )


def _cells(judgement: Judgement) -> str:
    if not judgement.cells:
        return remark("No point of the study matches the claim.")
    cells = judgement.cells
    with_printed = any(cell.printed is not None for cell in cells)
    with_possible = any(cell.possible is not None for cell in cells)
    heads = ["what", "", "measured", "expected"]
    heads += ["claimed"] if with_printed else []
    heads += ["channel at most"] if with_possible else []
    rows = "".join(_cell(cell, with_printed=with_printed, with_possible=with_possible) for cell in cells)
    head = "".join(f'<th scope="col"{" class=name" if h == "what" else ""}>{h}</th>' for h in heads)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="scroll tall" tabindex="0">{table}</div>'


def _cell(cell: Cell, *, with_printed: bool, with_possible: bool) -> str:
    numbers = [cell.measured, cell.expected]
    numbers += ["" if cell.printed is None else f"{cell.printed:g}"] if with_printed else []
    columns = "".join(f"<td>{escape(number)}</td>" for number in numbers)
    if with_possible:
        is_beyond = cell.printed is not None and cell.possible is not None and cell.printed > cell.possible
        bound = "" if cell.possible is None else f"{cell.possible:.4g}"
        columns += f'<td class="beyond">{bound}, less than claimed</td>' if is_beyond else f"<td>{bound}</td>"
    state = f'<span class="badge {_STATES[cell.state]}">{escape(str(cell.state))}</span>'
    return f'<tr><td class="name">{escape(cell.what)}</td><td class="name">{state}</td>{columns}</tr>'
