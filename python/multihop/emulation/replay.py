"""Replay of a journal: its tables, and explanations of its flows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from multihop import _core
from multihop.api.results import Result
from multihop.base.errors import UserError
from multihop.emulation.outcome import result_of
from multihop.emulation.session import journal_of
from multihop.explanation.explain import Explanation, of_runs
from multihop.explanation.source import flow_index
from multihop.optima.capacity import require_unicast
from multihop.optima.optimum import optimum
from multihop.simulation.scenario import for_core


@dataclass(frozen=True)
class Replayed:
    """Repeated run of a journal."""

    result: Result
    #: Fingerprint in the journal; `None` if the emulation was killed.
    fingerprint: str | None
    #: Engine that wrote the journal.
    made_by: str


def replay(journal: Path, pcap: Path | None = None) -> Replayed:
    """Repeats the run of a journal; a capture of all radios goes to `pcap`.

    Raises:
        UserError: if the file is no journal, or a broken one.
    """
    scenario, overrides, made_by = journal_of(journal)
    view = scenario.check(overrides)
    try:
        output, fingerprint = _core.replay(scenario.text, scenario.origin, for_core(overrides), journal, pcap)
    except ValueError as error:
        raise UserError(f"{journal}: {error}") from error
    return Replayed(result_of(scenario, view, overrides, output), fingerprint, made_by)


def explain(journal: Path, flow: str | None = None) -> Explanation:
    """Explains what limits the flows of an emulation.

    The fair share of a flow is that of pairs of nodes that all send as much as they can. Remedies are not
    tried, since programs would have sent something else.

    Raises:
        UserError: if the file is no journal, or has no such flow, or none at all.
    """
    result = replay(journal).result
    if not result.view["flows"]:
        raise UserError(
            f"{journal}: has no flow to explain: nothing was sent end to end, or programs routed (mode ethernet)"
        )
    require_unicast(result.view, "explain")
    pairs = [{"from": each["source"], "to": each["destination"], "scheme": "udp"} for each in result.view["flows"]]
    overrides = {name: value for name, value in result.overrides.items() if name not in {"external", "seed"}}
    overrides["set"] = {**overrides.get("set", {}), "flows": pairs}
    made = of_runs([result], "scenario", best=optimum(result.scenario, overrides))
    if made is None:
        raise RuntimeError("a replay has the tables of causes")
    return made if flow is None else replace(made, explained=(flow_index(result.view, flow),))
