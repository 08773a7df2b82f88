"""`multihop.emulate`: an emulation as a context manager, in its own process."""

from __future__ import annotations

import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from multihop import _core
from multihop.base.display import Displayed, Overview
from multihop.base.errors import UserError
from multihop.emulation.isolate import command
from multihop.emulation.outcome import Emulated
from multihop.emulation.session import Settings, overriding
from multihop.simulation.scenario import ScenarioLike, TimeLike, load, time_text

#: Interval between checks whether a program has ended.
_ASK_EVERY_S = 0.02
#: Most characters of a value in a message.
_MOST_SHOWN = 80
#: Time within which the process of an emulation must end.
_PATIENCE_S = 5.0


def emulate(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,
    mode: str = "ip",
    traffic: bool = False,
    shim: bool = False,
    uplink: str | None = None,
    slow: float = 1.0,
    max_lag: TimeLike = "2 ms",
    sysctls: Mapping[str, str | int] | None = None,
    pcap: str | Path | None = None,
    record: str | Path | None = None,
    **overrides: TimeLike | None,
) -> Emulation:
    """Runs real programs over the simulated air, in real time: each node is a network namespace of Linux.

    >>> with multihop.emulate("scenarios/chain.toml") as emulation:     # doctest: +SKIP
    ...     server = emulation.node("n7").start(["iperf3", "-s", "-1"])
    ...     said = emulation.node("n0").run(["iperf3", "-c", "n7"]).stdout
    >>> emulation.outcome.result.flows                                  # doctest: +SKIP

    The emulation starts and ends with the `with` block, or ends with the scenario's `duration`. Programs that
    still run are then terminated; after a crash of this process the kernel removes them.

    Args:
        scenario: a path, TOML text, or a dictionary of the same shape.
        seed: replaces the scenario's seed; 0 to 2**64 - 1.
        set: keys to replace or add, as in `run`.
        mode: "ip", where the run routes; or "ethernet", where programs route, over frames of one hop.
        traffic: whether the flows of the scenario are simulated as well.
        shim: whether sender and receiver of the scheme regulate the kernel's TCP, placed below it.
        uplink: node that connects to the host's networks and is the gateway of the others; needs slirp4netns.
        slow: real seconds per virtual second, 0.01 to 1000000. Programs do not notice it.
        max_lag: limit of the p99 of packets' lag for a valid result, in seconds or with a unit; or "off".
        sysctls: kernel settings of every node, such as `{"net.ipv4.tcp_ecn": 1}`.
        pcap: file for a capture of all radios.
        record: file for the journal, which `multihop replay` repeats.
        **overrides: `duration`, `warmup` (0 s by default), `record_interval`, in seconds or as text with a
            unit; `scheme`, whose router policies process the packets.

    Raises:
        ScenarioError: naming file, line, key, the value found and what is needed.
        UserError: if an argument is invalid, or this machine cannot emulate.
    """
    try:
        max_lag_s = math.inf if max_lag == "off" else _core.seconds(time_text("max_lag", max_lag))
    except ValueError as error:
        raise UserError(f'max_lag: found {max_lag!r}; needs seconds, text as in "2 ms", or "off"') from error
    capture, journal = (None if path is None else Path(path).absolute() for path in (pcap, record))
    replaced = overriding({"warmup": "0 s", **overrides, "set": set}, seed, traffic=traffic)
    settings = Settings(load(scenario), replaced, slow, max_lag_s, sysctls, capture, journal, mode, shim, uplink)
    settings.check()
    return Emulation(settings)


