"""Runs in steps, from Python."""

import itertools
import math
import subprocess
import sys
import threading
import time

import pandas as pd
import pytest

import multihop
from conftest import SCENARIOS

CHAIN = SCENARIOS / "chain.toml"
SHORT = {"duration": "4 s", "warmup": "1 s"}
OUTSIDE = {"flows": [{"from": "n0", "to": "n3", "scheme": "udp", "app": {"kind": "external"}}]}


def test_steps_are_the_run():
    run = multihop.Run(CHAIN, seed=3, **SHORT)
    seen = []
    while run.step(run.now_s + 0.7) is not None:
        seen.append(run.result().summary["goodput_total_bps"])
    stepped, whole = run.finish(), multihop.run(CHAIN, seed=3, **SHORT)
    assert stepped.output["summary"] == whole.output["summary"]
    for name in ("flows", "nodes", "links", "series"):
        pd.testing.assert_frame_equal(stepped.table(name), whole.table(name))
    assert len(seen) == 5
    assert len(set(seen)) > 2


def test_packets_from_outside_are_delivered_or_lost_for_a_cause():
    run = multihop.Run(CHAIN, set=OUTSIDE, **SHORT)
    run.step(1.5)
    numbers = [run.inject("n0->n3", 1000) for _ in range(200)]
    assert numbers == list(range(1, 201))
    run.step(3.0)
    outcomes = run.outcomes()
    assert sorted(outcome.number for outcome in outcomes) == numbers
    assert run.outcomes() == []
    delivered = [outcome for outcome in outcomes if outcome.cause is None]
    lost = [outcome for outcome in outcomes if outcome.cause == "queue_full"]
    assert len(delivered) + len(lost) == 200
    assert min(len(delivered), len(lost)) > 20
    assert {outcome.lost_at for outcome in lost} <= {"n0", "n1", "n2"}
    assert all(1.5 < outcome.time_s <= 3.0 for outcome in delivered)
    (flow,) = run.finish().flows.to_dict("records")
    assert flow["goodput_bps"] == pytest.approx(len(delivered) * 8000 / 3.0)


def test_packets_may_be_as_large_as_an_msdu_or_a_datagram():
    run = multihop.Run(CHAIN, set=OUTSIDE, **SHORT)
    run.inject("n0->n3", 2_296 - 28)
    run.step(1.0)
    assert [outcome.cause for outcome in run.outcomes()] == [None]
    unlimited = multihop.Run(CHAIN, set={**OUTSIDE, "mac.rules": "ns2"}, **SHORT)
    unlimited.inject("n0->n3", 60_000)
    with pytest.raises(multihop.UserError, match="found 65563 B; needs at most 65535 B"):
        unlimited.inject("n0->n3", 65_535)


#: Takes longer than any test waits.
ENDLESS = {"duration": "1000000 s", "warmup": "1 s", "record_interval": "1000 s"}


def test_while_a_thread_steps_others_go_on():
    run = multihop.Run(CHAIN, **ENDLESS)
    ended = []

    def step():
        run.step(400.0)
        ended.append(time.monotonic())
        run.step(800.0)
        ended.append(time.monotonic())

    thread = threading.Thread(target=step)
    thread.start()
    looks, longest = [], 0.0
    while len(ended) < 1:
        began = time.monotonic()
        looks.append(run.now_s)
        longest = max(longest, time.monotonic() - began)
        time.sleep(0.001)
    assert longest < 0.5
    assert looks == sorted(looks)
    assert len(set(looks)) > 3, "it is seen how far the step has come"
    # What needs the run itself waits for the step, without keeping other threads from going on.
    ticks = []
    waiting = threading.Thread(target=lambda: run.outcomes())
    waiting.start()
    while waiting.is_alive():
        ticks.append(time.monotonic())
        time.sleep(0.001)
    thread.join()
    assert max(later - before for before, later in itertools.pairwise(ticks)) < 0.5
    assert run.now_s == 800.0


# Interrupts: each in a process of its own, which a late one ends without the other tests.

