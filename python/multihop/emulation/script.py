"""Test bed in a file: programs at nodes, their start times, and their measurements.

```toml
[[program]]
at = "n5"                    # or several nodes: ["n1", "n2"]
run = "iperf3 -s"
background = true            # the emulation does not wait for its end

[[program]]
name = "upload"              # of its row; the node by default
at = "n0"
start = "2 s"                # of real time, from the start of the emulation
run = "iperf3 -c n5 -J -t 20"
```
"""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from multihop import _core
from multihop.base.errors import UserError
from multihop.emulation.session import Session
from multihop.simulation.scenario import read_text

_KEYS = {"at": (str, list), "run": (str,), "name": (str,), "start": (str,), "background": (bool,)}


@dataclass(frozen=True)
class Step:
    """Program of a script."""

    name: str
    node: str
    words: list[str]
    #: Start time in seconds of real time.
    start_s: float
    #: Whether the emulation ends without waiting for the program.
    background: bool


def read_script(path: Path, nodes: Sequence[str]) -> list[Step]:
    """Returns the programs of a script, in its order.

    Raises:
        UserError: if the file is no script, or names an unknown node.
    """
    try:
        document = tomllib.loads(read_text(path, "a script (TOML)"))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not TOML: {error}; correct this line (see toml.io)") from error
    programs = document.get("program")
    if document.keys() != {"program"} or not isinstance(programs, list) or not programs:
        raise UserError(f"{path}: needs [[program]] tables, and nothing else")
    return [
        step for index, program in enumerate(programs) for step in _steps(f"{path}: program[{index}]", program, nodes)
    ]


def _steps(place: str, program: Any, nodes: Sequence[str]) -> list[Step]:  # noqa: ANN401 - any value in the file
    if not isinstance(program, dict):
        raise UserError(f"{place}: found {program!r}; needs a table")
    for key, value in program.items():
        if key not in _KEYS:
            raise UserError(f"{place}.{key}: is unknown; needs one of {', '.join(_KEYS)}")
        if not isinstance(value, _KEYS[key]):
            raise UserError(
                f"{place}.{key}: found {value!r}; needs {' or '.join(kind.__name__ for kind in _KEYS[key])}"
            )
    if "at" not in program or "run" not in program:
        raise UserError(f"{place}: needs at and run")
    try:
        words, start_s = shlex.split(program["run"]), _core.seconds(program.get("start", "0 s"))
    except ValueError as error:
        raise UserError(f"{place}: {error}") from error
    if not words:
        raise UserError(f"{place}.run: is empty; needs a command")
    where = program["at"] if isinstance(program["at"], list) else [program["at"]]
    for node in where:
        if node not in nodes:
            raise UserError(f"{place}.at: found {node!r}; needs one of {', '.join(nodes[:20])}")
    name, background = program.get("name"), program.get("background", False)
    many = len(where) > 1
    return [
        Step((f"{name} {node}" if many else name) if name else node, node, words, start_s, background) for node in where
    ]


@dataclass(frozen=True)
class Measured:
    """Outcome of a program."""

    step: Step
    #: Exit code, or minus the signal that ended it; `None` if it runs or has not started.
    code: int | None
    #: Output; `None` if it was not collected.
    out: str | None = None
    err: str | None = None
    has_started: bool = True
    #: Reason why the program could not be started.
    why_not: str = ""

    @property
    def ending(self) -> str:
        """Kind of ending: done, failed, not started, cut off, or, in the background, stopped."""
        if not self.has_started:
            return "not started"
        if self.code is None:
            return "stopped" if self.step.background else "cut off"
        return "failed" if self.code else "done"

    @property
    def command(self) -> str:
        """Node and command line, for a message."""
        return f"{self.step.node}: {shlex.join(self.step.words)!r}"

    def remark(self, virtual_s: float) -> str | None:
        """Returns a sentence about a program that has not succeeded by this virtual time, the end."""
        if self.why_not:
            return self.why_not
        code = self.code or 0
        how = (
            f"failed with exit code {code}" if code >= 0 else f"was ended by signal {-code} ({signal.strsignal(-code)})"
        )
        return {
            "failed": f"{self.command} {how}",
            "not started": f"{self.command} was not started before the end, at {virtual_s:.2f} s of virtual time",
            "cut off": f"{self.command} was cut off by the end, at {virtual_s:.2f} s of virtual time",
        }.get(self.ending)

    def row(self) -> dict[str, Any]:
        """Returns all data, with the measurements of iperf3 if the output is its JSON."""
        step = self.step
        words = {"name": step.name, "node": step.node, "command": shlex.join(step.words), "start_s": step.start_s}
        row = {**words, "exit_code": self.code, "ending": self.ending}
        if self.out is None or self.err is None:
            return row
        return {**row, **iperf3(self.out), "output": self.out, "errors": self.err}


class Script:
    """Programs of a script in a running emulation."""

    def __init__(self, steps: Sequence[Step], session: Session) -> None:
        self._session = session
        self._began = time.monotonic()
        self._waiting = sorted(steps, key=lambda step: step.start_s)
        self._started: list[tuple[Step, subprocess.Popen[bytes], IO[bytes], IO[bytes]]] = []
        self._refused: list[Measured] = []

    def go_on(self) -> bool:
        """Starts the programs that are due. Returns whether any foreground program is left.

        A program that cannot be started counts as failed, so that the others continue.
        """
        while self._waiting and time.monotonic() - self._began >= self._waiting[0].start_s:
            step = self._waiting.pop(0)
            node = self._session.node(step.node)
            try:
                out, err = (tempfile.TemporaryFile() for _ in range(2))  # noqa: SIM115 - read when it is over
                program = self._session.start(node, step.words, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            except (UserError, OSError) as error:
                why_not = str(error)
                self._refused.append(Measured(step, None, "", why_not, has_started=False, why_not=why_not))
            else:
                self._started.append((step, program, out, err))
        return bool(self._waiting) or any(
            program.poll() is None for step, program, *_ in self._started if not step.background
        )

    def measured(self) -> list[Measured]:
        """Returns the outcomes of all programs by start time; running ones have no exit code."""
        made = [Measured(step, program.poll(), _text(out), _text(err)) for step, program, out, err in self._started]
        made += self._refused + [Measured(step, None, "", "", has_started=False) for step in self._waiting]
        return sorted(made, key=lambda one: one.step.start_s)


def iperf3(out: str) -> dict[str, float]:
    """Goodput, RTT, retransmissions and losses in the output of `iperf3 -J`; empty for other output."""
    try:
        end = json.loads(out)["end"]
    except (ValueError, KeyError, TypeError):
        return {}
    received: Mapping[str, Any] = end.get("sum_received") or end.get("sum") or {}
    sent: Mapping[str, Any] = end.get("sum_sent") or {}
    sender = (end.get("streams") or [{}])[0].get("sender", {})
    found = {
        "goodput_bps": received.get("bits_per_second"),
        "rtt_mean_s": sender["mean_rtt"] * 1e-6 if sender.get("mean_rtt") else None,
        "retransmissions": sent.get("retransmits"),
        "loss_ratio": received["lost_percent"] / 100 if "lost_percent" in received else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
