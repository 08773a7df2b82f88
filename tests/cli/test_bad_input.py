"""What users get wrong: each is one clear message, exit code 2, no traceback, and nothing on standard output."""

import os

import pytest

from conftest import CHAIN

LINKS = '{"source": "a", "target": "b", "source_tq": 1, "target_tq": 1, "type": "wifi"}'
NODES = '{"node_id": "a"}, {"node_id": "b"}'


TWINS = 'nodes = [{ name = "twin", position = ["0 m", "0 m"] }, { name = "twin", position = ["9 m", "0 m"] }]\n'


def mesh(nodes=NODES, links=LINKS):
    return f'{{"nodes": [{nodes}], "links": [{links}]}}'


def changed(old, new):
    assert old in CHAIN
    return CHAIN.replace(old, new, 1)


# Scenario, and what the message must name.
SCENARIOS = {
    "empty": ("", ["topology"]),
    "not TOML": ("duration = ", ["1"]),
    "missing duration": (changed('duration = "5 s"\n', ""), ["duration"]),
    "missing topology": ('duration = "5 s"\n', ["topology"]),
    "missing unit": (changed('duration = "5 s"', "duration = 5"), [":3", "duration"]),
    "wrong unit": (changed('"200 m"', '"200 kg"'), [":9", "spacing", "200 kg"]),
    "negative duration": (changed('"5 s"', '"-5 s"'), [":3", "duration", "-5"]),
    "warm-up longer than the run": (changed('"1 s"', '"9 s"'), [":4", "warmup"]),
    "unknown key with a near name": (changed("warmup", "warm_up"), [":4", "warm_up", "warmup"]),
    "unknown generator with a near name": (changed('"chain"', '"chian"'), [":7", "chian", "chain"]),
    "unknown scheme with a near name": (changed("tcp-newreno", "tcp-newrino"), [":15", "tcp-newrino", "tcp-newreno"]),
    "unknown node": (changed('to = "n3"', 'to = "n9"'), [":14", "n9"]),
    "flow to itself": (changed('to = "n3"', 'to = "n0"'), ["n0"]),
    "no hops": (changed("hops = 3", "hops = 0"), [":8", "hops", "0"]),
    "hops as text": (changed("hops = 3", 'hops = "three"'), [":8", "hops", "three"]),
    "hops beyond reason": (changed("hops = 3", "hops = 4000000000"), [":8", "hops"]),
    "a network without routes": (changed('"200 m"', '"2000 m"'), ["flows"]),
    "no flows": (CHAIN.split("[[flows]]")[0], ["flows"]),
    "seed below zero": ("seed = -1\n" + CHAIN, ["seed", "-1"]),
    "error rate above one": (CHAIN + '\n[medium]\nmodel = "ranges"\nbit_error_rate = 1.5\n', ["bit_error_rate", "1.5"]),
    "NaN": (CHAIN + '\n[medium]\nmodel = "ranges"\nbit_error_rate = nan\n', ["bit_error_rate"]),
    "unknown standard": (CHAIN + '\n[phy]\nstandard = "802.11z"\n', ["standard", "802.11z"]),
    "a rate that the PHY does not have": (CHAIN + '\n[phy]\ndata_rate = "7 Mb/s"\n', ["data_rate", "7"]),
    "unknown rule set": (CHAIN + '\n[mac]\nrules = "ns3"\n', ["rules", "ns3"]),
    "unknown medium": (CHAIN + '\n[medium]\nmodel = "magic"\n', ["model", "magic"]),
    "a matrix without links": (CHAIN + '\n[medium]\nmodel = "matrix"\nquantity = "delivery"\n', ["topology"]),
    "unknown application": (CHAIN + 'app = { kind = "torrent" }\n', ["torrent"]),
    "stop before start": (CHAIN + 'start = "3 s"\nstop = "2 s"\n', ["stop"]),
    "unknown parameter of a scheme": (CHAIN + "\n[schemes.recn]\nthresold = 0.5\n", ["thresold", "threshold"]),
    "generator and nodes": (
        changed("[topology]", '[topology]\nnodes = [{ name = "a", position = ["0 m", "0 m"] }]'),
        ["topology"],
    ),
    "duplicate node": (
        changed("[topology]", "[topology]\n" + TWINS).replace('generator = "chain"\nhops = 3\nspacing = "200 m"\n', ""),
        ["twin"],
    ),
}


