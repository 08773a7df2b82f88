"""The commands, put together."""

from typing import Annotated

import typer

from multihop.cli import bounds, console, imports, inspect, runs, studies
from multihop.cli.emulate import emulate, replay
from multihop.cli.explain import explain
from multihop.cli.init import init
from multihop.cli.league import league
from multihop.cli.measure import measure
from multihop.cli.optimum import optimum
from multihop.cli.reproduce import reproduce
from multihop.cli.when import when
from multihop.results.provenance import build

app = typer.Typer(
    help="Congestion control over multi-hop IEEE 802.11: simulated, compared, explained.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        console.say(f"multihop {build()}")
        raise typer.Exit


@app.callback()
def _main(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


app.command("run")(runs.run)
app.command("compare")(runs.compare)
app.command("emulate")(emulate)
app.command("replay")(replay)
app.command("explain")(explain)
app.add_typer(studies.app, name="study")
app.command("reproduce")(reproduce)
app.command("league")(league)
app.command("when")(when)
app.command("bound")(bounds.bound)
app.command("optimum")(optimum)
app.command("measure")(measure)
app.command("import")(imports.import_mesh)
app.command("check")(inspect.check)
app.command("list")(inspect.list_names)
app.command("schema")(inspect.schema)
app.command("dissector")(inspect.dissector)
app.command("init")(init)
app.command("doctor")(inspect.doctor)
