"""Real programs over the simulated air. Skipped where the kernel forbids it, or has no TUN devices."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from multihop.base.errors import UserError
from multihop.emulation.isolate import why_not
from multihop.emulation.session import Settings, journal_of
from multihop.simulation.scenario import load

CHAIN = """
name = "chain"
duration = "20 s"
[phy]
standard = "802.11g"
data_rate = "54 Mb/s"
control_rate = "6 Mb/s"
[topology]
generator = "chain"
hops = 2
spacing = "200 m"
"""

#: Sends 30 packets to n2 and waits for their echo; says how many came back.
TALK = """
import socket
talk = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
talk.settimeout(5)
talk.connect(("n2", 7000))
for number in range(30):
    talk.send(bytes(1000))
    talk.recv(2000)
print("came back: 30")
"""
ECHO = """
import socket
talk = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
talk.bind(("", 7000))
while True:
    talk.sendto(*talk.recvfrom(2000))
"""

#: Sends 400 kB to n2, and says how many bytes of a segment the kernel has used at most.
GIVE = """
import socket
give = socket.create_connection(("n2", 7001))
give.sendall(bytes(400_000))
give.shutdown(socket.SHUT_WR)
give.recv(1)
print("sent: 400000, at most", give.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG) // 100)
"""
TAKE = """
import socket
door = socket.create_server(("", 7001))
take, _ = door.accept()
while take.recv(65536):
    pass
