"""The reference pages of the command line and of the Python API, from the commands and from docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import typer
from typer.testing import CliRunner

import multihop
from multihop import cli
from multihop.cli.app import app

# Methods are where they are first needed: what a user holds inherits them. Those of built-in errors are Python's.
_MEMBERS = ["   :members:", "   :inherited-members: ValueError", "   :no-undoc-members:"]
_WIDTH = {"TERMINAL_WIDTH": "100", "COLUMNS": "100", "NO_COLOR": "1"}


def command_line_page() -> str:
    """Every command with its arguments and options, as `--help` prints them."""
    lines = [
        "# Command line",
        "",
        "Every command of `multihop`, with its arguments and options. `multihop COMMAND --help` prints the same.",
        "",
        *(cli.__doc__ or "").strip().splitlines()[2:],
        "",
    ]
    for words in _commands():
        lines += [f"## multihop {' '.join(words)}".rstrip(), "", "```text", _help(words), "```", ""]
    return "\n".join(lines)


def python_page() -> str:
    """Every public name of the package; Sphinx fills in signatures and docstrings."""
    lines = ["# Python API", "", "Every public function and class of the package `multihop`, from its docstrings."]
    lines += ["[Use from Python](../python.md) has examples.", ""]
    public = {name: getattr(multihop, name) for name in multihop.__all__}
    kinds = {"Functions": inspect.isfunction, "Classes": inspect.isclass}
    for kind, is_kind in kinds.items():
        lines += [f"## {kind}", "", "```{eval-rst}"]
        for name, found in public.items():
            if is_kind(found):
                lines += _directive(name, found)
        lines += ["```", ""]
    return "\n".join(lines)


def _commands() -> Iterator[list[str]]:
    """The words of each command, groups before what they have."""
    yield []
    for name, command in typer.main.get_group(app).commands.items():
        yield [name]
        yield from ([name, inner] for inner in getattr(command.load(), "commands", {}))


def _help(words: list[str]) -> str:
    shown = CliRunner().invoke(app, [*words, "--help"], prog_name="multihop", env=_WIDTH)
    return "\n".join(line.rstrip() for line in shown.output.strip().splitlines())


def _directive(name: str, found: object) -> list[str]:
    if not inspect.isclass(found):
        return [f".. autofunction:: multihop.{name}", ""]
    # Values that a function returns are not made by calling their class.
    return [f".. autoclass:: multihop.{name}()", *_MEMBERS, ""]
