"""TOML strings."""

import json


def quote(text: str) -> str:
    """Returns a TOML basic string; JSON's escapes are a subset of TOML's except for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
