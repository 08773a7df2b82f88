"""Controllers in Python: equal to the engine's, with what their MAC knows, and with one message for each fault."""

from __future__ import annotations

import pickle
import textwrap
from pathlib import Path

import pytest
from tests.controllers import schemes

import multihop

FILE = Path(schemes.__file__)
CHAIN = {
    "duration": "20 s",
    "warmup": "2 s",
    "phy": {"standard": "802.11b", "data_rate": "11 Mb/s"},
    "topology": {"generator": "chain", "hops": 3},
    "flows": [{"name": "flow", "from": "n0", "to": "n3", "scheme": "tcp-newreno"}],
}
RENO = {"schemes.tcp-newreno": {"flavour": "rfc"}}


def network(**changes):
    return {**CHAIN, **changes}


TWO = [{"name": name, "from": "n0", "to": "n3", "scheme": "tcp-newreno"} for name in ("one", "two")]
NETWORKS = {
    "one hop": network(topology={"generator": "chain", "hops": 1}, flows=[{**TWO[0], "to": "n1"}]),
    "three hops": CHAIN,
    "seven hops": network(topology={"generator": "chain", "hops": 7}, flows=[{**TWO[0], "to": "n7"}]),
    "two flows": network(flows=TWO),
    "both ways": network(flows=[TWO[0], {**TWO[1], "from": "n3", "to": "n0"}]),
    "short queue": network(mac={"queue": 5}),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_reno_in_python_is_the_engines_to_the_last_bit(name):
    scenario = NETWORKS[name]
    own = multihop.run(scenario, seed=3, scheme=schemes.Reno)
    engine = multihop.run(scenario, seed=3, scheme="tcp-newreno", set=RENO)
    columns = ["goodput_bps", "delay_p95_s", "retransmissions", "timeouts"]
    assert own.flows[columns].equals(engine.flows[columns])
    assert own.series["window_bytes"].equals(engine.series["window_bytes"])
    assert own.summary["goodput_total_bps"] > 0


def test_window_and_pace_are_what_the_class_sets():
    held = multihop.run(CHAIN, scheme=schemes.Constant)
    assert set(held.series["window_bytes"].dropna()) == {20_000}
    paced = {"schemes.paced": {"base": "python", "class": f"{FILE}:Constant", "arguments": {"pace": 2e5}}}
    result = multihop.run(CHAIN, set={**paced, "flows[*].scheme": "paced"})
    # The pace counts packets with 52 bytes of headers.
    assert result.flows.goodput_bps[0] == pytest.approx(2e5 * 1448 / 1500, rel=0.01)


def test_a_window_below_a_segment_sends_single_segments():
    made = {"base": "python", "class": f"{FILE}:Constant", "arguments": {"window": 1}}
    result = multihop.run(CHAIN, set={"schemes.least": made, "flows[*].scheme": "least"})
    assert result.flows.goodput_bps[0] > 0


def test_a_controller_reads_its_own_mac_at_its_timer():
    schemes.Listening.seen.clear()
    multihop.run(CHAIN, scheme=schemes.Listening, seed=5)
    (controller,) = schemes.Listening.seen
    times = [time for time, _ in controller.macs]
    assert times[:3] == pytest.approx([0.1, 0.2, 0.3])
    assert len(times) == 200
    mac = controller.macs[-1][1]
    assert 0 < mac.busy_ratio < 1
    assert 0 < mac.service_delay_s < 0.1
    assert 1e6 < mac.packet_throughput_bps < 11e6
    assert mac.transmission_efficiency is None, "no estimator of it was named"
    assert max(mac.queued_packets for _, mac in controller.macs) > 1
    assert controller.now_s <= 20, "kept after the run, it still has its last values"


def test_runs_are_repeated_to_the_bit():
    first, second = (multihop.run(CHAIN, scheme=schemes.Listening, seed=5) for _ in range(2))
    assert first.series.equals(second.series)
    other = multihop.run(CHAIN, scheme=schemes.Listening, seed=6)
    assert not first.series.equals(other.series)


def test_compare_runs_classes_and_names_in_processes_as_in_this_thread():
    both = multihop.compare(CHAIN, ["tcp-newreno", schemes.Reno], seeds=2, jobs=2)
    again = multihop.compare(CHAIN, [f"{FILE}:Reno"], seeds=2)
    alone = [multihop.run(CHAIN, scheme=schemes.Reno, seed=seed).summary["goodput_total_bps"] for seed in (1, 2)]
    for comparison in (both, again):
        rows = comparison.flows[comparison.flows["variant"] == "Reno"]
        assert rows["goodput_bps"].tolist() == alone


def test_a_class_of_a_notebook_is_sent_by_value_and_identified_by_source_and_closure():
    def made(gain):
        class Local(multihop.Controller):
            def on_acked(self, acked):
                self.window_bytes += gain

        return Local

    compared = multihop.compare(CHAIN, [made(10.0)], seeds=2)
    assert compared.flows["goodput_bps"].gt(0).all()
    hashes = [multihop.check(CHAIN, scheme=made(gain))["hash"] for gain in (10.0, 10.0, 20.0)]
    assert hashes[0] != hashes[2], "the closure differs"


def test_an_edited_file_is_another_run(tmp_path):
    file = tmp_path / "own.py"
    text = textwrap.dedent(
        """
        import multihop
        class Own(multihop.Controller):
            def on_acked(self, acked):
                self.window_bytes = 20_000
        """
    )
    file.write_text(text)
    before = multihop.check(CHAIN, scheme=f"{file}:Own")["hash"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "own.py").write_text(text)
    assert multihop.check(CHAIN, scheme=f"{elsewhere / 'own.py'}:Own")["hash"] == before, "the folder does not matter"
    file.write_text(text.replace("20_000", "20_001"))
    assert multihop.check(CHAIN, scheme=f"{file}:Own")["hash"] != before


def test_a_file_is_relative_to_the_scenario_that_names_it(tmp_path):
    (tmp_path / "own.py").write_text(FILE.read_text())
    file = tmp_path / "chain.toml"
    file.write_text(
        """
        duration = "5 s"
        topology = { generator = "chain", hops = 1 }
        flows = [{ from = "n0", to = "n1", scheme = "own" }]
        [schemes.own]
        base = "python"
        class = "own.py:Constant"
        arguments = { window = 4000 }
        """
    )
    assert set(multihop.run(file).series["window_bytes"].dropna()) == {4000}


def test_a_controller_works_in_steps():
    whole = multihop.run(CHAIN, scheme=schemes.Reno, seed=3)
    stepped = multihop.Run(CHAIN, scheme=schemes.Reno, seed=3)
    while stepped.step(stepped.now_s + 0.7) is not None:
        pass
    assert stepped.result().flows.equals(whole.flows)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("NotANumber", r"NotANumber: on_acked raised ValueError: window_bytes: found NaN; needs .* at 2\.\d+ s of vir"),
        (
            "Negative",
            r"Negative: on_sent raised ValueError: pace_bps: found -1\.0; needs bits per second from 8 to 1e15",
        ),
        ("Huge", r"Huge: on_acked raised ValueError: window_bytes: found 1e\+?300; needs a number of bytes from 0"),
        ("InThePast", r"InThePast: on_acked raised ValueError: timer_s: found .*; needs a time in seconds from now_s"),
        ("Raises", r"Raises: on_acked raised KeyError: 'lost my notes' at \d+\.\d+ s of virtual time, in flow 0$"),
        ("RaisesAtOnce", r"RaisesAtOnce.*: __init__ raised RuntimeError: no luck today at 0\.000000 s"),
        ("Mutates", r"Mutates: on_acked raised AttributeError: attribute 'bytes' of 'multihop.Acked' objects is not"),
    ],
)
def test_an_exception_ends_the_run_with_its_traceback_and_the_time(name, message):
    with pytest.raises(multihop.CallbackError, match=message) as raised:
        multihop.run(CHAIN, scheme=getattr(schemes, name))
    cause = raised.value.__cause__
    assert Path(cause.__traceback__.tb_frame.f_code.co_filename) == FILE
    # The next run of this process is not affected.
    assert multihop.run(CHAIN, scheme=schemes.Constant).flows.goodput_bps[0] > 0


