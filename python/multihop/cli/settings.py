"""`--set KEY=VALUE`: replaces or adds any key of a scenario."""

from __future__ import annotations

import re
import tomllib
from typing import Annotated, Any

import typer

from multihop.base.errors import UserError

SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Replaces or adds a key, as in topology.hops=5 or 'flows[*].start=1 s'; may be given repeatedly.",
        show_default=False,
    ),
]

# A key path, which ends at the first equals sign outside quotes.
_SETTING = re.compile(r'((?:[^="]|"(?:[^"\\]|\\.)*")*)=(.*)', re.DOTALL)


def read(options: list[str] | None) -> dict[str, Any]:
    """Returns values by key path: TOML values, or the text itself if it is no TOML.

    Raises:
        UserError: if an option has no equals sign, or a key is given twice.
    """
    made: dict[str, Any] = {}
    for option in options or []:
        match = _SETTING.fullmatch(option)
        if match is None:
            raise UserError(f"--set: found {option!r}; needs KEY=VALUE, as in topology.hops=5")
        path = match[1].strip()
        if path in made:
            raise UserError(f"--set: {path} is given more than once; give it once")
        made[path] = _value(match[2])
    return made


def _value(text: str) -> Any:  # noqa: ANN401 - any TOML value
    # The shell removes quotes, so text that is no TOML is taken as a string.
    try:
        document = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return text
    return document["value"] if document.keys() == {"value"} else text
