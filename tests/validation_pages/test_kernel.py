"""The comparison with the kernel's TCP: cells, figures and verdicts with made-up numbers. Nothing is emulated."""

import json
import math
import random
from dataclasses import replace

import pytest
from validation.kernel import cells, emulated, pages, recorded, simulated, traffic, verdicts
from validation.kernel.__main__ import main
from validation.kernel.cells import Cell
from validation.kernel.measured import Emulated, Measured
from validation.measure import Agreement

import multihop
from multihop.base.errors import UserError

BULK = Cell("cubic", "wlan-down", "54 Mb/s", "fq-codel", 0.0, 0.0, 0, 2, 0, 150)
SHORT = replace(BULK, network="wlan-up", queue="drop-tail", extra_rtt_ms=40, wire_loss=0.01, transfer_kb=100)


def kernel(measured, lag_ms=0.1, overflowed=0):
    return Emulated(measured, lag_ms, overflowed, "6.0", dict.fromkeys(emulated.OTHERS, 0))


def bulk(goodput=20.0, rtt=50.0):
    return Measured(goodput, rtt, 3, 1)


def runs(make, values):
    return {seed: make(value) for seed, value in enumerate(values, 1)}


def judged(theirs, ours, cell=BULK):
    return verdicts.judged(cell, runs(lambda run: kernel(run), theirs), runs(lambda run: run, ours))


# Cells


def read(tmp_path, text):
    path = tmp_path / "cells.toml"
    path.write_text(text)
    return cells.read(path)


DEFAULTS = cells.FILE.read_text().partition("# --quick\n")[0]


def test_lists_combine_and_repeated_cells_count_once(tmp_path):
    lists = '[[cells]]\ntransport = ["reno", "bbr"]\nflows = [1, 8]\n'
    again = '[[cells]]\ntransport = "bbr"\nflows = 8\nquick = true\n'
    found = read(tmp_path, DEFAULTS + lists + again)
    assert [(each.cell.transport, each.cell.flows, each.quick) for each in found] == [
        ("reno", 1, False),
        ("reno", 8, False),
        ("bbr", 1, False),
        ("bbr", 8, True),
    ]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('transport = "vegas"', r"cells\[0\].transport: found 'vegas'; needs one of reno, cubic, bbr"),
        ("transport = 3", r"cells\[0\].transport: found 3; needs one of reno"),
        ('network = ["chain-9"]', r"cells\[0\].network: found 'chain-9'; needs one of chain-1"),
        ('phy = "1 Mb/s"', "phy: found '1 Mb/s'; needs one of 11 Mb/s"),
        ("queue = []", "queue: found an empty list; needs at least one value"),
        ("wire_loss = 0.7", "wire_loss: found 0.7; needs a number from 0.0 to 0.5"),
        ("wire_loss = nan", "wire_loss: found nan; needs a number"),
        ("air_loss = true", "air_loss: found True; needs a number"),
        ("flows = 1.5", "flows: found 1.5; needs a whole number from 1 to 32"),
        ("flows = 0", "flows: found 0; needs a whole number from 1"),
        ('flows = ["2"]', "flows: found '2'; needs a whole number"),
        ("transfer_kb = 1\nflows = 32", "interval_ms: found 150, which makes 2560 transfers; needs 640 to 12000"),
        ("transfer_kb = 1\ninterval_ms = 15", "which makes 800 transfers; needs 20 to 12000"),
        ("hops = 2", r"cells\[0\].hops: is unknown; needs one of transport, "),
        ("quick = 1", "quick: found 1; needs true or false"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path, entry, message):
    with pytest.raises(UserError, match=message):
        read(tmp_path, f"{DEFAULTS}[[cells]]\n{entry}\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs .*cells.* tables"),
        ("[[cells]]\n", "transport: is missing, here and in .defaults."),
        ("cells = 3", "needs .*cells.* tables"),
        ("cells = [1]", "needs .*cells.* tables"),
        ("defaults = 3\n[[cells]]", "needs .*cells.* tables"),
        ("[[cell]]\n", "needs .*cells.* tables"),
        ("[[cells]", "not TOML: .*correct this line"),
        ("[defaults]\nhops = 1\n[[cells]]\n", "hops: is unknown"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, text, message):
    with pytest.raises(UserError, match=message):
        read(tmp_path, text)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"nothing\.toml: cannot be read: No such file"):
        cells.read(tmp_path / "nothing.toml")