def test_an_exception_in_another_process_says_the_same():
    with pytest.raises(multihop.CallbackError, match=r"Raises: on_acked raised KeyError: 'lost my notes' at") as raised:
        multihop.compare(CHAIN, [schemes.Raises], seeds=2)
    assert "lost my notes" in str(raised.value.__cause__), "the traceback as text"


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        (schemes.Silent, 'found "Silent", which defines no method; define one of start, on_acked'),
        (schemes.NoController, 'found "NoController", which is a class; needs a subclass of multihop.Controller'),
        (f"{FILE}:Rene", f'found "{FILE}:Rene", but {FILE} has no Rene; did you mean "Reno"'),
        ("nowhere.py:Reno", "cannot be read: No such file or directory; name a file with a class"),
        ("no.such.module:Reno", "module no.such.module raised ModuleNotFoundError: No module named 'no'"),
        (f"{FILE}:", "needs a file or a module and a class"),
    ],
)
def test_a_class_that_cannot_be_used_is_refused_in_a_sentence(scheme, message):
    with pytest.raises(multihop.UserError) as raised:
        multihop.run(CHAIN, scheme=scheme)
    assert message in str(raised.value), str(raised.value)


def test_a_file_with_a_mistake_is_refused_with_its_line(tmp_path):
    file = tmp_path / "own.py"
    file.write_text("import multihop\n\nclass Own(multihop.Controller)\n    pass\n")
    with pytest.raises(multihop.UserError, match=r"own\.py raised SyntaxError: .* in line 3; correct the file"):
        multihop.run(CHAIN, scheme=f"{file}:Own")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"class": "Required", "arguments": {}}, "own.class: Required.__init__: missing a required argument: 'gain'"),
        ({"class": "Reno", "arguments": {"x": 1}}, "own.arguments: Reno.__init__: got an unexpected keyword argument"),
        ({"class": "Listening", "arguments": {"x": 1}}, "own.arguments: found x, but Listening has no __init__"),
        ({}, 'schemes.own: found no class; name one, as in class = "my.py:MyScheme"'),
    ],
)
def test_arguments_are_checked_before_a_run(table, message):
    made = {"base": "python", **table}
    if "class" in made:
        made["class"] = f"{FILE}:{made['class']}"
    with pytest.raises(multihop.ScenarioError) as raised:
        multihop.check(CHAIN, set={"schemes.own": made})
    assert message in str(raised.value), str(raised.value)


