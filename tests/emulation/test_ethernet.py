"""Programs that route, over frames of Ethernet. Skipped where the kernel forbids it, or has no TUN devices."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from multihop.base.errors import UserError
from multihop.emulation.session import Settings
from multihop.simulation.scenario import load

#: Two ways from n0 to n3: over n1, and, a hop longer, over n2 and n4.
MESH = """
name = "two-ways"
duration = "55 s"
[phy]
standard = "802.11g"
data_rate = "54 Mb/s"
control_rate = "6 Mb/s"
[topology]
nodes = [
  { name = "n0", position = ["0 m", "0 m"] },
  { name = "n1", position = ["170 m", "170 m"] },
  { name = "n2", position = ["60 m", "-200 m"] },
  { name = "n3", position = ["340 m", "0 m"] },
  { name = "n4", position = ["280 m", "-200 m"] },
]
"""


def multihop(*words):
    command = [sys.executable, "-m", "multihop", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def mesh(tmp_path_factory):
    """A file, where emulation works."""
    file = tmp_path_factory.mktemp("ethernet") / "mesh.toml"
    file.write_text(MESH)
    tried = multihop("emulate", file, "--mode", "ethernet", "-q", "--", "true")
    if "namespaces cannot be made" in tried.stderr or "/dev/net/tun" in tried.stderr:
        pytest.skip(f"emulation is forbidden here: {tried.stderr.strip()}")
    assert tried.returncode in {0, 3}, tried.stderr
    return file


def emulate(file, *words):
    return multihop("emulate", file, "--mode", "ethernet", "--max-lag", "off", *words)


def pinged(text):
    """Numbers of the packets that came back."""
    return [int(number) for number in re.findall(r"icmp_seq=(\d+) ttl", text)]


@pytest.mark.long
def test_neighbours_resolve_addresses_and_nobody_relays(mesh, tmp_path):
    if shutil.which("ping") is None:
        pytest.skip("there is no ping here")
    journal = tmp_path / "run.journal"
    near = emulate(mesh, "--json", "--record", journal, "--", "ping", "-c", "3", "-i", "0.2", "n1")
    assert near.returncode == 0, near.stderr
    assert pinged(near.stderr) == [1, 2, 3]
    live = json.loads(near.stdout)["live"]
    ends = live["delivered"] + live["device_full"] + live["queued"] + sum(live["lost"].values())
    assert live["read"] == ends + sum(live["refused"].values())
    assert live["delivered"] >= 8, "a request and a reply of ARP, and three of ICMP each"
    assert json.loads(near.stdout)["runs"][0]["flows"] == [], "frames of programs that route are of no flow"
    pairs = live["delivered_bytes_by_pair"]
    # Three times IPv4, ICMP and 56 bytes, and of ARP, whose request is a broadcast, 28 now and then.
    assert set(pairs) == {"n0->n1", "n1->n0"}
    assert all(3 * 84 <= count <= 3 * 84 + 3 * 28 for count in pairs.values()), pairs
    explained = multihop("explain", journal)
    assert (explained.returncode, "has no flow to explain" in explained.stderr) == (2, True)
    far = emulate(mesh, "--", "ping", "-c", "1", "-W", "1", "n3")
    assert far.returncode == 1
    assert not pinged(far.stdout)
    assert "pair of neighbours  bytes in unicast frames  Mb/s" in far.stdout
    assert "udp" not in far.stdout
    assert "the tables of --out list what nodes and links carried" in far.stdout


@pytest.mark.usefixtures("mesh")
def test_babel_finds_another_way_when_a_node_is_switched_off(tmp_path):
    for program in ("babeld", "ping"):
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program} here")
    file = tmp_path / "outage.toml"
    file.write_text(MESH + '[[outages]]\nnode = "n1"\nfrom = "28 s"\nto = "60 s"\n')
    # Wireless, so that links are watched; hellos each second, so that the test is short.
    at = ["--at", f"n0,n1,n2,n3,n4:sh -c 'exec babeld -w -h 1 -I {tmp_path}/$$.pid -S {tmp_path}/$$.state air0'"]
    journal = tmp_path / "run.journal"
    # A busy machine starts the five one after the other: n0 may have the longer way first, and leaves it only once
    # the shorter one has been better for some seconds.
    found = "ip route show proto babel | grep '10.0.0.4 via 10.0.0.2 '"
    search = f"for i in $(seq 72); do {found} && break; sleep 0.25; done"
    ping = f"echo began $(date +%s.%N); sleep 8; {search}; exec ping -D -i 0.25 -W 1 -c 180 n3"
    done = emulate(file, "--json", "--record", journal, *at, "--", "sh", "-c", ping)
    began = float(re.search(r"^began (\S+)$", done.stderr, re.MULTILINE)[1])
    replies = [float(at) - began for at in re.findall(r"^\[(\S+)\] .* icmp_seq=\d+ ttl", done.stderr, re.MULTILINE)]
    assert "10.0.0.4 via 10.0.0.2 " in done.stderr, done.stderr
    # Four a second: nearly all come back before the outage, none while no other way is known, nearly all at the end.
    before = [at for at in replies if at < 27]
    assert len(before) > 0.8 * 4 * (27 - before[0]), done.stderr
    assert not [at for at in replies if 28.5 < at < 30], done.stderr
    assert len([at for at in replies if 45 < at < 53]) > 28, done.stderr
    live = json.loads(done.stdout)["live"]
    assert live["lost"]["retry_limit"] > 0, "what was sent to n1 while it was off"
    again = multihop("replay", journal, "-q")
    assert again.returncode == 0, again.stderr


def test_modes_are_two():
    with pytest.raises(UserError, match="mode: found 'token-ring'; needs one of ip, ethernet"):
        Settings(load(MESH), {"external": "alone"}, mode="token-ring").check()
