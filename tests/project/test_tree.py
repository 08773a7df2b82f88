"""What the repository holds: text that people read, folders that can be taken in at a glance, short functions."""

import ast
import re
from collections import defaultdict

import pytest

from conftest import ROOT, repository

MOST_BYTES = 200_000
MOST_ENTRIES = 25
MOST_LINES = 70

#: What is meant to be binary: seeds of the fuzzers, and an input of a reader of packed files.
BINARY = ("fuzz/corpus/", "crates/scenario/tests/data/passing.movements.gz")


@pytest.fixture(scope="module")
def names():
    return {path.relative_to(ROOT).as_posix(): path for path in repository()}


def too_large(sizes):
    return {name: size for name, size in sizes.items() if size > MOST_BYTES}


def is_binary(data):
    try:
        return "\0" in data.decode("utf-8")
    except UnicodeDecodeError:
        return True


def full(names):
    """Folders with too many entries, and how many they have."""
    entries = defaultdict(set)
    for name in names:
        parts = name.split("/")
        for depth, part in enumerate(parts):
            entries["/".join(parts[:depth])].add(part)
    return {folder: len(inner) for folder, inner in entries.items() if len(inner) > MOST_ENTRIES}


def long_functions(sources):
    """Functions of Python with too many lines, and how many they have; those within others count for both."""
    return {
        f"{name}:{node.name}": node.end_lineno - node.lineno + 1
        for name, source in sources.items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if node.end_lineno - node.lineno + 1 > MOST_LINES
    }


#: The first line of a function of Rust, with its indentation.
RUST_FUNCTION = re.compile(r"( *)(?:pub(?:\([^)]*\))? )?(?:(?:const|async|unsafe|extern \"C\") )*fn (\w+)")


def long_rust_functions(sources):
    """Functions of Rust with too many lines: rustfmt puts the brace that closes one where the function begins."""
    found = {}
    for name, source in sources.items():
        lines = source.splitlines()
        for first, line in enumerate(lines):
            begins = RUST_FUNCTION.match(line)
            if begins is None or line.endswith(("}", ";")):
                continue
            indent, function = begins.groups()
            # A declaration of a trait ends with a semicolon, behind what its parameters end with.
            ends = re.compile(rf"{indent}(?:\}}|\).*;$|where .*;$)")
            last = next(at for at in range(first + 1, len(lines)) if ends.match(lines[at]))
            if last - first + 1 > MOST_LINES:
                found[f"{name}:{function}"] = last - first + 1
    return found


def test_no_file_is_large(names):
    assert len(names) > 1000
    assert too_large({name: path.stat().st_size for name, path in names.items()}) == {}


def test_nothing_is_binary_unless_meant(names):
    binary = [name for name, path in names.items() if is_binary(path.read_bytes())]
    assert [name for name in binary if not name.startswith(BINARY)] == []
    assert [start for start in BINARY if not any(name.startswith(start) for name in binary)] == []


def test_no_folder_is_a_long_list(names):
    assert full(names) == {}


def test_no_function_of_python_is_long(names):
    sources = {name: path.read_text("utf-8") for name, path in names.items() if path.suffix == ".py"}
    assert len(sources) > 200
    assert long_functions(sources) == {}


def test_no_function_of_rust_is_long(names):
    sources = {name: path.read_text("utf-8") for name, path in names.items() if path.suffix == ".rs"}
    assert len(sources) > 200
    assert long_rust_functions(sources) == {}


def test_a_long_function_of_rust_is_found():
    def lines(count, head="pub(crate) fn f() {"):
        return [head, *["    g();"] * (count - 2), "}"]

    inner = ["impl C {", *(f"    {line}" for line in lines(71, "const unsafe fn h(")), "}"]
    trait = ["trait T {", "    fn a(", "        self,", "    ) -> u32;", *(f"    {line}" for line in lines(70)), "}"]
    sources = {"a.rs": lines(70), "b.rs": lines(71), "c.rs": inner, "d.rs": trait}
    found = long_rust_functions({name: "\n".join(text) for name, text in sources.items()})
    assert found == {"b.rs:f": 71, "c.rs:h": 71}


def test_a_long_function_is_found():
    def lines(count):
        return "def f():\n" + "    pass\n" * (count - 1)

    inner = "class C:\n" + "".join(f"    {line}\n" for line in lines(71).splitlines())
    assert long_functions({"a.py": lines(70), "b.py": lines(71), "c.py": inner}) == {"b.py:f": 71, "c.py:f": 71}


def test_what_does_not_belong_is_found():
    assert too_large({"target/a.whl": 10_000_000, "page.md": 90_000}) == {"target/a.whl": 10_000_000}
    assert [is_binary(data) for data in (b"PK\x03\x04\xff", b"a\0b", "größer".encode(), b"")] == [
        True,
        True,
        False,
        False,
    ]
    flat = [f"src/{number}.rs" for number in range(25)]
    assert full(flat) == {}
    assert full([*flat, "src/more/a.rs"]) == {"src": 26}
