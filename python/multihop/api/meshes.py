"""`import_mesh`: a measured mesh as a scenario."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pandas as pd

from multihop import _core, importers
from multihop.base.display import Displayed, Overview
from multihop.base.errors import UserError
from multihop.base.files import write_text
from multihop.importers import to_scenario
from multihop.simulation.scenario import Scenario, TimeLike, time_text


@dataclass(frozen=True, repr=False)
class ImportedMesh(Displayed):
    """A scenario from a mesh: `text` is what `multihop.run` and `multihop.compare` take.

    Attributes:
        file: the mesh.
        found: the scenario's text, and what was kept and left out.
        view: the scenario resolved: nodes, links, flows with their paths.
    """

    file: Path
    found: to_scenario.Imported
    view: _core.ScenarioView

    @property
    def text(self) -> str:
        """The scenario (TOML)."""
        return self.found.text

    @property
    def summary(self) -> list[str]:
        """What was kept, what was left out and why, line by line."""
        return self.found.summary

    @property
    def nodes(self) -> pd.DataFrame:
        """A row per node and radio: name, place in metres (NaN where unknown) and channel."""
        return pd.DataFrame(self.view["nodes"]).drop(columns="node")

    @property
    def links(self) -> pd.DataFrame:
        """A row per directed link: `from`, `to`, and the delivery of a frame, as `check` has it."""
        names = [node["name"] for node in self.view["nodes"]]
        rows = [(names[sender], names[receiver], delivery) for sender, receiver, delivery in self.view["links"]]
        return pd.DataFrame(rows, columns=["from", "to", "delivery"])

    @property
    def flows(self) -> pd.DataFrame:
        """A row per flow: name, scheme, application, hops and path."""
        names = [node["name"] for node in self.view["nodes"]]
        columns = ["name", "scheme", "app", "hops", "path"]
        rows = [{**flow, "path": [names[index] for index in flow["path"]]} for flow in self.view["flows"]]
        return pd.DataFrame(rows, columns=columns)

    def record(self) -> dict[str, Any]:
        """What was kept and left out, as plain data (JSON)."""
        found = self.found
        return {
            "nodes": found.nodes,
            "links": found.links,
            "left_out": found.left_out,
            "first_broken": found.first_broken,
            "parallel": found.parallel,
            "gateway": found.gateway,
            "gateways": found.gateways,
            "sensing": found.sensed,
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the scenario to a file and returns its path; never over the mesh."""
        return write_text(Path(path), self.text, self.file)

    def overview(self, *, whole: bool = True) -> Overview:
        """What was kept and left out; `whole` includes the flows."""
        title = f"{self.view['name']}, {self.found.nodes} nodes, {self.found.links} directed links"
        if not whole:
            return Overview(title, sentences=self.summary)
        rows = [
            [str(row["name"]), str(row["scheme"]), str(row["app"]), " > ".join(row["path"]) or "no route"]
            for row in self.flows.to_dict("records")
        ]
        return Overview(title, ["flow", "scheme", "app", "path"], rows, self.summary)


def import_mesh(
    file: str | os.PathLike[str],
    *,
    format: str = "auto",
    nodes: str | os.PathLike[str] | None = None,
    component: str = "largest",
    sensing: str = "inferred",
    two_hops_sense: bool = True,
    shadowing_seed: int = 1,
    radios: str | None = None,
    traffic: str = "to-gateway",
    flows: int = 10,
    gateway: str | None = None,
    clients: int | None = None,
    gateways: Sequence[str] = (),
    gateway_count: int | None = None,
    direction: str | None = None,
    mix: Sequence[str] = (),
    scheme: str = "tcp-newreno",
    standard: str | None = None,
    data_rate: str | None = None,
    duration: TimeLike = "60 s",
    warmup: TimeLike = "10 s",
    probe_size: str = "1500 B",
    min_delivery: float = 0.0,
    assume_delivery: float | None = None,
    noise_level: float | None = None,
    range: float | None = None,
    name: str | None = None,
) -> ImportedMesh:
    """Turns a measured mesh into a scenario with positions and a link matrix.

    Args:
        file: the mesh.
        format: of the file; found out by default.
        nodes: a second file with nodes and positions.
        component: `largest`: the largest set that two-way links connect; or `all`.
        sensing: `inferred`: nodes sense beyond the links in the file; `listed`: they do not.
        two_hops_sense: nodes with a neighbour in common sense each other, if one has no position.
        shadowing_seed: seed of the shadowing that inferred pairs have.
        radios: `one` or `several` per node; by default several where the file names them.
        traffic: `to-gateway`, `random-pairs` or `gateway`.
        flows: how many; with traffic of a gateway, `clients` says it.
        gateway: node that traffic goes to; a marked gateway or the best connected by default.
        clients: of traffic of a gateway: how many clients; 8 by default.
        gateways: of traffic of a gateway: names; the marked or the best connected by default.
        gateway_count: of traffic of a gateway: so many best connected gateways.
        direction: of traffic of a gateway: `downloads` (the default), `uploads` or `both`.
        mix: of traffic of a gateway: what clients do in turn, as in `["web", "video", "call", "download"]`.
        scheme: congestion control of every flow.
        standard: PHY; that of the file, else 802.11b, by default.
        data_rate: rate of DATA frames, as in `"11 Mb/s"`.
        duration: of the scenario, in seconds or as text with a unit.
        warmup: as `duration`.
        probe_size: size of the frames that deliver as measured.
        min_delivery: leaves out links that deliver less, either way.
        assume_delivery: delivery of every link, where the file has none.
        noise_level: of ORBIT: which noise level, in dBm; the lowest by default.
        range: of positions without links: how far nodes hear, in metres; 250 by default.
        name: of the scenario; the file's by default.

    Raises:
        UserError: if the file cannot be read, its format is not known, or an argument makes no sense for it.
    """
    return _imported(Path(file), dict(locals()))


def _imported(path: Path, given: dict[str, Any]) -> ImportedMesh:
    """The scenario of a mesh, by the arguments of `import_mesh`."""
    for what in ("gateways", "mix"):
        if isinstance(given[what], str):
            names = given[what].split(",")
            raise UserError(f"{what}: found the text {given[what]!r}; needs a list, as in {names!r}")
        given[what] = tuple(given[what])
    for what in ("duration", "warmup"):
        given[what] = time_text(what, given[what])
    nodes = None if given["nodes"] is None else Path(given["nodes"])
    numbers = (given["assume_delivery"], given["noise_level"], given["range"])
    mesh = importers.read(path, importers.Options(given["format"], nodes, *numbers))
    given |= {"name": given["name"] or path.name.split(".")[0], "two_hops": given["two_hops_sense"]}
    plan = to_scenario.Plan(**{each.name: given[each.name] for each in fields(to_scenario.Plan)})
    found = to_scenario.write(mesh, plan, path.name)
    # The engine has the last word on what is a scenario: options that make none fail here, not at the first
    # run.
    try:
        view = Scenario(found.text, "<imported>").check()
    except _core.ScenarioError as error:
        raise UserError(f"{path}: the scenario of this mesh would be refused: {error}") from error
    return ImportedMesh(path, found, view)
