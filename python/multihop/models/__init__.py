"""Closed forms of papers, as documented functions, and by name for studies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from multihop.errors import UserError

#: Name in a study -> function of the factors' values; it returns metrics by name.
MODELS: dict[str, Callable[..., Mapping[str, float]]] = {}


def require_model(name: str) -> Callable[..., Mapping[str, float]]:
    """The closed form of that name.

    Raises:
        UserError: if there is none.
    """
    if name not in MODELS:
        raise UserError(f"there is no closed form {name!r}; there are {', '.join(MODELS)}")
    return MODELS[name]


def evaluate(name: str, arguments: Mapping[str, Any]) -> Mapping[str, float]:
    """The metrics of a closed form at these arguments.

    Raises:
        UserError: if it does not know an argument, or one makes no sense.
    """
    model = require_model(name)
    try:
        return model(**arguments)
    except (TypeError, ValueError) as error:
        raise UserError(f"closed form {name}: {error}") from error
