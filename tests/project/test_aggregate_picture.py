"""The picture of an aggregate: what it shows happened in a run, and the file shows that run."""

import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import pytest
from docs import aggregate_picture, aggregate_run
from docs.pictures import compact

from conftest import ROOT

PICTURE = ROOT / "docs" / "images" / "aggregate.svg"
US = 1000


@pytest.fixture(scope="module")
def logged():
    return aggregate_run.logged()


@pytest.fixture(scope="module")
def found(logged):
    return aggregate_run.story(*logged)


def packets(exchange):
    return [mpdu.packet for mpdu in exchange.mpdus]


def texts(svg):
    return [text.text for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_what_is_lost_goes_first_in_the_next_aggregate(logged):
    exchanges, _ = logged
    lossy = [(first, second) for first, second in pairwise(exchanges) if first.lost]
    assert len(lossy) > 20
    assert all(packets(second)[: len(first.lost)] == first.lost for first, second in lossy)


def test_packets_are_passed_up_in_order(logged):
    _, passed_up = logged
    assert len(passed_up) > 500
    assert list(passed_up) == sorted(passed_up)
    assert list(passed_up.values()) == sorted(passed_up.values())


def test_those_behind_a_lost_packet_wait_for_it(found):
    """A packet crosses the wire to the host in 1.2 us, one after the other."""
    first, second = found.first, found.second
    assert len(first.lost) == 2
    assert not second.lost
    for packet in packets(first) + packets(second):
        came = (first if packet < first.lost[0] else second).ends
        assert 0 < found.passed_up[packet] - came < 20 * US, packet
    held = [mpdu.packet for mpdu in first.mpdus if mpdu.arrived and mpdu.packet > first.lost[0]]
    assert len(held) >= 2


def test_times_are_those_of_the_standard(found):
    """SIFS and propagation; the preamble of one stream, and what fills the last symbol (19.3)."""
    for exchange in (found.first, found.second):
        assert 16 * US <= exchange.answer_begins - exchange.ends < 18 * US
        assert 36 * US <= exchange.mpdus[0].begins - exchange.begins <= 40 * US
        assert all(before.ends == after.begins for before, after in pairwise(exchange.mpdus))
        assert exchange.mpdus[-1].ends == exchange.ends
    slots, rest = divmod(found.second.begins - found.first.answer_ends - 34 * US, 9 * US)
    assert 0 <= slots <= 15
    assert rest <= 2 * US


def test_a_run_without_two_losses_has_no_picture(logged):
    exchanges, passed_up = logged
    with pytest.raises(LookupError, match="no exchange of the run loses two packets"):
        aggregate_run.story([exchange for exchange in exchanges if not exchange.lost], passed_up)


def test_the_file_shows_the_run(found):
    assert texts(PICTURE.read_text("utf-8")) == texts(compact(aggregate_picture.svg(found))), "make figures"
    assert "".join(f"{mpdu.arrived:d}" for mpdu in found.first.mpdus) in "".join(texts(PICTURE.read_text("utf-8")))


def test_the_page_names_the_packets_that_it_shows(found):
    page = " ".join((ROOT / "docs" / "explanation" / "aggregation.md").read_text("utf-8").split())
    lost = found.first.lost
    held = [mpdu.packet for mpdu in found.first.mpdus if mpdu.arrived and mpdu.packet > lost[0]]
    assert f"{lost[0]} and {lost[1]} have a 0" in page
    assert f"keeps {', '.join(map(str, held[:-1]))} and {held[-1]}" in page