take.send(b"that was all")
"""


def multihop(*words, start=subprocess.run, **options):
    return start([sys.executable, "-m", "multihop", *map(str, words)], text=True, **options)


@pytest.fixture(scope="session")
def scenario(tmp_path_factory):
    """A file, where emulation works."""
    file = tmp_path_factory.mktemp("emulation") / "chain.toml"
    file.write_text(CHAIN)
    tried = multihop("emulate", file, "-q", "--", "true", capture_output=True, timeout=60)
    if "namespaces cannot be made" in tried.stderr or "/dev/net/tun" in tried.stderr:
        pytest.skip(f"emulation is forbidden here: {tried.stderr.strip()}")
    assert tried.returncode in {0, 3}, tried.stderr
    return file


def emulate(scenario, *words, code=0, **options):
    """What the command leaves; machines that test are busy, so no lag is too large."""
    done = multihop("emulate", scenario, "--max-lag", "off", *words, capture_output=True, timeout=60, **options)
    assert done.returncode == code, done.stderr
    return done


def talking(folder):
    """Options and command of a conversation of n0 with n2."""
    (folder / "talk.py").write_text(TALK)
    (folder / "echo.py").write_text(ECHO)
    client = f"sleep 0.5; {sys.executable} {folder}/talk.py"
    return ["--at", f"n2:{sys.executable} {folder}/echo.py"], ["--", "sh", "-c", client]


def test_programs_talk_by_name_and_every_packet_is_accounted_for(scenario, tmp_path):
    options, words = talking(tmp_path)
    done = emulate(scenario, "--json", *options, *words)
    assert "came back: 30" in done.stderr, "what programs print does not spoil the result"
    found = json.loads(done.stdout)
    live = found["live"]
    assert live["read"] >= 60
    ends = live["delivered"] + live["device_full"] + live["queued"] + sum(live["lost"].values())
    assert live["read"] == ends + sum(live["refused"].values())
    flows = {flow["name"]: flow for flow in found["runs"][0]["flows"]}
    assert sorted(flows) == ["n0->n2", "n2->n0"], "pairs without a packet are no flows"
    assert flows["n0->n2"]["hops"] == 2
    assert flows["n0->n2"]["delivered_bytes"] == flows["n2->n0"]["delivered_bytes"] == 30_000
    assert found["runs"][0]["summary"]["jain"] == 1, "of two flows that sent the same"
    # Two frames of a kilobyte at 54 Mb/s, with their acknowledgements.
    assert 0.0004 < flows["n0->n2"]["delay_p50_s"] < 0.002


def test_tables_report_and_status_are_written(scenario, tmp_path):
    pytest.importorskip("matplotlib")
    options, words = talking(tmp_path)
    out, status = tmp_path / "out", tmp_path / "status"
    words[-1] += "; sleep 1"
    done = emulate(scenario, "--out", out, "--status", status, *options, *words)
    assert re.search(r"lag of packets: p50 [0-9.]+ ms, p99", done.stdout)
    assert {"flows.csv", "manifest.json", "report.html"} <= {file.name for file in out.iterdir()}
    assert json.loads((out / "manifest.json").read_text())["command"].startswith("multihop emulate scenario.toml")
    lines = [json.loads(line) for line in status.read_text().splitlines()]
    assert lines
    assert lines[-1]["delivered_bytes"] == {"n0->n2": 30_000, "n2->n0": 30_000}


def test_a_journal_is_the_same_run_again(scenario, tmp_path):
    options, words = talking(tmp_path)
    journal, live, again = (tmp_path / name for name in ("run.journal", "live.pcapng", "again.pcapng"))
    recorded = emulate(scenario, "--json", "--seed", "5", "--record", journal, "--pcap", live, *options, *words)
    first = json.loads(recorded.stdout)
    done = multihop("replay", journal, "--pcap", again, "--json", capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    second = json.loads(done.stdout)
    assert second["runs"] == first["runs"]
    assert second["journal_fingerprint"] == second["runs"][0]["summary"]["fingerprint"]
    assert live.read_bytes() == again.read_bytes()
    reported = multihop("explain", journal, "n2->n0", "--json", capture_output=True, timeout=60)
    assert reported.returncode == 0, reported.stderr
    explained = json.loads(reported.stdout)["explained"][0]
    assert (explained["name"], explained["path"]) == ("n2->n0", ["n2", "n1", "n0"])
    rates = {flow["name"]: flow["goodput_bps"] for flow in first["runs"][0]["flows"]}
    assert explained["goodput_bps"] == [rates["n2->n0"]]
    assert explained["hops"][0]["frames"] >= 30
    text = journal.read_text()
    journal.write_text(text.replace("\nend ", "\nend 1"))
    damaged = multihop("replay", journal, capture_output=True, timeout=60)
    assert damaged.returncode == 1
    assert "in the journal" in damaged.stderr
    journal.write_text(text.partition("\nend ")[0] + "\n")
    cut = multihop("replay", journal, capture_output=True, timeout=60)
    assert (cut.returncode, "killed" in cut.stderr) == (0, True)


@pytest.mark.skipif(shutil.which("ping") is None, reason="there is no ping here")
def test_a_capture_has_the_headers_that_programs_sent(scenario, tmp_path, tshark):
    take, give, capture = tmp_path / "take.py", tmp_path / "give.py", tmp_path / "live.pcapng"
    take.write_text(TAKE)
    give.write_text(GIVE)
    client = f"sleep 0.5; {sys.executable} {give} && ping -c 1 n2"
    emulate(scenario, "--pcap", capture, "--at", f"n2:{sys.executable} {take}", "--", "sh", "-c", client)
    data = tshark(capture, "ip.src", "ip.dst", "tcp.seq", "tcp.len", only="tcp.dstport == 7001 && tcp.len > 0")
    assert {(source, destination) for source, destination, *_ in data} == {("10.0.0.1", "10.0.0.3")}
    assert max(int(number) + int(length) for *_, number, length in data) == 400_001, "the kernel's numbers"
    only = "tcp.flags.syn == 1 && tcp.flags.ack == 0"
    syns = tshark(capture, "tcp.dstport", "tcp.options.mss_val", "ip.ttl", only=only)
    assert {tuple(syn) for syn in syns} == {("7001", "1460", "64"), ("7001", "1460", "63")}, "on both hops"
    assert ["10.0.0.3"] in tshark(capture, "ip.src", only="icmp.type == 0")


def test_a_scheme_stands_below_the_tcp_of_the_kernel(scenario, tmp_path):
    take, give = tmp_path / "take.py", tmp_path / "give.py"
    take.write_text(TAKE)
    give.write_text(GIVE)
    journal, capture = tmp_path / "run.journal", tmp_path / "live.pcapng"
    words = ["--scheme", "ewccp", "--set", "schemes.ewccp.segment_size=800 B", "--shim", "--json"]
    words += ["--record", journal, "--pcap", capture, "--at", f"n2:{sys.executable} {take}"]
    done = emulate(scenario, *words, "--", "sh", "-c", f"sleep 0.5; {sys.executable} {give}")
    found = json.loads(done.stdout)
    assert "sent: 400000, at most 8" in done.stderr, "the kernel's segments are the scheme's"
    flows = {flow["name"]: flow for flow in found["runs"][0]["flows"]}
    assert flows["n0->n2"]["delivered_bytes"] >= 400_000
    assert flows["n0->n2"]["scheme"] == "ewccp"
    live = found["live"]
    ends = live["delivered"] + live["device_full"] + live["queued"] + sum(live["lost"].values())
    assert live["read"] == ends + sum(live["refused"].values())
    replayed = multihop("replay", journal, "--json", capture_output=True, timeout=60)
    assert replayed.returncode == 0, replayed.stderr
    assert json.loads(replayed.stdout)["runs"] == found["runs"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_a_result(scenario, tmp_path, number):
    process, programs = started(scenario, tmp_path)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 128 + number, err
    assert "packets read: " in out
    journal = tmp_path / "run.journal"
    said = "interrupted" if number == signal.SIGINT else "terminated"
    assert err.splitlines()[-1] == f"multihop: {said}; kept: {journal}", "and what is kept is there"
    assert "\nend " in journal.read_text()
    assert gone(programs)


def test_nothing_outlives_a_kill(scenario, tmp_path):
    process, programs = started(scenario, tmp_path)
    process.kill()
    process.communicate(timeout=30)
    assert gone(programs)


def test_a_suspension_is_lag(scenario):
    code = "import socket, time; talk = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); print('begins', flush=True)"
    code += "; [(talk.sendto(bytes(100), ('n2', 7000)), time.sleep(0.05)) for _ in range(40)]"
    words = ("--max-lag", "500 ms", "--", sys.executable, "-c", code)
    process = multihop("emulate", scenario, "-q", *words, start=subprocess.Popen, stdout=subprocess.PIPE)
    assert process.stdout.readline() == "begins\n"
    # The emulation is a child, which isolated itself; programs are its children.
    ours = [process.pid, *children(process.pid)]
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for pid in ours:
            os.kill(pid, number)
        time.sleep(1.0)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 3, out
    assert "INVALID: the p99 lag is above --max-lag 500 ms" in out


def children(pid):
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in found.split()]


def started(scenario, folder):
    """An emulation in which a program runs, and a word by which its processes are known."""
    word = f"multihop-test-{os.getpid()}-{folder.name}"
    program = f"{sys.executable} -c 'import time; time.sleep(60)' {word}"
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    words = ["--at", f"n1:{program}", "--record", folder / "run.journal"]
    process = multihop("emulate", scenario, *words, start=subprocess.Popen, **streams)
    until = time.monotonic() + 30
    while not running(word, but=process.pid):
        assert time.monotonic() < until
        time.sleep(0.1)
    time.sleep(0.3)
    return process, word


def running(word, but=None):
    """Processes with this word in their command line that are no emulation."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if word.encode() in words and int(folder.name) != but:
            found.append(folder.name)
    return found