#: What each program begins with: `interrupted(call)` sends SIGINT soon after `call` has begun.
_INTERRUPTING = """
import signal, sys, threading, time
import multihop

chain = sys.argv[1]
endless = {"duration": "1000000 s", "warmup": "1 s", "record_interval": "1000 s"}

def interrupted(call, after_s=0.3):
    timer = threading.Timer(after_s, signal.raise_signal, [signal.SIGINT])
    began = time.monotonic()
    timer.start()
    try:
        call()
        timer.join()
        time.sleep(0.1)
    except KeyboardInterrupt:
        assert time.monotonic() - began < 5.0, time.monotonic() - began
        return True
    return False
"""

_THE_NEXT_STEP_GOES_ON = """
run = multihop.Run(chain, **endless)
assert interrupted(lambda: run.finish() if {finishes} else run.step(1e6))
there = run.now_s
assert 0.0 < there < 1e6, there
assert run.step(there + 1.0) is not None
assert run.now_s == there + 1.0
"""

_NO_RESULT_CHANGES = """
whole = multihop.run(chain, seed=3, duration="60 s", warmup="1 s")
run = multihop.Run(chain, seed=3, duration="60 s", warmup="1 s")
interrupted(lambda: run.step(float("inf")), after_s=0.02)
assert run.finish().output["summary"] == whole.output["summary"]
"""

_WHILE_ANOTHER_THREAD_STEPS = """
run = multihop.Run(chain, **endless)
thread = threading.Thread(target=run.step, args=[300.0])
thread.start()
while run.now_s == 0.0:
    time.sleep(0.001)
assert interrupted(lambda: run.step(1e6))
thread.join()
"""


@pytest.mark.parametrize(
    "program",
    [
        _THE_NEXT_STEP_GOES_ON.format(finishes=False),
        _THE_NEXT_STEP_GOES_ON.format(finishes=True),
        _NO_RESULT_CHANGES,
        _WHILE_ANOTHER_THREAD_STEPS,
    ],
    ids=["step", "finish", "result", "another thread"],
)
def test_an_interrupt_ends_a_step_and_changes_no_result(program):
    command = [sys.executable, "-c", _INTERRUPTING + program, str(CHAIN)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_all_pairs_take_packets():
    traffic = {"pattern": "all-pairs", "scheme": "udp", "app": {"kind": "external"}}
    run = multihop.Run(CHAIN, set={"flows": [], "traffic": traffic}, **SHORT)
    names = [flow["name"] for flow in multihop.check(CHAIN, set={"flows": [], "traffic": traffic})["flows"]]
    nodes = len(multihop.check(CHAIN)["nodes"])
    assert len(names) == nodes * (nodes - 1)
    for name in names:
        run.inject(name, 100)
    run.step(2.0)
    assert len(run.outcomes()) == len(names)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda run: run.step(math.nan), "until_s: found nan"),
        (lambda run: run.step(-1), "until_s: found -1"),
        (lambda run: run.inject("n0->n2", 100), "flow: found 'n0->n2', but no such flow exists"),
        (lambda run: run.inject("n0->n3", 1 << 20), "payload: found 1048576"),
        (lambda run: run.inject("n0->n3", 100, stream=-1), "stream: found -1"),
        (
            lambda run: run.inject("n0->n3", 65_535, header=65_535),
            "payload and header: found 131070 B; needs at most 2296 B",
        ),
        (lambda run: run.inject("n0->n3", 2_269), "payload and header: found 2297 B; needs at most 2296 B"),
        (lambda run: run.finish() and run.inject("n0->n3", 100), "this run is over; inject packets before its end"),
    ],
)
def test_what_is_wrong_is_said(wrong, message):
    with pytest.raises(multihop.UserError, match=message.replace("(", r"\(")):
        wrong(multihop.Run(CHAIN, set=OUTSIDE, **SHORT))


def test_flows_that_send_by_themselves_take_nothing():
    run, name = multihop.Run(CHAIN, **SHORT), multihop.check(CHAIN)["flows"][0]["name"]
    with pytest.raises(multihop.UserError, match="its app is"):
        run.inject(name, 100)
