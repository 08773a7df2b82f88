"""Runs the kernel's TCP over an emulation of a cell."""

from __future__ import annotations

import json
import math
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import multihop
from multihop.base.errors import UserError
from multihop.emulation.client import Program
from validation.kernel import traffic
from validation.kernel.cells import Cell, Connection
from validation.kernel.measured import Emulated, Measured

#: Counters that are kept to explain a difference: tail loss probes, and what was needless.
OTHERS = ("probes", "spurious_timeouts", "undone")
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
#: Most seconds until the programs at nodes have started, and seconds from then to the start of the run.
START_S, PAUSE_S = 60.0, 0.3
#: Most bytes of a socket's buffers; they tune themselves up to this.
BUFFER = 33_554_432
SYSCTLS: dict[str, str | int] = {
    "net.ipv4.tcp_slow_start_after_idle": 0,
    "net.ipv4.tcp_no_metrics_save": 1,
    "net.ipv4.tcp_rmem": f"4096 131072 {BUFFER}",
    "net.ipv4.tcp_wmem": f"4096 262144 {BUFFER}",
}


def available() -> list[str]:
    """Congestion controls of this kernel; none where it does not say."""
    return AVAILABLE.read_text(encoding="ascii").split() if AVAILABLE.exists() else []


def emulated(cell: Cell, seed: int) -> Emulated:
    """Runs the kernel's TCP over a cell.

    Raises:
        UserError: if this machine cannot emulate, or a program fails.
    """
    # Longer than needed; the emulation ends with its programs.
    scenario = {**cell.network_scenario(), "duration": f"{2 * START_S + cell.duration_s} s"}
    sysctls = {**SYSCTLS, "net.ipv4.tcp_ecn": int(cell.ecn)}
    with (
        tempfile.TemporaryDirectory(prefix="multihop-") as folder,
        multihop.emulate(scenario, seed=seed, sysctls=sysctls, max_lag="off") as emulation,
    ):
        programs = [
            (order["role"], emulation.node(node).start([sys.executable, traffic.__file__, json.dumps(order)]))
            for node, order in orders(cell, seed, folder)
        ]
        _begin(Path(folder), len(programs), cell)
        answers = [(role, _answer(program, cell)) for role, program in programs]
    senders = [answer for role, answer in answers if role == "send"]
    receivers = [answer for role, answer in answers if role == "receive"]
    live = emulation.outcome.live
    return Emulated(
        measured(cell, seed, senders, receivers),
        live["lateness_p99_s"] * 1e3,
        emulation.outcome.overflowed,
        platform.release().partition("-")[0],
        {key: sum(sender[key] for sender in senders) for key in OTHERS},
    )


def orders(cell: Cell, seed: int, folder: str) -> list[tuple[str, dict[str, Any]]]:
    """Node and order of each program; receivers come first. The programs wait for a file in the folder."""
    made = list(enumerate(cell.connections(seed)))
    common = {"folder": folder, "since_s": cell.warmup_s, "until_s": cell.duration_s}
    found = []
    for node in sorted({connection.destination for _, connection in made}):
        expected = sum(connection.destination == node for _, connection in made) if cell.is_short else 0
        found.append((node, {"role": "receive", "expected": expected, **common}))
    for node in sorted({connection.source for _, connection in made}):
        own = [_row(number, connection) for number, connection in made if connection.source == node]
        order = {"congestion": cell.transport, "sampled": not cell.is_short, "connections": own}
        found.append((node, {"role": "send", **order, **common}))
    return found


def _begin(folder: Path, programs: int, cell: Cell) -> None:
    """Waits until all programs are ready, and tells them when the run begins."""
    until = time.monotonic() + START_S
    while len(list(folder.iterdir())) < programs:
        if time.monotonic() > until:
            raise UserError(f"{cell.label}: the programs at nodes have not started within {START_S:g} s")
        time.sleep(0.01)
    written = folder / "written"
    written.write_text(repr(time.monotonic() + PAUSE_S), encoding="ascii")
    written.rename(folder / traffic.BEGIN)


def _row(number: int, made: Connection) -> dict[str, Any]:
    return {"number": number, "to": made.destination, "start_s": made.start_s, "size": made.size}


def _answer(program: Program, cell: Cell) -> dict[str, Any]:
    ended = program.wait(cell.duration_s + 60)
    if ended.returncode:
        why = (ended.stderr.strip().splitlines() or ["it gives no reason"])[-1]
        raise UserError(f"{cell.label}: a program at a node has failed: {why}")
    answer: dict[str, Any] = json.loads(ended.stdout)
    for number, why in answer.get("failed", {}).items():
        raise UserError(f"{cell.label}: connection {number} has failed: {why}")
    return answer


def measured(cell: Cell, seed: int, senders: list[dict[str, Any]], receivers: list[dict[str, Any]]) -> Measured:
    """Measurements of a run from what the programs at its nodes printed."""
    received = sum(sum(receiver["received"].values()) for receiver in receivers)
    rtts = [statistics.mean(samples) for sender in senders for samples in sender["rtt_s"].values() if samples]
    began = {number: when for sender in senders for number, when in sender["began"].items()}
    ended = {number: when for receiver in receivers for number, when in receiver["completed"].items()}
    completions = []
    if cell.is_short:
        numbers = [str(number) for number in range(len(cell.connections(seed)))]
        completions = [(ended[one] - began[one]) * 1e3 if one in ended else math.inf for one in numbers]
    return Measured(
        received * 8 / (cell.duration_s - cell.warmup_s) / 1e6,
        statistics.mean(rtts) * 1e3 if rtts else None,
        sum(sender["retransmissions"] for sender in senders),
        sum(sender["timeouts"] for sender in senders),
        completions,
    )
