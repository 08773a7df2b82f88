"""Are there advisories on what multihop is built from and runs on, and may all of it be used with multihop's licences?

    python tools/audit.py        (make audit)

Advisories are asked for by the tools for it: `cargo audit` (RustSec) and `pip-audit` (PyPI). Licences are read off what
Cargo and pip have here: every crate in Cargo.lock, and every package that multihop and its extras need in this
environment.

Exit code 0: all was checked, and nothing found; 1: something was found; 2: nothing was found, but not all could be
checked, as where an advisory database cannot be reached.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from enum import Enum
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent

#: SPDX names of licences under which something may be linked to, or run beside, what is under Apache-2.0 or MIT.
ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "HPND",
    "ISC",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "MPL-2.0",
    "PSF-2.0",
    "Python-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
}

#: Tools of development that nothing of ours contains or links, by package: what their licence is and why it may be.
TOOLS = {
    "docutils": "in the public domain, but for parts under BSD's licences and an Emacs mode under the GPL; builds docs",
}

#: How packages call these that do not use SPDX's names, in small letters.
_CALLED = {
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "new bsd": "BSD-3-Clause",
    "python software foundation license": "PSF-2.0",
}


class State(Enum):
    """What became of a check, with its exit code."""

    FINE = 0
    FOUND = 1
    NOT_CHECKED = 2


def main() -> int:
    """Makes all checks, and says what they found; the exit code."""
    packages = python_licences("multihop")
    with tempfile.TemporaryDirectory() as folder:
        pinned = Path(folder) / "requirements.txt"
        pinned.write_text("".join(f"{name.replace(' ', '==')}\n" for name in packages))
        # Strictly: of a package that it cannot ask for it would else say that it has none.
        options = ["--strict", "--no-deps", "--disable-pip", "--progress-spinner", "off", "-r", str(pinned)]
        states = [
            advisories("Rust advisories (RustSec)", ["cargo", "audit", "--quiet"], "cargo install cargo-audit"),
            advisories(
                "Python advisories (PyPI)",
                [sys.executable, "-m", "pip_audit", *options],
                "pip install pip-audit packaging",
            ),
            licences("Rust licences", rust_licences()),
            licences("Python licences", packages),
        ]
    return next((state.value for state in (State.FOUND, State.NOT_CHECKED) if state in states), 0)


def advisories(title: str, command: list[str], install: str) -> State:
    """What one of the tools says, which exits with 1 for advisories and for want of a network."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"{title}: NOT CHECKED: {error}")
        return State.NOT_CHECKED
    said = f"{done.stdout}\n{done.stderr}"
    if re.search(r"no such command|No module named", said):
        print(f"{title}: NOT CHECKED: the tool is not installed: {install}")
        return State.NOT_CHECKED
    if done.returncode == 0:
        print(f"{title}: none")
        return State.FINE
    if re.search(r"\b(RUSTSEC|PYSEC|GHSA|CVE)-", said):
        print(f"{title}: FOUND\n{said.strip()}")
        return State.FOUND
    # A tool that fails for another reason has not said that there are none.
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    print(f"{title}: NOT CHECKED: not reachable, or the tool failed: {lines[-1] if lines else done.returncode}")
    return State.NOT_CHECKED


def licences(title: str, found: Mapping[str, str]) -> State:
    """Whether all of these, package -> licence, are allowed."""
    refused = {
        name: licence for name, licence in found.items() if not is_allowed(licence) and name.split()[0] not in TOOLS
    }
    print(f"{title}: {len(found)} packages, {len(refused)} not allowed")
    for name, licence in refused.items():
        print(f"  {name}: {licence or 'says none'}")
    return State.FOUND if refused else State.FINE


def rust_licences() -> dict[str, str]:
    """Every crate that is not ours, with its version, and its licence."""
    done = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    packages = json.loads(done.stdout)["packages"]
    # Before SPDX's expressions a slash stood for the choice between licences.
    return {f"{p['name']} {p['version']}": (p["license"] or "").replace("/", " OR ") for p in packages if p["source"]}


def python_licences(root: str) -> dict[str, str]:
    """Every package that is installed here and that `root`, with all of its extras, needs."""
    found: dict[str, str] = {}
    extras = set(metadata.metadata(root).get_all("Provides-Extra") or [])
    open_names = list(_needed(root, extras))
    while open_names:
        name = open_names.pop()
        try:
            about = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            # Of another platform, or of an extra that is not installed.
            continue
        called = f"{about['Name']} {about['Version']}"
        if called not in found:
            found[called] = _licence(about)
            open_names += _needed(name, set())
    return found


def is_allowed(expression: str) -> bool:
    """Whether an SPDX expression leaves a choice that is allowed: of OR one side, of AND both."""
    words = re.findall(r"[()]|[^\s()]+(?:\s+WITH\s+[^\s()]+)?", expression)
    try:
        return _either(words) and not words
    except IndexError:
        # It ends in its middle.
        return False


def _either(words: list[str]) -> bool:
    verdict = _both(words)
    while words and words[0].upper() == "OR":
        words.pop(0)
        verdict = _both(words) or verdict
    return verdict


def _both(words: list[str]) -> bool:
    verdict = _one(words)
    while words and words[0].upper() == "AND":
        words.pop(0)
        verdict = _one(words) and verdict
    return verdict


def _one(words: list[str]) -> bool:
    word = words.pop(0)
    if word != "(":
        return re.sub(r"\s+", " ", word) in ALLOWED
    verdict = _either(words)
    return words.pop(0) == ")" and verdict


def _needed(name: str, extras: set[str]) -> Iterator[str]:
    for text in metadata.requires(name) or []:
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *extras}):
            yield requirement.name


def _licence(about: metadata.PackageMetadata) -> str:
    """The licence of a Python package, by SPDX's names as far as they are known."""
    known_of: dict[str, Any] = about.json
    if "license_expression" in known_of:
        return str(known_of["license_expression"])
    classifiers = [text.rpartition(" :: ")[2] for text in known_of.get("classifier", []) if "License ::" in text]
    # Some have the whole text of it there.
    said = str(known_of.get("license", "")).strip().splitlines()[:1]
    for names in (said, classifiers):
        known = [_CALLED.get(name.lower(), name) for name in names]
        if known and all(is_allowed(name) for name in known):
            return " AND ".join(known)
    return " AND ".join(classifiers or said)


if __name__ == "__main__":
    sys.exit(main())
