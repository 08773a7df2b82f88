"""Text in TOML."""

import json


def quote(text: str) -> str:
    """A TOML basic string; JSON's escapes are a subset of TOML's but for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
