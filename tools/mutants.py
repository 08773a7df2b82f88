"""Does a test notice each changed operator and replaced function? Mutants of cargo-mutants, all in one build.

    python tools/mutants.py dot11 link --sample 80 --seed 1        (make mutants)

`cargo mutants` compiles once for each mutant, which takes minutes where tests take seconds. Here its list of mutants
is taken, a sample of it, or all, is woven into a copy of the sources, and an environment variable chooses the mutant of
a run: each mutated function has its body once more for each mutant. What does not compile is left out and compiled
again. A mutant is first shown to the unit tests of its own module, then to those of the crate, then to its other tests;
a time of CPU several times that of tests that pass bounds each. Golden results do not count, nor does fuzzing, which
finds by chance.

Constants hold no choice at run time: mutants of them are left out, and counted. Outcomes are appended to
target/mutants/outcomes.jsonl; those that lived, and the share that was caught with its 95 % interval (Wilson), are
printed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from math import sqrt
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
WORK = ROOT / "target" / "mutants"
TREE = WORK / "tree"
#: The simulator's share: its MAC. Other crates are mutated whole.
ONLY = {"sim": "crates/sim/src/mac/**"}
#: Crates whose unit tests alone are run: the others take minutes each time.
UNIT_TESTS = {"sim"}
#: Tests that do not count: results written down, and what finds by chance.
SKIPPED = ("golden::", "fuzz::", "architecture::")
VARIABLE = "MULTIHOP_MUTANT"
CHOICE = f"""
/// Is the mutant of this number chosen?
#[doc(hidden)]
#[must_use]
pub fn mutant_is(number: u32) -> bool {{
    static CHOSEN: std::sync::LazyLock<u32> =
        std::sync::LazyLock::new(|| std::env::var("{VARIABLE}").ok().and_then(|n| n.parse().ok()).unwrap_or(0));
    *CHOSEN == number
}}
"""
#: Seconds of CPU that a mutant's tests get at least, and times those of tests that pass.
LEAST_SECONDS, TIMES_LONGER = 20, 5
MEMORY = 4 << 30


class Outcome(StrEnum):
    """What tests said of a mutant."""

    CAUGHT = "caught"
    TIMEOUT = "timeout"
    LIVED = "lived"


@dataclass(frozen=True)
class Mutant:
    """One change of a text, as cargo-mutants lists it."""

    number: int
    name: str
    crate: str
    file: str
    #: Offsets of the text that is replaced, and of the body of the function around it, braces included.
    start: int
    end: int
    body: tuple[int, int]
    replacement: str

    def mutated(self, text: str) -> str:
        """The body with this change."""
        return text[self.body[0] : self.start] + self.replacement + text[self.end : self.body[1]]


@dataclass
class Built:
    """Test programs of a crate, and the numbers of mutants that do not compile."""

    programs: list[tuple[str, Path]] = field(default_factory=list)
    broken: set[int] = field(default_factory=set)
    messages: list[str] = field(default_factory=list)


def offsets(text: str) -> list[int]:
    """Where each line starts."""
    return [0, *(at.end() for at in re.finditer("\n", text))]


def at(lines: list[int], place: dict[str, int]) -> int:
    """Offset of a line and column, both from 1."""
    return lines[place["line"] - 1] + place["column"] - 1


def body_of(text: str, start: int, end: int, name: str) -> tuple[int, int] | None:
    """The braces of a function whose attributes begin at `start` and whose body ends at `end`."""
    called = re.compile(rf"^(?![ \t]*//).*?\bfn {re.escape(name.split('::')[-1])}\b", re.M)
    found = called.search(text, text.rfind("\n", 0, start) + 1, end)
    if found is None:
        return None
    depth = 0
    for here in range(found.end(), end):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[here], 0)
        if text[here] == "{" and depth == 0:
            return here, end
    return None


def listed(crate: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Mutants of functions and of constants, in the order of cargo-mutants."""
    command = ["cargo", "mutants", "--list", "--json", "-p", f"multihop-{crate}"]
    command += ["-f", ONLY[crate]] if crate in ONLY else []
    rows = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    return [row for row in rows if row["function"]], [row for row in rows if not row["function"]]


def located(rows: Iterable[dict[str, Any]]) -> list[Mutant]:
    """Mutants with their offsets, numbered from 1."""
    texts: dict[str, tuple[str, list[int]]] = {}
    mutants = []
    for number, row in enumerate(rows, start=1):
        file = row["file"]
        if file not in texts:
            text = (ROOT / file).read_text()
            texts[file] = text, offsets(text)
        text, lines = texts[file]
        function, span = row["function"], row["span"]
        body = body_of(
            text, at(lines, function["span"]["start"]), at(lines, function["span"]["end"]), function["function_name"]
        )
        if body is None:
            sys.exit(f"no body found of {row['name']}")
        crate = row["package"].removeprefix("multihop-")
        start, end = at(lines, span["start"]), at(lines, span["end"])
        mutants.append(Mutant(number, row["name"], crate, file, start, end, body, row["replacement"]))
    return mutants


