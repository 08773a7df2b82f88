"""Commands, Python and outputs of pages: all run, and the tool that runs them notices what is wrong."""

import json
import re

import pytest
from tools import pages
from tools.page_steps import read

from conftest import ROOT

#: Hand-written pages whose commands take more than some ten seconds.
LONG = {
    "docs/how-to/faq.md",
    "docs/how-to/figures.md",
    "docs/how-to/import.md",
    "docs/how-to/pcap.md",
    "docs/how-to/tasks.md",
    "docs/tutorials/first-study.md",
    "docs/tutorials/six-networks.md",
}

SOUND = """
```toml
# one.toml
duration = "2 s"

[topology]
generator = "chain"
hops = 1
spacing = "100 m"

[[flows]]
from = "n0"
to = "n1"
scheme = "udp"
```

```console
$ multihop check one.toml
one: 2 nodes, 2 directed links, 1 flow
...
flow    scheme        app     path
n0->n1     udp  saturated  n0 > n1
$ multihop check none.toml
multihop: none.toml: no such file; name a scenario (TOML)
```

```python
import multihop

len(multihop.run("one.toml").flows) + 0.25  # = 1.25
print("read")
```

```output
read
```

`multihop run one.toml --seeds 2` is run, `multihop run FILE --seeds 2` and `multihop measure` are not.

<!-- not run: there is no such radio here -->
```sh
multihop measure wlan0.pcap --all
```

<!-- slow: it takes long -->
```sh
multihop run one.toml
```
"""


@pytest.fixture
def page(tmp_path):
    def made(text):
        (tmp_path / "page.md").write_text(text)
        return read(tmp_path / "page.md")

    return made


def wrong(page, **how):
    return [f"{failure.line}: {failure.what}" for failure in pages.check(page, **how)]


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.long] if pages.name(path) in LONG else []) for path in pages.written()],
    ids=pages.name,
)
def test_pages_say_what_commands_print(path):
    failures = pages.check(read(path))
    found = "\n".join(f"{pages.name(path)}:{failure.line}: {failure.what}" for failure in failures)
    assert not failures, f"{found}\nif that was meant: make pages PAGES=--write"


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# Title\n", "\n", "`multihop list --al`"]},
        {"cell_type": "code", "id": "b", "metadata": {}, "outputs": [], "source": ["a = 1\n", "a"]},
        {"cell_type": "code", "id": "c", "metadata": {}, "outputs": [], "source": ["\n", "[a, b]"]},
        {
            "cell_type": "code",
            "id": "d",
            "metadata": {},
            "outputs": [],
            "source": ["class C:\n", "    def _repr_html_(self):\n", "        return 1 / 0\n", "\n", "C()"],
        },
    ]
}


def test_what_is_wrong_with_a_notebook_is_found_in_its_line(tmp_path):
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps(NOTEBOOK, indent=1) + "\n")
    lines = path.read_text().splitlines()
    failures = pages.check(read(path))
    assert [failure.what.splitlines()[0] for failure in failures] == ["multihop list --al", "[a, b]", "C()"]
    assert [lines[failure.line - 1].strip(' ",') for failure in failures] == ["`multihop list --al`", "[a, b]", "C()"]
    assert "name 'b' is not defined" in failures[1].what
    assert "ZeroDivisionError" in failures[2].what


@pytest.mark.parametrize("path", pages.notebooks(), ids=pages.name)
def test_notebooks_are_as_jupyter_writes_them_but_for_outputs(path):
    text = path.read_text("utf-8")
    book = json.loads(text)
    assert text == json.dumps(book, indent=1, ensure_ascii=False) + "\n", "write it with Jupyter"
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert len(code) > 5
    assert [cell["id"] for cell in code if cell["outputs"] or cell["execution_count"] is not None] == [], (
        "clear the outputs, so that only changes of the text differ"
    )
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    links = re.findall(r"\]\(([^)\s#]+)", "".join(line for cell in book["cells"] for line in cell["source"]))
    assert links
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_pages_have_commands_to_run():
    steps = [step for path in pages.hand_written() for step in read(path).steps]
    assert sum(step.kind == "command" and step.is_run(full=False) for step in steps) > 60
    assert sum(step.shown is not None for step in steps) > 15