@pytest.mark.parametrize("case", SCENARIOS)
@pytest.mark.parametrize("command", ["check", "run"])
def test_broken_scenarios(inline, tmp_path, case, command):
    text, names = SCENARIOS[case]
    (tmp_path / "bad.toml").write_text(text)
    message = inline(command, "bad.toml").fails_cleanly()
    assert message.startswith("bad.toml:")
    for name in names:
        assert name in message, message


# Arguments, and what the message must name.
OPTIONS = {
    "no such file": (["run", "absent.toml"], ["absent.toml", "no such file"]),
    "a directory": (["run", "."], ["directory"]),
    "not text": (["run", "binary.toml"], ["binary.toml", "UTF-8"]),
    "no scenario": (["run"], ["SCENARIO"]),
    "unknown command": (["simulate", "chain.toml"], ["simulate"]),
    "unknown option": (["run", "chain.toml", "--sed", "1"], ["--sed"]),
    "seeds as a word": (["run", "chain.toml", "--seeds", "ten"], ["--seeds", "ten"]),
    "no seeds": (["run", "chain.toml", "--seeds", "0"], ["seeds", "0"]),
    "too many seeds": (["run", "chain.toml", "--seeds", "100000000"], ["seeds", "100000"]),
    "negative seed": (["run", "chain.toml", "--seed", "-3"], ["seed", "-3"]),
    "seed beyond 64 bits": (["run", "chain.toml", "--seed", "18446744073709551616"], ["seed", "2^64"]),
    "no jobs": (["run", "chain.toml", "--jobs", "0"], ["--jobs", "0"]),
    "bad duration": (["run", "chain.toml", "--duration", "soon"], ["duration", "soon"]),
    "duration shorter than the warm-up": (["run", "chain.toml", "--duration", "1 s"], ["warmup"]),
    "compare without schemes": (["compare", "chain.toml"], ["--schemes"]),
    "empty schemes": (["compare", "chain.toml", "--schemes", ","], ["--schemes"]),
    "scheme twice": (["compare", "chain.toml", "--schemes", "udp,udp"], ["udp", "more than once"]),
    "schemes in two options": (
        ["compare", "chain.toml", "--schemes", "udp", "--schemes", "recn"],
        ["--schemes udp,recn"],
    ),
    "unknown scheme": (["compare", "chain.toml", "--schemes", "udp,recm"], ["--schemes: recm", "recn"]),
    "output over a file": (["run", "chain.toml", "--out", "chain.toml"], ["chain.toml", "file is in the way"]),
    "output below a file": (["run", "chain.toml", "--out", "chain.toml/results"], ["file is in the way"]),
    "output where nothing can be written": (["run", "chain.toml", "--out", "/proc/results"], ["/proc/results"]),
    "report into a directory": (["run", "chain.toml", "--report", "."], ["directory"]),
    "report where nothing can be written": (["run", "chain.toml", "--report", "/proc/r.html"], ["/proc"]),
    "empty scheme": (["run", "chain.toml", "--scheme", ""], ["scheme"]),
    "a setting without a value": (["run", "chain.toml", "--set", "topology.hops"], ["--set", "KEY=VALUE"]),
    "a setting twice": (
        ["run", "chain.toml", "--set", "name=a", "--set", "name=b"],
        ["--set", "name", "more than once"],
    ),
    "a setting of no key": (["check", "chain.toml", "--set", "topology.hop=5"], ["--set topology.hop", '"hops"']),
    "a setting of the wrong type": (
        ["run", "chain.toml", "--set", "topology.hops=many"],
        ["--set topology.hops", "many"],
    ),
    "a setting that is out of range": (["run", "chain.toml", "--set", "topology.hops=0"], ["--set topology.hops", "0"]),
    "a setting of the seed": (["run", "chain.toml", "--set", "seed=3"], ["--set seed", "--seed"]),
    "a setting and an option": (
        ["run", "chain.toml", "--set", "duration=9 s", "--duration", "8 s"],
        ["--set duration", "--duration"],
    ),
    "a setting that is no path": (["run", "chain.toml", "--set", "flows[=3"], ["--set flows[", "path"]),
    "a setting without a key": (["run", "chain.toml", "--set", "=3"], ["--set", "path"]),
    "unknown node of a log": (["run", "chain.toml", "--pcap", "c", "--nodes", "kitchen"], ["kitchen", "known: n0, n1"]),
    "unknown kind": (["list", "scheme"], ["scheme", "schemes"]),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_broken_options(inline, chain, tmp_path, case):
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00\x01")
    arguments, names = OPTIONS[case]
    message = inline(*arguments).fails_cleanly()
    for name in names:
        assert name in message, message
    assert chain.read_text() == CHAIN, "the scenario was not touched"


# File content, further options, and what the message must name.
MESHES = {
    "empty file": ("", [], ["empty"]),
    "blanks only": (" \n\n ", [], ["empty"]),
    "cut JSON": (mesh()[:-20], [], ["mesh:1:", "not JSON"]),
    "deep nesting": ("[" * 100_000, [], ["JSON"]),
    "JSON number": ("[1, 2]", [], ["no known mesh format"]),
    "nodes missing": (f'{{"links": [{LINKS}]}}', [], ["nodes", "list"]),
    "nodes as text": (f'{{"nodes": "a", "links": [{LINKS}]}}', [], ["nodes", "found text"]),
    "a node that is a number": (mesh("1"), [], ["nodes[0]", "found a number"]),
    "a node without an id": (mesh('{"name": 1.5}'), [], ["nodes[0]", "node_id"]),
    "a link without an end": (mesh(links='{"source": "a", "source_tq": 1}'), [], ["links[0]", "target"]),
    "no nodes": (mesh(""), [], ["no usable node"]),
    "only wired links": (mesh(links=LINKS.replace("wifi", "vpn")), [], ["no usable wireless link", "type vpn"]),
    "links to strangers": (mesh(links=LINKS.replace('"b"', '"x"')), [], ["not listed"]),
    "only NaN": (mesh(links=LINKS.replace("1", "NaN")), [], ["without a usable quality"]),
    "one way only": (
        mesh(links=LINKS.replace('"target_tq": 1', '"target_tq": 0')),
        [],
        ["no two nodes receive each other"],
    ),
    "every node offline": (mesh(NODES.replace("}", ', "is_online": false}')), [], ["no usable node", "offline"]),
    "batman without nodes": ('{"vis": [], "algorithm": 4}', [], ["contains no usable node"]),
    "not UTF-8": (b'{"nodes": "\xff"}', [], ["UTF-8"]),
    "CSV with other columns": ("x,y\n1,2\n", [], ["found columns x, y"]),
    "CSV with a repeated column": ("source,target,delivery,delivery\na,b,1,1\n", [], ["'delivery'", "more than once"]),
    "CSV row too long": ("source,target,delivery\na,b,1,1\n", [], [":2", "4 cells", "3 columns"]),
    "CSV row without an end": ("source,target,delivery\na,,1\n", [], [":2", "target"]),
    "CSV without quality": ("source,target\na,b\n", [], ["no quality", "--assume-delivery"]),
    "CSV delivery out of range": ("source,target,delivery,reverse_delivery\na,b,1.5,-1\n", [], ["outside of 0 to 1"]),
    "unknown format": (mesh(), ["--format", "ns3"], ["--format", "ns3", "meshviewer"]),
    "another format": (mesh(), ["--format", "netjson"], ["this is meshviewer"]),
    "unknown traffic": (mesh(), ["--traffic", "storm"], ["--traffic", "storm", "to-gateway"]),
    "unknown component": (mesh(), ["--component", "some"], ["--component", "some"]),
    "unknown gateway": (mesh(), ["--gateway", "z"], ["--gateway", "'z'"]),
    "no flows": (mesh(), ["--flows", "0"], ["--flows", "0"]),
    "impossible delivery": (mesh(), ["--assume-delivery", "1.5"], ["--assume-delivery", "1.5"]),
    "unknown scheme": (mesh(), ["--scheme", "recm"], ["recm", "recn"]),
    "unknown standard": (mesh(), ["--standard", "802.11z"], ["802.11z"]),
    "unit forgotten": (mesh(), ["--duration", "60"], ["duration"]),
    "nodes file absent": ("source,target,delivery\na,b,1\n", ["--nodes", "absent.csv"], ["absent.csv"]),
    "unwritable output": (mesh(), ["--out", "/proc/x.toml"], ["/proc"]),
}


@pytest.mark.parametrize("case", MESHES)
def test_broken_meshes(inline, tmp_path, case):
    content, options, names = MESHES[case]
    (tmp_path / "mesh").write_bytes(content if isinstance(content, bytes) else content.encode())
    message = inline("import", "mesh", *options).fails_cleanly()
    for name in names:
        assert name in message, message


@pytest.mark.usefixtures("chain")
@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "bad.toml"],
        ["run", "bad.toml"],
        ["run", "absent.toml"],
        ["run", "chain.toml", "--sed", "1"],
        ["compare", "chain.toml", "--schemes", "udp,recm"],
        ["import", "mesh"],
    ],
    ids=" ".join,
)
def test_a_process_of_its_own_says_the_same(multihop, inline, tmp_path, arguments):
    (tmp_path / "bad.toml").write_text(changed("hops = 3", "hops = 0"))
    (tmp_path / "mesh").write_text(mesh()[:-20])
    done = multihop(*arguments)
    done.fails_cleanly()
    assert done == inline(*arguments)


