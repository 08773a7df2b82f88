"""Estimators on captures: the same as in the run that was captured, and options of the command."""

import re
import tomllib

import pandas as pd
import pytest
from validation import measured_back

from conftest import SCENARIOS
from multihop import UserError, measure, run
from multihop.report.measurement import page

#: What is on the air, or follows from it.
EXACT = {"rt-winf", "rt-winf strict", "rt-winf-probe", "idlegap"}


@pytest.fixture(scope="module")
def hidden():
    return measured_back.rows(measured_back.hidden_terminal(12))


@pytest.fixture(scope="module")
def chain():
    return measured_back.rows(measured_back.chain(12))


def test_between_hidden_terminals_the_same_events_give_the_same_numbers(hidden):
    exact = [row for row in hidden if row.estimator in EXACT]
    assert len(exact) == 3 * len(EXACT) * 2, "three nodes, capacity and what is left of it"
    for row in exact:
        assert row.instants == 11
        assert row.different == 0, row
        assert row.measured == pytest.approx(row.simulated, rel=1e-12)


def test_a_sender_decodes_all_that_it_senses_and_the_receiver_does_not(hidden):
    busy = {row.node: row for row in hidden if row.estimator == "busy-ratio"}
    for sender in ("n0", "n2"):
        assert busy[sender].different == 0
        assert abs(busy[sender].bias(busy[sender].measured)) < 0.02
    assert busy["n1"].measured < busy["n1"].truth, "collisions are on no capture"


def test_service_of_a_station_that_always_has_more_to_send(hidden):
    for row in hidden:
        if row.estimator in ("fsd", "fte"):
            assert row.different <= row.instants // 2, row
            assert row.measured == pytest.approx(row.simulated, rel=0.05)


def test_along_a_chain_capacities_are_the_same_and_navs_nearly(chain):
    exact = [row for row in chain if row.estimator in EXACT]
    assert {row.node for row in exact} == {"n0", "n1", "n2", "n3"}
    for row in exact:
        if row.quantity == "capacity_bps":
            assert row.different == 0, row
        # A station senses that something follows an RTS of which it decodes nothing more; a capture does not.
        assert row.different <= 3, row
        assert row.measured == pytest.approx(row.simulated, rel=1e-3)


def test_of_a_mpdus_a_sender_s_numbers_come_back_per_mpdu():
    own = [row for row in measured_back.rows(measured_back.aggregated(6)) if row.node == "n0"]
    exact = {"rt-winf", "rt-winf-probe"}
    assert {row.estimator for row in own if not row.different} >= exact
    for row in own:
        if row.estimator in ("fsd", "fte", "packet-throughput"):
            assert row.measured == pytest.approx(row.simulated, rel=0.01), row


def test_a_cf_end_returns_what_was_reserved():
    ends = [{"name": name, "position": [f"{x} m", "0 m"]} for name, x in (("ap", 0), ("b", 5), ("c", -5))]
    app = {"kind": "cbr", "rate": "2 Mb/s", "packet": "1000 B"}
    scenario = {
        "duration": "4 s",
        "record_interval": "1 s",
        "phy": {"standard": "802.11n", "data_rate": "MCS 7"},
        "mac": {"aggregation": {"a_mpdu": "off"}},
        "topology": {"nodes": ends},
        "flows": [{"from": name, "to": "ap", "scheme": "udp", "app": app | {"dscp": "EF"}} for name in "bc"],
        "measure": [{"estimator": "idlegap"}],
    }
    left = {}
    for protection in ("single", "multiple"):
        edca = {"mac": scenario["mac"] | {"edca": {"protection": protection}}}
        rows = measured_back.rows(scenario | edca | {"name": protection})
        assert all(row.measured == pytest.approx(row.simulated, rel=1e-3) for row in rows)
        left[protection] = [row.measured for row in rows if row.quantity == "available_bps"]
    # Without CF-Ends half of the time is reserved; they take a hundredth of it themselves.
    assert left["multiple"] == pytest.approx(left["single"], rel=0.05)


