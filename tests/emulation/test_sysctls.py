"""Why the kernel refuses a setting of a node. Files stand for /proc/sys, so that no emulation is needed."""

import errno
import os

import pytest

from multihop.base.errors import UserError
from multihop.emulation import sysctls

CONTROL = "net.ipv4.tcp_congestion_control"


@pytest.fixture
def refuse(tmp_path, monkeypatch):
    """Returns the message about a setting that is refused with an error number."""
    folder = tmp_path / "net" / "ipv4"
    folder.mkdir(parents=True)
    for name, text in {
        "tcp_allowed_congestion_control": "reno bbr\n",
        "tcp_available_congestion_control": "reno bbr cubic\n",
        "tcp_congestion_control": "bbr\n",
        "tcp_rmem": "4096\t131072\t6291456\n",
    }.items():
        (folder / name).write_text(text)
    monkeypatch.setattr(sysctls, "_ROOT", tmp_path)

    def message(name, value, number):
        def fail(*_args, **_keys):
            raise OSError(number, os.strerror(number))

        with monkeypatch.context() as patched:
            patched.setattr("pathlib.Path.write_text", fail)
            with pytest.raises(UserError) as raised:
                sysctls.write(name, value)
        return str(raised.value)

    return message


def test_a_congestion_control_that_the_host_does_not_allow(refuse):
    said = refuse(CONTROL, "cubic", errno.EPERM)
    assert said.startswith(f"sysctl: {CONTROL} cannot be set to 'cubic': ")
    assert "sysctl -w net.ipv4.tcp_allowed_congestion_control='reno bbr cubic'" in said
    assert "iperf3 -C cubic" in said


def test_a_congestion_control_that_the_kernel_does_not_have(refuse):
    said = refuse(CONTROL, "vegas", errno.ENOENT)
    assert "the kernel has 'reno bbr cubic'" in said
    assert "modprobe tcp_vegas" in said


@pytest.mark.parametrize(
    ("name", "value", "number", "reason"),
    [
        ("net.core.rmem_max", 1, errno.ENOENT, "a node has no such setting"),
        ("net.ipv4.tcp_allowed_congestion_control", "cubic", errno.EACCES, "a node may only read this setting"),
        ("net.ipv4.tcp_rmem", "x", errno.EINVAL, "the present one is '4096 131072 6291456'"),
        ("net.ipv4.tcp_rmem", True, errno.EIO, "cannot be set to '1': Input/output error"),
    ],
)
def test_other_refusals_have_their_reason(refuse, name, value, number, reason):
    assert reason in refuse(name, value, number)


def test_an_accepted_setting_is_written(tmp_path, monkeypatch):
    (tmp_path / "net" / "ipv4").mkdir(parents=True)
    monkeypatch.setattr(sysctls, "_ROOT", tmp_path)
    sysctls.write("net.ipv4.tcp_ecn", 1)
    assert (tmp_path / "net" / "ipv4" / "tcp_ecn").read_text() == "1"
