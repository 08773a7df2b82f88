"""Sphinx configuration."""

from multihop import __version__

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
