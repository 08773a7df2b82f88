"""Build of the page."""

import gzip
import json
import random
import re
import shutil
import subprocess
import tomllib

import pytest
from docs import generate
from tools import playground

from multihop.results.columns import TABLES

COLUMNS = {name: {"columns": [{"name": column} for column in columns]} for name, columns in TABLES.items()}

#: Prints the message of the error in each question; null for a question without one.
CHECK = """
import { checkedQuestion } from "./playground/question_format.js";
const [questions, tables] = JSON.parse(process.argv[1]);
const mistake = (question) => {
  try { checkedQuestion(question, tables); } catch (error) { return error.message; }
  return null;
};
console.log(JSON.stringify(questions.map(mistake)));
"""

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")


@pytest.fixture
def modules(tmp_path, monkeypatch):
    monkeypatch.setattr(playground, "ROOT", tmp_path)

    def write(**sources):
        for name, text in sources.items():
            (tmp_path / f"{name}.js").write_text(text)
        return playground.bundle(tmp_path / "main.js")

    return write


@needs_node
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


def in_node(code, value):
    command = ["node", "--input-type=module", "-e", code, json.dumps(value)]
    return json.loads(subprocess.run(command, cwd=playground.ROOT, capture_output=True, text=True, check=True).stdout)


def examples():
    """Questions of the scenes, and that of the page for teachers."""
    sources = [scene["source"] for scene in playground.scenes().values()]
    page = (playground.ROOT / "docs" / "playground" / "teaching.md").read_text("utf-8")
    return [
        tomllib.loads(text) for text in [*sources, *re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)]
    ]


@needs_node
def test_questions_of_scenes_and_docs_are_valid():
    assert len(examples()) == len(playground.scenes()) + 1
    assert in_node(CHECK, [examples(), COLUMNS]) == [None] * len(examples())


@needs_node
def test_an_error_in_a_question_names_the_key_and_what_is_needed():
    good = examples()[0]
    choices = good["choices"]
    changes = {
        'keys: found "choice"': {"choice": []},
        "question: found nothing; needs text": {"question": None},
        'measure.column: found "goodput"; needs a column of flows': {
            "measure": good["measure"] | {"column": "goodput"}
        },
        'measure.table: found "constructor"': {"measure": good["measure"] | {"table": "constructor"}},
        'measure.where: found "nam"; needs columns of flows': {"measure": good["measure"] | {"where": {"nam": "a"}}},
        'measure.fold: found "max"; needs one of sum, mean': {"measure": good["measure"] | {"fold": "max"}},
        'compare: found "difference"; needs one of last, ratio': {"compare": "difference"},
        "runs: found []; needs a list of 1 to 6 entries": {"runs": []},
        'runs[0].set[0]: found ["mac.queue",20]': {"runs": [{"label": "a", "set": [["mac.queue", 20]]}]},
        "choices[1].below: found 0.1; needs a number above": {
            "choices": [choices[0], {"text": "b", "below": 0.1}, choices[3]]
        },
        "choices[1].below: found 3; needs no bound": {"choices": [choices[0], {"text": "b", "below": 3}]},
    }
    wrong = [{key: value for key, value in (good | change).items() if value is not None} for change in changes.values()]
    found = in_node(CHECK, [wrong, COLUMNS])
    assert all(message.startswith(f"Question: {said}") for said, message in zip(changes, found, strict=True)), found


@needs_node
def test_a_mean_has_weights_only_if_the_question_names_them():
    code = """
    import { measured } from "./playground/results.js";
    const [measures, tables] = JSON.parse(process.argv[1]);
    console.log(JSON.stringify(measures.map((measure) => measured(measure, tables))));
    """
    tables = {"flows": {"delay": [1, 4, None], "packets": [2, 1, 9]}}
    plain = {"table": "flows", "column": "delay", "fold": "mean"}
    assert in_node(code, [[plain, plain | {"weight": "packets"}], tables]) == [2.5, 2]


def test_the_exercise_sheet_has_every_question_and_no_answer():
    scenes = playground.scenes()
    sheet = generate.exercises_page(scenes)
    assert len(scenes) > 8
    for name, scene in scenes.items():
        assert f"(../../playground/{name}.md)" in sheet
        assert f"**{scene['question']}**" in sheet
        assert all(f"☐ {choice['text']}" in sheet for choice in scene["choices"])
        assert scene["why"] not in sheet
