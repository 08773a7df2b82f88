"""Runs the steps of a page; see `pages`."""

from __future__ import annotations

import ast
import contextlib
import gzip
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any

import typer

from multihop import cli
from multihop.cli.app import app
from tools import inline
from tools.page_steps import Step

#: Other programs that pages use; a command with one that is not installed is not run.
PROGRAMS = {"multihop", "cat", "head", "ls", "mkdir", "sleep", "tshark"}

#: The value of an expression, behind it.
_VALUE = re.compile(r"(?P<before>.*?\s+# = )(?P<value>.*)$")


class Failure(Exception):  # noqa: N818 - of a page, not of this program
    """What is wrong with a page, and in which line."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(line, what)
        self.line, self.what = line, what


class Place:
    """A folder in which the steps of a page are run, one after the other."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder, self.root = folder, root
        self.values: dict[int, Any] = {}
        self._before = Path.cwd()
        self._variables = dict(os.environ)
        self._namespace: dict[str, Any] = {"__name__": "__main__"}

    def __enter__(self) -> Place:
        for name in ("scenarios", "studies"):
            shutil.copytree(self.root / name, self.folder / name)
        os.chdir(self.folder)
        os.environ["COLUMNS"] = "110"
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.chdir(self._before)
        os.environ.clear()
        os.environ.update(self._variables)
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")

    def run(self, step: Step) -> list[str]:
        """The lines that a step prints.

        Raises:
            Failure: if it fails.
        """
        if step.kind == "file":
            Path(step.name).write_text(step.text, encoding="utf-8")
            return []
        printed = self._python(step) if step.kind in {"python", "cell"} else self._command(step)
        lines = [line.rstrip() for line in printed.splitlines()]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def parse(self, step: Step) -> None:
        """Refuses a command with an option, or a name of a command, that is not there.

        Raises:
            Failure: with what Typer says of it.
        """
        if step.kind not in {"command", "mention"}:
            return
        if step.text.startswith("make "):
            self._parse_make(step)
        words = _words(step.text)
        if words is None:
            return
        try:
            command, context = typer.main.get_command(app), None
            while True:
                loaded = command.load() if hasattr(command, "load") else command
                if not hasattr(loaded, "commands"):
                    break
                context = loaded.make_context(loaded.name or "multihop", [], parent=context, resilient_parsing=True)
                names = [word for word in words[:1] if not word.startswith("-")]
                if not names:
                    break
                command = loaded.commands.get(names[0])
                if command is None:
                    raise Failure(step.line, f"{step.text}\n    there is no command {names[0]!r}")
                words = words[1:]
            known = {option for parameter in loaded.params for option in (*parameter.opts, *parameter.secondary_opts)}
            given = [word.partition("=")[0] for word in words[: words.index("--") if "--" in words else None]]
            unknown = [word for word in given if re.match(r"--?[a-z]", word) and word not in {*known, "--help", "-h"}]
        except (ValueError, AttributeError) as error:
            raise Failure(step.line, f"{step.text}\n    {error}") from error
        if unknown:
            raise Failure(step.line, f"{step.text}\n    there is no option {unknown[0]}")

    def _parse_make(self, step: Step) -> None:
        known = set(re.findall(r"^([a-z-]+):", (self.root / "Makefile").read_text("utf-8"), re.MULTILINE))
        for target in step.text.split()[1:]:
            if "=" not in target and target not in known | {"fuzz-importers", "fuzz-store"}:
                raise Failure(step.line, f"{step.text}\n    the Makefile has no target {target}")

    def _command(self, step: Step) -> str:
        _bring(step.text)
        words = _words(step.text)
        code, printed = _inline(words) if words is not None else self._shell(step)
        if code != 0 and not (step.shown and step.shown.lines[0].startswith("multihop: ")):
            raise Failure(step.line, f"{step.text}\n    exit code {code}: {printed.strip()[-2000:]}")
        return printed

    def _shell(self, step: Step) -> tuple[int, str]:
        """A line that only a shell understands."""
        programs = _programs(step.text)
        if strange := sorted(programs - PROGRAMS):
            raise Failure(
                step.line, f"{step.text}\n    {strange[0]} is not run here; mark the block: <!-- not run: -->"
            )
        if any(shutil.which(name) is None for name in programs - {"multihop"}):
            return 0, "\n".join(step.shown.lines) if step.shown else ""
        tools = self.folder / ".bin"
        tools.mkdir(exist_ok=True)
        (tools / "multihop").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m multihop "$@"\n')
        (tools / "multihop").chmod(0o755)
        path = f"{tools}{os.pathsep}{os.environ['PATH']}"
        package = str(Path(cli.__file__).parents[2])
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", step.text],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            env={**os.environ, "PATH": path, "PYTHONPATH": package},
        )
        return done.returncode, done.stdout

    def _python(self, step: Step) -> str:
        """What a block prints; values that it shows are kept. The last value of a cell displays itself."""
        tree = ast.parse(step.text)
        lines = step.text.splitlines()
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            for node in tree.body:
                line = (node.end_lineno or node.lineno) - 1
                is_shown = isinstance(node, ast.Expr) and _VALUE.match(lines[line])
                try:
                    if is_shown and isinstance(node, ast.Expr):
                        code = compile(ast.Expression(node.value), "page", "eval")
                        self.values[step.line + line] = eval(code, self._namespace)
                    elif step.kind == "cell" and node is tree.body[-1] and isinstance(node, ast.Expr):
                        _display(eval(compile(ast.Expression(node.value), "page", "eval"), self._namespace))
                    else:
                        exec(compile(ast.Module([node], []), "page", "exec"), self._namespace)
                except Exception as error:
                    raise Failure(step.line + 1 + line, f"{lines[line].strip()}\n    {error!r}") from error
        return printed.getvalue()


