"""What `measure` prints of captures of others: one screen, and no number that cannot be."""

import re
from pathlib import Path

import numpy as np
import pytest

from multihop.api import measuring

FOLDER = Path(__file__).parent.parent.parent / "shared" / "data" / "pcap"
CAPTURES = sorted(path for path in FOLDER.glob("*") if path.is_file())

pytestmark = pytest.mark.skipif(not CAPTURES, reason="there is no ../shared/data/pcap")


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_one_screen(path, inline):
    lines = inline("measure", path).out.splitlines()
    assert len(lines) <= 42
    assert max(map(len, lines)) <= 104
    said = "\n".join(lines)
    assert not re.search(r"\bnan\b|\binf\b|[ (]-\d+\.\d+ (%|Mb)", said)
    assert all(float(share) <= 100.0 for share in re.findall(r"([\d.]+) %", said))


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_no_number_that_cannot_be(path):
    found = measuring.measure(path)
    links = found.links[found.links["capacity_bps"].notna()]
    rate = links["phy_rate_bps"] * (1 + 1e-9)
    for column in ("capacity_bps", "capacity_high_bps", "available_bps", "available_high_bps"):
        assert (links[column].isna() | (links[column] <= rate)).all(), column
        assert (links[column].isna() | (links[column] >= 0)).all(), column
    assert (links["capacity_low_bps"].isna() | (links["capacity_low_bps"] >= 0)).all()
    for column in ("aggregate_mean", "tries_mean"):
        assert (found.links[column].isna() | (found.links[column] >= 1)).all(), column
    for table, column in ((found.airtime, "share"), (found.stations, "retry_ratio"), (found.busy, "busy_ratio")):
        values = table[column].to_numpy(dtype=float)
        values = values[np.isfinite(values)]
        assert ((values >= 0) & (values <= 1 + 1e-9)).all(), column
    for sniffer in found.sniffers:
        assert 0 <= sniffer.length_s < 366 * 86_400
        if not found.knows_airtime(sniffer):
            assert found.stations["service_mean_s"].isna().all()
            assert found.estimates[found.estimates["interface"] == sniffer.interface].empty


def test_an_example_of_2005_without_an_exact_timer(inline):
    said = inline("measure", FOLDER / "wireshark-wpa-Induction.pcap.gz").out
    assert said.count("exchanges have impossible time stamps") == 1
    assert "60 of 176" in said
