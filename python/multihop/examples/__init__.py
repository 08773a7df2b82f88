"""Example scenarios and studies, which `multihop init` writes.

In the repository the files are links to those of `scenarios/`, `scenarios/problems/` and `studies/`; a wheel
contains the files themselves.
"""

from __future__ import annotations

from pathlib import Path

from multihop.base.errors import OutputError, UserError
from multihop.base.files import require_writable_directory, write_text

FOLDER = Path(__file__).parent


def examples() -> list[Path]:
    """Returns the paths of all examples, relative to the folder, by name."""
    return sorted(file.relative_to(FOLDER) for file in FOLDER.rglob("*.toml"))


def write(directory: Path) -> list[Path]:
    """Writes all examples into a directory, which is created if missing. Returns their paths.

    Raises:
        UserError: if one of them exists, in which case none is written, or the directory cannot be written.
        OutputError: if the disk is full or broken.
    """
    names = examples()
    if not names:
        raise OutputError("this installation has no examples; install multihop again")
    there = [name for name in names if (directory / name).exists() or (directory / name).is_symlink()]
    if there:
        rest = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise UserError(f"{directory / there[0]}{rest}: exists; name another directory, or remove what is there")
    for folder in sorted({directory, *((directory / name).parent for name in names)}):
        require_writable_directory(folder)
        folder.mkdir(parents=True, exist_ok=True)
    return [write_text(directory / name, (FOLDER / name).read_text(encoding="utf-8")) for name in names]