def test_a_sound_page_is_sound(page):
    found = page(SOUND)
    assert wrong(found) == []
    assert [(step.text, step.left_out) for step in pages.left_out(found)] == [
        ("multihop measure wlan0.pcap --all", "not run: there is no such radio here"),
        ("multihop run one.toml", "slow: it takes long"),
    ]


@pytest.mark.parametrize(
    ("sound", "broken", "said"),
    [
        ("2 nodes", "3 nodes", r"18: multihop check one.toml\n.*-one: 3 nodes.*\+one: 2 nodes"),
        ("n0 > n1\n", "n0 > n2\n", r"18: multihop check one.toml\n.*-n0->n1"),
        (
            "no such file; name",
            "not there; name",
            r"23: multihop check none.toml\n.*\+multihop: none.toml: no such file",
        ),
        ("check none.toml", "check one.toml", r"23: multihop check one.toml\n.*\+one: 2 nodes"),
        ("# = 1.25", "# = 1.3", r"30: the page says 1.3\n .*# = 1.25"),
        (".flows)", ".flow)", r"30: len.*\n +AttributeError\(.*'flow'"),
        ("\nread\n", "\nwritten\n", r"34: the block above prints\n.*-written\n.*\+read"),
        (
            "run one.toml --seeds 2",
            "run one.toml --sees 2",
            r"38: multihop run one.toml --sees 2\n +exit code 2: multihop: ",
        ),
        ("run FILE --seeds", "run FILE --sees", r"38: multihop run FILE --sees 2\n +there is no option --sees"),
        ("multihop measure`", "multihop mesure`", r"38: multihop mesure\n +there is no command 'mesure'"),
        ("pcap --all", "pcap --al", r"42: multihop measure wlan0.pcap --al\n +there is no option --al"),
        ("multihop measure wlan0", "make wlan0", r"42: make wlan0.*\n +the Makefile has no target wlan0"),
    ],
)
def test_what_is_wrong_with_a_page_is_found(page, sound, broken, said):
    assert SOUND.count(sound) >= 1
    failures = wrong(page(SOUND.replace(sound, broken, 1)))
    assert len(failures) == 1, failures
    assert re.match(said, failures[0], re.DOTALL), failures[0]


def test_slow_commands_are_run_in_the_full_form_only(page):
    broken = page(SOUND.replace("multihop run one.toml\n```", "multihop run two.toml\n```"))
    assert wrong(broken) == []
    assert len(wrong(broken, full=True)) == 1


def test_outputs_are_written_into_a_page(page):
    broken = SOUND.replace("2 nodes", "3 nodes").replace("n0 > n1\n", "n0\n").replace("# = 1.25", "# = ?")
    broken = broken.replace("\nread\n", "\nwritten\ntwice\n")
    found = page(broken)
    assert wrong(found, write=True) == []
    assert found.path.read_text() == SOUND


def test_readers_of_a_page_have_files_of_their_own(page):
    text = """
```sh
multihop import meshviewer.json --out mesh.toml
multihop measure capture.pcap.gz > measured.txt && cat measured.txt
```
"""
    assert wrong(page(text)) == []


def test_programs_that_are_not_run_need_a_mark(page):
    assert "curl is not run here" in wrong(page("```sh\ncurl example.org | cat\n```\n"))[0]


def test_documented_commands_of_scenarios_exist(page):
    """Those of the comments in scenarios and studies: the options are there."""
    texts = [path.read_text("utf-8") for folder in ("scenarios", "studies") for path in (ROOT / folder).rglob("*.toml")]
    named = [
        line
        for text in texts
        for line in re.findall(r"^#(?: Try:)? +(multihop [a-z]+ .*(?:scenarios|studies)/[^(\n]*)", text, re.MULTILINE)
    ]
    assert len(named) > 40
    lines = "\n".join(f"<!-- not run: parsed -->\n```sh\n{line.strip()}\n```" for line in named)
    assert wrong(page(lines)) == []
