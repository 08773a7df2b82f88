"""Emulations from Python, and test beds in a file. Skipped where the kernel forbids it, or has no TUN devices."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import multihop
from multihop.base.errors import UserError
from multihop.cli.watching import goodputs
from multihop.emulation.script import iperf3, read_script

CHAIN = """
name = "chain"
duration = "30 s"
[phy]
standard = "802.11g"
data_rate = "54 Mb/s"
control_rate = "6 Mb/s"
[topology]
generator = "chain"
hops = 2
spacing = "200 m"
"""
SEND = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(bytes(500), ('n2', 9))"


@pytest.fixture(scope="module")
def emulation():
    """One that runs, with a lag that does not matter."""
    try:
        with multihop.emulate(
            CHAIN, seed=3, duration="10 min", max_lag="10 s", sysctls={"net.ipv4.tcp_ecn": 1}
        ) as running:
            yield running
    except UserError as error:
        if "namespaces cannot be made" not in str(error) and "/dev/net/tun" not in str(error):
            raise
        pytest.skip(f"emulation is forbidden here: {error}")


def test_programs_run_at_nodes(emulation):
    done = emulation.node("n1").run([sys.executable, "-c", "print(open('/proc/sys/net/ipv4/tcp_ecn').read())"])
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "1", "")
    failed = emulation.node("n1").run(["sh", "-c", "echo wrong >&2; exit 7"], timeout=10)
    assert (failed.returncode, failed.stderr) == (7, "wrong\n")
    with pytest.raises(subprocess.TimeoutExpired):
        emulation.node("n1").run(["sleep", "60"], timeout=0.1)
    program = emulation.node("n1").start(["sleep", "60"])
    program.send_signal(15)
    assert program.wait(10).returncode == -15


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], r"words: found \[\]; needs a list of a program and its arguments"),
        ("ping n2", "words: found 'ping n2'; needs a list"),
        (b"ping", "words: found b'ping'; needs a list"),
        ([b"ping"], r"words: found \[b'ping'\]; needs a list"),
        (None, "words: found None; needs a list"),
        (["ping", 2], r"words: found \['ping', 2\]; needs a list"),
        (["x" * 1000, 2], r"words: found \['x{70,80} \.\.\.; needs a list"),
        (["no-such-program"], "n1: 'no-such-program' cannot be started: No such file or directory"),
        (["/etc/hosts"], "n1: '/etc/hosts' cannot be started: Permission denied"),
        (["/"], "n1: '/' cannot be started: Permission denied"),
        ([""], "n1: '' cannot be started"),
        (["a\0b"], "cannot be started: embedded null byte"),
    ],
)
def test_words_that_are_no_program_are_an_error_and_the_emulation_goes_on(emulation, words, message):
    with pytest.raises(UserError, match=message):
        emulation.node("n1").run(words)
    assert emulation.node("n1").run(("true",)).returncode == 0


def test_programs_may_end_in_any_way(emulation):
    assert emulation.node("n1").run(["sh", "-c", "kill -KILL $$"]).returncode == -9
    loud = emulation.node("n1").run(["sh", "-c", "head -c 20000000 /dev/zero | tr '\\0' x"])
    assert len(loud.stdout) == 20_000_000
    program = emulation.node("n1").start(["sleep", "60"])
    with pytest.raises(OSError, match="Invalid argument"):
        program.send_signal(999)
    program.send_signal(9)
    assert program.wait(10).returncode == -9
    for name in (None, 5, ["n1"]):
        with pytest.raises(UserError, match="known: n0, n1, n2"):
            emulation.node(name).run(["true"])
    with pytest.raises(RuntimeError, match="AttributeError"):
        emulation.ask("something that there is not")
    assert emulation.status["virtual_s"] > 0


@pytest.mark.usefixtures("emulation")
def test_why_the_process_of_an_emulation_is_gone_is_said_each_time():
    running = multihop.emulate(CHAIN)
    with pytest.raises(UserError, match="this emulation has not begun; use it in a with block"):
        _ = running.status
    running.__enter__()
    pid = running._process.pid
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    os.kill(int(child), signal.SIGKILL)
    for _ in range(2):
        with pytest.raises(UserError, match="the process of the emulation has ended, with exit code 137"):
            running.node("n1").run(["true"])
    with pytest.raises(UserError, match="the process of the emulation has ended"):
        running.__exit__(None, None, None)


@pytest.mark.usefixtures("emulation")
def test_a_signal_ends_the_process_of_an_emulation():
    running = multihop.emulate(CHAIN)
    running.__enter__()
    os.kill(running._process.pid, signal.SIGTERM)
    with pytest.raises(UserError, match="has ended, with exit code 143"):
        running.node("n1").run(["sleep", "10"])


@pytest.mark.usefixtures("emulation")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sysctls": {"net.ipv4.tcp_ecn": 1.5}}, "sysctl: net.ipv4.tcp_ecn: found 1.5; needs text or a whole number"),
        ({"sysctls": {5: 1}}, "sysctl: found 5; needs a name that begins with net."),
        ({"sysctls": ["net.ipv4.tcp_ecn"]}, "sysctls: found .* needs a mapping"),
        ({"sysctls": {"net.ipv4.no_such": 1}}, "sysctl: net.ipv4.no_such cannot be set to '1': a node has no such"),
        (
            {"sysctls": {"net.ipv4.tcp_congestion_control": "no-such"}},
            "cannot be set to 'no-such': the kernel has '.*'; load another on the host",
        ),
        ({"sysctls": {"net.ipv4.tcp_ecn": "x"}}, "cannot be set to 'x': the kernel does not accept this value"),
        ({"slow": "4"}, "slow: found '4'; needs"),
        ({"max_lag": [2]}, r"max_lag: found \[2\]; needs seconds, text as in"),
        ({"mode": None}, "mode: found None; needs one of ip, ethernet"),
        ({"pcap": "/no/such/place"}, "/no/such/place: cannot be written: No such file or directory"),
        ({"record": "/"}, "/: cannot be written: Is a directory"),
    ],
)
def test_settings_that_make_no_sense_are_an_error(options, message):
    with pytest.raises(UserError, match=message), multihop.emulate(CHAIN, **options):
        pass


@pytest.mark.usefixtures("emulation")
def test_a_disk_that_is_full_is_said_with_the_result():
    with multihop.emulate(CHAIN, max_lag="off", record="/dev/full") as running:
        running.node("n0").run([sys.executable, "-c", SEND])
    assert running.outcome.failures == ("/dev/full: cannot be written: No space left on device; the file ends there",)
    assert running.outcome.live["read"] >= 1


def test_how_far_it_is_can_be_seen(emulation):
    before = emulation.status
    assert emulation.node("n0").run([sys.executable, "-c", SEND], timeout=10).returncode == 0
    emulation.node("n0").run(["sleep", "0.3"])
    after = emulation.status
    assert after["virtual_s"] > before["virtual_s"] + 0.3
    assert after["delivered_bytes"]["n0->n2"] == 500
    assert not emulation.is_over


def test_what_is_wrong_is_an_error(emulation):
    with pytest.raises(UserError, match="known: n0, n1, n2"):
        emulation.node("n9").run(["true"])
    with pytest.raises(UserError, match="'no-such-program' cannot be started"):
        emulation.node("n0").run(["no-such-program"])
    with pytest.raises(UserError, match="the with block has not ended"):
        _ = emulation.outcome
    with pytest.raises(UserError, match="max_lag"):
        multihop.emulate(CHAIN, max_lag="soon")
    with pytest.raises(UserError, match="slow: found -1"):
        multihop.emulate(CHAIN, slow=-1.0)
    with pytest.raises(multihop.ScenarioError, match="generator"):
        multihop.emulate(CHAIN, set={"topology.generator": "chein"})


@pytest.mark.usefixtures("emulation")
def test_the_outcome_has_the_tables_of_a_run(tmp_path):
    with multihop.emulate(CHAIN, duration="20 s", max_lag="10 s", record=tmp_path / "run.journal") as running:
        running.node("n0").run([sys.executable, "-c", SEND], timeout=10)
        running.node("n0").run(["sleep", "0.3"])
    outcome = running.outcome
    assert outcome.is_valid
    delivered = outcome.result.flows.set_index("name")["delivered_bytes"]
    assert delivered["n0->n2"] == 500, "and no program listens there, which the kernel of n2 says to n0"
    assert set(delivered.index) == {"n0->n2", "n2->n0"}
    assert outcome.live["read"] >= outcome.live["delivered"] >= 1
    assert outcome.result.summary["fingerprint"] in (tmp_path / "run.journal").read_text()


def test_an_exception_ends_it(emulation):
    running = multihop.emulate(CHAIN)
    running.__enter__()
    sleeper = running.node("n0").start(["sleep", "60"])
    running.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
    with pytest.raises(UserError, match="this emulation is over"):
        sleeper.wait(1)
    with pytest.raises(UserError, match="the with block has not ended"):
        _ = running.outcome
    assert not emulation.is_over, "the other one goes on"


@pytest.mark.usefixtures("emulation")
def test_a_script_runs_its_programs_and_reads_iperf3(tmp_path):
    scenario, script, reported = (tmp_path / name for name in ("chain.toml", "script.toml", "iperf3.json"))
    scenario.write_text(CHAIN)
    reported.write_text(json.dumps(IPERF3))
    script.write_text(
        f"""
        [[program]]
        name = "sleepers"
        at = ["n1", "n2"]
        run = "sleep 60"
        background = true
        [[program]]
        name = "report"
        at = "n0"
        start = "300 ms"
        run = "cat {reported}"
        [[program]]
        at = "n2"
        run = "sh -c 'exit 4'"
        """
    )
    words = [sys.executable, "-m", "multihop", "emulate", scenario, "--script", script, "--max-lag", "off", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    assert done.stderr == "multihop: n2: \"sh -c 'exit 4'\" failed with exit code 4\n"
    found = json.loads(done.stdout)
    assert found["live"]["virtual_s"] >= 0.3
    rows = [(row["name"], row["exit_code"]) for row in found["programs"]]
    assert rows == [("sleepers n1", None), ("sleepers n2", None), ("n2", 4), ("report", 0)]
    report = found["programs"][-1]
    assert (report["goodput_bps"], report["rtt_mean_s"]) == (9e6, pytest.approx(0.012))


@pytest.mark.usefixtures("emulation")
def test_what_a_script_cannot_start_is_a_row_of_its_own(tmp_path):
    scenario, script = tmp_path / "chain.toml", tmp_path / "script.toml"
    scenario.write_text(CHAIN)
    program = '[[program]]\nat = "n{}"\nrun = "{}"\nstart = "{}"\n'
    starts = [(0, "echo here", "0 s"), (1, "no-such-program", "200 ms"), (2, "sleep 60", "1 s"), (0, "true", "50 s")]
    script.write_text("".join(program.format(*start) for start in starts))
    words = [sys.executable, "-m", "multihop", "emulate", scenario, "--script", script, "--max-lag", "off", "--json"]
    done = subprocess.run([*words, "--duration", "2 s"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    assert "n1: 'no-such-program' cannot be started: No such file or directory" in done.stderr
    assert "n2: 'sleep 60' was cut off by the end, at 2.00 s of virtual time" in done.stderr
    assert "n0: 'true' was not started before the end, at 2.00 s of virtual time" in done.stderr
    rows = [(row["exit_code"], row["ending"], row["output"]) for row in json.loads(done.stdout)["programs"]]
    unfinished = [(None, ending, "") for ending in ("not started", "cut off", "not started")]
    assert rows == [(0, "done", "here\n"), *unfinished]


def test_goodput_by_pair_is_what_came_between_two_looks():
    before = {"real_s": 2.0, "delivered_bytes": {"a->b": 1000, "b->a": 50}}
    now = {"real_s": 4.0, "delivered_bytes": {"a->b": 2000, "b->a": 50, "c->a": 250}}
    assert goodputs(before, now) == {"a->b": 4000.0, "c->a": 1000.0}
    assert goodputs(now, now) == {}


@pytest.mark.usefixtures("emulation")
def test_status_has_goodput_and_a_live_table_hides_what_programs_print(tmp_path):
    scenario, status = tmp_path / "chain.toml", tmp_path / "status"
    scenario.write_text(CHAIN)
    send = "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); print('loud')\n"
    send += "for _ in range(25): s.sendto(bytes(500), ('n2', 9)); time.sleep(0.1)"
    words = [sys.executable, "-m", "multihop", "emulate", scenario, "--live", "--status", status, "--max-lag", "off"]
    done = subprocess.run(
        [*words, "--", sys.executable, "-c", send], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "loud" not in done.stdout + done.stderr
    lines = [json.loads(line) for line in status.read_text().splitlines()]
    assert len(lines) == 2
    assert 10_000 < lines[-1]["goodput_bps"]["n0->n2"] < 60_000, "500 bytes ten times a second are 40 kb/s"
    shell = subprocess.run([*words, "--shell", "n0"], capture_output=True, text=True, timeout=60, check=False)
    assert shell.returncode == 2
    assert "--live: a shell needs the terminal" in shell.stderr


#: The parts of what iperf3 3.x prints with -J that are read.
IPERF3 = {
    "end": {
        "streams": [{"sender": {"mean_rtt": 12_000}}],
        "sum_sent": {"bits_per_second": 1e7, "retransmits": 5},
        "sum_received": {"bits_per_second": 9e6},
    }
}


def test_what_iperf3_reports_is_read():
    found = {"goodput_bps": 9e6, "rtt_mean_s": pytest.approx(0.012), "retransmissions": 5}
    assert iperf3(json.dumps(IPERF3)) == found
    udp = {"end": {"streams": [{"udp": {}}], "sum": {"bits_per_second": 5e6, "lost_percent": 2.5}}}
    assert iperf3(json.dumps(udp)) == {"goodput_bps": 5e6, "loss_ratio": 0.025}
    assert iperf3(json.dumps({"error": "unable to connect"})) == iperf3("3 packets transmitted") == iperf3("[]") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"needs \[\[program\]\] tables"),
        ("program = 3", r"needs \[\[program\]\] tables"),
        ("x =", "not TOML: "),
        ("program = [3]", r"program\[0\]: found 3; needs a table"),
        ('[[program]]\nat = "n0"', "needs at and run"),
        ('[[program]]\nat = "n9"\nrun = "true"', "at: found 'n9'; needs one of n0, n1"),
        ('[[program]]\nat = "n0"\nrun = ""', "run: is empty"),
        ('[[program]]\nat = "n0"\nrun = "echo \'"', "No closing quotation"),
        ('[[program]]\nat = "n0"\nrun = "true"\nstart = "2"', "2"),
        ('[[program]]\nat = "n0"\nrun = "true"\nstart = 2', "start: found 2; needs str"),
        ('[[program]]\nat = "n0"\nrun = "true"\nend = "2 s"', "end: is unknown; needs one of at, run"),
    ],
)
def test_what_is_wrong_with_a_script_is_said(tmp_path, text, message):
    file = tmp_path / "script.toml"
    file.write_text(text)
    with pytest.raises(UserError, match=message):
        read_script(file, ["n0", "n1"])
