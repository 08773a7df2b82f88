"""Checks of closed forms' arguments."""

from __future__ import annotations

import math


def require(name: str, value: float, *, least: float = 0.0, above: float | None = None, most: float = math.inf) -> None:
    """Checks that a number is finite, at least `least` or above `above`, and at most `most`.

    Raises:
        ValueError: if the number is out of range.
    """
    bound = f"at least {least:g}" if above is None else f"above {above:g}"
    fits = math.isfinite(value) and value <= most and (value >= least if above is None else value > above)
    if not fits:
        limit = "" if math.isinf(most) else f" and at most {most:g}"
        raise ValueError(f"{name} is {value:g}; needs to be {bound}{limit}")


def whole(name: str, value: float, *, least: int, most: int) -> int:
    """Checks a number like `require`, and that it is whole.

    Raises:
        ValueError: if the number is out of range or not whole.
    """
    require(name, value, least=least, most=most)
    if value != int(value):
        raise ValueError(f"{name} is {value:g}; needs to be a whole number")
    return int(value)