def test_a_cf_end_is_of_the_station_that_had_the_exchange(tmp_path):
    scenario = {
        "duration": "2 s",
        "phy": {"standard": "802.11n", "data_rate": "MCS 7"},
        "mac": {"aggregation": {"a_mpdu": "off"}, "edca": {"protection": "multiple"}},
        "topology": {"generator": "chain", "hops": 1, "spacing": "5 m"},
        "traffic": {
            "pattern": "canonical",
            "scheme": "udp",
            "app": {"kind": "cbr", "rate": "2 Mb/s", "packet": "1000 B", "dscp": "EF"},
        },
    }
    run(scenario, pcap=tmp_path / "a.pcapng")
    stations = measure(tmp_path / "a.pcapng").stations
    assert set(stations["station"]) == {"02:00:00:00:00:00", "02:00:00:00:00:01"}, "a BSSID is no station"
    sender = stations[stations["station"] == "02:00:00:00:00:00"]
    assert (sender["frames"] == 2 * sender["data_frames"]).all(), "a CF-End after each exchange"


def test_a_link_has_the_aggregates_tries_and_rates_of_the_run(tmp_path, inline):
    scenario = measured_back.aggregated(4)
    done = run(scenario, pcap=tmp_path / "a.pcapng")
    found = measure(tmp_path / "a.pcapng")
    at_sender = found.sniffers[0].interface
    names = {"sender": "02:00:00:00:00:00", "receiver": "02:00:00:00:00:01"}

    def of(table):
        return table[(table[list(names)] == pd.Series(names)).all(axis=1) & (table["interface"] == at_sender)]

    link, ours = of(found.links).iloc[0], done.links.query("sender_name == 'n0' and receiver_name == 'n1'").iloc[0]
    assert link["aggregate_mean"] == pytest.approx(ours["aggregate_mean"], rel=0.02)
    assert link["tries_mean"] == pytest.approx(1 / 0.9, rel=0.02)
    assert link["rate_mean_bps"] == ours["rate_mean_bps"] == 65e6
    assert link["airtime"] == pytest.approx(ours["airtime"], rel=0.02)
    rates = of(found.rates)
    assert list(rates["rate_bps"]) == [65e6]
    assert list(rates["frames"]) == [link["frames"]]
    assert list(rates["share"]) == [1.0]
    assert "65: 100" in inline("measure", tmp_path / "a.pcapng", "--all").out


def test_rates_of_a_link_add_up(tmp_path):
    scenario = tomllib.loads((SCENARIOS / "wlan-rates.toml").read_text())
    done = run(scenario, set={"duration": "3 s", "warmup": "0 s"}, pcap=tmp_path / "r.pcapng")
    found = measure(tmp_path / "r.pcapng")
    rates = found.rates[found.rates["interface"] == found.sniffers[0].interface]
    sums = rates.groupby(["sender", "receiver"])["share"].sum()
    assert len(rates) > 4, "minstrel-ht samples"
    assert list(sums) == pytest.approx([1.0] * len(sums))
    links = found.links[found.links["interface"] == found.sniffers[0].interface]
    far = links[links["receiver"] == "02:00:00:00:00:02"].iloc[0]
    ours = done.links[done.links["receiver"] == 2].iloc[0]
    assert far["rate_mean_bps"] == pytest.approx(ours["rate_mean_bps"], rel=0.05)


def test_screen_and_report_say_the_same_of_rare_rates(tmp_path, inline, monkeypatch):
    scenario = tomllib.loads((SCENARIOS / "wlan-rates.toml").read_text())
    capture = tmp_path / "r.pcapng"
    run(scenario, set={"duration": "3 s", "warmup": "0 s"}, pcap=capture)
    found = measure(capture)
    assert ((found.rates["share"] > 0) & (found.rates["share"] < 0.0005)).any(), "minstrel-ht samples"
    report = page(found)
    bit_rates = report[report.index("Bit rates of data") :]
    assert "&lt; 0.1 %" in bit_rates
    assert ">0.0 %" not in bit_rates
    monkeypatch.setenv("COLUMNS", "180")
    lines = inline("measure", capture, "--all").out.splitlines()
    assert any("< 0.1 %" in line for line in lines)
    # Where an entry is broken, a line ends with its bit rate, or begins with the rest of it.
    assert not [line for line in lines if re.search(r": *$|: [0-9.< ]+$|^ *(< )?[0-9.]+ %|^ *%", line)]


