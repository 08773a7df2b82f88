"""The pages: links that lead somewhere, pictures that fit, and references that say what the program says."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

import pytest
from docs import generate
from docs.pictures import compact

import multihop
from conftest import ROOT, repository
from multihop.report.svg import INK, Chart, style

SVG = "{http://www.w3.org/2000/svg}"
PICTURES = {".gif", ".jpg", ".jpeg", ".png", ".svg", ".webp"}
MOST_BYTES = 3_000_000


def test_pictures_fit_into_the_repository():
    sizes = {path: path.stat().st_size for path in repository() if path.suffix in PICTURES}
    assert len(sizes) > 2
    assert sum(sizes.values()) < MOST_BYTES, sorted(sizes.items(), key=lambda item: -item[1])[:10]


def test_documentation_of_the_crates_has_lines_of_at_most_110_characters():
    """But for tables, which have a row in a line."""
    comment = re.compile(r"\s*//[/!] ")
    lines, long = 0, []
    for path in repository():
        if path.suffix != ".rs":
            continue
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            said = comment.match(line)
            lines += bool(said)
            if said and len(line) > 110 and not line[said.end() :].startswith(("|", "> ")):
                long.append(f"{path.relative_to(ROOT)}:{number}")
    assert lines > 10_000
    assert not long, f"wrap by hand to 110 characters, which cargo fmt leaves as they are: {long}"


def prose(page: str) -> Iterator[tuple[int, str]]:
    """Lines of a page, with their numbers, but for code, formulas, tables and pictures."""
    inside = False
    for number, line in enumerate(page.splitlines(), 1):
        if line.lstrip().startswith("```") or line.count("$$") % 2:
            inside = not inside
        elif not inside and not line.lstrip().startswith(("|", "![", "$$")):
            yield number, line


def test_prose_of_pages_has_lines_of_at_most_110_characters():
    """But for pages that programs write, and what is one word."""
    lines, long = 0, []
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")]
    for page in [*pages, *(path for path in repository() if ROOT / "docs" in path.parents)]:
        if page.suffix != ".md" or page.parent.name in {"results", "generated"}:
            continue
        for number, line in prose(page.read_text("utf-8")):
            lines += 1
            if len(line) > 110 and len(line.split()) > 1:
                long.append(f"{page.relative_to(ROOT)}:{number}")
    assert lines > 3_000
    assert not long, f"wrap by hand to 110 characters: {long}"


def test_links_lead_to_repository():
    generated = {generate.TARGET / name for name in generate.pages()}
    broken, seen = [], 0
    for page in repository():
        if page.suffix != ".md" or ROOT / "validation" in page.parents:
            # Templates of pages in docs/results, whose links are from there.
            continue
        for target in re.findall(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)", page.read_text("utf-8")):
            if re.match(r"[a-z]+:", target):
                continue
            seen += 1
            path = (page.parent / target).resolve()
            if path not in generated and not path.exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert not broken
    assert seen > 100


def test_every_page_is_on_the_site():
    indices = [ROOT / "docs" / folder / "index.md" for folder in ("", "adr", "playground")]
    index = "".join(path.read_text("utf-8") for path in indices)
    pages = [path for path in repository() if path.suffix == ".md" and ROOT / "docs" in path.parents]
    assert len(pages) > 40
    missing = [path.name for path in pages if path.stem != "index" and not re.search(rf"\b{path.stem}\n", index)]
    assert not missing, f"no index lists these pages; add them to docs/index.md: {missing}"


def test_no_folder_of_pages_is_a_long_list():
    folders = [path for path in (ROOT / "docs").rglob("*") if path.is_dir() and generate.TARGET not in path.parents]
    counts = {folder: len(list(folder.glob("*.md"))) for folder in folders}
    assert max(counts.values()) <= 25, counts


def test_references_have_every_command_and_every_public_name():
    pages = generate.pages()
    commands = pages["command-line.md"]
    for words in ("run", "compare", "study run", "doctor"):
        assert f"## multihop {words}\n" in commands
    shown = subprocess.run(
        [sys.executable, "-m", "multihop", "bound", "--help"], capture_output=True, text=True, check=True
    ).stdout
    summary = next(line.strip() for line in shown.splitlines()[1:] if line.strip())
    assert summary.split(",")[0] in commands
    assert all(f":: multihop.{name}" in pages["python-api.md"] for name in multihop.__all__)


def drawn():
    """A chart with what charts have: bars, whiskers, markers, a gap, text to be escaped, a tilted label."""
    chart = Chart("c", "A chart", 8.0, 3.0)
    axis = chart.figure.subplots()
    axis.plot([0, 1, 2, 3], [1, 2, float("nan"), 4], "o-", color="#0072B2")
    axis.plot([0.5 * k for k in range(8)], [2] * 8, "s", color="#E69F00")
    axis.plot([k / 200 for k in range(601)], [3 + (k % 2) * 1e-4 for k in range(601)], color="#009E73")
    axis.errorbar([1], [2], [0.5], fmt="none", ecolor=INK, capsize=2.5)
    axis.bar([0, 1], [1, 2], color="#D55E00", alpha=0.6)
    axis.set_xticks([0, 1], ["a < b", "long & tilted"], rotation=35, ha="right")
    return chart.file()


@pytest.fixture(scope="module")
def before_and_after():
    with style():
        before = drawn()
    return before, compact(before)


def test_a_compact_picture_has_the_same_size_and_texts(before_and_after):
    before, after = (ElementTree.fromstring(text) for text in before_and_after)
    assert [before.get(name) for name in ("width", "height", "viewBox")] == [
        after.get(name) for name in ("width", "height", "viewBox")
    ]
    texts = [sorted(text.text for text in tree.iter(f"{SVG}text")) for tree in (before, after)]
    assert texts[0] == texts[1]
    assert "a < b" in texts[1]
    tilted = next(text for text in after.iter(f"{SVG}text") if text.text == "long & tilted")
    assert "rotate(-35" in tilted.get("transform")


def test_a_compact_picture_has_all_marks_in_few_bytes(before_and_after):
    before, after = before_and_after
    assert len(after) < len(before) / 4
    assert after == compact(before)
    tree = ElementTree.fromstring(after)
    rules = dict(re.findall(r"\.(s\d+)\{([^}]*)\}", after))
    places = [
        len(path.get("d")[1:].split()) // 2
        for path in tree.iter(f"{SVG}path")
        if "marker:url" in rules.get(path.get("class"), "")
    ]
    assert sorted(places) == [3, 8], "circles but for the gap, and squares"
    # The line of 601 points, which is straight to the eye, is one step.
    green = next(name for name, rule in rules.items() if "#009e73" in rule and "fill:none" in rule)
    data = next(path.get("d") for path in tree.iter(f"{SVG}path") if path.get("class") == green)
    assert re.fullmatch(r"M[\d.]+ [\d.]+(h[\d.]+|l[\d. -]+)", data)


def test_a_thinned_line_keeps_what_can_be_seen():
    line = "M 10 10 L 20 10.1 L 30 10 L 40 14 L 50 10 z"
    text = f'<svg xmlns="{SVG[1:-1]}" width="1" height="1" viewBox="0 0 1 1"><path d="{line}" style="fill: red"/></svg>'
    assert 'd="M10 10h20l10 4l10-4z"' in compact(text)


def test_a_curve_that_is_no_marker_is_refused():
    text = f'<svg xmlns="{SVG[1:-1]}"><path d="M 0 0 C 1 1 2 2 3 3" style="fill: none"/></svg>'
    with pytest.raises(ValueError, match="'C'"):
        compact(text)


def test_the_page_for_contributors_names_files_that_exist():
    folders = {"S/": "crates/schemes/src/", "M/": "crates/sim/src/", "T/": "crates/scenario/src/"}
    page = re.sub(r"```.*?```", "", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), flags=re.DOTALL)
    named = [name for name in re.findall(r"`([^`\s]*/[^`\s]*)`", page) if not re.search("NAME|ITEM|my_", name)]
    paths = [re.sub(r"^[SMT]/", lambda short: folders[short[0]], name) for name in named]
    assert len(paths) > 30
    missing = [path for path in paths if not (ROOT / path).exists()]
    assert not missing, f"CONTRIBUTING.md names files that are not there: {missing}"


def test_pages_that_sources_name_exist():
    made = {f"docs/reference/generated/{name}" for name in generate.pages()}
    missing, seen = [], 0
    for path in repository():
        # Texts of papers are in the results, which change only when these are reproduced.
        if ROOT / "docs" / "results" in path.parents or path.suffix not in {".py", ".rs", ".md", ""}:
            continue
        for name in re.findall(r"\bdocs/[a-z/-]+\.md\b", path.read_text("utf-8", errors="replace")):
            seen += 1
            if name not in made and not (ROOT / name).exists():
                missing.append(f"{path.relative_to(ROOT)}: {name}")
    assert not missing, f"sources name pages that are not there: {missing}"
    assert seen > 20
