"""What the command imports before it does anything: to show a version or complete a word, no pandas."""

import os
import subprocess
import sys

import pytest
import typer

from multihop.cli.app import Deferred, app

_HEAVY = {"matplotlib", "numpy", "pandas", "pyarrow", "scipy"}

_CODE = """
import atexit, sys
sys.argv = ["multihop", *{arguments!r}]
# The command may leave without coming back here.
atexit.register(lambda: print("imported:", *sorted({heavy!r} & sys.modules.keys()), file=sys.stderr))
from multihop.__main__ import main
main()
"""


def _imported(arguments, **environment):
    """What of the heavy modules is there at the end, and standard output."""
    code = _CODE.format(arguments=arguments, heavy=_HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    (said,) = (line for line in done.stderr.splitlines() if line.startswith("imported:"))
    return said.split()[1:], done.stdout


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["--version"], "multihop "),
        (["--help"], "Commands:"),
        ([], "Commands:"),
        (["run", "--help"], "--scheme"),
        (["study", "run", "--help"], "--fail-fast"),
    ],
)
def test_version_and_help_import_nothing_heavy(arguments, shown):
    imported, out = _imported(arguments)
    assert shown in out
    assert imported == []


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("multihop ru", "run"),
        ("multihop run x.toml --scheme tcp-newr", "tcp-newreno"),
        ("multihop league --schemes tcp-newr", "tcp-newreno"),
        ("multihop study run x.toml --fail", "--fail-fast"),
    ],
)
def test_completion_imports_nothing_heavy(line, offered):
    count = str(len(line.split()) - 1)
    imported, out = _imported([], _MULTIHOP_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=count)
    assert offered in out.split()
    assert imported == []


def test_what_is_heavy_is_imported_where_it_is_needed():
    imported, _ = _imported(["list", "phys"])
    assert "pandas" in imported


def test_the_list_of_commands_says_what_each_says_of_itself():
    commands = typer.main.get_group(app).commands
    assert "run" in commands
    for name, command in commands.items():
        assert isinstance(command, Deferred)
        assert command.load().help.startswith(command.help), name
