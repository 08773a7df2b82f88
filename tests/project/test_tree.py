"""What the repository holds: text in files that people read, in folders that can be taken in at a glance."""

from collections import defaultdict

import pytest

from conftest import ROOT, repository

MOST_BYTES = 200_000
MOST_ENTRIES = 25

#: What is meant to be binary: seeds of the fuzzers, and an input of a reader of packed files.
BINARY = ("fuzz/corpus/", "crates/scenario/tests/data/passing.movements.gz")
#: Folders that a program fills, one picture for each chart of a paper's page.
GENERATED = "docs/results/images/"


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
    return {
        folder: len(inner)
        for folder, inner in entries.items()
        if len(inner) > MOST_ENTRIES and not folder.startswith(GENERATED)
    }


def test_no_file_is_large(names):
    assert len(names) > 1000
    assert too_large({name: path.stat().st_size for name, path in names.items()}) == {}


def test_nothing_is_binary_unless_meant(names):
    binary = [name for name, path in names.items() if is_binary(path.read_bytes())]
    assert [name for name in binary if not name.startswith(BINARY)] == []
    assert [start for start in BINARY if not any(name.startswith(start) for name in binary)] == []


def test_no_folder_is_a_long_list(names):
    assert full(names) == {}


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
    assert full([f"{GENERATED}winf/{number}.svg" for number in range(50)]) == {}
