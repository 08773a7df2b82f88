"""A journal run again: its tables, and why its flows got what they got."""

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
    """The run of a journal."""

    result: Result
    #: The fingerprint that the journal has; none if the emulation was killed.
    fingerprint: str | None
    #: The engine that wrote it.
    made_by: str


def replay(journal: Path, pcap: Path | None = None) -> Replayed:
    """Runs a journal again; what each radio sees goes to `pcap`.

    Raises:
        UserError: if it is no journal, or a broken one.
    """
    scenario, overrides, made_by = journal_of(journal)
    view = scenario.check(overrides)
    try:
        output, fingerprint = _core.replay(scenario.text, scenario.origin, for_core(overrides), journal, pcap)
    except ValueError as error:
        raise UserError(f"{journal}: {error}") from error
    return Replayed(result_of(scenario, view, overrides, output), fingerprint, made_by)


def explain(journal: Path, flow: str | None = None) -> Explanation:
    """Explains what held back the flows of an emulation.

    Fair is what they would get if each pair of nodes had sent all it could. Remedies are not tried: programs
    would have sent something else.

    Raises:
        UserError: if it is no journal, or there is no such flow, or none at all.
    """
    result = replay(journal).result
    if not result.view["flows"]:
        raise UserError(
            f"{journal}: there is no flow to explain: nothing went from end to end, or programs routed (mode ethernet)"
        )
    require_unicast(result.view, "explain")
    pairs = [{"from": each["source"], "to": each["destination"], "scheme": "udp"} for each in result.view["flows"]]
    overrides = {name: value for name, value in result.overrides.items() if name not in {"external", "seed"}}
    overrides["set"] = {**overrides.get("set", {}), "flows": pairs}
    made = of_runs([result], "scenario", best=optimum(result.scenario, overrides))
    if made is None:
        raise RuntimeError("a replay has the tables of causes")
    return made if flow is None else replace(made, explained=(flow_index(result.view, flow),))
