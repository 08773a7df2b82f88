"""`explain`: what holds flows back, and what would help."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multihop.base.errors import UserError
from multihop.base.names import file_names
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
    """Say what holds flows back, and try what would help."""
    from multihop.explanation.explain import explain as explained

    if jobs is not None and jobs < 1:
        raise UserError(f"--jobs: found {jobs}; needs at least 1")
    said: list[str] = []

    def tick(what: str, _: float) -> None:
        if what not in said and not (quiet or as_json) and sys.stderr.isatty():
            said.append(what)
            console.note(f"running {what} ...")

    if results.suffix == ".toml" and results.is_file():
        raise UserError(
            f"{results}: this is no result; run it first: multihop run {results} --out results, then "
            "multihop explain results"
        )
    if results.is_file():
        found = _of_journal(results, flow, variant, seeds)
    else:
        tries = not no_try
        found = explained(results, flow, variant=variant, seeds=seeds, try_remedies=tries, threads=jobs, on_tick=tick)
    if report is not None:
        from multihop.api.results import Comparison, Result
        from multihop.framelog.reading import read_log
        from multihop.report import Shown, write

        runs = tuple(Result(run.scenario, run.view, run.overrides, run.output) for run in found.runs)
        log = results / "frames" / f"{file_names([*found.others, found.variant])[found.variant]}.frames"
        frames = {found.variant: Shown(read_log(log))} if log.is_file() else None
        written = write(Comparison(runs[0].scenario, {found.variant: runs}), report, found, frames)
        console.note(f"report: {written}", quiet=quiet)
    if as_json:
        console.print_json(found.record())
        return
    _print(found, results, no_try=no_try)


def _print(found: Explanation, results: Path, *, no_try: bool) -> None:
    """A first screen, then of each group of flows with one cause the worst served, hop by hop."""
    from multihop.comparison.service import FINE, Status
    from multihop.results.words import several

    for line in found.first_screen():
        console.paragraph(line)
    if no_try and found.explained:
        console.say("What helps: not tried; without --no-try, remedies are run.")
    if found.others:
        console.paragraph(f"This is of {found.variant}; --variant explains another: {', '.join(found.others)}.")
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


def _of_journal(journal: Path, flow: str | None, variant: str | None, seeds: int | None) -> Explanation:
    from multihop.emulation.replay import explain as explained

    if variant is not None or seeds is not None:
        raise UserError("--variant, --seeds: a journal is one run, with one seed")
    return explained(journal, flow)
