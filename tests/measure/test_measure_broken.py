"""`multihop.measure` on broken captures: a measurement that says what is broken, or one clean message."""

import json
import random
import re

import pytest

from multihop import UserError, measure
from multihop.report.measurement import page

CUTS = 15
#: Of them within the header of the file or of its first record.
EARLY_CUTS = 5


def outcome(path):
    """The measurement, whose tables can all be made; or the message, if there is none."""
    try:
        found = measure(path)
    except UserError as error:
        message = str(error)
        assert message.startswith(f"{path}: ")
        assert "\n" not in message
        # Where, or that nothing of it is a capture.
        assert re.search(r"byte \d+|the file is empty|the file begins with|version \d", message), message
        return message
    assert json.loads(json.dumps(found.record(), default=str))["records"] == found.records
    for sniffer in found.sniffers:
        frames = found.of(found.airtime, sniffer)["frames"].sum()
        assert 0 <= frames <= sniffer.quality["records"]
        # No station was on the air for longer than the capture is long; the ratio is that of nothing for one instant.
        assert not found.busy_ratio(sniffer) > 1 + 1e-9
        if found.broken is not None:
            assert re.search(r"byte \d+", found.broken)
            assert sniffer.grade != "good"
            assert "the file is broken, or ends in the middle of a record" in sniffer.reasons
    return found


def test_every_malformed_file(data):
    files = sorted(path for path in (data.parent / "pcap-malformed").rglob("*") if path.is_file())
    outcomes = {path.name: outcome(path) for path in files}
    measured = [found for found in outcomes.values() if not isinstance(found, str)]
    assert len(outcomes) > 20
    assert len(measured) > 3
    for found in measured:
        assert "<html" in page(found)


@pytest.mark.long
def test_every_capture_cut_anywhere(data, tmp_path):
    rng = random.Random(4)
    endings = {"whole records": 0, "broken": 0, "refused": 0}
    for path in sorted((data.parent / "pcap").iterdir()):
        content = path.read_bytes()
        whole = measure(path)
        cut_file = tmp_path / f"cut-{path.name}"
        for number in range(CUTS):
            cut = rng.randrange(min(len(content), 64) if number < EARLY_CUTS else len(content))
            cut_file.write_bytes(content[:cut])
            found = outcome(cut_file)
            if isinstance(found, str):
                endings["refused"] += 1
                continue
            assert found.records <= whole.records
            if found.broken is None:
                # Only between two records, or two blocks, nothing is missing.
                endings["whole records"] += 1
                assert found.bytes == cut
            else:
                endings["broken"] += 1
    assert endings["broken"] > CUTS
    assert endings["refused"] > EARLY_CUTS


def test_a_file_that_is_cut_before_its_first_record_names_the_place(tmp_path):
    path = tmp_path / "x.pcap"
    words = (0xA1B2C3D4, 0x00040002, 0, 0, 65535, 127, 1, 0, 40, 40)
    path.write_bytes(b"".join(word.to_bytes(4, "little") for word in words) + bytes(12))
    with pytest.raises(UserError, match=r"x\.pcap: truncated at byte 52, in record 1"):
        measure(path)
