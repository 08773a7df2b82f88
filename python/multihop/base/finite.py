"""JSON values: NaN and infinities as null."""

import math
from collections.abc import Mapping
from typing import Any


def finite(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Returns a JSON value with null for NaN and infinities, text keys, and Python numbers for NumPy's."""
    if isinstance(value, Mapping):
        return {str(key): finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
