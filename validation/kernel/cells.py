"""Cells of the comparison: read from `cells.toml`, and written as scenarios."""

from __future__ import annotations

import itertools
import math
import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from multihop.base.errors import UserError

Scenario = dict[str, Any]

FILE = Path(__file__).parent / "cells.toml"

#: Seconds before measurement begins, of bulk flows, and seconds measured.
WARMUP_S, MEASURED_S = 3.0, 15.0
#: Seconds at the end of a run in which no transfer begins.
LAST_START_S = 3.0
#: Most transfers of a run: their times are then resolved to 10 ms.
MOST_TRANSFERS = 600
#: Latest start of a bulk flow.
START_JITTER_S = 0.5

#: Schemes by congestion control of the kernel.
SCHEMES = {"reno": "tcp-newreno", "cubic": "tcp-cubic", "bbr": "tcp-bbr"}
#: PHY, medium, and distance of neighbours in a chain.
PHYS: dict[str, tuple[dict[str, str], str, int]] = {
    "11 Mb/s": ({"standard": "802.11b", "data_rate": "11 Mb/s", "control_rate": "1 Mb/s"}, "ranges", 200),
    "24 Mb/s": ({"standard": "802.11g", "data_rate": "24 Mb/s", "control_rate": "6 Mb/s"}, "ranges", 200),
    "54 Mb/s": ({"standard": "802.11g", "data_rate": "54 Mb/s", "control_rate": "6 Mb/s"}, "ranges", 200),
    "802.11n": ({"standard": "802.11n", "data_rate": "MCS 7"}, "sinr", 30),
}
QUEUES: dict[str, dict[str, Any]] = {
    "drop-tail": {"queue": 100},
    "fq-codel": {"queue": 10240, "discipline": "fq-codel"},
}
CHAINS = {f"chain-{hops}": hops for hops in range(1, 5)}
NETWORKS = (*CHAINS, "wlan-down", "wlan-up", "two-aps")
#: Rate of the server's wires and packets in the queue at each end, so that they are no bottleneck.
WIRE = {"rate": "1 Gb/s", "queue": 10000}

_CHOICES = {"transport": tuple(SCHEMES), "network": NETWORKS, "phy": tuple(PHYS), "queue": tuple(QUEUES)}
_RANGES = {
    "wire_loss": (0.0, 0.5),
    "air_loss": (0.0, 0.5),
    "extra_rtt_ms": (0, 2000),
    "flows": (1, 32),
    "transfer_kb": (0, 100_000),
    "interval_ms": (10, 10_000),
}
_WHOLE = ("extra_rtt_ms", "flows", "transfer_kb", "interval_ms")


@dataclass(frozen=True)
class Cell:
    """One network, one transport and one kind of traffic; the keys of `cells.toml`."""

    transport: str
    network: str
    phy: str
    queue: str
    wire_loss: float
    air_loss: float
    extra_rtt_ms: int
    flows: int
    transfer_kb: int
    interval_ms: int

    @property
    def label(self) -> str:
        """Description of the cell, without losses, delays and flows that it does not have."""
        parts = [self.transport, self.network, self.phy, self.queue]
        parts += [f"wire loss {self.wire_loss:g}"] * bool(self.wire_loss)
        parts += [f"air loss {self.air_loss:g}"] * bool(self.air_loss)
        parts += [f"+{self.extra_rtt_ms} ms"] * bool(self.extra_rtt_ms)
        parts += [f"{self.flows} flows"] * (self.flows > 1)
        parts += [f"{self.transfer_kb} kB each {self.interval_ms} ms"] * self.is_short
        return ", ".join(parts)

    @property
    def is_short(self) -> bool:
        """Whether the traffic is transfers, each over a fresh connection."""
        return self.transfer_kb > 0

    @property
    def ecn(self) -> bool:
        """Whether TCP negotiates ECN."""
        return self.queue == "fq-codel"

    @property
    def warmup_s(self) -> float:
        """Seconds that are not measured; transfers count from the start."""
        return 0.0 if self.is_short else WARMUP_S

    @property
    def duration_s(self) -> float:
        """Seconds of a run."""
        return self.warmup_s + MEASURED_S

    def ends(self) -> list[tuple[str, str]]:
        """Source and destination of each flow."""
        if self.network in CHAINS:
            source = "server" if self._has_server else "n0"
            return [(source, f"n{CHAINS[self.network]}")] * self.flows
        pairs = [("server", f"client{number}") for number in range(self.flows)]
        return [(client, server) for server, client in pairs] if self.network == "wlan-up" else pairs

    def connections(self, seed: int) -> list[Connection]:
        """All connections of a run, by the time at which they begin; the same for the kernel and for ours."""
        rng = random.Random(f"{seed}")
        made = []
        for source, destination in self.ends():
            if not self.is_short:
                made.append(Connection(source, destination, rng.uniform(0.0, START_JITTER_S), None))
                continue
            interval = self.interval_ms / 1e3
            for number in range(round((self.duration_s - LAST_START_S) / interval)):
                start = (number + rng.random()) * interval
                made.append(Connection(source, destination, start, self.transfer_kb * 1000))
        return sorted(made, key=lambda connection: connection.start_s)

    def network_scenario(self) -> Scenario:
        """The network without traffic, for `multihop.emulate`."""
        phy, medium, _ = PHYS[self.phy]
        return {
            "name": "beside-the-kernel",
            "phy": phy,
            "medium": {"model": medium, "packet_error_rate": self.air_loss},
            "mac": {"rts_threshold": "off", **QUEUES[self.queue]},
            "topology": self._topology(),
        }

    def scenario(self, seed: int) -> Scenario:
        """The network with our TCP, for `multihop.run`."""
        apps = [
            {"kind": "bulk"} if made.size is None else {"kind": "bulk", "size": f"{made.size} B"}
            for made in self.connections(seed)
        ]
        return {
            **self.network_scenario(),
            "duration": f"{self.duration_s} s",
            "warmup": f"{self.warmup_s} s",
            "schemes": {"tested": {"base": SCHEMES[self.transport], "flavour": "linux", "ecn": self.ecn}},
            "flows": [
                {
                    "name": f"f{number}",
                    "from": made.source,
                    "to": made.destination,
                    "scheme": "tested",
                    "app": app,
                    "start": f"{made.start_s:.6f} s",
                }
                for number, (made, app) in enumerate(zip(self.connections(seed), apps, strict=True))
            ],
        }

    @property
    def _has_server(self) -> bool:
        return self.network not in CHAINS or self.wire_loss > 0 or self.extra_rtt_ms > 0

    def _topology(self) -> Scenario:
        nodes: list[Scenario] = []
        if self.network in CHAINS:
            spacing = PHYS[self.phy][2]
            names = [f"n{number}" for number in range(CHAINS[self.network] + 1)]
            nodes += [{"name": name, "position": [f"{at * spacing} m", "0 m"]} for at, name in enumerate(names)]
            wired = ["n0"]
        else:
            wired = ["ap0", "ap1"] if self.network == "two-aps" else ["ap0"]
            # All within range of each other.
            nodes += [{"name": name, "position": [f"{20 * at} m", "0 m"]} for at, name in enumerate(wired)]
            for number in range(self.flows):
                at = number % len(wired)
                place = [f"{20 * at} m", f"{5 + number} m"]
                nodes.append({"name": f"client{number}", "position": place, "base": wired[at]})
        if not self._has_server:
            return {"nodes": nodes}
        nodes.append({"name": "server"})
        wire = {**WIRE, "delay": f"{self.extra_rtt_ms / 2} ms", "loss": self.wire_loss}
        return {"nodes": nodes, "wires": [{"between": ["server", name], **wire} for name in wired]}