def woven(text: str, mutants: list[Mutant]) -> str:
    """A file in which each function that has mutants chooses among its bodies."""
    by_body: dict[tuple[int, int], list[Mutant]] = defaultdict(list)
    bodies = sorted({mutant.body for mutant in mutants}, key=lambda body: (body[0], -body[1]))
    for mutant in mutants:
        # Of functions within functions the outermost.
        outer = next(body for body in bodies if body[0] <= mutant.body[0] and mutant.body[1] <= body[1])
        by_body[outer].append(Mutant(**{**vars(mutant), "body": outer}))
    for body, here in sorted(by_body.items(), reverse=True):
        chain = "".join(f"if crate::mutant_is({m.number}) {{\n{m.mutated(text)[1:]} else " for m in here)
        head = text[: body[0]]
        # What a constant function chooses by is not constant.
        signature = head.rfind("fn ")
        line = head.rfind("\n", 0, signature)
        head = head[:line] + head[line:].replace("const fn", "fn")
        text = head + "{ " + chain + "{ /* as it was */\n" + text[body[0] + 1 : body[1]] + " }" + text[body[1] :]
    return text


def copied() -> None:
    """The tree as it is here, in target/mutants; what did not change keeps its time."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "Cargo.*", "crates", "scenarios"]
    files = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    for name in files:
        there = TREE / name
        there.parent.mkdir(parents=True, exist_ok=True)
        if not there.exists() or there.read_bytes() != (ROOT / name).read_bytes():
            shutil.copyfile(ROOT / name, there)


def weave(crate: str, mutants: list[Mutant]) -> None:
    """Writes the crate with these mutants into the copy."""
    by_file: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        by_file[mutant.file].append(mutant)
    lib = f"crates/{crate}/src/lib.rs"
    for path in sorted((ROOT / "crates" / crate / "src").rglob("*.rs")):
        file = str(path.relative_to(ROOT))
        text = woven(path.read_text(), by_file[file]) + (CHOICE if file == lib else "")
        if (TREE / file).read_text() != text:
            (TREE / file).write_text(text)


def mutant_at(file: Path, line: int) -> int | None:
    """The mutant whose body a line of a woven file is in."""
    for text in reversed(file.read_text().splitlines()[:line]):
        found = re.search(r"crate::mutant_is\((\d+)\) \{$|/\* as it was \*/", text)
        if found:
            return int(found[1]) if found[1] else None
    return None


def blamed(spans: list[dict[str, Any]]) -> set[int]:
    """Mutants that an error is in; or, if it is in none, those that it speaks of, as where branches differ in type."""
    found: dict[bool, set[int]] = {True: set(), False: set()}
    for span in spans:
        if number := mutant_at(TREE / span["file_name"], span["line_start"]):
            found[span["is_primary"]].add(number)
    return found[True] or found[False]


def compiled(crate: str) -> Built:
    """Compiles the tests of the copy."""
    command = ["cargo", "test", "--no-run", "--message-format=json", "-p", f"multihop-{crate}"]
    command += ["--lib"] if crate in UNIT_TESTS else []
    for member in sorted(path.name for path in (TREE / "crates").iterdir()):
        # What compiles sooner runs fast enough.
        profile = f"profile.test.package.multihop-{member}"
        command += ["--config", f"{profile}.opt-level=1", "--config", f"{profile}.debug=false"]
    env = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target"), "CARGO_INCREMENTAL": "1"}
    done = subprocess.run(command, cwd=TREE, env=env, capture_output=True, text=True)
    built = Built()
    for row in map(json.loads, filter(lambda line: line.startswith("{"), done.stdout.splitlines())):
        if row["reason"] == "compiler-artifact" and row["executable"] and row["profile"]["test"]:
            built.programs.append((row["target"]["kind"][0], Path(row["executable"])))
        elif row["reason"] == "compiler-message" and row["message"]["level"] == "error":
            built.messages.append(row["message"]["rendered"])
            built.broken |= blamed(row["message"]["spans"])
    if done.returncode and not built.broken:
        sys.exit("\n".join(built.messages) + done.stderr)
    # Unit tests come first.
    built.programs.sort(key=lambda program: program[0] != "lib")
    return built


def limited(seconds: float) -> Callable[[], None]:
    """Bounds of what is started."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return limit


