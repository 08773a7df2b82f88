"""League of all schemes: one common set of networks, on each of which every scheme of the engine runs.

Networks, metrics and equal conditions are defined in `league.toml` and `scenarios/`. A network with schemes
and seeds is a study. The list of schemes is the engine's.

table           ranks of schemes on each network, and tables of all networks
worst           worst network of each scheme, and the main cause there
coexistence     shares of every scheme beside schemes of most hosts
picture         these shares as a picture
page            all of these as Markdown
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
from multihop._core import Controller
from multihop.base.errors import UserError, instead_of
from multihop.experiments.studies import Study, StudyResult
from multihop.experiments.tables import differences
from multihop.importers import to_scenario
from multihop.simulation import classes
from multihop.simulation.scenario import load, registered

_FOLDER = Path(__file__).parent

#: End of the name of an entrant whose receivers acknowledge by the defaults of its scheme.
OWN_ACKNOWLEDGEMENTS = " (own ACKs)"

#: End of the names of schemes that are the published form of another one.
PUBLISHED = "-published"

#: Scheme of users' classes.
_PYTHON = "python"

#: Flavours whose receivers acknowledge each segment.
_ACKNOWLEDGE_EACH = ("ns2",)

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
        coexistence: results of each network on which a scheme runs beside another one.
        without_mesh: whether no community mesh was given.
    """

    networks: Sequence[Network]
    results: Sequence[StudyResult]
    coexistence: Sequence[StudyResult]
    without_mesh: bool

    @property
    def schemes(self) -> list[str]:
        """Compared entrants, in the order of the engine."""
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


def schemes(wanted: Sequence[str | type[Controller]] | None = None) -> list[str]:
    """Returns every scheme of the engine, or the wanted ones, in the engine's order.

    Classes follow, or names of classes such as `own.py:MyScheme`: each is a scheme by the name of the class.

    Raises:
        UserError: if a scheme is unknown, a class cannot be used, or none is named.
    """
    known = list(_registered())
    if wanted is None:
        return known
    names = [_entered(each) for each in wanted]
    for name in names:
        if name not in _schemes():
            raise UserError(f"--schemes: {name} is not a scheme; {instead_of(name, known)}")
    if not names:
        raise UserError(f"--schemes: names none; needs some of {', '.join(known)}")
    return [name for name in _schemes() if name in names]


#: Settings of the classes in Python that take part, by the name of their scheme.
_classes: dict[str, dict[str, Any]] = {}


def _entered(scheme: str | type[Controller]) -> str:
    """Returns the name of a scheme, and lets a class take part by its name."""
    name, keys = classes.variant(scheme)
    if not keys:
        return name
    if name in _registered():
        raise UserError(f"--schemes: the class {name} has the name of a scheme; rename it")
    if _classes.get(name) != keys:
        _classes[name] = keys
        settings.cache_clear()
        headers.cache_clear()
    return name


def entrants(names: Sequence[str]) -> list[str]:
    """Returns schemes as they take part: with the common terms, some also with their own acknowledgements.

    A scheme has its own acknowledgements if its defaults set them otherwise than the common terms do, or if
    its flavour acknowledges each segment.
    """
    made = []
    for name in names:
        made += [name, name + OWN_ACKNOWLEDGEMENTS] if _acknowledges_otherwise(name) else [name]
    return made


def scheme_of(entrant: str) -> str:
    """Returns the scheme of an entrant."""
    return entrant.removesuffix(OWN_ACKNOWLEDGEMENTS)


def base_form(entrant: str) -> str:
    """Returns the scheme whose published form this entrant is, or the scheme itself."""
    scheme = scheme_of(entrant)
    base = scheme.removesuffix(PUBLISHED)
    return base if base in _schemes() else scheme


def flavour(scheme: str) -> str:
    """Returns the flavour of a scheme's defaults, such as `linux`; empty for schemes without TCP."""
    parameters = _schemes()[scheme]["parameters"]["properties"]
    return str(parameters["flavour"]["default"]) if _is_over_tcp(scheme) else ""


def study(network: Network, compared: Sequence[str], seeds: int | None = None) -> Study:
    """Returns the study of a network.

    Args:
        network: network on which schemes run.
        compared: names of entrants.
        seeds: number of seeds; that of the league by default, also for a quick run.

    Raises:
        UserError: if the league does not fit the scenario.
    """
    said = rules()
    given = network.scenario
    about = [] if isinstance(given, str) else [given.get("description", "")]
    quick = {**said["quick"], "set": {**said["quick"]["set"], **network.quick}}
    cases = {name: {**settings(name), **configured(network, name)} for name in compared}
    return Study(
        name=network.name,
        title=network.title,
        description=". ".join(filter(None, (*about, network.about))),
        scenario=given if isinstance(given, str) else dict(given),
        seeds=said["seeds"] if seeds is None else seeds,
        set=dict(network.set),
        factors={"scheme": {"title": "scheme", "cases": cases}},
        compare="scheme",
        metrics=said["metrics"],
        charts=said["charts"],
        quick=quick if seeds is None else {**quick, "seeds": seeds},
    )


