"""What tests share: the command as a user types it, and small scenarios."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest
from tools import inline as inline_command

from browser import browser as browser
from browser import in_node as in_node
from browser import opened as opened
from browser import playground_file as playground_file
from browser import shown as shown

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts tests in the background has them ignore Ctrl-C; commands that they start would do so too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parent.parent
SCENARIOS = ROOT / "scenarios"


def _is_unicast(path: Path) -> bool:
    flows = tomllib.loads(path.read_text("utf-8")).get("flows", [])
    return not any(isinstance(flow["to"], list) for flow in flows)


#: Those whose flows have one receiver each, which bounds are of.
UNICAST_SCENARIOS = sorted(filter(_is_unicast, SCENARIOS.rglob("*.toml")))
UNICAST_NAMES = [path.relative_to(SCENARIOS).as_posix() for path in UNICAST_SCENARIOS]

#: Third-party files live beside the project, not in it.
DATA = ROOT.parent / "shared" / "data" / "topology"

CHAIN = """
name = "small-chain"
duration = "5 s"
warmup = "1 s"

[topology]
generator = "chain"
hops = 3
spacing = "200 m"

[[flows]]
name = "long"
from = "n0"
to = "n3"
scheme = "tcp-newreno"

[[flows]]
name = "short"
from = "n2"
to = "n3"
scheme = "tcp-newreno"
start_jitter = "100 ms"
"""


def repository() -> list[Path]:
    """The files that the repository has, and those that are new in it."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("this is no git repository")
    return [ROOT / name for name in listed.stdout.decode().splitlines() if (ROOT / name).is_file()]


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)

    def fails_cleanly(self) -> str:
        """Asserts a user error, reported in one message, and returns that message."""
        assert self.code == 2, f"exit code {self.code}\n{self.out}\n{self.err}"
        assert "Traceback" not in self.err
        assert "panicked" not in self.err
        lines = self.err.strip().splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("multihop: ")
        assert self.out == ""
        return lines[0].removeprefix("multihop: ")


@pytest.fixture
def multihop(tmp_path: Path) -> Callable[..., Outcome]:
    """Runs the command line in a directory of its own."""

    def run(*arguments: str | Path, stdin: str | None = None, cwd: Path = tmp_path) -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", "multihop", *map(str, arguments)],
            cwd=cwd,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={**os.environ, "COLUMNS": "200"},
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def inline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """As `multihop`, but in this process: where there are many commands, starting them would take most of the time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str | Path) -> Outcome:
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            code = inline_command.run(arguments)
        return Outcome(code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """A scenario that runs in milliseconds."""
    path = tmp_path / "chain.toml"
    path.write_text(CHAIN)
    return path


@pytest.fixture
def data() -> Path:
    """The folder with real topologies."""
    if not DATA.is_dir():
        pytest.skip(f"needs the real topologies in {os.path.relpath(DATA, ROOT)}, which are not part of the project")
    return DATA


@pytest.fixture
def tshark():
    """Fields of the packets that a filter leaves, one list per packet."""
    if shutil.which("tshark") is None:
        pytest.skip("needs tshark to read captures")

    def read(path: Path, *fields: str, only: str = "frame") -> list[list[str]]:
        command = [
            "tshark",
            "-o",
            "wlan.check_checksum:TRUE",
            "-r",
            path,
            "-Y",
            only,
            "-T",
            "fields",
            *(f"-e{field}" for field in fields),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        return [line.split("\t") for line in done.stdout.splitlines()]

    return read