def gone(word):
    until = time.monotonic() + 10
    while running(word) and time.monotonic() < until:
        time.sleep(0.1)
    return not running(word)


def test_packets_that_cannot_be_carried_are_refused_by_name(scenario):
    code = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'', ('10.9.9.9', 1))"
    multicast = "s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton('10.0.0.1'))"
    code += f"; {multicast}; s.sendto(b'x', ('224.0.0.5', 1)); import time; time.sleep(0.2)"
    done = emulate(scenario, "--json", "--", sys.executable, "-c", code)
    live = json.loads(done.stdout)["live"]
    assert live["refused"]["unknown_destination"] == 1
    assert live["refused"]["multicast"] >= 1


def test_settings_of_the_kernel_reach_every_node(scenario):
    show = "cat /proc/sys/net/ipv4/tcp_ecn"
    done = emulate(scenario, "-q", "--sysctl", "net.ipv4.tcp_ecn=1", "--at", f"n1,n2:{show}")
    assert done.stdout.startswith("1\n1\n")


def test_slow_time_is_said(scenario):
    began = time.monotonic()
    done = emulate(scenario, "--slow", "4", "--duration", "500 ms")
    assert time.monotonic() - began > 2.0
    assert "0.50 s emulated in 2.0" in done.stdout
    assert "4 times as slow as real time" in done.stdout


