"""The page of video under congestion control, and the program that makes it."""

import pytest
from docs import media

import multihop
from conftest import ROOT

PAGE = ROOT / "docs" / "results" / "media.md"


@pytest.mark.parametrize("scheme", media.SCHEMES)
@pytest.mark.parametrize("network", media.NETWORKS)
def test_each_network_carries_the_video_under_each_scheme(network, scheme):
    """A short run carries data, and each column has a value."""
    scenario = {**media.scenario_of(network, scheme), "duration": "62 s", "warmup": "56 s"}
    result = multihop.run(scenario, seed=1)
    video = result.flows.iloc[0]
    assert video["name"] == "video"
    assert video["video_frames_sent"] > 100
    assert video["goodput_bps"] > 50e3
    assert all(value(result) >= 0.0 for _, _, value in media.COLUMNS)


def test_the_page_has_every_row_and_is_of_this_program():
    text = PAGE.read_text("utf-8")
    assert text.startswith(media.ABOUT.format(seeds=media.SEEDS).strip())
    for network in media.NETWORKS.values():
        assert f"## {network.title}\n\n{network.about}\n" in text
    for scheme in media.SCHEMES:
        assert text.count(f"\n| `{scheme}` |") == len(media.NETWORKS)
    assert text.count("| " + " | ".join(["scheme of the video", *(name for name, _, _ in media.COLUMNS)])) == len(
        media.NETWORKS
    )
