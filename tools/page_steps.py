"""What a Markdown page or a notebook has to be run, in its order; see `pages`."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

#: Commands that are not run wherever they stand, and why.
NEVER = {
    "emulate": "needs namespaces of Linux, and runs in real time",
    "replay": "needs a journal of an emulation",
}
#: Programs that are not run, and why; a target of `make` has to exist.
OTHERS = {
    "cargo": "builds and tests, as `make test` does",
    "dask": "starts a cluster, as tests/study does",
    "make": "builds, and runs this check itself",
    "pip": "installs; `make wheel` tries it",
}
#: Commands of hours, which --quick makes minutes.
LONG = ("reproduce", "league", "when")
_HOURS = "takes hours; with --quick minutes"

#: Why something is never run, and why it is slow.
_Marks = tuple[str | None, str | None]

_FENCE = re.compile(r"^\s*```+\s*(?P<info>\S*)")
_MARK = re.compile(r"<!-- (?P<how>slow|not run): (?P<reason>.*?) -->")
_INLINE = re.compile(r"`(?P<text>(?:\.venv/bin/)?multihop [^`]+)`")
_FILE = re.compile(r"^# (?P<name>[\w.-]+\.toml)$")
_PLACEHOLDER = re.compile(r"\.\.\.|…|(?<![\w-])[A-Z]{3,}(?![\w-])|\[[A-Z]+\]")

#: What differs between two runs of a command.
_SPEED = re.compile(
    r"[\d.,]+ s, [\d.,]+ simulated s/s(?:, [\d.,]+ [kMG]? ?events/s)?|[\d.,]+ simulated s/s.*$"
    r"|were there, [\d.]+ s$|[\d.]+ MB of runs$"
)


@dataclass(frozen=True)
class Shown:
    """Lines of output on a page: those from `first` to before `last`."""

    first: int
    last: int
    lines: Sequence[str]

    def fits(self, printed: Sequence[str]) -> bool:
        """Whether a command printed this."""
        printed = [_steady(line) for line in printed]
        head, tail = self._ends()
        if tail is None:
            return printed == head
        return len(printed) >= len(head) + len(tail) and printed[: len(head)] == head and _last(printed, tail) == tail

    def written(self, printed: Sequence[str]) -> list[str]:
        """The lines to show instead: as many before and behind the dots as now."""
        head, tail = self._ends()
        lines = list(printed)
        if tail is not None and len(printed) > len(head) + len(tail):
            lines = [*printed[: len(head)], "...", *_last(list(printed), tail)]
        # A speed that differs is no reason to change the page.
        known = {_steady(line): line for line in self.lines}
        return [known.get(_steady(line), line) for line in lines]

    def difference(self, printed: Sequence[str]) -> str:
        """The page against what was printed."""
        lines = difflib.unified_diff(list(self.lines), self.written(printed), "page", "printed", lineterm="")
        return "\n".join(f"    {line}" for line in lines)

    def _ends(self) -> tuple[list[str], list[str] | None]:
        lines = [_steady(line) for line in self.lines]
        if "..." not in lines:
            return lines, None
        dots = lines.index("...")
        return lines[:dots], lines[dots + 1 :]


def _last(lines: list[str], tail: Sequence[str]) -> list[str]:
    return lines[len(lines) - len(tail) :]


def _steady(line: str) -> str:
    """A line without speeds, which differ from run to run."""
    return _SPEED.sub("(speed)", line.rstrip())


@dataclass(frozen=True)
class Step:
    """A file to write, a command or Python to run, or a command that is only mentioned.

    Attributes:
        kind: `file`, `command`, `python`, `cell` (of a notebook) or `mention`.
        line: where it is on the page, counted from 1.
        text: the command, or the content.
        name: of a file.
        shown: its output on the page, if it is there.
        never: why it is not run.
        slow: why only the full form runs it.
        is_inline: whether it stands in prose or a table, rather than in a block.
    """

    kind: str
    line: int
    text: str
    name: str = ""
    shown: Shown | None = None
    never: str = ""
    slow: str = ""
    is_inline: bool = False

    @property
    def left_out(self) -> str:
        """Why it is not run, or only in the full form."""
        return f"not run: {self.never}" if self.never else f"slow: {self.slow}" if self.slow else ""

    def is_run(self, *, full: bool) -> bool:
        """Whether it is run."""
        return not self.never and (full or not self.slow)


@dataclass
class Page:
    """A page with its steps."""

    path: Path
    lines: list[str]
    steps: list[Step] = field(default_factory=list)

    def write(self, changes: Iterable[tuple[int, int, list[str]]]) -> None:
        """Replaces lines, those from a first to before a last."""
        lines = list(self.lines)
        for first, last, new in sorted(changes, reverse=True):
            lines[first:last] = new
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(path: Path) -> Page:
    """The steps of a page, or of a notebook."""
    page = Page(path, path.read_text(encoding="utf-8").splitlines())
    if path.suffix == ".ipynb":
        page.steps += _cells(page)
        return page
    number = 0
    marks: _Marks = (None, None)
    while number < len(page.lines):
        line = page.lines[number]
        fence = _FENCE.match(line)
        if fence is None:
            page.steps += _mentioned(line, number)
            marks = _marks(line) if line.strip() else marks
            number += 1
            continue
        end = next(k for k in range(number + 1, len(page.lines) + 1) if page.lines[k].strip().startswith("```"))
        _add_block(page, fence["info"], number + 1, end, marks)
        number, marks = end + 1, (None, None)
    return page


def _cells(page: Page) -> Iterator[Step]:
    """The code of a notebook, and commands in its text. As Jupyter writes a notebook, a line of a cell has a line."""
    begins = [number for number, line in enumerate(page.lines, 1) if line.strip().startswith('"source": [')]
    cells = json.loads("\n".join(page.lines))["cells"]
    for begin, cell in zip(begins, cells, strict=True):
        if cell["cell_type"] == "code":
            yield Step("cell", begin, "".join(cell["source"]))
        else:
            for offset, line in enumerate(cell["source"]):
                yield from _mentioned(line, begin + offset)


def words_of(text: str) -> list[str]:
    """The words of a command behind `multihop`, roughly: enough for its name."""
    return text.split()[1:]


def _marks(line: str) -> _Marks:
    """The marks of a line."""
    found = {mark["how"]: mark["reason"] for mark in _MARK.finditer(line)}
    return found.get("not run"), found.get("slow")


def _command(text: str, line: int, marks: _Marks, shown: Shown | None = None) -> Step:
    never, slow = (mark or "" for mark in marks)
    program = Path(text.split()[0]).name
    words = words_of(text) if program == "multihop" else []
    never = never or OTHERS.get(program, "")
    if words and not never:
        never = NEVER.get(words[0], "")
        if words[0] in LONG and "--help" not in words:
            never, slow = ("", _HOURS) if "--quick" in words else (_HOURS, "")
    return Step("command", line, text, shown=shown, never=never, slow=slow)


def _mentioned(line: str, number: int) -> Iterator[Step]:
    """Commands within prose or a table."""
    for found in _INLINE.finditer(line):
        text = found["text"].removeprefix(".venv/bin/")
        if _PLACEHOLDER.search(text) or _is_name(words_of(text)):
            yield Step("mention", number + 1, text)
        else:
            yield replace(_command(text, number + 1, _marks(line)), is_inline=True)


def _is_name(words: list[str]) -> bool:
    """Whether words are the name of a command, perhaps with options, and no more."""
    return all(word.startswith("-") for word in words[2 if words[:1] == ["study"] else 1 :])


def _add_block(page: Page, info: str, first: int, end: int, marks: _Marks) -> None:
    lines = page.lines[first:end]
    never, slow = (mark or "" for mark in marks)
    if info == "toml" and lines and (file := _FILE.match(lines[0])):
        page.steps.append(Step("file", first, "\n".join(lines) + "\n", name=file["name"]))
    elif info == "python":
        page.steps.append(Step("python", first, "\n".join(lines) + "\n", never=never, slow=slow))
    elif info == "output" and page.steps:
        page.steps[-1] = replace(page.steps[-1], shown=Shown(first, end, lines))
    elif info in {"sh", "console"}:
        page.steps += _commands(page, info, first, end, marks)


def _commands(page: Page, info: str, first: int, end: int, marks: _Marks) -> Iterator[Step]:
    """The commands of a block, each with the output below it in a block of a console."""
    number = first
    while number < end:
        line = page.lines[number]
        prompt = "$ " if info == "console" else ""
        if not line.startswith(prompt) or not line.strip() or line.startswith("#"):
            number += 1
            continue
        start, text = number, line.removeprefix(prompt)
        while text.endswith("\\"):
            number += 1
            text = text.removesuffix("\\") + page.lines[number].strip()
        number += 1
        below = number
        while info == "console" and below < end and not page.lines[below].startswith("$ "):
            below += 1
        shown = Shown(number, below, page.lines[number:below]) if below > number else None
        number = max(number, below)
        text = re.sub(r"\s+# .*$", "", text)
        if text.strip():
            yield _command(text, start + 1, marks, shown)
