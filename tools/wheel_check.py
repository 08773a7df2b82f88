"""Installs the wheels of dist/ where nothing can be compiled, and runs the README's commands from them.

    python -m tools.wheel_check 3.11 3.12 3.13           in clean environments of Pythons that uv finds
    python -m tools.wheel_check --root DIR /usr/bin/python3.11
                                                         in the unpacked system DIR, with its Python; as root

DIR is what `debootstrap` leaves, of this machine's architecture or of one that it can execute: an older glibc, or
another processor. It needs no network, and no package but Python with `venv`.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import sys
import tempfile
from pathlib import Path

from tools import wheel
from tools.wheels import DIST

#: Platforms of the wheels that multihop requires.
_PLATFORMS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")


def main() -> int:
    """Exit code 0 if the wheels work wherever they were tried."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("pythons", nargs="+", metavar="PYTHON", help="version, or path")
    parser.add_argument("--root", type=Path, help="folder of the unpacked system that has these Pythons")
    asked = parser.parse_args()
    failed = 0
    for python in asked.pythons:
        with tempfile.TemporaryDirectory(prefix="multihop-", dir=asked.root and asked.root / "tmp") as folder:
            try:
                for file in DIST.glob("*.whl"):
                    wheel.check_contents(file, one("*.tar.gz"))
                place = Path(folder)
                wheel.try_commands(within(asked.root, python, place) if asked.root else clean(python, place))
                said = "the README's commands work"
            except wheel.MissingError as problem:
                failed += 1
                said = str(problem)
        print(f"Python {python}{f' in {asked.root}' if asked.root else ''}: {said}", flush=True)
    return 1 if failed else 0


def clean(python: str, place: Path) -> wheel.Installed:
    """Installs the wheel for this machine into an environment of its own, whose commands see no other program."""
    system = "macosx" if sys.platform == "darwin" else "linux"
    file = one(f"*{system}*_{platform.machine()}.whl")
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or "uv"
    binaries = place / "venv" / "bin"
    wheel.run([uv, "venv", "--quiet", "--python", python, str(binaries.parent)], place)
    only = ["--quiet", "--only-binary", ":all:"]
    wheel.run([uv, "pip", "install", *only, "--python", str(binaries / "python"), str(file)], place)
    wheel.run([uv, "tool", "run", *only[:1], "--python", python, "--from", str(file), "multihop", "doctor"], place)
    return wheel.Installed([str(binaries / "python")], place, {"PATH": str(binaries), "HOME": str(place)})


def within(root: Path, python: str, place: Path) -> wheel.Installed:
    """Installs the wheel for an unpacked system there, from files that this one downloads."""
    inside = f"/{place.relative_to(root)}"
    there = ["chroot", str(root)]
    asked = "import platform, sys; print(platform.machine(), '.'.join(map(str, sys.version_info[:2])))"
    machine, version = wheel.run([*there, python, "-c", asked], place).split()
    names = [word for name in _PLATFORMS for word in ("--platform", f"{name}_{machine}")]
    pip = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
    options = ["--only-binary", ":all:", "--python-version", version, *names, "--dest", str(place / "wheels")]
    file = one(f"*linux*_{machine}.whl")
    wheel.run([sys.executable, *pip, "download", *options, str(file)], place)
    binary = f"{inside}/venv/bin/python"
    wheel.run([*there, python, "-m", "venv", f"{inside}/venv"], place)
    found = ["--no-index", "--find-links", f"{inside}/wheels", f"{inside}/wheels/{file.name}"]
    wheel.run([*there, binary, *pip, "install", *found], place)
    print(f"{root}: {wheel.run([*there, 'ldd', '--version'], place).splitlines()[0]}, {machine}")
    return wheel.Installed(
        [*there, "env", "--chdir", f"{inside}/elsewhere", binary], place, {"PATH": "/usr/sbin:/usr/bin:/bin"}
    )


def one(pattern: str) -> Path:
    """The file of dist/ with such a name."""
    found = list(DIST.glob(pattern))
    if len(found) != 1:
        raise wheel.MissingError(f"dist/ has {len(found)} files {pattern}; make wheels builds them")
    return found[0]


if __name__ == "__main__":
    sys.exit(main())
