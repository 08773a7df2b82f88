"""Reservations of runs, so that several processes, on one machine or many, share the runs of a folder.

A reservation is a file named by the run's key, which holds the name of the process that makes the run. Each
process renews a file of its own. A process that is killed stops renewing, and its reservations expire: other
processes make its runs. Reservations only save work. If two processes make the same run, both store the same
content.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from contextlib import suppress
from pathlib import Path

#: Time between renewals, and time without renewal after which reservations expire [s].
RENEWED_EVERY_S, EXPIRE_AFTER_S = 5.0, 60.0


class Reservations:
    """Reservations in a folder, of this and of other processes.

    Attributes:
        expire_after_s: time without renewal after which the reservations of a process expire [s].
    """

    def __init__(self, folder: Path, *, expire_after_s: float = EXPIRE_AFTER_S) -> None:
        self._folder = folder
        self._processes = folder / "processes"
        self._name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._renewed = -RENEWED_EVERY_S
        self._taken: set[str] = set()
        self.expire_after_s = expire_after_s

    def renew(self) -> None:
        """Tells other processes that this one is alive, at most once in `RENEWED_EVERY_S`."""
        now = time.monotonic()
        if now - self._renewed < RENEWED_EVERY_S:
            return
        self._renewed = now
        # Without these files every process makes its runs, and some are made twice.
        with suppress(OSError):
            self._processes.mkdir(parents=True, exist_ok=True)
            (self._processes / self._name).write_bytes(b"")

    def take(self, key: str) -> bool:
        """Reserves a run. Returns whether this process is to make it."""
        self.renew()
        path = self._folder / key
        for _ in range(2):
            try:
                with path.open("x", encoding="utf-8") as file:
                    file.write(self._name)
            except FileExistsError:
                if not self._is_expired(path):
                    return False
                with suppress(OSError):
                    path.unlink()
            except OSError:
                return True
            else:
                self._taken.add(key)
                return True
        return False

    def release(self, key: str) -> None:
        """Removes a reservation of this process."""
        if key in self._taken:
            self._taken.discard(key)
            with suppress(OSError):
                (self._folder / key).unlink()

    def are_shared(self) -> bool:
        """Whether another process uses the folder."""
        return any(name != self._name and not self._is_gone(name) for name in self._names())

    def close(self) -> None:
        """Removes this process's files, and the folder if no other process uses it."""
        for key in list(self._taken):
            self.release(key)
        for name in self._names():
            if name == self._name or self._is_gone(name):
                with suppress(OSError):
                    (self._processes / name).unlink()
        with suppress(OSError):
            self._processes.rmdir()
            self._folder.rmdir()

    def _names(self) -> list[str]:
        try:
            return [path.name for path in self._processes.iterdir()]
        except OSError:
            return []

    def _is_expired(self, path: Path) -> bool:
        try:
            owner = path.read_text(encoding="utf-8")
            if owner:
                return owner != self._name and self._is_gone(owner)
            # Created, and not written yet; or its process was killed in between.
            return self._age(path) > self.expire_after_s
        except OSError:
            return True

    def _is_gone(self, name: str) -> bool:
        path = self._processes / name
        if "/" in name or not path.exists() or self._age(path) > self.expire_after_s:
            return True
        host, _, process = name.rpartition("-")[0].rpartition("-")
        return host == socket.gethostname() and process.isdecimal() and not _is_alive(int(process))

    def _age(self, path: Path) -> float:
        """Age of a file by the clock of the file system, which machines share."""
        try:
            return (self._processes / self._name).stat().st_mtime - path.stat().st_mtime
        except OSError:
            return 0.0


def _is_alive(process: int) -> bool:
    """Whether a process of this machine exists.

    Containers may share a host name and not see each other's processes; runs are then made twice.
    """
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