def test_a_mesh_file_can_be_too_large(inline, tmp_path):
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(2 * 10**9)  # sparse: it takes no room on disk
    message = inline("import", "huge.json").fails_cleanly()
    assert "2000 MB is too large" in message


def test_a_scenario_can_be_too_large(multihop, tmp_path):
    with (tmp_path / "huge.toml").open("wb") as file:
        file.truncate(17 * 10**6)
    assert "17 MB is too large" in multihop("run", "huge.toml").fails_cleanly()
    assert "the limit is 16 MB" in multihop("run", "/dev/stdin", stdin="#" * (17 * 10**6)).fails_cleanly()


@pytest.mark.parametrize("command", ["run", "check", "import"])
def test_devices_are_not_read(multihop, command):
    assert "device" in multihop(command, "/dev/zero").fails_cleanly()


def test_a_scenario_can_come_through_a_pipe(multihop):
    assert multihop("check", "/dev/stdin", stdin=CHAIN).code == 0


@pytest.mark.parametrize("link", ["same", "symbolic", "hard"])
@pytest.mark.parametrize("command", [["run"], ["compare", "--schemes", "udp"]])
def test_a_report_does_not_replace_the_scenario(inline, chain, command, link):
    report = chain.with_name("report.html")
    if link == "symbolic":
        report.symlink_to(chain)
    elif link == "hard":
        report.hardlink_to(chain)
    else:
        report = chain
    assert "would be lost" in inline(*command, chain, "--report", report).fails_cleanly()
    assert chain.read_text() == CHAIN


