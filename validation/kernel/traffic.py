"""Program at a node of an emulation that sends or receives over TCP, and prints what it measured as JSON.

Usage: `python traffic.py JSON`. Needs the standard library and Linux alone. All times are seconds of CLOCK_MONOTONIC,
which the nodes of an emulation share.

The first bytes of a connection are its number and its size, so that the receiver knows which it is.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

PORT = 5001
#: File with the instant at which the run begins.
BEGIN = "begin"
#: Real-time priority, below that of the emulation.
PRIORITY = 1
#: Interval of samples of TCP_INFO.
SAMPLE_S = 0.1
_HEAD = struct.Struct("!IQ")
_CHUNK = bytes(1 << 18)
_TCP_INFO_BYTES = 512
#: Place of `tcpi_rtt`, the smoothed round-trip time in microseconds (include/uapi/linux/tcp.h).
_RTT_AT = 68
#: Counters of a namespace: file, group and name.
COUNTERS = {
    "retransmissions": ("snmp", "Tcp", "RetransSegs"),
    "timeouts": ("netstat", "TcpExt", "TCPTimeouts"),
    "probes": ("netstat", "TcpExt", "TCPLossProbes"),
    "spurious_timeouts": ("netstat", "TcpExt", "TCPSpuriousRTOs"),
    "undone": ("netstat", "TcpExt", "TCPDSACKUndo"),
}


def counter(text: str, group: str, name: str) -> int:
    """A counter of /proc/net/snmp or /proc/net/netstat; 0 if the kernel does not have it."""
    rows = [line.split() for line in text.splitlines() if line.startswith(f"{group}: ")]
    for names, values in zip(rows[::2], rows[1::2], strict=True):
        if name in names:
            return int(values[names.index(name)])
    return 0


def counters() -> dict[str, int]:
    """All counters of this node."""
    texts = {file: Path("/proc/net", file).read_text(encoding="ascii") for file in ("snmp", "netstat")}
    return {key: counter(texts[file], group, name) for key, (file, group, name) in COUNTERS.items()}


def sleep_until(when: float) -> None:
    """Waits for an instant."""
    time.sleep(max(0.0, when - time.monotonic()))


class Receiver:
    """Receiver of all connections to this node."""

    def __init__(self, since: float, until: float) -> None:
        self._since, self._until = since, until
        #: Bytes received in the measured time, by connection.
        self.received: dict[int, int] = {}
        #: Instant of the last byte of a connection that is complete.
        self.completed: dict[int, float] = {}

    def run(self, expected: int) -> dict[str, Any]:
        """Receives until the time is over, or all connections of a known size are complete."""
        listener = socket.create_server(("", PORT), backlog=1024)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        while time.monotonic() < self._until and not (expected and len(self.completed) == expected):
            time.sleep(0.02)
        return {"received": self.received, "completed": self.completed}

    def _accept(self, listener: socket.socket) -> None:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=self._receive, args=(connection,), daemon=True).start()

    def _receive(self, connection: socket.socket) -> None:
        buffer = memoryview(bytearray(1 << 18))
        head = b""
        with suppress(OSError):
            while len(head) < _HEAD.size:
                part = connection.recv(_HEAD.size - len(head))
                if not part:
                    return
                head += part
            number, size = _HEAD.unpack(head)
            total, counted, count = 0, 0, len(head)
            while count:
                now = time.monotonic()
                total += count
                if self._since <= now < self._until:
                    counted += count
                    self.received[number] = counted
                if total == size:
                    self.completed[number] = now
                count = connection.recv_into(buffer)


class Sender:
    """Sender of connections from this node."""

    def __init__(self, begin: float, since: float, until: float, congestion: str) -> None:
        self._begin, self._since, self._until = begin, since, until
        self._congestion = congestion
        self._open: dict[int, socket.socket] = {}
        #: Instant at which a connection began.
        self.began: dict[int, float] = {}
        #: Smoothed round-trip times in seconds, by connection.
        self.rtt_s: dict[int, list[float]] = {}
        #: Reason why a connection failed.
        self.failed: dict[int, str] = {}

    def run(self, connections: list[dict[str, Any]], *, sampled: bool) -> dict[str, Any]:
        """Sends until the time is over, and returns what was measured."""
        for made in connections:
            threading.Thread(target=self._send, args=(made,), daemon=True).start()
        sleep_until(self._since)
        before = counters()
        sample_at = self._since
        while (sample_at := sample_at + SAMPLE_S) <= self._until:
            sleep_until(sample_at)
            if sampled:
                self._sample()
        sleep_until(self._until)
        after = counters()
        counted = {key: after[key] - before[key] for key in after}
        return {"began": self.began, "rtt_s": self.rtt_s, "failed": self.failed, **counted}

    def _sample(self) -> None:
        for number, connection in list(self._open.items()):
            with suppress(OSError):
                info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
                (rtt_us,) = struct.unpack_from("=I", info, _RTT_AT)
                self.rtt_s.setdefault(number, []).append(rtt_us / 1e6)

    def _send(self, made: dict[str, Any]) -> None:
        number, size = made["number"], made["size"]
        sleep_until(self._begin + made["start_s"])
        connection = socket.socket()
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, self._congestion.encode())
            self.began[number] = time.monotonic()
            connection.connect((made["to"], PORT))
            self._open[number] = connection
            head = _HEAD.pack(number, size or 0)
            if size is None:
                connection.sendall(head)
                while True:
                    connection.sendall(_CHUNK)
            # In one call, so that the head is no segment of its own.
            connection.sendall(head + bytes(size - len(head)))
            connection.shutdown(socket.SHUT_WR)
        except OSError as error:
            self.failed[number] = error.strerror or str(error)


def rendezvous(folder: Path) -> float:
    """Says that this program is ready, and returns when the run begins."""
    (folder / f"{os.getpid()}").touch()
    while not (folder / BEGIN).exists():
        time.sleep(0.01)
    return float((folder / BEGIN).read_text(encoding="ascii"))


def main(text: str) -> None:
    """Does what the command line asks for."""
    asked = json.loads(text)
    # Ahead of other programs of a busy machine, as the emulation is; behind it.
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    begin = rendezvous(Path(asked["folder"]))
    since, until = begin + asked["since_s"], begin + asked["until_s"]
    if asked["role"] == "receive":
        found = Receiver(since, until).run(asked["expected"])
    else:
        found = Sender(begin, since, until, asked["congestion"]).run(asked["connections"], sampled=asked["sampled"])
    print(json.dumps(found), flush=True)
    # Threads that wait for the network do not end by themselves.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
