"""The route from a node, the gateway, to the networks of the host, by slirp4netns.

That is a TCP/IP stack in an ordinary process. It needs no privilege, and leaves nothing behind: connections
of nodes become connections of that process. It has to be outside of the namespaces that an emulation makes,
and learns of the gateway's when this is there.
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

#: The environment has the number of the socket for the process that waits outside.
MARK = "MULTIHOP_UPLINK"
PROGRAM = "slirp4netns"
#: What the gateway calls its device.
DEVICE = "up0"
#: Addresses that no network of a host has (RFC 2544); slirp4netns chooses those of the host and the resolver
#: in them.
NETWORK = "198.18.0.0/24"
HOST = "198.18.0.2"
RESOLVER = "198.18.0.3"

_READY = b"1"
_PATIENCE_S = 10.0


def require() -> None:
    """Is the program there?

    Raises:
        UserError: if not.
    """
    if shutil.which(PROGRAM) is None:
        raise UserError(
            f"uplink: needs {PROGRAM}, which carries packets between the gateway and the host without privilege; "
            f"install the package {PROGRAM}"
        )


def prepare() -> int:
    """Starts the helper outside, before this process isolates itself; returns the descriptor for `attach`."""
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        # Ctrl-C is for the emulation, with whose end this one ends.
        os.setsid()
        with suppress(OSError):
            _serve(theirs)
        os._exit(0)
    theirs.close()
    ours.set_inheritable(True)
    return ours.detach()


class Uplink:
    """The gateway's device and its default route, which last until `close`."""

    def __init__(self, asked: socket.socket, ended: int) -> None:
        self._asked, self._ended = asked, ended

    def close(self) -> None:
        """Ends the program, and returns when it has ended. Once is enough."""
        if self._asked.fileno() < 0:
            return
        # Not only closed: the process outside of the namespaces holds it as well.
        with suppress(OSError):
            self._asked.shutdown(socket.SHUT_RDWR)
        self._asked.close()
        # Its end is the end of file here: no other process has the other end of this pipe.
        select.select([self._ended], [], [], _PATIENCE_S)
        os.close(self._ended)


def attach(emulator: _core.Emulator, gateway: int) -> Uplink:
    """Gives the gateway its device and its default route.

    Raises:
        UserError: if that fails.
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
    # The third one is closed with this process.
    net, user, _alive = found
    # It closes the one when it has said that it is ready, and ends when the other end of the other is closed.
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
