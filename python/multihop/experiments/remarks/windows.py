"""Flows whose receive window holds data back.

A window that was given, that a flavour has, or that a receiver has not tuned yet can bind where the
congestion control would send more: the result then says more about the window than about the scheme.
"""

from __future__ import annotations

import numpy as np

from multihop.experiments.comparisons import VariantRuns
from multihop.results.words import listed, percent

#: Share of time from which a sentence names a flow.
_BINDS = 0.1

#: Most flows that a sentence names.
_MOST_FLOWS = 4


def sentences(runs: VariantRuns) -> list[str]:
    """Returns a sentence for each variant with flows that their receive window limits."""
    return [said for variant in runs.variants if (said := _sentence(runs, variant))]


def _sentence(runs: VariantRuns, variant: str) -> str | None:
    if "receive_limited" not in runs.results[variant][0].flows:
        return None  # a result that was kept before the column existed
    shares = np.nan_to_num(runs.by_flow(variant, "receive_limited"))
    flows = [int(flow) for flow in np.argsort(-shares, kind="stable") if shares[flow] >= _BINDS]
    if not flows:
        return None
    names = [runs.view["flows"][flow]["name"] for flow in flows[:_MOST_FLOWS]]
    if len(flows) > _MOST_FLOWS:
        names.append(f"{len(flows) - _MOST_FLOWS} more")
    under = f"{variant}: " if len(runs.variants) > 1 else ""
    most = percent(float(shares[flows[0]]))
    return (
        f"{under}The receive window holds back {listed(names)}, up to {most} of the time. `window` of the scheme "
        "is its size, or with `linux` the limit up to which receivers tune it."
    )
