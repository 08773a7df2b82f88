"""Kernel settings of nodes: which names and values, and why the kernel refuses one."""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping
from pathlib import Path

from multihop.base.errors import UserError

_ROOT = Path("/proc/sys")
_CONGESTION_CONTROL = "net.ipv4.tcp_congestion_control"
_ALLOWED = "net.ipv4.tcp_allowed_congestion_control"
_AVAILABLE = "net.ipv4.tcp_available_congestion_control"


def check(sysctls: Mapping[str, str | int]) -> None:
    """Checks names and types of settings.

    Raises:
        UserError: naming the setting, what was found and what would do.
    """
    if not isinstance(sysctls, Mapping):
        raise UserError(f"sysctls: found {sysctls!r}; needs a mapping of names to values")
    for name, value in sysctls.items():
        if not isinstance(name, str) or not re.fullmatch(r"net(\.[A-Za-z0-9_-]+)+", name):
            raise UserError(f"sysctl: found {name!r}; needs a name that begins with net., of a node's network")
        if not isinstance(value, str | int):
            raise UserError(f"sysctl: {name}: found {value!r}; needs text or a whole number")


def write(name: str, value: str | int) -> None:
    """Sets a setting in the network namespace of this thread.

    Raises:
        UserError: if the kernel refuses it, with the reason.
    """
    text = value if isinstance(value, str) else str(int(value))
    try:
        _path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"sysctl: {name} cannot be set to {text!r}: {_reason(name, text, error)}") from error


def _reason(name: str, value: str, error: OSError) -> str:
    """Reason of a refusal, and what would do."""
    if name == _CONGESTION_CONTROL and error.errno in {errno.EPERM, errno.ENOENT}:
        return _no_congestion_control(value, error)
    if not _path(name).exists():
        return "a node has no such setting; if it is one of the whole host, set it there"
    if error.errno in {errno.EACCES, errno.EPERM}:
        return "a node may only read this setting of the whole host; set it there"
    if error.errno == errno.EINVAL:
        return f"the kernel does not accept this value; the present one is {_read(name)!r}"
    return error.strerror or str(error)


def _no_congestion_control(value: str, error: OSError) -> str:
    allowed, available = _read(_ALLOWED), _read(_AVAILABLE)
    if error.errno == errno.EPERM:
        return (
            f"a node's default is one that the host allows, {_ALLOWED} = {allowed!r}; allow it there (as root: "
            f"sysctl -w {_ALLOWED}='{allowed} {value}'), or let programs choose it for each connection "
            f"(iperf3 -C {value}, socket option TCP_CONGESTION), which needs no setting"
        )
    return f"the kernel has {available!r}; load another on the host (modprobe tcp_{value})"


def _path(name: str) -> Path:
    return _ROOT.joinpath(*name.split("."))


def _read(name: str) -> str:
    """Returns the present value, or nothing where it cannot be read."""
    try:
        return " ".join(_path(name).read_text(encoding="utf-8").split())
    except OSError:
        return ""
