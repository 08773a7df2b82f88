"""Classes in the league and in `when`: on the common terms, by name or as objects."""

from pathlib import Path

import pytest
from tests.controllers import schemes as own

import multihop
from multihop import leagues
from multihop.leagues import when

FILE = Path(own.__file__)


def test_a_class_takes_part_on_the_common_terms():
    assert leagues.schemes([f"{FILE}:Constant", own.EcnReno, "tcp-newreno"]) == ["tcp-newreno", "Constant", "EcnReno"]
    terms, newreno = leagues.settings("Constant"), leagues.settings("tcp-newreno")
    assert terms["schemes.Constant"]["class"] == f"{FILE}:Constant"
    for key in ("window", "segment_size", "ack_every", "delayed_ack"):
        assert terms[f"schemes.Constant.{key}"] == newreno[f"schemes.tcp-newreno.{key}"]
    assert leagues.kind_of("Constant") == "reliable"
    assert leagues.headers("Constant") == leagues.headers("tcp-newreno")


def test_a_header_of_its_own_makes_segments_shorter():
    leagues.schemes([own.QueuePrice])
    assert leagues.headers("QueuePrice") == leagues.headers("tcp-newreno") + 5
    # Its transport acknowledges each segment at once: it takes part in both ways.
    assert leagues.entrants(["QueuePrice"]) == ["QueuePrice", "QueuePrice (own ACKs)"]


def test_a_network_runs_the_class(tmp_path):
    names = leagues.entrants(leagues.schemes([own.Reno, "tcp-newreno"]))
    chain = leagues.networks()[0]
    result = leagues.study(chain, names, seeds=1).quick().run(tmp_path)
    assert [str(point.labels["scheme"]) for point in result.points] == names
    assert not result.failures
    assert all(result.values(point, "goodput").min() > 1e5 for point in range(len(names)))


def test_regimes_compare_it():
    assert when.compared([own.Reno, "recn"]) == ["recn", "Reno"]


def test_a_class_with_the_name_of_a_scheme_is_refused():
    class udp(multihop.Controller):  # noqa: N801 - the name of a scheme
        def on_acked(self, acked):
            pass

    with pytest.raises(multihop.UserError, match="the class udp has the name of a scheme; rename it"):
        leagues.schemes([udp])
    with pytest.raises(multihop.UserError, match='has no Ren; did you mean "Reno"'):
        multihop.league(schemes=[f"{FILE}:Ren"])