def test_rt_winf_is_not_the_throughput_of_a_link(chain):
    rt_winf = next(row for row in chain if (row.estimator, row.quantity) == ("rt-winf", "capacity_bps"))
    # 1500 bytes over DATA and ACK, with LLC and whole symbols; alone, 4.50 Mb/s.
    assert rt_winf.measured == pytest.approx(7.43e6, rel=1e-2)
    assert rt_winf.truth == pytest.approx(4.50e6, rel=1e-2)


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    path = tmp_path_factory.mktemp("capture") / "chain.pcapng"
    run(measured_back.chain(3), pcap=path)
    return path


def test_estimates_sit_at_the_station_that_is_asked_for(capture):
    own = measure(capture)
    assert [sniffer.at for sniffer in own.sniffers] == [f"02:00:00:00:00:0{node}" for node in range(4)]
    # n1 as n0 saw it: its own frames, but not what n2 answers.
    other = measure(capture, station="02:00:00:00:00:01")
    assert {sniffer.at for sniffer in other.sniffers} == {"02:00:00:00:00:01"}
    assert other.sniffers[0].own == "02:00:00:00:00:00"
    assert not own.estimates.equals(other.estimates)
    # What n0's host sent is heard by n1: it is nothing that n1 sent itself.
    heard = other.estimates[(other.estimates["interface"] == 0) & (other.estimates["estimator"] == "rt-winf-probe")]
    assert heard["capacity_bps"].iloc[-1] == pytest.approx(7.38e6, rel=1e-2)
    with pytest.raises(UserError, match=r"02:00:00:00:00:77.*which no frame of"):
        measure(capture, station="02:00:00:00:00:77")
    with pytest.raises(UserError, match="the address of one station"):
        measure(capture, station="n1")


def test_estimators_and_their_options_come_from_a_file(capture, inline, tmp_path):
    tables = tmp_path / "estimators.toml"
    tables.write_text('[[measure]]\nestimator = "busy-ratio"\nname = "half"\nwindow = "500 ms"\nat = ["n7"]\n')
    found = measure(capture, bin="500 ms", estimators=tables)
    assert set(found.estimates["estimator"]) == {"half"}
    assert found.estimates["capacity_bps"].isna().all()
    assert found.estimates["busy_ratio"].notna().any()
    for text, complaint in [
        ("", "no [[measure]] table"),
        ('[[measure]]\nestimator = "adhoc-probe"', "a capture does not hold"),
        ('[[measure]]\nestimator = "rt-wimf"', "rt-winf"),
        ('[[measure]]\nestimator = "fsd"\nsmoothing = 2', "up to 1"),
        ("[[measure]]\nestimator = ", "not valid TOML"),
    ]:
        tables.write_text(text)
        assert complaint in inline("measure", capture, "--estimators", tables).fails_cleanly()
    assert "no such file" in inline("measure", capture, "--estimators", tmp_path / "none.toml").fails_cleanly()


def test_several_captures_are_put_side_by_side(capture, inline, tmp_path):
    short = inline("measure", capture).out
    assert "as each sniffer saw it" in short
    assert "estimates at" not in short
    said = inline("measure", capture, "--all").out
    assert "as each sniffer saw it" in said
    assert "estimates at 02:00:00:00:00:02" in said
    second = tmp_path / "again.pcapng"
    second.write_bytes(capture.read_bytes())
    both = inline("measure", capture, second)
    assert "again.pcapng, n0" in both.out
    assert len(inline("measure", capture, second, "--json").json()) == 2
    assert "give a single capture" in inline("measure", capture, second, "--out", tmp_path / "out").fails_cleanly()


def test_estimates_are_among_the_tables_and_pictures(capture, inline, tmp_path):
    assert inline("measure", capture, "--out", tmp_path / "m", "--bin", "500 ms").code == 0
    assert (tmp_path / "m" / "estimates.parquet").exists()
    assert "Available bandwidth over time" in (tmp_path / "m" / "report.html").read_text()