def test_a_class_that_holds_a_lock_cannot_be_sent():
    import threading

    lock = threading.Lock()

    class Locked(multihop.Controller):
        def on_acked(self, acked):
            with lock:
                self.window_bytes = 20_000

    with pytest.raises(multihop.UserError, match=r"Locked\", which cannot be sent to other processes \(TypeError"):
        multihop.compare(CHAIN, [Locked], seeds=2)


def test_samples_can_be_kept_and_controllers_made_by_hand():
    controller = schemes.Constant(5_000)
    assert (controller.window_bytes, controller.segment_bytes, controller.pace_bps) == (5_000, 1448, None)
    with pytest.raises(TypeError):
        pickle.dumps(controller)


def test_a_router_in_python_marks_as_the_engines_to_the_last_bit():
    seven = NETWORKS["seven hops"]
    own = multihop.run(seven, seed=2, scheme=schemes.EcnReno)
    engine = multihop.run(seven, seed=2, scheme="ecn-busy", set={"schemes.ecn-busy": {"flavour": "rfc"}})
    assert own.flows["ecn_reductions"].sum() > 0
    assert own.flows["goodput_bps"].equals(engine.flows["goodput_bps"])
    assert own.series["window_bytes"].equals(engine.series["window_bytes"])


def test_routers_write_a_header_that_acknowledgements_return():
    schemes.QueuePrice.queues.clear()
    result = multihop.run({**CHAIN, "duration": "40 s"}, scheme=schemes.QueuePrice)
    later = schemes.QueuePrice.queues[len(schemes.QueuePrice.queues) // 2 :]
    assert 1500 < sum(later) / len(later) < 9000, "about three packets of 1500 bytes"
    newreno = multihop.run({**CHAIN, "duration": "40 s"}, scheme="tcp-newreno")
    assert result.flows.delay_p95_s[0] < newreno.flows.delay_p95_s[0]
    assert result.flows.goodput_bps[0] > 0.5 * newreno.flows.goodput_bps[0]


def test_a_router_can_drop():
    result = multihop.run(CHAIN, scheme=schemes.Dropped)
    series = result.series.set_index("time_s")["goodput_bps"]
    assert series[series.index < 5].mean() > 0
    assert series[series.index > 6].sum() == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "Undecided",
            r'Misspelt: on_arrival raised ValueError: returned marked; needs "mark", "drop" or None at .* node',
        ),
        ("TooLong", r"LongHeader: on_arrival raised ValueError: header: found 5 bytes; needs 4, as in this packet"),
    ],
)
def test_a_fault_of_a_router_ends_the_run(name, message):
    with pytest.raises(multihop.CallbackError, match=message):
        multihop.run(CHAIN, scheme=getattr(schemes, name))