def test_shipped_cells_cover_each_factor():
    listed = cells.read()
    found = [each.cell for each in listed]
    assert len({cell.label for cell in found}) == len(found)
    assert sum(each.quick for each in listed) == 8
    assert {cell.transport for cell in found} == set(cells.SCHEMES)
    assert {cell.network for cell in found} == set(cells.NETWORKS)
    assert {cell.queue for cell in found} == set(cells.QUEUES)
    assert {cell.extra_rtt_ms for cell in found} >= {0, 40, 200}
    assert {cell.wire_loss for cell in found} >= {0.0, 0.01, 0.1}
    assert {cell.air_loss for cell in found} >= {0.0, 0.1}
    assert {cell.flows for cell in found} >= {1, 8}
    assert {cell.transfer_kb for cell in found} >= {0, 10, 100, 1000}
    for cell in found:
        multihop.check(cell.scenario(1))


def test_both_sides_have_the_same_connections():
    made = SHORT.connections(3)
    assert made == SHORT.connections(3) != SHORT.connections(4)
    flows = SHORT.scenario(3)["flows"]
    assert [flow["from"] for flow in flows] == [each.source for each in made]
    sent = [
        (node, each["start_s"], each["number"])
        for node, order in emulated.orders(SHORT, 3, "/tmp")
        for each in order.get("connections", ())
    ]
    assert sorted(number for *_, number in sent) == list(range(len(made)))
    assert all((made[number].source, made[number].start_s) == (node, start) for node, start, number in sent)
    assert all(flow["start"] == f"{each.start_s:.6f} s" for flow, each in zip(flows, made, strict=True))
    assert all(each.start_s < SHORT.duration_s - cells.LAST_START_S for each in made)


# Figures of the kernel


def test_a_run_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "runs.jsonl"
    first = kernel(Measured(1.5, None, 4, 2, [12.0, math.inf]))
    second = replace(first, lag_p99_ms=0.5)
    other = kernel(bulk())
    path.write_text(
        "\n".join(recorded.line_of(*each) for each in [(SHORT, 1, first), (BULK, 2, other), (SHORT, 1, second)])
    )
    assert recorded.read(path) == {SHORT.label: {1: second}, BULK.label: {2: other}}
    assert recorded.read(tmp_path / "none") == {}


def test_runs_of_another_length_do_not_count(tmp_path):
    path = tmp_path / "runs.jsonl"
    row = json.loads(recorded.line_of(BULK, 1, kernel(bulk())))
    path.write_text(json.dumps({**row, "seconds": 1.0}))
    assert recorded.read(path) == {}


@pytest.mark.parametrize("line", ["", "{", "3", "{}", '{"run": {"measured": {"completions_ms": 3}}}'])
def test_a_line_that_is_no_run_is_named(tmp_path, line):
    path = tmp_path / "runs.jsonl"
    path.write_text(recorded.line_of(BULK, 1, kernel(bulk())) + "\n" + line + "\n")
    with pytest.raises(UserError, match="line 2 is no run of the kernel; remove it"):
        recorded.read(path)


def test_missing_and_late_runs_are_due_cell_by_cell():
    there = {
        BULK.label: {1: kernel(bulk()), 2: kernel(bulk(), lag_ms=9.0)},
        SHORT.label: {1: kernel(bulk(), overflowed=1)},
    }
    assert recorded.due([BULK, SHORT], 2, there) == [(SHORT, 1), (BULK, 2), (SHORT, 2)]


def test_counters_of_a_namespace():
    text = "Tcp: RtoAlgorithm RetransSegs InErrs\nTcp: 1 42 0\nUdp: InDatagrams\nUdp: 7\n"
    assert traffic.counter(text, "Tcp", "RetransSegs") == 42
    assert traffic.counter(text, "Tcp", "NoSuch") == 0
    assert traffic.counter(text, "TcpExt", "TCPTimeouts") == 0


def test_what_programs_print_becomes_measurements():
    senders = [
        {
            "began": {"0": 10.0, "1": 11.0},
            "rtt_s": {"0": [0.01, 0.03], "1": [0.04]},
            "retransmissions": 2,
            "timeouts": 1,
        },
        {"began": {"2": 12.0}, "rtt_s": {"2": []}, "retransmissions": 3, "timeouts": 0},
    ]
    receivers = [{"received": {"0": 1_000_000, "1": 500_000, "2": 375_000}, "completed": {"0": 10.5, "2": 12.25}}]
    found = emulated.measured(BULK, 1, senders, receivers)
    assert found == Measured(pytest.approx(1.0), pytest.approx(30.0), 5, 1)
    cell = replace(SHORT, flows=1, interval_ms=4000)
    assert len(cell.connections(1)) == 3
    times = emulated.measured(cell, 1, senders, receivers).completions_ms
    assert times == [pytest.approx(500.0), math.inf, pytest.approx(250.0)]


