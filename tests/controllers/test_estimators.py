"""Estimators in Python: equal to the engine's in runs and captures, and with one message for each fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.controllers import estimators
from tests.controllers.test_controllers import CHAIN, network

import multihop

FILE = Path(estimators.__file__)
#: Estimators of the engine, and the same ones in Python, with the column of their values.
PAIRS = [
    ({"estimator": "fsd"}, {"class": f"{FILE}:Delay"}, "service_delay_s"),
    (
        {"estimator": "busy-ratio", "window": "500 ms"},
        {"class": f"{FILE}:Busy", "arguments": {"window": 0.5}},
        "busy_ratio",
    ),
]
NETWORKS = {
    "three hops": CHAIN,
    "losses": network(topology={"generator": "chain", "hops": 5}, flows=[{**CHAIN["flows"][0], "to": "n5"}]),
    "aggregates": {
        "duration": "5 s",
        "phy": {"standard": "802.11n", "data_rate": "MCS 4"},
        "topology": {"generator": "chain", "hops": 2},
        "flows": [{"from": "n0", "to": "n2", "scheme": "tcp-newreno"}],
    },
}


def compared(scenario, pair):
    engine, own, column = pair
    tables = [engine, {"estimator": "python", "name": "own", **own}]
    measured = multihop.run(scenario, seed=2, set={"measure": tables}).measurements
    return measured.pivot(index=["time_s", "node"], columns="estimator", values=column)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("pair", PAIRS, ids=["fsd", "busy-ratio"])
def test_estimates_are_the_engines(name, pair):
    values = compared(NETWORKS[name], pair)
    engine, own = values[pair[0]["estimator"]], values["own"]
    assert engine.notna().sum() > 20
    assert own.to_numpy() == pytest.approx(engine.to_numpy(), abs=1e-9, nan_ok=True)


def test_every_event_is_reported():
    estimators.Counting.kinds.clear()
    aggregates = {**NETWORKS["aggregates"], "mac": {"rts_threshold": "0 B"}}
    measured = multihop.run(aggregates, set={"measure": [{"estimator": "python", "class": estimators.Counting}]})
    five = multihop.run(NETWORKS["losses"], set={"measure": [{"estimator": "python", "class": estimators.Counting}]})
    expected = ("attempt", "acknowledged", "mpdu", "rts", "cts", "data", "ack", "nav", "arrived", "read", "retry_limit")
    assert set(expected) <= set(estimators.Counting.kinds)
    assert set(five.measurements["capacity_bps"]) == {11e6}
    assert set(measured.measurements["estimator"]) == {"Counting"}


def test_controllers_and_routers_read_them():
    estimators.Reads.seen.clear()
    estimators.MarksByDelay.seen.clear()
    multihop.run(CHAIN, scheme=estimators.Reads)
    delays, shares = zip(*estimators.Reads.seen, strict=True)
    assert all(0 < delay < 1 for delay in delays)
    assert all(share is None or 0.3 < share <= 1 for share in shares)
    assert sum(share is not None for share in shares) > 100
    multihop.run(CHAIN, scheme=estimators.Routed)
    assert len(estimators.MarksByDelay.seen) > 100


def test_classes_go_to_other_processes_and_are_part_of_the_runs_identity(tmp_path):
    class Bytes(multihop.Estimator):
        def on_exchange(self, exchange):
            self.capacity_bps = exchange.size_bytes

    scenario = {**CHAIN, "duration": "4 s", "measure": [{"estimator": "python", "class": Bytes}]}
    runs = multihop.compare(scenario, ["tcp-newreno", "tcp-vegas"], seeds=2)
    assert len(runs.flows) == 4
    file = tmp_path / "own.py"
    text = "import multihop\nclass Own(multihop.Estimator):\n    def on_busy(self, busy):\n        self.busy_ratio = {}"
    hashes = set()
    for value in (0.25, 0.5):
        file.write_text(text.format(value))
        hashes.add(multihop.check(CHAIN, set={"measure": [{"estimator": "python", "class": f"{file}:Own"}]})["hash"])
    assert len(hashes) == 2


def test_a_capture_is_measured_with_them(tmp_path):
    capture = tmp_path / "chain.pcapng"
    multihop.run(CHAIN, pcap=capture)
    delay = {"estimator": "python", "class": estimators.Delay, "name": "own"}
    found = multihop.measure(capture, estimators=["fsd", delay, estimators.Busy])
    assert set(found.estimates["estimator"]) == {"fsd", "own", "Busy"}
    for station in range(4):
        of = found.estimates[found.estimates["interface"] == station]
        engine, own = (of[of["estimator"] == name]["service_delay_s"].to_numpy() for name in ("fsd", "own"))
        assert own == pytest.approx(engine, abs=1e-12, nan_ok=True)


FAULTS = [
    ("NoNumber", "NoNumber: on_busy raised ValueError: busy_ratio: found NaN; needs a share from 0 to 1, or None at"),
    ("Above", "Above: on_exchange raised ValueError: busy_ratio: found 1.5; needs a share from 0 to 1, or None at"),
    ("Negative", "on_read raised ValueError: capacity_bps: found -1.0; needs a number from 0 to 1e15, or None at"),
    ("Raises", "Raises: on_decoded raised KeyError: 'nothing' at"),
    ("RaisesAtOnce", "RaisesAtOnce: __init__ raised OSError: no file at"),
]


@pytest.mark.parametrize(("name", "message"), FAULTS)
def test_a_fault_ends_the_run_and_the_measurement(name, message, tmp_path):
    with pytest.raises(multihop.CallbackError) as raised:
        multihop.run(CHAIN, set={"measure": [{"estimator": "python", "class": f"{FILE}:{name}"}]})
    assert message in str(raised.value), str(raised.value)
    capture = tmp_path / "chain.pcapng"
    multihop.run({**CHAIN, "duration": "2 s", "warmup": "0 s"}, pcap=capture)
    with pytest.raises(multihop.CallbackError) as raised:
        multihop.measure(capture, estimators=[getattr(estimators, name)])
    assert message in str(raised.value), str(raised.value)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"class": f"{FILE}:Methodless"}, "which defines no method; define one of on_attempt, on_exchange"),
        ({"class": f"{FILE}:Dely"}, 'has no Dely; did you mean "Delay"'),
        ({"class": f"{FILE}:Reads"}, "which is a class; needs a subclass of multihop.Estimator"),
        ({"class": ""}, "measure[0].class: found no class; name one"),
        ({}, "measure[0].class: missing"),
        ({"class": f"{FILE}:Delay", "arguments": {"x": 1}}, "measure[0].arguments: Delay.__init__: got an unexpected"),
    ],
)
def test_a_class_is_checked_before_a_run(table, message):
    with pytest.raises(multihop.ScenarioError) as raised:
        multihop.check(CHAIN, set={"measure": [{"estimator": "python", **table}]})
    assert message in str(raised.value), str(raised.value)


def test_estimators_of_a_capture_are_checked(tmp_path):
    with pytest.raises(multihop.UserError, match=r"estimators: found \"Methodless\", which defines no method"):
        multihop.measure(tmp_path / "a.pcapng", estimators=[estimators.Methodless])
