"""Builds the playground: the engine for WebAssembly, and one HTML file that has it all and works from `file://`.

The modules of `playground/` are put together as they are, each in a function of its own; there is no bundler. Where
Rust has no target for WebAssembly and none can be added, the page is left out, and that is said.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import deflate

from multihop.report.svg import PALETTE

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "playground"
TARGET = "wasm32-unknown-unknown"
WASM = ROOT / "target" / TARGET / "web" / "multihop_web.wasm"
PAGE = ROOT / "target" / "playground" / "playground.html"

#: What a browser loads, compressed as servers do.
MOST_BYTES = 1_300_000

_IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "(\.[\w./]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)


def main() -> None:
    """Builds the engine and the page, or says why not."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.parse_args()
    why = missing()
    if why:
        PAGE.unlink(missing_ok=True)
        print(f"the playground is left out: {why}")
        return
    build = ["cargo", "build", "--quiet", "--locked", "-p", "multihop-web", "--profile", "web", "--target", TARGET]
    subprocess.run(build, cwd=ROOT, check=True)
    text = page(WASM.read_bytes())
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    size = len(gzip.compress(text.encode(), mtime=0))
    print(f"{PAGE.relative_to(ROOT)}: {size / 1e6:.2f} MB gzipped")
    if size > MOST_BYTES:
        sys.exit(f"the page may have {MOST_BYTES / 1e6} MB gzipped")


def missing() -> str | None:
    """Why the engine cannot be built for WebAssembly, if it cannot."""
    try:
        sysroot = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "there is no rustc"
    if (Path(sysroot.strip()) / "lib" / "rustlib" / TARGET).is_dir():
        return None
    try:
        subprocess.run(["rustup", "target", "add", TARGET], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return f"Rust has no target {TARGET}, and `rustup target add {TARGET}` does not add it"
    return None


def page(wasm: bytes) -> str:
    """The whole page."""
    parts = {
        "style": _style(),
        "version": _version(),
        "palette": _json(PALETTE),
        "scenes": _json(scenes()),
        "worker": bundle(SOURCES / "worker.js"),
        "main": bundle(SOURCES / "main.js"),
        "engine": base64.b64encode(packed(wasm)).decode(),
    }
    wrong = [name for name, text in parts.items() if re.search("</(script|style)", text, re.IGNORECASE)]
    if wrong:
        msg = f"{', '.join(wrong)} would end the element of the page that holds it"
        raise ValueError(msg)
    template = (SOURCES / "page.html").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def packed(wasm: bytes) -> bytes:
    """The engine as gzip, by a search for the shortest that takes a second: a twentieth less than zlib's."""
    return bytes(deflate.gzip_compress(wasm, 12))


def scenes() -> dict[str, dict[str, Any]]:
    """Name -> scenario and question of each scene, in their order."""
    found = {}
    for file in SOURCES.glob("scenes/*.question.toml"):
        name = file.name.removesuffix(".question.toml")
        source = file.read_text("utf-8")
        # A reader who changes a question starts from its text.
        shown = re.sub(r"^place = \d+\n", "", source)
        found[name] = {
            **tomllib.loads(source),
            "source": shown,
            "text": file.with_name(f"{name}.toml").read_text("utf-8"),
        }
    return dict(sorted(found.items(), key=lambda item: item[1]["place"]))


def bundle(entry: Path) -> str:
    """A module with all that it imports, each in a function that returns what it exports."""
    made: dict[Path, str] = {}
    _add(entry, made, ())
    return '"use strict";\n' + "\n".join(made.values())


def _add(file: Path, made: dict[Path, str], above: tuple[Path, ...]) -> None:
    if file in above:
        msg = f"modules import each other: {' -> '.join(path.name for path in (*above, file))}"
        raise ValueError(msg)
    if file in made:
        return
    text = file.read_text("utf-8")

    def imported(match: re.Match[str]) -> str:
        other = (file.parent / match[2]).resolve()
        _add(other, made, (*above, file))
        return f"const {{ {match[1]} }} = {_scope(other)};"

    exported = _EXPORT.findall(text)
    body = _IMPORT.sub(imported, _EXPORT.sub("", text))
    rest = re.search(r"^(import|export)\b.*", body, re.MULTILINE)
    if rest:
        msg = f"{file.name}: not a form of import or export that is understood: {rest[0]}"
        raise ValueError(msg)
    made[file] = f"const {_scope(file)} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"


def _scope(file: Path) -> str:
    """The name of what a module exports."""
    return "in_" + re.sub(r"\W", "_", str(file.relative_to(ROOT).with_suffix("")))


def _style() -> str:
    report = ROOT / "python" / "multihop" / "report"
    sheets = (report / "style.css", report / "viewer" / "viewer.css", SOURCES / "style.css")
    return "".join(sheet.read_text("utf-8") for sheet in sheets)


def _version() -> str:
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))
    return str(manifest["workspace"]["package"]["version"])


def _json(value: object) -> str:
    """JSON for an element of HTML."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


if __name__ == "__main__":
    main()
