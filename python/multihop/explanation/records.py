"""Causes, hops and trials as plain data (JSON), rates in bit/s."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from multihop.explanation.account import Cause, FlowAccount, Hop, without_bps
from multihop.explanation.counters import Blame
from multihop.explanation.trials import Trial
from multihop.results.statistics import PairedDifference

Names = Callable[[int], str]


def cause_record(account: FlowAccount, cause: Cause, names: Names) -> dict[str, Any]:
    """Returns a cause of a flow, with the names of its nodes."""
    nodes = {"sender": cause.sender, "receiver": cause.receiver, "interferer": cause.interferer}
    return {
        "kind": cause.kind,
        "score": cause.score,
        **{what: None if node is None else names(node) for what, node in nodes.items()},
        "without_bps": without_bps(account, cause),
        **cause.facts,
    }


def hop_record(hop: Hop, runs: int, names: Names) -> dict[str, Any]:
    """Returns a hop of a flow; frames are means over this number of runs."""

    def lost(blame: Blame, frames: int) -> dict[str, Any]:
        interferer = None if blame.interferer is None else names(blame.interferer)
        return {"kind": blame.kind, "interferer": interferer, "share": hop.share(frames)}

    return {
        "sender": names(hop.sender),
        "receiver": names(hop.receiver),
        "feedback": hop.feedback,
        "wire": hop.wire is not None,
        "frames": 0 if hop.counters is None else hop.counters.frames / runs,
        "given_up": 0 if hop.counters is None else hop.counters.given_up / runs,
        "airtime": 0.0 if hop.counters is None else hop.counters.airtime,
        "tries": hop.tries,
        "occupied": hop.occupied,
        "alone_bps": hop.alone_bps,
        "lost": [lost(blame, failure.frames) for blame, failure in hop.failures.items()],
    }


def trial_record(trial: Trial) -> dict[str, Any]:
    """Returns the outcome of a remedy for a flow."""

    def plain(difference: PairedDifference | None) -> dict[str, Any] | None:
        return None if difference is None else {**difference.__dict__}

    after = trial.after
    return {
        "remedy": trial.remedy.words,
        "effort": str(trial.remedy.effort),
        "set": dict(trial.remedy.set),
        "scheme": trial.remedy.scheme,
        "verdict": trial.verdict,
        "judged_by": str(trial.need),
        "change": plain(trial.change),
        "status": None if after is None else str(after.status),
        "starved_seeds": None if after is None else after.starved_seeds,
        "gain_bps": plain(trial.gain),
        "total_bps": plain(trial.outcome.total),
        "problem": trial.problem,
    }