class Emulation(Displayed):
    """Emulation that runs during a `with` block."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._outcome: Emulated | None = None
        #: Reason why requests fail; `None` while the emulation runs.
        self._silence: str | None = "this emulation has not begun; use it in a with block"

    def __enter__(self) -> Self:
        ours, theirs = socket.socketpair()
        words = [sys.executable, "-m", "multihop.emulation.service", str(theirs.fileno())]
        with theirs:
            # In a session of its own, since Ctrl-C is for this process, which then ends the block.
            self._process = subprocess.Popen(
                command(words, with_uplink=self._settings.uplink is not None),
                pass_fds=[theirs.fileno()],
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        self._requests = Connection(ours.detach())
        self._silence = None
        try:
            self._send(self._settings)
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        try:
            if kind is None:
                self._outcome = self.ask("finish")
        finally:
            self._close()

    def overview(self, *, whole: bool = True) -> Overview:
        """Returns whether the emulation runs."""
        del whole
        return Overview(self._silence or "runs")

    def node(self, name: str) -> Node:
        """Returns a node, at which programs can be started."""
        return Node(self, name)

    @property
    def status(self) -> dict[str, Any]:
        """Progress: seconds, lag, counts of packets, bytes delivered by flow, queues by node."""
        found: dict[str, Any] = self.ask("status")
        return found

    @property
    def is_over(self) -> bool:
        """Whether the scenario has ended."""
        return bool(self.ask("is_over"))

    @property
    def outcome(self) -> Emulated:
        """Result: `result` has the tables, `live` counters and lag, `is_valid` whether the lag was low.

        Raises:
            UserError: if the `with` block has not ended, or ended with an exception.
        """
        if self._outcome is None:
            raise UserError("outcome: the with block has not ended; read it after the block")
        return self._outcome

    def ask(self, what: str, *arguments: Any) -> Any:  # noqa: ANN401 - any answer of the service
        """Sends a request to the process of the emulation, and returns the answer."""
        return self._send((what, arguments))

    def _send(self, request: object) -> Any:  # noqa: ANN401 - any answer of the service
        with self._lock:
            if self._silence is not None:
                raise UserError(self._silence)
            try:
                self._requests.send(request)
                answer = self._requests.recv()
            except (EOFError, OSError) as error:
                self._silence = self._end()
                raise UserError(self._silence) from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _close(self) -> None:
        with self._lock:
            if self._silence is None:
                self._end()
                self._silence = "this emulation is over"

    def _end(self) -> str:
        """Waits until the process has ended. Returns its last message, or how it ended."""
        self._requests.close()
        try:
            _, err = self._process.communicate(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            _, err = self._process.communicate()
        said = err.decode(errors="replace").strip().removeprefix("multihop: ")
        code = self._process.returncode
        how = f"with exit code {code}" if code >= 0 else f"by signal {-code} ({signal.strsignal(-code)})"
        return said or f"the process of the emulation has ended, {how}"


class Node:
    """Node of an emulation."""

    def __init__(self, emulation: Emulation, name: str) -> None:
        self._emulation = emulation
        self.name = name

    def start(self, words: Sequence[str | os.PathLike[str]]) -> Program:
        """Starts a program at this node without waiting for it.

        Raises:
            UserError: if the node or program does not exist.
        """
        given = _texts(words)
        return Program(self._emulation, given, self._emulation.ask("start", self.name, given))

    def run(
        self, words: Sequence[str | os.PathLike[str]], *, timeout: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program at this node and waits for its end. Returns exit code and output.

        Raises:
            UserError: if the node or program does not exist.
            subprocess.TimeoutExpired: if it has not ended within `timeout` real seconds; it is killed.
        """
        return self.start(words).wait(timeout)


def _texts(words: Sequence[str | os.PathLike[str]]) -> list[str]:
    is_list = isinstance(words, Sequence) and not isinstance(words, str | bytes | bytearray)
    texts = [os.fspath(word) for word in words if isinstance(word, str | os.PathLike)] if is_list else []
    if not texts or len(texts) < len(words) or not all(isinstance(text, str) for text in texts):
        found = repr(words)
        raise UserError(
            f"words: found {found if len(found) <= _MOST_SHOWN else found[:_MOST_SHOWN] + ' ...'}; needs a list of a "
            "program and its arguments, each text or a path, as in ['ping', 'n2']"
        )
    return texts


class Program:
    """Program at a node."""

    def __init__(self, emulation: Emulation, words: list[str], number: int) -> None:
        self._emulation = emulation
        self._words = words
        self._number = number

    def wait(self, timeout: float | None = None) -> subprocess.CompletedProcess[str]:
        """Waits for the end of the program.

        Raises:
            subprocess.TimeoutExpired: if it has not ended within `timeout` real seconds; it is killed.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while (ended := self._emulation.ask("poll", self._number)) is None:
            if until is not None and time.monotonic() > until:
                self.send_signal(signal.SIGKILL)
                raise subprocess.TimeoutExpired(self._words, timeout or 0.0)
            time.sleep(_ASK_EVERY_S)
        code, out, err = ended
        return subprocess.CompletedProcess(
            self._words, code, out.decode(errors="replace"), err.decode(errors="replace")
        )

    def send_signal(self, which: int) -> None:
        """Sends a signal to the program, unless it has ended."""
        self._emulation.ask("signal", self._number, int(which))