@cache
def settings(entrant: str) -> dict[str, Any]:
    """Returns settings of an entrant by key path, with the common terms of all schemes.

    Packets of all schemes have equal sizes above the MAC, so that longer headers reduce the payload. Schemes
    over TCP have equal receive windows and acknowledgements.
    """
    said, scheme = rules(), scheme_of(entrant)
    parameters = _schemes()[scheme]["parameters"]["properties"]
    made: dict[str, Any] = {**_classes.get(scheme, {}), "scheme": scheme}
    if "segment_size" in parameters:
        made[f"schemes.{scheme}.segment_size"] = f"{said['packet'] - headers(scheme)} B"
    if _is_over_tcp(scheme):
        made[f"schemes.{scheme}.window"] = said["receive_window"]
        if scheme == entrant:
            made |= {f"schemes.{scheme}.{key}": value for key, value in said["acknowledgements"].items()}
    return made


def configured(network: Network, entrant: str) -> dict[str, Any]:
    """Returns settings by key path that a network has for a scheme but not for this entrant.

    A published form is configured like its scheme. With other acknowledgements a neighbourhood carries
    another share of the bit rate, so `psi` is scaled.
    """
    scheme, base, told = scheme_of(entrant), base_form(entrant), _told(network)
    keys = told.get(scheme, told.get(base, {}))
    known = _schemes()[scheme]["parameters"]["properties"]
    made = {} if scheme in told else {f"schemes.{scheme}.{key}": keys[key] for key in keys if key in known}
    if entrant != scheme and "psi" in keys:
        ratio = _carried_bps(network, settings(entrant)) / _carried_bps(network, settings(scheme))
        made[f"schemes.{scheme}.psi"] = round(keys["psi"] * ratio, 3)
    return made


def _told(network: Network) -> dict[str, dict[str, Any]]:
    """Returns the keys that a network sets of each scheme. A scenario of the reader's is taken as it is."""
    if isinstance(network.scenario, str):
        return {}
    given = network.set.get("schemes", network.scenario.get("schemes", {}))
    made = {scheme: dict(keys) for scheme, keys in given.items()}
    for path, value in network.set.items():
        head, _, key = path.rpartition(".")
        if head.startswith("schemes."):
            made.setdefault(head.removeprefix("schemes."), {})[key] = value
    return made


def _carried_bps(network: Network, keys: Mapping[str, Any]) -> float:
    """Returns the payload in bit/s that a hop carries without contention, with its acknowledgements."""
    made = Study(name=network.name, scenario=dict(network.scenario), set=dict(network.set))  # type: ignore[arg-type]
    overrides = {"scheme": keys["scheme"], "set": {**network.set, **{k: v for k, v in keys.items() if k != "scheme"}}}
    demand = made.scenario.capacity(overrides)["demands"][0]
    busy = sum(way[0]["exchange_s"] + way[0]["access_s"] for way in (demand["forward"], demand["feedback"]))
    return float(demand["payload_bytes"] * 8 / busy)


def _is_over_tcp(scheme: str) -> bool:
    """Whether a scheme has TCP's parameters. A parameter `window` of other schemes has another meaning."""
    parameters = _schemes()[scheme]["parameters"]["properties"]
    return bool(parameters.get("window", {}).get("x-role") == "receive-window")


def _acknowledges_otherwise(scheme: str) -> bool:
    """Whether a scheme by itself acknowledges more or fewer segments at once than the common terms say.

    Flavours that differ only in the longest delay do not count.
    """
    if not _is_over_tcp(scheme):
        return False
    parameters, common = _schemes()[scheme]["parameters"]["properties"], rules()["acknowledgements"]
    sets_them = any(parameters[key].get("default") not in (None, common[key]) for key in common)
    sets_them |= any(key in common for keys in _classes.get(scheme, {}).values() for key in keys)
    return sets_them or flavour(scheme) in _ACKNOWLEDGE_EACH


def kind_of(entrant: str) -> str:
    """Returns an entrant's kind by its transport, `reliable` or `datagrams`; kinds are ranked apart."""
    return "reliable" if _schemes()[scheme_of(entrant)]["reliable"] else "datagrams"


@cache
def headers(entrant: str) -> int:
    """Returns the bytes of network and transport headers of each packet of an entrant."""
    scheme = scheme_of(entrant)
    probe = load(_PROBE).capacity({"scheme": scheme, "set": _classes.get(scheme, {})})
    return probe["demands"][0]["header_bytes"]


@cache
def _registered() -> dict[str, dict[str, Any]]:
    """Returns the registry entries of all schemes by name, without that of users' classes."""
    return {entry["name"]: entry for entry in registered()["schemes"] if entry["name"] != _PYTHON}


@cache
def _of_classes() -> dict[str, Any]:
    """Returns the registry entry of users' classes."""
    return next(entry for entry in registered()["schemes"] if entry["name"] == _PYTHON)


def _schemes() -> dict[str, dict[str, Any]]:
    """Returns the registry entries of all schemes by name, and of the classes that take part."""
    return {**_registered(), **dict.fromkeys(_classes, _of_classes())} if _classes else _registered()


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
