"""Nodes that move, from files of other tools to the tables, and what is wrong with such files."""

import gzip
import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import multihop
from conftest import ROOT

#: Third-party files of motion live beside the project, not in it.
MOTION = ROOT.parent / "shared" / "data" / "mobility"

#: What reads each file of motion there.
READERS = {
    "gen-sumo-grid.fcd.xml": "fcd",
    "gen-sumo-grid.ns2mobility.tcl": "setdest",
    "inet-bonnmotion_scenario.movements": "bonnmotion",
    "inet-bonnmotion_small.movements": "bonnmotion",
    "ns2-scen-3-test.tcl": "setdest",
    "ns2-scen-670x670-50-600-20-0.tcl": "setdest",
    "ns3-bonnmotion.ns_movements": "setdest",
    "ns3-default.ns_movements": "setdest",
}


def scenario(file, model, nodes, more=""):
    """Nodes of which the first sends to the last; those that the file does not have stand far away."""
    listed = ", ".join(f'{{ name = "n{i}", position = ["{90 + i} km", "0 m"] }}' for i in range(nodes))
    return f"""
duration = "5 s"
[topology]
nodes = [{listed}]
[mobility]
model = "{model}"
file = '{file}'
{more}
[routing]
protocol = "dsdv"
[[flows]]
from = "n0"
to = "n{nodes - 1}"
scheme = "udp"
app = {{ kind = "cbr", rate = "64 kb/s", packet = "512 B" }}
"""


def places(path, model):
    """Where the nodes of a file start, by our own reading of it."""
    text = path.read_text()
    if model == "setdest":
        found = dict[tuple[int, str], float]()
        for node, axis, value in re.findall(r"^\$node_\((\d+)\) set ([XY])_ (\S+)$", text, re.MULTILINE):
            found[int(node), axis] = float(value)
        return {node: (found[node, "X"], found[node, "Y"]) for node, axis in found if axis == "X"}
    if model == "bonnmotion":
        lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
        return {i: (float(words[1]), float(words[2])) for i, words in enumerate(lines)}
    found = {}
    for vehicle in ElementTree.fromstring(text).iter("vehicle"):
        found.setdefault(vehicle.get("id"), (float(vehicle.get("x")), float(vehicle.get("y"))))
    return dict(enumerate(found.values()))


@pytest.fixture
def motion() -> Path:
    """The folder with files of motion of other tools."""
    if not MOTION.is_dir():
        pytest.skip(f"needs the files of motion in {os.path.relpath(MOTION, ROOT)}, which are not part of the project")
    return MOTION


@pytest.mark.parametrize(("name", "model"), READERS.items())
def test_nodes_start_where_the_file_has_them(motion, name, model):
    expected = places(motion / name, model)
    nodes = max(max(expected) + 1, 2)  # one more, which stands, where the file has one
    result = multihop.run(scenario(motion / name, model, nodes))
    assert len(result.nodes) == nodes
    for row in result.nodes.itertuples():
        assert (row.x_m, row.y_m) == pytest.approx(expected.get(row.node, (90e3 + 1e3 * row.node, 0)), abs=1e-6)
    sent = result.flows["packets_sent"].item()
    assert sent > 70
    assert result.nodes["routing_sent"].sum() > 0, "DSDV tells neighbours of routes"


def test_what_is_no_file_of_motion_is_refused_with_its_name_and_line(motion, inline, tmp_path):
    others = sorted(path for path in motion.iterdir() if path.name not in READERS)
    assert others, "captures, parameters and the like are there too"
    for path in others:
        for model in ("setdest", "bonnmotion", "fcd"):
            (tmp_path / "s.toml").write_text(scenario(path, model, 3))
            message = inline("run", "s.toml").fails_cleanly()
            assert re.match(rf"{re.escape(str(path))}:\d+: mobility\.file: ", message), message


TCL = """# two nodes
$node_(0) set X_ 0.0
$node_(0) set Y_ 0.0
$node_(1) set X_ 100.0
$node_(1) set Y_ 0.0
$ns_ at 1.0 "$node_(1) setdest 50.0 50.0 2.0"
$god_ set-dist 0 1 1
"""
MOVEMENTS = "0 0 0 10 50 0\n0 100 0 10 150 0\n"
FCD = """<fcd-export>
    <timestep time="0.00">
        <vehicle id="a" x="0" y="0"/>
    </timestep>
    <timestep time="1.00">
        <vehicle id="a" x="5" y="0"/>
        <vehicle id="b" x="100" y="0"/>
    </timestep>
</fcd-export>
"""
WHOLE = {"setdest": TCL, "bonnmotion": MOVEMENTS, "fcd": FCD}