@dataclass(frozen=True)
class Connection:
    """A TCP connection of a run."""

    source: str
    destination: str
    #: Seconds from the start of the run.
    start_s: float
    #: Bytes to transfer; `None` for as many as the run has time for.
    size: int | None


@dataclass(frozen=True)
class Listed:
    """A cell, and whether `--quick` has it."""

    cell: Cell
    quick: bool


def read(path: Path = FILE) -> list[Listed]:
    """Cells of a file, in its order and without repetitions.

    Raises:
        UserError: naming the entry and the key, the value found and what would do.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not TOML: {error}; correct this line (see toml.io)") from error
    unknown = document.keys() - {"defaults", "cells"}
    entries, defaults = document.get("cells"), document.get("defaults", {})
    if (
        unknown
        or not isinstance(entries, list)
        or not entries
        or not all(isinstance(entry, dict) for entry in (*entries, defaults))
    ):
        raise UserError(f"{path}: needs [[cells]] tables and at most one [defaults] table, and nothing else")
    found: dict[Cell, bool] = {}
    for number, entry in enumerate(entries):
        for listed in _cells(f"{path}: cells[{number}]", defaults, entry):
            found[listed.cell] = found.get(listed.cell, False) or listed.quick
    return [Listed(cell, quick) for cell, quick in found.items()]


def _cells(place: str, defaults: dict[str, Any], entry: dict[str, Any]) -> Iterator[Listed]:
    keys = [field.name for field in fields(Cell)]
    for key in (*defaults, *entry):
        if key not in {*keys, "quick"}:
            raise UserError(f"{place}.{key}: is unknown; needs one of {', '.join([*keys, 'quick'])}")
    values = {**defaults, **entry}
    quick = values.pop("quick", False)
    if not isinstance(quick, bool):
        raise UserError(f"{place}.quick: found {quick!r}; needs true or false")
    for key in keys:
        if key not in values:
            raise UserError(f"{place}.{key}: is missing, here and in [defaults]")
    lists = [values[key] if isinstance(values[key], list) else [values[key]] for key in keys]
    for key, choices in zip(keys, lists, strict=True):
        if not choices:
            raise UserError(f"{place}.{key}: found an empty list; needs at least one value")
        for value in choices:
            _check(f"{place}.{key}", key, value)
    for combination in itertools.product(*lists):
        cell = Cell(*combination)
        _check_whole(place, cell)
        yield Listed(cell, quick)


def _check(place: str, key: str, value: object) -> None:
    if key in _CHOICES:
        if value not in _CHOICES[key]:
            raise UserError(f"{place}: found {value!r}; needs one of {', '.join(_CHOICES[key])}")
        return
    least, most = _RANGES[key]
    kind: type | tuple[type, ...] = int if key in _WHOLE else (int, float)
    if isinstance(value, bool) or not isinstance(value, kind) or not least <= value <= most:  # type: ignore[operator]
        what = "a whole number" if key in _WHOLE else "a number"
        raise UserError(f"{place}: found {value!r}; needs {what} from {least} to {most}")


def _check_whole(place: str, cell: Cell) -> None:
    """Refuses transfers that are too seldom for a run to have one, or too many for their times to be resolved."""
    if not cell.is_short:
        return
    begin_s = cell.duration_s - LAST_START_S
    count = cell.flows * round(begin_s * 1e3 / cell.interval_ms)
    if not 0 < count <= MOST_TRANSFERS:
        least = math.ceil(cell.flows * begin_s * 1e3 / MOST_TRANSFERS)
        raise UserError(
            f"{place}.interval_ms: found {cell.interval_ms}, which makes {count} transfers; needs {least} to "
            f"{round(begin_s * 1e3)} for 1 to {MOST_TRANSFERS} transfers"
        )