def test_sender_and_receiver_exchange_over_loopback(monkeypatch):
    """The program without an emulation: two transfers, of which the first fits the time."""
    import socket
    import threading
    import time

    with socket.create_server(("", 0)) as free:
        monkeypatch.setattr(traffic, "PORT", free.getsockname()[1])
    begin = time.monotonic() + 0.1
    receiver = traffic.Receiver(begin, begin + 5)
    found = {}
    waiting = threading.Thread(target=lambda: found.update(receiver.run(2)))
    waiting.start()
    sender = traffic.Sender(begin, begin, begin + 0.6, "reno")
    asked = [{"number": n, "to": "127.0.0.1", "start_s": 0.1 * n, "size": 100_000 + n} for n in range(2)]
    sent = sender.run(asked, sampled=True)
    waiting.join(5)
    assert found["received"] == {0: 100_000, 1: 100_001}
    assert sent["failed"] == {}
    assert sent["retransmissions"] >= 0
    assert all(0 < rtt < 1 for rtts in sent["rtt_s"].values() for rtt in rtts)
    for number, start_s in ((0, 0.0), (1, 0.1)):
        assert sent["began"][number] >= begin + start_s
        assert 0 < found["completed"][number] - sent["began"][number] < 1


def test_programs_wait_for_each_other(tmp_path):
    import threading

    found = []
    waiting = threading.Thread(target=lambda: found.append(traffic.rendezvous(tmp_path)))
    waiting.start()
    emulated._begin(tmp_path, 1, BULK)
    waiting.join(5)
    assert found == [float((tmp_path / traffic.BEGIN).read_text())]


def test_a_program_that_does_not_start_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(emulated, "START_S", 0.05)
    with pytest.raises(UserError, match=r"the programs at nodes have not started within 0\.05 s"):
        emulated._begin(tmp_path, 1, BULK)


def test_ours_is_read_from_the_tables():
    cell = replace(SHORT, flows=1, interval_ms=3000, wire_loss=0.0)
    found = simulated.simulated(cell, 1)
    assert len(found.completions_ms) == len(cell.connections(1)) == 4
    assert (found.rtt_ms, found.retransmissions, found.timeouts, found.unfinished) == (None, 0, 0, 0)
    # Round trips of 40 ms: the handshake's, and half of one after two for ten and for twenty segments.
    assert all(140 < time < 250 for time in found.completions_ms)
    long = simulated.simulated(replace(cell, transfer_kb=50_000), 1)
    assert long.unfinished == 4
    assert long.completions_ms == [math.inf] * 4
    assert simulated.simulated(replace(BULK, flows=1), 1).rtt_ms > 1.0


def test_many_transfers_are_resolved_less_finely():
    assert simulated.resolution_s(replace(SHORT, flows=1), 1) == 0.002
    assert simulated.resolution_s(replace(SHORT, flows=4), 1) == 0.005
    for each in cells.read():
        if each.cell.is_short:
            rows = len(each.cell.connections(1)) * each.cell.duration_s / simulated.resolution_s(each.cell, 1)
            assert rows <= simulated.MOST_ROWS


# Verdicts


def test_intervals_of_quantiles_are_those_of_order_statistics():
    """Ranks of the table for the median: 2 and 9 of 10 values (Conover), and none below 6."""
    values = [float(value) for value in range(1, 11)]
    found = verdicts.quantile(values[::-1], 0.5)
    assert (found.value, found.low, found.high) == (5.0, 2.0, 9.0)
    assert not verdicts.quantile(values[:5], 0.5).is_bounded
    assert verdicts.quantile(values[:6], 0.5).is_bounded
    for at, least in ((0.95, 72), (0.99, 368)):
        assert math.isinf(verdicts.quantile(range(1, least), at).high)
        assert verdicts.quantile(range(1, least + 1), at).high == least
    with pytest.raises(ValueError, match="at least one"):
        verdicts.quantile([], 0.5)


def test_intervals_of_quantiles_cover_the_truth():
    rng = random.Random(1)
    truth = -math.log(0.05)
    covered = sum(
        found.low <= truth <= found.high
        for found in (verdicts.quantile([rng.expovariate(1.0) for _ in range(200)], 0.95) for _ in range(400))
    )
    assert 0.94 < covered / 400 <= 0.99


def test_bulk_agrees_if_goodput_and_rtt_do():
    theirs = [bulk(20.0, 50.0), bulk(20.1, 50.5), bulk(19.9, 49.5)]
    assert judged(theirs, [bulk(20.4, 52.0), bulk(20.3, 52.2), bulk(20.5, 51.8)]).agreement is Agreement.YES
    assert judged(theirs, [bulk(24.0), bulk(24.1), bulk(23.9)]).agreement is Agreement.NO
    assert judged(theirs, [bulk(20.0, 60.0), bulk(20.0, 60.1), bulk(20.0, 60.2)]).agreement is Agreement.NO
    assert judged(theirs, [bulk(18.0), bulk(20.0), bulk(22.0)]).agreement is Agreement.OPEN
    assert judged(theirs[:1], [bulk()]).agreement is Agreement.OPEN, "one run has no interval"


