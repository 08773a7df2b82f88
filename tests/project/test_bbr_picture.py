"""The picture of BBR's states: runs go through the states that the drafts describe, and the file shows them."""

import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import numpy as np
import pytest
from docs import bbr_picture
from docs.bbr_picture import RATE_MBPS, ROUND_TRIP_S
from docs.pictures import compact

from conftest import ROOT

PICTURE = ROOT / "docs" / "images" / "bbr.svg"
#: Payload of a segment, and what a bandwidth-delay product of the wire holds, in segments.
SEGMENT, PIPE = 1448, RATE_MBPS * 1e6 * ROUND_TRIP_S / 8 / 1500


@pytest.fixture(scope="module")
def runs():
    return {scheme: bbr_picture.series(scheme) for scheme in bbr_picture.VERSIONS}


def during(found, interval):
    return found[(found["time_s"] > interval[0] + 1e-9) & (found["time_s"] < interval[1] + 1e-9)]


def mbps(found):
    return found["sending_rate_bps"].to_numpy() / 1e6


@pytest.mark.parametrize("scheme", bbr_picture.VERSIONS)
def test_startup_doubles_its_rate_and_drain_empties_the_queue(runs, scheme):
    found = runs[scheme]
    states = bbr_picture.states(found)
    rates = mbps(during(found, states.startup))
    # The peak's round trip may begin or end before it.
    rising = rates[1 : int(np.argmax(rates))]
    assert len(rising) >= 3
    assert all(1.4 < after / before < 2.9 for before, after in pairwise(rising))
    assert rates.max() > 1.4 * RATE_MBPS
    assert during(found, states.startup)["source_queue"].max() > 0.8 * PIPE
    assert during(found, states.drain)["source_queue"].iloc[-1] < 0.1 * PIPE
    assert mbps(during(found, states.drain)).max() < RATE_MBPS


def test_probe_rtt_sends_four_segments_in_version_1_and_half_the_product_in_version_3(runs):
    windows = {}
    for scheme, found in runs.items():
        states = bbr_picture.states(found)
        begin, end = states.probe_rtt
        # 200 ms and a round trip, resolved to a round trip at either end; 10 s after the round trip's minimum.
        assert 0.2 - ROUND_TRIP_S <= end - begin <= 0.2 + 3 * ROUND_TRIP_S, scheme
        windows[scheme] = during(found, states.probe_rtt)["window_bytes"].min() / SEGMENT
    assert windows["tcp-bbr"] == 4
    assert windows["tcp-bbr3"] == pytest.approx(PIPE / 2, rel=0.1)
    assert 10 <= bbr_picture.states(runs["tcp-bbr"]).probe_rtt[0] <= 10.5


def test_version_1_probes_in_one_round_trip_of_eight(runs):
    found = runs["tcp-bbr"]
    cruising = found[(found["time_s"] > 2) & (found["time_s"] < 9)]
    probes = np.count_nonzero(np.diff((mbps(cruising) > 1.1 * RATE_MBPS).astype(int)) == 1)
    cycle = 7 / probes / ROUND_TRIP_S
    # Eight of the least round trip, and more until a probe has as much in flight as it asks for.
    assert 8 < cycle < 10.5


def test_a_run_without_the_states_has_no_picture(runs):
    with pytest.raises(ValueError, match="no Drain, or no ProbeRTT"):
        bbr_picture.states(runs["tcp-bbr"][lambda found: found["time_s"] < 10])


def test_the_file_shows_the_runs(runs):
    def drawn(svg):
        tree = ElementTree.fromstring(svg)
        texts = [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]
        return texts, len(list(tree.iter("{http://www.w3.org/2000/svg}path")))

    assert drawn(PICTURE.read_text("utf-8")) == drawn(compact(bbr_picture.svg(runs))), "make figures"