def test_an_import_does_not_replace_the_mesh(inline, tmp_path):
    (tmp_path / "mesh").write_text(mesh())
    assert "would be lost" in inline("import", "mesh", "--out", "mesh").fails_cleanly()
    assert (tmp_path / "mesh").read_text() == mesh()


def test_results_do_not_replace_pipes(inline, chain, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    inline("run", chain, "--out", "pipe").fails_cleanly()
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("name", ["flows.csv", "scenario.toml", "report.html", "manifest.json"])
def test_results_do_not_replace_what_is_not_ours(inline, chain, tmp_path, name):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / name).write_text("{}")
    message = inline("run", chain, "--out", "mine").fails_cleanly()
    assert "not a results folder of multihop" in message
    assert name in message
    assert [p.name for p in (tmp_path / "mine").iterdir()] == [name]
    assert (tmp_path / "mine" / name).read_text() == "{}"


def test_the_scenario_in_its_own_folder_stays(inline, tmp_path):
    (tmp_path / "scenario.toml").write_text(CHAIN)
    assert "not a results folder" in inline("run", "scenario.toml", "--out", ".").fails_cleanly()
    assert [p.name for p in tmp_path.iterdir()] == ["scenario.toml"]


def test_results_can_be_made_again_in_their_folder(inline, chain, tmp_path):
    for scenario in (chain, chain, "o/scenario.toml"):
        done = inline("run", scenario, "--out", "o")
        assert done.code == 0, done.err
    assert (tmp_path / "o" / "scenario.toml").read_text() == CHAIN
    assert "--out writes as well" in inline("run", chain, "--out", "o", "--report", "o/flows.csv").fails_cleanly()


