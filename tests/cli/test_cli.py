"""The command line as a user types it."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib

import jsonschema
import pyarrow.parquet as pq
import pytest

from conftest import CHAIN, ROOT
from multihop import models
from multihop.papers import papers
from studies import tree


def test_run_prints_flows_and_metrics(multihop, chain):
    done = multihop("run", chain)
    assert done.code == 0, done.err
    assert "long" in done.out
    assert "Total goodput [Mb/s]" in done.out
    assert "one seed, so no interval" in done.out


def test_run_as_json(inline, chain):
    done = inline("run", chain, "--seed", "7", "--seeds", "3", "--json")
    assert done.code == 0, done.err
    assert done.err == ""
    result = done.json()
    assert result["seeds"] == [7, 8, 9]
    assert [run["seed"] for run in result["runs"]] == [7, 8, 9]
    assert {flow["name"] for flow in result["runs"][0]["flows"]} == {"long", "short"}
    assert result["statistics"]["metrics"]["jain"]["scenario"]["n"] == 3


def test_json_has_no_nan(inline, chain):
    done = inline("run", chain, "--scheme", "udp", "--json")
    json.loads(done.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_run_options(inline, chain):
    summary = inline("run", chain, "--duration", "3 s", "--warmup", "2 s", "--json").json()["runs"][0]["summary"]
    assert summary["measured_s"] == 1.0
    assert inline("run", chain, "--record-interval", "2.5 s", "--out", "o").code == 0
    assert len((chain.parent / "o" / "series.csv").read_text().splitlines()) == 1 + 2 * 2


def test_compare_writes_tables_manifest_and_report(inline, chain, tmp_path):
    done = inline("compare", chain, "--schemes", "tcp-newreno, recn", "--seeds", "3", "--out", "results/new")
    assert done.code == 0, done.err
    assert re.search(r"(^Goodput: |: goodput )", done.out, re.MULTILINE)
    folder = tmp_path / "results" / "new"
    assert json.loads((folder / "manifest.json").read_text())["seeds"] == [1, 2, 3]
    assert pq.read_table(folder / "flows.parquet").num_rows == 2 * 3 * 2
    assert "<svg" in (folder / "report.html").read_text()


def test_the_command_in_the_manifest_makes_the_same_results(multihop, chain, tmp_path):
    first = multihop(
        "compare", chain, "--schemes", "tcp-newreno,recn", "--seeds", "2", "--duration", "4 s", "--out", "a"
    )
    assert first.code == 0, first.err
    manifest = json.loads((tmp_path / "a" / "manifest.json").read_text())
    assert str(tmp_path) not in json.dumps(manifest), "nothing of this machine is in it"
    words = manifest["command"].replace("'4 s'", "4_s").split()
    assert words[2] == "scenario.toml"
    again = multihop(*[w.replace("_", " ") for w in words[1:]], "--out", "../b", cwd=tmp_path / "a")
    assert again.code == 0, again.err
    for name in ("flows.csv", "series.csv", "report.html"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_number_of_jobs_changes_nothing(inline, chain, tmp_path):
    for jobs in ("1", "4"):
        done = inline("compare", chain, "--schemes", "recn,udp", "--seeds", "3", "--jobs", jobs, "--out", jobs)
        assert done.code == 0, done.err
    for file in (path for path in (tmp_path / "1").rglob("*") if path.is_file() and path.suffix != ".shard"):
        assert file.read_bytes() == (tmp_path / "4" / file.relative_to(tmp_path / "1")).read_bytes(), file.name
    # Runs are kept in the order in which they end.
    one, four = (tree(tmp_path / jobs / "store") for jobs in "14")
    assert len(one) == 6
    assert one == four


def test_report_only(inline, chain, tmp_path):
    done = inline("run", chain, "--report", "deep/down/r.html", "--quiet")
    assert done.code == 0
    assert done.err == ""
    assert (tmp_path / "deep/down/r.html").exists()


def test_no_progress_bar_without_a_terminal(multihop, chain):
    done = multihop("run", chain, "--seeds", "2")
    assert "\x1b" not in done.err + done.out
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith("2 runs, ")
    assert multihop("run", chain).err.startswith("1 run, ")


def test_kinds_of_names(inline):
    assert list(inline("list", "routing", "--json").json()) == ["routing_protocols", "metrics", "link_failures"]
    assert list(inline("list", "Schemes", "--json").json()) == ["schemes"]
    assert list(inline("list", "columns", "--json").json()) == ["tables"]


def test_every_kind_that_the_help_of_list_names_can_be_listed(inline):
    named = " ".join(inline("list", "--help").out.split()).partition("List ")[2].partition(".")[0]
    kinds = named.split(", ")
    assert {"schemes", "columns"} <= set(kinds)
    for kind in kinds:
        assert inline("list", kind, "--json").json()


def in_shell(tmp_path, arguments, before="", **environment):
    """Runs the command with redirections."""
    return subprocess.run(
        ["/bin/sh", "-c", f'{before} exec "{sys.executable}" -m multihop {arguments}'],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    "command", ["run chain.toml", "list", "schema", "check chain.toml", "--help", "run chain.toml --json"]
)
@pytest.mark.usefixtures("chain")
def test_standard_output_that_cannot_be_written(tmp_path, command):
    # A limit of nothing on the size of files stands for a full disk.
    done = in_shell(tmp_path, f"{command} > output", before="ulimit -f 0;")
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[-1] == "multihop: standard output: File too large"
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["run chain.toml", "list", "--version"])
@pytest.mark.usefixtures("chain")
def test_standard_output_that_is_closed(tmp_path, command):
    done = in_shell(tmp_path, f"{command} >&-")
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        "multihop: standard output is closed; needs an open output for results"
    ]


@pytest.mark.usefixtures("chain")
@pytest.mark.parametrize("option", ["--out o", "--report r.html"])
def test_a_full_disk_below_results(tmp_path, option):
    done = in_shell(tmp_path, f"run chain.toml {option} --quiet", before="ulimit -f 0;")
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[0].endswith("cannot be written: File too large")
    assert b"Traceback" not in done.stderr


@pytest.mark.usefixtures("chain")
def test_standard_error_and_input_that_are_closed(tmp_path):
    done = in_shell(tmp_path, "run chain.toml --out o <&- 2>&-")
    assert done.returncode == 0
    assert b"Total goodput" in done.stdout
    assert b"runs, " not in (tmp_path / "o" / "flows.csv").read_bytes()
    assert in_shell(tmp_path, "run absent.toml 2>&-").returncode == 2


def test_a_terminal_that_only_knows_ascii(chain, tmp_path):
    chain.write_text(CHAIN.replace("long", "länge"), encoding="utf-8")
    table = in_shell(tmp_path, "run chain.toml --seeds 2", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert table.returncode == 0, table.stderr
    assert b"l?nge" in table.stdout
    as_json = in_shell(tmp_path, "run chain.toml --json", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert json.loads(as_json.stdout)["runs"][0]["flows"][0]["name"] == "länge"


def test_import_then_compare(multihop, tmp_path):
    nodes = [{"node_id": n, "is_online": True} for n in "abcd"]
    links = [
        {"type": "wifi", "source": a, "target": b, "source_tq": 0.9, "target_tq": 0.8} for a, b in ("ab", "bc", "cd")
    ]
    (tmp_path / "mesh.json").write_text(json.dumps({"nodes": nodes, "links": links}))
    done = multihop("import", "mesh.json", "--out", "mesh.toml", "--flows", "2", "--scheme", "recn")
    assert done.code == 0, done.err
    assert done.out == ""
    assert "kept 4 of 4 nodes" in done.err
    assert (
        multihop("import", "mesh.json", "--flows", "2", "--scheme", "recn").out == (tmp_path / "mesh.toml").read_text()
    )
    assert multihop("import", "mesh.json", "--json").json()["nodes"] == 4
    compared = multihop("compare", "mesh.toml", "--schemes", "tcp-newreno,recn", "--seeds", "2", "--duration", "12 s")
    assert compared.code == 0, compared.err


def test_a_real_mesh_from_file_to_report(inline, data, tmp_path):
    mesh = data / "freifunk-leipzig-meshviewer.stripped.json"
    done = inline("import", mesh, "--out", "leipzig.toml")
    assert done.code == 0, done.err
    assert "kept 87 of 279 nodes" in done.err
    options = ["--seeds", "2", "--duration", "12 s", "--out", "results"]
    done = inline("compare", "leipzig.toml", "--schemes", "tcp-newreno,recn", *options)
    assert done.code == 0, done.err
    assert (tmp_path / "results" / "report.html").stat().st_size > 100_000


def test_check(inline, chain):
    done = inline("check", chain)
    assert done.code == 0
    assert "n0 > n1 > n2 > n3" in done.out
    assert inline("check", chain, "--json").json()["flows"][0]["hops"] == 3


def test_list(inline):
    everything = inline("list", "--json").json()
    assert {"schemes", "phys", "media", "apps", "generators", "estimators", "models", "papers"} <= set(everything)
    schemes = inline("list", "schemes", "--json").json()
    assert schemes == {"schemes": everything["schemes"]}
    assert {"udp", "tcp-newreno", "tcp-sack", "recn"} <= {entry["name"] for entry in schemes["schemes"]}
    assert all(entry["summary"] for entries in everything.values() for entry in entries)
    assert "recn" in inline("list").out


def test_list_shows_defaults_of_schemes_and_of_what_scenarios_choose(inline):
    words = " ".join(inline("list").out.split())
    assert (
        'initial_rto Retransmission timeout before the first round-trip sample (RFC 6298, section 2.1). Default "1 s"'
        in words
    )
    assert "hello_interval" in words
    assert re.search(r'busy-ratio .*? window Length of the sliding window\. Default "1 s"', words)


def test_list_names_papers_with_their_items(inline):
    papers = inline("list", "papers", "--json").json()["papers"]
    assert "table3" in next(paper["keys"] for paper in papers if paper["name"] == "recn")
    out = inline("list", "papers").out
    for paper in papers:
        assert all(f"{item} " in out and title for item, title in paper["keys"].items())


def test_list_names_models_with_their_arguments(inline):
    found = {entry["name"]: entry["keys"] for entry in inline("list", "models", "--json").json()["models"]}
    assert set(found) == set(models.MODELS)
    assert found["frame-transmission-efficiency"]["payload_bytes"] == "payload of a DATA frame (default 1000)"
    assert "whether to take Eq. 19 as printed" in inline("list", "models").out


def test_the_schema_of_studies_accepts_our_studies_and_refuses_others(inline):
    schema = inline("schema", "study").json()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    ours = [paper.study(item).file_text for paper in papers() for item in paper.items]
    ours += [path.read_text("utf-8") for path in sorted((ROOT / "studies").glob("*.toml"))]
    for text in ours:
        validator.validate(tomllib.loads(text))
    study = tomllib.loads(ours[0])
    wrong = [
        {**study, "sedes": 3},
        {key: value for key, value in study.items() if key != "name"},
        {**study, "factors": {"no name": {"values": [1]}}},
        {**study, "claims": [{**study["claims"][0], "kind": "feeling"}]},
    ]
    for one in wrong:
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(one)


def test_schema_of_something_else(inline):
    assert "needs scenario or study" in inline("schema", "paper").fails_cleanly()


def test_the_schema_accepts_our_scenarios_and_refuses_others(inline):
    schema = inline("schema").json()
    jsonschema.validate(tomllib.loads(CHAIN), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**tomllib.loads(CHAIN), "duratoin": "3 s"}, schema)


def test_doctor(inline):
    done = inline("doctor")
    assert done.code == 0, done.out
    assert "PROBLEM" not in done.out
    assert set(inline("doctor", "--json").json()["checks"].values()) == {"ok"}


def test_help_and_version(multihop):
    assert re.fullmatch(r"multihop [\d.]+\+[0-9a-f]{16}, commit .+\n", multihop("--version").out)
    assert "compare" in multihop().out
    for command in ("run", "compare", "import", "check", "list", "schema", "doctor"):
        done = multihop(command, "--help")
        assert done.code == 0
        assert command in done.out


def test_settings_reproduce_by_the_printed_command(inline, chain, tmp_path):
    options = [
        "--set",
        "topology.hops=4",
        "--set",
        "flows[*].start=100 ms",
        "--set",
        "mac.queue=20",
        "--set",
        'name="x"',
    ]
    first = inline("compare", chain, "--schemes", "udp,recn", "--seeds", "1", "--json", *options)
    assert first.code == 0, first.err
    chain.rename(tmp_path / "scenario.toml")
    again = inline(*shlex.split(first.json()["command"])[1:], "--json")
    assert again.code == 0, again.err
    assert again.out == first.out
    assert first.json()["scenario"]["name"] == "x"
    checked = inline("check", "scenario.toml", "--json", *options)
    assert len(checked.json()["nodes"]) == 5


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_is_clean_and_writes_no_results(chain, tmp_path):
    options = ["--duration", "100000 s", "--seeds", "50", "--out", str(tmp_path / "out")]
    command = [sys.executable, "-m", "multihop", "run", str(chain), *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    # The store is made just before the runs begin.
    deadline = time.monotonic() + 30
    while not (tmp_path / "out" / "store" / "store.json").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()  # or it would run for hours
    assert process.returncode == 130
    again = shlex.join(["multihop", *command[3:]])
    assert err == f"multihop: interrupted; finished runs are kept in {tmp_path / 'out'}; to go on: {again}\n"
    assert out == ""
    assert [path.name for path in (tmp_path / "out").rglob("*") if path.is_file()] == ["store.json"]


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX pipes")
def test_a_reader_that_goes_away_is_no_error():
    command = f"{sys.executable} -m multihop schema | head -c 10; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert done.returncode in (0, 141)


def test_a_bug_of_ours_is_reported_as_such(chain):
    code = (
        "import sys, multihop._core as core\n"
        "def run(*_): raise core.InternalError('crates/sim/src/world.rs:1: packets are not conserved')\n"
        "core.run = run\n"
        f"sys.argv = ['multihop', 'run', {str(chain)!r}]\n"
        "from multihop.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 70
    assert "internal error" in done.stderr
    assert "packets are not conserved" in done.stderr
    assert "Traceback" not in done.stderr
