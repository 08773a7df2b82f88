"""Delivery probabilities of a link from ETX, the expected number of transmissions.

ETX is 1 / (d_f d_r), with the delivery ratios of both directions (De Couto et al., MobiCom 2003). If only the
product is known, each direction is taken to deliver 1 / sqrt(ETX).
"""

import math

#: olsrd's cost of a broken link (`LINK_COST_BROKEN` in its `lq_plugin.h`); routes have 2^32 - 1.
BROKEN = float(1 << 22)

_INFINITE = {"infinite", "inf", "infinity"}


def is_infinite(text: str) -> bool:
    """Whether a text means an infinite cost, such as olsrd's `INFINITE`."""
    return text.strip().lower() in _INFINITE


def delivery(cost: float | None, unit: float = 1.0) -> float | None:
    """Returns the delivery ratio that both directions are assumed to have: 0 for a broken link.

    `None` for an invalid cost. `unit` is the cost of one transmission.
    """
    if cost is None or math.isnan(cost) or cost <= 0.0:
        return None
    return 0.0 if cost >= BROKEN else min(1.0, 1.0 / math.sqrt(cost / unit))
