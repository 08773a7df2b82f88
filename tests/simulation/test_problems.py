"""The six networks of the tutorial: each has the problem that the page names, and the remedy helps."""

import multihop
from conftest import SCENARIOS

PROBLEMS = SCENARIOS / "problems"


def flows(name, scheme="tcp-cubic", seeds=3, vary=None, **changes):
    """The table of flows over all seeds."""
    return multihop.compare(PROBLEMS / f"{name}.toml", [scheme], seeds=seeds, vary=vary, set=changes).flows


def test_a_discipline_in_front_of_the_wire_is_what_the_call_needs():
    def call(**changes):
        table = flows("home-bufferbloat", vary="download", **changes)
        return table[table["name"] == "call"]["delay_p95_s"].max()

    assert call() > 1.5
    assert call(**{"topology.wires[0].discipline": "fq-codel"}) < 0.05


def test_no_house_of_the_village_starves_when_senders_are_paced_by_the_path():
    least = {scheme: flows("village", scheme)["goodput_bps"].min() for scheme in ("tcp-cubic", "tcp-ap")}
    assert least["tcp-cubic"] < 50e3
    assert least["tcp-ap"] > 250e3


def test_a_relay_keeps_the_video_of_the_drone():
    def goodput(**changes):
        return flows("drone", "udp", **changes)["goodput_bps"].mean()

    assert goodput() < 1e6
    assert goodput(**{"topology.nodes[1].position": ["220 m", "0 m"]}) > 1.45e6


def test_rts_serves_both_hidden_uploads():
    def least(scheme, **changes):
        return flows("hidden-uploads", scheme, seeds=5, **changes)["goodput_bps"].min()

    for scheme in ("tcp-cubic", "recn"):
        assert least(scheme) < 1e6
        assert least(scheme, **{"mac.rts_threshold": "0 B"}) > 5e6


def test_queues_by_station_are_what_calls_of_a_classroom_need():
    def calls(**changes):
        table = flows("classroom", seeds=1, vary="download*", **changes)
        return table[table["name"].str.startswith("call")]["delay_p95_s"]

    assert calls().min() > 0.4
    assert calls(**{"mac.discipline": "stations"}).max() < 0.05


def test_a_scheme_that_measures_the_rate_fills_a_lossy_line():
    goodput = {scheme: flows("lossy-backhaul", scheme)["goodput_bps"].mean() for scheme in ("tcp-cubic", "tcp-bbr")}
    assert goodput["tcp-bbr"] > 4 * goodput["tcp-cubic"]
