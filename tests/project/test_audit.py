"""`make audit` says what it found, and what it could not look at."""

import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from tools import audit


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("MIT OR GPL-3.0", True),
        ("GPL-3.0 OR (MIT AND Zlib)", True),
        ("MIT AND GPL-3.0", False),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("(MIT OR Apache-2.0) AND GPL-2.0", False),
        ("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", True),
        ("GPL-2.0 WITH Classpath-exception-2.0", False),
        ("", False),
        ("MIT MIT", False),
        ("(MIT", False),
        ("MIT OR", False),
    ],
)
def test_a_licence_is_allowed_if_a_choice_of_it_is(expression, allowed):
    assert audit.is_allowed(expression) is allowed


def test_a_licence_that_is_not_allowed_is_named(capsys):
    assert audit.licences("Rust", {"a 1": "MIT", "b 2": "AGPL-3.0", "c 3": ""}) is audit.State.FOUND
    assert capsys.readouterr().out == "Rust: 3 packages, 2 not allowed\n  b 2: AGPL-3.0\n  c 3: says none\n"


def test_what_this_project_uses_is_allowed():
    assert audit.licences("Python", audit.python_licences("multihop")) is audit.State.FINE


@pytest.mark.parametrize(
    ("code", "said", "state", "words"),
    [
        (0, "", audit.State.FINE, "none"),
        (1, "RUSTSEC-2026-0001 in x 1.0", audit.State.FOUND, "FOUND\nRUSTSEC-2026-0001"),
        (1, "could not fetch: connection refused", audit.State.NOT_CHECKED, "NOT CHECKED: not reachable"),
        (1, "", audit.State.NOT_CHECKED, "NOT CHECKED"),
        (101, "error: no such command: `audit`", audit.State.NOT_CHECKED, "not installed: install it"),
    ],
)
def test_an_advisory_tool_that_fails_has_not_said_that_there_are_none(capsys, code, said, state, words):
    command = [sys.executable, "-c", f"import sys; print({said!r}); sys.exit({code})"]
    assert audit.advisories("Advisories", command, "install it") is state
    assert words in capsys.readouterr().out


def test_a_tool_that_is_not_there_is_said(capsys):
    assert audit.advisories("Advisories", ["/no/such/tool"], "") is audit.State.NOT_CHECKED
    assert "NOT CHECKED" in capsys.readouterr().out


def test_not_all_checked_is_not_all_well(monkeypatch):
    states = iter([audit.State.NOT_CHECKED, audit.State.FINE])
    monkeypatch.setattr(audit, "advisories", lambda *_: next(states))
    monkeypatch.setattr(audit, "rust_licences", dict)
    monkeypatch.setattr(audit, "python_licences", lambda _: {})
    assert audit.main() == 2
    monkeypatch.setattr(audit, "advisories", lambda *_: audit.State.NOT_CHECKED)
    monkeypatch.setattr(audit, "rust_licences", lambda: {"a 1": "AGPL-3.0"})
    assert audit.main() == 1


def test_every_python_dependency_has_an_upper_bound():
    project = tomllib.loads((audit.ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(text for extra in project["optional-dependencies"].values() for text in extra),
    ]
    for text in wanted:
        if Requirement(text).name == project["name"]:
            continue  # an extra that is made of others
        operators = {specifier.operator for specifier in Requirement(text).specifier}
        assert operators & {"<", "<=", "==", "~="}, text
