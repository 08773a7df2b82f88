"""`reproduce wifi/mesh --mesh`: a mesh that the reader brings is one more network of the study."""

import json
import tomllib

import pytest

from conftest import DATA
from meshes import meshviewer
from multihop.experiments.specs import Factor
from multihop.papers import find

LEIPZIG = DATA / "freifunk-leipzig-meshviewer.stripped.json"
CASE = find("wifi").community["case"]


def row(tmp_path):
    """Three nodes in a row; the first is the gateway."""
    path = tmp_path / "row.json"
    content = meshviewer([("a", "b", 1, 1, "wifi"), ("b", "c", 0.9, 0.9, "wifi")], "abc", a={"is_gateway": True})
    path.write_text(json.dumps(content))
    return path


def test_it_is_a_case_beside_the_studys_own(tmp_path):
    paper = find("wifi")
    asked = paper.study_on("mesh", row(tmp_path))
    names = Factor.model_validate(asked.spec.factors["mesh"]).names
    assert names == [*paper.study("mesh").spec.factors["mesh"].names, CASE]
    case = asked.spec.factors["mesh"].cases[CASE]
    assert len(case["topology"]["nodes"]) == 3
    assert case["traffic.gateways"] == ["a"]
    views = asked.plan.views
    assert {len(view["nodes"]) for view in views} >= {3, 9, 16}
    # The copy in the folder of results says what was run, and a quick look keeps it.
    assert CASE in tomllib.loads(asked.file_text)["factors"]["mesh"]["cases"]
    assert CASE in asked.quick().spec.factors["mesh"].cases


def test_other_studies_are_as_they_were(tmp_path):
    paper = find("wifi")
    assert paper.study_on("recn", row(tmp_path)).spec == paper.study("recn").spec


def test_only_the_paper_that_has_the_study_takes_one(inline, tmp_path):
    mesh = str(row(tmp_path))
    assert "--mesh: no study of recn takes a mesh" in inline("reproduce", "recn", "--mesh", mesh).fails_cleanly()
    missing = inline("reproduce", "wifi/mesh", "--mesh", "nowhere.json").fails_cleanly()
    assert "nowhere.json" in missing


@pytest.mark.skipif(not LEIPZIG.exists(), reason="needs the shared data")
def test_a_community_mesh_carries_downloads(tmp_path):
    asked = find("wifi").study_on("mesh", LEIPZIG)
    kept = asked.spec.factors["scheme"].model_copy(update={"values": ["tcp-newreno"], "labels": ["NewReno"]})
    mesh = asked.spec.factors["mesh"]
    mesh = mesh.model_copy(update={"cases": {CASE: mesh.cases[CASE]}})
    changes = {"factors": {"mesh": mesh, "scheme": kept}, "claims": [], "seeds": 1}
    changes["set"] = {"duration": "6 s", "warmup": "3 s"}
    made = asked._with(asked.spec.model_copy(update=changes))
    result = made.run(tmp_path / "out", jobs=1)
    assert not result.failures
    assert len(made.plan.views[0]["nodes"]) == 87
    assert result.values(0, "goodput").sum() > 1e6
