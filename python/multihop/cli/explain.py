"""`explain`: why a flow starves or is slow, and what would help."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from multihop.cli import console
from multihop.cli.runs import JobsOption, JsonOption, QuietOption

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
    typer.Argument(metavar="[FLOW]", help="The flow to explain; all that starve or are slow by default."),
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
    """Say why flows starve or are slow, and try what would help."""
    from multihop.comparison.service import FINE, Status
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
    console.say(found.headline())
    if (remark := found.remark()) is not None:
        console.say(remark)
    if found.others:
        others = ", ".join(found.others)
        console.say(f"This is of {found.variant}; --variant explains another: {others}.")
    for index in found.explained:
        console.say()
        console.say(found.flows[index].name)
        for heading, sentences in found.paragraphs(index):
            if heading:
                console.say(f"  {heading}")
            for sentence in sentences:
                console.say(_wrapped(sentence.text, "    " if heading else "  "))
    fine = [
        account.name for account in found.flows if account.status == Status.FINE and account.flow not in found.explained
    ]
    if fine and found.explained:
        console.say()
        names = f"{', '.join(fine[:20])}{' and more' if len(fine) > 20 else ''}"
        console.say(f"{names} {'is' if len(fine) == 1 else 'are'} fine: {FINE}.")


def _wrapped(text: str, indent: str) -> str:
    """A sentence on lines that fit, the following ones further in."""
    return textwrap.fill(text, 110, initial_indent=indent, subsequent_indent=f"{indent}  ", break_long_words=False)
