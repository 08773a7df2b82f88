"""The viewer of captures: what a sniffer sees is there, and nothing else."""

import pytest

import multihop
from conftest import SCENARIOS
from multihop.report.viewer import page

MODEL = "document.querySelector('.viewer-host').viewer.model"


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    """A run's air as a monitor hears it."""
    path = tmp_path_factory.mktemp("captured") / "chain.pcapng"
    multihop.run(SCENARIOS / "chain.toml", duration="3 s", warmup="0 s", pcap=path)
    return path


@pytest.fixture
def opened(shown, tmp_path):
    """Opens the page of a capture."""

    def open_page(capture, fragment="", **options):
        log = tmp_path / "captured.frames"
        multihop.capture_frames(capture, log)
        file = log.with_suffix(".html")
        file.write_text(page(log.read_bytes(), "captured"), encoding="utf-8")
        tab = shown(file.as_uri() + fragment, **options)
        tab.wait_for_selector(".viewer > canvas")
        return tab

    return open_page


def test_neither_backoff_nor_queues_are_invented(opened, capture):
    tab = opened(capture, "#t=1&span=0.05")
    assert tab.evaluate(f"{MODEL}.count") > 500
    assert tab.evaluate(f"{MODEL}.contends.every((since) => since === -1)")
    tab.locator(".viewer > canvas").focus()
    said = tab.locator(".viewer-words")
    for _ in range(8):
        tab.keyboard.press("n")
        assert "sent" in said.inner_text()
        for word in ("contended", "back-off", "waited behind"):
            assert word not in said.inner_text()
    legend = tab.locator(".viewer-legend").all_inner_texts()
    assert len(legend) == 1
    assert legend[0].split() == ["RTS", "CTS", "DATA", "ACK"]
    assert tab.evaluate("document.querySelector('.viewer-host').viewer.state.tracks") == ["rate"]
    assert tab.get_by_role("button", name="next").count() == 0
    tab.keyboard.press("c")
    assert said.inner_text() == "A capture does not show collisions."
