"""League of all schemes: one common set of networks, on each of which every scheme of the engine runs.

Networks, metrics and equal conditions are defined in `league.toml` and `scenarios/`. A network with schemes
and seeds is a study. The list of schemes is the engine's.

table       ranks of schemes on each network, and tables of all networks
page        the same as Markdown
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from multihop import importers
from multihop.base.errors import UserError, instead_of
from multihop.experiments.studies import Study, StudyResult
from multihop.experiments.tables import differences
from multihop.importers import to_scenario
from multihop.simulation.scenario import load, registered

_FOLDER = Path(__file__).parent

#: Two nodes and a flow, from which the headers of a scheme's packets are read.
_PROBE = """
duration = "1 s"

[topology]
generator = "chain"
hops = 1
spacing = "10 m"

[traffic]
pattern = "canonical"
scheme = "udp"
app = { kind = "saturated" }
"""


@dataclass(frozen=True)
class Network:
    """Network on which schemes are compared.

    Attributes:
        name: name of its study and folder.
        title: title for readers.
        scenario: keys of the scenario, or the path of a file.
        about: origin, if the network is not part of the league.
        set: further keys of the scenario, by path.
        quick: keys that a quick run sets in addition.
        base_network: network with the same nodes and flows, but other radios.
        made_by: command that makes the scenario from the reader's mesh.
    """

    name: str
    title: str
    scenario: Mapping[str, Any] | str = field(repr=False)
    about: str = ""
    set: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    base_network: str = ""
    made_by: str = ""


@dataclass(frozen=True, repr=False)
class League:
    """Networks and results of a league.

    Attributes:
        networks: networks, in the order of the page.
        results: results of each network.
        without_mesh: whether no community mesh was given.
    """

    networks: Sequence[Network]
    results: Sequence[StudyResult]
    without_mesh: bool

    @property
    def schemes(self) -> list[str]:
        """Compared schemes, in the order of the engine."""
        return [str(point.labels["scheme"]) for point in self.results[0].points]

    @property
    def kinds(self) -> dict[str, list[str]]:
        """Schemes of each kind of transport, without empty kinds."""
        of = {kind: [scheme for scheme in self.schemes if kind_of(scheme) == kind] for kind in rules()["kinds"]}
        return {kind: names for kind, names in of.items() if names}

    @cached_property
    def differences(self) -> pd.DataFrame:
        """Table of paired differences within a kind, by network, metric and pair; empty for one seed."""
        parts = []
        for network, result in zip(self.networks, self.results, strict=True):
            for names in self.kinds.values():
                df = differences(result, names)
                df.insert(0, "network", network.name)
                parts.append(df)
        return pd.concat(parts, ignore_index=True)


def rules() -> dict[str, Any]:
    """Returns the content of `league.toml`."""
    return tomllib.loads((_FOLDER / "league.toml").read_text("utf-8"))


def networks(mesh: Path | None = None) -> list[Network]:
    """Returns the networks on which the league runs every scheme; `mesh` is the last one.

    Args:
        mesh: a scenario (TOML), or a file that `multihop import` reads.

    Raises:
        UserError: if the file cannot be read.
    """
    made = []
    for keys in rules()["topologies"]:
        text = (_FOLDER / "scenarios" / f"{keys['name']}.toml").read_text("utf-8")
        made.append(Network(scenario=tomllib.loads(text), **keys))
    return made if mesh is None else [*made, _community(mesh)]


def schemes(wanted: Sequence[str] | None = None) -> list[str]:
    """Returns every scheme of the engine, or the wanted ones, in the engine's order.

    Raises:
        UserError: if a scheme is unknown, or none is named.
    """
    known = list(_schemes())
    if wanted is None:
        return known
    for name in wanted:
        if name not in known:
            raise UserError(f"--schemes: {name} is not a scheme; {instead_of(name, known)}")
    if not wanted:
        raise UserError(f"--schemes: names none; needs some of {', '.join(known)}")
    return [name for name in known if name in wanted]


def study(network: Network, compared: Sequence[str], seeds: int | None = None) -> Study:
    """Returns the study of a network.

    Args:
        network: network on which schemes run.
        compared: names of schemes.
        seeds: number of seeds; that of the league by default, also for a quick run.

    Raises:
        UserError: if the league does not fit the scenario.
    """
    said = rules()
    given = network.scenario
    about = [] if isinstance(given, str) else [given.get("description", "")]
    quick = {**said["quick"], "set": {**said["quick"]["set"], **network.quick}}
    return Study(
        name=network.name,
        title=network.title,
        description=". ".join(filter(None, (*about, network.about))),
        scenario=given if isinstance(given, str) else dict(given),
        seeds=said["seeds"] if seeds is None else seeds,
        set=dict(network.set),
        factors={"scheme": {"title": "scheme", "cases": {name: settings(name) for name in compared}}},
        compare="scheme",
        metrics=said["metrics"],
        charts=said["charts"],
        quick=quick if seeds is None else {**quick, "seeds": seeds},
    )


@cache
def settings(scheme: str) -> dict[str, Any]:
    """Returns settings of a scheme by key path, with the packet size and receive window of all others.

    Packets of all schemes have equal sizes above the MAC, so that longer headers reduce the payload.
    """
    said, parameters = rules(), _schemes()[scheme]["parameters"]["properties"]
    made: dict[str, Any] = {"scheme": scheme}
    if "segment_size" in parameters:
        made[f"schemes.{scheme}.segment_size"] = f"{said['packet'] - headers(scheme)} B"
    # A parameter `window` of other schemes may have another meaning.
    if parameters.get("window", {}).get("x-role") == "receive-window":
        made[f"schemes.{scheme}.window"] = said["receive_window"]
    return made


def kind_of(scheme: str) -> str:
    """Returns a scheme's kind by its transport, `reliable` or `datagrams`; kinds are ranked apart."""
    return "reliable" if _schemes()[scheme]["reliable"] else "datagrams"


@cache
def headers(scheme: str) -> int:
    """Returns the bytes of network and transport headers of each packet of a scheme."""
    probe = load(_PROBE).capacity({"scheme": scheme})
    return probe["demands"][0]["header_bytes"]


@cache
def _schemes() -> dict[str, dict[str, Any]]:
    """Returns the registry entries of all schemes by name."""
    return {entry["name"]: entry for entry in registered()["schemes"]}


def _community(mesh: Path) -> Network:
    said = rules()["community"]
    origin = mesh.name
    if mesh.suffix == ".toml":
        # Mistakes are reported as those of the reader's file.
        load(mesh).check()
        return Network(said["name"], said["title"], str(mesh), about=f"The scenario {origin}, as it is")
    plan = replace(to_scenario.Plan(), **said["plan"])
    imported = to_scenario.write(importers.read(mesh, importers.Options()), plan, str(mesh))
    command = _import_command(origin, plan)
    about = f"From {origin}, as `{command}` imports it: {'; '.join(imported.summary)}"
    return Network(said["name"], said["title"], tomllib.loads(imported.text), about, said["set"], made_by=command)


def _import_command(origin: str, plan: to_scenario.Plan) -> str:
    """Returns the command that imports a mesh by this plan, with options that differ from defaults."""
    usual = {name: value for name, value in vars(to_scenario.Plan()).items() if value != getattr(plan, name)}
    options = [word for name in usual for word in (f"--{name.replace('_', '-')}", str(getattr(plan, name)))]
    return shlex.join(["multihop", "import", origin, *options, "--out", f"{plan.name}.toml"])
