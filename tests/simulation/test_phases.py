"""Flows of equal intervals at one queue: who gets in is decided by their phase, and results say so."""

import multihop
from multihop.experiments.remarks import phases

#: Two downloads through one access point, which offer more than its radio can send.
DOWNLOADS = {
    "duration": "1500 ms",
    "warmup": "500 ms",
    "phy": {"standard": "802.11g", "data_rate": "54 Mb/s"},
    "medium": {"model": "sinr"},
    "topology": {
        "generator": "wlan",
        "clients": 2,
        "radius": "5 m",
        "direction": "down",
        "server": {"rate": "1 Gb/s", "delay": "1 ms"},
    },
    "traffic": {
        "pattern": "canonical",
        "scheme": "udp",
        "app": {"kind": "cbr", "rate": "100 Mb/s", "packet": "1470 B"},
    },
}

JITTERED = {"traffic.app": {"kind": "cbr", "rate": "100 Mb/s", "packet": "1470 B", "jitter": 0.1}}
SLOW = {"traffic.app": {"kind": "cbr", "rate": "5 Mb/s", "packet": "1470 B"}}
POISSON = {"traffic.app": {"kind": "poisson", "rate": "100 Mb/s", "packet": "1470 B"}}


def test_flows_of_one_period_that_differ_are_named_with_their_numbers():
    comparison = multihop.compare(DOWNLOADS, ["udp"], seeds=1)
    [said] = phases.sentences(comparison)
    rates = sorted(comparison.rates("udp")[0] / 1e6)
    assert rates[1] > 2 * rates[0]
    assert f"{rates[1]:.3g}" in said
    assert f"{rates[0]:.3g}" in said
    assert "the full queue of n0:" in said
    assert "jitter = 0.1" in said
    assert said in comparison.verdict()


def test_jitter_breaks_the_phase_and_ends_the_remark():
    for changes in (JITTERED, SLOW, POISSON):
        comparison = multihop.compare(DOWNLOADS, ["udp"], seeds=1, set=changes)
        rates = comparison.rates("udp")[0]
        assert max(rates) < 1.25 * min(rates)
        assert phases.sentences(comparison) == []


def test_flows_share_a_queue_where_they_leave_by_one_radio_or_one_wire():
    view = multihop.check(DOWNLOADS)
    [group] = phases.in_phase(view)
    assert (group.flows, [view["nodes"][node]["name"] for node in group.nodes]) == ((0, 1), ["n3", "n0"])
    assert abs(group.interval_s - 1470 * 8 / 100e6) < 1e-9
    up = multihop.check(DOWNLOADS, set={"topology.direction": "up"})
    assert [[view["nodes"][node]["name"] for node in group.nodes] for group in phases.in_phase(up)] == [["n0"]]
    other = {
        "name": "b",
        "from": "n0",
        "to": "n2",
        "scheme": "udp",
        "app": {"kind": "cbr", "rate": "9 Mb/s", "packet": "1470 B"},
    }
    differs = {"flows": [{**other, "name": "a", "app": {**other["app"], "rate": "8 Mb/s"}}, other]}
    listed = {name: value for name, value in DOWNLOADS.items() if name != "traffic"} | differs
    assert phases.in_phase(multihop.check(listed)) == []


def test_flows_of_tcp_have_no_phase():
    assert phases.in_phase(multihop.check(DOWNLOADS, set={"traffic.scheme": "tcp-newreno"})) == []


def test_check_warns_of_a_queue_that_overflows(inline, tmp_path):
    from multihop.simulation.scenario import inline_toml

    file = tmp_path / "downloads.toml"
    file.write_text("".join(f"{key} = {inline_toml(value)}\n" for key, value in DOWNLOADS.items()))
    shown = inline("check", file)
    assert shown.code == 0
    assert "n3->n1 and n3->n2 send at equal intervals of 0.118 ms through the queue of n0" in shown.err
    assert "jitter = 0.1" in shown.err
    assert "remark" not in inline("check", file, "--set", 'traffic.app.rate="5 Mb/s"').err
    assert "their phase decides" in inline("run", file).out


def test_many_flows_are_shortened():
    flows = [{"name": f"f{i}", "path": [0, 1], "interval": 0.01} for i in range(9)]
    view = {"nodes": [{"name": "a"}, {"name": "b"}], "wires": [], "flows": flows}
    demand = {"offered_bps": 8e5, "payload_bytes": 1000, "forward": [{"link": 0, "airtime_s": 0.002, "access_s": 0.0}]}
    capacity = {"links": [(0, 1)], "demands": [demand] * 9}
    [said] = phases.warnings(view, capacity)
    assert said.startswith("f0, f1, f2, f3 and 5 more send at equal intervals of 10 ms through the queue of a")
