"""`check`, `list`, `schema`, `dissector` and `doctor`."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import textwrap
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multihop.base import extras
from multihop.base.errors import UserError, instead_of
from multihop.base.files import require_writable_directory
from multihop.cli import completion, console
from multihop.cli.settings import SetOption, read
from multihop.results.provenance import record
from multihop.results.words import counted
from multihop.simulation.scenario import load

if TYPE_CHECKING:
    from multihop import _core

JsonOption = Annotated[bool, typer.Option("--json", help="Print as JSON.")]

_SELF_TEST = """
duration = "1 s"
[topology]
generator = "chain"
hops = 2
spacing = "200 m"
[[flows]]
from = "n0"
to = "n2"
scheme = "tcp-newreno"
"""


def check(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario (TOML).", show_default=False)],
    set: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a scenario and show its nodes, links, flows and paths, without running it."""
    from multihop import api
    from multihop.experiments.remarks import phases

    view = api.check(scenario, set=read(set))
    if as_json:
        console.print_json(view)
        return
    by_wire = f" ({len(view['wires'])} by wire)" if view["wires"] else ""
    links = f"{counted(len(view['links']), 'directed link')}{by_wire}"
    nodes = len({node["node"] for node in view["nodes"]})
    radios = f" with {counted(len(view['nodes']), 'radio')}" if nodes < len(view["nodes"]) else ""
    console.say(f"{view['name']}: {counted(nodes, 'node')}{radios}, {links}, {counted(len(view['flows']), 'flow')}")
    console.say(
        f"{view['duration']:g} s of which {view['warmup']:g} s warm-up, seed {view['seed']}, hash {view['hash']}"
    )
    moving = sum(node["moves"] for node in view["nodes"])
    if moving:
        console.say(f"{moving} node{' moves' if moving == 1 else 's move'}: links and paths are those at the start")
    names = [node["name"] for node in view["nodes"]]
    rows = [
        [flow["name"], flow["scheme"], flow["app"], " > ".join(names[i] for i in flow["path"]) or _without_path(flow)]
        for flow in view["flows"]
    ]
    console.out().print(console.table(["flow", "scheme", "app", "path"], rows))
    for flow in view["flows"]:
        if "group" in flow and not flow["path"]:
            when = " at the start" if moving else ""
            console.note(
                f"remark: {flow['name']}: no frame of the flow reaches {flow['destination']}{when}, and nodes do not "
                "forward multicast packets: all of its packets are lost there"
            )
    if phases.in_phase(view):
        for sentence in phases.warnings(view, load(scenario).capacity({"set": read(set)})):
            console.note(f"remark: {sentence}")


def _without_path(flow: _core.FlowView) -> str:
    return "out of reach" if "group" in flow else "no route"


