"""Emulation within its namespaces: the loop in a thread, and programs at nodes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from multihop import _core
from multihop.api import OVERRIDES, replacements
from multihop.base.errors import UserError, instead_of
from multihop.emulation import sysctls, uplink
from multihop.emulation.isolate import MARK
from multihop.emulation.outcome import Emulated, result_of
from multihop.results.provenance import engine
from multihop.simulation.scenario import Scenario, for_core
from multihop.simulation.seeds import seed_number

#: Real-time priority: above ordinary programs, below threads of the kernel.
_PRIORITY = 10
#: Time for programs to end before they are killed.
_GRACE_S = 0.5
_JOURNAL = "multihop journal"
#: Most bytes of a journal's first line, which contains the scenario.
_MOST_BYTES_OF_HEAD = 64_000_000
#: Version of journals. Since version 2 they contain headers of packets.
_JOURNAL_VERSION = "2"
#: Content of devices: packets that the run routes, or frames that programs route.
MODES = ("ip", "ethernet")


@dataclass(frozen=True)
class Settings:
    """Settings of an emulation."""

    scenario: Scenario
    #: Overrides of the scenario, including `external`.
    overrides: Mapping[str, Any]
    #: Real seconds per virtual second.
    slow: float = 1.0
    #: Limit of the p99 of packets' lag for a valid result [s].
    max_lag_s: float = 0.002
    #: Kernel settings of every node, by their sysctl names.
    sysctls: Mapping[str, str | int] | None = None
    #: File of the capture.
    pcap: Path | None = None
    #: File of the journal.
    journal: Path | None = None
    #: What routes: the run ("ip"), or programs ("ethernet").
    mode: str = "ip"
    #: Whether sender and receiver of the scheme regulate the kernel's TCP.
    shim: bool = False
    #: Node that connects to the host's networks.
    uplink: str | None = None

    def check(self) -> _core.ScenarioView:
        """Returns the resolved scenario, after checking all settings.

        Raises:
            ScenarioError: if it cannot be run.
            UserError: if a setting is invalid.
        """
        is_number = isinstance(self.slow, int | float)
        if not is_number or not 0.01 <= self.slow <= 1e6:
            found = f"{self.slow:g}" if is_number else repr(self.slow)
            raise UserError(f"slow: found {found}; needs 0.01 to 1000000 real seconds per virtual second")
        if self.mode not in MODES:
            raise UserError(f"mode: found {self.mode!r}; needs one of {', '.join(MODES)}")
        if self.shim and self.mode != "ip":
            raise UserError(f"shim: found with mode {self.mode}; needs mode ip, since it works between IP and TCP")
        if not self.max_lag_s > 0:
            raise UserError(f"max_lag: found {self.max_lag_s:g} s; needs more than 0 s")
        sysctls.check({} if self.sysctls is None else self.sysctls)
        if not Path("/dev/net/tun").exists() or not hasattr(_core, "Emulator"):
            raise UserError(
                "emulation needs Linux with /dev/net/tun; load it (modprobe tun), or pass it to the container"
            )
        if self.pcap is not None and self.pcap == self.journal:
            raise UserError(f"{self.pcap}: found as the capture and as the journal; needs a separate file for each")
        view = self.scenario.check(self.overrides)
        if self.uplink is not None:
            index_of(view, self.uplink)
            uplink.require()
        return view


def index_of(view: _core.ScenarioView, name: str) -> int:
    """Returns the index of a node.

    Raises:
        UserError: if the node does not exist.
    """
    names = [node["name"] for node in view["nodes"]]
    if name not in names:
        raise UserError(f"node: found {name!r}; {instead_of(str(name), names)}")
    return names.index(name)


class Session:
    """Emulation that runs within a `with` block, in an isolated process without another one."""

    def __init__(self, settings: Settings) -> None:
        # Programs started here may run emulations of their own.
        os.environ.pop(MARK, None)
        self.settings = settings
        self.view = settings.check()
        self._gateway = None if settings.uplink is None else index_of(self.view, settings.uplink)
        #: Programs started at nodes.
        self.programs: list[subprocess.Popen[bytes]] = []
        self._ended: tuple[_core.Output, _core.EmulationStatus, list[str]] | None = None
        self._failed: BaseException | None = None
        self._cpu_s = 0.0
        self._prompt = False
        _see_names(self.view, beyond=self._gateway is not None)
        self._emulator = self._made()
        self._uplink = None if self._gateway is None else uplink.attach(self._emulator, self._gateway)
        self._thread = threading.Thread(target=self._loop, name="multihop-loop", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stop()

    @property
    def is_over(self) -> bool:
        """Whether the scenario has ended."""
        return not self._thread.is_alive()

    def node(self, name: str) -> int:
        """Returns the index of a node.

        Raises:
            UserError: if the node does not exist.
        """
        return index_of(self.view, name)

    def start(self, node: int, words: Sequence[str], **streams: IO[Any] | int | None) -> subprocess.Popen[bytes]:
        """Starts a program at a node.

        Raises:
            UserError: if the program does not exist.
        """
        name = self.view["nodes"][node]["name"]
        if not words:
            raise UserError(f"{name}: the command is empty; needs a program and its arguments")
        _enter(self._emulator, node)
        try:
            program: subprocess.Popen[bytes] = subprocess.Popen(list(words), **streams)  # type: ignore[call-overload]
        except (OSError, ValueError) as error:
            raise UserError(f"{name}: {words[0]!r} cannot be started: {getattr(error, 'strerror', error)}") from error
        finally:
            _enter(self._emulator)
        self.programs.append(program)
        return program

    def status(self) -> dict[str, Any]:
        """Progress: `_core.EmulationStatus`, with delivered bytes by flow name, and names of nodes."""
        status = self._emulator.status()
        queues = zip(self.view["nodes"], status["queues"], strict=False)
        return {
            **status,
            "delivered_bytes": self._by_flow(status),
            "queues": {node["name"]: packets for node, packets in queues if packets},
            "removed": self._removed(status),
        }

    def finish(self) -> Emulated:
        """Ends programs and run, and returns the result."""
        self._stop()
        if self._ended is None:
            if isinstance(self._failed, OSError):
                raise UserError(f"the emulation cannot run: {self._failed}") from self._failed
            raise self._failed or RuntimeError("the loop has not run")
        output, live, failures = self._ended
        settings = self.settings
        result = result_of(settings.scenario, self.view, settings.overrides, output)
        removed = tuple(self._removed(live))
        kept = (settings.slow, settings.max_lag_s, settings.mode, self._by_flow(live))
        return Emulated(result, live, removed, tuple(failures), self._cpu_s, self._prompt, *kept)

    def _by_flow(self, status: _core.EmulationStatus) -> dict[str, int]:
        flows = zip(self.view["flows"], status["delivered_bytes"], strict=False)
        return {flow["name"]: count for flow, count in flows if count}

    def _removed(self, status: _core.EmulationStatus) -> list[str]:
        return [self.view["nodes"][node]["name"] for node in status["removed"]]

    def _made(self) -> _core.Emulator:
        settings = self.settings
        journal = None if settings.journal is None else (settings.journal, _first_line(settings, self.view))
        text, origin = settings.scenario.text, settings.scenario.origin
        replaced, ethernet = for_core(settings.overrides), settings.mode == "ethernet"
        try:
            made = _core.Emulator(
                text, origin, replaced, settings.slow, ethernet, settings.shim, settings.pcap, journal, self._gateway
            )
        except ValueError as error:
            raise UserError(f"shim: {error}") from error
        except OSError as error:
            reason = error.strerror or error
            if error.filename is not None:
                raise UserError(f"{error.filename}: cannot be written: {reason}; name another place") from error
            raise UserError(f"the network of the nodes cannot be made: {reason}") from error
        for name, value in (settings.sysctls or {}).items():
            for node in range(len(self.view["nodes"])):
                _enter(made, node)
                sysctls.write(name, value)
        _enter(made)
        return made

    def _loop(self) -> None:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
            self._prompt = True
        except PermissionError:
            pass
        began = time.thread_time()
        try:
            self._ended = self._emulator.run()
        except BaseException as error:  # noqa: BLE001 - raised by `finish`
            self._failed = error
        self._cpu_s = time.thread_time() - began

    def _stop(self) -> None:
        running = [program for program in self.programs if program.poll() is None]
        for program in running:
            program.terminate()
        until = time.monotonic() + _GRACE_S
        for program in running:
            try:
                program.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()
        self._emulator.stop()
        self._thread.join()
        if self._uplink is not None:
            self._uplink.close()


def overriding(given: dict[str, Any], seed: int | None, *, traffic: bool) -> dict[str, Any]:
    """Returns the overrides of an emulated scenario; with `traffic`, its flows are simulated as well."""
    replaced = replacements(given)
    replaced["external"] = "beside" if traffic else "alone"
    if seed is not None:
        replaced["seed"] = seed_number(seed)
    return replaced


def journal_of(path: Path) -> tuple[Scenario, dict[str, Any], str]:
    """Returns scenario, overrides and engine of a journal.

    Raises:
        UserError: if the file is no journal, or one of another version.
    """
    try:
        with path.open("rb") as file:
            first = file.readline(_MOST_BYTES_OF_HEAD).decode()
        head, _, rest = first.partition(": ")
        name, _, version = head.rpartition(" ")
        about = json.loads(rest if name == _JOURNAL else "")
        # The content of other versions is not read.
        found = version == _JOURNAL_VERSION and _said_by(about)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UserError(f"{path}: this is no journal; needs a file written by multihop emulate --record") from error
    if not found:
        raise UserError(
            f"{path}: a journal of version {version}; needs version {_JOURNAL_VERSION}: replay it with the multihop "
            "that recorded it"
        )
    return found


def _said_by(about: dict[str, Any]) -> tuple[Scenario, dict[str, Any], str]:
    """Parses the first line of a journal; raises `TypeError` or `KeyError` if no emulation wrote it."""
    overrides = dict(about["overrides"])
    kinds = {**dict.fromkeys(OVERRIDES, str), "external": str, "set": dict, "seed": int}
    texts = (about["scenario"], about["origin"], about["engine"])
    fits = all(isinstance(value, kinds[name]) for name, value in overrides.items())
    is_external = overrides.get("external", "alone") in {"alone", "beside"}
    if not (fits and is_external and all(isinstance(text, str) for text in texts) and 0 <= overrides["seed"] < 2**64):
        raise TypeError("the first line of a journal has a value of another type")
    return Scenario(about["scenario"], about["origin"]), overrides, about["engine"]


def _first_line(settings: Settings, view: _core.ScenarioView) -> str:
    overrides = {**settings.overrides, "seed": view["seed"]}
    scenario = settings.scenario
    about = {"scenario": scenario.text, "origin": scenario.origin, "overrides": overrides, "engine": engine()}
    return f"{_JOURNAL} {_JOURNAL_VERSION}: {json.dumps(about)}"


def _enter(emulator: _core.Emulator, node: int | None = None) -> None:
    try:
        emulator.enter(node)
    except OSError as error:
        raise UserError(f"the network namespace of a node cannot be entered: {error.strerror or error}") from error


def _see_names(view: _core.ScenarioView, *, beyond: bool) -> None:
    """Makes node names resolve in this process and its programs; with an uplink, also other names."""
    hosts, resolver = Path("/etc/hosts"), Path("/etc/resolv.conf")
    lines = [hosts.read_text(encoding="utf-8", errors="replace") if hosts.exists() else "127.0.0.1 localhost\n"]
    for index, node in enumerate(view["nodes"]):
        if re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?", node["name"]):
            lines.append(f"{_core.node_address(index)} {node['name']}\n")
    texts = {hosts: "".join(lines)}
    if beyond:
        texts[hosts] += f"{uplink.HOST} host\n"
        if resolver.exists():
            texts[resolver] = f"nameserver {uplink.RESOLVER}\n"
    try:
        with ExitStack() as files:
            mounts = []
            for instead_of, text in texts.items():
                file = files.enter_context(tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="multihop-"))
                file.write(text)
                file.flush()
                Path(file.name).chmod(0o644)
                mounts.append((Path(file.name), instead_of))
            _core.private_mounts(mounts)
    except OSError as error:
        raise UserError(f"files with the names of nodes cannot be mounted: {error.strerror or error}") from error
