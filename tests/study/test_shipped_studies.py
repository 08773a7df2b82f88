"""The studies that people start from, and the page that walks through one of them."""

import re

import pytest

from conftest import ROOT
from multihop.experiments.claims.judging import Verdict
from multihop.experiments.studies import Study

STUDIES = sorted((ROOT / "studies").glob("*.toml"))


@pytest.mark.long
@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_a_quick_look_at_it_decides_every_claim(path, tmp_path):
    result = Study.load(path).quick().run(tmp_path / "study")
    assert result.failures == []
    assert result.missing == 0
    assert result.judgements
    assert Verdict.UNKNOWN not in {judgement.verdict for judgement in result.judgements}


def test_the_first_study_is_shown_as_it_is():
    page = (ROOT / "docs" / "tutorials" / "first-study.md").read_text("utf-8")
    study = (ROOT / "studies" / "queue-and-hops.toml").read_text("utf-8")
    shown = [block for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if "[stop]" not in block]
    assert len(shown) >= 3
    for table in (table for block in shown for table in block.strip().split("\n\n")):
        assert table in study
