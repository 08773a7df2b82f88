"""Builds the wheels of a release, one per platform and for every Python from 3.11 on, and the sdist, into dist/.

    python -m tools.wheels [TARGET...]        (make wheels)

Each target is compiled here. Zig links for the oldest glibc that Rust supports, whatever this machine has.
packaging/wheel.toml makes the wheels small. They are not optimised by profile: Zig refuses `-u`, by which rustc links
an instrumented build, and a guided engine is 8 % larger when compressed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"

#: Targets of Rust, with the platform tag of their wheels. Rust itself requires glibc 2.17 and macOS 11.
TARGETS = {
    "x86_64-unknown-linux-gnu": "manylinux_2_17",
    "aarch64-unknown-linux-gnu": "manylinux_2_17",
    "aarch64-apple-darwin": "off",
}

#: Largest size of a wheel.
MOST_BYTES = 5_000_000


def main() -> int:
    """Exit code 0 if all wheels are built and small."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; default: all")
    asked = parser.parse_args()
    unknown = sorted(set(asked.targets) - set(TARGETS))
    if unknown:
        parser.error(f"no target {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    shutil.rmtree(DIST, ignore_errors=True)
    try:
        for target in asked.targets or TARGETS:
            build(target)
        maturin("sdist", "--out", str(DIST))
    except subprocess.CalledProcessError as error:
        print(f"wheels: {' '.join(error.cmd)}: exit code {error.returncode}")
        return 1
    large = []
    for file in sorted(DIST.iterdir()):
        print(f"{file.stat().st_size / 1e6:.1f} MB  dist/{file.name}")
        large += [file.name] if file.suffix == ".whl" and file.stat().st_size > MOST_BYTES else []
    if large:
        print(f"wheels: more than {MOST_BYTES / 1e6:.0f} MB: {', '.join(large)}")
    return 1 if large else 0


def build(target: str) -> None:
    """Builds the wheel of a target."""
    subprocess.run(["rustup", "target", "add", target], check=True, capture_output=True)
    options = ["--release", "--config", "packaging/wheel.toml", "--zig", "--target", target]
    maturin("build", "--quiet", *options, "--compatibility", TARGETS[target], "--out", str(DIST))


def maturin(*arguments: str) -> None:
    """Starts maturin of this environment in the checkout, with the Zig of this environment."""
    binaries = Path(sys.executable).parent
    variables = os.environ | {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["maturin", *arguments], cwd=ROOT, env=variables, check=True)


if __name__ == "__main__":
    sys.exit(main())
