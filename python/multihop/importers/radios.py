"""Which radios nodes have, on which channels, and what is known of the links of each channel.

A file may distinguish several radios of its nodes. Links of one radio of both ends are a channel; a node has
a radio on each channel on which it has a link. Which channels these are a file rarely says, and the scenario
has one PHY, of one band: what matters is that links of different channels do not contend.
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

#: Channels that stand for those that a file does not number, by the first of the band; they do not overlap.
_STAND_INS = {1: (1, 6, 11), 34: (36, 149, 100, 60)}


@dataclass
class Layer:
    """The links of one channel.

    Attributes:
        mesh: the nodes that have a radio on it, and their links.
        names: of these radios, by the ids of their nodes.
        channel: its number; `None` if it is the only one.
        sensed: what was inferred about sensing; `None` if nothing was to be.
        rates: what each link has as its `data_rate`, of those that have one of their own.
    """

    mesh: Mesh
    names: dict[str, str]
    channel: int | None = None
    sensed: Sensed | None = None
    rates: dict[tuple[str, str], str] = field(default_factory=dict)


def are_several(mesh: Mesh, wanted: str | None) -> bool:
    """Whether nodes are to have several radios: as wanted, else where the file names them.

    Raises:
        UserError: if that is no option, or the file does not distinguish them.
    """
    if wanted is not None and wanted not in RADIOS:
        raise UserError(f"--radios: found {wanted!r}; what would do: {', '.join(RADIOS)}")
    if wanted == "several" and not mesh.radios:
        raise UserError("--radios several: the file does not say which radios links are of; leave it out")
    return len(mesh.radios) > 1 and (mesh.are_named if wanted is None else wanted == "several")


def layers(mesh: Mesh, names: dict[str, str], standard: str, *, several: bool) -> tuple[list[Layer], list[str]]:
    """The mesh by channels, and what became of the radios, line by line."""
    found = {label: radio for label, radio in mesh.radios.items() if radio.links}
    if not several or len(found) < 2:
        return [Layer(mesh, names)], []
    # Each channel keeps its own, and says what it left out.
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
    """The channels of a node's radios, where there are several channels."""
    return [layer.channel for layer in layers if layer.channel is not None and id in layer.mesh.nodes]


def phy_of(standard: str) -> dict[str, Any] | None:
    """What the engine says of a PHY; `None` if it has none of that name."""
    return next((phy for phy in registered()["phys"] if phy["name"] == standard), None)


def _channels(labels: list[str], standard: str) -> list[int]:
    """The file's own, if all are channels of the PHY; else channels that stand for them."""
    known = (phy_of(standard) or {"channels": list(range(1, 15))})["channels"]
    if all(label.isdecimal() and int(label) in known for label in labels):
        return [int(label) for label in labels]
    return list(_STAND_INS[known[0]])


def _called(label: str, channel: int | None) -> str:
    """What a file calls a radio, where that says something."""
    return "" if label == str(channel) else f" ({label})"
