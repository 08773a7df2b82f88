"""`bound`: upper bounds and an estimate of goodput."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multihop.cli import completion, console
from multihop.cli.settings import SetOption, read

if TYPE_CHECKING:
    from multihop.optima.capacity import Bound


def bound(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario (TOML).", show_default=False)],
    set: SetOption = None,
    scheme: Annotated[
        str | None, typer.Option(help="Replaces the scheme of every flow.", autocompletion=completion.scheme)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Compute upper bounds and an estimate of a scenario's goodput from its channel, without running it."""
    from multihop import api
    from multihop.optima.capacity import LEVELS, not_counted

    found = api.bound(scenario, set=read(set), scheme=scheme)
    if as_json:
        console.print_json(found.record())
        return
    _print_totals(found)
    _print_flows(found)
    for level in LEVELS:
        console.say(f"{level.title}: {level.meaning}")
    for sentence in not_counted(found.capacity, found.view):
        console.say(sentence)
    if found.of_start:
        console.say("nodes move: these bounds apply to the network at the start, not to the whole run")


def _print_totals(found: Bound) -> None:
    from multihop.optima.capacity import LEVELS

    heads = ["all flows together", "kb/s", *(["with transport ACKs"] if found.has_feedback else [])]
    titles = {level.name: level.title for level in LEVELS}
    rows = []
    for row in found.totals.to_dict("records"):
        with_feedback = [kbps(row["total_with_feedback_bps"])] if found.has_feedback else []
        rows.append([titles[str(row["level"])], kbps(row["total_bps"]), *with_feedback])
    console.out().print(console.table(heads, rows))
    console.say()


def _print_flows(found: Bound) -> None:
    from multihop.optima.capacity import LEVELS

    heads = ["each flow alone, kb/s", "hops", *(level.name for level in LEVELS)]
    heads += [f"{LEVELS[-1].name} with ACKs", "limited by"] if found.has_feedback else ["limited by"]
    rows = []
    for _, group in found.flows.groupby("flow", sort=True):
        last = group.iloc[-1]
        cells = [kbps(value) for value in group["alone_bps"]]
        cells += [kbps(last["alone_with_feedback_bps"])] if found.has_feedback else []
        rows.append([str(last["name"]), str(last["hops"]), *cells, " ".join(last["bottleneck"])])
    console.out().print(console.table(heads, rows))
    console.say()


def kbps(value: float) -> str:
    """Formats a rate in kb/s."""
    return f"{value / 1e3:.1f}"