@pytest.mark.parametrize("option", ["--report", "--out"])
def test_names_that_are_too_long(inline, chain, option):
    assert "too long" in inline("run", chain, option, "x" * 5000).fails_cleanly()
    assert "too long" in inline("run", "x" * 5000).fails_cleanly()


#: Commands that fail before they write anything, each with a place to write to.
FAILING = {
    "run": ["run", "chain.toml", "--duration", "500 ms", "--out", "new/results"],
    "run for a report": ["run", "chain.toml", "--set", "topolgy.hops=2", "--report", "new/report.html"],
    "run for a log": ["run", "chain.toml", "--set", "topology.hops=0", "--frames", "new/run.frames"],
    "run of no seeds": ["run", "chain.toml", "--seeds", "0", "--out", "new"],
    "compare": ["compare", "chain.toml", "--schemes", "tcp-newreno,nothing", "--out", "new/results"],
    "explain": ["explain", "nowhere.toml", "--report", "new/report.html"],
    "study": ["study", "run", "study.toml", "--out", "new/study"],
    "reproduce": ["reproduce", "recn", "nothing", "--out", "new"],
    "league": ["league", "--schemes", "nothing", "--out", "new"],
    "when": ["when", "--schemes", "nothing", "--out", "new"],
    "import": ["import", "chain.toml", "--out", "new/mesh.toml"],
    "measure": ["measure", "chain.toml", "--out", "new/capture"],
    "view": ["view", "chain.toml", "--out", "new/page.html"],
}


@pytest.mark.parametrize("case", FAILING)
def test_what_fails_leaves_no_empty_folder(inline, chain, tmp_path, case):
    assert chain.name == "chain.toml"
    study = 'name = "s"\nbase = "chain.toml"\nseeds = 1\n[factors]\n"topology.hops" = [0]\n'
    (tmp_path / "study.toml").write_text(study)
    outcome = inline(*FAILING[case])
    assert outcome.code != 0, outcome.out
    assert not (tmp_path / "new").exists(), outcome.err


def test_a_folder_that_was_there_stays(inline, chain, tmp_path):
    (tmp_path / "new").mkdir()
    assert inline("run", chain, "--duration", "500 ms", "--out", "new/results").code == 2
    assert list((tmp_path / "new").iterdir()) == []


def test_an_option_that_makes_the_run_too_short_is_named_with_the_one_that_would_do(inline, chain):
    said = inline("run", chain, "--duration", "500 ms").fails_cleanly()
    assert "(--duration)" in said
    assert '--warmup "50 ms"' in said
    assert inline("run", chain, "--duration", "500 ms", "--warmup", "50 ms").code == 0
