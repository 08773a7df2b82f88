"""The commands, put together."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from multihop.base import signals
from multihop.base.errors import UserError
from multihop.results.provenance import build

if TYPE_CHECKING:
    from typer._click import Command, Context

#: Each command: where it is, and the first sentence of what it says of itself.
_COMMANDS = {
    "run": ("runs:run", "Simulate a scenario and report goodput, delay and losses of each flow."),
    "compare": (
        "runs:compare",
        "Compare schemes on a scenario over common seeds, and test the differences for significance.",
    ),
    "emulate": (
        "emulate:emulate",
        "Run real programs over the simulated air, in real time: each node is a network namespace of Linux.",
    ),
    "replay": (
        "emulate:replay",
        "Run again what programs did in an emulation, without them: the same run to the bit.",
    ),
    "explain": ("explain:explain", "Say what holds flows back, and try what would help."),
    "reproduce": (
        "reproduce:reproduce",
        "Reproduce the figures and tables of a paper, and check its claims against them.",
    ),
    "league": ("league:league", "Run every scheme on one common set of networks, and rank them on each."),
    "when": ("when:when", "Report which scheme helps when: over hops, flows, rates, load, loss and mobility."),
    "bound": (
        "bounds:bound",
        "Compute what the channel of a scenario carries at most, and about, without running it.",
    ),
    "optimum": (
        "optimum:optimum",
        "Compute the flow rates that maximise a sum of utilities, without running the scenario.",
    ),
    "measure": (
        "measure:measure",
        "Report airtime by station, link capacities and capture quality of monitor-mode captures.",
    ),
    "view": (
        "view:view",
        "Show every transmission of a frame log, of the logs of results, or of a capture, in one page.",
    ),
    "import": ("imports:import_mesh", "Turn a measured mesh into a scenario with positions and a link matrix."),
    "check": ("inspect:check", "Read a scenario and show what would be run, without running it."),
    "list": (
        "inspect:list_names",
        "List schemes, keys, PHYs, media, mobility, routing, apps, estimators, models, papers, columns.",
    ),
    "schema": (
        "inspect:schema",
        "Print the JSON Schema of scenarios or of studies, for editors and checkers.",
    ),
    "dissector": (
        "inspect:dissector",
        "Print a Lua dissector of congestion headers, router notices and DSDV, for Wireshark and tshark.",
    ),
    "init": ("init:init", "Write scenarios and studies to start from into a directory."),
    "doctor": ("inspect:doctor", "Report what is installed and whether it works."),
    "study": ("studies:app", "A base scenario, factors and seeds, with statistics and claims."),
}

_STYLE: dict[str, Any] = {
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class Deferred(TyperCommand):
    """A command that is imported when it is used: importing all of them takes most of a second."""

    def __init__(self, name: str, place: str, summary: str) -> None:
        super().__init__(name, help=summary)
        self._place = place

    def load(self) -> Command:
        """The command itself, or group of commands."""
        module, _, name = self._place.partition(":")
        with _importing():
            found = getattr(import_module(f"multihop.cli.{module}"), name)
        if isinstance(found, typer.Typer):
            group = typer.main.get_group(found)
            for command in group.commands.values():
                command.callback = _prepared(command.callback)
            return group
        alone = typer.Typer(add_completion=False, **_STYLE)
        alone.command(self.name)(found)
        made = typer.main.get_command(alone)
        made.callback = _prepared(made.callback)
        return made

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: Context | None = None,
        **extra: Any,  # noqa: ANN401 - what Typer hands on
    ) -> Context:
        """The context of the command itself, by which Typer goes on."""
        _require_words(args)
        return self.load().make_context(info_name, args, parent, **extra)


@contextmanager
def _importing() -> Iterator[None]:
    """Without looking for garbage: what imports make stays, and is not looked at later either."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _prepared(callback: Callable[..., Any] | None) -> Callable[..., Any]:
    """What a command does once its arguments are read."""

    def call(**arguments: Any) -> Any:  # noqa: ANN401 - whatever the command takes
        # What nearly every command needs is imported while a signal still ends the process at once.
        with _importing():
            from multihop import api  # noqa: F401

        _require_usable(arguments)
        signals.interrupt()
        code = callback(**arguments) if callback is not None else None
        _note_new_directories(arguments)
        return code

    return call


def _note_new_directories(arguments: Mapping[str, Any]) -> None:
    """Names each folder that was made on the way to an output, unless an option names that very folder.

    All outputs have one rule: missing folders are made, and the command says so.
    """
    from multihop.base.files import new_directories
    from multihop.cli import console

    named = [value for value in arguments.values() if isinstance(value, Path)]
    quiet = bool(arguments.get("quiet") or arguments.get("as_json"))
    for directory in new_directories():
        if directory not in named:
            console.note(f"new folder: {directory}", quiet=quiet)


def _require_words(words: Sequence[str]) -> None:
    """Refuses empty values: the path of an empty text would be the current folder."""
    own = words[: words.index("--")] if "--" in words else words
    for before, word in zip(["", *own], own, strict=False):
        if word.startswith("--") and word.endswith("=") and word.count("=") == 1:
            raise UserError(f"{word[:-1]}: found ''; give a value, or leave the option out")
        if not word:
            what = before if before.startswith("-") else "an argument"
            raise UserError(f"{what}: found ''; give a value, or leave it out")


def _require_usable(arguments: Mapping[str, Any]) -> None:
    """Refuses numbers and texts that no option has a use for, and that the engine could not be given."""
    for name, value in arguments.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, float) and not math.isfinite(value):
            raise UserError(f"{option}: found {value}; needs a finite number")
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise UserError(f"{option}: found {value}; needs a whole number below 2^64")
        # Words of a program, which has no option, may be any bytes.
        for text in [value] if isinstance(value, str) else value if isinstance(value, list) and name != "words" else []:
            if isinstance(text, str) and not text.isascii() and text != text.encode(errors="replace").decode():
                raise UserError(f"{option}: found {text!r}, which has bytes that are no UTF-8; needs text")


class _Commands(TyperGroup):
    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - those of any group
        commands = {name: Deferred(name, *about) for name, about in _COMMANDS.items()}
        super().__init__(**{**attributes, "commands": commands})


app = typer.Typer(
    help="Congestion control over multi-hop IEEE 802.11: simulated, compared, explained.", cls=_Commands, **_STYLE
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from multihop.cli import console

        console.say(f"multihop {build()}")
        raise typer.Exit


@app.callback()
def _main(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass
