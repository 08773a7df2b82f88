"""Statuses of the shipped scenarios' flows: the same in the verdict, the explanation, the report and the data."""

import re

import pytest

import multihop
from conftest import SCENARIOS
from multihop.experiments.services import Status
from multihop.explanation.explain import of_runs

#: Each kind of yardstick and of status: hidden senders, multicast, wires, routing among nodes that move.
QUICK = {"hidden-terminal", "lossy-wire", "mesh-demo", "multicast"}

CHECKED = [
    path.stem if path.stem in QUICK else pytest.param(path.stem, marks=pytest.mark.long)
    for path in sorted(SCENARIOS.glob("*.toml"))
]

#: How long a name may be cut from: no verdict names more flows of a status than these.
MOST_NAMED = 8


@pytest.mark.parametrize("name", CHECKED)
def test_statuses_agree_everywhere(name, tmp_path):
    result = multihop.run(SCENARIOS / f"{name}.toml", duration="6 s", warmup="2 s")
    compared = multihop.api.results.Comparison(result.scenario, {"scenario": (result,)})
    statuses = {each.name: each.status for each in compared.services["scenario"]}

    data = {each["name"]: each["status"] for each in compared.statistics()["services"]["scenario"]}
    assert data == statuses

    found = of_runs([result], "scenario", best=compared.optima["scenario"])
    assert found is not None
    assert {flow.name: flow.status for flow in found.flows} == statuses
    assert {flow["name"]: flow["status"] for flow in found.record()["flows"]} == statuses
    multicast = {flow["name"] for flow in result.view["flows"] if "group" in flow}
    bad = {flow for flow, status in statuses.items() if status != Status.FINE}
    assert {found.flows[index].name for index in found.explained} == bad - multicast
    assert {flow for group in found.record()["groups"] for flow in group["flows"]} == bad - multicast

    verdict = compared.verdict()
    for status in set(statuses.values()) - {Status.FINE}:
        title = str(status).capitalize()
        of = [flow for flow, each in statuses.items() if each == status]
        line = next(line for line in verdict if line.startswith(f"{title}:"))
        if len(bad) <= MOST_NAMED:
            assert all(flow in line for flow in of), verdict
    assert (verdict[-1] in {"The flow is fine.", "All flows are fine."}) == (not bad)

    page = result.report(tmp_path / "report.html").read_text()
    shown = re.findall(r"<summary[^>]*>([^<]*) \((dead|starving|slow|late|lossy|fine)\)</summary>", page)
    assert {flow.replace("&gt;", ">"): status for flow, status in shown}.items() <= statuses.items()
    assert len(shown) == min(len(bad - multicast), MOST_NAMED)
