"""Sphinx configuration."""

import html
import os
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from multihop import __version__

sys.path.insert(0, str(Path(__file__).parents[1]))

from docs import numbers

project = "multihop"
author = "The multihop authors"
copyright = "2026, the multihop authors"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
#: Docstrings name code in single backquotes, as the Markdown pages do.
default_role = "code"
napoleon_use_ivar = True
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
exclude_patterns = ["generated/README.md"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "multihop"

# Commands are copied without their prompt and their output; output alone has no button.
copybutton_prompt_text = "$ "
copybutton_copy_empty_lines = False
copybutton_selector = "div:not(.highlight-output):not(.highlight-text) > div.highlight > pre"

# Canonical addresses and a sitemap need the address at which the site is published.
if os.environ.get("SITE_URL"):
    html_baseurl = os.environ["SITE_URL"].rstrip("/") + "/"
    extensions.append("sphinx_sitemap")
    sitemap_url_scheme = "{link}"
    sitemap_excludes = ["genindex.html", "search.html"]

# The playground is on the site where `make playground` could build it.
_PLAYGROUND = Path(__file__).parents[1] / "target" / "playground"
html_extra_path = [str(_PLAYGROUND)] if (_PLAYGROUND / "playground.html").exists() else []


class Playground(Directive):
    """A scene of the playground, or a sentence where the playground is not on the site: `{playground} hidden`."""

    required_arguments = 1
    final_argument_whitespace = False

    def run(self) -> list[nodes.Node]:
        """What stands in place of the directive."""
        if not html_extra_path:
            left_out = "The playground was left out of this build of the site: it needs Rust's target for WebAssembly."
            return [nodes.note("", nodes.paragraph(text=left_out))]
        settings = self.state.document.settings
        up = "../" * settings.env.docname.count("/")
        address = html.escape(f"{up}playground.html#scene={self.arguments[0]}")
        style = "width: 100%; height: 60rem; border: 0"
        frame = (
            f'<p><a href="{address}">Open the scene on a page of its own</a></p>'
            f'<iframe src="{address}" title="Playground" loading="lazy" style="{style}"></iframe>'
        )
        return [nodes.raw("", frame, format="html")]


class Numbers(Directive):
    """The searchable tables of claims and numbers: `{numbers}`."""

    def run(self) -> list[nodes.Node]:
        """What stands in place of the directive."""
        return [nodes.raw("", numbers.tables(), format="html")]


def description(page: nodes.document, longest: int = 160) -> str:
    """First sentences of a page, of at most `longest` characters together, or the begin of a long one.

    Sentences that introduce a list or code do not count. Empty for a page without sentences.
    """
    paragraphs = [" ".join(node.astext().split()) for node in page.findall(nodes.paragraph) if _is_text(node)]
    sentences = [[part for part in re.split(r"(?<=[.?]) ", text) if not part.endswith(":")] for text in paragraphs]
    first = next(filter(None, sentences), [])
    lengths = [len(" ".join(first[:count])) for count in range(1, len(first) + 1)]
    count = sum(length <= longest for length in lengths)
    if count and lengths[count - 1] > longest / 3:
        return " ".join(first[:count])
    return textwrap.shorten(" ".join(first), longest, placeholder=" …")


def _is_text(paragraph: nodes.paragraph) -> bool:
    return isinstance(paragraph.parent, nodes.section)


def describe(app: Sphinx, name: str, template: str, context: dict[str, Any], page: nodes.document | None) -> None:  # noqa: ARG001
    """Adds the description that search engines show."""
    if page is not None and (text := description(page)):
        context["metatags"] += f'<meta name="description" content="{html.escape(text)}">\n'


def setup(app: Sphinx) -> None:
    """Registers the directives, and what is added to pages."""
    app.add_directive("numbers", Numbers)
    app.add_directive("playground", Playground)
    app.connect("html-page-context", describe)
