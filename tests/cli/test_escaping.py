"""What strangers name their nodes acts on no terminal, page or spreadsheet, and is shown as it is."""

import csv
import json
import re
import struct
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from multihop.base.escaping import visible, visible_json, write_csv
from multihop.cli import console
from multihop.report import markup

MAC = "0c:73:29:cd:20:86"
#: Clears the screen, sets the title of the window (7 bit and 8 bit), goes back over the line, reorders it, rings.
HOSTILE = "a\x1b[2J\x1b]0;title\x07\x9b2J\x9d0;t\x9c\rb\u202ec\x7f"
SHOWN = r"a\x1b[2J\x1b]0;title\x07\x9b2J\x9d0;t\x9c\x0db\u202ec\x7f"


def raw(text: str) -> list[str]:
    """What of a text would act on a terminal."""
    return re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


def test_control_characters_are_made_visible_and_nothing_else():
    assert visible(HOSTILE) == SHOWN
    plain = f"{MAC} :warning: [red] é\t漢\r\n\U0001f4bf = + - @"
    assert visible(plain) == plain
    assert not raw(visible("".join(map(chr, [*range(9), *range(11, 0x300), 0x2028, 0x2029, 0x200E]))))


def test_json_keeps_its_meaning():
    text = json.dumps({"name": HOSTILE}, ensure_ascii=False)
    assert raw(text)
    assert not raw(visible_json(text))
    assert json.loads(visible_json(text)) == {"name": HOSTILE}


@pytest.mark.parametrize("how", ["say", "note", "table", "json", "print"])
def test_every_way_to_the_terminal_shows_names_as_they_are(capsys, how):
    names = [MAC, ":warning:", "[red]x[/red]", HOSTILE]
    if how == "table":
        console.out().print(console.table(names, [names], title=HOSTILE))
    elif how == "json":
        console.print_json({name: name for name in names})
    else:
        for name in names:
            {"say": console.say, "note": console.note, "print": console.out().print}[how](name)
    shown = "".join(capsys.readouterr())
    assert not raw(shown)
    for name in names[:3]:
        assert name in shown
    assert (r"\u001b" if how == "json" else r"\x1b[2J") in shown


def test_colours_are_still_those_of_the_console(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    console.out().print(HOSTILE, style="bold")
    shown = capsys.readouterr().out
    assert shown.startswith("\x1b[1m")
    assert r"\x1b[2J" in shown


def scenario(name: str) -> str:
    return f"""
name = ":cd: [bold]"
duration = "2 s"
warmup = "0 s"
topology.nodes = [{{ name = "{MAC}", position = ["0 m", "0 m"] }}, {{ name = "{name}", position = ["100 m", "0 m"] }}]
[[flows]]
name = ":warning:"
from = "{MAC}"
to = "{name}"
scheme = "tcp-newreno"
"""


def test_a_scenario_with_hostile_names(inline, tmp_path):
    (tmp_path / "s.toml").write_text(scenario(r"\u001b[2J\u009b\u0007"), encoding="utf-8")
    checked = inline("check", "s.toml")
    assert ":cd: [bold]: 2 nodes" in checked.out
    assert rf"{MAC} > \x1b[2J\x9b\x07" in checked.out
    done = inline("run", "s.toml", "--out", "o")
    assert ":warning:" in done.out
    assert not raw(checked.out + done.out + done.err)
    page = (tmp_path / "o" / "report.html").read_text(encoding="utf-8")
    assert not raw(page)
    assert r"\x1b[2J" in page
    broken = inline("check", "s.toml", "--set", "flows[0].to='\x1b]0;x\x07'")
    assert broken.code == 2
    assert not raw(broken.err)


def test_a_capture_with_a_hostile_interface(inline, tmp_path):
    def block(kind, body):
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    name = b"wlan\x1b[2J\x1b]0;x\x07"
    option = struct.pack("<HH", 2, len(name)) + name + bytes(-len(name) % 4) + bytes(4)
    section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    interface = block(1, struct.pack("<HHI", 127, 0, 0) + option)
    radiotap = struct.pack("<BBHIBB2x", 0, 0, 12, 1 << 2, 12, 0)[:12]
    frame = radiotap + bytes([0xD4, 0, 0, 0, 2, 0, 0, 0, 0, 1])
    packet = block(6, struct.pack("<IIIII", 0, 0, 1000, len(frame), len(frame)) + frame + bytes(-len(frame) % 4))
    (tmp_path / "c.pcapng").write_bytes(section + interface + packet)
    done = inline("measure", "c.pcapng", "--out", "o")
    assert done.code == 0, done.err
    assert r"wlan\x1b[2J" in done.out
    assert not raw(done.out + done.err)
    assert not raw((tmp_path / "o" / "report.html").read_text(encoding="utf-8"))


def test_pages_escape_what_is_named():
    page = markup.document("<script>\x1b", markup.facts([("<b>", '"><img onerror=x>\x9b')]))
    assert "<img" not in page
    assert "<title>&lt;script&gt;\\x1b - multihop</title>" in page


def test_text_in_csv_is_no_formula_and_numbers_stay_numbers(tmp_path):
    texts = ["=1+1", "+a", "-2+3", "@SUM(A1)", "\tx", "\rx", "a=b", "'", "", "-5", "+1.5e3", "-.5", None]
    df = pd.DataFrame({"name": texts, "value": [-1.5] * len(texts), "count": [-1] * len(texts)})
    write_csv(pa.Table.from_pandas(df, preserve_index=False), tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    quoted = ["'=1+1", "'+a", "'-2+3", "'@SUM(A1)", "'\tx", "'\rx"]
    assert [row["name"] for row in rows] == [*quoted, "a=b", "'", "", "-5", "+1.5e3", "-.5", ""]
    assert {(row["value"], row["count"]) for row in rows} == {("-1.5", "-1")}


def test_nothing_else_prints():
    package = Path(console.__file__).parent.parent
    for path in package.rglob("*.py"):
        text = path.read_text()
        if path != Path(console.__file__):
            assert not re.search(r"(?<![\w.])print\(|\bConsole\(", text), path