def _display(value: Any) -> None:  # noqa: ANN401 - of any expression
    """Prints what a notebook shows of a value."""
    if value is not None:
        print(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))


def _bring(command: str) -> None:
    """Makes the files that readers have of their own, where a command names one that is not there."""
    for name, make in READERS_FILES.items():
        if re.search(rf"(?<![\w./-]){re.escape(name)}\b", command) and not Path(name).exists():
            make(Path(name))


def values_of(place: Place, step: Step) -> Iterator[tuple[int, str, str]]:
    """Lines of Python whose values are not those on the page: where, as it should be, and the value that is shown."""
    lines = step.text.splitlines()
    for number, value in sorted(place.values.items()):
        if step.kind == "python" and 0 <= number - step.line < len(lines):
            found = _VALUE.match(lines[number - step.line])
            if found and found["value"] != shown_value(value):
                yield number, f"{found['before']}{shown_value(value)}", found["value"]


def shown_value(value: Any) -> str:  # noqa: ANN401 - of any expression
    """A value in one line, its floats with six digits."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    return re.sub(r"-?\d+\.\d+(?:e[+-]\d+)?", lambda number: f"{float(number[0]):.6g}", " ".join(repr(value).split()))


def _words(text: str) -> list[str] | None:
    """The words of a command of `multihop` alone; none of what needs a shell."""
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;<>()")
        lexer.whitespace_split = True
        found = list(lexer)
        words = shlex.split(text)
    except ValueError:
        return None
    if any(re.fullmatch(r"[|&;<>]+", word) for word in found) or Path(words[0]).name != "multihop":
        return None
    return words[1:]


def _programs(text: str) -> set[str]:
    """The programs of a line of shell, by name."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;")
    lexer.whitespace_split = True
    words = [";", *lexer]
    return {
        Path(word).name
        for before, word in pairwise(words)
        if re.fullmatch(r"[|&;]+", before) and not re.fullmatch(r"[|&;]+", word)
    }


def _inline(words: list[str]) -> tuple[int, str]:
    """Exit code and output of a command in this process."""
    screen = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
        code = inline.run(words)
    return code, screen.buffer.getvalue().decode()


def _mesh(path: Path) -> None:
    """A mesh of twelve routers in the format of meshviewer: a grid of 3 by 4 with links to the sides."""
    places = [(row, column) for row in range(3) for column in range(4)]
    nodes = [
        {
            "node_id": f"{row}{column}",
            "hostname": f"roof-{row}{column}",
            "is_online": True,
            "is_gateway": (row, column) == (0, 0),
            "location": {"latitude": 50.0 + 0.0009 * row, "longitude": 7.0 + 0.0014 * column},
        }
        for row, column in places
    ]
    pairs = [(a, b) for a in places for b in places if a < b and abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1]
    links = [
        {
            "source": f"{a[0]}{a[1]}",
            "target": f"{b[0]}{b[1]}",
            "source_tq": 0.98 - 0.04 * (a[1] % 3),
            "target_tq": 0.97 - 0.05 * (b[0] % 3),
            "type": "wifi",
        }
        for a, b in pairs
    ]
    path.write_text(json.dumps({"nodes": nodes, "links": links}), encoding="utf-8")


def _capture(path: Path) -> None:
    """A capture of two seconds of a chain."""
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    scenario = Path("scenarios/chain.toml")
    short = ["--duration", "2 s", "--warmup", "1 s", "--quiet"]
    code, printed = _inline(["run", str(scenario), *short, "--pcap", f"{plain}.made"])
    if code != 0:
        raise RuntimeError(printed)
    content = Path(f"{plain}.made").read_bytes()
    Path(f"{plain}.made").unlink()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


#: Files that pages take from their readers.
READERS_FILES: dict[str, Callable[[Path], None]] = {
    "mesh.json": _mesh,
    "meshviewer.json": _mesh,
    "capture.pcapng": _capture,
    "capture.pcap.gz": _capture,
    "roof.pcap": _capture,
    "cellar.pcap": _capture,
}
