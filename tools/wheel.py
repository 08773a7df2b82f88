"""Builds wheel and sdist, looks into them, and tries the README's commands from the wheel elsewhere.

python -m tools.wheel            in a clean environment, as pip makes one: the plain install, and how large it is
python -m tools.wheel --quick    with the wheel unpacked in front of what is installed here: no network
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.page_steps import read

ROOT = Path(__file__).parent.parent

#: The plain install, as `du` counts it, without pip's own packages.
MOST_BYTES = 250_000_000

#: What every installation has to bring, below the package, besides its modules.
EXAMPLES = sorted(
    path.relative_to(ROOT).as_posix() for folder in ("scenarios", "studies") for path in (ROOT / folder).rglob("*.toml")
)


class MissingError(Exception):
    """Something that the README promises is not there, or does not work."""


@dataclass(frozen=True)
class Installed:
    """An installation of the wheel.

    Attributes:
        python: words that start its Python.
        place: folder below which commands run, in `elsewhere`.
        environment: variables of commands.
    """

    python: Sequence[str]
    place: Path
    environment: Mapping[str, str]


def main() -> int:
    """Exit code 0 if all is in order."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="no clean environment, no network")
    parser.add_argument("--profile", default="release", help="of Cargo")
    parser.add_argument("--pgo", action="store_true", help="optimise by profile: see make build-pgo")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="multihop-wheel-") as name:
        place = Path(name)
        try:
            wheel, sdist = build(place / "dist", asked.profile, pgo=asked.pgo)
            check_contents(wheel, sdist)
            try_commands(beside(wheel, place) if asked.quick else clean(wheel, place))
        except MissingError as problem:
            print(f"wheel: {problem}")
            return 1
    print("wheel and sdist are in order, and the README's commands work from the wheel")
    return 0


def build(to: Path, profile: str, *, pgo: bool) -> tuple[Path, Path]:
    """The wheel and the sdist."""
    maturin = shutil.which("maturin", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if maturin is None:
        raise MissingError("maturin is not installed; make build installs it")
    by_profile = ["--pgo", "--interpreter", sys.executable] if pgo else []
    optimised = os.environ | ({"CARGO_PROFILE_RELEASE_LTO": "thin"} if pgo else {})
    run([maturin, "build", "--quiet", "--strip", "--profile", profile, *by_profile, "--out", str(to)], ROOT, optimised)
    run([maturin, "sdist", "--out", str(to)], ROOT)
    return next(to.glob("*.whl")), next(to.glob("*.tar.gz"))


def check_contents(wheel: Path, sdist: Path) -> None:
    """Examples, licences and types are in the wheel, as files; the sdist has what the wheel is built from."""
    with zipfile.ZipFile(wheel) as archive:
        there = set(archive.namelist())
        wanted = {f"multihop/examples/{name}" for name in EXAMPLES}
        wanted |= {"multihop/py.typed", "multihop/report/style.css", "multihop/papers/recn.json"}
        lacking = sorted(wanted - there)
        for name in EXAMPLES:
            if not lacking and archive.read(f"multihop/examples/{name}") != (ROOT / name).read_bytes():
                raise MissingError(f"{wheel.name}: examples/{name} is not that of the repository")
    if lacking:
        raise MissingError(f"{wheel.name} lacks {', '.join(lacking)}")
    with tarfile.open(sdist) as tar:
        names = {member.name.partition("/")[2] for member in tar if member.isfile()}
    wanted = {f"python/multihop/examples/{name}" for name in EXAMPLES} | {
        "pyproject.toml",
        "Cargo.lock",
        "packaging/description.md",
    }
    if not wanted <= names:
        raise MissingError(f"{sdist.name} lacks {', '.join(sorted(wanted - names))}")


def beside(wheel: Path, place: Path) -> Installed:
    """The wheel in front of everything that is installed here."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place / "unpacked")
    return Installed([sys.executable], place, {**os.environ, "PYTHONPATH": str(place / "unpacked")})


def clean(wheel: Path, place: Path) -> Installed:
    """An environment of its own with the plain install, whose size is printed."""
    venv.create(place / "venv", with_pip=True)
    python = str(place / "venv" / "bin" / "python")
    before = size(place / "venv")
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)], place)
    taken = size(place / "venv") - before
    print(f"plain install: {taken / 1e6:.0f} MB")
    if taken > MOST_BYTES:
        raise MissingError(f"the plain install takes {taken / 1e6:.0f} MB, more than {MOST_BYTES / 1e6:.0f}")
    return Installed([python], place, {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")})


def size(folder: Path) -> int:
    """Bytes on disk."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def try_commands(installed: Installed) -> None:
    """Runs every command of the README, its Python, and a scenario that `init` writes, away from the checkout."""
    place = installed.place / "elsewhere"
    place.mkdir()
    steps = [step for step in read(ROOT / "README.md").steps if step.is_run(full=False) and not step.is_inline]
    if {step.kind for step in steps} < {"file", "command", "python"}:
        raise MissingError("README.md: no scenario, no command or no Python to try")

    def python(*arguments: str) -> str:
        return run([*installed.python, "-P", *arguments], place, installed.environment)

    where = python("-c", "import multihop; print(multihop.__file__)")
    if ROOT.resolve() in Path(where.strip()).resolve().parents:
        raise MissingError(f"the checkout is tried instead of the wheel: {where.strip()}")
    python("-m", "multihop", "doctor")
    python("-m", "multihop", "init", "examples")
    python("-m", "multihop", "run", "examples/scenarios/chain.toml", "--duration", "2 s", "--warmup", "1 s")
    for step in steps:
        if step.kind == "file":
            (place / step.name).write_text(step.text, encoding="utf-8")
        elif step.kind == "command":
            python("-m", "multihop", *shlex.split(step.text)[1:])
    # Blocks of Python share a namespace, as on every page.
    (place / "readme.py").write_text("\n".join(step.text for step in steps if step.kind == "python"), encoding="utf-8")
    python("readme.py")


def run(command: list[str], place: Path, environment: Mapping[str, str] | None = None) -> str:
    """What it prints.

    Raises:
        MissingError: if it fails.
    """
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MissingError(
            f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
