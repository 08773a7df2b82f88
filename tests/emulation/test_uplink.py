"""A gateway to the host. Skipped without slirp4netns, and where the kernel forbids emulation, or has no TUN devices."""

import json
import os
import shutil
import socket
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

import multihop
from multihop.base.errors import UserError
from multihop.emulation import uplink

CHAIN = """
name = "chain"
duration = "60 s"
[phy]
standard = "802.11g"
data_rate = "54 Mb/s"
control_rate = "6 Mb/s"
[topology]
generator = "chain"
hops = 2
spacing = "200 m"
"""
FETCH = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())"


@pytest.fixture
def served(tmp_path):
    """The port of a server on the host's loopback, and what it serves."""
    (tmp_path / "page").write_text("from the host " * 500)
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1], "from the host " * 500
        server.shutdown()


@pytest.mark.skipif(shutil.which(uplink.PROGRAM) is None, reason=f"{uplink.PROGRAM} is not installed")
def test_nodes_reach_the_host_over_the_air_and_the_gateway(served, tmp_path, monkeypatch):
    port, text = served
    ends_late(tmp_path / "bin", monkeypatch)
    try:
        with multihop.emulate(CHAIN, uplink="n0", max_lag="10 s") as emulation:
            before = helpers()
            for node in ("n0", "n2"):
                words = [sys.executable, "-c", FETCH, f"http://host:{port}/page"]
                done = emulation.node(node).run(words, timeout=30)
                assert (done.stdout.strip(), done.stderr) == (text.strip(), ""), node
    except UserError as error:
        if "namespaces cannot be made" not in str(error) and "/dev/net/tun" not in str(error):
            raise
        pytest.skip(f"emulation is forbidden here: {error}")
    # The gateway's own page came without the air, that of the other over two hops.
    carried = emulation.outcome.result.flows.set_index("name")["delivered_bytes"]
    assert len(text) < carried["n0->n2"] < 2 * len(text)
    assert 0 < carried["n2->n0"] < 1_000
    assert before
    assert not before & helpers(), "nothing is left"


@pytest.mark.skipif(shutil.which(uplink.PROGRAM) is None, reason=f"{uplink.PROGRAM} is not installed")
def test_the_command_line_has_a_result_and_leaves_no_helper(served, tmp_path):
    port, _ = served
    (tmp_path / "chain.toml").write_text(CHAIN)
    before = helpers()
    fetch = [sys.executable, "-c", FETCH, f"http://host:{port}/page"]
    words = ["emulate", tmp_path / "chain.toml", "--uplink", "n1", "--max-lag", "off", "--json", "--", *fetch]
    done = subprocess.run([sys.executable, "-m", "multihop", *words], capture_output=True, text=True, check=False)
    if "namespaces cannot be made" in done.stderr or "/dev/net/tun" in done.stderr:
        pytest.skip(f"emulation is forbidden here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    assert "from the host" in done.stderr
    assert json.loads(done.stdout)["live"]["delivered_bytes_by_pair"]["n1->n0"] > 7_000
    assert not helpers() - before, "nothing is left"


def test_an_uplink_may_be_closed_twice():
    ours, theirs = socket.socketpair()
    ended, alive = os.pipe()
    os.close(alive)
    made = uplink.Uplink(ours, ended)
    made.close()
    # Whoever opens a file now has the number of the descriptor that was closed.
    again = os.open("/dev/null", os.O_RDONLY)
    made.close()
    os.fstat(again)
    os.close(again)
    theirs.close()


def ends_late(folder, monkeypatch):
    """The program ends half a second after it is asked to, as on a busy machine."""
    folder.mkdir()
    late = folder / uplink.PROGRAM
    late.write_text(f'#!/bin/sh\n{shutil.which(uplink.PROGRAM)} "$@"\nsleep .5\n')
    late.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def helpers():
    """The processes of the program."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "comm").read_text().strip()
            state = (folder / "stat").read_text().rpartition(") ")[2][0]
        except OSError:
            continue
        if name == uplink.PROGRAM and state != "Z":
            found.add(folder.name)
    return found


def test_without_the_program_it_is_refused(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(UserError, match=r"uplink: needs slirp4netns, which .*; install the package slirp4netns"):
        multihop.emulate(CHAIN, uplink="n0")


def test_a_gateway_is_a_node():
    with pytest.raises(UserError, match=r"node: found 'n9'; .*known: n0, n1, n2"):
        multihop.emulate(CHAIN, uplink="n9")
