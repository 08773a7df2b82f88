"""The viewer of frame logs: one JavaScript module of ours, and a page that holds it and a log."""

from __future__ import annotations

import base64
import re
from importlib import resources
from pathlib import Path

from multihop.base.escaping import visible
from multihop.report.markup import escape

#: The files of the module, each of which knows only those before it.
_FILES = (
    *("steps.js", "aggregates.js", "decode.js", "contention.js", "model.js", "words.js"),
    *("style.js", "raster.js", "lanes.js", "tracks.js", "draw.js", "map.js", "opening.js", "viewer.js"),
)


#: What says of a page that it is one of a frame log, near its beginning.
_MARK = '<meta name="generator" content="multihop view">'
_MARK_WITHIN = 256


def module() -> str:
    """The viewer as one ES module without imports, which exports `mount`, `Viewer`, `Model` and `decode`.

    `await mount(element, bytes)` shows the frame log that a Uint8Array holds, packed by
    `multihop.framelog.packed`.
    """
    parts = [_source(name) for name in _FILES]
    body = "".join(re.sub(r"^import [^;]*;\n|^export \{[^}]*\};\n", "", part, flags=re.MULTILINE) for part in parts)
    body = re.sub(r"^export (?=(?:async )?(?:function|class|const) )", "", body, flags=re.MULTILINE)
    return body + "export { mount, Viewer, Model, decode };\n"


def styles() -> str:
    """The CSS of the viewer."""
    return _source("viewer.css")


def embedded(log: bytes, key: str = "frames", between: tuple[int, int] | None = None, *, is_alone: bool = False) -> str:
    """A place in a page where the viewer shows this packed log, or one of an interval of nanoseconds.

    The log is in it; `inline_module` must follow once. Where it is alone, it has all keys at once.
    """
    data = base64.b64encode(log).decode("ascii")
    part = "" if between is None else f' data-between="{between[0]} {between[1]}"'
    part += " data-alone" if is_alone else ""
    return (
        f'<div class="viewer-host" data-frames="{escape(key)}"{part}>'
        "<noscript>The viewer needs JavaScript.</noscript></div>"
        f'<script type="application/octet-stream" id="{escape(key)}">{data}</script>'
    )


def inline_module() -> str:
    """The module in a page, which shows every log that is embedded there."""
    start = """
for (const host of document.querySelectorAll("[data-frames]")) {
  const text = document.getElementById(host.dataset.frames).textContent;
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
  const between = host.dataset.between ? host.dataset.between.split(" ").map(Number) : null;
  mount(host, bytes, { between }).then((viewer) => {
    host.viewer = viewer;
    if ("alone" in host.dataset) viewer.canvas.focus({ preventScroll: true });
  }, () => {}); // which the page says by then
}
"""
    return f'<script type="module">\n{module()}{start}</script>'


def page(log: bytes, title: str, between: tuple[int, int] | None = None) -> str:
    """A self-contained page with the viewer and a packed log, or one of an interval of nanoseconds."""
    return visible(
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{_MARK}\n<title>{escape(title)} - multihop</title>\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        "<style>\n:root { color-scheme: light dark; }\n"
        "body { margin: 0; padding: .8rem; background: #ffffff; color: #1c2126; }\n"
        "h1 { font: 600 1.2rem system-ui, sans-serif; margin: 0 0 .6rem; }\n"
        "@media screen and (prefers-color-scheme: dark) { body { background: #15191d; color: #e6e9ec; } }\n"
        f"{styles()}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        f"{embedded(log, between=between, is_alone=True)}\n"
        f"{inline_module()}\n</body>\n</html>\n"
    )


def is_page(file: Path) -> bool:
    """Is there a page that `page` made?"""
    try:
        with file.open("rb") as opened:
            return _MARK.encode() in opened.read(_MARK_WITHIN)
    except OSError:
        return False


def _source(name: str) -> str:
    return resources.files("multihop.report.viewer").joinpath(name).read_text(encoding="utf-8")