def failing(program: Path, folder: Path, number: int, arguments: list[str], seconds: float) -> tuple[Outcome, str]:
    """What a test program says of a mutant: it is stopped at the first test that fails."""
    command = [str(program), *arguments, *(word for skipped in SKIPPED for word in ("--skip", skipped))]
    env = os.environ | {VARIABLE: str(number), "RUST_BACKTRACE": "0"}
    running = subprocess.Popen(
        command,
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=limited(seconds),
    )
    assert running.stdout
    try:
        for line in running.stdout:
            if found := re.match(r"test (\S+).* \.\.\. FAILED", line):
                return Outcome.CAUGHT, found[1]
    finally:
        running.kill()
        code = running.wait()
    if code == 0:
        return Outcome.LIVED, ""
    return (Outcome.TIMEOUT if code in {-24, -9} else Outcome.CAUGHT), f"exit {code}"


def module_of(file: str) -> str:
    """The module path of a file."""
    parts = Path(file).with_suffix("").parts
    inside = [part for part in parts[parts.index("src") + 1 :] if part not in {"lib", "mod"}]
    return "::".join(inside) + "::" if inside else ""


def cpu_seconds() -> float:
    """Of children so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tried(mutant: Mutant, built: Built, folder: Path, seconds: dict[Path, float]) -> tuple[Outcome, str]:
    """Of one mutant: its module's tests, then all."""
    unit = next((program for kind, program in built.programs if kind == "lib"), None)
    stages: list[tuple[Path, list[str]]] = [(program, []) for _, program in built.programs]
    if unit and module_of(mutant.file):
        stages.insert(0, (unit, [module_of(mutant.file)]))
    for program, arguments in stages:
        outcome, by = failing(program, folder, mutant.number, arguments, seconds[program])
        if outcome is not Outcome.LIVED:
            return outcome, by
    return Outcome.LIVED, ""


def outcomes(crate: str, mutants: list[Mutant]) -> Iterator[tuple[Mutant, Outcome, str]]:
    """Builds a crate with these mutants, and tries them one by one."""
    alive = list(mutants)
    while True:
        weave(crate, alive)
        built = compiled(crate)
        if not built.broken:
            break
        print(f"{crate}: {len(built.broken)} of {len(alive)} do not compile", flush=True)
        alive = [mutant for mutant in alive if mutant.number not in built.broken]
    folder = TREE / "crates" / crate
    seconds: dict[Path, float] = {}
    for _, program in built.programs:
        before = cpu_seconds()
        outcome, by = failing(program, folder, 0, [], 1e4)
        if outcome is not Outcome.LIVED:
            sys.exit(f"{crate}: tests fail without a mutant: {by}")
        seconds[program] = max(LEAST_SECONDS, TIMES_LONGER * (cpu_seconds() - before))
        print(f"{crate}: {program.name} takes {cpu_seconds() - before:.1f} s of CPU", flush=True)
    for mutant in alive:
        yield mutant, *tried(mutant, built, folder, seconds)


def wilson(caught: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    if of == 0:
        return 0.0, 1.0
    z, share = 1.96, caught / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return middle - half, middle + half


def line(name: str, rows: list[Outcome]) -> str:
    """A row of the table."""
    caught = len(rows) - rows.count(Outcome.LIVED)
    low, high = wilson(caught, len(rows))
    share = f"{caught / len(rows):.1%}" if rows else ""
    return f"| {name} | {len(rows)} | {caught} | {rows.count(Outcome.TIMEOUT)} | {share} | {low:.1%} to {high:.1%} |"


def main() -> None:
    """Runs what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crates", nargs="+", help="dot11, link, transport, schemes; sim: its MAC")
    parser.add_argument("--sample", type=int, metavar="N", help="this many of each crate, not all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--only", metavar="FILE", help="mutants whose names are lines of a file, as those that lived")
    options = parser.parse_args()
    names = set(Path(options.only).read_text().splitlines()) if options.only else None
    WORK.mkdir(parents=True, exist_ok=True)
    copied()
    results: dict[str, list[Outcome]] = {}
    for crate in options.crates:
        rows, constants = listed(crate)
        print(f"{crate}: {len(rows)} mutants of functions, {len(constants)} of constants", flush=True)
        if names is not None:
            rows = [row for row in rows if row["name"] in names]
        elif options.sample and options.sample < len(rows):
            rows = random.Random(f"{crate} {options.seed}").sample(rows, options.sample)
        results[crate] = []
        for mutant, outcome, by in outcomes(crate, located(rows)):
            results[crate].append(outcome)
            with (WORK / "outcomes.jsonl").open("a") as file:
                row = {"seed": options.seed, "crate": crate, "name": mutant.name, "outcome": outcome, "by": by}
                file.write(json.dumps(row | {"at": int(time.time())}) + "\n")
            if outcome is Outcome.LIVED:
                print(f"lived: {mutant.name}", flush=True)
        copied()
        print(line(crate, results[crate]), flush=True)
    print("\n| crate | mutants | caught | of them by time | share | 95 % interval |\n|---|--:|--:|--:|--:|--:|")
    print("\n".join(line(crate, rows) for crate, rows in results.items()))
    if len(results) > 1:
        print(line("all", [outcome for rows in results.values() for outcome in rows]))


if __name__ == "__main__":
    main()
