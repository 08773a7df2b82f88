"""ETX, the expected number of transmissions of a link, as delivery probabilities.

ETX is 1 / (d_f d_r), the product of the deliveries of both directions (De Couto et al., MobiCom 2003). Where
only the product is known, each direction delivers 1 / sqrt(ETX).
"""

import math

#: olsrd's cost of a link that does not work (`LINK_COST_BROKEN` in its `lq_plugin.h`); routes have 2^32 - 1.
BROKEN = float(1 << 22)

_INFINITE = {"infinite", "inf", "infinity"}


def is_infinite(text: str) -> bool:
    """Whether this is how a cost without end is written, as in olsrd's `INFINITE`."""
    return text.strip().lower() in _INFINITE


def delivery(cost: float | None, unit: float = 1.0) -> float | None:
    """Delivery of each direction: 0 for a broken link, `None` for what is no cost.

    `unit` is what one transmission is written as.
    """
    if cost is None or math.isnan(cost) or cost <= 0.0:
        return None
    return 0.0 if cost >= BROKEN else min(1.0, 1.0 / math.sqrt(cost / unit))
