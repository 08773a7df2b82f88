"""Build of the page."""

import gzip
import json
import random
import re
import shutil
import subprocess

import pytest
from tools import playground


@pytest.fixture
def modules(tmp_path, monkeypatch):
    monkeypatch.setattr(playground, "ROOT", tmp_path)

    def write(**sources):
        for name, text in sources.items():
            (tmp_path / f"{name}.js").write_text(text)
        return playground.bundle(tmp_path / "main.js")

    return write


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_names_of_modules_do_not_collide(modules):
    text = modules(
        a="const size = 1;\nexport const one = () => size;\n",
        b='import { one } from "./a.js";\nconst size = 2;\nexport function both() {\n  return [one(), size];\n}\n',
        main='import { one } from "./a.js";\nimport { both } from "./b.js";\nconst size = 3;\n'
        "console.log(JSON.stringify([one(), both(), size]));\n",
    )
    shown = subprocess.run(["node", "-e", text], capture_output=True, text=True, check=True).stdout
    assert json.loads(shown) == [1, [1, 2], 3]


def test_modules_that_import_each_other_are_refused(modules):
    with pytest.raises(ValueError, match=re.escape("main.js -> a.js -> main.js")):
        modules(main='import { x } from "./a.js";\n', a='import { y } from "./main.js";\nexport const x = 1;\n')


def test_an_unknown_form_of_import_is_refused(modules):
    with pytest.raises(
        ValueError, match=re.escape('main.js: not a form of import or export that is understood: import "a')
    ):
        modules(main='import "a";\n')


def test_without_the_target_the_page_is_omitted_with_a_message(tmp_path, monkeypatch, capsys):
    page = tmp_path / "playground.html"
    page.write_text("old")
    monkeypatch.setattr(playground, "PAGE", page)
    monkeypatch.setattr(playground, "missing", lambda: "Rust has no target")
    monkeypatch.setattr("sys.argv", ["playground"])
    playground.main()
    assert capsys.readouterr().out == "the playground is left out: Rust has no target\n"
    assert not page.exists()


def test_the_engine_is_compressed_better_than_by_zlib():
    letters = random.Random(1)
    wasm = b" ".join(bytes(letters.choices(b"multihop", k=5)) for _ in range(20_000))
    assert gzip.decompress(playground.packed(wasm)) == wasm
    assert len(playground.packed(wasm)) < 0.96 * len(gzip.compress(wasm))


def test_every_scene_has_a_page_in_the_docs():
    docs = playground.ROOT / "docs" / "playground"
    shown = [
        re.findall(r"^```\{playground\} (\w+)$", page.read_text("utf-8"), re.MULTILINE) for page in docs.glob("*.md")
    ]
    assert sorted(name for names in shown for name in names) == sorted(playground.scenes())
