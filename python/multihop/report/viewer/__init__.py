"""Viewer of frame logs: a JavaScript module, and pages that contain it and a log."""

from __future__ import annotations

import base64
import re
from importlib import resources
from pathlib import Path

from multihop.base.escaping import visible
from multihop.report.markup import escape

#: Files of the module; each imports only from earlier ones.
_FILES = (
    *("steps.js", "aggregates.js", "decode.js", "contention.js", "model.js", "words.js"),
    *("style.js", "raster.js", "lanes.js", "tracks.js", "draw.js", "map.js", "opening.js", "viewer.js"),
)

#: Mark of a frame log's page, within its first bytes.
_MARK = '<meta name="generator" content="multihop view">'
_MARK_BYTES = 256


def module() -> str:
    """Returns the viewer as one ES module without imports; exports: `mount`, `Viewer`, `Model` and `decode`.

    `await mount(element, bytes)` shows a frame log in a Uint8Array, packed by `multihop.framelog.packed`.
    """
    parts = [_source(name) for name in _FILES]
    body = "".join(re.sub(r"^import [^;]*;\n|^export \{[^}]*\};\n", "", part, flags=re.MULTILINE) for part in parts)
    body = re.sub(r"^export (?=(?:async )?(?:function|class|const) )", "", body, flags=re.MULTILINE)
    return body + "export { mount, Viewer, Model, decode };\n"


def styles() -> str:
    """Returns the CSS of the viewer."""
    return _source("viewer.css")


def embedded(log: bytes, key: str = "frames", between: tuple[int, int] | None = None, *, is_alone: bool = False) -> str:
    """Returns the HTML of a packed log and its viewer; the page must contain `inline_module` once, after it.

    Args:
        log: packed log.
        key: identifier of the log in the page.
        between: interval of the log in nanoseconds, if it is a part.
        is_alone: whether the viewer takes the keyboard focus when the page opens.
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
    """Returns the HTML of the module, which shows every embedded log of the page."""
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
  }, () => {}); // mount shows the error on the page
}
"""
    return f'<script type="module">\n{module()}{start}</script>'


def page(log: bytes, title: str, between: tuple[int, int] | None = None) -> str:
    """Returns a self-contained page with the viewer and a packed log; `between` is as for `embedded`."""
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
    """Whether a file is a page of a frame log."""
    try:
        with file.open("rb") as opened:
            return _MARK.encode() in opened.read(_MARK_BYTES)
    except OSError:
        return False


def _source(name: str) -> str:
    return resources.files("multihop.report.viewer").joinpath(name).read_text(encoding="utf-8")
