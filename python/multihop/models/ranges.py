"""What arguments of closed forms may be."""

from __future__ import annotations

import math


def require(name: str, value: float, *, least: float = 0.0, above: float | None = None, most: float = math.inf) -> None:
    """Checks that a number is finite, at least something or above something, and no more than `most`.

    Raises:
        ValueError: if it is not.
    """
    bound = f"at least {least:g}" if above is None else f"above {above:g}"
    fits = math.isfinite(value) and value <= most and (value >= least if above is None else value > above)
    if not fits:
        limit = "" if math.isinf(most) else f" and at most {most:g}"
        raise ValueError(f"{name} is {value:g}; needs to be {bound}{limit}")


def whole(name: str, value: float, *, least: int, most: int) -> int:
    """The same of a number that must be whole.

    Raises:
        ValueError: if it is not.
    """
    require(name, value, least=least, most=most)
    if value != int(value):
        raise ValueError(f"{name} is {value:g}; needs to be a whole number")
    return int(value)