#: Format, what is replaced by what, and the line and the words that the message must have.
BROKEN = {
    "setdest, cut": ("setdest", '2.0"\n$god_ set-dist 0 1 1\n', "", 6, "no line of a setdest script"),
    "setdest, no number": ("setdest", "100.0", "1OO.0", 4, "1OO.0"),
    "setdest, infinite": ("setdest", "50.0 50.0", "50.0 inf", 6, "inf"),
    "setdest, a node too many": ("setdest", '"$node_(1)', '"$node_(7)', 6, "node 7"),
    "setdest, one more than there are": ("setdest", "$node_(1)", "$node_(2)", 4, "a node 2"),
    "setdest, before the start": ("setdest", "at 1.0", "at -1.0", 6, "time -1.0"),
    "setdest, unknown command": ("setdest", "setdest", "teleport", 6, "teleport"),
    "setdest, Tcl that is not ours": ("setdest", "# two", "set val(nn) 2 ;#", 1, "set val(nn)"),
    "bonnmotion, cut": ("bonnmotion", " 150 0\n", " 150", 2, "5 numbers"),
    "bonnmotion, no number": ("bonnmotion", "50 0\n0", "5O 0\n0", 1, "5O"),
    "bonnmotion, a node too many": ("bonnmotion", "150 0\n", "150 0\n0 7 7 1 7 7\n", 3, "a node 2"),
    "bonnmotion, backwards": ("bonnmotion", "10 150 0", "10 150 0 5 1 1", 2, "time 5 s after 10 s"),
    "bonnmotion, a jump": ("bonnmotion", "0 100 0 10", "0 100 0 0", 2, "50 m in 0 s"),
    "fcd, cut": ("fcd", "</timestep>\n</fcd-export>\n", "", 8, "ends within <timestep>"),
    "fcd, no number": ("fcd", 'x="5"', 'x="east"', 6, "x east"),
    "fcd, no place": ("fcd", 'x="5" ', "", 6, "<vehicle> without x"),
    "fcd, a vehicle too many": (
        "fcd",
        '<vehicle id="b"',
        '<vehicle id="c" x="1" y="1"/>\n<vehicle id="b"',
        8,
        "a node 2",
    ),
    "fcd, backwards": ("fcd", 'time="1.00"', 'time="0.00"', 5, "time 0 s after 0 s"),
    "fcd, no XML": ("fcd", 'y="0"/>\n        <vehicle id="b"', 'y="0">\n        </vehicel id="b"', 7, "no XML"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_in_a_file_is_told_with_its_line(inline, tmp_path, name):
    model, old, new, line, part = BROKEN[name]
    assert old in WHOLE[model]
    (tmp_path / "motion.txt").write_text(WHOLE[model].replace(old, new))
    (tmp_path / "s.toml").write_text(scenario("motion.txt", model, 2))
    for command in ("run", "check"):
        message = inline(command, "s.toml").fails_cleanly()
        assert message.startswith(f"motion.txt:{line}: mobility.file: "), message
        assert part in message
        assert "; " in message, "what would do"


@pytest.mark.parametrize("model", WHOLE)
def test_files_are_found_from_the_scenario_and_may_be_compressed(inline, tmp_path, model):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "plain").write_text(WHOLE[model])
    packed = gzip.compress(WHOLE[model].encode())
    (tmp_path / "deep" / "packed").write_bytes(packed)
    hashes = set()
    for name in ("plain", "packed"):
        (tmp_path / "deep" / "s.toml").write_text('name = "same"\n' + scenario(name, model, 2))
        done = inline("check", "deep/s.toml", "--json")
        assert done.code == 0, done.err
        hashes.add(done.json()["hash"])
    assert len(hashes) == 1
    (tmp_path / "deep" / "packed").write_bytes(packed[: len(packed) // 2])
    message = inline("run", "deep/s.toml").fails_cleanly()
    assert re.match(r"packed:\d+: mobility\.file: ", message), message
    (tmp_path / "deep" / "packed").unlink()
    assert "cannot be read" in inline("run", "deep/s.toml").fails_cleanly()
