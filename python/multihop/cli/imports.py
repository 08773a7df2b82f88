"""`import`: a real mesh as a scenario."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multihop import importers
from multihop.base.files import require_writable_file
from multihop.cli import completion, console
from multihop.importers import to_scenario
from multihop.importers.radios import RADIOS

if TYPE_CHECKING:
    from multihop.api.meshes import ImportedMesh

MeshArgument = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="File of the mesh, or folder with a file of each node.", show_default=False),
]
OutOption = Annotated[Path | None, typer.Option(help="Write the scenario to this file; standard output by default.")]
FormatOption = Annotated[
    str, typer.Option(help=f"auto, {', '.join(importers.FORMATS)}.", autocompletion=completion.format)
]
NodesOption = Annotated[Path | None, typer.Option(help="A second file with nodes and positions.")]
ComponentOption = Annotated[
    str,
    typer.Option(
        help="largest: only the largest set of nodes connected by two-way links; all: every node.",
        autocompletion=completion.of("largest", "all"),
    ),
]
SensingOption = Annotated[
    str,
    typer.Option(
        help="inferred: nodes may sense each other without a link in the file; listed: only over its links.",
        autocompletion=completion.of("inferred", "listed"),
    ),
]
TwoHopsOption = Annotated[
    bool,
    typer.Option(
        "--two-hops-sense/--no-two-hops-sense",
        help="Nodes with a common neighbour sense each other if one of them has no position.",
    ),
]
ShadowingSeedOption = Annotated[
    int, typer.Option(help="Seed of the shadowing of inferred pairs, whose true values the file does not tell.")
]
RadiosOption = Annotated[
    str | None,
    typer.Option(
        help="one: one radio per node, with the best of parallel links; several: the radios that the file "
        "distinguishes. Default: several if the file names radios.",
        autocompletion=completion.of(*RADIOS),
    ),
]
TrafficOption = Annotated[
    str,
    typer.Option(help="to-gateway, random-pairs or gateway.", autocompletion=completion.of(*to_scenario.TRAFFIC)),
]
FlowsOption = Annotated[int, typer.Option(help="Number of flows; with --traffic gateway use --clients instead.")]
GatewayOption = Annotated[
    str | None, typer.Option(help="Destination of the traffic; the marked gateway or best connected node by default.")
]
ClientsOption = Annotated[int | None, typer.Option(help="--traffic gateway: number of clients; 8 by default.")]
GatewaysOption = Annotated[
    str | None,
    typer.Option(help="--traffic gateway: gateways, as in a,b; the marked or the best connected by default."),
]
GatewayCountOption = Annotated[int | None, typer.Option(help="--traffic gateway: number of best connected gateways.")]
DirectionOption = Annotated[
    str | None,
    typer.Option(
        help="--traffic gateway: downloads, uploads or both; downloads by default.",
        autocompletion=completion.of("downloads", "uploads", "both"),
    ),
]
MixOption = Annotated[
    str | None,
    typer.Option(help="--traffic gateway: applications of clients in turn, as in web,video,call,download."),
]
SchemeOption = Annotated[str, typer.Option(help="Congestion control of every flow.", autocompletion=completion.scheme)]
StandardOption = Annotated[
    str | None,
    typer.Option(
        help="PHY, one of multihop list phys; the file's by default, else 802.11b.", autocompletion=completion.phy
    ),
]
DataRateOption = Annotated[str | None, typer.Option(help='Rate of DATA frames, as in "11 Mb/s".')]
DurationOption = Annotated[str, typer.Option(help="Duration of the scenario.")]
WarmupOption = Annotated[str, typer.Option(help="Warm-up of the scenario.")]
ProbeSizeOption = Annotated[str, typer.Option(help="Size of the frames to which the measured delivery ratios apply.")]
MinDeliveryOption = Annotated[
    float, typer.Option(help="Leave out links with a lower delivery ratio in either direction.")
]
AssumeDeliveryOption = Annotated[
    float | None, typer.Option(help="Delivery ratio of links for which the file has none.")
]
NoiseLevelOption = Annotated[float | None, typer.Option(help="ORBIT: noise level in dBm; the lowest by default.")]
RangeOption = Annotated[
    float | None,
    typer.Option("--range", help="Reception range in metres for a file of positions without links; 250 by default."),
]
NameOption = Annotated[str | None, typer.Option(help="Name of the scenario; the file's by default.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the imported and omitted parts as JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print no summary.")]


def import_mesh(
    file: MeshArgument,
    out: OutOption = None,
    format: FormatOption = "auto",
    nodes: NodesOption = None,
    component: ComponentOption = "largest",
    sensing: SensingOption = "inferred",
    two_hops: TwoHopsOption = True,
    shadowing_seed: ShadowingSeedOption = 1,
    radios: RadiosOption = None,
    traffic: TrafficOption = "to-gateway",
    flows: FlowsOption = 10,
    gateway: GatewayOption = None,
    clients: ClientsOption = None,
    gateways: GatewaysOption = None,
    gateway_count: GatewayCountOption = None,
    direction: DirectionOption = None,
    mix: MixOption = None,
    scheme: SchemeOption = "tcp-newreno",
    standard: StandardOption = None,
    data_rate: DataRateOption = None,
    duration: DurationOption = "60 s",
    warmup: WarmupOption = "10 s",
    probe_size: ProbeSizeOption = "1500 B",
    min_delivery: MinDeliveryOption = 0.0,
    assume_delivery: AssumeDeliveryOption = None,
    noise_level: NoiseLevelOption = None,
    range_m: RangeOption = None,
    name: NameOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Turn a measured mesh into a scenario with positions and a link matrix."""
    if out is not None:
        for source in (file, nodes):
            require_writable_file(out, source)
    from multihop.api.meshes import import_mesh as imported

    found = imported(
        file,
        format=format,
        nodes=nodes,
        component=component,
        sensing=sensing,
        two_hops_sense=two_hops,
        shadowing_seed=shadowing_seed,
        radios=radios,
        traffic=traffic,
        flows=flows,
        gateway=gateway,
        clients=clients,
        gateways=_names(gateways),
        gateway_count=gateway_count,
        direction=direction,
        mix=_names(mix),
        scheme=scheme,
        standard=standard,
        data_rate=data_rate,
        duration=duration,
        warmup=warmup,
        probe_size=probe_size,
        min_delivery=min_delivery,
        assume_delivery=assume_delivery,
        noise_level=noise_level,
        range=range_m,
        name=name,
    )
    _show(found, out, as_json=as_json, quiet=quiet)


def _show(imported: ImportedMesh, out: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Writes the scenario to its file or standard output, and prints what was imported and omitted."""
    if out is not None:
        imported.save(out)
    elif not as_json and sys.stdout.isatty():
        console.say(imported.text.rstrip())
    elif not as_json:
        # TOML is UTF-8 by definition, whatever the encoding of the terminal.
        sys.stdout.flush()
        sys.stdout.buffer.write(imported.text.encode())
    if as_json:
        text = None if out else imported.text
        console.print_json({**imported.record(), "scenario": str(out) if out else None, "text": text})
        return
    console.note("\n".join(imported.summary), quiet=quiet)
    if out is not None:
        console.note(f"scenario: {out}", quiet=quiet)


def _names(text: str | None) -> tuple[str, ...]:
    """Returns comma-separated names."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())
