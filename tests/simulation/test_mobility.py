"""Nodes that move, from files of other tools to the tables, and what is wrong with such files."""

import gzip
import json
import os
import re
import shlex
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import multihop
from conftest import CHAIN, ROOT, SCENARIOS
from multihop.report import topology
from multihop.results.columns import TABLES
from studies import study

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
    "setdest, cut": ("setdest", '2.0"\n$god_ set-dist 0 1 1\n', "", 6, "has no closing"),
    "setdest, no number": ("setdest", "100.0", "1OO.0", 4, "1OO.0"),
    "setdest, infinite": ("setdest", "50.0 50.0", "50.0 inf", 6, "inf"),
    "setdest, a node too many": ("setdest", '"$node_(1)', '"$node_(7)', 6, "node 7"),
    "setdest, one more than there are": ("setdest", "$node_(1)", "$node_(2)", 4, "a node 2"),
    "setdest, before the start": ("setdest", "at 1.0", "at -1.0", 6, "time -1.0"),
    "setdest, unknown command": ("setdest", "setdest", "teleport", 6, "teleport"),
    "setdest, Tcl that is not ours": ("setdest", "# two", "source nodes.tcl ;#", 1, "nodes.tcl"),
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
    "fcd, no XML": ("fcd", 'y="0"/>\n        <vehicle id="b"', 'y="0">\n        </vehicel id="b"', 7, "invalid XML"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_in_a_file_is_reported_with_its_line(inline, tmp_path, name):
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


def test_positions_over_time_are_a_table(tmp_path):
    (tmp_path / "motion.txt").write_text(MOVEMENTS)
    (tmp_path / "s.toml").write_text(
        scenario("motion.txt", "bonnmotion", 3) + '[[outages]]\nnode = "n2"\nfrom = "2 s"\n'
    )
    result = multihop.run(tmp_path / "s.toml", record_interval="1 s")
    df = result.positions
    assert list(df.columns) == list(TABLES["positions"])
    assert df["time_s"].tolist() == [float(second) for second in range(6) for _ in range(3)]
    first, second, third = (df[df["name"] == name] for name in ("n0", "n1", "n2"))
    assert first["x_m"].tolist() == [0, 5, 10, 15, 20, 25]
    assert second["x_m"].tolist() == [100, 105, 110, 115, 120, 125]
    assert third["x_m"].tolist() == [92e3] * 6, "it stands, and is off from 2 s on"
    assert third["off"].tolist() == [0, 0, 1, 1, 1, 1]
    assert df["off"].sum() == 4
    assert multihop.run(CHAIN).positions.empty


def test_cars_that_are_not_there_are_off(tmp_path):
    (tmp_path / "cars").write_text(FCD)
    (tmp_path / "s.toml").write_text(scenario("cars", "fcd", 2))
    df = multihop.run(tmp_path / "s.toml", record_interval="1 s").positions
    assert df[df["name"] == "n1"]["off"].tolist() == [1, 0, 0, 0, 0, 0]
    assert df[df["name"] == "n0"]["off"].sum() == 0


def test_results_can_be_made_again_where_they_are(inline, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "cars.xml").write_text(FCD)
    (tmp_path / "s.toml").write_text('name = "cars"\n' + scenario("elsewhere/cars.xml", "fcd", 2))
    done = inline("run", "s.toml", "--out", "results")
    assert done.code == 0, done.err
    manifest = json.loads((tmp_path / "results" / "manifest.json").read_text())
    shutil.rmtree(tmp_path / "elsewhere")
    os.chdir(tmp_path / "results")
    again = inline(*shlex.split(manifest["command"])[1:], "--out", "again")
    assert again.code == 0, again.err
    repeated = json.loads((tmp_path / "results" / "again" / "manifest.json").read_text())
    assert repeated["variants"][0]["fingerprints"] == manifest["variants"][0]["fingerprints"]
    assert repeated["variants"][0]["scenario_hash"] == manifest["variants"][0]["scenario_hash"]
    assert repeated["command"] == manifest["command"]
    # Over themselves, from their own copies.
    (tmp_path / "results" / "again" / "motion").unlink()
    over = inline(*shlex.split(manifest["command"])[1:], "--out", ".")
    assert over.code == 0, over.err
    assert (tmp_path / "results" / "motion").read_text() == FCD


def test_what_is_of_the_start_is_called_so(inline):
    mesh = SCENARIOS / "mobile-mesh.toml"
    assert "3 nodes move: links and paths are those at the start" in inline("check", mesh).out
    assert "to the network at the start, not to the whole run" in inline("bound", mesh).out
    assert inline("bound", mesh, "--json").json()["of_start"] is True
    plain = SCENARIOS / "chain.toml"
    assert "move" not in inline("check", plain).out + inline("bound", plain).out
    assert inline("bound", plain, "--json").json()["of_start"] is False


def test_the_picture_has_the_trajectories_of_nodes():
    result = multihop.run(SCENARIOS / "mobile-mesh.toml", duration="200 s")
    caption = topology.Topology(result.view, result.positions).caption()
    assert "Nodes move (dotted, seed 1)" in caption
    assert "Off for a while: r3." in caption
    drawing = ElementTree.fromstring(topology.Topology(result.view, result.positions).picture())
    _, _, width, height = map(float, drawing.get("viewBox").split())
    group = next(part for part in drawing.iter("g") if part.get("class") == "trajectories")
    trajectories = {line.get("data-tip"): line.get("points").split() for line in group}
    assert set(trajectories) == {"trajectory of m0", "trajectory of m1", "trajectory of m2"}
    circles = [(circle.get("cx"), circle.get("cy")) for circle in drawing.iter("circle")]
    for index, trajectory in enumerate(trajectories.values()):
        assert tuple(trajectory[0].split(",")) == circles[5 + index], "it begins where the node is drawn"
        assert len(set(trajectory)) > 10
        for x, y in (place.split(",") for place in trajectory):
            assert 0 <= float(x) <= width
            assert 0 <= float(y) <= height
    assert "trajectories" in topology.Topology(multihop.check(CHAIN)).picture()
    assert "move" not in topology.Topology(multihop.check(CHAIN)).caption()


def test_trajectories_are_thinned_where_there_are_many_places():
    count = 30_000
    df = pd.DataFrame({"node": [0] * count, "x_m": range(count), "y_m": [0.0] * count})
    trajectory = topology._trajectories(df)[0]
    assert 1000 < len(trajectory) < 6000
    assert trajectory[0].tolist() == [0, 0]
    assert trajectory[-1].tolist() == [count - 1, 0]


def test_metrics_of_studies_see_runs_in_which_nobody_happens_to_move(tmp_path):
    walk = {
        "duration": "2 s",
        "topology": {"generator": "chain", "hops": 1},
        "mobility": {"model": "random-waypoint", "area": ["9 m", "9 m"], "max_speed": "1 m/s", "pause": "4 s"},
        "routing": {"protocol": "dsdv"},
        "flows": [{"from": "n0", "to": "n1", "scheme": "udp"}],
    }
    walk["mobility"]["pause_distribution"] = "uniform"
    result = study(scenario=walk, seeds=12).run(tmp_path / "s")
    moving = set(result.table("positions")["seed"])
    assert 0 < len(moving) < 12


def test_a_flow_is_one_row_however_many_hops_it_begins_with(inline):
    mesh = SCENARIOS / "mobile-mesh.toml"
    done = inline("run", mesh, "--seeds", "3", "--duration", "5 s", "--warmup", "1 s", "-q")
    assert done.code == 0, done.err
    assert "hops at first" in done.out
    rows = [line.split()[0] for line in done.out.splitlines() if "->" in line.partition(" ")[0]]
    assert rows == ["m0->r0", "r0->m1", "m1->m2"]
    assert "hops at first" not in inline("run", SCENARIOS / "chain.toml", "--duration", "2 s", "-q").out


def test_flows_without_a_path_at_the_start_are_bounded_by_nothing_there(inline, tmp_path):
    (tmp_path / "motion.txt").write_text("0 2000 0 50 100 0\n")
    apart = (
        scenario("motion.txt", "bonnmotion", 3, 'nodes = ["n1"]').replace("91 km", "0 m").replace("92 km", "90.1 km")
    )
    (tmp_path / "s.toml").write_text(apart.replace('to = "n2"', 'to = "n1"'))
    bound = multihop.bound(tmp_path / "s.toml")
    assert bound.of_start
    assert bound.totals["total_bps"].tolist() == [0, 0, 0]
    assert bound.flows["alone_bps"].tolist() == [0, 0, 0]
    assert "1 node moves" in inline("check", "s.toml").out
    both = '[[flows]]\nfrom = "n0"\nto = "n2"\nscheme = "udp"\n'
    (tmp_path / "s.toml").write_text((tmp_path / "s.toml").read_text() + both)
    flows = multihop.bound(tmp_path / "s.toml").flows
    assert (flows[flows["flow"] == 0]["alone_bps"] == 0).all()
    assert (flows[flows["flow"] == 1]["alone_bps"] > 5e6).all()


def neighbour_changes(path):
    """From setdest's own lines: when which two nodes become neighbours (250 m), or cease to be."""
    known, changes = set(), []
    line = re.compile(r'^(?:\$ns_ at (\S+) ")?\$god_ set-dist (\d+) (\d+) (\d+)"?\s*$', re.MULTILINE)
    for time, a, b, hops in sorted(
        (float(time or 0), int(a), int(b), int(hops)) for time, a, b, hops in line.findall(path.read_text())
    ):
        if ((a, b) in known) != (hops == 1):
            known ^= {(a, b)}
            changes.append((time, a, b))
    return changes


def test_a_run_replays_what_setdest_says_of_neighbours(motion):
    path = motion / "ns2-scen-670x670-50-600-20-0.tcl"
    text = scenario(path, "setdest", 50, 'file_start = "590 s"').replace('"5 s"', '"310 s"')
    df = multihop.run(text, record_interval="500 ms").positions
    changes = neighbour_changes(path)
    assert sum(time > 590 for time, _, _ in changes) == 1041, "nodes pause for 600 s before"
    neighbours = np.zeros((50, 50), dtype=bool)
    compared = done = 0
    for time, rows in df[df["time_s"] + 590 < changes[-1][0]].groupby("time_s"):
        while changes[done][0] <= time + 590:
            _, a, b = changes[done]
            neighbours[[a, b], [b, a]] ^= True
            done += 1
        place = np.full((50, 2), np.nan)
        place[rows["node"]] = rows[["x_m", "y_m"]]
        distance = np.hypot(*(place[:, None] - place[None, :]).T)
        np.fill_diagonal(distance, np.inf)
        # A node within 2 cm of the edge crosses it within the digits of the file.
        sure = np.abs(distance - 250) > 0.02
        assert ((distance < 250) == neighbours)[sure & ~np.isnan(distance)].all(), time
        compared += int((sure & np.isfinite(distance)).sum())
    assert compared > 1_000_000
