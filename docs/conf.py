"""Sphinx configuration."""

from multihop import __version__

project = "multihop"
author = "The multihop authors"
copyright = "2026, the multihop authors"
release = version = __version__

extensions = ["myst_parser"]
exclude_patterns = ["generated/README.md"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "multihop"