def test_lag_beyond_the_limit_has_a_code_of_its_own(scenario, tmp_path):
    options, words = talking(tmp_path)
    done = multihop("emulate", scenario, "--max-lag", "1 ns", *options, *words, capture_output=True, timeout=60)
    assert done.returncode == 3
    assert "INVALID: the p99 lag is above --max-lag" in done.stdout


def test_a_command_that_fails_is_said(scenario):
    done = emulate(scenario, "--", "sh", "-c", "exit 9", code=1)
    assert "multihop: n0: \"sh -c 'exit 9'\" failed with exit code 9" in done.stderr


def test_without_packets_there_are_no_flows(scenario, tmp_path):
    out = tmp_path / "out"
    done = emulate(scenario, "--out", out, "--", "true")
    assert "n0->n1" not in done.stdout
    assert "no flows: no payload was sent end to end" in done.stdout
    assert (out / "flows.csv").read_text().count("\n") == 1, "the heads of columns"
    assert len((out / "nodes.csv").read_text().splitlines()) == 4


def test_of_the_tcp_of_the_kernel_nothing_is_made_up(scenario, tmp_path):
    take, give = tmp_path / "take.py", tmp_path / "give.py"
    take.write_text(TAKE)
    give.write_text(GIVE)
    words = ["--at", f"n2:{sys.executable} {take}", "--", "sh", "-c", f"sleep 0.5; {sys.executable} {give}"]
    found = json.loads(emulate(scenario, "--json", *words).stdout)["runs"][0]
    flows = {flow["name"]: flow for flow in found["flows"]}
    data, answer = flows["n0->n2"], flows["n2->n0"]
    assert (data["scheme"], answer["sent_bytes"]) == ("external", 12), "acknowledgements have no payload"
    for column in ("retransmissions", "retransmission_ratio", "timeouts", "rtt_mean_s"):
        assert data[column] is None, column
    summary = found["summary"]
    assert summary["retransmission_ratio"] is None
    assert summary["jain"] == 1, "of one flow: what answers it is none"
    assert summary["delay_p50_s"] == data["delay_p50_s"] != answer["delay_p50_s"]
    assert "not in fairness and delays, since they sent less than 1% of the bytes" in emulate(scenario, *words).stdout


def test_a_program_at_a_node_that_fails_is_said_and_a_server_that_is_ended_is_none(scenario):
    words = ["--at", "n1:false", "--at", "n2:sleep 60", "--", "sleep", "0.5"]
    done = emulate(scenario, "--json", *words, code=1)
    assert done.stderr.splitlines()[-1] == "multihop: n1: 'false' failed with exit code 1"
    programs = [(row["node"], row["exit_code"], row["ending"]) for row in json.loads(done.stdout)["programs"]]
    assert programs == [("n0", 0, "done"), ("n1", 1, "failed"), ("n2", None, "stopped")]


