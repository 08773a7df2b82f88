"""Values for JSON, which has no word for what is not a finite number."""

import math
from collections.abc import Mapping
from typing import Any


def finite(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The same with None for what is not finite, text for keys, and Python's numbers for NumPy's."""
    if isinstance(value, Mapping):
        return {str(key): finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
