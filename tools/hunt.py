"""Runs `check`, `bound`, `run` and `explain` on every scenario of a folder.

    python tools/hunt.py FOLDER        (make hunt, after the engine's own hunt has written a share of its scenarios)

Each command must end with a result, or refuse the scenario in one line. Exit code 1: some did not.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from multihop import ScenarioError
from multihop.base.errors import OutputError, UserError
from multihop.cli.app import app


def outcome(words: list[str]) -> str:
    """How a command ends: "done", "refused", or what went wrong."""
    screen = io.StringIO()
    try:
        with redirect_stdout(screen), redirect_stderr(screen):
            code = app(words, standalone_mode=False, prog_name="multihop")
    except (ScenarioError, UserError) as error:
        line = str(error)
        return "refused" if line and "\n" not in line else f"a refusal that is not one line: {line!r}"
    except OutputError as error:
        return f"not written: {error}"
    except Exception as error:  # noqa: BLE001 - whatever it is, a user would see an internal error
        return f"{type(error).__name__}: {error}"
    return "done" if not code else f"exit code {code}"


def try_all(scenario: Path) -> list[tuple[str, str]]:
    """Each command and how it ended on one scenario; `explain` only follows a run that was done."""
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "out")
        run = ["run", str(scenario), "--seeds", "2", "--jobs", "1", "--quiet", "--out", out]
        commands = [["check", str(scenario)], ["bound", str(scenario)], run]
        ended = [(words[0], outcome(words)) for words in commands]
        if ended[-1][1] == "done":
            ended.append(("explain", outcome(["explain", out, "--jobs", "1", "--quiet", "--seeds", "2"])))
    return ended


def main() -> None:
    """Tries every scenario, and prints how many commands ended in which way."""
    counts: Counter[tuple[str, str]] = Counter()
    failures = 0
    for scenario in sorted(Path(sys.argv[1]).glob("*.toml")):
        for command, ended in try_all(scenario):
            well = ended in {"done", "refused"}
            counts[command, ended if well else "failed"] += 1
            if not well:
                failures += 1
                print(f"{scenario}: {command}: {ended}", flush=True)
    for (command, ended), count in sorted(counts.items()):
        print(f"{command}: {ended} {count}")
    sys.exit(failures > 0 or not counts)


if __name__ == "__main__":
    main()
