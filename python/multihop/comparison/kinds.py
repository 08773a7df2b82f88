"""Kinds of flows, of which delay is said one by one: a download's delay says nothing of a call beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from multihop import _core
from multihop.comparison.run import Run
from multihop.results.frames import quantile

#: What flows of an application are called together; of those not named here, transfers.
_KINDS = {"cbr": "calls", "poisson": "calls", "video": "videos", "external": "flows from outside"}


def kinds(flows: Sequence[_core.FlowView]) -> dict[str, list[int]]:
    """Indices of flows by kind, in the order of their first; without those that only answer another.

    A kind of one flow has the flow's name.
    """
    found: dict[str, list[int]] = {}
    for index, flow in enumerate(flows):
        if not flow.get("acknowledges", False):
            found.setdefault(_KINDS.get(flow["app"], "transfers"), []).append(index)
    return {flows[of[0]]["name"] if len(of) == 1 else f"{len(of)} {kind}": of for kind, of in found.items()}


def delays(runs: Sequence[Run], flows: Sequence[int], share: float) -> np.ndarray:
    """Delay in seconds that this share of the packets of flows does not exceed, by run; NaN without any."""
    return np.array([_delay(run, flows, share) for run in runs])


def _delay(run: Run, flows: Sequence[int], share: float) -> float:
    name = f"delay_p{round(100 * share)}_s"
    if len(flows) == 1:
        return float(run.flows[name].iloc[flows[0]])
    table = run.delays[run.delays["flow"].isin(flows)]
    if table.empty:
        return float("nan")
    return quantile(table["delay_s"].to_numpy(dtype=float), table["packets"].to_numpy(dtype=float), share)
