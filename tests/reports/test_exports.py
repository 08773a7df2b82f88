"""Exports: NetJSON, the JSON of iperf3, and data files of flent, of runs, folders and scenarios."""

import gzip
import json

import jsonschema
import pytest

import multihop
from conftest import CHAIN
from multihop.base.errors import UserError
from multihop.importers import Options, read

NETWORK = """
duration = "6 s"
warmup = "2 s"
record_interval = "500 ms"
[phy]
standard = "802.11b"
[medium]
model = "matrix"
quantity = "delivery"
[topology]
nodes = [{ name = "a", position = ["0 m", "0 m"] }, { name = "b", position = ["50 m", "0 m"] }, { name = "c" }]
links = [
  { from = "a", to = "b", delivery = 0.9, reverse = 0.8 },
  { from = "b", to = "c", delivery = 1.0, reverse = 1.0 },
  { from = "a", to = "c", delivery = 0.1 },
]
[[flows]]
from = "a"
to = "c"
scheme = "tcp-newreno"
[[flows]]
from = "c"
to = "a"
scheme = "udp"
app = { kind = "cbr", rate = "100 kb/s", packet = "500 B" }
"""


@pytest.fixture(scope="module")
def result():
    return multihop.run(NETWORK)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = multihop.compare(NETWORK, ["tcp-newreno", "tcp-vegas"], seeds=2, jobs=1)
    return made.save(tmp_path_factory.mktemp("results"))


class TestNetJson:
    def test_a_scenario_has_etx_of_both_directions(self):
        graph = multihop.export(NETWORK, "netjson")
        links = {(link["source"], link["target"]): link for link in graph["links"]}
        there, back = (links[pair]["properties"]["delivery"] for pair in (("a", "b"), ("b", "a")))
        assert there > back
        assert links["a", "b"]["cost"] == links["b", "a"]["cost"] == pytest.approx(1 / (there * back))
        assert graph["nodes"][1] == {"id": "b", "properties": {"x_m": 50.0, "y_m": 0.0, "node": "b"}}

    def test_a_direction_without_its_reverse_is_no_link(self):
        ends = [{link["source"], link["target"]} for link in multihop.export(NETWORK, "netjson")["links"]]
        assert {"a", "c"} not in ends
        assert len(ends) == 4

    def test_a_run_adds_the_use_of_links(self, result):
        graph = result.export("netjson")
        (used,) = [link for link in graph["links"] if (link["source"], link["target"]) == ("a", "b")]
        row = result.links[(result.links["sender"] == 0) & (result.links["receiver"] == 1)].iloc[0]
        assert used["properties"]["data"] == row["data"] > 0
        assert used["properties"]["airtime"] == pytest.approx(row["airtime"])
        assert graph["nodes"][0]["properties"]["busy_ratio"] > 0

    def test_the_importer_reads_it(self, tmp_path):
        cost = multihop.export(NETWORK, "netjson", tmp_path / "mesh.json")["links"][0]["cost"]
        mesh = read(tmp_path / "mesh.json", Options())
        assert set(mesh.nodes) == {"a", "b", "c"}
        assert mesh.links["a", "b"] == pytest.approx(cost**-0.5)
        assert ("a", "c") not in mesh.links

    def test_wires_are_marked(self):
        graph = multihop.export("scenarios/dumbbell.toml", "netjson")
        wire = next(link for link in graph["links"] if link["properties"]["type"] == "wire")
        assert wire["properties"]["rate_bps"] > 0

    def test_it_keeps_the_schema_of_netjson(self, data, result):
        schema = json.loads((data / "netjson-network-graph.schema.json").read_text())
        for graph in (multihop.export(NETWORK, "netjson"), result.export("netjson")):
            jsonschema.Draft4Validator(schema).validate(graph)


class TestIperf3:
    def test_totals_are_those_of_the_flows(self, result):
        end = result.export("iperf3")["end"]
        flows = result.flows
        assert end["sum_received"]["bits_per_second"] == pytest.approx(flows["goodput_bps"].sum())
        assert end["sum_sent"]["bytes"] == flows["sent_bytes"].sum()
        assert end["sum_sent"]["retransmits"] == flows["retransmissions"][0]
        assert end["streams"][0]["sender"]["mean_rtt"] == round(1e6 * flows["rtt_mean_s"][0])

    def test_a_flow_without_a_window_is_a_datagram_stream(self, result):
        (udp,) = result.export("iperf3")["end"]["streams"][1].values()
        assert udp["lost_packets"] == result.flows["packets_lost"][1]
        assert udp["jitter_ms"] == pytest.approx(1e3 * result.flows["jitter_s"][1])

    def test_datagrams_alone_have_the_form_of_udp(self):
        made = multihop.run(NETWORK, scheme="udp").export("iperf3")
        assert made["start"]["test_start"]["protocol"] == "UDP"
        assert made["end"]["sum"]["packets"] == made["end"]["sum_sent"]["packets"] > 0

    def test_intervals_are_steps_and_those_of_the_warm_up_are_omitted(self, result):
        made = result.export("iperf3")
        intervals = made["intervals"]
        assert [each["sum"]["omitted"] for each in intervals] == [True] * 4 + [False] * 8
        assert [each["sum"]["start"] for each in intervals][4:6] == [0.0, 0.5]
        assert (made["start"]["test_start"]["omit"], made["start"]["test_start"]["duration"]) == (2.0, 4.0)
        sent = sum(each["sum"]["bytes"] for each in intervals if not each["sum"]["omitted"])
        assert sent == made["end"]["sum_sent"]["bytes"]

    def test_streams_of_intervals_have_the_round_trip_in_microseconds(self, result):
        made = result.export("iperf3")
        row = result.series[result.series["flow"] == 0].iloc[-1]
        stream = made["intervals"][-1]["streams"][0]
        assert stream["rtt"] == round(1e6 * row["srtt_s"])
        assert stream["snd_cwnd"] == row["window_bytes"]
        assert made["start"]["connected"][0]["remote_host"] == "c"


