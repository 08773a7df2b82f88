"""Sphinx configuration."""

import html
import sys
from pathlib import Path

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

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
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


def setup(app: Sphinx) -> None:
    """Registers the directives."""
    app.add_directive("numbers", Numbers)
    app.add_directive("playground", Playground)
