"""Folders with a file of each node: a crawl of AREDN nodes, dumps of babeld."""

from __future__ import annotations

import copy
import json

import pytest

from multihop.base.errors import UserError
from multihop.importers import Options, read
from sound_meshes import AREDN_LQM

BABEL = """BABEL 1.0
host {name}
add interface wlan0 up true ipv6 fe80::{own}
add neighbour 1 address fe80::{other} if wlan0 reach ffff rxcost {rx} txcost 256 cost 256
"""


def nodes_of_aredn(folder, count=4):
    for number in range(count):
        node = copy.deepcopy(AREDN_LQM)
        node["node"] = f"N{number}"
        (folder / f"{number}.json").write_text(json.dumps(node))


def test_a_crawl_of_aredn_is_the_list_of_its_files(tmp_path):
    crawl = tmp_path / "crawl"
    crawl.mkdir()
    nodes_of_aredn(crawl)
    (crawl / ".hidden").write_text("no JSON")
    listed = tmp_path / "list.json"
    listed.write_text(json.dumps([json.loads(path.read_text()) for path in sorted(crawl.glob("*.json"))]))
    one, other = read(crawl, Options()), read(listed, Options())
    assert (one.nodes, one.links, one.left_out) == (other.nodes, other.links, other.left_out)


def test_dumps_of_babeld_are_read_one_after_the_other(tmp_path):
    (tmp_path / "a.txt").write_text(BABEL.format(name="a", own=1, other=2, rx=512))
    (tmp_path / "b.txt").write_text(BABEL.format(name="b", own=2, other=1, rx=1024))
    mesh = read(tmp_path, Options())
    assert set(mesh.nodes) == {"a", "b"}
    assert mesh.links == {("b", "a"): 0.5, ("a", "b"): 0.25}


def test_a_file_cut_in_half_is_left_out_and_named(tmp_path):
    nodes_of_aredn(tmp_path)
    whole = (tmp_path / "2.json").read_text()
    (tmp_path / "2.json").write_text(whole[: len(whole) // 2])
    mesh = read(tmp_path, Options())
    (reason,) = [reason for reason in mesh.left_out if "unreadable" in reason]
    assert f"{tmp_path / '2.json'}:1:" in reason
    assert "not JSON" in reason
    assert mesh.left_out[reason] == 1


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "this folder has no files"),
        ({"a.json": "{", "b.json": "{}"}, "not JSON.*1 of 2 files of"),
        ({"a.json": '{"node": "a"}', "b.txt": "BABEL 1.0\n"}, "some files are JSON, and some are not"),
        ({"a.json": "  "}, "the file is empty"),
    ],
)
def test_a_folder_that_is_no_mesh_is_refused_in_a_sentence(tmp_path, files, message):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=message):
        read(tmp_path, Options())