def test_differences_of_means_are_those_of_pairs():
    """Seeds that differ by a factor of three, and a difference of 1 % in each: Student's interval is 1 % +- 0."""
    theirs = [bulk(10.0, 50.0), bulk(20.0, 50.0), bulk(30.0, 50.0)]
    row = judged(theirs, [bulk(10.2, 50.0), bulk(20.2, 50.0), bulk(30.2, 50.0)])
    assert row.goodput.interval == pytest.approx((0.01, 0.01))
    assert row.agreement is Agreement.YES
    crossed = judged(theirs, [bulk(30.2, 50.0), bulk(20.2, 50.0), bulk(10.2, 50.0)])
    assert crossed.goodput.off == pytest.approx(0.01)
    assert crossed.agreement is Agreement.OPEN


def test_a_kernel_that_carries_nothing_decides_nothing():
    row = judged([bulk(0.0), bulk(0.0)], [bulk(1.0), bulk(2.0)])
    assert row.goodput.interval is None
    assert math.isnan(row.goodput.off)
    assert row.agreement is Agreement.OPEN


def short(times):
    return Measured(1.0, None, 0, 0, times)


def test_transfers_are_judged_by_the_highest_quantile_with_an_interval():
    rng = random.Random(2)

    def times(count, scale=1.0):
        return [short([scale * rng.uniform(95, 105) for _ in range(count)]) for _ in range(2)]

    many = judged(times(400), times(400), SHORT)
    assert (many.decisive, many.agreement, many.transfers) == (0.99, Agreement.YES, 800)
    fewer = judged(times(50), times(50, 1.6), SHORT)
    assert (fewer.decisive, fewer.agreement) == (0.95, Agreement.NO)
    few = judged(times(2), times(2), SHORT)
    assert (few.decisive, few.agreement) == (None, Agreement.OPEN)


def test_transfers_that_the_end_cut_off_are_longest():
    cut = [short([100.0] * 380 + [math.inf] * 20)]
    row = judged(cut, cut, SHORT)
    assert row.unfinished == (20, 20)
    assert row.completions[0.99].ours.value == math.inf
    assert row.completions[0.5].off == 0.0
    assert (row.decisive, row.agreement) == (None, Agreement.OPEN), "a median alone does not decide"


def test_a_cell_that_was_late_is_not_judged():
    on_time, ours = kernel(bulk()), {1: bulk(), 2: bulk()}
    late = verdicts.judged(BULK, {1: on_time, 2: kernel(bulk(), lag_ms=4.1)}, ours)
    assert late.agreement is None
    assert late.not_judged == "not judged: lag p99 4.1 ms, above 2 ms"
    missed = verdicts.judged(BULK, {1: on_time, 2: kernel(bulk(), overflowed=7)}, ours)
    assert missed.not_judged == "not judged: the emulation missed 7 packets"


# Page and command


def test_the_page_is_whole():
    rows = [
        judged([bulk(), bulk(20.2)], [bulk(), bulk(20.1)]),
        judged([short([100.0] * 40)] * 2, [short([101.0] * 39 + [math.inf])] * 2, SHORT),
        verdicts.judged(replace(BULK, transport="bbr"), {1: kernel(bulk(), lag_ms=3.0)}, {1: bulk()}),
    ]
    text = pages.page(rows, ["6.18"])
    assert "@" not in text
    assert "Linux 6.18" in text
    assert "| bulk, bbr | 0 | 0 | 0 | 1 |" in text
    assert "not judged: lag p99 3.0 ms" in text
    assert "80 (cut off: 2, kernel 0)" in text
    assert "nan" not in text


def test_the_command_writes_the_page_from_recorded_figures(tmp_path, monkeypatch, capsys):
    listed = tmp_path / "cells.toml"
    listed.write_text(f'{DEFAULTS}[[cells]]\ntransport = ["reno", "bbr"]\nphy = "11 Mb/s"\n')
    store, page = tmp_path / "runs.jsonl", tmp_path / "page.md"
    cell = cells.read(listed)[0].cell
    store.write_text("".join(recorded.line_of(cell, seed, kernel(bulk())) + "\n" for seed in (1, 2, 3)))
    words = ["kernel", "--cells", str(listed), "--store", str(store), "--runs", "2", str(page)]
    monkeypatch.setattr("sys.argv", words)
    assert main() == 0
    assert "1 cells have no run of the kernel" in capsys.readouterr().out
    assert "| reno, chain-1, 11 Mb/s, drop-tail |" in page.read_text()
    monkeypatch.setattr("sys.argv", [*words, "--only", "bbr"])
    assert main() == 2
    assert "measure some with --measure" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", [*words, "--only", "vegas"])
    assert main() == 2
    assert "no cell has 'vegas'" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", [*words, "--runs", "0"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "found '0'; needs a whole number from 1" in capsys.readouterr().err
