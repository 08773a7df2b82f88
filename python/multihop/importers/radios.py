"""Radios and channels of nodes, and the data on links of each channel.

A file may distinguish several radios per node. Links between equally named radios form a channel, and a node
has a radio on each channel with a link of it. Files rarely tell channel numbers, and the scenario has one PHY
of one band: what matters is that links of different channels do not contend.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from multihop.base.errors import UserError
from multihop.importers.mesh import REPEATED, Mesh
from multihop.simulation.scenario import registered

if TYPE_CHECKING:
    from multihop.importers.sensing import Sensed

RADIOS = ("one", "several")

#: Channels without overlap that replace unnumbered ones, by the first channel of the band.
_STAND_INS = {1: (1, 6, 11), 34: (36, 149, 100, 60)}


@dataclass
class Layer:
    """Links of one channel.

    Attributes:
        mesh: nodes with a radio on the channel, and their links.
        names: names of these radios, by the ids of their nodes.
        channel: channel number; `None` if it is the only one.
        sensed: inferred sensing; `None` if it was not inferred.
        rates: `data_rate` of each link that has one of its own.
    """

    mesh: Mesh
    names: dict[str, str]
    channel: int | None = None
    sensed: Sensed | None = None
    rates: dict[tuple[str, str], str] = field(default_factory=dict)


def are_several(mesh: Mesh, wanted: str | None) -> bool:
    """Whether the mesh has several radios, and `wanted` or else the names in the file keep them apart.

    Raises:
        UserError: if `wanted` is invalid, or the file does not distinguish radios.
    """
    if wanted is not None and wanted not in RADIOS:
        raise UserError(f"--radios: found {wanted!r}; needs {' or '.join(RADIOS)}")
    if wanted == "several" and not mesh.radios:
        raise UserError("--radios several: the file does not tell the radios of links; leave it out")
    return len(mesh.radios) > 1 and (mesh.are_named if wanted is None else wanted == "several")


def layers(mesh: Mesh, names: dict[str, str], standard: str, *, several: bool) -> tuple[list[Layer], list[str]]:
    """Returns the layers of a mesh by channel, and lines about its radios."""
    found = {label: radio for label, radio in mesh.radios.items() if radio.links}
    if not several or len(found) < 2:
        return [Layer(mesh, names)], []
    # Each channel counts its own repeated directions.
    del mesh.left_out[REPEATED]
    channels = _channels(list(found), standard)
    made: list[Layer] = []
    of_node = dict.fromkeys(mesh.nodes, 0)
    for radio, channel in zip(found.values(), channels, strict=False):
        mesh.left_out[REPEATED] += radio.left_out[REPEATED]
        used = {end for pair in radio.links for end in pair}
        of_radio = radio.restricted(id for id in mesh.nodes if id in used)
        own = {id: f"{names[id]}/{of_node[id]}" if of_node[id] else names[id] for id in of_radio.nodes}
        for id in of_radio.nodes:
            of_node[id] += 1
        made.append(Layer(of_radio, own, channel))
    for label, radio in list(found.items())[len(made) :]:
        mesh.left_out[f"directions ({label}), for want of channels apart"] += len(radio.links)
    with_several = sum(count > 1 for count in of_node.values())
    of = ", ".join(
        f"{len(layer.mesh.links)} directions{_called(label, layer.channel)} on channel {layer.channel}"
        for label, layer in zip(found, made, strict=False)
    )
    return made, [f"radios: {with_several} of {len(of_node)} nodes have several; {of}"]


def radios_of(layers: list[Layer], id: str) -> list[int]:
    """Returns the channels of a node's radios, if the mesh has several channels."""
    return [layer.channel for layer in layers if layer.channel is not None and id in layer.mesh.nodes]


def phy_of(standard: str) -> dict[str, Any] | None:
    """Returns the engine's entry of a PHY; `None` if it is unknown."""
    return next((phy for phy in registered()["phys"] if phy["name"] == standard), None)


def _channels(labels: list[str], standard: str) -> list[int]:
    """Returns the file's channels if the PHY has all of them, else channels in their place."""
    known = (phy_of(standard) or {"channels": list(range(1, 15))})["channels"]
    if all(label.isdecimal() and int(label) in known for label in labels):
        return [int(label) for label in labels]
    return list(_STAND_INS[known[0]])


def _called(label: str, channel: int | None) -> str:
    """Returns the file's label of a radio in brackets, unless it is the channel number."""
    return "" if label == str(channel) else f" ({label})"
