"""`explain`: what holds flows back, and what would help."""

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
        help="A folder that run --out or compare --out wrote; or the journal of an emulation.",
        show_default=False,
    ),
]
FlowArgument = Annotated[
    str | None,
    typer.Argument(metavar="[FLOW]", help="The flow to explain; all that are not fine by default."),
]
VariantOption = Annotated[
    str | None, typer.Option(help="The scheme, of a comparison's, that is explained; the first by default.")
]
SeedsOption = Annotated[
    int | None, typer.Option(help="How many seeds; those of the results by default, or 5 if these are fewer.")
]
NoTryOption = Annotated[bool, typer.Option("--no-try", help="Do not run what may help.")]
ReportOption = Annotated[Path | None, typer.Option(help="Write an HTML report with this in it to this file.")]


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
    """A first screen, then of each group of flows with one cause the worst served, hop by hop."""
    if found.others:
        console.paragraph(f"Explains {found.variant}; --variant explains {' or '.join(found.others)}.")
    if found.added_seeds:
        console.paragraph(f"Over {len(found.seeds)} seeds, {found.added_seeds} more than in the results.")
    for line in found.first_screen():
        console.paragraph(line)
    if no_try and found.explained:
        console.say("What helps: not tried; without --no-try, remedies are run.")
    if found.explained and found.fine_flows:
        console.paragraph(found.fine(found.fine_flows))
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
