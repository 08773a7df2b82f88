"""Seeds and lists of seeds, checked."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral

from multihop.base.errors import UserError

#: Most seeds of a command or study.
MAX_SEEDS = 100_000


def seed_list(seeds: int | Iterable[int], first: int) -> list[int]:
    """Returns `seeds` consecutive seeds from `first`, or the given seeds.

    Raises:
        UserError: if there is no seed, too many, or a repeated or negative one.
    """
    text_or_number: object = seeds
    if isinstance(text_or_number, str) or not (is_whole(seeds) or isinstance(text_or_number, Iterable)):
        raise UserError(f"seeds: found {seeds!r}; needs a whole number, or a list of whole numbers")
    if not isinstance(seeds, Iterable):
        seeds = int(seeds)
        if not 1 <= seeds <= MAX_SEEDS:
            raise UserError(f"seeds: found {seeds}; needs 1 to {MAX_SEEDS}")
        return [seed_number(first + i) for i in range(seeds)]
    given = [seed_number(seed) for seed in seeds]
    if not given:
        raise UserError("seeds: none given; needs at least one")
    if len(set(given)) != len(given):
        raise UserError("seeds: found repeated seeds, which are the same run; give each once")
    return given


def is_whole(value: object) -> bool:
    """Whether a value is a whole number."""
    # NumPy's integers count as whole numbers; Python's booleans do not.
    return isinstance(value, Integral) and not isinstance(value, bool)


def seed_number(seed: int) -> int:
    """Checks a seed and returns it as an integer.

    Raises:
        UserError: if it is no whole number from 0 to 2**64 - 1.
    """
    if not is_whole(seed):
        raise UserError(f"seed: found {seed!r}; needs a whole number from 0 to 2^64 - 1")
    if not 0 <= seed < 2**64:
        raise UserError(f"seed: found {seed}; needs 0 to 2^64 - 1")
    return int(seed)
