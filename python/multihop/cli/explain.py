"""`explain`: causes of slow flows, and remedies."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multihop.cli import console
from multihop.cli.runs import JobsOption, JsonOption, QuietOption

if TYPE_CHECKING:
    from multihop.explanation.explain import Explanation

ResultsArgument = Annotated[
    Path,
    typer.Argument(
        metavar="RESULTS",
        help="A folder written by run --out or compare --out, or the journal of an emulation.",
        show_default=False,
    ),
]
FlowArgument = Annotated[
    str | None,
    typer.Argument(metavar="[FLOW]", help="Flow to explain; all that are not fine by default."),
]
VariantOption = Annotated[str | None, typer.Option(help="Scheme of a comparison to explain; the first by default.")]
SeedsOption = Annotated[int | None, typer.Option(help="Number of seeds; that of the results by default, at least 5.")]
NoTryOption = Annotated[bool, typer.Option("--no-try", help="Do not simulate remedies.")]
ReportOption = Annotated[Path | None, typer.Option(help="Write an HTML report with the explanation to this file.")]


def explain(
    results: ResultsArgument,
    flow: FlowArgument = None,
    variant: VariantOption = None,
    seeds: SeedsOption = None,
    no_try: NoTryOption = False,
    report: ReportOption = None,
    jobs: JobsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Explain why flows starve or are slow, and test remedies by simulation."""
    from multihop.explaining import explain as explained

    said: list[str] = []

    def tick(what: str, _: float) -> None:
        if what not in said and not (quiet or as_json) and sys.stderr.isatty():
            said.append(what)
            console.note(f"running {what} ...")

    made = explained(results, flow, variant=variant, seeds=seeds, no_try=no_try, jobs=jobs, on_tick=tick)
    found = made.found
    if report is not None:
        console.note(f"report: {made.report(report)}", quiet=quiet)
    if as_json:
        console.print_json(found.record())
        return
    _print(found, results, no_try=no_try)


def _print(found: Explanation, results: Path, *, no_try: bool) -> None:
    """Prints a summary, then the worst flow of each cause, hop by hop."""
    from multihop.comparison.service import FINE, Status
    from multihop.results.words import several

    for line in found.first_screen():
        console.paragraph(line)
    if no_try and found.explained:
        console.say("Remedies: not simulated; leave out --no-try to simulate them.")
    if found.others:
        console.paragraph(f"This explains {found.variant}; --variant explains another: {', '.join(found.others)}.")
    fine = [
        account.name for account in found.flows if account.status == Status.FINE and account.flow not in found.explained
    ]
    if fine and found.explained:
        console.paragraph(f"{several(fine)} {'is' if len(fine) == 1 else 'are'} fine: {FINE}.")
    grouped = [flow for group in found.by_cause for flow in group.flows]
    shown = [(group.flows[0], len(group.flows)) for group in found.by_cause]
    shown += [(flow, 1) for flow in found.explained if flow not in grouped]
    for index, flows in shown:
        console.say()
        name = found.flows[index].name
        more = f", the worst of {flows} flows with this cause; another: multihop explain {results} FLOW"
        console.say(name + (more if flows > 1 else ""))
        for heading, sentences in found.paragraphs(index):
            if heading:
                console.say(f"  {heading}")
            for sentence in sentences:
                console.paragraph(sentence.text, "    " if heading else "  ")
