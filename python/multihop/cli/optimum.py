"""`optimum`: the flow rates that maximise a sum of utilities."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multihop import api
from multihop.base.errors import UserError
from multihop.cli import completion, console
from multihop.cli.bounds import kbps
from multihop.cli.settings import SetOption, read
from multihop.optima.capacity import not_counted
from multihop.optima.optimum import CONSTRAINTS, Constraints, Optimum

#: Most links of a constraint that a table shows.
_MOST_LINKS = 8


def optimum(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario (TOML).", show_default=False)],
    utility: Annotated[
        str,
        typer.Option(
            help="log, max-min, or alpha=A, as in alpha=2.", autocompletion=completion.of("log", "max-min", "alpha=")
        ),
    ] = "log",
    constraints: Annotated[
        Constraints, typer.Option(help="Which sets of links share airtime: cliques, or EWCCP's sets.")
    ] = "cliques",
    level: Annotated[
        str,
        typer.Option(
            help="Model of the airtime charged: hard, carrier-sense or idle-channel.",
            autocompletion=completion.of("hard", "carrier-sense", "idle-channel"),
        ),
    ] = "idle-channel",
    without_acks: Annotated[
        bool, typer.Option("--without-acks", help="Do not charge the transport's acknowledgements.")
    ] = False,
    weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FLOW=W",
            help="Weight of a flow's utility; may be given repeatedly.",
            show_default=False,
        ),
    ] = None,
    set: SetOption = None,
    scheme: Annotated[
        str | None, typer.Option(help="Replaces the scheme of every flow.", autocompletion=completion.scheme)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Compute the flow rates that maximise a sum of utilities, without running the scenario."""
    found = api.optimum(
        scenario,
        utility=utility,
        constraints=constraints,
        level=level,
        feedback=not without_acks,
        weights=_weights(weight),
        set=read(set),
        scheme=scheme,
    )
    if as_json:
        console.print_json(found.record())
        return
    _print_optimum(found)
    _print_binding(found)
    with_acks = found.question.feedback and any(demand["feedback"] for demand in found.capacity["demands"])
    charged = f"{found.question.level}{' with transport ACKs' if with_acks else ''}"
    console.say(f"{found.question.constraints}: {CONSTRAINTS[found.question.constraints]}; charged: {charged}")
    for sentence in not_counted(found.capacity, found.view):
        console.say(sentence)
    if not found.shares.complete:
        console.say("more cliques exist than were used: the true optimum may be lower")
    if found.without_path:
        console.say(f"left out, since no path exists: {', '.join(found.without_path)}")
    if found.not_comparable is not None:
        console.say(f"runs cannot be compared with this optimum: {found.not_comparable}")


def _weights(options: list[str] | None) -> dict[str, float]:
    made: dict[str, float] = {}
    for option in options or []:
        name, equals, number = option.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = float("nan")
        if not equals or weight != weight:
            raise UserError(f"--weight: found {option!r}; needs FLOW=W with a number, as in --weight long=2")
        if name in made:
            raise UserError(f"--weight: {name} is given more than once; give it once")
        made[name] = weight
    return made


def _print_optimum(found: Optimum) -> None:
    heads = [f"{found.question.utility.name} optimum, kb/s", "hops", "optimum", "alone", "price per Mb/s", "limited by"]
    rows = []
    for row in found.flows.to_dict("records"):
        limits = [*(["offered load"] if row["limit_price"] > 0 else []), *row["bottleneck"]]
        rates = [kbps(row["optimum_bps"]), kbps(row["alone_bps"])]
        rows.append([str(row["name"]), str(row["hops"]), *rates, _price(row["price"]), " ".join(limits)])
    console.out().print(console.table(heads, rows))
    console.say(f"all flows together {kbps(found.total_bps)} kb/s, Jain index {found.jain:.4f}")
    console.say()


def _print_binding(found: Optimum) -> None:
    """Prints the binding constraints, without those whose price is negligible."""
    table = found.constraints
    shown = table[~(table["price"] <= 1e-6 * table["price"].max())] if len(table) else table
    own = {link for links in found.flows["bottleneck"] for link in links}
    rows = [
        [_few([link for link in row["links"] if link in own]), _price(row["price"])] for row in shown.to_dict("records")
    ]
    console.out().print(console.table(["links that share all the time", "price of it"], rows))
    if len(shown) < len(table):
        console.say(f"{len(table) - len(shown)} more constraints bind, with negligible prices")
    console.say()


def _few(links: list[str]) -> str:
    shown = " ".join(links[:_MOST_LINKS])
    return f"{shown} and {len(links) - _MOST_LINKS} more" if len(links) > _MOST_LINKS else shown


def _price(value: float) -> str:
    return "none" if value != value else f"{value:.4g}"
