"""Command line application: the list of commands, each imported on use."""

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

#: Module and function of each command, and the first sentence of its docstring.
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
        "Repeat a recorded emulation from its journal, without its programs; results are equal to the bit.",
    ),
    "explain": ("explain:explain", "Explain why flows starve or are slow, and test remedies by simulation."),
    "reproduce": (
        "reproduce:reproduce",
        "Reproduce the figures and tables of a paper, and check its claims against them.",
    ),
    "league": ("league:league", "Run every scheme on one common set of networks, and rank them on each."),
    "when": ("when:when", "Report which scheme helps in which regime of hops, flows, rate, load, loss and mobility."),
    "bound": (
        "bounds:bound",
        "Compute upper bounds and an estimate of a scenario's goodput from its channel, without running it.",
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
        "Show every transmission of a frame log, a results folder or a capture on one HTML page.",
    ),
    "import": ("imports:import_mesh", "Turn a measured mesh into a scenario with positions and a link matrix."),
    "export": ("exports:export", "Print a network as NetJSON, or a finished run as iperf3 or flent write it."),
    "check": ("inspect:check", "Check a scenario and show its nodes, links, flows and paths, without running it."),
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
    """Command whose module is imported on use: importing all commands takes most of a second."""

    def __init__(self, name: str, place: str, summary: str) -> None:
        super().__init__(name, help=summary)
        self._place = place

    def load(self) -> Command:
        """Imports the module and returns its command or group of commands."""
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
        **extra: Any,  # noqa: ANN401 - arguments of Typer
    ) -> Context:
        """Checks the words of the command line and returns the context of the imported command."""
        _require_words(args)
        return self.load().make_context(info_name, args, parent, **extra)


@contextmanager
def _importing() -> Iterator[None]:
    """Disables garbage collection during imports, and excludes imported objects from later collections."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _prepared(callback: Callable[..., Any] | None) -> Callable[..., Any]:
    """Wraps a command's function: checks its arguments, handles signals, and names new folders."""

    def call(**arguments: Any) -> Any:  # noqa: ANN401 - arguments of any command
        # Modules that nearly every command needs are imported while a signal still ends the process at once.
        with _importing():
            from multihop import api  # noqa: F401

        _require_usable(arguments)
        signals.interrupt()
        code = callback(**arguments) if callback is not None else None
        _note_new_directories(arguments)
        return code

    return call


def _note_new_directories(arguments: Mapping[str, Any]) -> None:
    """Names each folder that was created for an output, unless an option names that folder itself."""
    from multihop.base.files import new_directories
    from multihop.cli import console

    named = [value for value in arguments.values() if isinstance(value, Path)]
    quiet = bool(arguments.get("quiet") or arguments.get("as_json"))
    for directory in new_directories():
        if directory not in named:
            console.note(f"new folder: {directory}", quiet=quiet)


def _require_words(words: Sequence[str]) -> None:
    """Refuses empty values, since an empty path would mean the current folder."""
    own = words[: words.index("--")] if "--" in words else words
    for before, word in zip(["", *own], own, strict=False):
        if word.startswith("--") and word.endswith("=") and word.count("=") == 1:
            raise UserError(f"{word[:-1]}: found ''; give a value, or leave the option out")
        if not word:
            what = before if before.startswith("-") else "an argument"
            raise UserError(f"{what}: found ''; give a value, or leave it out")


def _require_usable(arguments: Mapping[str, Any]) -> None:
    """Refuses numbers that are not finite or exceed 64 bits, and text that is not UTF-8."""
    for name, value in arguments.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, float) and not math.isfinite(value):
            raise UserError(f"{option}: found {value}; needs a finite number")
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise UserError(f"{option}: found {value}; needs a whole number from -2^63 to 2^64 - 1")
        # The words of an emulated program may be any bytes.
        for text in [value] if isinstance(value, str) else value if isinstance(value, list) and name != "words" else []:
            if isinstance(text, str) and not text.isascii() and text != text.encode(errors="replace").decode():
                raise UserError(f"{option}: found {text!r}, which has bytes that are no UTF-8; needs text")


class _Commands(TyperGroup):
    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - attributes of any Typer group
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
