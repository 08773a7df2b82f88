"""Importers on damaged input: a mesh and a scenario, or one clean message, whatever the bytes.

MULTIHOP_FUZZ_EXAMPLES says how many are drawn for each format; `make fuzz-importers` draws 5000.
"""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from damage import damaged, fuzzed
from multihop.base.errors import UserError
from multihop.importers import FORMATS, read
from multihop.importers.formats.catalogue import READERS, table
from multihop.importers.to_scenario import Plan, write
from sound_meshes import SOUND, text_of


def test_each_format_has_a_sound_file_and_a_reader():
    sound, readers = {name.split()[0] for name in SOUND}, {reader.format for reader in READERS}
    assert not sound ^ set(FORMATS), (
        f"SOUND of tests/sound_meshes.py and FORMATS differ: {sorted(sound ^ set(FORMATS))}"
    )
    assert not readers ^ set(FORMATS), f"READERS and FORMATS differ: {sorted(readers ^ set(FORMATS))}"


def test_the_page_has_the_table_of_formats():
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "import.md").read_text(encoding="utf-8")
    if table() not in page:
        missing = "\n".join(line for line in table().splitlines() if line not in page)
        pytest.fail(
            f"the table of docs/how-to/import.md needs the rows and the order of FORMATS; it lacks\n{missing}",
            pytrace=False,
        )


@pytest.mark.parametrize("name", SOUND)
def test_sound_files_are_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "mesh"
    path.write_text(text_of(name), newline="")
    mesh = read(path, SOUND[name][1])
    assert mesh.links
    assert mesh.format == name.split()[0]
    assert mesh.tally.broken == 0


@pytest.mark.parametrize("name", SOUND)
@fuzzed
@given(data=st.data())
def test_damaged_files_give_a_scenario_or_one_clean_message(name: str, data: st.DataObject) -> None:
    sound, options = SOUND[name]
    content = data.draw(damaged(sound))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mesh"
        path.write_bytes(content)
        try:
            imported = write(read(path, options), Plan(), "mesh")
        except UserError as error:
            message = str(error)
        else:
            message = ""
            assert imported.nodes >= 2
            imported.text.encode()
    assert "\n" not in message
    assert len(message) < 1000