def test_a_command_that_the_end_cuts_off_is_no_success(scenario):
    done = emulate(scenario, "-q", "--duration", "500 ms", "--at", "n2:sleep 60", "--", "sleep", "50", code=1)
    assert done.stderr == "multihop: n0: 'sleep 50' was cut off by the end, at 0.50 s of virtual time\n"


def test_programs_at_nodes_alone_run_until_the_end(scenario):
    done = emulate(scenario, "--duration", "500 ms", "--at", "n2:sleep 60")
    assert done.stderr == "multihop: n2: 'sleep 60' ran until the end, at 0.50 s of virtual time\n"


def test_user_namespaces_do(scenario, tmp_path):
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("an ordinary user is in a user namespace in every test here")
    options, words = talking(tmp_path)
    inside = ["unshare", "-Ur", sys.executable, "-m", "multihop", "emulate", scenario, "--max-lag", "off"]
    done = subprocess.run([*inside, *options, *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "came back: 30" in done.stdout
    assert "without real-time priority" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--at", "n9:true"], "node: found 'n9'; did you mean \"n0\"? known: n0, n1, n2"),
        (["--at", "n1"], "--at: found 'n1'; needs NODE:COMMAND"),
        (["--at", "n1:"], "--at: found 'n1:'; needs NODE:COMMAND"),
        (["--at", "n1:echo 'a"], "its quotes are not closed"),
        (["--shell", "n7"], "node: found 'n7'"),
        (["--shell", "n1", "--", "true"], "needs only one of them"),
        (["--slow", "0"], "slow: found 0; needs 0.01 to 1000000"),
        (["--slow", "nan"], "slow: found nan"),
        (["--max-lag", "2"], "--max-lag: "),
        (["--sysctl", "tcp_ecn"], "--sysctl: found 'tcp_ecn'; needs NAME=VALUE"),
        (["--sysctl", "kernel.hostname=x"], "sysctl: found 'kernel.hostname'; needs a name that begins with net."),
        (["--sysctl", "net.ipv4.no_such=1"], "sysctl: net.ipv4.no_such cannot be set to '1': "),
        (["--", "no-such-program"], "n0: 'no-such-program' cannot be started: No such file or directory"),
        (["--duration", "0 s"], "duration"),
        (
            ["--shim", "--scheme", "recn"],
            'shim: scheme: found "recn"; needs a scheme whose routers write into a header',
        ),
        (["--shim", "--mode", "ethernet"], "shim: found with mode ethernet; needs mode ip"),
    ],
)
def test_what_is_wrong_is_said(scenario, words, message):
    done = emulate(scenario, *words, code=2)
    assert message in done.stderr
    assert done.stdout == ""


def test_what_forbids_namespaces_is_named():
    assert "kernel.unprivileged_userns_clone=1" in why_not(OSError(errno.EPERM, "Operation not permitted"))
    assert "user.max_user_namespaces" in why_not(OSError(errno.ENOSPC, "No space left on device"))


def test_without_tun_devices_it_is_refused(monkeypatch):
    monkeypatch.setattr(Path, "exists", lambda path: str(path) != "/dev/net/tun")
    with pytest.raises(UserError, match="/dev/net/tun"):
        Settings(load(CHAIN), {"external": "alone"}).check()


@pytest.mark.parametrize("text", ["", "multihop journal 2: nonsense\n", "multihop journal 2: {}\n", "{}\n", "\xff"])
def test_a_file_that_is_no_journal_is_refused(tmp_path, text):
    file = tmp_path / "run.journal"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError, match="this is no journal"):
        journal_of(file)


def test_a_journal_of_another_version_is_named(tmp_path):
    file = tmp_path / "run.journal"
    file.write_text("multihop journal 1: {}\n", encoding="utf-8")
    with pytest.raises(UserError, match="a journal of version 1; needs version 2"):
        journal_of(file)