class TestFlent:
    def test_each_flow_is_an_upload(self, result):
        made = result.export("flent")
        rows = result.series[result.series["flow"] == 0]
        assert made["x_values"] == list(rows["time_s"])
        assert made["results"]["TCP upload::1"] == pytest.approx(list(rows["goodput_bps"] / 1e6))
        both = result.series.groupby("time_s")["goodput_bps"].sum() / 1e6
        assert made["results"]["TCP upload sum"] == pytest.approx(list(both))
        assert made["metadata"]["TEST_PARAMETERS"]["upload_streams"] == "2"
        assert made["metadata"]["SERIES_META"]["TCP upload::2"]["FLOW"] == "c->a"

    def test_raw_values_have_the_round_trip_in_milliseconds_where_there_is_one(self, result):
        raw = result.export("flent")["raw_values"]
        row = result.series[result.series["flow"] == 0].iloc[-1]
        assert raw["TCP upload::1"][-1]["tcp_rtt"] == pytest.approx(1e3 * row["srtt_s"])
        assert not any("tcp_rtt" in value for value in raw["TCP upload::2"])


class TestFolders:
    @pytest.mark.parametrize("format", ["netjson", "iperf3", "flent"])
    def test_a_folder_is_its_first_run(self, folder, format):
        made = multihop.export(folder, format)
        chosen = multihop.export(folder, format, variant="tcp-newreno", seed=1)
        assert made == chosen != multihop.export(folder, format, variant="tcp-vegas", seed=2)

    def test_it_has_the_values_of_the_run_itself(self, folder, result):
        made, own = multihop.export(folder, "iperf3"), result.export("iperf3")
        assert made["end"] == own["end"]
        assert made["intervals"] == own["intervals"]

    def test_without_parquet_it_reads_csv(self, folder, monkeypatch):
        made = multihop.export(folder, "iperf3")
        monkeypatch.setattr("multihop.exporters.runs.extras.has", lambda _: False)
        assert multihop.export(folder, "iperf3") == made

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ({"variant": "tcp-vega"}, "no variant is called 'tcp-vega'; did you mean .tcp-vegas"),
            ({"seed": 9}, "--seed: found 9; needs one of 1, 2"),
        ],
    )
    def test_a_run_that_is_not_there_is_refused(self, folder, given, says):
        with pytest.raises(UserError, match=says):
            multihop.export(folder, "iperf3", **given)

    def test_a_table_that_is_missing_is_named(self, folder, tmp_path):
        (tmp_path / "manifest.json").write_text((folder / "manifest.json").read_text())
        with pytest.raises(UserError, match=r"flows\.csv: cannot be read as a table of results"):
            multihop.export(tmp_path, "iperf3")


class TestCommand:
    @pytest.mark.usefixtures("chain")
    def test_it_prints_or_writes_compressed(self, multihop, tmp_path):
        assert multihop("run", "chain.toml", "--out", "results", "-q").code == 0
        printed = multihop("export", "results", "--as", "flent")
        assert printed.code == 0
        assert multihop("export", "results", "--as", "flent", "--out", "a.flent.gz").code == 0
        with gzip.open(tmp_path / "a.flent.gz", "rt") as file:
            assert json.load(file) == json.loads(printed.out)

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["export", "chain.toml", "--as", "iperf"], "--as: found 'iperf'; did you mean \"iperf3\""),
            (
                ["export", "chain.toml", "--as", "iperf3"],
                "--as iperf3: needs a finished run, and chain.toml is a scenario",
            ),
            (["export", "chain.toml", "--as", "netjson", "--seed", "1"], "--seed: selects a run of a folder"),
            (["export", ".", "--as", "netjson"], "has no manifest of results"),
            (["export", "chain.toml", "--as", "netjson", "--out", "chain.toml"], "chain.toml"),
        ],
    )
    def test_what_it_refuses(self, inline, tmp_path, words, says):
        (tmp_path / "chain.toml").write_text(CHAIN)
        assert says in inline(*words).fails_cleanly()
