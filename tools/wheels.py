"""Builds the wheel of a release, for every Python from 3.11 on, and the sdist, into dist/.

    python -m tools.wheels        (make wheels)

Zig links for the oldest glibc that Rust supports, whatever this machine has. packaging/wheel.toml makes the wheel
small. The engine is not optimised by profile: Zig refuses `-u`, by which rustc links an instrumented build.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"

#: Target of Rust, and the platform tag of its wheel. Rust itself requires glibc 2.17.
TARGET = "x86_64-unknown-linux-gnu"
PLATFORM = "manylinux_2_17"

#: Largest size of a wheel.
MOST_BYTES = 5_000_000


def main() -> int:
    """Exit code 0 if both are built and the wheel is small."""
    shutil.rmtree(DIST, ignore_errors=True)
    options = ["--release", "--config", "packaging/wheel.toml", "--zig", "--target", TARGET]
    try:
        maturin("build", "--quiet", *options, "--compatibility", PLATFORM, "--out", str(DIST))
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


def maturin(*arguments: str) -> None:
    """Starts maturin of this environment in the checkout, with the Zig of this environment."""
    binaries = Path(sys.executable).parent
    variables = os.environ | {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["maturin", *arguments], cwd=ROOT, env=variables, check=True)


if __name__ == "__main__":
    sys.exit(main())
