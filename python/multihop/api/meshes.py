"""`import_mesh`: converts a measured mesh to a scenario."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from multihop import _core, importers
from multihop.base.display import Displayed, Overview
from multihop.base.errors import UserError
from multihop.base.files import write_text
from multihop.importers import to_scenario
from multihop.simulation.scenario import Scenario, TimeLike, time_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class ImportedMesh(Displayed):
    """Scenario of an imported mesh; `multihop.run` and `multihop.compare` accept its `text`.

    Attributes:
        file: file of the mesh.
        found: text of the scenario, and counts of imported and omitted parts.
        view: resolved scenario: nodes, links, flows with their paths.
    """

    file: Path
    found: to_scenario.Imported
    view: _core.ScenarioView

    @property
    def text(self) -> str:
        """Text of the scenario (TOML)."""
        return self.found.text

    @property
    def summary(self) -> list[str]:
        """Lines about imported and omitted parts, with reasons."""
        return self.found.summary

    @property
    def nodes(self) -> pd.DataFrame:
        """Table of nodes and radios: name, position in metres (NaN if unknown) and channel."""
        return pd.DataFrame(self.view["nodes"]).drop(columns="node")

    @property
    def links(self) -> pd.DataFrame:
        """Table of directed links: `from`, `to`, and the delivery ratio of a frame, as in `check`."""
        names = [node["name"] for node in self.view["nodes"]]
        rows = [(names[sender], names[receiver], delivery) for sender, receiver, delivery in self.view["links"]]
        return pd.DataFrame(rows, columns=["from", "to", "delivery"])

    @property
    def flows(self) -> pd.DataFrame:
        """Table of flows: name, scheme, application, hops and path."""
        names = [node["name"] for node in self.view["nodes"]]
        columns = ["name", "scheme", "app", "hops", "path"]
        rows = [{**flow, "path": [names[index] for index in flow["path"]]} for flow in self.view["flows"]]
        return pd.DataFrame(rows, columns=columns)

    def record(self) -> dict[str, Any]:
        """Returns the imported and omitted parts as plain data (JSON)."""
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
        """Writes the scenario to a file, which must not be the mesh's. Returns its path."""
        return write_text(Path(path), self.text, self.file)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws a map of nodes, links and flows, on `ax` or a new figure of 3.5 in. Returns the axes.

        Raises:
            UserError: if Matplotlib is not installed.
        """
        from multihop.report.charts import maps
        from multihop.report.plot import on_axes

        return on_axes(maps.network(self.view), ax, "")

    def overview(self, *, whole: bool = True) -> Overview:
        """Returns the imported and omitted parts; with `whole`, also the flows."""
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
    """Converts a measured mesh to a scenario with positions and a link matrix.

    Args:
        file: file of the mesh.
        format: format of the file; detected by default.
        nodes: second file with nodes and positions.
        component: `largest` for the largest set of nodes connected by two-way links, or `all`.
        sensing: `inferred`: nodes may sense each other without a link in the file; `listed`: only over links.
        two_hops_sense: whether nodes with a common neighbour sense each other if one has no position.
        shadowing_seed: seed of the shadowing of inferred pairs.
        radios: `one` or `several` per node; several by default if the file names radios.
        traffic: `to-gateway`, `random-pairs` or `gateway`.
        flows: number of flows; gateway traffic uses `clients` instead.
        gateway: destination of the traffic; the marked gateway or best connected node by default.
        clients: gateway traffic: number of clients; 8 by default.
        gateways: gateway traffic: names of gateways; the marked or the best connected by default.
        gateway_count: gateway traffic: number of best connected gateways.
        direction: gateway traffic: `downloads` (the default), `uploads` or `both`.
        mix: gateway traffic: applications of clients in turn, as in `["web", "video", "call", "download"]`.
        scheme: congestion control of every flow.
        standard: PHY; the file's by default, else 802.11b.
        data_rate: rate of DATA frames, as in `"11 Mb/s"`.
        duration: duration of the scenario, in seconds or as text with a unit.
        warmup: warm-up of the scenario, as `duration`.
        probe_size: size of the frames to which the measured delivery ratios apply.
        min_delivery: delivery ratio below which a link is left out, in either direction.
        assume_delivery: delivery ratio of links for which the file has none.
        noise_level: ORBIT: noise level in dBm; the lowest by default.
        range: reception range in metres for positions without links; 250 by default.
        name: name of the scenario; the file's by default.

    Raises:
        UserError: if the file cannot be read, its format is unknown, or an argument is invalid for it.
    """
    return _imported(Path(file), dict(locals()))


def _imported(path: Path, given: dict[str, Any]) -> ImportedMesh:
    """Returns the scenario of a mesh from the arguments of `import_mesh`."""
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
    # The engine checks the scenario here, so that invalid options fail at the import and not at the first
    # run.
    try:
        view = Scenario(found.text, "<imported>").check()
    except _core.ScenarioError as error:
        raise UserError(f"{path}: the scenario of this mesh is invalid: {error}") from error
    return ImportedMesh(path, found, view)
