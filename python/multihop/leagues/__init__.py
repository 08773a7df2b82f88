"""The league of all schemes: one common set of networks, on each of which every scheme of the engine runs.

Networks, metrics, and what is equal for all stand in `league.toml` and `scenarios/`; a network by schemes by
seeds is a study. The list of schemes is the engine's.

table       which scheme is better than which, and by which place: tables of all networks together
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
from multihop.claims.study import Study, StudyResult
from multihop.importers import to_scenario
from multihop.simulation.scenario import load, registered
from multihop.study.tables import differences

_FOLDER = Path(__file__).parent

#: Two nodes and a flow: enough to see what the packets of a scheme look like.
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
    """What schemes are compared on.

    Attributes:
        name: of its study and its folder.
        title: for readers.
        scenario: its keys, or the path of a file.
        about: where it comes from, if it is not part of the league.
        set: further keys of it, by path.
        quick: keys that a quick look sets besides.
        beside: the network whose nodes and flows these are, on other radios.
        made_by: the command that makes its scenario from the reader's mesh.
    """

    name: str
    title: str
    scenario: Mapping[str, Any] | str = field(repr=False)
    about: str = ""
    set: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    beside: str = ""
    made_by: str = ""


@dataclass(frozen=True, repr=False)
class League:
    """What was asked for, and what was found.

    Attributes:
        networks: in the order of the page.
        results: of each network.
        without_mesh: whether the community mesh was left out, as none was given.
    """

    networks: Sequence[Network]
    results: Sequence[StudyResult]
    without_mesh: bool

    @property
    def schemes(self) -> list[str]:
        """The schemes that were compared, in the order of the engine."""
        return [str(point.labels["scheme"]) for point in self.results[0].points]

    @property
    def kinds(self) -> dict[str, list[str]]:
        """The schemes of each kind of transport; a kind of which there is none is left out."""
        of = {kind: [scheme for scheme in self.schemes if kind_of(scheme) == kind] for kind in rules()["kinds"]}
        return {kind: names for kind, names in of.items() if names}

    @cached_property
    def differences(self) -> pd.DataFrame:
        """Paired differences within a kind: a row per network, metric and pair; none for one seed."""
        parts = []
        for network, result in zip(self.networks, self.results, strict=True):
            for names in self.kinds.values():
                df = differences(result, names)
                df.insert(0, "network", network.name)
                parts.append(df)
        return pd.concat(parts, ignore_index=True)


def rules() -> dict[str, Any]:
    """What `league.toml` says."""
    return tomllib.loads((_FOLDER / "league.toml").read_text("utf-8"))


def networks(mesh: Path | None = None) -> list[Network]:
    """The networks of the league; the community mesh last, if there is one.

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
    """Every scheme that the engine has, or those that are wanted, in the engine's order.

    Raises:
        UserError: if there is no such scheme, or none is named.
    """
    known = list(_schemes())
    if wanted is None:
        return known
    for name in wanted:
        if name not in known:
            raise UserError(f"--schemes: {name} is not a scheme; {instead_of(name, known)}")
    if not wanted:
        raise UserError(f"--schemes: names none; there are {', '.join(known)}")
    return [name for name in known if name in wanted]


def study(network: Network, compared: Sequence[str], seeds: int | None = None) -> Study:
    """The study of a network.

    Args:
        network: where schemes run.
        compared: names of schemes.
        seeds: how many; those of the league by default, also for a quick look.

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
    """Settings of a scheme by key path: packets and receive windows like those of all others.

    A packet has the same bytes above the MAC, whatever its headers are: those come off the payload.
    """
    said, parameters = rules(), _schemes()[scheme]["parameters"]["properties"]
    made: dict[str, Any] = {"scheme": scheme}
    if "segment_size" in parameters:
        made[f"schemes.{scheme}.segment_size"] = f"{said['packet'] - headers(scheme)} B"
    # Others may have a window that is something else.
    if parameters.get("window", {}).get("x-role") == "receive-window":
        made[f"schemes.{scheme}.window"] = said["receive_window"]
    return made


def kind_of(scheme: str) -> str:
    """A scheme's kind by what its transport promises, `reliable` or `datagrams`; kinds are ranked apart."""
    return "reliable" if _schemes()[scheme]["reliable"] else "datagrams"


@cache
def headers(scheme: str) -> int:
    """Bytes of network and transport headers of each packet of a scheme."""
    probe = load(_PROBE).capacity({"scheme": scheme})
    return probe["demands"][0]["header_bytes"]


@cache
def _schemes() -> dict[str, dict[str, Any]]:
    """Every scheme of the engine by name, as its registry has it."""
    return {entry["name"]: entry for entry in registered()["schemes"]}


def _community(mesh: Path) -> Network:
    said = rules()["community"]
    origin = mesh.name
    if mesh.suffix == ".toml":
        # Whatever is wrong with it is reported as of the reader's file.
        load(mesh).check()
        return Network(said["name"], said["title"], str(mesh), about=f"The scenario {origin}, as it is")
    plan = replace(to_scenario.Plan(), **said["plan"])
    imported = to_scenario.write(importers.read(mesh, importers.Options()), plan, str(mesh))
    command = _import_command(origin, plan)
    about = f"From {origin}, as `{command}` imports it: {'; '.join(imported.summary)}"
    return Network(said["name"], said["title"], tomllib.loads(imported.text), about, said["set"], made_by=command)


def _import_command(origin: str, plan: to_scenario.Plan) -> str:
    """The command that imports a mesh by this plan: it names what differs from the command's defaults."""
    usual = {name: value for name, value in vars(to_scenario.Plan()).items() if value != getattr(plan, name)}
    options = [word for name in usual for word in (f"--{name.replace('_', '-')}", str(getattr(plan, name)))]
    return shlex.join(["multihop", "import", origin, *options, "--out", f"{plan.name}.toml"])
