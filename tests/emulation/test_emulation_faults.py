"""Emulations whose devices, disks and programs fail, and that are ended at any instant."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

from multihop.base import files
from test_emulate import children, emulate, gone, multihop
from test_emulate import scenario as scenario

#: Sends 200 packets of 1000 bytes to n2, 5 ms apart.
SEND = """
import socket, time
send = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(200):
    send.sendto(bytes(1000), ("n2", 7000))
    time.sleep(0.005)
"""


def test_packets_that_the_kernel_drops_before_they_are_read_make_the_result_invalid(scenario):
    send = "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); print('begins', flush=True)"
    send += "; time.sleep(0.7); [s.sendto(bytes(10), ('n2', 7000)) for _ in range(3000)]; time.sleep(2)"
    words = ["--json", "--max-lag", "off", "--", sys.executable, "-c", send]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = multihop("emulate", scenario, *words, start=subprocess.Popen, **streams)
    assert process.stderr.readline() == "begins\n"
    # The emulation is a child, which isolated itself, and reads nothing meanwhile; the program goes on.
    (child,) = children(process.pid)
    os.kill(child, signal.SIGSTOP)
    time.sleep(1.5)
    os.kill(child, signal.SIGCONT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 3, err
    live = json.loads(out)["live"]
    assert live["overflowed"] > 2000, "the queue of the device holds 500"
    assert live["read"] + live["overflowed"] >= 3000
    assert not live["valid"]
    assert re.match(rf"the kernel dropped {live['overflowed']} packets before", live["why_invalid"][0])


@pytest.mark.skipif(shutil.which("ip") is None, reason="there is no ip here, which removes devices")
@pytest.mark.parametrize("mode", ["ip", "ethernet"])
def test_a_device_that_a_program_removes_is_named_and_the_others_go_on(scenario, mode):
    words = ["--mode", mode, "--at", "n1:ip link del air0", "--json", "--", "sleep", "1"]
    live = json.loads(emulate(scenario, *words, code=3).stdout)["live"]
    assert live["removed"] == ["n1"]
    removed = "n1: a program removed its device air0, so that the node was cut off from then on"
    assert live["why_invalid"] == [removed]
    assert live["virtual_s"] > 0.9, "it went on"
    assert live["cpu_s"] < 0.5 * live["real_s"], "and what is gone is not asked again and again"


@pytest.mark.skipif(shutil.which("ip") is None, reason="there is no ip here, which sets the MTU")
def test_packets_longer_than_an_msdu_do_not_cross_the_air(scenario):
    send = "import os, socket; os.system('ip link set air0 mtu 60000'); "
    send += "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
    send += "[s.sendto(bytes(size - 28), ('n1', 7000)) for size in (2296, 2297, 50000)]; "
    send += "os.system('ip link set air0 mtu 1500'); s.sendto(bytes(50000), ('n1', 7000)); "
    send += "import time; time.sleep(0.5)"
    live = json.loads(emulate(scenario, "--json", "--", sys.executable, "-c", send).stdout)["live"]
    assert live["refused"]["too_long"] == 2
    assert live["delivered_bytes_by_pair"]["n0->n1"] >= 2296 - 28 + 50_000, "the kernel cuts what is longer than 1500"


@pytest.mark.parametrize("option", ["--record", "--pcap", "--status"])
def test_a_full_disk_is_named_and_what_ran_is_kept(scenario, option):
    words = ["--json", option, "/dev/full", "--", sys.executable, "-c", SEND + "time.sleep(0.3)"]
    done = emulate(scenario, *words, code=1)
    assert done.stderr == "multihop: /dev/full: cannot be written: No space left on device; the file ends there\n"
    found = json.loads(done.stdout)
    assert found["live"]["read"] >= 200
    assert found["runs"][0]["flows"][0]["delivered_bytes"] > 100_000


def test_a_file_that_cannot_be_made_is_named(scenario, tmp_path):
    done = emulate(scenario, "--record", tmp_path / "x", "--pcap", tmp_path / "x", "--", "true", code=2)
    assert done.stderr == (
        f"multihop: {tmp_path}/x: found as the capture and as the journal; needs a separate file for each\n"
    )


def test_nodes_have_host_names_of_their_own(scenario):
    before = socket.gethostname()
    show = f"{sys.executable} -c 'import socket; print(socket.gethostname(), flush=True)'"
    rename = f"{sys.executable} -c 'import socket; socket.sethostname(\"renamed\")'"
    done = emulate(scenario, "-q", "--", "sh", "-c", f"{show}; {rename}; {show}")
    assert done.stdout.startswith("n0\nrenamed\n")
    assert socket.gethostname() == before


def test_a_program_that_a_signal_ends_is_said(scenario):
    done = emulate(scenario, "--", "sh", "-c", "kill -SEGV $$", code=1)
    assert "\"sh -c 'kill -SEGV $$'\" was ended by signal 11 (Segmentation fault)" in done.stderr


@pytest.mark.parametrize("delay", [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0, 1.3])
def test_a_signal_at_any_instant_leaves_nothing_and_is_said(scenario, tmp_path, delay):
    """Start-up, middle, and tear-down, which is half a second long as a program ignores that it is to end."""
    word = f"multihop-test-{os.getpid()}-{tmp_path.name}"
    program = f"{sys.executable} -c 'import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)' {word}"
    number = signal.SIGTERM if int(delay * 20) % 2 else signal.SIGINT
    words = ["--at", f"n1:{program}", "--max-lag", "off", "--duration", "900 ms", "--record", tmp_path / "run.journal"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = multihop("emulate", scenario, *words, start=subprocess.Popen, **streams)
    time.sleep(delay)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert gone(word)
    if process.returncode == -number:
        pytest.skip("it came before the first line of the command")
    assert "Traceback" not in err
    said = "interrupted" if number == signal.SIGINT else "terminated"
    if process.returncode == 0:
        assert "packets read: " in out, "it was over"
    else:
        assert process.returncode == 128 + number, err
        kept = err.splitlines()[-1]
        assert kept in {f"multihop: {said}; kept: {tmp_path}/run.journal", f"multihop: {said}; nothing was written"}
        has_result = "kept" in kept
        assert ("packets read: " in out) == has_result
        assert ("\nend " in (tmp_path / "run.journal").read_text()) if has_result else True


@pytest.mark.parametrize("delay", [0.1, 0.3, 0.5, 0.8])
def test_a_kill_at_any_instant_leaves_nothing(scenario, tmp_path, delay):
    word = f"multihop-test-{os.getpid()}-{tmp_path.name}"
    program = f"{sys.executable} -c 'import time; time.sleep(60)' {word}"
    process = multihop("emulate", scenario, "--at", f"n1:{program}", start=subprocess.Popen, stdout=subprocess.DEVNULL)
    time.sleep(delay)
    process.kill()
    process.communicate(timeout=30)
    assert gone(word)


def test_a_signal_while_the_command_isolates_itself_is_not_lost(scenario):
    """The kernel ignores signals for the first process of a namespace until it has handlers, unless they are held."""
    process = multihop("emulate", scenario, "-q", "--", "sleep", "15", start=subprocess.Popen, stderr=subprocess.PIPE)
    until = time.monotonic() + 30
    while not children(process.pid):
        assert time.monotonic() < until
        time.sleep(0.001)
    process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    _, err = process.communicate(timeout=30)
    assert (process.returncode, "terminated" in err) == (143, True), err
    assert time.monotonic() - began < 14


def test_files_in_the_making_have_the_number_of_the_process_outside(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    other = files.part_of(path)
    other.touch()
    monkeypatch.setattr(files, "_number_outside", None)
    files.in_namespace(4_000_001)
    assert files.part_of(path).name.endswith(".4000001.part")
    gone_outside = tmp_path / files.part_of(path).name.replace("4000001", "4000002")
    gone_outside.touch()
    files.clear_left_overs(tmp_path, ".*.part")
    assert gone_outside.exists(), "which processes there are outside is not seen in a namespace"
    monkeypatch.setattr(files, "_number_outside", None)
    files.clear_left_overs(tmp_path, ".*.part")
    assert (gone_outside.exists(), other.exists()) == (False, True)


def test_what_a_killed_emulation_left_half_written_is_removed_by_the_next(scenario, tmp_path):
    left = files.part_of(tmp_path / "report.html")
    left = left.with_name(left.name.replace(f".{os.getpid()}.", ".4000003."))
    left.touch()
    emulate(scenario, "--out", tmp_path, "--duration", "100 ms", "--", "true")
    assert not left.exists()
    assert not list(tmp_path.glob(".*.part"))
