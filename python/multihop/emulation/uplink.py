"""Route from a node, the gateway, to the host's networks, by slirp4netns.

slirp4netns is a TCP/IP stack in an ordinary process. It needs no privileges and leaves nothing behind:
connections of nodes become connections of that process. The process runs outside of the emulation's
namespaces, and receives the gateway's namespace once it exists.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

from multihop import _core
from multihop.base.errors import UserError

#: Environment variable with the number of the socket to the process outside.
MARK = "MULTIHOP_UPLINK"
PROGRAM = "slirp4netns"
#: Name of the gateway's device.
DEVICE = "up0"
#: Addresses that no network of a host has (RFC 2544), from which slirp4netns takes those of host and
#: resolver.
NETWORK = "198.18.0.0/24"
HOST = "198.18.0.2"
RESOLVER = "198.18.0.3"

_READY = b"1"
_PATIENCE_S = 10.0


def require() -> None:
    """Checks that slirp4netns is installed.

    Raises:
        UserError: if it is missing.
    """
    if shutil.which(PROGRAM) is None:
        raise UserError(
            f"uplink: needs {PROGRAM}, which carries packets between the gateway and the host without privilege; "
            f"install the package {PROGRAM}"
        )


def prepare() -> int:
    """Starts the helper outside, before this process isolates itself. Returns the descriptor for `attach`."""
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        # Ctrl-C is for the emulation, with which this process ends.
        os.setsid()
        with suppress(OSError):
            _serve(theirs)
        os._exit(0)
    theirs.close()
    ours.set_inheritable(True)
    return ours.detach()


class Uplink:
    """Device and default route of the gateway, until `close`."""

    def __init__(self, asked: socket.socket, ended: int) -> None:
        self._asked, self._ended = asked, ended

    def close(self) -> None:
        """Ends the program, and waits until it has ended. Further calls have no effect."""
        if self._asked.fileno() < 0:
            return
        # Shut down and not only closed, since the process outside holds the socket as well.
        with suppress(OSError):
            self._asked.shutdown(socket.SHUT_RDWR)
        self._asked.close()
        # No other process has the other end of this pipe, so its end of file is the program's end.
        select.select([self._ended], [], [], _PATIENCE_S)
        os.close(self._ended)


def attach(emulator: _core.Emulator, gateway: int) -> Uplink:
    """Adds the gateway's device and its default route.

    Raises:
        UserError: if slirp4netns fails.
    """
    asked = socket.socket(fileno=int(os.environ.pop(MARK)))
    ended, alive = os.pipe()
    emulator.enter(gateway)
    net = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    emulator.enter()
    user = os.open("/proc/self/ns/user", os.O_RDONLY)
    asked.settimeout(_PATIENCE_S)
    try:
        socket.send_fds(asked, [b"."], [net, user, alive])
        answer = asked.recv(4096)
    except OSError as error:
        raise UserError(f"uplink: {PROGRAM} does not answer: {error}") from error
    finally:
        for sent in (net, user, alive):
            os.close(sent)
    if answer != _READY:
        said = answer.decode(errors="replace").strip().splitlines() or ["it gives no reason"]
        raise UserError(f"uplink: {PROGRAM} has failed: {said[-1]}")
    return Uplink(asked, ended)


def _serve(asked: socket.socket) -> None:
    _, found, *_ = socket.recv_fds(asked, 1, 3)
    if len(found) < 3:
        return
    # The third descriptor is closed with this process.
    net, user, _alive = found
    # slirp4netns closes the first when it is ready, and ends when the other end of the second is closed.
    ready, end = os.dup(asked.fileno()), os.dup(asked.fileno())
    words = [PROGRAM, "--configure", "--mtu=1500", f"--cidr={NETWORK}", f"--ready-fd={ready}", f"--exit-fd={end}"]
    if os.fstat(user).st_ino != Path("/proc/self/ns/user").stat().st_ino:
        words.append(f"--userns-path=/proc/self/fd/{user}")
    words += ["--netns-type=path", f"/proc/self/fd/{net}", DEVICE]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    try:
        done = subprocess.run(words, pass_fds=[ready, end, net, user], check=False, **pipes)  # type: ignore[call-overload]
    except OSError as error:
        asked.send(f"{error.strerror}".encode())
        return
    asked.send(done.stderr[-2000:] or b"\n")