def list_names(
    kind: Annotated[
        str | None,
        typer.Argument(metavar="[KIND]", help="Only this kind, as in: list schemes.", autocompletion=completion.kind),
    ] = None,
    word: Annotated[
        str | None,
        typer.Argument(
            metavar="[PREFIX]",
            help="Only names that begin with this, as in: list keys mac.aggregation; or descriptions that contain it.",
            autocompletion=completion.key,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List schemes, keys, PHYs, media, mobility, routing, apps, estimators, models, papers, columns.

    Lists all kinds unless one is given; scenario keys are listed only by `multihop list keys [PREFIX]`.
    """
    from multihop import api
    from multihop.simulation import keys

    wanted = kind.lower() if kind is not None else None
    catalogue = {"keys": [key.record() for key in keys.every()]} if wanted == "keys" else api.catalogue()
    if wanted is not None and wanted not in catalogue and wanted not in completion.ALIASES:
        known = [*catalogue, "keys", *completion.ALIASES]
        raise UserError(f"list: found {kind!r}; {instead_of(wanted, known)}")
    names = catalogue if wanted is None else completion.ALIASES.get(wanted, (wanted,))
    chosen = {name: catalogue[name] if word is None else keys.chosen(catalogue[name], word) for name in names}
    if word is not None and not any(chosen.values()):
        known = [entry["name"] for name in names for entry in catalogue[name]]
        raise UserError(f"list {kind}: nothing has {word!r} in its name or description; {instead_of(word, known)}")
    if as_json:
        console.print_json(chosen)
        return
    if wanted == "keys":
        _print_keys(chosen["keys"])
        return
    for title, entries in chosen.items():
        console.say(title)
        for entry in entries:
            console.say(f"  {entry['name']:<20} {entry.get('summary', '')}")
            for key, meaning in _keys(entry).items():
                console.say(f"    {key:<26} {meaning}")
        console.say()


def _print_keys(entries: list[dict[str, Any]]) -> None:
    for entry in entries:
        only = f"  (with {' or '.join(entry['only_with'])})" if entry["only_with"] else ""
        console.say(f"{entry['name']}{only}")
        default = f"default {entry['default']}" if entry["default"] else "required" if entry["required"] else ""
        for text in ("; ".join(filter(None, [entry["takes"], entry["range"], default])), entry["summary"]):
            console.say(textwrap.fill(text, 110, initial_indent="    ", subsequent_indent="    "))


def schema(
    of: Annotated[
        str,
        typer.Argument(
            metavar="[KIND]",
            help="Kind of file: scenario or study.",
            autocompletion=completion.of("scenario", "study"),
        ),
    ] = "scenario",
) -> None:
    """Print the JSON Schema of scenarios or of studies, for editors and checkers."""
    from multihop import api

    console.print_json(api.schema(of))


def dissector() -> None:
    """Print a Lua dissector of congestion headers, router notices and DSDV, for Wireshark and tshark."""
    from multihop.simulation.dissector import lua

    console.say(lua().rstrip())


def doctor(as_json: JsonOption = False) -> None:
    """Report what is installed and whether it works."""
    checks = {
        "engine runs": _try(_self_test),
        **({"report can be drawn": _try(_draw_test)} if extras.has("report") else {}),
        "current directory can be written": _try(_write_test),
    }
    about = {
        **{name: value or "unknown" for name, value in record().items()},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        **{name: metadata.version(name) for name in ("numpy", "pandas", "typer")},
        **{name: _version(name) for modules in extras.EXTRAS.values() for name in modules},
    }
    lacking = {name: extras.missing(name) for name in extras.EXTRAS}
    if as_json:
        there = {name: not modules for name, modules in lacking.items()}
        found = {name: problem or "ok" for name, problem in checks.items()}
        console.print_json({"about": about, "extras": there, "checks": found})
    else:
        for name, value in about.items():
            console.say(f"{name:<12} {value}")
        for name, modules in lacking.items():
            how = "installed" if not modules else f"lacks {', '.join(modules)}; {extras.install(name)}"
            console.say(f"{'extra':<12} {name}: {how}")
        for name, problem in checks.items():
            console.say(f"{'ok' if problem is None else 'PROBLEM':<12} {name}" + (f": {problem}" if problem else ""))
    if any(checks.values()):
        raise typer.Exit(1)


def _version(name: str) -> str:
    """Returns the installed version of a package, or that it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def field_place(field: dict[str, Any]) -> str:
    """Returns the place of a header field: its bytes, and its bits if it is part of a byte."""
    last = field["to"] - 1
    octets = f"{field['from']}" if last == field["from"] else f"{field['from']}-{last}"
    if "bit" not in field:
        return octets
    top = field["bit"] + field.get("width", 1) - 1
    return f"{octets}:{field['bit']}" if top == field["bit"] else f"{octets}:{field['bit']}-{top}"


def _keys(entry: dict[str, Any]) -> dict[str, str]:
    """Returns the first sentence of each parameter of a catalogue entry, or of each field of a header."""
    if "fields" in entry:
        return {f"{field_place(field)} {field['name']}": field["summary"] for field in entry["fields"]}
    parameters = entry.get("parameters", {}).get("properties", {})
    if parameters:
        # A preset differs from its scheme in these defaults alone.
        shown = entry["preset"] if entry.get("preset_of") else parameters
        return {key: _summary(parameters[key]) for key in shown}
    return {key: _sentences(str(text or ""))[0] for key, text in entry.get("keys", {}).items()}


def _summary(about: dict[str, Any]) -> str:
    """Returns the first sentence about a parameter and its default, from schema or description."""
    first, *others = _sentences(about.get("description", ""))
    default = next((text for text in others if text.startswith("Default")), None)
    if default is None and (value := about.get("default")) is not None:
        default = f"Default {json.dumps(value)}"
    return f"{first.removesuffix('.')}. {default}" if default else first


def _sentences(text: str) -> list[str]:
    """Splits text into sentences at full stops before a capital, so not within "Eq. 19"."""
    return re.split(r"\. (?=[A-Z])", " ".join(text.split()))


def _try(test: Callable[[], None]) -> str | None:
    """Returns the error of a test, or `None` if it passed."""
    try:
        test()
    except Exception as error:  # noqa: BLE001 - doctor reports any failure
        return f"{type(error).__name__}: {error}"
    return None


def _self_test() -> None:
    from multihop import api

    result = api.run(_SELF_TEST)
    if not result.flows["delivered_bytes"].sum() > 0:
        raise RuntimeError("a two-hop transfer delivered nothing")


def _draw_test() -> None:
    from multihop import api
    from multihop.report import page

    if "<svg" not in page(api.compare(_SELF_TEST, ["tcp-newreno"], seeds=1)):
        raise RuntimeError("the report has no charts")


def _write_test() -> None:
    require_writable_directory(Path.cwd())
    sys.stdout.flush()
