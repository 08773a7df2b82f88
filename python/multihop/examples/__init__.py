"""Example scenarios and studies, which `multihop init` writes.

In the repository the files are links to those of `scenarios/`, `scenarios/problems/` and `studies/`; a wheel
contains the files themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from multihop.base.errors import OutputError, UserError
from multihop.base.files import require_writable_directory, write_text

FOLDER = Path(__file__).parent


def examples() -> list[Path]:
    """Returns the paths of all examples, relative to the folder, by name."""
    return sorted(file.relative_to(FOLDER) for file in FOLDER.rglob("*.toml"))


def write(directory: Path, schemas: Mapping[str, str]) -> list[Path]:
    """Writes all examples and their JSON Schemas into a directory, which is created if missing.

    Args:
        directory: target folder.
        schemas: text of the schema of the examples in each folder (`scenarios`, `studies`). The first line of
            these examples names its file, where editors look for it.

    Returns:
        Paths of the written files.

    Raises:
        UserError: if one of the files exists, in which case none is written, or the directory cannot be
            written.
        OutputError: if the disk is full or broken.
    """
    names = examples()
    if not names:
        raise OutputError("this installation has no examples; install multihop again")
    texts = {Path(_schema_file(folder)): text for folder, text in schemas.items()}
    for name in names:
        above = "../" * (len(name.parts) - 1)
        line = f"#:schema {above}{_schema_file(name.parts[0])}\n"
        texts[name] = line + (FOLDER / name).read_text(encoding="utf-8")
    there = [name for name in texts if (directory / name).exists() or (directory / name).is_symlink()]
    if there:
        rest = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise UserError(f"{directory / there[0]}{rest}: exists; name another directory, or remove what is there")
    for folder in sorted({directory, *((directory / name).parent for name in texts)}):
        require_writable_directory(folder)
        folder.mkdir(parents=True, exist_ok=True)
    return [write_text(directory / name, text) for name, text in texts.items()]


def _schema_file(folder: str) -> str:
    """Returns the name of the file with the schema of a folder's examples."""
    return f"{folder}.schema.json"
